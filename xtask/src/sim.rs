//! Generated organisations with a hidden truth: written, loaded and planned by the program, and scored.

use crate::{cargo, stage};

/// Builds the program and lets it plan organisations of these seeds; their files stay in `target/sim`.
pub fn truth(options: &[&str]) -> Result<(), String> {
    stage::build()?;
    let folder = cargo::target().join("sim");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    cargo::run(cargo::lowwater().arg("sim").arg(&folder).args(options))
}
