//! Columns that the loader adds to charges: cloud, SKU, GPUs, hours, kind of line.

use lowwater_model::charge::ChargeCategory;
use lowwater_model::cloud::cloud_id;

use super::bill::UNKNOWN;
use super::chunk::Chunk;
use super::column::{Column, Number, Text, Whole};
use super::dictionary::NONE;
use crate::sku::{self, Clue, Place};

const MICROS: i64 = 1_000_000;
const HOUR_MICROS: i64 = 3600 * MICROS;
const DAY_MICROS: i64 = 24 * HOUR_MICROS;
const UNIT: i128 = 1_000_000_000_000;

/// Where the cost of a charge ends with its resource: instance hours.
pub(crate) const COMPUTE: &str = "compute";
/// Where it goes on: disks, addresses, transfer, unused commitments, tax.
const OTHER: &str = "other";
/// Service categories in which instances are sold.
const INSTANCE_CATEGORIES: &[&str] = &["Compute", "AI and Machine Learning"];

/// Columns made of others, by name.
pub(crate) struct Derived {
    columns: Vec<(&'static str, Column)>,
    /// Rows of compute whose hours are the length of their charge period, because the bill gives no quantity of time.
    pub(crate) assumed: Vec<u32>,
}

/// Columns that are used under other names in the cubes.
pub(crate) const PROVIDER: &str = "x_Provider";
pub(crate) const INSTANCE_HOURS: &str = "x_InstanceHours";

impl Derived {
    /// Of a chunk; `provider` is the name where a row has none.
    pub(crate) fn of(chunk: &Chunk, provider: &str) -> Self {
        let mut made = Hardware::default();
        let mut finder = Finder::new(chunk);
        let lines = Lines::new(chunk);
        for row in 0..chunk.rows() as u32 {
            let found = finder.find(row);
            lines.put(row, &found, &mut made);
        }
        let (provider, cloud) = providers(chunk, provider);
        let (hour, day, seconds) = periods(chunk);
        let columns = vec![
            (PROVIDER, Column::Text(provider)),
            ("x_Cloud", Column::Text(cloud)),
            ("x_Sku", Column::Text(made.sku)),
            ("x_SkuEvidence", Column::Text(made.evidence)),
            ("x_GpuType", Column::Text(made.gpu_type)),
            ("x_GpuCount", Column::Whole(made.gpu_count)),
            ("x_GpuHours", Column::Number(made.gpu_hours)),
            ("x_LineKind", Column::Text(made.kind)),
            (INSTANCE_HOURS, Column::Number(made.instance_hours)),
            ("x_Hour", Column::Whole(hour)),
            ("x_Day", Column::Whole(day)),
            ("x_PeriodSeconds", Column::Whole(seconds)),
        ];
        Self {
            columns,
            assumed: made.assumed,
        }
    }

    /// A column by name.
    pub(crate) fn find(&self, name: &str) -> Option<&Column> {
        self.columns
            .iter()
            .find(|(made, _)| *made == name)
            .map(|(_, column)| column)
    }
}

#[derive(Default)]
struct Hardware {
    sku: Text,
    evidence: Text,
    gpu_type: Text,
    /// In 10^-12, as it is stored.
    gpu_count: Whole,
    gpu_hours: Number,
    instance_hours: Number,
    kind: Text,
    /// Rows whose hours are the length of their charge period.
    assumed: Vec<u32>,
}

/// What is known of the hardware of one charge.
#[derive(Clone, Default)]
struct Found {
    clue: Clue,
    evidence: String,
    gpus: Option<i128>,
    gpu_type: Option<String>,
    /// Is the accelerator known only from a text that may name one that the charge is not for?
    is_hearsay: bool,
}

/// Looks for the SKU of a row; each distinct text is read once.
struct Finder<'a> {
    places: Vec<Clues<'a>>,
    /// Charges of one resource often follow each other.
    last: Option<(Vec<u32>, Found)>,
}

struct Clues<'a> {
    column: &'a Text,
    evidence: String,
    place: Place,
    read: Vec<Option<Clue>>,
}

impl Clues<'_> {
    fn at(&mut self, code: u32) -> &Clue {
        let text = self.column.dictionary.get(code);
        self.read[code as usize].get_or_insert_with(|| self.place.read(text))
    }
}

impl<'a> Finder<'a> {
    fn new(chunk: &'a Chunk) -> Self {
        let own = chunk.extra().iter().filter(|name| sku::is_sku_column(name));
        let own = own.map(|name| (name.as_str(), Place::Declared));
        let (first, rest) = sku::PLACES.split_at(1);
        let names = first.iter().copied().chain(own).chain(rest.iter().copied());
        let places = names.filter_map(|(name, place)| {
            let column = chunk.text(name)?;
            Some(Clues {
                column,
                evidence: sku::evidence(name),
                place,
                read: vec![None; column.dictionary.len()],
            })
        });
        Self {
            places: places.collect(),
            last: None,
        }
    }

    fn find(&mut self, row: u32) -> Found {
        let codes = |finder: &Self| {
            finder
                .places
                .iter()
                .map(|p| p.column.codes.get(row))
                .collect::<Vec<_>>()
        };
        if let Some((last, found)) = &self.last
            && self
                .places
                .iter()
                .zip(last)
                .all(|(p, code)| p.column.codes.get(row) == *code)
        {
            return found.clone();
        }
        let found = self.search(row);
        self.last = Some((codes(self), found.clone()));
        found
    }

    fn search(&mut self, row: u32) -> Found {
        let mut found = Found::default();
        for place in &mut self.places {
            let code = place.column.codes.get(row);
            if code == NONE {
                continue;
            }
            let clue = place.at(code).clone();
            if found.clue.accelerator.is_none() && clue.accelerator.is_some() {
                found.is_hearsay = !place.place.is_of_hardware();
                found.clue.accelerator = clue.accelerator;
            }
            found.clue.gpu_count = found.clue.gpu_count.or(clue.gpu_count);
            if found.clue.sku.is_none() && clue.sku.is_some() {
                found.clue.sku = clue.sku;
                found.evidence.clone_from(&place.evidence);
            }
            if found.clue.fact().is_some() {
                break;
            }
        }
        found.settle();
        found
    }
}

impl Found {
    /// The table of instance types is right about the type; else the bill's own words count.
    fn settle(&mut self) {
        let fact = self.clue.fact();
        let count = fact.map(|f| f.count).or(self.clue.gpu_count);
        // not money: a count from a table of facts
        self.gpus = count.map(|count| (count * UNIT as f64).round() as i128);
        let named = fact
            .map(|f| f.accelerator.to_string())
            .or_else(|| self.clue.accelerator.clone());
        self.gpu_type = named.or_else(|| self.gpus.map(|_| UNKNOWN.to_owned()));
        self.is_hearsay &= fact.is_none();
    }
}

/// What decides the kind and the hours of a line.
struct Lines<'a> {
    chunk: &'a Chunk,
    usage: Flags<'a>,
    category: Flags<'a>,
    unused: [Flags<'a>; 2],
    consumed: Hours<'a>,
    priced: Hours<'a>,
    start: Option<&'a Whole>,
    end: Option<&'a Whole>,
}

impl<'a> Lines<'a> {
    fn new(chunk: &'a Chunk) -> Self {
        let unused = |name| Flags::new(chunk.text(name), |text| text.trim().eq_ignore_ascii_case("unused"));
        Self {
            chunk,
            usage: Flags::new(chunk.text("ChargeCategory"), |text| {
                ChargeCategory::parse(text.trim()) == Some(ChargeCategory::Usage)
            }),
            category: Flags::new(chunk.text("ServiceCategory"), |text| {
                INSTANCE_CATEGORIES
                    .iter()
                    .any(|name| name.eq_ignore_ascii_case(text.trim()))
            }),
            unused: [unused("CommitmentDiscountStatus"), unused("CapacityReservationStatus")],
            consumed: Hours::new(chunk, "ConsumedUnit", "ConsumedQuantity"),
            priced: Hours::new(chunk, "PricingUnit", "PricingQuantity"),
            start: chunk.whole("ChargePeriodStart"),
            end: chunk.whole("ChargePeriodEnd"),
        }
    }

    /// Hours of the instance, where the line is of hours of an instance, and whether they are assumed: a bill that gives
    /// no quantity of time means the whole charge period, and a charge of no category is use.
    fn hours(&self, row: u32) -> Option<(i128, bool)> {
        let is_use = self.usage.get(row) != Some(false) && self.category.get(row) != Some(false);
        let is_waste = self.unused.iter().any(|flags| flags.get(row) == Some(true));
        if !is_use || is_waste {
            return None;
        }
        if let Some(hours) = self.consumed.get(row).or_else(|| self.priced.get(row)) {
            return Some((hours, false));
        }
        let says_what_else = self.consumed.is_other(row) || self.priced.is_other(row);
        let length = self.end?.get(row)? - self.start?.get(row)?;
        let hours = half_even(i128::from(length) * UNIT, i128::from(HOUR_MICROS));
        (!says_what_else && length > 0).then_some((hours, true))
    }

    fn put(&self, row: u32, found: &Found, made: &mut Hardware) {
        let at = row as usize;
        debug_assert!(at < self.chunk.rows());
        if let Some(sku) = &found.clue.sku {
            made.sku.put(at, sku);
            made.evidence.put(at, &found.evidence);
        }
        let is_machine = found.clue.sku.is_some() || found.gpu_type.is_some();
        let hours = self.hours(row).filter(|_| is_machine);
        if !found.is_hearsay || hours.is_some() {
            put_gpus(at, found, made);
        }
        let Some((hours, is_assumed)) = hours else {
            made.kind.put(at, OTHER);
            return;
        };
        made.kind.put(at, COMPUTE);
        made.instance_hours.put(at, hours);
        if is_assumed {
            made.assumed.push(row);
        }
        if let Some(gpus) = found.gpus {
            // No instance runs so long that this is too large; a misread quantity may.
            if let Some(product) = hours.checked_mul(gpus) {
                made.gpu_hours.put(at, half_even(product, UNIT));
            }
        }
    }
}

fn put_gpus(at: usize, found: &Found, made: &mut Hardware) {
    if let Some(gpus) = found.gpus {
        made.gpu_count.put(at, gpus as i64);
    }
    if let Some(gpu_type) = &found.gpu_type {
        made.gpu_type.put(at, gpu_type);
    }
}

/// A yes or no for each distinct text of a column.
struct Flags<'a> {
    column: Option<&'a Text>,
    flags: Vec<bool>,
}

impl<'a> Flags<'a> {
    fn new(column: Option<&'a Text>, test: impl Fn(&str) -> bool) -> Self {
        let flags = column.map(|c| c.dictionary.iter().map(test).collect());
        Self {
            column,
            flags: flags.unwrap_or_default(),
        }
    }

    fn get(&self, row: u32) -> Option<bool> {
        self.flags.get(self.column?.codes.get(row) as usize).copied()
    }
}

/// A quantity with its unit, as hours.
struct Hours<'a> {
    unit: Option<&'a Text>,
    quantity: Option<&'a Number>,
    /// How many of each distinct unit make an hour; 0 = it is no time.
    per_hour: Vec<i128>,
}

impl<'a> Hours<'a> {
    fn new(chunk: &'a Chunk, unit: &str, quantity: &str) -> Self {
        let unit = chunk.text(unit);
        let per_hour = unit.map(|u| u.dictionary.iter().map(per_hour).collect());
        Self {
            unit,
            quantity: chunk.number(quantity),
            per_hour: per_hour.unwrap_or_default(),
        }
    }

    fn get(&self, row: u32) -> Option<i128> {
        match self.per_hour.get(self.unit?.codes.get(row) as usize)? {
            0 => None,
            per_hour => Some(half_even(self.quantity?.get(row)?, *per_hour)),
        }
    }

    /// Is it a quantity of something that is not a machine for a while, such as gigabytes?
    fn is_other(&self, row: u32) -> bool {
        let unit = self
            .unit
            .and_then(|unit| unit.get(row))
            .map(str::trim)
            .unwrap_or_default();
        !unit.is_empty() && per_hour(unit) == 0 && !OF_PERIOD.iter().any(|name| name.eq_ignore_ascii_case(unit))
    }
}

/// Units of machines that are billed for their whole charge period.
const OF_PERIOD: &[&str] = &[
    "day",
    "days",
    "1 day",
    "month",
    "months",
    "1 month",
    "instance",
    "instances",
    "instance-months",
    "1",
];

fn per_hour(unit: &str) -> i128 {
    match unit.trim().to_ascii_lowercase().as_str() {
        "hours" | "hour" | "hrs" | "hr" | "h" | "1 hour" | "instance-hours" | "instance hours" => 1,
        "minutes" | "minute" | "min" => 60,
        "seconds" | "second" | "s" | "sec" => 3600,
        _ => 0,
    }
}

fn half_even(value: i128, divisor: i128) -> i128 {
    let quotient = value.div_euclid(divisor);
    let twice = 2 * value.rem_euclid(divisor);
    let up = twice > divisor || (twice == divisor && quotient % 2 != 0);
    quotient + i128::from(up)
}

fn providers(chunk: &Chunk, default: &str) -> (Text, Text) {
    let (service, plain) = (chunk.text("ServiceProviderName"), chunk.text("ProviderName"));
    let (mut provider, mut cloud) = (Text::default(), Text::default());
    let mut clouds: Vec<String> = Vec::new();
    for row in 0..chunk.rows() as u32 {
        let name = service
            .and_then(|c| c.get(row))
            .or_else(|| plain.and_then(|c| c.get(row)));
        let name = name.unwrap_or(default);
        let code = provider.put(row as usize, name) as usize;
        if code == clouds.len() {
            clouds.push(cloud_id(name));
        }
        cloud.put(row as usize, &clouds[code]);
    }
    (provider, cloud)
}

fn periods(chunk: &Chunk) -> (Whole, Whole, Whole) {
    let (start, end) = (chunk.whole("ChargePeriodStart"), chunk.whole("ChargePeriodEnd"));
    let (mut hour, mut day, mut seconds) = (Whole::default(), Whole::default(), Whole::default());
    for row in 0..chunk.rows() as u32 {
        let Some(start) = start.and_then(|c| c.get(row)) else {
            continue;
        };
        hour.put(row as usize, start.div_euclid(HOUR_MICROS) * HOUR_MICROS);
        day.put(row as usize, start.div_euclid(DAY_MICROS) * DAY_MICROS);
        if let Some(end) = end.and_then(|c| c.get(row)) {
            seconds.put(row as usize, (end - start) / MICROS);
        }
    }
    (hour, day, seconds)
}
