//! Writing: one writer, files staged aside, one rename that makes the new version the true one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use super::{Layout, MANIFEST, Manifest, READERS, STAGING, TABLES, WRITER, component};
use crate::error::StoreError;
use crate::load::Progress;

const POLL: Duration = Duration::from_millis(100);
/// Polls before a second writer gives up: thirty seconds.
const MAX_POLLS: u64 = 300;
/// Syncs that wait for the disk at the same time: the file system writes them down together.
const SYNCS_AT_ONCE: usize = 16;

/// The next version in the making. Dropped before [`Transaction::commit`], it leaves the store as it was.
#[derive(Debug)]
pub struct Transaction {
    root: PathBuf,
    /// Where each new file is now, by its name in the manifest.
    staged: BTreeMap<String, PathBuf>,
    /// What the store will hold; files of staged tables are named in it by [`Staged::name`].
    pub manifest: Manifest,
    _writer: File,
}

/// A file to write.
#[derive(Clone, Debug)]
pub struct Staged {
    /// Where to write it now.
    pub path: PathBuf,
    /// Its name in the manifest, relative to the store.
    pub name: String,
}

impl Layout {
    /// Takes the writer lock and removes what no version needs any more. Waits for another writer, then refuses.
    pub fn write(&self, progress: &dyn Progress) -> Result<Transaction, StoreError> {
        fs::create_dir_all(&self.root).map_err(StoreError::io(&self.root))?;
        let writer = lock_writer(&self.root.join(WRITER), progress)?;
        let mut manifest = self.manifest()?;
        self.remove_garbage(&manifest)?;
        manifest.version += 1;
        Ok(Transaction {
            root: self.root.clone(),
            staged: BTreeMap::new(),
            manifest,
            _writer: writer,
        })
    }

    /// Superseded files and those of writers that died; kept while any reader is there.
    fn remove_garbage(&self, manifest: &Manifest) -> Result<(), StoreError> {
        remove_tree(&self.root.join(STAGING))?;
        let path = self.root.join(READERS);
        let readers = File::create(&path).map_err(StoreError::io(&path))?;
        match readers.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Error(e)) => return Err(StoreError::io(&path)(e)),
        }
        let wanted: BTreeSet<PathBuf> = manifest.all_files().map(|name| self.root.join(name)).collect();
        TABLES
            .iter()
            .try_for_each(|table| sweep(&self.root.join(table), &wanted).map(|_| ()))
    }
}

fn lock_writer(path: &Path, progress: &dyn Progress) -> Result<File, StoreError> {
    let file = File::create(path).map_err(StoreError::io(path))?;
    for poll in 0..MAX_POLLS {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(StoreError::io(path)(e)),
        }
        if progress.stop() {
            return Err(StoreError::Stopped);
        }
        progress.at("waiting for another load to end", poll, MAX_POLLS);
        std::thread::sleep(POLL);
    }
    Err(StoreError::Refused {
        what: format!(
            "another load is writing to this data directory ({} is locked)",
            path.display()
        ),
        hint: "wait until it has ended, then try again".into(),
    })
}

/// Removes files that are not wanted and directories that are empty then; says whether the directory is gone.
fn sweep(directory: &Path, wanted: &BTreeSet<PathBuf>) -> Result<bool, StoreError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(true),
        Err(e) => return Err(StoreError::io(directory)(e)),
    };
    let mut kept = false;
    for entry in entries {
        let entry = entry.map_err(StoreError::io(directory))?;
        let path = entry.path();
        if entry.file_type().map_err(StoreError::io(&path))?.is_dir() {
            kept |= !sweep(&path, wanted)?;
        } else if wanted.contains(&path) {
            kept = true;
        } else {
            fs::remove_file(&path).map_err(StoreError::io(&path))?;
        }
    }
    if !kept {
        fs::remove_dir(directory).map_err(StoreError::io(directory))?;
    }
    Ok(!kept)
}

fn remove_tree(path: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(StoreError::io(path)(e)),
        _ => Ok(()),
    }
}

impl Transaction {
    /// A directory for files that only this transaction needs; it goes with it.
    pub fn scratch(&self) -> Result<PathBuf, StoreError> {
        let staging = self.root.join(STAGING);
        fs::create_dir_all(&staging).map_err(StoreError::io(&staging))?;
        Ok(staging)
    }

    /// A new file of a table. `place` are the parts of its path, such as `("month", "2026-10")`.
    pub fn stage(&mut self, table: &str, place: &[(&str, &str)]) -> Result<Staged, StoreError> {
        let staging = if self.staged.is_empty() {
            self.scratch()?
        } else {
            self.root.join(STAGING)
        };
        let number = self.staged.len();
        let parts = place.iter().map(|(key, value)| format!("{key}={}", component(value)));
        let directory = std::iter::once(table.to_owned())
            .chain(parts)
            .collect::<Vec<_>>()
            .join("/");
        let staged = Staged {
            path: staging.join(format!("{number}.parquet")),
            name: format!("{directory}/{}-{number}.parquet", self.manifest.version),
        };
        self.staged.insert(staged.name.clone(), staged.path.clone());
        Ok(staged)
    }

    /// Where a file of the current version is, by its name in the manifest.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Where a staged file is, by its name in the manifest.
    pub fn staged_path(&self, name: &str) -> PathBuf {
        self.staged.get(name).cloned().unwrap_or_else(|| self.path(name))
    }

    /// Makes the manifest and the files it names the state of the store: after a crash, all of it or nothing.
    pub fn commit(mut self) -> Result<Manifest, StoreError> {
        let wanted: BTreeSet<&String> = self.manifest.all_files().collect();
        let staged: Vec<(&String, &PathBuf)> = self.staged.iter().filter(|(name, _)| wanted.contains(name)).collect();
        // Contents first, then the names that lead to them, then the manifest that counts them. One step after the
        // other for all files, since each sync in between would make the file system write down a step of its own.
        sync_all(&staged.iter().map(|(_, path)| path.as_path()).collect::<Vec<_>>())?;
        let directories = self.put_in_place(&staged)?;
        sync_all(&directories.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
        write_manifest(&self.root, &self.manifest)?;
        Ok(std::mem::take(&mut self.manifest))
    }

    /// Moves files from where they were staged. Returns the directories whose names changed, or may have.
    fn put_in_place(&self, staged: &[(&String, &PathBuf)]) -> Result<BTreeSet<PathBuf>, StoreError> {
        let mut directories = BTreeSet::new();
        for (name, path) in staged {
            let target = self.root.join(name);
            let parent = target.parent().unwrap_or(&self.root);
            if !directories.contains(parent) {
                fs::create_dir_all(parent).map_err(StoreError::io(parent))?;
                let above = parent.ancestors().take_while(|p| p.starts_with(&self.root));
                directories.extend(above.map(Path::to_owned));
            }
            fs::rename(path, &target).map_err(StoreError::io(&target))?;
        }
        Ok(directories)
    }
}

/// What was staged and not committed is of no use to anyone.
impl Drop for Transaction {
    fn drop(&mut self) {
        // The next writer removes what can't be removed now.
        let _ = fs::remove_dir_all(self.root.join(STAGING));
    }
}

fn write_manifest(root: &Path, manifest: &Manifest) -> Result<(), StoreError> {
    let next = root.join("manifest.json.tmp");
    let text = serde_json::to_vec_pretty(manifest).map_err(|e| StoreError::Query(e.to_string()))?;
    let mut file = File::create(&next).map_err(StoreError::io(&next))?;
    let written = file.write_all(&text).and_then(|()| file.sync_all());
    if let Err(error) = written {
        let _ = fs::remove_file(&next);
        return Err(StoreError::io(&next)(error));
    }
    let target = root.join(MANIFEST);
    fs::rename(&next, &target).map_err(StoreError::io(&target))?;
    sync(root)
}

/// Forces a file, or the names in a directory, to disk.
fn sync(path: &Path) -> Result<(), StoreError> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(StoreError::io(path))
}

/// Forces all of them to disk, or says of one why not.
fn sync_all(paths: &[&Path]) -> Result<(), StoreError> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            sync(path)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..SYNCS_AT_ONCE.min(paths.len())).map(|_| scope.spawn(work)).collect();
        let mut outcomes = workers.into_iter().map(ScopedJoinHandle::join);
        outcomes.try_for_each(|outcome| outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
