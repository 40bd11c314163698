//! Which SKU a charge is of: where a bill may say so, in the order of trust.

use std::sync::LazyLock;

use lowwater_model::sku::{SkuFact, find_sku};
use regex::Regex;

use crate::tags;

pub mod accelerator;

use accelerator::{About, Named};

/// What one text says of the hardware behind a charge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clue {
    /// Instance type, as the provider writes it.
    pub sku: Option<String>,
    /// Accelerators, where the text itself counts them.
    pub gpu_count: Option<f64>,
    /// Accelerator that the text itself names.
    pub accelerator: Option<String>,
}

impl Clue {
    /// The table's facts of the instance type.
    pub fn fact(&self) -> Option<&'static SkuFact> {
        self.sku.as_deref().and_then(find_sku)
    }
}

/// A column in which instance types are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `SkuPriceDetails`: the key `InstanceType` of FOCUS 1.2.
    PriceDetails,
    /// A column for instance types: what it holds is one, known or not.
    Declared,
    /// The whole value is the name, if it looks like one.
    Name,
    /// A meter: the name, or Azure's short form of it.
    Meter,
    /// A sentence that holds the name.
    Sentence,
}

/// More accelerators than any instance has.
const MAX_GPUS: f64 = 1024.0;

/// FOCUS columns that may name an instance type, best first; a file's own columns come after the first.
pub const PLACES: &[(&str, Place)] = &[
    ("SkuPriceDetails", Place::PriceDetails),
    ("SkuMeter", Place::Meter),
    ("SkuId", Place::Name),
    ("ChargeDescription", Place::Sentence),
];

/// Is a file's own column (`x_InstanceType`, `x_aws_instance_type`, `x_MachineType`) one that names an instance type?
pub fn is_sku_column(name: &str) -> bool {
    let folded: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let folded = folded.to_ascii_lowercase();
    ["instancetype", "machinetype", "vmsize"]
        .iter()
        .any(|word| folded.contains(word))
}

/// What the evidence for an SKU is called.
pub fn evidence(column: &str) -> String {
    if column == "SkuPriceDetails" {
        "SkuPriceDetails.InstanceType".into()
    } else {
        column.into()
    }
}

impl Place {
    /// What a text in such a column says.
    pub fn read(self, text: &str) -> Clue {
        match self {
            Self::PriceDetails => price_details(text),
            Self::Declared => declared(text.trim()),
            Self::Name => named(text.trim()),
            Self::Meter => meter(text.trim()),
            Self::Sentence => Clue {
                sku: IN_SENTENCE.find(text).map(|found| found.as_str().to_owned()),
                ..with_accelerator(text)
            },
        }
    }

    /// Does it describe hardware, whatever the charge is for? Meters and sentences also name what they only go with.
    pub fn is_of_hardware(self) -> bool {
        matches!(self, Self::PriceDetails | Self::Declared)
    }
}

/// Families of AWS (`p4d.24xlarge`, `ml.g5.xlarge`), Azure (`Standard_ND96isr_H100_v5`), Google (`a2-highgpu-1g`),
/// Lambda (`gpu_8x_h100_sxm5`) and Nebius (`gpu-h100-sxm_8gpu-128vcpu-1600gb`).
const PATTERN: &str = concat!(
    r"(?:[a-z]+\.)?[a-z]{1,4}[0-9][a-z0-9-]*\.(?:nano|micro|small|medium|large|[0-9]*xlarge|metal(?:-[0-9]+xl)?)",
    r"|Standard_[A-Z]{1,3}[0-9][A-Za-z0-9_-]*",
    r"|[a-z]{1,3}[0-9][a-z]{0,2}-(?:standard|highmem|highcpu|highgpu|ultragpu|megagpu|edgegpu|maxgpu|hightpu|megamem|ultramem|hypermem)-[0-9]+[a-z]?(?:-lssd|-metal)?",
    r"|gpu_[0-9]+x_[a-z0-9_]+",
    r"|gpu-[a-z0-9]+(?:-[a-z0-9]+)*_[0-9]+gpu-[0-9]+vcpu-[0-9]+gb",
);

// The pattern is a constant, so these can't fail; a test compiles them.
static IN_SENTENCE: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"\b(?:{PATTERN})\b")));
static WHOLE: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("^(?:{PATTERN})$")));

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|e| unreachable!("{e}"))
}

/// Longest name of an instance type.
const MAX_NAME_BYTES: usize = 64;

/// What a field for instance types holds is one, if it is a word.
fn declared(text: &str) -> Clue {
    let is_word = !text.is_empty() && text.len() <= MAX_NAME_BYTES && !text.contains(char::is_whitespace);
    let is_name =
        is_word && text.contains(|c: char| c.is_ascii_alphabetic()) && !NO_NAME.contains(&fold(text).as_str());
    Clue {
        sku: is_name.then(|| text.to_owned()),
        ..with_accelerator(text)
    }
}

/// Words for no instance type.
const NO_NAME: &[&str] = &["none", "null", "na", "n/a", "unknown", "undefined"];

fn fold(text: &str) -> String {
    text.to_ascii_lowercase()
}

/// A name counts only if it looks like an instance type or is one that the table knows.
fn named(text: &str) -> Clue {
    let known = WHOLE.is_match(text) || find_sku(text).is_some();
    Clue {
        sku: known.then(|| text.to_owned()),
        ..with_accelerator(text)
    }
}

/// The accelerator that a text names, without an instance type.
fn with_accelerator(text: &str) -> Clue {
    accelerator::find(text, About::Anything).map_or_else(Clue::default, clue)
}

fn clue(named: Named) -> Clue {
    Clue {
        sku: None,
        gpu_count: named.count,
        accelerator: Some(named.accelerator),
    }
}

/// Keys that count accelerators, and keys that name them, in lower case.
const COUNT_KEYS: &[&str] = &["gpucount", "acceleratorcount", "numberofgpus", "gpus"];
const TYPE_KEYS: &[&str] = &["gputype", "acceleratortype", "gpumodel", "gpuname"];

/// A number of accelerators.
fn gpu_count(text: &str) -> Option<f64> {
    let count = text.trim().parse().ok();
    count.filter(|count: &f64| *count > 0.0 && *count <= MAX_GPUS)
}

fn price_details(text: &str) -> Clue {
    let details = tags::parse(text);
    let find = |keys: &[&str]| keys.iter().find_map(|key| details.get(*key));
    let mut found = find(&["instancetype", "machinetype"])
        .map(|name| declared(name.trim()))
        .unwrap_or_default();
    if let Some(named) = find(TYPE_KEYS).and_then(|name| accelerator::of_field(name)) {
        found = Clue {
            sku: found.sku,
            gpu_count: named.count.or(found.gpu_count),
            accelerator: Some(named.accelerator),
        };
    }
    found.gpu_count = find(COUNT_KEYS).and_then(|count| gpu_count(count)).or(found.gpu_count);
    found
}

/// Azure's meters say `ND96asr v4 Spot` for `Standard_ND96asr_v4`.
fn meter(text: &str) -> Clue {
    let clue = named(text);
    if clue.sku.is_some() {
        return clue;
    }
    let plain = text
        .strip_suffix(" Spot")
        .or_else(|| text.strip_suffix(" Low Priority"));
    let name = format!("Standard_{}", plain.unwrap_or(text).replace(' ', "_"));
    Clue {
        sku: find_sku(&name).map(|fact| fact.sku.to_string()),
        ..clue
    }
}

#[cfg(test)]
mod tests;
