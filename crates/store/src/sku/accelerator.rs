//! Accelerators that a text names: types that no table of instance types knows still say what is in them.

use std::sync::LazyLock;

use lowwater_model::sku::find_accelerator;
use regex::Regex;

/// An accelerator that a text names.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Its name as in the table of accelerators, where it is there.
    pub accelerator: String,
    /// How many, where the text counts them (`8x H100`).
    pub count: Option<f64>,
}

/// How sure a text is to be about hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The field says which accelerator it is: every name counts.
    Accelerator,
    /// Anything: short names (`T4`, `A10`, `L4`) count only beside the word GPU or a vendor.
    Anything,
}

/// Names that nothing else has.
const LONG: &str = "gb300|gb200|gh200|b300|b200|h200|h100|a100|l40s|v100|mi355x|mi325x|mi300x|mi250x?|rtx[ _-]?a6000|rtx[ _-]?pro[ _-]?6000|rtx[ _-]?[3-6]0[5-9]0(?:[ _-]?ti)?";
/// Names that versions, drives and instance families have too.
const SHORT: &str = "a10g|a10|a16|a30|a40|a6000|l40|l4|t4g|t4|p100|p40|p4|k80|m60|mi25";
/// Words that make a text one about accelerators.
const VENDOR: &str = r"(?i)(?:^|[^a-z])(?:nvidia|gpus?|tesla|instinct|accelerators?)(?:$|[^a-z])";

static NAMES: LazyLock<[Regex; 2]> =
    LazyLock::new(|| [pattern(&named(&format!("{LONG}|{SHORT}"))), pattern(&named(LONG))]);
static BY_VENDOR: LazyLock<Regex> = LazyLock::new(|| pattern(VENDOR));
static COUNTED_GPUS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)(?:^|[^a-z0-9])([0-9]{1,2})[ -]?gpus?(?:$|[^a-z])"));
static MEMORY: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)(?:^|[^0-9])(16|32|40|80) ?gb"));
static NVL: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)h100[ _-]?nvl"));

/// A name as a word of its own, with a count before or after it, and the forms that clouds glue to it.
fn named(names: &str) -> String {
    format!(
        r"(?i)(?:^|[^a-z0-9])(?:(?P<before>[0-9]{{1,3}}) ?x[ _-]?)?(?:(?:nvidia|amd)[ _-])?(?:(?:tesla|instinct|geforce)[ _-])?(?P<name>{names})(?: ?x ?(?P<after>[0-9]{{1,2}})|:(?P<colon>[0-9]{{1,2}})|ib|sxm[0-9]?|pcie|nvl|s)?(?:$|[^a-z0-9])"
    )
}

// The patterns are constants, so these can't fail; a test compiles them.
fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|e| unreachable!("{e}"))
}

/// The accelerator that a text names first.
pub fn find(text: &str, about: About) -> Option<Named> {
    let any_name = about == About::Accelerator || BY_VENDOR.is_match(text);
    let found = NAMES[usize::from(!any_name)].captures(text)?;
    let counts = ["before", "after", "colon"].map(|name| found.name(name));
    let counted = counts
        .into_iter()
        .flatten()
        .next()
        .map(|count| count.as_str().to_owned());
    let counted = counted.or_else(|| Some(COUNTED_GPUS.captures(text)?.get(1)?.as_str().to_owned()));
    let count = counted.and_then(|count| super::gpu_count(&count));
    let accelerator = called(found.name("name")?.as_str(), text);
    Some(Named { accelerator, count })
}

/// The accelerator of a field that holds nothing else: a name that nobody knows is one too.
pub fn of_field(text: &str) -> Option<Named> {
    let text = text.trim();
    let is_none = ["", "-", "0", "none", "null", "n/a", "na", "false", "no", "undefined"];
    if is_none.contains(&text.to_ascii_lowercase().as_str()) || text.len() > 64 {
        return None;
    }
    let known = find_accelerator(text).map(|fact| Named {
        accelerator: fact.accelerator.to_string(),
        count: None,
    });
    let named = known.or_else(|| find(text, About::Accelerator));
    Some(named.unwrap_or_else(|| Named {
        accelerator: text.to_owned(),
        count: None,
    }))
}

/// The name in the table, which tells some apart by their memory; the plain name where the text does not say how much.
fn called(name: &str, text: &str) -> String {
    let plain = name.to_ascii_uppercase().replace([' ', '_'], "-");
    let memory = MEMORY.captures(text).and_then(|m| m.get(1)).map(|m| m.as_str());
    match (plain.as_str(), memory) {
        ("H100", _) if NVL.is_match(text) => "H100-NVL".into(),
        ("A100", Some(gb @ ("40" | "80"))) | ("V100", Some(gb @ ("16" | "32"))) => format!("{plain}-{gb}"),
        ("A6000" | "RTXA6000", _) => "RTX-A6000".into(),
        ("RTXPRO6000" | "RTX-PRO6000" | "RTXPRO-6000", _) => "RTX-PRO-6000".into(),
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use lowwater_model::sku::skus;

    use super::*;

    fn read(text: &str) -> Option<(String, Option<f64>)> {
        find(text, About::Anything).map(|named| (named.accelerator, named.count))
    }

    #[test]
    fn names_and_counts_as_clouds_write_them() {
        for (text, name, count) in [
            ("gpu_8x_h100_sxm5", "H100", Some(8.0)),
            ("gd-8xh100ib-i128", "H100", Some(8.0)),
            ("NVIDIA H100 80GB", "H100", None),
            ("8x NVIDIA H100", "H100", Some(8.0)),
            ("8 x NVIDIA H100 SXM", "H100", Some(8.0)),
            ("H100 SXM", "H100", None),
            ("On-demand H100x4 node", "H100", Some(4.0)),
            ("gpu-h200-sxm_8gpu-128vcpu-1600gb", "H200", Some(8.0)),
            ("gpu_1x_a10", "A10", Some(1.0)),
            ("Nvidia Tesla T4 GPU running in Americas", "T4", None),
            ("A100-SXM4-80GB", "A100-80", None),
            ("nvidia-tesla-v100", "V100", None),
            ("AMD Instinct MI300X", "MI300X", None),
            ("H100 NVL", "H100-NVL", None),
            ("B200:8", "B200", Some(8.0)),
            ("L40S", "L40S", None),
        ] {
            assert_eq!(read(text), Some((name.to_owned(), count)), "{text}");
        }
    }

    #[test]
    fn what_names_no_accelerator() {
        for text in [
            "t4g.large",
            "$0.0672 per On Demand Linux t4g.large Instance Hour",
            "Standard - A1 - Memory",
            "Standard_A10_v2",
            "Standard_L4s_v3",
            "db.m5.large",
            "e2-standard-4",
            "m60 drive",
            "P4 premium SSD disk",
            "Premium SSD P40",
            "A10 appliance",
            "sha100",
            "h1000",
            "cache100",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn no_type_of_the_table_contradicts_it() {
        for fact in skus() {
            if let Some((name, count)) = read(fact.sku.as_str()) {
                assert!(
                    fact.accelerator.as_str().starts_with(&name),
                    "{} is not {name}",
                    fact.sku
                );
                assert!(
                    count.is_none_or(|count| (count - fact.count).abs() < 1e-9),
                    "{} has not {count:?}",
                    fact.sku
                );
            }
        }
    }

    #[test]
    fn a_field_of_its_own_may_hold_names_that_nobody_knows() {
        let of = |text: &str| of_field(text).map(|named| named.accelerator);
        assert_eq!(of("Tesla T4").as_deref(), Some("T4"));
        assert_eq!(of("nvidia-l4").as_deref(), Some("L4"));
        assert_eq!(of("L4").as_deref(), Some("L4"));
        assert_eq!(of("NVIDIA A100-SXM4-80GB").as_deref(), Some("A100-80"));
        assert_eq!(of("Grace 9").as_deref(), Some("Grace 9"));
        assert_eq!((of("None"), of(" "), of("N/A")), (None, None, None));
    }
}
