//! Bills made for tests: seeded, with GPUs, commitments, taxes, odd tags, and what they must add up to.

use std::fmt::Write;

/// A small seeded generator; the tests need variety, not quality.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % below
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len() as u64) as usize]
    }
}

pub(super) const HEADER: &str = "BillingAccountId,BillingPeriodStart,BillingPeriodEnd,BillingCurrency,ProviderName,\
    SubAccountId,SubAccountName,RegionId,ResourceId,ResourceName,ResourceType,ServiceCategory,ServiceName,ChargeCategory,\
    ChargePeriodStart,ChargePeriodEnd,ChargeDescription,PricingCategory,PricingQuantity,PricingUnit,ConsumedQuantity,\
    ConsumedUnit,CommitmentDiscountId,CommitmentDiscountStatus,SkuId,SkuMeter,SkuPriceDetails,SkuPriceId,\
    BilledCost,EffectiveCost,ListCost,ContractedCost,ListUnitPrice,Tags,x_Line";

/// One charge of a sample.
#[derive(Clone, Debug)]
pub(super) struct Charge {
    pub(super) text: String,
    pub(super) account: String,
    pub(super) month: u64,
    /// In 10^-12.
    pub(super) billed: i128,
    /// GPU-hours in 10^-12.
    pub(super) gpu_hours: i128,
    pub(super) resource: String,
}

const SKUS: &[(&str, i128)] = &[("p4d.24xlarge", 8), ("g5.2xlarge", 1), ("m6i.large", 0), ("", 0)];

/// `rows` charges over some days of October and November 2026.
pub(super) fn charges(rows: usize, seed: u64) -> Vec<Charge> {
    let mut dice = Dice(seed);
    (0..rows).map(|number| charge(number, &mut dice)).collect()
}

fn charge(number: usize, dice: &mut Dice) -> Charge {
    let account = format!("{:012}", 100 + dice.roll(2));
    let month = 10 + dice.roll(2);
    let (day, hour) = (1 + dice.roll(20), dice.roll(23));
    let resource = dice.roll(40);
    let (sku, gpus) = SKUS[(resource % 4) as usize];
    let category = dice.pick(&["Usage", "Usage", "Usage", "Usage", "Purchase", "Tax"]);
    let billed = i128::from(dice.roll(10_000_000)) * 1_000 - 1_000_000;
    // Only some rows of a machine are of its hours; the others are of its disk.
    let hours = category == "Usage" && dice.roll(3) > 0;
    let details = if hours && !sku.is_empty() {
        format!("\"{{\"\"InstanceType\"\":\"\"{sku}\"\"}}\"")
    } else {
        String::new()
    };
    let unit = if hours { "Hours" } else { "GB-Months" };
    let tags = dice.pick(&[
        "",
        "\"{\"\"team\"\":\"\"vision\"\",\"\"Env\"\":\"\"dev\"\"}\"",
        "\"{\"\"Team\"\":\"\"nlp\"\"}\"",
    ]);
    let text = format!(
        "{account},2026-{month}-01T00:00:00Z,2026-{next}-01T00:00:00Z,USD,AWS,sub-{sub},Sub {sub},us-east-1,\
         i-{resource:017x},node-{resource},instance,Compute,EC2,{category},2026-{month}-{day:02}T{hour:02}:00:00Z,\
         2026-{month}-{day:02}T{end:02}:00:00Z,\"charge {number}, of {what}\",Standard,0.5,{unit},0.5,{unit},,,\
         sku-{resource},meter,{details},price-{resource},{cost},{cost},{cost},{cost},0.25,{tags},{number}",
        what = if hours { sku } else { "storage" },
        next = month + 1,
        sub = resource % 3,
        end = hour + 1,
        cost = decimal(billed),
    );
    Charge {
        text,
        account,
        month,
        billed,
        gpu_hours: if hours { gpus * 500_000_000_000 } else { 0 },
        resource: format!("i-{resource:017x}"),
    }
}

/// A number in 10^-12 as text.
fn decimal(units: i128) -> String {
    let magnitude = units.unsigned_abs();
    let sign = if units < 0 { "-" } else { "" };
    format!(
        "{sign}{}.{:012}",
        magnitude / 1_000_000_000_000,
        magnitude % 1_000_000_000_000
    )
}

/// The charges as a file.
pub(super) fn csv<'a>(charges: impl IntoIterator<Item = &'a Charge>) -> String {
    let mut text = format!("{HEADER}\n");
    for charge in charges {
        writeln!(text, "{}", charge.text).unwrap();
    }
    text
}

/// The same charges in another order.
pub(super) fn shuffled(charges: &[Charge], seed: u64) -> Vec<Charge> {
    let mut dice = Dice(seed);
    let mut out = charges.to_vec();
    for at in (1..out.len()).rev() {
        out.swap(at, dice.roll(at as u64 + 1) as usize);
    }
    out
}
