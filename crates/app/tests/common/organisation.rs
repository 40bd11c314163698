//! A tiny organisation in files: two GPU machines, a CPU machine, tax, and the mistakes that real exports have.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Four whole weeks that end with October 2026, from a Sunday.
const FIRST_DAY: i64 = 20_730;
const DAYS: i64 = 28;

const HEADER: &str = "BillingAccountId,BillingCurrency,BillingPeriodStart,BillingPeriodEnd,ChargeCategory,ChargeDescription,\
ChargePeriodStart,ChargePeriodEnd,ServiceProviderName,ServiceName,ServiceCategory,RegionId,ResourceId,ResourceName,SubAccountId,\
PricingCategory,ConsumedQuantity,ConsumedUnit,BilledCost,EffectiveCost,ContractedCost,ListCost,SkuPriceDetails,Tags";

/// A machine of the sample.
struct Machine {
    id: &'static str,
    name: &'static str,
    sku: &'static str,
    cost: &'static str,
    tags: &'static str,
}

const MACHINES: [Machine; 3] = [
    Machine {
        id: "i-notebook",
        name: "nb-1",
        sku: "g5.2xlarge",
        cost: "1.212",
        tags: r#"{"team":"vision"}"#,
    },
    Machine {
        id: "i-idle",
        name: "train-1",
        sku: "g6.xlarge",
        cost: "0.8048123456789",
        tags: r#"{"team":"=cmd()"}"#,
    },
    Machine {
        id: "i-web",
        name: "web-1",
        sku: "m6i.large",
        cost: "0.096",
        tags: "{}",
    },
];

fn instant(hour: i64) -> String {
    jiff::Timestamp::from_second(FIRST_DAY * 86_400 + hour * 3600)
        .unwrap()
        .to_string()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn charge(machine: &Machine, hour: i64, cost: &str) -> String {
    let details = if machine.sku.is_empty() {
        String::new()
    } else {
        quoted(&format!("{{\"InstanceType\":\"{}\"}}", machine.sku))
    };
    let (start, end) = (instant(hour), instant(hour + 1));
    format!(
        "1234,USD,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,Usage,hours,{start},{end},AWS,Amazon EC2,Compute,us-east-1,{},{},\
         research,Standard,1,Hours,{cost},{cost},{cost},{cost},{details},{}\n",
        machine.id,
        machine.name,
        quoted(machine.tags)
    )
}

/// The bill: hourly charges, one tax row, one row whose cost is no number, one whose cost is missing.
pub fn bill() -> String {
    let mut out = format!("{HEADER}\n");
    for hour in 0..DAYS * 24 {
        for machine in &MACHINES {
            out.push_str(&charge(machine, hour, machine.cost));
        }
    }
    let odd = Machine {
        id: "i-odd",
        name: "odd",
        sku: "",
        cost: "",
        tags: "{}",
    };
    out.push_str(&charge(&odd, 5, "1.2.3"));
    out.push_str(&charge(&odd, 6, ""));
    let tax = "1234,USD,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,Tax,VAT,2026-10-31T00:00:00Z,2026-11-01T00:00:00Z,AWS,Tax,Other,,,,\
               research,,,,100.10,100.10,100.10,100.10,,\n";
    out.push_str(tax);
    out
}

/// Hourly activity: the notebook works on weekdays from 8 to 17 UTC, the other machine never does.
pub fn usage() -> String {
    let mut out = String::from("time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w\n");
    for hour in 0..DAYS * 24 {
        let (day, clock) = (hour / 24 % 7, hour % 24);
        let works = (1..=5).contains(&day) && (8..17).contains(&clock);
        let (activity, memory, power) = if works { ("0.62", 9000, 180) } else { ("0.0", 300, 25) };
        let at = instant(hour);
        let _ = writeln!(out, "{at},nb-1,0,{activity},SM_ACTIVE,{memory},24576,{power}");
        let _ = writeln!(out, "{at},train-1,0,0.0,SM_ACTIVE,250,24576,12");
    }
    out
}

const WORKLOADS: &str = r#"
[[workload]]
name = "notebooks"
class = "development"
team = "vision"
zone = "UTC"
[[workload.select]]
resource_name = "nb-*"

[[workload]]
name = "old-training"
class = "training"
[[workload.select]]
resource_name = "train-*"
"#;

const POLICY: &str = "[plan]\ninstance_store_acknowledged = [\"notebooks\", \"old-training\"]\n";

/// Writes bill and metrics into `dir`, and the owner's files into its data directory.
pub fn write(dir: &Path) -> PathBuf {
    let data = dir.join("lowwater-data");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(dir.join("bill.csv"), bill()).unwrap();
    std::fs::write(dir.join("usage.csv"), usage()).unwrap();
    std::fs::write(data.join("workloads.toml"), WORKLOADS).unwrap();
    std::fs::write(data.join("policy.toml"), POLICY).unwrap();
    data
}
