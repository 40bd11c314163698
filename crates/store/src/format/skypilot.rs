//! SkyPilot catalogues (v9 `vms.csv`): list and spot prices by instance type, region and zone.

use std::collections::BTreeMap;

use super::{Decode, Format, Head, PriceLine, PriceSink};
use crate::csv::{Limits, RecordReader, Row};
use crate::error::{InputError, StoreError};
use crate::input::Input;
use crate::metrics::reject;
use crate::python;
use lowwater_model::money::Money;
use lowwater_model::sku::find_sku;

/// The format.
pub const FORMAT: Format = Format {
    name: "skypilot",
    title: "SkyPilot price catalogue",
    doc: "`vms.csv` of a SkyPilot v9 catalogue, columns found by name; prices in USD an hour of the whole instance. The provider is \
`--provider`, else the name of the folder that the file lies in (`catalogs/v9/aws/vms.csv`). The day of the prices is `--at`, else the day on which the \
file was written. Google lists machines and their accelerators in separate rows: they are added, and a machine without the row of its \
accelerators has no price. An empty price is unknown; one that is not above zero is rejected.",
    detects,
    decode: Decode::Prices(decode),
};

const NEEDED: [&str; 5] = ["instancetype", "acceleratorname", "acceleratorcount", "price", "region"];

fn detects(head: &Head<'_>) -> bool {
    let names: Vec<String> = head.first_line().split(',').map(|n| n.trim().to_lowercase()).collect();
    NEEDED.iter().all(|needed| names.iter().any(|name| name == needed))
}

/// Machine rows of Google name no accelerator; accelerator rows name no machine: these wait for each other.
#[derive(Default)]
struct Waiting {
    hosts: Vec<PriceLine>,
    /// By accelerator, count and zone.
    accelerators: BTreeMap<(String, String, String), PriceLine>,
}

fn decode(input: &mut Input, sink: &mut dyn PriceSink) -> Result<(), StoreError> {
    let file = input.name().to_owned();
    let mut reader = RecordReader::new(input, Limits::default())?;
    let header: Vec<String> = reader.header().iter().map(|h| h.trim().to_lowercase()).collect();
    let missing: Vec<&str> = NEEDED.into_iter().filter(|n| !header.iter().any(|h| h == n)).collect();
    if !missing.is_empty() {
        let what = format!("has no column {}", missing.join(", "));
        let hint = "a SkyPilot catalogue begins with InstanceType,AcceleratorName,AcceleratorCount,…";
        return Err(InputError::new(file, what).hint(hint).into());
    }
    let mut waiting = Waiting::default();
    while let Some(row) = reader.read()? {
        match row {
            Row::Bad(bad) => sink.reject(reject(&file, bad.number, &bad.column, bad.value.as_bytes(), bad.reason)),
            Row::Good(record) => {
                let fields: BTreeMap<&str, &str> = header.iter().map(String::as_str).zip(record.fields()).collect();
                let mut faults = Vec::new();
                if let Some(line) = line(record.number, &fields, &mut faults) {
                    waiting.take(line, sink);
                }
                for (column, why) in faults {
                    let value = fields.get(column).copied().unwrap_or_default();
                    sink.reject(reject(&file, record.number, column, value.as_bytes(), why));
                }
            }
        }
    }
    waiting.finish(sink);
    Ok(())
}

/// A column and what is wrong in it.
type Fault = (&'static str, String);

/// None where the row can't be taken. A price that can't be read takes nothing from the other price of its row.
fn line(row: u64, fields: &BTreeMap<&str, &str>, faults: &mut Vec<Fault>) -> Option<PriceLine> {
    let mut priced = |column: &'static str| match price(fields.get(column).copied().unwrap_or_default().trim()) {
        Ok(price) => price,
        Err(why) => {
            faults.push((column, why));
            None
        }
    };
    let prices = (priced("price"), priced("spotprice"));
    match machine(row, fields, prices) {
        Ok(line) => (line.on_demand.is_some() || line.spot.is_some() || faults.is_empty()).then_some(line),
        Err(fault) => {
            faults.push(fault);
            None
        }
    }
}

fn machine(
    row: u64,
    fields: &BTreeMap<&str, &str>,
    (on_demand, spot): (Option<Money>, Option<Money>),
) -> Result<PriceLine, Fault> {
    let text = |column: &str| fields.get(column).copied().unwrap_or_default().trim().to_owned();
    let count = match text("acceleratorcount").as_str() {
        "" => None,
        digits => Some(count(digits).ok_or(("acceleratorcount", "is not a number of accelerators".to_owned()))?),
    };
    let line = PriceLine {
        row,
        region: text("region"),
        zone: text("availabilityzone"),
        sku: text("instancetype"),
        accelerator: text("acceleratorname"),
        count,
        on_demand,
        spot,
    };
    if line.sku.is_empty() && line.accelerator.is_empty() {
        return Err(("instancetype", "is empty, and so is AcceleratorName".into()));
    }
    if let (Some(said), Some(listed)) = (described(&text("gpuinfo")), line.count)
        && said != listed
    {
        return Err(("acceleratorcount", format!("is not the {said} of GpuInfo")));
    }
    Ok(line)
}

fn count(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|n| *n > 0.0 && *n <= 100_000.0)
}

/// A price above zero; empty is unknown. Zero is what a feed writes that does not know (skypilot-org/skypilot#3615).
fn price(text: &str) -> Result<Option<Money>, String> {
    if text.is_empty() || text.eq_ignore_ascii_case("nan") {
        return Ok(None);
    }
    match Money::parse(text) {
        Err(_) => Err("is not a number".into()),
        Ok(price) if price.units() <= 0 => Err("is not above zero: an unknown price is left empty".into()),
        Ok(price) => Ok(Some(price)),
    }
}

/// Accelerators that `GpuInfo`, the text of a Python dictionary, counts.
fn described(text: &str) -> Option<f64> {
    let info = python::literal(text)?;
    // An empty list says nothing.
    let gpus = info.get("Gpus")?.as_array().filter(|gpus| !gpus.is_empty())?;
    gpus.iter().map(|gpu| gpu.get("Count")?.as_f64()).sum()
}

impl Waiting {
    fn take(&mut self, line: PriceLine, sink: &mut dyn PriceSink) {
        let host_of_accelerators = line.accelerator.is_empty() && find_sku(&line.sku).is_some();
        if host_of_accelerators {
            self.hosts.push(line);
        } else if line.sku.is_empty() {
            let count = line.count.unwrap_or(1.0).to_string();
            let name = short_name(&line.accelerator);
            self.accelerators.insert((name, count, line.zone.clone()), line);
        } else if !line.accelerator.is_empty() {
            sink.line(line);
        }
        // What is left has no accelerator at all.
    }

    fn finish(mut self, sink: &mut dyn PriceSink) {
        let mut bare = BTreeMap::new();
        for mut host in std::mem::take(&mut self.hosts) {
            let Some(fact) = find_sku(&host.sku) else { continue };
            let key = (fact.accelerator.to_string(), fact.count.to_string(), host.zone.clone());
            let Some(accelerator) = self.accelerators.get(&key) else {
                *bare.entry(host.sku).or_insert(0_u64) += 1;
                continue;
            };
            let both = |a: Option<Money>, b: Option<Money>| Some(a? + b?);
            host.on_demand = both(host.on_demand, accelerator.on_demand);
            host.spot = both(host.spot, accelerator.spot);
            host.accelerator = fact.accelerator.to_string();
            host.count = Some(fact.count);
            sink.line(host);
        }
        for (sku, zones) in bare {
            sink.warn(format!(
                "{sku}: the price of the machine is there, that of its accelerators is not ({zones} zones): unknown"
            ));
        }
        // TPU slices are sold whole: their accelerator row is the price. A GPU to attach is no offer of its own.
        let whole = self.accelerators.into_values().filter(|line| line.accelerator.starts_with("tpu-"));
        for line in whole {
            sink.line(PriceLine { sku: line.accelerator.clone(), ..line });
        }
    }
}

/// SkyPilot's name of an accelerator as the table of facts has it.
pub(crate) fn short_name(name: &str) -> String {
    match name {
        "A100" => "A100-40",
        "A100-80GB" => "A100-80",
        "H100-80GB" | "H100-MEGA-80GB" => "H100",
        "H200-141GB" => "H200",
        "V100" => "V100-16",
        "V100-32GB" => "V100-32",
        other => other,
    }
    .to_owned()
}
