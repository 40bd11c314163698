//! The stages of `cargo xtask test`, from cheap to dear.

use std::time::{Duration, Instant};

use crate::{cargo, docs, say, tests_stage, tidy};

/// One stage.
struct Stage {
    name: &'static str,
    /// What it makes sure of.
    title: &'static str,
    run: fn() -> Result<(), String>,
}

/// Clippy and build name the same workspace and targets, so that cargo resolves the same features and builds
/// each dependency once for all of them.
const STAGES: &[Stage] = &[
    Stage {
        name: "fmt",
        title: "formatting",
        run: || cargo::run(&mut cargo::cargo("fmt --all --check")),
    },
    Stage {
        name: "tidy",
        title: "house rules",
        run: tidy::check_tree,
    },
    Stage {
        name: "clippy",
        title: "lints, warnings are errors",
        run: clippy,
    },
    Stage {
        name: "build",
        title: "everything compiles",
        run: build,
    },
    Stage {
        name: "docs",
        title: "docs/reference is what the registries say",
        run: docs::check,
    },
    Stage {
        name: "tests",
        title: "tests",
        run: tests_stage::run,
    },
    Stage {
        name: "doctests",
        title: "examples in the documentation",
        run: doctests,
    },
];

fn clippy() -> Result<(), String> {
    cargo::run(&mut cargo::cargo(
        "clippy --workspace --all-targets --locked -- -D warnings",
    ))
}

/// Builds all that the later stages run.
pub fn build() -> Result<(), String> {
    cargo::run(&mut cargo::cargo("build --workspace --all-targets --locked"))
}

fn doctests() -> Result<(), String> {
    cargo::run(&mut cargo::cargo("test --workspace --doc --locked --quiet"))
}

/// Every stage; stops at the first that fails.
pub fn run_all() -> Result<(), String> {
    run(STAGES.iter())
}

/// The named stages, in the order of the list.
pub fn run_some(names: &[&str]) -> Result<(), String> {
    if let Some(unknown) = names.iter().find(|n| STAGES.iter().all(|s| s.name != **n)) {
        let known: Vec<&str> = STAGES.iter().map(|s| s.name).collect();
        return Err(format!(
            "no stage `{unknown}`\nhint: the stages are {}",
            known.join(", ")
        ));
    }
    run(STAGES.iter().filter(|s| names.contains(&s.name)))
}

fn run<'a>(stages: impl Iterator<Item = &'a Stage>) -> Result<(), String> {
    let begin = Instant::now();
    let mut passed = Vec::new();
    for stage in stages {
        say::line(&format!("== {}: {}", stage.name, stage.title));
        let start = Instant::now();
        (stage.run)().map_err(|what| format!("{what}\nxtask: stage `{}` failed", stage.name))?;
        passed.push(format!("{} {}", stage.name, text(start.elapsed())));
    }
    say::line(&format!(
        "xtask: all passed in {} ({})",
        text(begin.elapsed()),
        passed.join(", ")
    ));
    Ok(())
}

fn text(time: Duration) -> String {
    match time.as_secs() {
        0..=119 => format!("{:.1} s", time.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_stage_is_an_error_that_lists_them() {
        let error = run_some(&["fmt", "tests-please"]).unwrap_err();
        assert!(error.starts_with("no stage `tests-please`"), "{error}");
        assert!(error.contains("fmt, tidy, clippy"), "{error}");
    }

    #[test]
    fn the_first_failure_ends_the_run() {
        const FAILS: Stage = Stage {
            name: "fails",
            title: "",
            run: || Err("broken".into()),
        };
        const PANICS: Stage = Stage {
            name: "panics",
            title: "",
            run: || panic!("must not run"),
        };
        let error = run([FAILS, PANICS].iter()).unwrap_err();
        assert_eq!(error, "broken\nxtask: stage `fails` failed");
    }

    #[test]
    fn stage_names_are_unique_and_in_the_usage_text() {
        for (at, stage) in STAGES.iter().enumerate() {
            assert!(
                STAGES[..at].iter().all(|s| s.name != stage.name),
                "{} twice",
                stage.name
            );
            assert!(
                crate::USAGE.contains(stage.name),
                "{} is not in the usage text",
                stage.name
            );
        }
    }

    #[test]
    fn times_read_well() {
        assert_eq!(text(Duration::from_millis(1_250)), "1.2 s");
        assert_eq!(text(Duration::from_secs(125)), "2 min 5 s");
    }
}
