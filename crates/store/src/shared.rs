//! Real files that tests read and the project does not carry.

use std::path::{Path, PathBuf};

/// A file of the shared data: `$LOWWATER_SHARED`, else `../shared` beside the workspace. Where it is absent the
/// case is skipped with a printed line; in CI that is an error.
pub fn file(path: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("LOWWATER_SHARED").map_or(beside, PathBuf::from);
    let file = root.join("data").join(path);
    if file.exists() {
        return Some(file);
    }
    assert!(std::env::var_os("CI").is_none(), "{path} is needed in CI");
    eprintln!("skipped: {path} (no shared data)");
    None
}
