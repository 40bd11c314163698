//! The README and the guide are true: their commands are accepted and their files are read.

#![allow(clippy::unwrap_used, reason = "only tests here, and what they call")]

use std::path::{Path, PathBuf};
use std::process::Command;

use lowwater_engine::lever;
use lowwater_model::change::Change;
use lowwater_model::contract::Contract;
use lowwater_model::policy::Policy;
use lowwater_model::workload::Workloads;

/// A fenced block of a page.
struct Block {
    page: PathBuf,
    language: String,
    text: String,
}

fn blocks() -> Vec<Block> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = std::fs::read_dir(root.join("docs/guide")).unwrap();
    let mut pages: Vec<PathBuf> = guide.map(|entry| entry.unwrap().path()).collect();
    pages.push(root.join("README.md"));
    pages.sort();
    pages.iter().flat_map(|page| blocks_of(page)).collect()
}

fn blocks_of(page: &Path) -> Vec<Block> {
    let text = std::fs::read_to_string(page).unwrap();
    let parts: Vec<&str> = text.split("```").collect();
    assert!(parts.len() % 2 == 1, "{}: a fence is not closed", page.display());
    let fenced = parts.iter().skip(1).step_by(2);
    let block = |part: &&str| {
        let (language, text) = part.split_once('\n').unwrap_or_default();
        Block {
            page: page.to_owned(),
            language: language.to_owned(),
            text: text.to_owned(),
        }
    };
    fenced.map(block).collect()
}

/// The arguments of a line that runs lowwater; none for other commands.
fn arguments(line: &str) -> Option<Vec<&str>> {
    let line = line
        .split(" #")
        .next()
        .unwrap_or(line)
        .split(" > ")
        .next()
        .unwrap_or(line)
        .trim();
    let rest = line
        .strip_prefix("lowwater ")
        .or_else(|| line.strip_prefix("cargo run --release -- "))?;
    Some(rest.split_whitespace().collect())
}

#[test]
fn every_command_is_accepted() {
    let mut count = 0;
    for block in blocks().iter().filter(|b| b.language == "sh") {
        for line in block.text.lines() {
            let Some(arguments) = arguments(line) else { continue };
            // With `--help` at the end all other arguments are checked and nothing is done.
            let run = Command::new(env!("CARGO_BIN_EXE_lowwater"))
                .args(&arguments)
                .arg("--help")
                .output()
                .unwrap();
            let error = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{}: `{line}`: {error}", block.page.display());
            count += 1;
        }
    }
    assert!(count > 15, "only {count} commands found");
}

#[test]
fn a_wrong_command_would_be_found() {
    let run = Command::new(env!("CARGO_BIN_EXE_lowwater"))
        .args(["report", "--by", "team", "--sideways", "--help"])
        .output();
    assert_eq!(run.unwrap().status.code(), Some(2));
}

#[test]
fn every_settings_file_is_read() {
    let mut count = 0;
    for block in blocks().iter().filter(|b| b.language == "toml") {
        let page = block.page.display().to_string();
        if block.text.contains("[[workload]]") {
            let workloads = Workloads::parse(&block.text, &page).unwrap();
            assert!(!workloads.workload.is_empty());
        } else if block.text.contains("[[discount]]") {
            let contract = Contract::parse(&block.text, &page).unwrap();
            assert!(!contract.discounts.is_empty() && !contract.minimums.is_empty());
        } else {
            let policy = Policy::parse(&block.text, &page, &lever::sections()).unwrap();
            assert_ne!(policy, Policy::defaults(&lever::sections()), "{page}: changes nothing");
        }
        count += 1;
    }
    assert!(count >= 2, "only {count} files found");
}

/// `never = [...]` in the guide names kinds of change that exist.
#[test]
fn forbidden_changes_exist() {
    let mut count = 0;
    for block in blocks() {
        for list in block.text.split("never = [").skip(1) {
            let names = list.split(']').next().unwrap_or_default();
            for name in names.split(',').map(|n| n.trim().trim_matches('"')) {
                assert!(
                    Change::META.iter().any(|m| m.kind == name),
                    "{}: no change `{name}`",
                    block.page.display()
                );
                count += 1;
            }
        }
    }
    assert!(count > 0);
}
