//! The one way in which the program writes a file for a user: whole, or not at all.

use std::path::Path;

use lowwater_store::error::StoreError;

/// Fills a file beside the target, which then takes its place: a full disk leaves what was there before.
pub fn fill<T>(path: &Path, fill: impl FnOnce(&Path) -> Result<T, StoreError>) -> Result<T, StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let renamed = fill(&new).and_then(|value| {
        std::fs::rename(&new, path).map_err(StoreError::io(path))?;
        Ok(value)
    });
    renamed.map_err(|error| {
        // What is left of the attempt is of no use to anybody.
        let _ = std::fs::remove_file(&new);
        match error {
            StoreError::Io { source, .. } => StoreError::io(path)(source),
            error => error,
        }
    })
}

/// Writes bytes.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), StoreError> {
    fill(path, |new| std::fs::write(new, bytes).map_err(StoreError::io(new)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    /// Writes a part, then the disk is full.
    fn disk_full(new: &Path) -> Result<(), StoreError> {
        std::fs::write(new, "a pa").unwrap();
        Err(StoreError::io(new)(Error::from(ErrorKind::StorageFull)))
    }

    fn names(dir: &Path) -> Vec<String> {
        let names = std::fs::read_dir(dir).unwrap();
        names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_full_disk_leaves_nothing_or_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        let error = fill(&path, disk_full).unwrap_err();
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
        assert_eq!(names(dir.path()), Vec::<String>::new());
        write(&path, "old").unwrap();
        fill(&path, disk_full).unwrap_err();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(dir.path()), ["policy.toml"]);
        write(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_folder_in_the_way_is_an_error_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bill");
        std::fs::create_dir_all(path.join("x")).unwrap();
        assert!(write(&path, "text").is_err());
        assert!(write(&dir.path().join("none/bill"), "text").is_err());
        assert_eq!(names(dir.path()), ["bill"]);
    }
}
