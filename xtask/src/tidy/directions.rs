//! Which crate may see what: `app → {engine, store, act} → model`; siblings never see each other.

use super::Finding;
use crate::source::Tree;
use crate::source::function::words;

/// What one crate may never see.
struct Wall {
    folder: &'static str,
    /// Crates, as in Cargo.toml; a trailing `*` means everything that begins so.
    crates: &'static [&'static str],
    /// Code, outside tests.
    code: &'static [&'static str],
}

const WALLS: &[Wall] = &[
    Wall {
        folder: "crates/model",
        crates: &["lowwater*", "arrow*", "parquet", "datafusion*", "tokio*", "rand*", "clap*", "axum*"],
        code: &["std::fs", "std::net", "std::process", "std::env", "::now()", "async"],
    },
    Wall {
        folder: "crates/engine",
        crates: &[
            "lowwater", "lowwater-store", "lowwater-act", "arrow*", "parquet", "datafusion*", "tokio*", "futures*",
            "clap*", "axum*",
        ],
        code: &["std::fs", "std::net", "std::process", "std::env", "::now()", "async", "thread_rng"],
    },
    Wall {
        folder: "crates/store",
        crates: &["lowwater", "lowwater-engine", "lowwater-act", "aws-*", "google-cloud*", "azure_*", "clap*", "axum*"],
        code: &["std::env"],
    },
    Wall {
        folder: "crates/act",
        crates: &["lowwater", "lowwater-engine", "lowwater-store", "arrow*", "parquet", "datafusion*"],
        code: &[],
    },
    Wall { folder: "crates/app", crates: &["arrow*", "parquet", "datafusion*"], code: &["datafusion"] },
    Wall { folder: "xtask", crates: &["lowwater*"], code: &[] },
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    WALLS.iter().flat_map(|wall| manifest(tree, wall).into_iter().chain(code(tree, wall))).collect()
}

fn manifest(tree: &Tree, wall: &Wall) -> Vec<Finding> {
    let Some(manifest) = tree.file(&format!("{}/Cargo.toml", wall.folder)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut section = String::new();
    for (number, line) in manifest.lines() {
        if line.starts_with('[') {
            line.trim_matches(['[', ']']).clone_into(&mut section);
        }
        let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
        let is_dependency = section.ends_with("dependencies") && line.contains('=');
        // A workspace crate is no better as a dependency of tests; a library may serve tests.
        let counts = section != "dev-dependencies" || name.starts_with("lowwater");
        if is_dependency && counts && wall.crates.iter().any(|banned| matches(banned, name)) {
            found.push(Finding::at(&manifest.path, number, format!("{} must not depend on `{name}`", wall.folder)));
        }
    }
    found
}

fn matches(banned: &str, name: &str) -> bool {
    match banned.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == banned,
    }
}

fn code(tree: &Tree, wall: &Wall) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.rust.iter().filter(|f| f.is_in(wall.folder)) {
        for (number, line) in file.production_code() {
            let banned = wall.code.iter().filter(|banned| stands_in(line, banned));
            found.extend(banned.map(|b| Finding::at(&file.path, number, format!("`{b}` has no place in {}", wall.folder))));
        }
    }
    found
}

fn stands_in(line: &str, banned: &str) -> bool {
    if banned.starts_with(':') { line.contains(banned) } else { words(line, banned).next().is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_sibling_or_a_heavy_crate_in_a_manifest_is_found() {
        let engine = "[dependencies]\nlowwater-model.workspace = true\nlowwater-store.workspace = true\n[dev-dependencies]\ntoml = \"1\"\n";
        let model = "[dependencies]\narrow-array = \"1\"\n[dev-dependencies]\nlowwater-engine.workspace = true\n";
        let expected = [
            "crates/model/Cargo.toml:2: crates/model must not depend on `arrow-array`",
            "crates/model/Cargo.toml:4: crates/model must not depend on `lowwater-engine`",
            "crates/engine/Cargo.toml:3: crates/engine must not depend on `lowwater-store`",
        ];
        assert_eq!(texts(&[("crates/engine/Cargo.toml", engine), ("crates/model/Cargo.toml", model)]), expected);
    }

    #[test]
    fn files_and_clocks_in_the_engine_are_found_but_not_in_its_tests() {
        let text = "use std::fs;\nfn f() { Timestamp::now(); }\n#[cfg(test)]\nmod tests { use std::fs; }\n";
        let expected = [
            "crates/engine/src/a.rs:1: `std::fs` has no place in crates/engine",
            "crates/engine/src/a.rs:2: `::now()` has no place in crates/engine",
        ];
        assert_eq!(texts(&[("crates/engine/src/a.rs", text), ("crates/engine/tests/t.rs", "use std::fs;")]), expected);
    }

    #[test]
    fn the_right_directions_pass() {
        let app = "[dependencies]\nlowwater-engine.workspace = true\nlowwater-store.workspace = true\n";
        assert!(texts(&[("crates/app/Cargo.toml", app), ("crates/store/src/a.rs", "use std::fs;")]).is_empty());
    }
}
