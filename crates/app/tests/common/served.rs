//! A served organisation, asked over real sockets.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::program;

/// A served organisation; it ends with this value.
pub struct Served {
    pub child: Child,
    pub address: String,
    pub dir: tempfile::TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    pub fn new(dir: tempfile::TempDir) -> Self {
        Self::with(dir, &[])
    }

    /// With more options.
    pub fn with(dir: tempfile::TempDir, options: &[&str]) -> Self {
        let here: &[&str] = if options.contains(&"--listen") {
            &[]
        } else {
            &["--listen", "127.0.0.1:0"]
        };
        let mut serve = program(dir.path(), &[&["serve"], here, options].concat());
        let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.split("://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Self { child, address, dir }
    }

    pub fn send(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        Answer::read(&bytes)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.get_with(path, "")
    }

    /// With more lines of a head, each with its end.
    pub fn get_with(&self, path: &str, head: &str) -> Answer {
        let host = &self.address;
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\n{head}Connection: close\r\n\r\n"
        ))
    }

    pub fn post(&self, path: &str, head: &str, body: &str) -> Answer {
        let (host, length) = (&self.address, body.len());
        let kind = "Content-Type: application/x-www-form-urlencoded";
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\n{head}{kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        ))
    }

    pub fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }
}

pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let end = bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1)?.parse().ok())
            .unwrap_or(0);
        let headers: BTreeMap<String, String> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let body = bytes.get(end + 4..).unwrap_or_default();
        let chunked = headers.get("transfer-encoding").is_some_and(|how| how == "chunked");
        let body = if chunked { unchunked(body) } else { body.to_vec() };
        Self {
            status,
            headers,
            body: String::from_utf8_lossy(&body).into_owned(),
        }
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(at) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..at]).unwrap_or("0"), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        whole.extend_from_slice(&bytes[at + 2..at + 2 + size]);
        bytes = &bytes[at + 4 + size..];
    }
    whole
}
