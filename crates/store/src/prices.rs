//! Price lists: read, gated, kept day by day beside each other, and read back as offers.

mod gates;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use lowwater_model::cloud::{CLOUDS, cloud_id};
use lowwater_model::money::Money;
use lowwater_model::offer::{Holds, Market, Offer, PriceBasis};
use lowwater_model::policy::Policy;
use lowwater_model::unit::HourlyRate;

use crate::error::{InputError, StoreError};
use crate::format::skypilot::short_name;
use crate::format::{Decode, Format, PriceLine, PriceSink};
use crate::input::Input;
use crate::layout::{PriceUnit, RejectedMoney, Transaction};
use crate::load::{LoadRequest, Output, Progress, Reject, RejectLimit, UnitReport, Values, write, write_rejects};
use crate::schema;
use crate::session::{Row, Session};
use crate::store::Store;

/// Catalogues of SkyPilot are in US dollars.
const CURRENCY: &str = "USD";

/// A price list to load.
pub(crate) struct PriceFile {
    pub(crate) path: PathBuf,
    pub(crate) format: &'static Format,
    pub(crate) sha256: String,
}

/// What a file was decoded into.
#[derive(Default)]
struct Decoded {
    lines: Vec<PriceLine>,
    rejects: Vec<Reject>,
    warnings: Vec<String>,
}

impl PriceSink for Decoded {
    fn line(&mut self, line: PriceLine) {
        self.lines.push(line);
    }
    fn reject(&mut self, reject: Reject) {
        self.rejects.push(reject);
    }
    fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }
}

/// Reads price lists into the transaction. Says what came of them, and whether anything changed.
pub(crate) fn ingest(
    files: &[PriceFile],
    (request, policy): (&LoadRequest, &Policy),
    transaction: &mut Transaction,
    progress: &dyn Progress,
) -> Result<(Vec<UnitReport>, bool), StoreError> {
    let mut reports = Vec::new();
    let mut changed = false;
    for (number, file) in files.iter().enumerate() {
        if progress.stop() {
            return Err(StoreError::Stopped);
        }
        progress.at("reading prices", number as u64, files.len() as u64);
        let mut unit = unit(file, request)?;
        let there = transaction.manifest.prices.get(&unit.key());
        if let Some(there) = there.filter(|there| there.inputs == unit.inputs) {
            reports.push(report(there));
            continue;
        }
        let decoded = decode(file)?;
        let taken = (decoded.lines.len() as u64, "rows");
        let faulty: BTreeSet<u64> = decoded.rejects.iter().map(|reject| reject.row).collect();
        RejectLimit::of(policy).check_rows(
            &file.path.display().to_string(),
            taken,
            (faulty.len() as u64, &decoded.rejects),
        )?;
        fill(&mut unit, &decoded, transaction)?;
        reports.push(report(&unit));
        transaction.manifest.prices.insert(unit.key(), unit);
        changed = true;
    }
    Ok((reports, changed))
}

fn decode(file: &PriceFile) -> Result<Decoded, StoreError> {
    let mut input = Input::open(&file.path)?;
    let mut decoded = Decoded::default();
    if let Decode::Prices(decode) = file.format.decode {
        decode(&mut input, &mut decoded)?;
    }
    if decoded.lines.is_empty() {
        let what = match decoded.rejects.first() {
            Some(reject) => format!("holds no price that can be taken; the first row: {}", reject.line()),
            None => "holds no price of an accelerator".into(),
        };
        return Err(InputError::new(input.name(), what)
            .hint("a price list names its accelerators in AcceleratorName and its prices in Price")
            .into());
    }
    Ok(decoded)
}

/// The unit of a file, still empty.
fn unit(file: &PriceFile, request: &LoadRequest) -> Result<PriceUnit, StoreError> {
    let name = file.path.display().to_string();
    let provider = request.provider.clone().or_else(|| provider_of(&file.path));
    let Some(provider) = provider else {
        return Err(InputError::new(name, "does not say whose prices it holds")
            .hint("name the provider: `--provider aws`; or keep the catalogue's folders: catalogs/v9/aws/vms.csv")
            .into());
    };
    let mut warnings = Vec::new();
    let at = if let Some(at) = request.at {
        at
    } else {
        warnings.push(format!(
            "{name}: prices are taken as of the day on which the file was written; `--at` names another"
        ));
        written_at(&file.path)?
    };
    Ok(PriceUnit {
        source: request.source.clone().unwrap_or_else(|| file.format.name.into()),
        cloud: cloud_id(&provider),
        as_of: TimeZone::UTC.to_datetime(at).date(),
        rows: 0,
        rejects: 0,
        inputs: vec![file.sha256.clone()],
        warnings,
        files: BTreeMap::new(),
        loaded_at: Timestamp::now(),
    })
}

/// `aws` of `catalogs/v9/aws/vms.csv`: the folder of a cloud, or a folder under one that is called as a version.
fn provider_of(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let name = path.parent()?.file_name()?.to_str()?.to_lowercase();
    let above = path
        .parent()?
        .parent()?
        .file_name()
        .and_then(|n| n.to_str())
        .unwrap_or_default();
    let is_version = above
        .strip_prefix('v')
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let is_cloud = CLOUDS.iter().any(|cloud| cloud.names.contains(&name.as_str()));
    (is_version || is_cloud).then_some(name)
}

fn written_at(path: &Path) -> Result<Timestamp, StoreError> {
    let written = std::fs::metadata(path)
        .and_then(|m| m.modified())
        .map_err(StoreError::io(path))?;
    Timestamp::try_from(written).map_err(|e| InputError::new(path.display().to_string(), e.to_string()).into())
}

/// A price as it is kept: one line has up to two.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Price {
    pub(crate) region: String,
    pub(crate) zone: String,
    pub(crate) sku: String,
    pub(crate) accelerator: String,
    pub(crate) count: Option<f64>,
    pub(crate) market: Market,
    pub(crate) rate: Money,
}

fn prices_of(line: &PriceLine) -> impl Iterator<Item = Price> {
    let both = [(Market::OnDemand, line.on_demand), (Market::Spot, line.spot)];
    let price = |(market, rate): (Market, Option<Money>)| {
        Some(Price {
            region: line.region.clone(),
            zone: line.zone.clone(),
            sku: line.sku.clone(),
            accelerator: short_name(&line.accelerator),
            count: line.count,
            market,
            rate: rate?,
        })
    };
    both.into_iter().filter_map(price)
}

/// Gates the prices, writes them, and enters them into the unit.
fn fill(unit: &mut PriceUnit, decoded: &Decoded, transaction: &mut Transaction) -> Result<(), StoreError> {
    let (prices, doubled) = gates::one_price_each(decoded.lines.iter().flat_map(prices_of).collect());
    let before = before(unit, transaction)?;
    unit.rows = prices.len() as u64;
    unit.rejects = decoded.rejects.len() as u64;
    unit.warnings.extend(decoded.warnings.iter().cloned());
    unit.warnings.extend(doubled);
    unit.warnings.extend(gates::findings(&prices, &before));
    let as_of = unit.as_of.to_string();
    let place = [
        ("source", unit.source.as_str()),
        ("cloud", unit.cloud.as_str()),
        ("day", as_of.as_str()),
    ];
    let staged = transaction.stage("offers", &place)?;
    write(&staged.path, &columns(unit, &as_of, &prices), prices.len())?;
    unit.files.insert("offers".into(), vec![staged.name]);
    if !decoded.rejects.is_empty() {
        let staged = transaction.stage("rejects", &place)?;
        write_rejects(&staged.path, (&unit.source, &unit.cloud, &as_of), &decoded.rejects)?;
        unit.files.insert("rejects".into(), vec![staged.name]);
    }
    Ok(())
}

fn columns<'a>(unit: &'a PriceUnit, as_of: &'a str, prices: &'a [Price]) -> Vec<Output<'a>> {
    let texts = |text: fn(&Price) -> &str| Values::Texts(prices.iter().map(|p| Some(text(p))).collect());
    let values = |name: &str| match name {
        "x_Source" => Values::Constant(&unit.source),
        "x_Cloud" => Values::Constant(&unit.cloud),
        "RegionId" => texts(|p| &p.region),
        "AvailabilityZone" => texts(|p| &p.zone),
        "x_Sku" => texts(|p| &p.sku),
        "x_GpuType" => texts(|p| &p.accelerator),
        "x_Market" => texts(|p| p.market.as_str()),
        "ListUnitPrice" => Values::Decimals(prices.iter().map(|p| Some(p.rate.units())).collect()),
        // not money: a count of accelerators
        "x_GpuCount" => Values::Decimals(
            prices
                .iter()
                .map(|p| p.count.map(|n| (n * 1e6).round() as i128 * 1_000_000))
                .collect(),
        ),
        "BillingCurrency" => Values::Constant(CURRENCY),
        "x_AsOf" => Values::Constant(as_of),
        _ => Values::Null,
    };
    let column = |c: &schema::Column| Output {
        name: c.name,
        kind: c.kind,
        values: values(c.name),
    };
    schema::OFFERS.iter().map(column).collect()
}

/// The newest prices of the same list before this day.
fn before(unit: &PriceUnit, transaction: &Transaction) -> Result<Vec<Price>, StoreError> {
    let units = transaction.manifest.prices.values();
    let older = units
        .filter(|u| u.source == unit.source && u.cloud == unit.cloud && u.as_of < unit.as_of)
        .max_by_key(|u| u.as_of);
    let Some(older) = older else { return Ok(Vec::new()) };
    let files: Vec<PathBuf> = older
        .files
        .get("offers")
        .into_iter()
        .flatten()
        .map(|name| transaction.path(name))
        .collect();
    let session = Session::new()?;
    session.register_files("offers", schema::offers(), &files)?;
    let rows = session.query("SELECT * FROM offers")?;
    Ok(rows.iter().filter_map(stored_price).collect())
}

fn stored_price(row: Row<'_>) -> Option<Price> {
    Some(Price {
        region: row.text_or_empty("RegionId").into(),
        zone: row.text_or_empty("AvailabilityZone").into(),
        sku: row.text("x_Sku")?.into(),
        accelerator: row.text_or_empty("x_GpuType").into(),
        count: row.number("x_GpuCount"),
        market: Market::parse(row.text("x_Market")?)?,
        rate: row.money("ListUnitPrice")?,
    })
}

fn report(unit: &PriceUnit) -> UnitReport {
    UnitReport {
        kind: "prices",
        source: unit.source.clone(),
        account: unit.cloud.clone(),
        month: unit.as_of.to_string(),
        rows: unit.rows,
        rejects: unit.rejects,
        totals: BTreeMap::new(),
        rejected: RejectedMoney::default(),
        replaced: None,
        beside: None,
        warnings: unit.warnings.clone(),
    }
}

impl Store {
    /// Every price of the loaded lists that is not after `day`, as list prices.
    pub(crate) fn listed_offers(&self, day: Date) -> Result<Vec<Offer>, StoreError> {
        if self.manifest().prices.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self
            .session()?
            .query(&format!("SELECT * FROM offers WHERE x_AsOf <= '{day}'"))?;
        Ok(rows.iter().filter_map(offer).collect())
    }
}

fn offer(row: Row<'_>) -> Option<Offer> {
    let price = stored_price(row)?;
    let holds = price
        .count
        .filter(|_| !price.accelerator.is_empty())
        .map(|count| Holds {
            accelerator: price.accelerator.as_str().into(),
            count,
        });
    Some(Offer {
        cloud: row.text("x_Cloud")?.into(),
        region: price.region.as_str().into(),
        zone: price.zone,
        sku: price.sku.as_str().into(),
        list: None,
        holds,
        market: price.market,
        rate: HourlyRate(price.rate.estimate().amount()),
        currency: row.text("BillingCurrency")?.into(),
        basis: PriceBasis::List,
        as_of: row.text("x_AsOf")?.parse().ok()?,
        source: format!("{} price list", row.text_or_empty("x_Source")),
    })
}

#[cfg(test)]
mod tests;
