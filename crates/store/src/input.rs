//! Opening files: decompression by content, bounds, the beginning for detection, a hash of the bytes.

use std::path::PathBuf;

/// An opened input file.
pub struct Input {
    /// The file.
    pub path: PathBuf,
}
