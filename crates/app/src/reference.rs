//! Reference pages in Markdown, made from the registries so that they can't drift.

use std::fmt::Write as _;

use lowwater_engine::lever::LEVERS;
use lowwater_model::change::Change;
use lowwater_model::policy::OWNER_KEYS;
use lowwater_store::format::{Decode, FORMATS};
use lowwater_store::views::VIEWS;

use crate::{cli, registry, view};

const NOTE: &str = "<!-- Generated from the code: `cargo xtask bless`. Edit the registry, not this page. -->\n";

/// Every page: file name and text.
pub fn pages() -> Vec<(&'static str, String)> {
    vec![
        ("changes.md", changes()),
        ("commands.md", commands()),
        ("formats.md", formats()),
        ("levers.md", levers()),
        ("policy.md", policy()),
        ("views.md", views()),
    ]
}

fn page(title: &str, lead: &str) -> String {
    format!("{NOTE}\n# {title}\n\n{lead}\n")
}

fn formats() -> String {
    let mut out = page(
        "Formats",
        "What `lowwater load` reads. The format is found from the content; `--format NAME` says it. \
         Files may be compressed with gzip or zstd.",
    );
    for format in FORMATS {
        let kind = match format.decode {
            Decode::Bill(_) => "bill",
            Decode::Jobs(_) => "runs of jobs",
            Decode::Prices(_) => "prices",
            Decode::Metrics(_) | Decode::Server => "GPU metrics",
        };
        let _ = write!(
            out,
            "\n## `{}`: {}\n\nHolds: {kind}.\n\n{}\n",
            format.name, format.title, format.doc
        );
    }
    out
}

fn levers() -> String {
    let mut out = page(
        "Levers",
        "Ways to save, in the order in which they look. What a lever refuses is in the plan too, with its reason.",
    );
    for lever in LEVERS {
        let meta = lever.meta();
        let (first, last) = meta.phase.weeks();
        let changes: Vec<String> = meta.changes.iter().map(|c| format!("[`{c}`](changes.md)")).collect();
        let _ = write!(
            out,
            "\n## `{}`: {}\n\nPhase: {}, weeks {first} to {last}. Proposes: {}.\n\n{}\n\n| key | default | meaning |\n|---|---|---|\n",
            meta.name,
            meta.title,
            meta.phase,
            changes.join(", "),
            meta.doc
        );
        for key in meta.section.keys {
            let _ = writeln!(
                out,
                "| `{}` | `{}` | {} |",
                key.name,
                key.default.value(),
                cell(key.doc)
            );
        }
    }
    out
}

fn changes() -> String {
    let mut out = page(
        "Changes",
        "What a step of a plan may do. The name is the one to write into `never`, which also takes kinds that are still to come; `stop` there forbids schedules as well.",
    );
    for meta in Change::META {
        let _ = write!(out, "\n## `{}`: {}\n\n{}\n", meta.kind, meta.title, meta.doc);
    }
    out
}

fn policy() -> String {
    let mut out = page(
        "Policy",
        "Every key of `policy.toml`, its default, and why. `lowwater init` writes the file, `lowwater policy` shows what holds. \
         Unknown keys are errors.",
    );
    for (name, keys) in view::policy::sections(&registry::lever_sections()) {
        let _ = write!(out, "\n## `[{name}]`\n\n| key | default | meaning |\n|---|---|---|\n");
        for key in keys {
            let _ = writeln!(
                out,
                "| `{}` | `{}` | {} |",
                key.name,
                key.default.value(),
                cell(key.doc)
            );
        }
    }
    out.push_str(
        "\n## `[team.NAME]` and `[environment.NAME]`\n\nRules that resources inherit from their team or environment. \
         They may also hold keys of a lever, as `lever.NAME.KEY`; an environment goes over a team, a team over the lever's own section.\n\n\
         | key | meaning |\n|---|---|\n",
    );
    for (name, doc) in OWNER_KEYS {
        let _ = writeln!(out, "| `{name}` | {} |", cell(doc));
    }
    out
}

fn views() -> String {
    let mut out = page(
        "Views",
        "The SQL views between the stored tables and every number that is shown, in the order in which they build on \
         each other. Words in braces are filled in by the question.",
    );
    for view in VIEWS {
        let body: Vec<&str> = view.sql.lines().skip(1).map(str::trim_end).collect();
        let _ = write!(
            out,
            "\n## `{}`\n\nGrain: {}.\n\n```sql\n{}\n```\n",
            view.name,
            view.grain(),
            body.join("\n").trim()
        );
    }
    out
}

fn commands() -> String {
    let mut out = page(
        "Commands",
        "Every command takes `--data DIR` (or `LOWWATER_DATA`), `--json` and `--quiet`, before or after its name; `completions`, `man` and \
         `docs` write files or text of their own, which `--json` does not change; `docs` and `sim` are for the project itself. \
         Exit codes: 0 done, 1 findings, 2 usage, 3 bad input, 4 refused, 130 stopped.",
    );
    let mut root = cli::definition().term_width(96);
    root.build();
    for command in root
        .get_subcommands_mut()
        .filter(|c| !c.is_hide_set() && c.get_name() != "help")
    {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let help = command.render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(
            out,
            "\n## `{}`\n\n{about}.\n\n```text\n{}\n```\n",
            command.get_name(),
            help.join("\n").trim()
        );
    }
    out
}

/// A text inside a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registered_thing_has_an_entry() {
        let text: String = pages().into_iter().map(|(_, text)| text).collect();
        let names = FORMATS
            .iter()
            .map(|f| f.name)
            .chain(Change::META.iter().map(|m| m.kind))
            .chain(LEVERS.iter().map(|l| l.meta().name));
        for name in names {
            assert!(text.contains(&format!("\n## `{name}`: ")), "{name}");
        }
        assert!(
            VIEWS
                .iter()
                .all(|v| text.contains(&format!("\n## `{}`\n", v.name)) && !v.grain().is_empty())
        );
        for (name, keys) in view::policy::sections(&registry::lever_sections()) {
            assert!(text.contains(&format!("## `[{name}]`")));
            assert!(
                keys.iter()
                    .all(|k| text.contains(&format!("\n| `{}` | `{}` | ", k.name, k.default.value())))
            );
        }
        for command in cli::definition().get_subcommands() {
            let listed = text.contains(&format!("\n## `{}`\n", command.get_name()));
            assert_eq!(listed, !command.is_hide_set(), "{}", command.get_name());
        }
    }

    #[test]
    fn pages_are_tidy_and_the_same_each_time() {
        assert_eq!(pages(), pages());
        for (name, text) in pages() {
            assert!(
                text.starts_with(NOTE) && text.ends_with('\n') && !text.ends_with("\n\n"),
                "{name}"
            );
            assert!(text.lines().all(|l| l == l.trim_end()), "{name}");
        }
    }
}
