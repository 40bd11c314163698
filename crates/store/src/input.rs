//! Opening files: decompression by content, bounds, the beginning for detection, a hash of the bytes.

use std::cell::Cell;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::SystemTime;

use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use sha2::{Digest, Sha256};

use crate::error::{InputError, StoreError, advice};
use crate::format::Head;

/// How much of a file a format may look at to recognise it.
const HEAD_BYTES: usize = 64 * 1024;
/// Directories deeper than this are no export.
const MAX_DEPTH: usize = 32;
const BUFFER_BYTES: usize = 256 * 1024;
/// How compressed files begin.
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// What a folder is searched for.
pub(crate) const LOOKED_FOR: &str = "looked for bills (FOCUS as .csv, .csv.gz, .csv.zst or .parquet) and for GPU metrics \
     (DCGM exporter text, nvidia-smi logs, usage.csv); name the folder that the export is in";

/// Archives that we do not open, by their first bytes.
const OTHER_ARCHIVES: &[(&[u8], &str, &str)] = &[
    (b"PK\x03\x04", "a zip archive", "unzip it and load the files in it"),
    (
        b"BZh",
        "compressed with bzip2",
        "`bunzip2` it first; .gz and .zst are read as they are",
    ),
    (
        b"\xfd7zXZ\x00",
        "compressed with xz",
        "`unxz` it first; .gz and .zst are read as they are",
    ),
];

/// An opened input file: its bytes, decompressed, without a byte-order mark.
pub struct Input {
    path: PathBuf,
    name: String,
    short_name: String,
    size: u64,
    counter: Arc<AtomicU64>,
    head: Vec<u8>,
    head_at: usize,
    body: Box<dyn Read + Send>,
    parquet_columns: Option<Vec<String>>,
}

impl Input {
    /// Opens a file and looks at its beginning. The display name is the path as given.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let name = path.display().to_string();
        let file = open_regular(path, &name)?;
        let size = file.metadata().map_err(|e| unreadable(&name, &e))?.len();
        let counter = Arc::new(AtomicU64::new(0));
        let mut raw = BufReader::with_capacity(
            BUFFER_BYTES,
            Counted {
                file,
                counter: Arc::clone(&counter),
            },
        );
        let magic = raw.fill_buf().map_err(|e| unreadable(&name, &e))?;
        refuse_archives(magic, &name)?;
        let parquet = magic.starts_with(b"PAR1");
        let body = decompressed(raw, &name)?;
        let mut input = Self {
            path: path.to_owned(),
            short_name: short_name(path),
            name,
            size,
            counter,
            head: Vec::new(),
            head_at: 0,
            body,
            parquet_columns: None,
        };
        if parquet {
            input.parquet_columns = Some(input.read_parquet_columns()?);
        } else {
            input.read_head()?;
        }
        Ok(input)
    }

    /// The path as the user gave it, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Size on disk in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes read from disk so far; shared, so that a sink can show it while a format holds the input.
    pub fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.counter)
    }

    /// Is it a Parquet file? Then [`Input::file`] reads it, and the stream holds nothing of use.
    pub fn is_parquet(&self) -> bool {
        self.parquet_columns.is_some()
    }

    /// The beginning, for detection.
    pub fn head(&self) -> Head<'_> {
        Head {
            name: &self.short_name,
            bytes: &self.head,
            parquet_columns: self.parquet_columns.as_deref(),
        }
    }

    /// A second handle on the file itself, for formats that need to seek.
    pub fn file(&self) -> Result<File, StoreError> {
        open_regular(&self.path, &self.name)
    }

    /// SHA-256 of the content, in hexadecimal: the same export is the same content, compressed or not.
    pub fn sha256(&self) -> Result<String, StoreError> {
        let mut content: Box<dyn Read> = if self.is_parquet() {
            Box::new(self.file()?)
        } else {
            Box::new(Self::open(&self.path)?)
        };
        hash(&mut content).map_err(|e| self.explain(&e))
    }

    /// SHA-256 of the bytes of a compressed file as they lie, as older versions recorded it; none where it is not
    /// compressed.
    pub(crate) fn sha256_as_stored(path: &Path) -> Result<Option<String>, StoreError> {
        let name = path.display().to_string();
        let mut file = BufReader::with_capacity(BUFFER_BYTES, open_regular(path, &name)?);
        let magic = file.fill_buf().map_err(|e| unreadable(&name, &e))?;
        if !magic.starts_with(GZIP) && !magic.starts_with(ZSTD) {
            return Ok(None);
        }
        hash(&mut file).map(Some).map_err(|e| unreadable(&name, &e))
    }

    /// What an error of this stream means to the user.
    pub fn explain(&self, error: &io::Error) -> StoreError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => InputError::new(&self.name, "ends early: the compressed data is cut off")
                .hint("copy or download the file again; nothing of it was kept")
                .into(),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
                InputError::new(&self.name, format!("the compressed data is damaged: {error}"))
                    .hint("copy or download the file again; nothing of it was kept")
                    .into()
            }
            _ => unreadable(&self.name, error),
        }
    }

    fn read_head(&mut self) -> Result<(), StoreError> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        let read = self.body.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head);
        read.map_err(|e| self.explain(&e))?;
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        refuse_encodings(&head, &self.name)?;
        if head.is_empty() {
            return Err(InputError::new(&self.name, "is empty")
                .hint("the export was not written; look at the exporter's own log")
                .into());
        }
        self.head = head;
        Ok(())
    }

    fn read_parquet_columns(&self) -> Result<Vec<String>, StoreError> {
        let file = self.file()?;
        let load = || ArrowReaderMetadata::load(&file, ArrowReaderOptions::default());
        let metadata = without_panics(&self.name, load)?.map_err(|e| {
            InputError::new(&self.name, format!("is Parquet, but its footer can't be read: {e}"))
                .hint("the file was cut off while it was written or copied; get it again")
        })?;
        let names = metadata.schema().fields().iter().map(|f| f.name().clone());
        Ok(names.collect())
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.head[self.head_at..];
        if rest.is_empty() {
            return self.body.read(buffer);
        }
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.head_at += count;
        Ok(count)
    }
}

/// Bytes in hexadecimal.
fn hash(content: &mut dyn Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let count = match content.read(&mut buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if count == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&buffer[..count]);
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What lies under some paths.
#[derive(Debug, Default)]
pub struct Expanded {
    /// Files to load.
    pub files: Vec<Found>,
    /// Links that lead back to where they lie, in words.
    pub left_out: Vec<String>,
}

/// Every file under the paths: directories recursively, sorted by path. Hidden files are not part of an export.
pub fn expand(paths: &[PathBuf]) -> Result<Expanded, StoreError> {
    let mut expanded = Expanded::default();
    for path in paths {
        refuse_store(path)?;
        if path.is_dir() {
            let before = expanded.files.len();
            walk(path, &mut Vec::new(), &mut expanded)?;
            if expanded.files.len() == before {
                return Err(
                    InputError::new(path.display().to_string(), "the directory holds no file")
                        .hint(LOOKED_FOR)
                        .into(),
                );
            }
        } else {
            expanded.files.push(Found {
                path: path.clone(),
                named: true,
            });
        }
    }
    Ok(expanded)
}

/// Bytes of a settings file; more is another file.
const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;
/// Bytes of a table that the owner writes, such as hosts.csv.
pub(crate) const MAX_TABLE_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of a login.
const MAX_LOGIN_BYTES: u64 = 64 * 1024;

/// The text of a settings file: a file that ends, in UTF-8. None where there is none.
pub fn read_settings(path: &Path, name: &str) -> Result<Option<String>, StoreError> {
    let wrong = |what: String, hint: &str| Err(InputError::new(name, what).hint(hint).into());
    let metadata = match std::fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|e| unreadable(name, &e))?,
    };
    if !metadata.is_file() {
        return wrong(
            "is not a file".into(),
            "name a settings file, such as those that `lowwater init` writes",
        );
    }
    let bytes = read_bounded(
        path,
        name,
        (MAX_SETTINGS_BYTES, "1 MiB, the most that a settings file may have"),
    )?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(_) => wrong("is not UTF-8".into(), "save it as UTF-8"),
    }
}

/// A login from a file, or from a pipe that another program fills. Never in a message.
pub fn read_login(path: &Path) -> Result<String, StoreError> {
    let name = path.display().to_string();
    let bytes = read_bounded(path, &name, (MAX_LOGIN_BYTES, "64 KiB, the most that a login may have"))?;
    String::from_utf8(bytes).map_err(|_| {
        InputError::new(&name, "is not text")
            .hint("name the file that holds the token alone")
            .into()
    })
}

/// The bytes of a table that the owner writes.
pub(crate) fn read_table(path: &Path, name: &str) -> Result<Vec<u8>, StoreError> {
    read_bounded(
        path,
        name,
        (
            MAX_TABLE_BYTES,
            "64 MiB, the most that a table beside the store may have",
        ),
    )
}

/// All bytes of a file, or an error where there are more than this. Files of /proc have no size, and some never end.
pub fn read_bounded(path: &Path, name: &str, (most, said): (u64, &str)) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|e| unreadable(name, &e))?;
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| unreadable(name, &e))?;
    if bytes.len() as u64 > most {
        return Err(InputError::new(name, format!("is larger than {said}"))
            .hint("is it the right file?")
            .into());
    }
    Ok(bytes)
}

/// What tells one state of a file from the next without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// Which file it is and when anything of it changed, even its times, where the system tells.
    #[cfg(unix)]
    node: (u64, u64, i64, i64),
}

impl Stamp {
    /// Of a file as it is now.
    pub(crate) fn of(path: &Path) -> Result<Self, StoreError> {
        let metadata = std::fs::metadata(path).map_err(|e| unreadable(&path.display().to_string(), &e))?;
        Ok(Self {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            node: {
                use std::os::unix::fs::MetadataExt as _;
                (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
            },
        })
    }

    /// Refuses a file that is another than it was: what was read of it may be half of each.
    pub(crate) fn check(&self, path: &Path) -> Result<(), StoreError> {
        match Self::of(path) {
            Ok(now) if now == *self => Ok(()),
            _ => Err(InputError::new(
                path.display().to_string(),
                "changed while it was read; nothing of it was kept",
            )
            .hint("wait until the export is written, then load it again")
            .into()),
        }
    }
}

/// Runs a decoder that panics on some damaged files: then the file is at fault, and nobody wants to see a backtrace.
pub(crate) fn without_panics<T>(name: &str, decode: impl FnOnce() -> T) -> Result<T, StoreError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !DECODING.get() {
                before(panic);
            }
        }));
    });
    let outer = DECODING.replace(true);
    let result = std::panic::catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(outer);
    result.map_err(|_| {
        InputError::new(name, "the Parquet data is damaged")
            .hint("copy or download the file again; nothing of it was kept")
            .into()
    })
}

thread_local! {
    /// Is this thread inside a decoder whose panics are caught?
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Is it a folder of ours? What is in it is loaded already.
pub(crate) fn is_store(directory: &Path) -> bool {
    directory.join("manifest.json").is_file() && directory.join("writer.lock").is_file()
}

/// Refuses a file of a store: to load it would count everything twice.
fn refuse_store(path: &Path) -> Result<(), StoreError> {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match whole.ancestors().find(|folder| is_store(folder)) {
        None => Ok(()),
        Some(store) => Err(StoreError::Refused {
            what: format!(
                "{} is in the store {}: it is loaded already",
                path.display(),
                store.display()
            ),
            hint: "name the files that your provider exported".into(),
        }),
    }
}

/// A file to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where.
    pub path: PathBuf,
    /// Did the user name it? Else it was found in a directory, where other files may lie.
    pub named: bool,
}

/// `above` = the folders that lead here, as they are called without links.
fn walk(directory: &Path, above: &mut Vec<PathBuf>, expanded: &mut Expanded) -> Result<(), StoreError> {
    let name = directory.display().to_string();
    let whole = directory.canonicalize().map_err(|e| unreadable(&name, &e))?;
    if above.contains(&whole) {
        expanded.left_out.push(link_loop(&name));
        return Ok(());
    }
    if above.len() > MAX_DEPTH {
        return Err(InputError::new(name, format!("more than {MAX_DEPTH} directories deep"))
            .hint("name the directory with the files")
            .into());
    }
    above.push(whole);
    let entries = std::fs::read_dir(directory).map_err(|e| unreadable(&name, &e))?;
    let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| entry.map(|e| e.path())).collect();
    let mut paths = paths.map_err(|e| unreadable(&name, &e))?;
    paths.sort();
    for path in paths {
        let hidden = path
            .file_name()
            .is_some_and(|n| n.as_encoded_bytes().first() == Some(&b'.'));
        if hidden || is_store(&path) {
            continue;
        }
        if path.is_dir() {
            walk(&path, above, expanded)?;
        } else if is_link_to_itself(&path) {
            expanded.left_out.push(link_loop(&path.display().to_string()));
        } else {
            expanded.files.push(Found { path, named: false });
        }
    }
    above.pop();
    Ok(())
}

fn link_loop(name: &str) -> String {
    format!("left out: {name}: is a link that leads back to itself")
}

/// Does a link lead to links only, for ever?
fn is_link_to_itself(path: &Path) -> bool {
    let mut at = path.to_owned();
    for _ in 0..=MAX_DEPTH {
        let Ok(next) = std::fs::read_link(&at) else {
            return false;
        };
        at = at.parent().map(|folder| folder.join(&next)).unwrap_or(next);
    }
    true
}

/// Counts what is read from disk.
struct Counted {
    file: File,
    counter: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.counter.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

fn unreadable(name: &str, error: &io::Error) -> StoreError {
    let told = InputError::new(name, format!("can't be read: {error}"));
    match advice(error.kind()) {
        None => told.into(),
        Some(hint) => told.hint(hint).into(),
    }
}

fn open_regular(path: &Path, name: &str) -> Result<File, StoreError> {
    // Asking before opening: to open a pipe without a writer would wait forever.
    let metadata = std::fs::metadata(path).map_err(|e| unreadable(name, &e))?;
    if !metadata.is_file() {
        return Err(InputError::new(name, "is not a file")
            .hint("a pipe can't be read twice, as the check for loaded files needs; write it to a file first")
            .into());
    }
    File::open(path).map_err(|e| unreadable(name, &e))
}

fn decompressed(mut raw: BufReader<Counted>, name: &str) -> Result<Box<dyn Read + Send>, StoreError> {
    let magic = raw.fill_buf().map_err(|e| unreadable(name, &e))?;
    if magic.starts_with(GZIP) {
        return Ok(Box::new(flate2::bufread::MultiGzDecoder::new(raw)));
    }
    if magic.starts_with(ZSTD) {
        let decoder = zstd::stream::read::Decoder::with_buffer(raw).map_err(|e| unreadable(name, &e))?;
        return Ok(Box::new(decoder));
    }
    Ok(Box::new(raw))
}

fn refuse_archives(magic: &[u8], name: &str) -> Result<(), StoreError> {
    match OTHER_ARCHIVES.iter().find(|(bytes, ..)| magic.starts_with(bytes)) {
        Some((_, what, hint)) => Err(InputError::new(name, format!("is {what}")).hint(*hint).into()),
        None => Ok(()),
    }
}

fn refuse_encodings(head: &[u8], name: &str) -> Result<(), StoreError> {
    let order = match head {
        [0xff, 0xfe, 0, 0, ..] => "UTF-32LE",
        [0, 0, 0xfe, 0xff, ..] => "UTF-32BE",
        [0xff, 0xfe, ..] => "UTF-16LE",
        [0xfe, 0xff, ..] => "UTF-16BE",
        _ if head.contains(&0) => {
            return Err(InputError::new(name, "is not text: it holds zero bytes")
                .hint("text must be UTF-8; `file NAME` says what it is, `iconv -f UTF-16 -t UTF-8` converts UTF-16")
                .into());
        }
        _ => return Ok(()),
    };
    Err(InputError::new(name, format!("is encoded as {order}, not UTF-8"))
        .hint(format!("convert it: iconv -f {order} -t UTF-8 IN > OUT"))
        .into())
}

/// File name without directories and without `.gz` or `.zst`, in lower case.
fn short_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst"));
    plain.unwrap_or(&name).to_owned()
}

#[cfg(test)]
mod tests;
