use std::io::Write;

use proptest::prelude::*;

use super::*;

const SMALL: Limits = Limits {
    max_columns: 6,
    max_field_bytes: 64,
    max_record_bytes: 128,
};

/// What a whole file gives: header, then rows as fields or as the reason why not.
type Rows = Result<(Vec<String>, Vec<Result<Vec<String>, String>>), String>;

fn read(bytes: &[u8], limits: Limits) -> Rows {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut input = Input::open(file.path()).map_err(|e| e.to_string())?;
    let mut reader = RecordReader::new(&mut input, limits).map_err(|e| e.to_string())?;
    let header = reader.header().to_vec();
    let mut rows = Vec::new();
    let mut last = 1;
    while let Some(row) = reader.read().map_err(|e| e.to_string())? {
        rows.push(match row {
            Row::Good(record) => {
                assert!(record.number >= last);
                last = record.number;
                Ok(record.fields().map(str::to_owned).collect())
            }
            Row::Bad(bad) => {
                assert!(bad.number >= last);
                last = bad.number;
                Err(format!("{}|{}", bad.column, bad.reason))
            }
        });
    }
    Ok((header, rows))
}

fn good(text: &str) -> Vec<Vec<String>> {
    let rows = read(text.as_bytes(), Limits::default()).unwrap().1;
    rows.into_iter().map(|row| row.unwrap()).collect()
}

#[test]
fn quotes_newlines_and_blank_lines() {
    let rows = good("a, b ,c\r\n1,\"x \"\"y\"\"\r\nz\",\r\n\r\n\"\",2,\"3\"");
    assert_eq!(rows, [["1", "x \"y\"\r\nz", ""], ["", "2", "3"]]);
}

#[test]
fn header_is_trimmed_and_says_the_delimiter() {
    let header = |text: &str| read(text.as_bytes(), Limits::default()).unwrap().0;
    assert_eq!(header(" a , b\n"), ["a", "b"]);
    assert_eq!(header("a;b\n1;2\n"), ["a", "b"]);
    assert_eq!(header("a\tb\n"), ["a", "b"]);
    assert_eq!(header("a;b,c\n"), ["a;b", "c"], "not clear: a comma");
    assert_eq!(header("\"a;x\",b\n"), ["a;x", "b"]);
}

#[test]
fn rows_that_do_not_fit_the_header_are_bad_and_the_next_is_good() {
    let rows = read(b"a,b\n1\n1,2,3\n1,2\n", Limits::default()).unwrap().1;
    assert_eq!(rows[0], Err("|the row has 1 fields, the header has 2".into()));
    assert_eq!(rows[1], Err("|the row has 3 fields, the header has 2".into()));
    assert_eq!(rows[2], Ok(vec!["1".into(), "2".into()]));
}

#[test]
fn too_large_is_skipped_not_kept() {
    let text = format!(
        "a,b\n{},2\n1,{}\n1,{}\n{}\n3,4\n",
        "x".repeat(65),
        "y".repeat(64),
        "z".repeat(5_000_000),
        "1,".repeat(50)
    );
    let rows = read(text.as_bytes(), SMALL).unwrap().1;
    assert_eq!(rows[0], Err("a|the field is larger than 64 bytes".into()));
    assert_eq!(rows[1].as_ref().unwrap()[1].len(), 64);
    assert_eq!(rows[2], Err("|the row is larger than 128 bytes".into()));
    assert_eq!(rows[3], Err("|the row has more than 6 fields".into()));
    assert_eq!(rows[4], Ok(vec!["3".into(), "4".into()]));
}

#[test]
fn buffers_stop_growing_at_the_limits() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(
        file,
        "a,b\n{},\"{}\"\n1,2\n",
        "x".repeat(20_000),
        "y,\n".repeat(3_000_000)
    )
    .unwrap();
    let limits = Limits::default();
    let mut input = Input::open(file.path()).unwrap();
    let mut reader = RecordReader::new(&mut input, limits).unwrap();
    assert!(matches!(reader.read().unwrap(), Some(Row::Bad(_))));
    assert!(matches!(reader.read().unwrap(), Some(Row::Good(_))));
    assert_eq!(reader.record.len(), limits.max_record_bytes);
}

#[test]
fn headers_that_are_none() {
    let said = |bytes: &[u8]| read(bytes, SMALL).unwrap_err();
    assert!(said(b"a,b,c,d,e,f,g\n").contains("more than 6 columns"));
    assert!(said("x".repeat(200).as_bytes()).contains("too large"));
    assert!(said(b"a,\xe4\n1,2\n").contains("header is not UTF-8\nhint:"));
    assert!(said(b"\n\n").contains("no header"));
    let wide = vec!["c"; 100_000].join(",");
    let error = read(wide.as_bytes(), Limits::default()).unwrap_err();
    assert!(error.contains("more than 2000 columns"), "{error}");
}

#[test]
fn bytes_that_are_not_utf8_spoil_their_row_only() {
    let rows = read(b"a,b\nM\xfcller,1\n\xc3,\xa9\n\xc3\xa9,1\n", Limits::default())
        .unwrap()
        .1;
    assert_eq!(rows[0], Err("a|is not UTF-8".into()));
    assert_eq!(rows[1], Err("a|is not UTF-8".into()), "a character cut by a comma");
    assert_eq!(rows[2], Ok(vec!["é".into(), "1".into()]));
}

#[test]
fn an_open_quote_never_hides_the_rest_of_the_bill() {
    for text in [
        "a,b\n1,2\n1,\"2\n3,4\n5,6\n",
        "a,b\n1,\"2\n3,4\n5,6",
        "a,b\n\"1\n3,4\n5,6\n",
    ] {
        let said = read(text.as_bytes(), Limits::default()).unwrap_err();
        assert!(said.contains("never closed"), "{text:?}: {said}");
    }
    let long = format!("a,b\n1,\"{}", "2,3\n".repeat(1000));
    assert!(read(long.as_bytes(), SMALL).unwrap_err().contains("never closed"));
    assert_eq!(good("a,b\n1,\"2\n3\""), [["1", "2\n3"]], "closed at the very end");
}

fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\""))
}

proptest! {
    /// What is written by the rules of RFC 4180 is read back, whatever the fields hold.
    #[test]
    fn reads_back_what_was_written(rows in prop::collection::vec(prop::collection::vec("[a-z,\"\n\r;é ]{0,12}", 3), 1..20)) {
        let lines: Vec<String> = rows.iter().map(|r| r.iter().map(|f| quoted(f)).collect::<Vec<_>>().join(",")).collect();
        let text = format!("a,b,c\n{}\n", lines.join("\n"));
        prop_assert_eq!(good(&text), rows);
    }

    /// Any bytes give rows, bad rows or an error: never a panic, never an endless loop, never more than the limits.
    #[test]
    fn survives_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), noise in "[,\"\n\r;a]{0,200}") {
        for input in [bytes.as_slice(), noise.as_bytes(), &[noise.as_bytes(), &bytes].concat()] {
            if let Ok((header, rows)) = read(input, SMALL) {
                prop_assert!(header.len() <= SMALL.max_columns);
                for row in rows.iter().flatten() {
                    prop_assert_eq!(row.len(), header.len());
                    prop_assert!(row.iter().all(|field| field.len() <= SMALL.max_field_bytes));
                }
            }
        }
    }
}

#[test]
fn a_row_has_the_number_of_the_line_on_which_it_begins() {
    let text = "\r\n\na,b\r\n1,\"two\r\nlines\"\r\n\r\n\n3,4\n5\n\"\n\n\",6\nlast,row";
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let mut input = Input::open(file.path()).unwrap();
    let mut reader = RecordReader::new(&mut input, Limits::default()).unwrap();
    let mut numbers = Vec::new();
    while let Some(row) = reader.read().unwrap() {
        numbers.push(match row {
            Row::Good(record) => (record.number, record.fields().next().unwrap().to_owned()),
            Row::Bad(bad) => (bad.number, bad.value),
        });
    }
    let expected = [(4, "1"), (8, "3"), (9, "5"), (10, "\n\n"), (13, "last")];
    assert_eq!(numbers, expected.map(|(line, first)| (line, first.to_owned())));
}

#[test]
fn lines_are_counted_across_buffers() {
    let filler = "x".repeat(1000);
    let text = format!("a,b\n{}{{", format!("{filler},1\n\n").repeat(1000)).replace('{', "bad");
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let mut input = Input::open(file.path()).unwrap();
    let mut reader = RecordReader::new(&mut input, Limits::default()).unwrap();
    let mut last = 0;
    while let Some(row) = reader.read().unwrap() {
        last = match row {
            Row::Good(record) => record.number,
            Row::Bad(bad) => bad.number,
        };
    }
    assert_eq!(last, 2002, "{} lines", text.lines().count());
}
