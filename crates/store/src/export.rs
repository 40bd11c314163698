//! Writes charges as a FOCUS 1.2 Parquet file, batch by batch, in bounded memory.
//!
//! Texts repeat from hour to hour: they stand once, in the [`Line`]s of a file, and a [`Charge`] names its line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Decimal128Array, DictionaryArray, Int32Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_writer::ArrowWriterOptions;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::properties::WriterProperties;
use lowwater_model::money::Money;
use lowwater_model::period::Period;

use crate::error::{InputError, StoreError};
use crate::schema::{FOCUS, Kind};

/// Rows held before they are encoded.
const BATCH_ROWS: usize = 16_384;

/// The 57 columns of FOCUS 1.2, in the order in which they are written.
pub const FOCUS_1_2: &[&str] = &[
    "ProviderName",
    "PublisherName",
    "InvoiceIssuerName",
    "InvoiceId",
    "BillingAccountId",
    "BillingAccountName",
    "BillingAccountType",
    "SubAccountId",
    "SubAccountName",
    "SubAccountType",
    "BillingPeriodStart",
    "BillingPeriodEnd",
    "ChargePeriodStart",
    "ChargePeriodEnd",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargeFrequency",
    "BilledCost",
    "EffectiveCost",
    "ListCost",
    "ContractedCost",
    "ListUnitPrice",
    "ContractedUnitPrice",
    "PricingCategory",
    "PricingQuantity",
    "PricingUnit",
    "PricingCurrency",
    "PricingCurrencyContractedUnitPrice",
    "PricingCurrencyEffectiveCost",
    "PricingCurrencyListUnitPrice",
    "BillingCurrency",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ServiceName",
    "ServiceCategory",
    "ServiceSubcategory",
    "SkuId",
    "SkuMeter",
    "SkuPriceId",
    "SkuPriceDetails",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "RegionId",
    "RegionName",
    "AvailabilityZone",
    "CommitmentDiscountId",
    "CommitmentDiscountName",
    "CommitmentDiscountCategory",
    "CommitmentDiscountType",
    "CommitmentDiscountStatus",
    "CommitmentDiscountQuantity",
    "CommitmentDiscountUnit",
    "CapacityReservationId",
    "CapacityReservationStatus",
    "Tags",
];

/// What charges of one resource on one set of terms have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Text columns of FOCUS by their id; a column that is not here is null.
    pub texts: BTreeMap<&'static str, String>,
    /// ListUnitPrice.
    pub list_unit_price: Option<Money>,
    /// ContractedUnitPrice.
    pub contracted_unit_price: Option<Money>,
}

impl Line {
    /// With one more text.
    #[must_use]
    pub fn with(mut self, column: &'static str, text: impl Into<String>) -> Self {
        self.texts.insert(column, text.into());
        self
    }
}

/// A quantity in 10^-12 of its unit, exact like money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity(i128);

impl Quantity {
    /// From 10^-12 of the unit.
    pub const fn from_units(units: i128) -> Self {
        Self(units)
    }

    /// From millionths of the unit.
    pub const fn millionths(count: i64) -> Self {
        Self(count as i128 * 1_000_000)
    }

    /// Hours; exact for seconds that are a multiple of 9, as 9 seconds are 0.0025 hours.
    pub const fn hours_of_seconds(seconds: i64) -> Self {
        Self(seconds as i128 * 1_000_000_000_000 / 3600)
    }

    /// In 10^-12 of the unit.
    pub const fn units(self) -> i128 {
        self.0
    }

    /// What it costs at a price; digits beyond the twelfth are cut off.
    pub const fn at(self, price: Money) -> Money {
        Money::from_units(self.0 * price.units() / 1_000_000_000_000)
    }
}

/// The four cost columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// BilledCost.
    pub billed: Money,
    /// EffectiveCost.
    pub effective: Money,
    /// ContractedCost.
    pub contracted: Money,
    /// ListCost.
    pub list: Money,
}

impl Costs {
    /// The same amount in all four: tax, credits, fees.
    pub const fn flat(amount: Money) -> Self {
        Self {
            billed: amount,
            effective: amount,
            contracted: amount,
            list: amount,
        }
    }
}

impl AddAssign for Costs {
    fn add_assign(&mut self, other: Self) {
        self.billed += other.billed;
        self.effective += other.effective;
        self.contracted += other.contracted;
        self.list += other.list;
    }
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Index of its line in the file's lines.
    pub line: usize,
    /// Charge period.
    pub period: Period,
    /// PricingQuantity, and ConsumedQuantity where the line has a ConsumedUnit.
    pub quantity: Option<Quantity>,
    /// CommitmentDiscountQuantity.
    pub commitment_quantity: Option<Quantity>,
    /// The four costs.
    pub costs: Costs,
}

/// What all rows of a file share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invoice {
    /// InvoiceId.
    pub id: String,
    /// Billing period.
    pub period: Period,
}

/// A FOCUS 1.2 file that is being written.
pub struct FocusFile<'a> {
    path: PathBuf,
    writer: ArrowWriter<BufWriter<File>>,
    schema: SchemaRef,
    lines: &'a [Line],
    invoice: Invoice,
    /// Texts of every line, by column; none for columns that are not text.
    texts: Vec<Option<ArrayRef>>,
    batch: Vec<Charge>,
    written: Written,
}

/// What a finished file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Rows.
    pub rows: u64,
    /// Their sums.
    pub costs: Costs,
}

impl<'a> FocusFile<'a> {
    /// Creates the file. A line with a column that FOCUS 1.2 does not have as text is an error.
    pub fn create(path: &Path, invoice: Invoice, lines: &'a [Line]) -> Result<Self, StoreError> {
        for column in lines.iter().flat_map(|l| l.texts.keys()) {
            if !FOCUS_1_2.contains(column) || kind(column) != Kind::Text {
                let what = format!("`{column}` is not a text column of FOCUS 1.2");
                return Err(InputError::new(path.display().to_string(), what).into());
            }
        }
        let schema = schema();
        let file = File::create(path).map_err(StoreError::io(path))?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let options = ArrowWriterOptions::new()
            .with_properties(properties)
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(BufWriter::new(file), Arc::clone(&schema), options)
            .map_err(fault(path))?;
        let texts = FOCUS_1_2.iter().map(|c| texts_of(c, lines, &invoice)).collect();
        Ok(Self {
            path: path.to_owned(),
            writer,
            schema,
            lines,
            invoice,
            texts,
            batch: Vec::with_capacity(BATCH_ROWS),
            written: Written::default(),
        })
    }

    /// Adds a row.
    pub fn push(&mut self, charge: Charge) -> Result<(), StoreError> {
        self.written.rows += 1;
        self.written.costs += charge.costs;
        self.batch.push(charge);
        if self.batch.len() == BATCH_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    /// Rows and sums so far.
    pub const fn written(&self) -> Written {
        self.written
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<Written, StoreError> {
        self.flush()?;
        self.writer.close().map_err(fault(&self.path))?;
        Ok(self.written)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let keys = Int32Array::from_iter_values(self.batch.iter().map(|c| c.line as i32));
        let columns = FOCUS_1_2.iter().zip(&self.texts);
        let arrays = columns
            .map(|(column, texts)| match texts {
                Some(texts) => Ok(Arc::new(DictionaryArray::try_new(keys.clone(), Arc::clone(texts))?) as ArrayRef),
                None if kind(column) == Kind::Time => Ok(self.times(column)),
                None => self.numbers(column),
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays)?;
        self.writer.write(&batch).map_err(fault(&self.path))?;
        self.batch.clear();
        Ok(())
    }

    fn times(&self, column: &str) -> ArrayRef {
        let of = |charge: &Charge| match column {
            "BillingPeriodStart" => self.invoice.period.start,
            "BillingPeriodEnd" => self.invoice.period.end,
            "ChargePeriodStart" => charge.period.start,
            _ => charge.period.end,
        };
        let times = self.batch.iter().map(|c| of(c).as_microsecond());
        Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC"))
    }

    fn numbers(&self, column: &str) -> Result<ArrayRef, StoreError> {
        let values = self.batch.iter().map(|c| number(column, c, &self.lines[c.line]));
        let array: Decimal128Array = values.collect();
        Ok(Arc::new(array.with_precision_and_scale(38, 12)?))
    }
}

fn number(column: &str, charge: &Charge, line: &Line) -> Option<i128> {
    match column {
        "BilledCost" => Some(charge.costs.billed.units()),
        "EffectiveCost" | "PricingCurrencyEffectiveCost" => Some(charge.costs.effective.units()),
        "ContractedCost" => Some(charge.costs.contracted.units()),
        "ListCost" => Some(charge.costs.list.units()),
        "ListUnitPrice" | "PricingCurrencyListUnitPrice" => line.list_unit_price.map(Money::units),
        "ContractedUnitPrice" | "PricingCurrencyContractedUnitPrice" => line.contracted_unit_price.map(Money::units),
        "PricingQuantity" => charge.quantity.map(Quantity::units),
        "ConsumedQuantity" if line.texts.contains_key("ConsumedUnit") => charge.quantity.map(Quantity::units),
        "CommitmentDiscountQuantity" => charge.commitment_quantity.map(Quantity::units),
        _ => None,
    }
}

fn texts_of(column: &str, lines: &[Line], invoice: &Invoice) -> Option<ArrayRef> {
    if kind(column) != Kind::Text {
        return None;
    }
    let of = |line: &'_ Line| match column {
        "InvoiceId" => Some(invoice.id.clone()),
        _ => line.texts.get(column).cloned(),
    };
    Some(Arc::new(lines.iter().map(of).collect::<StringArray>()))
}

fn kind(column: &str) -> Kind {
    FOCUS.iter().find(|c| c.name == column).map_or(Kind::Text, |c| c.kind)
}

/// Texts go in as dictionaries, because that is how they are held; in the file they are plain text.
fn schema() -> SchemaRef {
    let fields = FOCUS_1_2.iter().map(|name| {
        let plain = kind(name).data_type();
        let held = match kind(name) {
            Kind::Text => DataType::Dictionary(Box::new(DataType::Int32), Box::new(plain)),
            _ => plain,
        };
        Field::new(*name, held, true)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn fault(path: &Path) -> impl FnOnce(ParquetError) -> StoreError {
    let path = path.to_owned();
    move |error| match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => StoreError::Io { path, source: *source },
            Err(other) => StoreError::Query(other.to_string()),
        },
        other => StoreError::Query(format!("{}: {other}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Array, AsArray};
    use datafusion::arrow::datatypes::{Decimal128Type, TimestampMicrosecondType};
    use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use proptest::prelude::*;

    fn lines() -> Vec<Line> {
        let compute = Line {
            list_unit_price: Some(Money::parse("1.212").unwrap()),
            contracted_unit_price: Some(Money::parse("1.13928").unwrap()),
            ..Line::default()
        };
        vec![
            compute
                .with("ServiceName", "EC2")
                .with("ConsumedUnit", "Hours")
                .with("Tags", "{\"team\":\"a\"}"),
            Line::default().with("ServiceName", "Tax"),
        ]
    }

    fn invoice() -> Invoice {
        Invoice {
            id: "INV-1".into(),
            period: Period::from_seconds(0, 31 * 86_400),
        }
    }

    fn charge(line: usize, hour: i64, billed: i128) -> Charge {
        Charge {
            line,
            period: Period::from_seconds(hour * 3600, hour * 3600 + 3600),
            quantity: (line == 0).then(|| Quantity::hours_of_seconds(1809)),
            commitment_quantity: None,
            costs: Costs {
                billed: Money::from_units(billed),
                ..Costs::flat(Money::from_units(7))
            },
        }
    }

    fn write(path: &Path, lines: &[Line], charges: &[Charge]) -> Written {
        let mut file = FocusFile::create(path, invoice(), lines).unwrap();
        for charge in charges {
            file.push(*charge).unwrap();
        }
        file.finish().unwrap()
    }

    fn read(path: &Path) -> Vec<RecordBatch> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
        reader.build().unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn columns_are_those_of_focus_1_2() {
        assert_eq!(FOCUS_1_2.len(), 57);
        for name in FOCUS_1_2 {
            assert!(FOCUS.iter().any(|c| c.name == *name), "{name}");
        }
        let unique: std::collections::BTreeSet<_> = FOCUS_1_2.iter().collect();
        assert_eq!(unique.len(), 57);
    }

    #[test]
    fn columns_agree_with_the_specification() {
        let Some(shared) = crate::shared::file("billing/focus/focus_columns_1.0_to_1.4.csv") else {
            return;
        };
        let table = std::fs::read_to_string(shared).unwrap();
        let wanted: std::collections::BTreeSet<&str> = table
            .lines()
            .skip(1)
            .map(|l| l.split(',').collect::<Vec<_>>())
            .filter(|f| f[3] == "1")
            .map(|f| f[0])
            .collect();
        assert_eq!(wanted, FOCUS_1_2.iter().copied().collect());
    }

    #[test]
    fn a_file_reads_back_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.parquet");
        let written = write(&path, &lines(), &[charge(0, 5, 10), charge(1, 6, -3)]);
        assert_eq!(written.rows, 2);
        assert_eq!(written.costs.billed, Money::from_units(7));
        let batch = &read(&path)[0];
        assert_eq!(batch.num_columns(), 57);
        let text = |name: &str, row: usize| {
            let column = batch.column_by_name(name).unwrap().as_string::<i32>().clone();
            column.is_valid(row).then(|| column.value(row).to_owned())
        };
        assert_eq!(text("ServiceName", 0).as_deref(), Some("EC2"));
        assert_eq!(text("ServiceName", 1).as_deref(), Some("Tax"));
        assert_eq!(text("Tags", 1), None);
        assert_eq!(text("InvoiceId", 1).as_deref(), Some("INV-1"));
        let number = |name: &str, row: usize| {
            let column = batch
                .column_by_name(name)
                .unwrap()
                .as_primitive::<Decimal128Type>()
                .clone();
            column.is_valid(row).then(|| column.value(row))
        };
        assert_eq!(number("BilledCost", 0), Some(10));
        assert_eq!(number("ConsumedQuantity", 0), Some(502_500_000_000));
        assert_eq!(number("ConsumedQuantity", 1), None);
        assert_eq!(number("ListUnitPrice", 0), Some(1_212_000_000_000));
        let starts = batch.column_by_name("ChargePeriodStart").unwrap();
        assert_eq!(
            starts.as_primitive::<TimestampMicrosecondType>().value(0),
            5 * 3600 * 1_000_000
        );
    }

    #[test]
    fn a_column_that_is_no_text_of_focus_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for column in ["x_Team", "BilledCost", "ServiceProviderName"] {
            let lines = [Line::default().with(column, "1")];
            let error = FocusFile::create(&dir.path().join("a"), invoice(), &lines)
                .err()
                .unwrap();
            assert!(error.to_string().contains(column));
        }
        let error = FocusFile::create(&dir.path().join("no/a"), invoice(), &[])
            .err()
            .unwrap();
        assert!(matches!(error, StoreError::Io { .. }));
    }

    #[test]
    fn quantities_are_exact() {
        let price = Money::parse("20.6401816").unwrap();
        assert_eq!(Quantity::hours_of_seconds(3600).at(price), price);
        assert_eq!(
            Quantity::hours_of_seconds(9).at(price),
            Money::parse("0.051600454").unwrap()
        );
        assert_eq!(Quantity::millionths(1_500_000).at(Money::whole(2)), Money::whole(3));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        /// Any number of rows, across batches: the file holds them in order, and its sums are theirs.
        #[test]
        fn rows_and_sums_survive(billed in prop::collection::vec(-1_000_000_i128..1_000_000, 0..40_000)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.parquet");
            let charges: Vec<Charge> = billed.iter().enumerate().map(|(i, b)| charge(i % 2, i as i64, *b)).collect();
            let written = write(&path, &lines(), &charges);
            prop_assert_eq!(written.rows, billed.len() as u64);
            prop_assert_eq!(written.costs.billed.units(), billed.iter().sum::<i128>());
            let back: Vec<i128> = read(&path)
                .iter()
                .flat_map(|b| b.column_by_name("BilledCost").unwrap().as_primitive::<Decimal128Type>().values().to_vec())
                .collect();
            prop_assert_eq!(back, billed);
        }
    }
}
