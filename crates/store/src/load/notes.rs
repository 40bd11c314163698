//! What a reader of a bill must know: values that FOCUS does not have, tags that conflict, costs that can't be trusted.

use lowwater_model::charge::{ChargeCategory, ChargeFrequency, CommitmentStatus, PricingCategory};
use lowwater_model::money::Money;

use super::column::{Column, Text};
use super::cube::Charges;
use super::derive::COMPUTE;
use super::dictionary::NONE;
use super::units::Units;
use crate::tags;

/// Distinct odd values of a column that are named; the rest are counted together.
const MAX_NAMED: usize = 5;
/// Rows of a provider from which EffectiveCost can be judged.
const MIN_JUDGED: u64 = 5;
const UNIT: i128 = 1_000_000_000_000;

/// Reads one closed vocabulary: the text as FOCUS writes it.
type Vocabulary = (&'static str, fn(&str) -> Option<&'static str>);

const VOCABULARIES: &[Vocabulary] = &[
    ("ChargeCategory", |t| {
        ChargeCategory::parse(t).map(ChargeCategory::as_str)
    }),
    ("ChargeFrequency", |t| {
        ChargeFrequency::parse(t).map(ChargeFrequency::as_str)
    }),
    ("PricingCategory", |t| {
        PricingCategory::parse(t).map(PricingCategory::as_str)
    }),
    ("CommitmentDiscountStatus", |t| {
        CommitmentStatus::parse(t).map(CommitmentStatus::as_str)
    }),
];

/// Looks through a chunk and notes what it finds with its units.
pub(crate) fn note(charges: Charges<'_>, units: &mut Units) {
    for (name, read) in VOCABULARIES {
        if let Some(column) = charges.chunk.text(name) {
            tally(charges, units, column, false, &vocabulary(name, *read, column));
        }
    }
    if let Some(column) = charges.chunk.text("Tags") {
        tally(charges, units, column, true, &tag_notes(column));
    }
    if let Some(Column::Text(column)) = charges.derived.find("x_SkuEvidence") {
        let notes = column.dictionary.iter().map(|evidence| {
            (evidence == "ChargeDescription").then(|| "the instance type stands only in ChargeDescription".to_owned())
        });
        tally(charges, units, column, false, &notes.collect::<Vec<_>>());
    }
    pricing_categories(charges, units);
    hours_and_gpus(charges, units);
    effective_costs(charges, units);
}

/// Said of machines whose bill gives no hours.
const ASSUMED_HOURS: &str = "ConsumedQuantity and PricingQuantity give no hours of a machine (missing, or in no unit of time), \
     so its hours are taken to be the whole charge period";
/// Said of machines whose bill names a GPU, but not how many.
const UNCOUNTED_GPUS: &str =
    "a GPU machine does not say how many GPUs it has: its cost is GPU spend, its GPU-hours are unknown";

fn hours_and_gpus(charges: Charges<'_>, units: &mut Units) {
    let unit_of = |row: u32| charges.chunk.units[row as usize] as usize;
    for row in &charges.derived.assumed {
        units.get_mut(unit_of(*row)).note(ASSUMED_HOURS, None);
    }
    let (Some(Column::Text(types)), Some(Column::Whole(counts)), Some(Column::Text(kinds))) = (
        charges.find("x_GpuType"),
        charges.find("x_GpuCount"),
        charges.find("x_LineKind"),
    ) else {
        return;
    };
    for row in 0..charges.chunk.rows() as u32 {
        let is_gpu = types.codes.get(row) != NONE && kinds.get(row) == Some(COMPUTE);
        if is_gpu && counts.get(row).is_none() {
            units.get_mut(unit_of(row)).note(UNCOUNTED_GPUS, None);
        }
    }
}

/// Counts rows, and their BilledCost, by the note of their text.
fn tally(charges: Charges<'_>, units: &mut Units, column: &Text, with_money: bool, notes: &[Option<String>]) {
    if notes.iter().all(Option::is_none) {
        return;
    }
    let billed = charges.chunk.number("BilledCost");
    for (row, unit) in charges.chunk.units.iter().enumerate() {
        let code = column.codes.get(row as u32);
        if let Some(Some(note)) = notes.get(code as usize) {
            let money = billed.filter(|_| with_money).and_then(|b| b.get(row as u32));
            units
                .get_mut(*unit as usize)
                .note(note, money.map(Money::from_units).or(with_money.then_some(Money::ZERO)));
        }
    }
}

fn vocabulary(name: &str, read: fn(&str) -> Option<&'static str>, column: &Text) -> Vec<Option<String>> {
    let mut named = 0;
    let notes = column.dictionary.iter().map(|text| {
        let right = read(text.trim());
        if right == Some(text) {
            return None;
        }
        named += 1;
        Some(match right {
            _ if named > MAX_NAMED => format!("{name} has more values that FOCUS does not have, kept as they are"),
            Some(right) => format!("{name} is `{text}` where FOCUS has `{right}`"),
            None => format!("{name} `{}` is not one of FOCUS, kept as it is", short(text)),
        })
    });
    notes.collect()
}

fn tag_notes(column: &Text) -> Vec<Option<String>> {
    let notes = column.dictionary.iter().map(|text| match tags::read(text) {
        None => Some("Tags can't be read, so they count as none".to_owned()),
        Some(tags) if tags.conflicts.is_empty() => None,
        Some(tags) => {
            let keys: Vec<&str> = tags.conflicts.iter().take(MAX_NAMED).map(|key| short(key)).collect();
            Some(format!(
                "Tags has two values for `{}` (keys differ in case or spaces), so it counts as not set",
                keys.join("`, `")
            ))
        }
    });
    notes.collect()
}

/// `PricingCategory is empty: 6 rows` in its words and its number.
pub fn counted(warning: &str) -> (&str, Option<u64>) {
    let rows = |text: &str| {
        text.trim_end_matches(" rows")
            .trim_end_matches(" row")
            .replace(',', "")
            .parse()
            .ok()
    };
    match warning.rsplit_once(": ") {
        Some((text, count)) if count.ends_with(" row") || count.ends_with(" rows") => match rows(count) {
            Some(rows) => (text, Some(rows)),
            None => (warning, None),
        },
        _ => (warning, None),
    }
}

/// At most 60 bytes of a text, for a message.
fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(60)]
}

fn pricing_categories(charges: Charges<'_>, units: &mut Units) {
    let (Some(pricing), Some(charge)) = (
        charges.chunk.text("PricingCategory"),
        charges.chunk.text("ChargeCategory"),
    ) else {
        return;
    };
    // A column without any value is one that the file does not have.
    if pricing.dictionary.len() == 0 {
        return;
    }
    for (row, unit) in charges.chunk.units.iter().enumerate() {
        // FOCUS wants it of use and purchases; tax, credits and adjustments may go without.
        let category = charge.get(row as u32).and_then(ChargeCategory::parse);
        let is_priced = !matches!(
            category,
            Some(ChargeCategory::Tax | ChargeCategory::Credit | ChargeCategory::Adjustment)
        );
        if is_priced && pricing.codes.get(row as u32) == NONE {
            units.get_mut(*unit as usize).note("PricingCategory is empty", None);
        }
    }
}

/// Rows by which EffectiveCost is judged: use without a commitment, whose BilledCost has a fraction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Judged {
    pub(crate) rows: u64,
    /// With an EffectiveCost in whole units of the currency.
    pub(crate) whole: u64,
    /// With an EffectiveCost above the ListCost.
    pub(crate) above_list: u64,
}

impl Judged {
    /// What is wrong with EffectiveCost, if something is.
    pub(crate) fn verdict(&self, provider: &str) -> Option<String> {
        let rounded = self.rows >= MIN_JUDGED && self.whole == self.rows;
        rounded.then(|| {
            format!(
                "EffectiveCost is unreliable: {provider} rounded it to whole units of the currency ({} rows judged, {} above ListCost); \
                 BilledCost is used instead",
                self.rows, self.above_list
            )
        })
    }
}

fn effective_costs(charges: Charges<'_>, units: &mut Units) {
    let chunk = charges.chunk;
    let (Some(billed), Some(effective), Some(list)) = (
        chunk.number("BilledCost"),
        chunk.number("EffectiveCost"),
        chunk.number("ListCost"),
    ) else {
        return;
    };
    let category = chunk.text("ChargeCategory");
    let commitment = chunk.text("CommitmentDiscountId");
    let Some(Column::Text(provider)) = charges.derived.find(super::derive::PROVIDER) else {
        return;
    };
    for (at, unit) in chunk.units.iter().enumerate() {
        let row = at as u32;
        let (Some(billed), Some(effective)) = (billed.get(row), effective.get(row)) else {
            continue;
        };
        let is_use = category.and_then(|c| c.get(row)).and_then(ChargeCategory::parse) == Some(ChargeCategory::Usage);
        let is_committed = commitment.is_some_and(|c| c.codes.get(row) != NONE);
        if !is_use || is_committed || billed % UNIT == 0 {
            continue;
        }
        let provider = provider.get(row).unwrap_or_default();
        let judged = units.get_mut(*unit as usize).judged(provider);
        judged.rows += 1;
        judged.whole += u64::from(effective % UNIT == 0);
        judged.above_list += u64::from(list.get(row).is_some_and(|list| effective > list));
    }
}
