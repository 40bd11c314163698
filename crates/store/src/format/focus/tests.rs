use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryArray, BinaryBuilder, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int64Array, LargeStringArray,
    MapBuilder, RecordBatch, StringArray, StringBuilder, StringViewArray, TimestampMillisecondArray,
    TimestampNanosecondArray,
};
use datafusion::arrow::datatypes::Int32Type;
use datafusion::parquet::arrow::ArrowWriter;

use super::*;

/// Keeps what it is given.
#[derive(Debug, Default, PartialEq)]
struct Recorder {
    columns: Vec<String>,
    rows: Vec<Vec<Option<String>>>,
    rejects: Vec<Reject>,
    warnings: BTreeSet<String>,
}

impl BillSink for Recorder {
    fn columns(&mut self, names: &[String]) -> Result<(), StoreError> {
        self.columns = names.to_vec();
        Ok(())
    }
    fn row(&mut self, number: u64, fields: &[Option<&str>]) -> Result<(), StoreError> {
        assert!(number as usize > self.rows.len() + self.rejects.len(), "lines and rows only go up");
        self.rows.push(fields.iter().map(|field| field.map(str::to_owned)).collect());
        Ok(())
    }
    fn reject(&mut self, reject: Reject) {
        self.rejects.push(reject);
    }
    fn warn(&mut self, warning: String) {
        self.warnings.insert(warning);
    }
}

fn decoded(path: &Path) -> Result<Recorder, String> {
    let mut recorder = Recorder::default();
    let mut input = Input::open(path).map_err(|e| e.to_string())?;
    decode(&mut input, &mut recorder).map_err(|e| e.to_string())?;
    Ok(recorder)
}

fn csv(text: &str) -> Result<Recorder, String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    decoded(file.path())
}

fn texts(row: &[Option<String>]) -> Vec<&str> {
    row.iter().map(|field| field.as_deref().unwrap_or("-")).collect()
}

#[test]
fn headers_match_in_any_case_and_order() {
    let read = csv("billed_cost, CHARGEPERIODSTART ,Id,Charge Period End\n1,2,3,4\n").unwrap();
    assert_eq!(read.columns, ["BilledCost", "ChargePeriodStart", "Id", "ChargePeriodEnd"]);
    let missing = read.warnings.first().unwrap();
    assert!(missing.starts_with("the file has no column BillingAccountId, "), "{missing}");
    let error = csv("BilledCost,ChargePeriodStart,billed_cost\n1,2,3\n").unwrap_err();
    assert!(error.contains("BilledCost stands twice") && error.contains("hint:"));
}

#[test]
fn detects_bills_and_nothing_else() {
    let is_bill = |line: &str| {
        detects(&Head {
            name: "x",
            bytes: line.as_bytes(),
            parquet_columns: None,
        })
    };
    assert!(is_bill("\"BilledCost\",\"ChargePeriodStart\"\r\n1,2"));
    assert!(is_bill("effectivecost;chargeperiodstart\n"));
    assert!(!is_bill("BilledCost,ListCost\n") && !is_bill("ChargePeriodStart,ListCost\n") && !is_bill(""));
    let columns = ["ChargePeriodStart".to_owned(), "EffectiveCost".to_owned()];
    let parquet = |columns| {
        detects(&Head {
            name: "x",
            bytes: b"",
            parquet_columns: Some(columns),
        })
    };
    assert!(parquet(&columns) && !parquet(&columns[..1]));
}

#[test]
fn nulls_of_csv() {
    let read = csv("BilledCost,ChargePeriodStart,Tags\n1,NULL,\n2,x,null\n3,y,Null\n4\n").unwrap();
    let rows: Vec<_> = read.rows.iter().map(|row| texts(row)).collect();
    assert_eq!(rows, [["1", "-", "-"], ["2", "x", "-"], ["3", "y", "Null"]]);
    assert!(read.warnings.contains(NULL_WARNING));
    assert_eq!(read.rejects[0].reason, "the row has 1 fields, the header has 3");
    assert!(!csv("BilledCost,ChargePeriodStart\n1,2\n").unwrap().warnings.contains(NULL_WARNING));
}

fn tags() -> ArrayRef {
    let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    map.keys().append_value("team");
    map.values().append_value("a \"b\"");
    map.keys().append_value("bare");
    map.values().append_null();
    map.append(true).unwrap();
    map.append(false).unwrap();
    Arc::new(map.finish())
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap();
    let mut writer = ArrowWriter::try_new(file.reopen().unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    file
}

#[test]
fn every_type_of_parquet_becomes_exact_text() {
    let decimal = Decimal128Array::from(vec![Some(-1_234_567), None]).with_precision_and_scale(20, 10).unwrap();
    let whole = Decimal128Array::from(vec![Some(42), None]).with_precision_and_scale(38, 0).unwrap();
    let dictionary: DictionaryArray<Int32Type> = vec![Some("Usage"), None].into_iter().collect();
    let file = parquet(vec![
        ("BilledCost", Arc::new(decimal)),
        ("ListCost", Arc::new(whole)),
        ("EffectiveCost", Arc::new(Float64Array::from(vec![Some(1.81e-8), None]))),
        ("ChargeCategory", Arc::new(dictionary)),
        ("ChargePeriodStart", Arc::new(TimestampNanosecondArray::from(vec![Some(1_790_812_800_000_000_000), None]).with_timezone("UTC"))),
        ("ChargePeriodEnd", Arc::new(TimestampMillisecondArray::from(vec![Some(1_790_812_800_500), None]))),
        ("BillingPeriodStart", Arc::new(Date32Array::from(vec![Some(20_727), None]))),
        ("Tags", tags()),
        ("SkuId", Arc::new(LargeStringArray::from(vec![Some("001"), None]))),
        ("RegionId", Arc::new(StringViewArray::from(vec![Some("NULL"), None]))),
        ("ServiceName", Arc::new(StringArray::from(vec![Some(""), None]))),
        ("x_flag", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("x_count", Arc::new(Int64Array::from(vec![Some(-7), None]))),
    ]);
    let read = decoded(file.path()).unwrap();
    assert_eq!(
        texts(&read.rows[0]),
        [
            "-0.0001234567",
            "42",
            "1.81e-8",
            "Usage",
            "2026-10-01T00:00:00Z",
            "2026-10-01T00:00:00.5",
            "2026-10-01",
            r#"{"bare":null,"team":"a \"b\""}"#,
            "001",
            "-",
            "-",
            "true",
            "-7",
        ]
    );
    assert!(read.rows[1].iter().all(Option::is_none));
    assert!(read.warnings.contains(NULL_WARNING));
}

#[test]
fn bytes_that_are_no_text_reject_their_row() {
    let mut tags = MapBuilder::new(None, StringBuilder::new(), BinaryBuilder::new());
    for value in [&b"vision"[..], b"v\xfcs", b"vision"] {
        tags.keys().append_value("team");
        tags.values().append_value(value);
        tags.append(true).unwrap();
    }
    let names: Vec<Option<&[u8]>> = vec![Some(b"M\xfcnchen"), None, Some("München".as_bytes())];
    let file = parquet(vec![
        ("ChargePeriodStart", Arc::new(StringArray::from(vec!["2026-10-01T00:00:00Z"; 3]))),
        ("BilledCost", Arc::new(StringArray::from(vec!["1", "2.5", "3"]))),
        ("Region Name", Arc::new(BinaryArray::from(names))),
        ("Tags", Arc::new(tags.finish())),
        ("x_Fixed", Arc::new(FixedSizeBinaryArray::try_from_iter([b"ab", b"cd", b"ef"].into_iter()).unwrap())),
    ]);
    let read = decoded(file.path()).unwrap();
    assert_eq!(read.rows.len(), 1);
    assert_eq!(
        texts(&read.rows[0]),
        ["2026-10-01T00:00:00Z", "3", "München", r#"{"team":"vision"}"#, "ef"]
    );
    let told: Vec<_> = read
        .rejects
        .iter()
        .map(|r| (r.row, r.column.as_str(), r.value.as_str(), r.reason.as_str(), r.at_stake.as_deref()))
        .collect();
    assert_eq!(
        told,
        [
            (1, "Region Name", "M\u{fffd}nchen", "is not UTF-8", Some("1")),
            (2, "Tags", "v\u{fffd}s", "is not UTF-8", Some("2.5")),
        ]
    );
}

#[test]
fn large_decimals_keep_all_digits() {
    let value = 123_456_789_012_345_678_901_234_567_890_i128;
    let decimal = Decimal128Array::from(vec![value, -value]).with_precision_and_scale(38, 26).unwrap();
    let start = StringArray::from(vec!["2026-10-01T00:00:00Z"; 2]);
    let file = parquet(vec![("BilledCost", Arc::new(decimal)), ("ChargePeriodStart", Arc::new(start))]);
    let read = decoded(file.path()).unwrap();
    assert_eq!(texts(&read.rows[0])[0], "1234.56789012345678901234567890");
    assert_eq!(texts(&read.rows[1])[0], "-1234.56789012345678901234567890");
}

#[test]
fn damaged_parquet_is_named() {
    let start = StringArray::from((0..5000).map(|i| format!("text {i}")).collect::<Vec<_>>());
    let file = parquet(vec![("ChargePeriodStart", Arc::new(start.clone())), ("BilledCost", Arc::new(start))]);
    let mut bytes = std::fs::read(file.path()).unwrap();
    bytes[20..2000].fill(0xff);
    std::fs::write(file.path(), &bytes).unwrap();
    let error = decoded(file.path()).unwrap_err();
    assert!(error.contains("damaged") && error.contains("hint:"), "{error}");
}
