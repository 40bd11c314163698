//! Writes everything that is generated or expected anew. A person reads the diff.

use crate::{cargo, docs, say, stage};

/// Reference pages, expected plans of the lever cases, snapshots.
pub fn bless() -> Result<(), String> {
    stage::build()?;
    docs::write(&cargo::root().join(docs::REFERENCE))?;
    let mut tests = cargo::cargo("test --workspace --all-targets --locked --quiet --no-fail-fast");
    cargo::run(tests.env("INSTA_UPDATE", "always").env("LOWWATER_BLESS", "1"))?;
    say::line("blessed; now read `git diff`: every changed line is a claim that the new answer is right");
    Ok(())
}
