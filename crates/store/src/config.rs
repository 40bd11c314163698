//! What the owner writes beside the store: policy, workloads, hosts, holidays, offers, contracts. All are optional.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lowwater_model::cloud::cloud_id;
use lowwater_model::contract::{CONTRACT_FILE, Contract};
use lowwater_model::error::ConfigError;
use lowwater_model::offer::{Holds, Market, Offer, PriceBasis};
use lowwater_model::policy::{Policy, Section};
use lowwater_model::schedule::Calendars;
use lowwater_model::sku::find_sku;
use lowwater_model::spot::Likely;
use lowwater_model::unit::HourlyRate;
use lowwater_model::workload::{Workload, Workloads};
use sha2::{Digest, Sha256};

use crate::csv::{Limits, RecordReader, Row};
use crate::error::{InputError, StoreError};
use crate::input::{Input, MAX_TABLE_BYTES, read_settings, read_table};
use crate::join::HostRow;
use crate::layout::check_data_dir;
use crate::spot::Interruptions;

/// The files, in the order in which they are hashed.
pub const FILES: [&str; 7] = [
    "policy.toml",
    CONTRACT_FILE,
    "workloads.toml",
    "hosts.csv",
    "holidays.csv",
    "offers.csv",
    "spot.csv",
];

const POLICY: &str = "policy.toml";

/// Rows of a table of the owner's. A compressed file may hold more than its size says.
const MAX_TABLE_ROWS: u64 = 1_000_000;

/// The configuration of a data directory.
#[derive(Clone, Debug)]
pub struct Config {
    /// Limits.
    pub policy: Policy,
    /// Declared workloads.
    pub workloads: Workloads,
    /// Which host is which resource.
    pub hosts: Vec<HostRow>,
    /// Holidays.
    pub calendars: Calendars,
    /// Prices that the owner wrote down.
    pub offers: Vec<Offer>,
    /// Discounts and minimums that the owner agreed on.
    pub contract: Contract,
    /// How often spot machines are taken back, as the owner wrote it down.
    pub interruptions: Vec<Interruptions>,
    /// Rows that could not be taken; the rest is in use.
    pub warnings: Vec<String>,
    /// SHA-256 over the bytes of all files.
    pub hash: String,
}

impl Config {
    /// Reads the files of a directory; what is absent has its defaults. `levers` are the policy sections of levers.
    pub fn read(dir: &Path, levers: &[Section]) -> Result<Self, StoreError> {
        check_data_dir(dir)?;
        let policy = match read_settings(&dir.join(POLICY), POLICY)? {
            Some(text) => Policy::parse(&text, POLICY, levers)?,
            None => Policy::defaults(levers),
        };
        Self::read_rest(dir, policy, &dir.join(POLICY))
    }

    /// The same under the limits of another file: as if that were the directory's own.
    pub fn read_under(dir: &Path, policy: &Path, levers: &[Section]) -> Result<Self, StoreError> {
        let file = policy.display().to_string();
        let text = read_settings(policy, &file)?.ok_or_else(|| {
            InputError::new(file.as_str(), "there is no such file")
                .hint("name a policy file, such as the one that `lowwater init` writes")
        })?;
        Self::read_rest(dir, Policy::parse(&text, &file, levers)?, policy)
    }

    fn read_rest(dir: &Path, policy: Policy, policy_file: &Path) -> Result<Self, StoreError> {
        let mut warnings = Vec::new();
        let workloads = match read_settings(&dir.join("workloads.toml"), "workloads.toml")? {
            Some(text) => Workloads::parse(&text, "workloads.toml")?,
            None => Workloads::default(),
        };
        let contract = match read_settings(&dir.join(CONTRACT_FILE), CONTRACT_FILE)? {
            Some(text) => Contract::parse(&text, CONTRACT_FILE)?,
            None => Contract::default(),
        };
        let hosts = read_rows(dir, "hosts.csv", &["host", "resource_id"], host, &mut warnings)?;
        let holidays = read_rows(dir, "holidays.csv", &["calendar", "date"], holiday, &mut warnings)?;
        let mut calendars = Calendars::new();
        for (calendar, date) in holidays {
            calendars.entry(calendar.as_str().into()).or_default().insert(date);
        }
        let needed = ["provider", "sku", "market", "price_per_hour", "currency", "as_of"];
        let offers = read_rows(dir, "offers.csv", &needed, offer, &mut warnings)?;
        let needed = [
            "provider",
            "region",
            "sku",
            "interruptions_per_hour",
            "wait_hours",
            "as_of",
        ];
        let interruptions = read_rows(dir, "spot.csv", &needed, interruptions, &mut warnings)?;
        warnings.extend(unknown_calendars(&policy, &workloads, &calendars));
        workloads.workload.iter().try_for_each(|w| check_curve(dir, w))?;
        Ok(Self {
            policy,
            workloads,
            hosts,
            calendars,
            offers,
            contract,
            interruptions,
            warnings,
            hash: hash(dir, policy_file)?,
        })
    }
}

fn hash(dir: &Path, policy: &Path) -> Result<String, StoreError> {
    let mut hash = Sha256::new();
    for name in FILES {
        let path = if name == POLICY {
            policy.to_owned()
        } else {
            dir.join(name)
        };
        if path.exists() {
            let bytes = read_table(&path, name)?;
            hash.update(name.as_bytes());
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
    }
    Ok(hash.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

/// A row by column name; absent columns are empty.
struct Fields<'a>(BTreeMap<&'a str, &'a str>);

impl Fields<'_> {
    fn get(&self, column: &str) -> &str {
        self.0.get(column).copied().unwrap_or_default().trim()
    }

    fn needed(&self, column: &'static str) -> Result<&str, Fault> {
        match self.get(column) {
            "" => Err(Fault {
                column,
                what: "is empty".into(),
            }),
            value => Ok(value),
        }
    }
}

/// Why a row is not taken.
struct Fault {
    column: &'static str,
    what: String,
}

fn fault(column: &'static str, what: impl Into<String>) -> Fault {
    Fault {
        column,
        what: what.into(),
    }
}

/// Reads a CSV of the owner's. A bad row is a warning; a missing column is an error.
fn read_rows<T>(
    dir: &Path,
    name: &'static str,
    needed: &[&str],
    read: fn(&Fields<'_>) -> Result<T, Fault>,
    warnings: &mut Vec<String>,
) -> Result<Vec<T>, StoreError> {
    let path = dir.join(name);
    // An empty file is what an editor leaves behind; it says as much as none.
    match std::fs::metadata(&path).map_or(0, |m| m.len()) {
        0 => return Ok(Vec::new()),
        bytes if bytes > MAX_TABLE_BYTES => read_table(&path, name).map(drop)?,
        _ => {}
    }
    let mut input = Input::open(&path)?;
    let mut reader = RecordReader::new(&mut input, Limits::default())?;
    let header: Vec<String> = reader.header().iter().map(|h| h.to_lowercase()).collect();
    if let Some(missing) = needed.iter().find(|n| !header.iter().any(|h| h == **n)) {
        let hint = format!("the header of {name} has {}", needed.join(","));
        return Err(InputError::new(name, format!("has no column `{missing}`"))
            .hint(hint)
            .into());
    }
    let mut rows = Vec::new();
    let mut read_rows = 0;
    while let Some(row) = reader.read()? {
        read_rows += 1;
        if read_rows > MAX_TABLE_ROWS {
            let error = InputError::new(name, format!("has more than {MAX_TABLE_ROWS} rows"));
            return Err(error.hint("is it the right file?").into());
        }
        let outcome = match row {
            Row::Bad(bad) => Err(format!(
                "{name}:{}:{}: {} (value `{}`)",
                bad.number, bad.column, bad.reason, bad.value
            )),
            Row::Good(record) => {
                let fields = Fields(header.iter().map(String::as_str).zip(record.fields()).collect());
                let place = |f: Fault| {
                    let value = fields.get(f.column);
                    format!(
                        "{name}:{}:{}: {} (value `{value}`); the row is not used",
                        record.number, f.column, f.what
                    )
                };
                read(&fields).map_err(place)
            }
        };
        match outcome {
            Ok(row) => rows.push(row),
            Err(warning) => warnings.push(warning),
        }
    }
    Ok(rows)
}

fn host(fields: &Fields<'_>) -> Result<HostRow, Fault> {
    Ok(HostRow {
        host: fields.needed("host")?.to_owned(),
        resource_id: fields.needed("resource_id")?.to_owned(),
    })
}

fn holiday(fields: &Fields<'_>) -> Result<(String, jiff::civil::Date), Fault> {
    let calendar = fields.needed("calendar")?.to_owned();
    let date = fields
        .needed("date")?
        .parse()
        .map_err(|_| fault("date", "is not a day such as 2026-12-25"))?;
    Ok((calendar, date))
}

/// The gates of an offer: a price above zero, a currency, a day, known terms. `accelerator` must fit a known SKU.
fn offer(fields: &Fields<'_>) -> Result<Offer, Fault> {
    let price = fields.needed("price_per_hour")?;
    let rate: f64 = price.parse().map_err(|_| fault("price_per_hour", "is not a number"))?;
    if !(rate.is_finite() && rate > 0.0) {
        return Err(fault(
            "price_per_hour",
            "is not above zero; leave the row out where the price is unknown",
        ));
    }
    let markets: Vec<&str> = Market::ALL.iter().map(|m| m.as_str()).collect();
    let market = Market::parse(fields.needed("market")?)
        .ok_or_else(|| fault("market", format!("is none of {}", markets.join(", "))))?;
    let currency = fields.needed("currency")?;
    if currency.len() != 3 || !currency.bytes().all(|b| b.is_ascii_uppercase()) {
        return Err(fault("currency", "is not an ISO 4217 code such as USD"));
    }
    let basis = match fields.get("price_basis") {
        "" | "list" => PriceBasis::List,
        "net" => PriceBasis::Net,
        _ => return Err(fault("price_basis", "is neither `list` nor `net`")),
    };
    let sku = fields.needed("sku")?;
    if let (Some(known), Ok(count)) = (find_sku(sku), fields.get("count").parse::<f64>())
        && known.count != count
    {
        return Err(fault(
            "count",
            format!(
                "{sku} has {} accelerator{}",
                known.count,
                if known.count == 1.0 { "" } else { "s" }
            ),
        ));
    }
    Ok(Offer {
        cloud: cloud_id(fields.needed("provider")?),
        region: fields.get("region").into(),
        zone: fields.get("zone").into(),
        sku: sku.into(),
        list: None,
        holds: holds(fields),
        market,
        rate: HourlyRate(rate),
        currency: currency.into(),
        basis,
        as_of: fields
            .needed("as_of")?
            .parse()
            .map_err(|_| fault("as_of", "is not a day such as 2026-10-31"))?,
        source: match fields.get("source") {
            "" => "offers.csv".to_owned(),
            source => format!("offers.csv, {source}"),
        },
    })
}

/// Columns of a request curve; the last two may be empty.
const CURVE_COLUMNS: [&str; 4] = ["time", "requests_per_minute", "input_tokens_mean", "output_tokens_mean"];

/// A curve is a CSV file beside workloads.toml, with its own header.
fn check_curve(dir: &Path, workload: &Workload) -> Result<(), StoreError> {
    let Some(curve) = &workload.curve else {
        return Ok(());
    };
    let wrong = |what: String| {
        let place = format!("workload `{}`: `curve` is `{curve}`, {what}", workload.name);
        let hint = format!(
            "write its path as seen from workloads.toml; its header is {}",
            CURVE_COLUMNS.join(",")
        );
        StoreError::from(ConfigError::new("workloads.toml", place).hint(hint))
    };
    let path = dir.join(curve);
    if !path.is_file() {
        return Err(wrong("which is no file".into()));
    }
    let header = read_header(&path).map_err(|error| match error {
        StoreError::Input(input) => wrong(format!("which {}", input.what)),
        other => other,
    })?;
    let has = |column: &str| header.iter().any(|h| h.eq_ignore_ascii_case(column));
    match CURVE_COLUMNS.iter().find(|column| !has(column)) {
        Some(missing) => Err(wrong(format!("which has no column `{missing}`"))),
        None => Ok(()),
    }
}

fn read_header(path: &Path) -> Result<Vec<String>, StoreError> {
    let mut input = Input::open(path)?;
    Ok(RecordReader::new(&mut input, Limits::default())?.header().to_vec())
}

/// A rate from nothing to one a minute, with ends in order; ends may be left out.
fn interruptions(fields: &Fields<'_>) -> Result<Interruptions, Fault> {
    let rate = |column: &'static str, otherwise: f64| match fields.get(column) {
        "" => Ok(otherwise),
        text => match text.parse::<f64>() {
            Ok(rate) if (0.0..=60.0).contains(&rate) => Ok(rate),
            Ok(_) => Err(fault(column, "is not between 0 and 60 an hour")),
            Err(_) => Err(fault(column, "is not a number")),
        },
    };
    fields.needed("interruptions_per_hour")?;
    let middle = rate("interruptions_per_hour", 0.0)?;
    let per_hour = Likely {
        low: rate("low", middle / 2.0)?,
        middle,
        high: rate("high", middle * 2.0)?,
    };
    if !per_hour.is_sound() {
        return Err(fault("low", "and high do not lie around interruptions_per_hour"));
    }
    let wait = fields.needed("wait_hours")?;
    let wait: f64 = wait.parse().map_err(|_| fault("wait_hours", "is not a number"))?;
    if !(0.0..=1000.0).contains(&wait) {
        return Err(fault("wait_hours", "is not a number of hours to wait"));
    }
    Ok(Interruptions {
        cloud: cloud_id(fields.needed("provider")?),
        region: fields.needed("region")?.to_owned(),
        zone: fields.get("zone").to_owned(),
        sku: fields.needed("sku")?.to_owned(),
        per_hour,
        wait_hours: wait,
        as_of: fields
            .needed("as_of")?
            .parse()
            .map_err(|_| fault("as_of", "is not a day such as 2026-10-31"))?,
        source: match fields.get("source") {
            "" => "the owner".to_owned(),
            source => source.to_owned(),
        },
    })
}

/// Accelerators, where the row names them and counts them.
fn holds(fields: &Fields<'_>) -> Option<Holds> {
    let count = fields.get("count").parse().ok()?;
    let accelerator = fields.get("accelerator");
    (!accelerator.is_empty()).then(|| Holds {
        accelerator: accelerator.into(),
        count,
    })
}

/// Calendars that are named and that nobody wrote down: their holidays count as working days, and that is said.
fn unknown_calendars(policy: &Policy, workloads: &Workloads, calendars: &Calendars) -> Vec<String> {
    let from_policy = policy
        .calendars()
        .into_iter()
        .map(|name| ("policy.toml", name.to_string()));
    let of_workloads = workloads
        .workload
        .iter()
        .filter_map(|w| Some(("workloads.toml", w.holidays.as_ref()?.to_string())));
    let unknown: BTreeSet<(&str, String)> = from_policy
        .chain(of_workloads)
        .filter(|(_, name)| !calendars.contains_key(name.as_str()))
        .collect();
    let words = |(file, name): (&str, String)| {
        format!(
            "{file}: there is no holiday calendar `{name}`, so its holidays count as working days; add its days to \
             holidays.csv: calendar,date,name"
        )
    };
    unknown.into_iter().map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dir(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    fn read(files: &[(&str, &str)]) -> Result<Config, String> {
        Config::read(dir(files).path(), &[]).map_err(|e| e.to_string())
    }

    #[test]
    fn no_table_takes_more_memory_than_a_table_may() {
        for name in ["hosts.csv", "holidays.csv", "offers.csv", "spot.csv"] {
            let dir = dir(&[(name, "")]);
            // A hole: it has that size and takes no room.
            let file = std::fs::File::options()
                .write(true)
                .open(dir.path().join(name))
                .unwrap();
            file.set_len(MAX_TABLE_BYTES + 1).unwrap();
            let error = Config::read(dir.path(), &[]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name}: is larger than 64 MiB")), "{error}");
            assert!(error.contains("hint: is it the right file?"), "{error}");
        }
        let rows = format!("host,resource_id\n{}", "a,b\n".repeat(MAX_TABLE_ROWS as usize + 1));
        let zipped = zstd::encode_all(rows.as_bytes(), 1).unwrap();
        assert!(zipped.len() < 1 << 20);
        let dir = dir(&[]);
        std::fs::write(dir.path().join("hosts.csv"), zipped).unwrap();
        let error = Config::read(dir.path(), &[]).unwrap_err().to_string();
        assert!(error.contains("hosts.csv: has more than 1000000 rows"), "{error}");
    }

    #[test]
    fn nothing_is_needed_and_the_hash_sees_every_byte() {
        let none = read(&[]).unwrap();
        assert!(none.hosts.is_empty() && none.offers.is_empty() && none.warnings.is_empty());
        let one = read(&[("hosts.csv", "host,resource_id\na,b\n")]).unwrap();
        let other = read(&[("hosts.csv", "host,resource_id\na,c\n")]).unwrap();
        assert_eq!(
            one.hosts,
            [HostRow {
                host: "a".into(),
                resource_id: "b".into()
            }]
        );
        assert!(none.hash != one.hash && one.hash != other.hash);
    }

    #[test]
    fn another_policy_counts_as_if_it_were_the_own_one() {
        let text = "[plan]\nreplay_days = 14\n";
        let (own, bare) = (dir(&[("policy.toml", text)]), dir(&[("other.toml", text)]));
        let expected = Config::read(own.path(), &[]).unwrap();
        let under = Config::read_under(bare.path(), &bare.path().join("other.toml"), &[]).unwrap();
        assert_eq!((under.policy, &under.hash), (expected.policy, &expected.hash));
        assert_ne!(Config::read(bare.path(), &[]).unwrap().hash, under.hash);
        let missing = Config::read_under(bare.path(), &bare.path().join("none.toml"), &[]).unwrap_err();
        assert_eq!(missing.exit_code(), 3);
        assert!(missing.to_string().contains("\nhint: name a policy file"), "{missing}");
    }

    #[test]
    fn offers_go_through_gates_and_the_good_ones_stay() {
        let text = "provider,region,zone,sku,accelerator,count,market,payment,price_per_hour,price_basis,currency,as_of,source\n\
            AWS,us-east-1,,p5.48xlarge,H100,8,on_demand,,55.04,,USD,2026-07-20,list\n\
            AWS,us-east-1,,p5.48xlarge,H100,8,on_demand,,0,,USD,2026-07-20,list\n\
            AWS,us-east-1,,p5.48xlarge,H100,1,on_demand,,55.04,,USD,2026-07-20,list\n\
            AWS,us-east-1,,p5.48xlarge,H100,8,on-demand,,55.04,,USD,2026-07-20,list\n\
            AWS,us-east-1,,p5.48xlarge,H100,8,spot,,NaN,,USD,2026-07-20,list\n\
            AWS,us-east-1,,p5.48xlarge,H100,8,spot,,30,net,$,2026-07-20,list\n\
            AWS,us-east-1,,p5.48xlarge,H100,8,spot,,30,net,USD,July,list\n";
        let config = read(&[("offers.csv", text)]).unwrap();
        assert_eq!(config.offers.len(), 1);
        assert_eq!(
            (config.offers[0].cloud.as_str(), config.offers[0].basis),
            ("aws", PriceBasis::List)
        );
        let faults = [
            "3:price_per_hour",
            "4:count",
            "5:market",
            "6:price_per_hour",
            "7:currency",
            "8:as_of",
        ];
        assert_eq!(config.warnings.len(), faults.len());
        for (warning, place) in config.warnings.iter().zip(faults) {
            assert!(warning.starts_with(&format!("offers.csv:{place}: ")), "{warning}");
        }
    }

    #[test]
    fn interruption_rates_have_ends_and_bad_rows_are_named() {
        let text = "provider,region,zone,sku,interruptions_per_hour,low,high,wait_hours,as_of,source\n\
            AWS,us-east-1,,p5.48xlarge,0.02,,,0.5,2026-10-31,own trace\n\
            AWS,us-east-1,,p5.48xlarge,0.02,0.03,,0,2026-10-31,\n\
            AWS,us-east-1,,p5.48xlarge,often,,,0,2026-10-31,\n\
            AWS,,,p5.48xlarge,0.02,,,0,2026-10-31,\n\
            AWS,us-east-1,,p5.48xlarge,0.02,,,,2026-10-31,\n";
        let config = read(&[("spot.csv", text)]).unwrap();
        assert_eq!(config.interruptions.len(), 1);
        let rate = config.interruptions[0].per_hour;
        assert_eq!((rate.low, rate.middle, rate.high), (0.01, 0.02, 0.04));
        for (warning, place) in
            config
                .warnings
                .iter()
                .zip(["3:low", "4:interruptions_per_hour", "5:region", "6:wait_hours"])
        {
            assert!(warning.starts_with(&format!("spot.csv:{place}: ")), "{warning}");
        }
        assert_eq!(config.warnings.len(), 4);
    }

    #[test]
    fn holidays_are_days_and_a_calendar_without_days_is_told() {
        let text = "calendar,date,name\nDE-BE,2026-10-03,Unity\nDE-BE,3 October,Unity\n";
        let config = read(&[("holidays.csv", text)]).unwrap();
        assert_eq!(config.calendars.values().map(BTreeSet::len).sum::<usize>(), 1);
        assert!(
            config.warnings[0].starts_with("holidays.csv:3:date: "),
            "{}",
            config.warnings[0]
        );
        for policy in ["[calendar]\nholidays = \"XX\"\n", "[team.vision]\nholidays = \"XX\"\n"] {
            let config = read(&[("policy.toml", policy)]).unwrap();
            assert_eq!(config.warnings.len(), 1);
            assert!(
                config.warnings[0].starts_with("policy.toml: there is no holiday calendar `XX`"),
                "{:?}",
                config.warnings
            );
        }
    }

    #[test]
    fn a_curve_is_a_file_with_its_header() {
        let workloads = |curve: &str| {
            format!("[[workload]]\nname = \"chat\"\ncurve = \"{curve}\"\n[[workload.select]]\nsku = \"x\"\n")
        };
        let with = |curve: &str, text: &str| read(&[("workloads.toml", &workloads(curve)), ("chat.csv", text)]);
        let header = "time,requests_per_minute,input_tokens_mean,output_tokens_mean\n";
        assert!(with("chat.csv", &format!("{header}2026-10-01T00:00:00Z,5,,\n")).is_ok());
        for (curve, text, what) in [
            ("chatt.csv", header, "`curve` is `chatt.csv`, which is no file"),
            (".", header, "`curve` is `.`, which is no file"),
            ("chat.csv", "", "`curve` is `chat.csv`, which"),
            (
                "chat.csv",
                "time,requests\n",
                "which has no column `requests_per_minute`",
            ),
        ] {
            let error = with(curve, text).unwrap_err();
            assert!(error.starts_with("workloads.toml: workload `chat`: "), "{error}");
            assert!(error.contains(what) && error.contains("hint:"), "{error}");
        }
    }

    #[test]
    fn a_missing_column_is_an_error_with_the_header() {
        let error = read(&[("hosts.csv", "host,resource\na,b\n")]).unwrap_err();
        assert!(
            error.contains("has no column `resource_id`") && error.contains("host,resource_id"),
            "{error}"
        );
        let error = read(&[("policy.toml", "[load]\nmax = 1\n")]).unwrap_err();
        assert!(error.contains("unknown key `max`"), "{error}");
    }

    #[test]
    fn an_empty_file_says_nothing_and_a_byte_order_mark_is_no_column() {
        let config = read(&[("offers.csv", ""), ("hosts.csv", "\u{feff}host,resource_id\r\na,b\r\n")]).unwrap();
        assert_eq!((config.offers.len(), config.hosts.len()), (0, 1));
        assert!(config.warnings.is_empty(), "{:?}", config.warnings);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Any text in any file is a configuration, warnings or an error: never a panic.
        #[test]
        fn any_text_in_any_file(name in prop::sample::select(&FILES[..]), header in any::<bool>(), text in "[a-z0-9=,.\\[\\]\"\n -]{0,120}") {
            let known = match name {
                "hosts.csv" => "host,resource_id\n",
                "holidays.csv" => "calendar,date,name\n",
                "offers.csv" => "provider,region,zone,sku,accelerator,count,market,payment,price_per_hour,price_basis,currency,as_of,source\n",
                _ => "",
            };
            let _ = read(&[(name, &format!("{}{text}", if header { known } else { "" }))]);
        }
    }
}
