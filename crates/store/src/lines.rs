//! Lines of a text file within bounds: a line that is too long is skipped, never held.

use std::io::Read;

use crate::error::StoreError;
use crate::input::Input;

const BUFFER_BYTES: usize = 256 * 1024;

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Without its end.
    Whole(&'a [u8]),
    /// Longer than the limit; this is its beginning.
    TooLong(&'a [u8]),
}

/// Reads lines one by one, each in the same buffer.
pub(crate) struct LineReader<'a> {
    input: &'a mut Input,
    buffer: Vec<u8>,
    start: usize,
    filled: usize,
    at_end: bool,
    max_line_bytes: usize,
    number: u64,
}

impl<'a> LineReader<'a> {
    pub(crate) fn new(input: &'a mut Input, max_line_bytes: usize) -> Self {
        Self {
            input,
            buffer: vec![0; BUFFER_BYTES.max(2 * max_line_bytes)],
            start: 0,
            filled: 0,
            at_end: false,
            max_line_bytes,
            number: 0,
        }
    }

    /// The next line with its number, from 1; none at the end of the file.
    pub(crate) fn read(&mut self) -> Result<Option<(u64, Line<'_>)>, StoreError> {
        let mut searched = 0;
        loop {
            let open = &self.buffer[self.start..self.filled];
            if let Some(length) = open[searched..].iter().position(|b| *b == b'\n') {
                let length = searched + length;
                let from = self.start;
                self.start += length + 1;
                return Ok(Some(self.line(from, length)));
            }
            searched = open.len();
            if searched > self.max_line_bytes {
                return self.skip_long().map(Some);
            }
            if self.at_end {
                let from = self.start;
                self.start = self.filled;
                return Ok((searched > 0).then(|| self.line(from, searched)));
            }
            self.fill()?;
        }
    }

    fn line(&mut self, from: usize, length: usize) -> (u64, Line<'_>) {
        self.number += 1;
        let line = &self.buffer[from..from + length];
        if length > self.max_line_bytes {
            return (self.number, Line::TooLong(&line[..self.max_line_bytes]));
        }
        (self.number, Line::Whole(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Reads on to the end of a line that is too long; its beginning stays at the front of the buffer.
    fn skip_long(&mut self) -> Result<(u64, Line<'_>), StoreError> {
        let keep = self.max_line_bytes;
        self.buffer.copy_within(self.start..self.start + keep, 0);
        loop {
            self.start = keep;
            self.filled = keep + self.read_into(keep)?;
            let rest = &self.buffer[keep..self.filled];
            if let Some(end) = rest.iter().position(|b| *b == b'\n') {
                self.start = keep + end + 1;
                break;
            }
            if self.at_end {
                self.start = self.filled;
                break;
            }
        }
        self.number += 1;
        Ok((self.number, Line::TooLong(&self.buffer[..keep])))
    }

    /// Moves what is open to the front and reads more behind it.
    fn fill(&mut self) -> Result<(), StoreError> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.start = 0;
        self.filled += self.read_into(self.filled)?;
        Ok(())
    }

    fn read_into(&mut self, at: usize) -> Result<usize, StoreError> {
        loop {
            match self.input.read(&mut self.buffer[at..]) {
                Ok(count) => {
                    self.at_end = count == 0;
                    return Ok(count);
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.input.explain(&e)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(text: &[u8], max: usize) -> Vec<(u64, bool, Vec<u8>)> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        std::fs::write(&path, text).unwrap();
        let mut input = Input::open(&path).unwrap();
        let mut reader = LineReader::new(&mut input, max);
        let mut out = Vec::new();
        while let Some((number, line)) = reader.read().unwrap() {
            out.push(match line {
                Line::Whole(bytes) => (number, true, bytes.to_vec()),
                Line::TooLong(bytes) => (number, false, bytes.to_vec()),
            });
        }
        out
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_one_line() {
        let mut text = b"first\n".to_vec();
        text.extend(vec![b'x'; 1_000_000]);
        text.extend(b"\r\nlast without an end");
        let got = lines(&text, 1000);
        assert_eq!(got[0], (1, true, b"first".to_vec()));
        assert_eq!(got[1], (2, false, vec![b'x'; 1000]));
        assert_eq!(got[2], (3, true, b"last without an end".to_vec()));
        let mut open = vec![b'y'; 700_000];
        assert_eq!(lines(&open, 10), [(1, false, vec![b'y'; 10])]);
        open.truncate(10);
        assert_eq!(lines(&open, 10), [(1, true, vec![b'y'; 10])]);
    }

    proptest! {
        /// The same lines as splitting the whole text.
        #[test]
        fn splits_like_the_standard_library(text in "[ab\r\n]{1,200}", max in 1..30_usize) {
            let mut want: Vec<Vec<u8>> = text.as_bytes().split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            if text.ends_with('\n') {
                want.pop();
            }
            let got = lines(text.as_bytes(), max);
            prop_assert_eq!(got.len(), want.len());
            for (i, ((number, whole, bytes), want)) in got.iter().zip(want).enumerate() {
                prop_assert_eq!(*number, i as u64 + 1);
                prop_assert_eq!(*whole, want.len() <= max);
                let shown = if *whole { want.strip_suffix(b"\r").unwrap_or(&want) } else { &want[..max] };
                prop_assert_eq!(&bytes[..], shown);
            }
        }
    }
}
