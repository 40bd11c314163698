//! Which SKU a charge is of: where a bill may say so, in the order of trust.

use std::sync::LazyLock;

use lowwater_model::sku::{SkuFact, find_sku};
use regex::Regex;

use crate::tags;

/// What one text says of the hardware behind a charge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clue {
    /// Instance type, as the provider writes it.
    pub sku: Option<String>,
    /// Accelerators, where the text itself counts them.
    pub gpu_count: Option<f64>,
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
    /// The whole value is the name.
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
            Self::Name => named(text.trim()),
            Self::Meter => meter(text.trim()),
            Self::Sentence => Clue {
                sku: IN_SENTENCE.find(text).map(|found| found.as_str().to_owned()),
                gpu_count: None,
            },
        }
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

/// A name counts only if it looks like an instance type or is one that the table knows.
fn named(text: &str) -> Clue {
    let known = WHOLE.is_match(text) || find_sku(text).is_some();
    Clue {
        sku: known.then(|| text.to_owned()),
        gpu_count: None,
    }
}

fn price_details(text: &str) -> Clue {
    let details = tags::parse(text);
    let mut clue = details
        .get("instancetype")
        .map(|name| named(name.trim()))
        .unwrap_or_default();
    clue.gpu_count = details
        .get("gpucount")
        .and_then(|count| count.trim().parse().ok())
        .filter(|count: &f64| *count > 0.0 && *count <= MAX_GPUS);
    clue
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
        gpu_count: None,
    }
}

#[cfg(test)]
mod tests;
