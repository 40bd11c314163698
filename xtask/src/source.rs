//! The files of the project as the checks see them.

pub mod function;
pub mod mask;
pub mod rust;

use std::fs;
use std::path::Path;
use std::process::Command;

use rust::RustFile;

/// A text file that git knows or would add.
#[derive(Debug)]
pub struct File {
    /// Seen from the root, with `/`.
    pub path: String,
    /// Whole.
    pub text: String,
}

impl File {
    /// Lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| (at + 1, line))
    }
}

/// All files of the project.
#[derive(Debug)]
pub struct Tree {
    /// Every text file, sorted by path.
    pub files: Vec<File>,
    /// The Rust files among them.
    pub rust: Vec<RustFile>,
    /// Paths of files that are no text, such as pictures.
    pub others: Vec<String>,
}

impl Tree {
    /// What git tracks, and new files that it does not ignore.
    pub fn read(root: &Path) -> Result<Self, String> {
        let mut git = Command::new("git");
        git.current_dir(root);
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let output = git.output().map_err(|e| format!("git can't be started: {e}"))?;
        if !output.status.success() {
            return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let names = String::from_utf8_lossy(&output.stdout).into_owned();
        let (mut files, mut others) = (Vec::new(), Vec::new());
        for path in names.split('\0').filter(|p| !p.is_empty()) {
            // A file deleted but not yet committed is listed and gone; a binary file has no text.
            match fs::read_to_string(root.join(path)) {
                Ok(text) => files.push(File {
                    path: path.to_owned(),
                    text,
                }),
                Err(_) if root.join(path).is_file() => others.push(path.to_owned()),
                Err(_) => {}
            }
        }
        Ok(Self {
            others,
            ..Self::new(files)
        })
    }

    fn new(mut files: Vec<File>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let rust = rust::parse_all(&files);
        let others = Vec::new();
        Self { files, rust, others }
    }

    /// A tree made up for a test.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        Self::new(files.iter().map(file).collect())
    }

    /// Is there a file at that path, of whatever kind?
    pub fn has(&self, path: &str) -> bool {
        self.file(path).is_some() || self.others.iter().any(|other| other == path)
    }

    /// A file by its path.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|f| f.path == path)
    }

    /// Files directly in a folder, with one ending.
    pub fn in_folder(&self, folder: &str, ending: &str) -> Vec<&File> {
        let directly = |f: &&File| {
            let rest = f.path.strip_prefix(folder).and_then(|r| r.strip_prefix('/'));
            rest.is_some_and(|r| !r.contains('/') && has_ending(r, ending))
        };
        self.files.iter().filter(directly).collect()
    }
}

/// Is it a file of this kind, such as `.rs`? Names in the project are lower case.
pub fn has_ending(path: &str, ending: &str) -> bool {
    path.ends_with(ending)
}

/// The name of a file without folders and ending.
pub fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_files_of_a_folder_but_not_of_its_folders() {
        let tree = Tree::of(&[("a/x.rs", ""), ("a/b/y.rs", ""), ("a/z.sql", ""), ("ab/q.rs", "")]);
        let names: Vec<&str> = tree.in_folder("a", ".rs").iter().map(|f| f.path.as_str()).collect();
        assert_eq!(names, ["a/x.rs"]);
        assert_eq!(stem("a/b/y.rs"), "y");
    }

    #[test]
    fn reads_the_project_itself() {
        let tree = Tree::read(crate::cargo::root()).unwrap();
        assert!(tree.file("Cargo.toml").is_some());
        assert!(tree.rust.iter().any(|f| f.path == "xtask/src/source.rs"));
    }
}
