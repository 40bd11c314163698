//! Tables that tests read and the project does not carry.

#![expect(clippy::disallowed_methods, reason = "tables are files")]

use std::collections::BTreeMap;
use std::path::Path;

/// The rows of a shared table, by name of its columns; none where the shared data is absent.
pub(crate) fn rows(file: &str) -> Option<Vec<BTreeMap<String, String>>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("LOWWATER_SHARED").map_or(beside, Into::into);
    let Ok(text) = std::fs::read_to_string(root.join("data").join(file)) else {
        assert!(std::env::var_os("CI").is_none(), "no shared data at {}", root.display());
        eprintln!("skipped: {file} (no shared data)");
        return None;
    };
    let mut lines = text
        .lines()
        .map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    Some(
        lines
            .map(|fields| header.iter().cloned().zip(fields).collect())
            .collect(),
    )
}
