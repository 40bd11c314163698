use std::io::Write;

use super::*;

const TEXT: &[u8] = b"a,b\n1,2\n";

fn write(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (dir, path)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut input = Input::open(path).map_err(|e| e.to_string())?;
    let mut all = Vec::new();
    match input.read_to_end(&mut all) {
        Ok(_) => Ok(all),
        Err(e) => Err(input.explain(&e).to_string()),
    }
}

fn error(name: &str, bytes: &[u8]) -> String {
    let (_dir, path) = write(name, bytes);
    read(&path).unwrap_err()
}

#[test]
fn compression_is_known_by_content_not_by_name() {
    let zst = zstd::encode_all(TEXT, 3).unwrap();
    for bytes in [TEXT.to_vec(), gzip(TEXT), zst] {
        for name in ["bill.csv", "bill.csv.gz", "bill.zst", "bill"] {
            let (_dir, path) = write(name, &bytes);
            assert_eq!(read(&path).unwrap(), TEXT);
        }
    }
}

#[test]
fn members_and_frames_are_joined() {
    let two_gz = [gzip(b"a,b\n"), gzip(b"1,2\n")].concat();
    let two_zst = [
        zstd::encode_all(&b"a,b\n"[..], 3).unwrap(),
        zstd::encode_all(&b"1,2\n"[..], 3).unwrap(),
    ]
    .concat();
    for bytes in [two_gz, two_zst] {
        let (_dir, path) = write("bill", &bytes);
        assert_eq!(read(&path).unwrap(), TEXT);
    }
}

#[test]
fn byte_order_mark_is_no_part_of_the_text() {
    for bytes in [
        [b"\xef\xbb\xbf", TEXT].concat(),
        gzip(&[b"\xef\xbb\xbf", TEXT].concat()),
    ] {
        let (_dir, path) = write("bill.csv", &bytes);
        assert_eq!(read(&path).unwrap(), TEXT);
        assert_eq!(Input::open(&path).unwrap().head().first_line(), "a,b");
    }
}

#[test]
fn head_is_small_and_the_stream_is_whole() {
    let big: Vec<u8> = (0..300_000_u32).flat_map(|i| format!("{i},").into_bytes()).collect();
    let (_dir, path) = write("Big.CSV.GZ", &gzip(&big));
    let mut input = Input::open(&path).unwrap();
    assert_eq!(input.head().bytes, &big[..HEAD_BYTES]);
    assert_eq!(input.head().name, "big.csv");
    assert!(!input.is_parquet());
    let mut all = Vec::new();
    input.read_to_end(&mut all).unwrap();
    assert_eq!(all, big);
    assert_eq!(input.counter().load(Ordering::Relaxed), input.size());
}

#[test]
fn cut_off_or_damaged_compression_is_named() {
    let long: Vec<u8> = (0..100_000_u32)
        .flat_map(|i| i.to_le_bytes().map(|b| b'a' + b % 26))
        .collect();
    let gz = gzip(&long);
    assert!(error("t.csv.gz", &gz[..gz.len() / 2]).contains("cut off"));
    assert!(error("t.csv.gz", &gz[..gz.len() - 3]).contains("cut off"));
    let zst = zstd::encode_all(&long[..], 3).unwrap();
    assert!(error("t.csv.zst", &zst[..zst.len() - 5]).contains("cut off"));
    let mut broken = gz.clone();
    let at = broken.len() / 2;
    broken[at..at + 40].fill(0xff);
    let said = error("t.csv.gz", &broken);
    assert!(said.contains("damaged") && said.contains("hint:"), "{said}");
}

#[test]
fn what_is_not_utf8_text_is_named() {
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain("a,b".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    assert!(error("u.csv", &utf16).contains("UTF-16LE, not UTF-8\nhint: convert it: iconv -f UTF-16LE"));
    assert!(error("u.csv", &utf16[2..]).contains("zero bytes"));
    assert!(error("u.csv", b"").contains("is empty\nhint:"));
    assert!(error("u.csv", b"\xef\xbb\xbf").contains("is empty"));
    assert!(error("u.csv.gz", &gzip(b"")).contains("is empty"));
    assert!(error("u.zip", b"PK\x03\x04rest").contains("zip archive\nhint: unzip"));
    assert!(error("u.xz", b"\xfd7zXZ\x00rest").contains("xz"));
    assert!(error("u.parquet", b"PAR1 and no footer").contains("footer"));
}

#[test]
fn only_files_that_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let said = |path: &Path| Input::open(path).err().unwrap();
    let missing = said(&dir.path().join("none.csv"));
    assert_eq!(missing.exit_code(), 3);
    assert!(missing.to_string().contains("none.csv: can't be read"));
    assert!(said(dir.path()).to_string().contains("is not a file"));
    assert!(said(Path::new("/dev/null")).to_string().contains("is not a file"));
}

#[test]
fn hash_is_of_the_bytes_on_disk() {
    let (_dir, path) = write("abc", b"abc");
    assert_eq!(
        Input::open(&path).unwrap().sha256().unwrap(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

#[test]
fn directories_are_walked_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(at("b/c")).unwrap();
    std::fs::create_dir_all(at("empty")).unwrap();
    for name in ["z.csv", "a.csv", "b/2.csv", "b/c/1.csv", ".hidden"] {
        std::fs::write(at(name), b"x").unwrap();
    }
    let found = expand(&[at("z.csv"), dir.path().to_owned()]).unwrap().files;
    let names: Vec<_> = found.iter().map(|f| (f.path.clone(), f.named)).collect();
    let expected = [
        (at("z.csv"), true),
        (at("a.csv"), false),
        (at("b/2.csv"), false),
        (at("b/c/1.csv"), false),
        (at("z.csv"), false),
    ];
    assert_eq!(names, expected);
    let said = expand(&[at("empty")]).unwrap_err().to_string();
    assert!(said.contains("no file\nhint: looked for bills"), "{said}");
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_are_left_out_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let link = std::os::unix::fs::symlink::<PathBuf, PathBuf>;
    std::fs::create_dir_all(at("a/b")).unwrap();
    std::fs::write(at("a/b/bill.csv"), b"x").unwrap();
    link(dir.path().to_owned(), at("a/b/up")).unwrap();
    link(at("itself.csv"), at("itself.csv")).unwrap();
    link(at("two"), at("one")).unwrap();
    link("one".into(), at("two")).unwrap();
    link(at("a/b/bill.csv"), at("good.csv")).unwrap();
    // Not a loop: the same folder once more, elsewhere. Its content is known by its hash.
    link(at("a/b"), at("again")).unwrap();
    let expanded = expand(&[dir.path().to_owned()]).unwrap();
    let names: Vec<_> = expanded.files.iter().map(|file| file.path.clone()).collect();
    assert_eq!(names, [at("a/b/bill.csv"), at("again/bill.csv"), at("good.csv")]);
    let loops =
        ["a/b/up", "again/up", "itself.csv", "one", "two"].map(|name| link_loop(&at(name).display().to_string()));
    assert_eq!(expanded.left_out, loops);
}

#[test]
fn utf_32_is_called_so() {
    for (bytes, name) in [
        (b"\xff\xfe\0\0a\0\0\0".as_slice(), "UTF-32LE"),
        (b"\0\0\xfe\xff\0\0\0a", "UTF-32BE"),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let said = Input::open(file.path()).err().unwrap().to_string();
        assert!(said.contains(&format!("is encoded as {name}, not UTF-8")), "{said}");
        assert!(said.contains(&format!("iconv -f {name} -t UTF-8")), "{said}");
    }
}

#[test]
fn errors_of_the_file_system_say_what_to_do() {
    let said = Input::open(Path::new("no/such.csv")).err().unwrap().to_string();
    assert!(
        said.contains("can't be read") && said.contains("\nhint: is the name right"),
        "{said}"
    );
    for (kind, hint) in [
        (io::ErrorKind::StorageFull, "no space is left"),
        (io::ErrorKind::PermissionDenied, "no right"),
    ] {
        let error = StoreError::io(Path::new("data"))(io::Error::from(kind)).to_string();
        assert!(error.contains("\nhint: ") && error.contains(hint), "{error}");
    }
}
