//! One pinned version of the store with its configuration: what every question is asked of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use jiff::tz::TimeZone;
use lowwater_model::charge::CostMetric;
use lowwater_model::cloud::cloud_id;
use lowwater_model::facts::{Basis, Owner};
use lowwater_model::money::ExactSum;
use lowwater_model::offer::Offer;
use lowwater_model::period::Period;
use lowwater_model::policy::Section;
use lowwater_model::workload::Traits;

use crate::config::Config;
use crate::error::StoreError;
use crate::join::{self, Joined};
use crate::layout::{BillUnit, Layout, Manifest, Snapshot, TABLES};
use crate::load::{Reject, count, counted};
use crate::owner::Owners;
use crate::schema;
use crate::session::{Row, Session};
use crate::spelling::Spelling;
use crate::tags;
use crate::views::{Places, VIEWS, View};

/// A data directory, opened for reading.
pub struct Store {
    snapshot: Snapshot,
    config: Config,
    session: OnceLock<Session>,
    joined: OnceLock<Joined>,
    spelling: OnceLock<Spelling>,
}

impl Store {
    /// Opens the directory at its current version. `levers` are the policy sections that levers declare.
    pub fn open(dir: &Path, levers: &[Section]) -> Result<Self, StoreError> {
        Self::open_with(dir, Config::read(dir, levers)?)
    }

    /// Opens the directory under a configuration that need not be its own.
    pub fn open_with(dir: &Path, config: Config) -> Result<Self, StoreError> {
        let store = Self::open_even_empty(dir, config)?;
        let manifest = store.manifest();
        if manifest.all_files().next().is_none() {
            return Err(StoreError::Refused {
                what: format!("nothing is loaded in {}", dir.display()),
                hint: "load a bill first: `lowwater load PATH`; or look at a sample organisation: `lowwater demo`"
                    .into(),
            });
        }
        Ok(store)
    }

    /// Opens a directory in which nothing need be loaded: for questions that the program's own tables can answer.
    pub fn open_even_empty(dir: &Path, config: Config) -> Result<Self, StoreError> {
        let snapshot = Layout::open(dir)?.snapshot()?;
        refuse_missing_files(&snapshot)?;
        Ok(Self {
            snapshot,
            config,
            session: OnceLock::new(),
            joined: OnceLock::new(),
            spelling: OnceLock::new(),
        })
    }

    /// What is loaded.
    pub fn manifest(&self) -> &Manifest {
        self.snapshot.manifest()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Billing currency; `unknown` where no charge named one.
    pub fn currency(&self) -> String {
        self.manifest().currency.clone().unwrap_or_else(|| "unknown".into())
    }

    /// The cost column to stand on: effective, unless a load found it unreliable or absent.
    pub fn basis(&self) -> Basis {
        let bills = || self.manifest().bills.values();
        let unreliable = bills().find_map(BillUnit::why_unreliable);
        let absent = !bills().any(|u| u.totals.contains_key(CostMetric::Effective.as_str()));
        let (metric, why) = match unreliable {
            Some(warning) => (CostMetric::Billed, warning.to_owned()),
            None if absent => (CostMetric::Billed, "the bill has no EffectiveCost".into()),
            None => (
                CostMetric::Effective,
                "EffectiveCost: amortised, as the FinOps Framework compares use".into(),
            ),
        };
        Basis { metric, why }
    }

    /// The exact sum of everything that was loaded, in a metric.
    pub fn file_total(&self, metric: CostMetric) -> ExactSum {
        let mut sum = ExactSum::default();
        for unit in self.manifest().bills.values() {
            sum.merge(unit.totals.get(metric.as_str()).copied().unwrap_or_default());
        }
        sum
    }

    /// What a reader of any number must know.
    pub fn notes(&self) -> Vec<String> {
        let bills = self.manifest().bills.values();
        // The same fact of several units is one fact, with all its rows.
        let mut rows_of: BTreeMap<&str, Option<u64>> = BTreeMap::new();
        for (text, rows) in bills.clone().flat_map(|u| &u.warnings).map(|warning| counted(warning)) {
            let sum = rows_of.entry(text).or_default();
            *sum = rows.map(|rows| sum.unwrap_or(0) + rows);
        }
        let words = |(text, rows): (&str, Option<u64>)| {
            rows.map_or_else(|| text.to_owned(), |rows| format!("{text}: {}", count(rows)))
        };
        let mut notes: BTreeSet<String> = rows_of.into_iter().map(words).collect();
        let unknown: u64 = bills.map(|u| u.unknown_costs).sum();
        if unknown > 0 {
            notes.insert(format!(
                "{unknown} of the charges have an unknown BilledCost, which no sum of it can hold"
            ));
        }
        notes.extend(self.config.warnings.iter().cloned());
        notes.into_iter().collect()
    }

    /// Every rejected row.
    pub fn rejects(&self) -> Result<Vec<Reject>, StoreError> {
        crate::load::rejects(&self.snapshot)
    }

    /// The stretch that charges cover, from the manifest.
    pub fn bill_period(&self) -> Option<Period> {
        let bills = || self.manifest().bills.values();
        Some(Period::from_seconds(
            bills().map(|u| u.first).min()?,
            bills().map(|u| u.last).max()?,
        ))
    }

    /// The places of views, for a period.
    pub(crate) fn places(&self, period: Period) -> Places {
        let zone = self.config.policy.section("calendar").text("zone").to_owned();
        let minutes = self.config.policy.section("usage").int("min_observed_minutes");
        Places {
            zone: TimeZone::get(&zone).unwrap_or(TimeZone::UTC),
            period,
            min_observed_seconds: minutes * 60,
        }
    }

    /// The places of views, for everything that was loaded.
    fn all_places(&self) -> Places {
        self.places(self.bill_period().unwrap_or(Period::from_seconds(0, 0)))
    }

    /// The session with all tables and views, made at the first question.
    pub(crate) fn session(&self) -> Result<&Session, StoreError> {
        if let Some(session) = self.session.get() {
            return Ok(session);
        }
        let session = Session::new()?;
        self.register_tables(&session)?;
        let joined = self.register_join(&session)?;
        self.register_views(&session)?;
        let _ = self.joined.set(joined);
        Ok(self.session.get_or_init(|| session))
    }

    /// The session with the owners too, asked for at the first question that needs them.
    fn owned(&self) -> Result<&Session, StoreError> {
        let session = self.session()?;
        if self.spelling.get().is_none() {
            self.register_owners(session, self.joined()?)?;
            let places = self.all_places();
            for view in VIEWS.iter().filter(|v| v.name == "owned_bill") {
                create(session, view, &places)?;
            }
        }
        Ok(session)
    }

    /// Which hosts are joined to which resources.
    pub fn joined(&self) -> Result<&Joined, StoreError> {
        self.session()?;
        self.joined
            .get()
            .ok_or_else(|| StoreError::Query("the join was not made".into()))
    }

    fn register_tables(&self, session: &Session) -> Result<(), StoreError> {
        let extra = &self.manifest().extra_columns;
        session.register_files("charges", schema::charges(extra), &self.snapshot.files("charges"))?;
        session.register_files("daily", schema::daily(), &self.snapshot.files("daily"))?;
        session.register_files("gpu_hours", schema::gpu_hours(), &self.snapshot.files("gpu_hours"))?;
        session.register_files("jobs", schema::jobs(), &self.snapshot.files("jobs"))?;
        session.register_files("offers", schema::offers(), &self.snapshot.files("offers"))?;
        session.register_files("usage", schema::usage(), &self.snapshot.files("usage"))
    }

    /// What the metrics of all months say of their hosts.
    fn provider_ids(&self) -> join::ProviderIds {
        let mut all = join::ProviderIds::new();
        for (host, ids) in self.manifest().usage.values().flat_map(|unit| &unit.provider_ids) {
            all.entry(host.clone()).or_default().extend(ids.iter().cloned());
        }
        all
    }

    /// The billed resources that these hosts and GPUs are.
    pub(crate) fn join_hosts(&self, session: &Session, observed: &[join::Observed]) -> Result<Joined, StoreError> {
        let resources = session.query(
            "SELECT ResourceId, max(ResourceName) AS ResourceName, max(Tags) AS Tags, max(x_Sku) AS x_Sku,
                    max(x_Cloud) AS x_Cloud, max(x_GpuCount) AS x_GpuCount
             FROM gpu_hours WHERE ResourceId IS NOT NULL AND x_LineKind = 'compute' GROUP BY ResourceId ORDER BY ResourceId",
        )?;
        let resources: Vec<join::Billed> = resources.iter().map(|row| self.billed(row)).collect();
        Ok(join::join(
            &self.config.hosts,
            &self.provider_ids(),
            &resources,
            observed,
        ))
    }

    /// Matches every observed GPU to a billed resource and registers the outcome as `gpu_resources`.
    fn register_join(&self, session: &Session) -> Result<Joined, StoreError> {
        let gpus = session.query("SELECT DISTINCT coalesce(x_Host, '') AS x_Host, x_Gpu FROM usage ORDER BY 1, 2")?;
        let gpus: Vec<join::Observed> = gpus
            .iter()
            .map(|r| join::Observed {
                host: r.text_or_empty("x_Host").into(),
                gpu: r.text_or_empty("x_Gpu").into(),
            })
            .collect();
        let joined = self.join_hosts(session, &gpus)?;
        let matched = joined.matched();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from_iter_values(matched.iter().map(|m| m.host.as_str()))),
            Arc::new(StringArray::from_iter_values(matched.iter().map(|m| m.gpu.as_str()))),
            Arc::new(StringArray::from_iter_values(
                matched.iter().map(|m| m.resource_id.as_str()),
            )),
            Arc::new(Int64Array::from_iter_values(matched.iter().map(|m| m.resource_gpus))),
        ];
        session.register_rows(
            "gpu_resources",
            gpu_resources(),
            vec![RecordBatch::try_new(gpu_resources(), columns)?],
        )?;
        Ok(joined)
    }

    fn billed(&self, row: Row<'_>) -> join::Billed {
        let tags = tags::parse(row.text_or_empty("Tags"));
        join::Billed {
            resource_id: row.text_or_empty("ResourceId").into(),
            resource_name: row.text("ResourceName").map(Into::into),
            name_tag: tags.get("name").cloned(),
            gpus: self.gpus(row).ceil() as i64,
        }
    }

    /// GPUs of a resource: what the bill or the table says, else what offers.csv says of its type; 0 = unknown.
    pub(crate) fn gpus(&self, row: Row<'_>) -> f64 {
        let declared = || {
            let (sku, cloud) = (row.text("x_Sku")?, cloud_id(row.text_or_empty("x_Cloud")));
            let is_of_type = |offer: &&Offer| {
                (cloud.is_empty() || offer.cloud == cloud) && offer.sku.as_str().eq_ignore_ascii_case(sku)
            };
            let mut offers = self.config.offers.iter().filter(is_of_type);
            offers.find_map(|offer| offer.holds().map(|holds| holds.count))
        };
        row.number("x_GpuCount").or_else(declared).unwrap_or(0.0)
    }

    fn register_views(&self, session: &Session) -> Result<(), StoreError> {
        let places = self.all_places();
        for view in VIEWS {
            match view.name {
                // Every question about idle hours asks it again: its rows are kept.
                "resource_hours" => session.keep_rows(view.name, &view.text(&places))?,
                // Who owns what is asked of every resource, so only where an answer needs it: see `owned`.
                "owned_bill" | "transfer" => {}
                _ => create(session, view, &places)?,
            }
        }
        Ok(())
    }

    /// The view of the bill with its owners: for a question about time by days of the owner's zone, else by those of the
    /// day cube, which is faster.
    pub(crate) fn owned_bill(&self, about_time: bool) -> Result<&'static str, StoreError> {
        self.owned()?;
        Ok(if about_time && !self.has_cube_days() {
            "owned_local_bill"
        } else {
            "owned_bill"
        })
    }

    /// Are the owner's days those of the day cube, UTC?
    pub(crate) fn has_cube_days(&self) -> bool {
        self.all_places().has_cube_days()
    }

    /// Asks who owns each distinct resource and registers the answers as `owners`.
    fn register_owners(&self, session: &Session, joined: &Joined) -> Result<(), StoreError> {
        let owners = Owners::new(&self.config.workloads, &self.config.policy);
        let keys = session.query("SELECT * FROM owner_keys")?;
        let answers: Vec<(Row<'_>, Traits, Owner)> = keys
            .iter()
            .map(|key| {
                let traits = traits(key, joined);
                let owner = owners.of(&traits);
                (key, traits, owner)
            })
            .collect();
        let spelling = Spelling::of(&self.config.workloads, answers.iter().map(|(_, _, owner)| owner));
        let mut table = OwnerTable::default();
        for (key, traits, mut owner) in answers {
            spelling.fold(&mut owner);
            table.push(key, &owner, owners.is_untagged(&traits.tags));
        }
        let batch = table.finish()?;
        session.register_rows("owners", batch.schema(), vec![batch])?;
        let _ = self.spelling.set(spelling);
        Ok(())
    }

    /// How values that differ only in case are spelled.
    pub(crate) fn spelling(&self) -> Result<&Spelling, StoreError> {
        self.owned()?;
        self.spelling
            .get()
            .ok_or_else(|| StoreError::Query("owners were not asked for".into()))
    }
}

fn create(session: &Session, view: &View, places: &Places) -> Result<(), StoreError> {
    let mut texts = view.texts(places).into_iter();
    texts.try_for_each(|(name, sql)| session.create_view(name, &sql))
}

/// Columns of `gpu_resources`: which observed GPU is which billed resource.
pub(crate) fn gpu_resources() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    Arc::new(Schema::new(vec![
        text("x_Host"),
        text("x_Gpu"),
        text("ResourceId"),
        Field::new("x_Gpus", DataType::Int64, false),
    ]))
}

/// Columns of `owners`: the key of `owner_keys`, then what was found.
pub(crate) fn owners() -> SchemaRef {
    let texts = OwnerTable::NAMES.map(|name| Field::new(name, DataType::Utf8, true));
    let untagged = Field::new("x_Untagged", DataType::Boolean, true);
    Arc::new(Schema::new(texts.into_iter().chain([untagged]).collect::<Vec<_>>()))
}

/// A store that lost a file would answer with a smaller number: it does not answer.
fn refuse_missing_files(snapshot: &Snapshot) -> Result<(), StoreError> {
    let all = TABLES.iter().flat_map(|table| snapshot.files(table));
    match all.into_iter().find(|file| !file.is_file()) {
        None => Ok(()),
        Some(file) => Err(StoreError::Refused {
            what: format!("the store has lost a file: {}", file.display()),
            hint: "load its month again with `--replace` (the month and the source stand in its path), or restore the \
                   file from a backup"
                .into(),
        }),
    }
}

/// What a selector may look at, from a row of `owner_keys` or `gpu_resource_traits`.
pub(crate) fn traits(row: Row<'_>, joined: &Joined) -> Traits {
    let resource_id = row.text_or_empty("ResourceId");
    let tags = tags::parse(row.text_or_empty("Tags"));
    let name = row
        .text("ResourceName")
        .or_else(|| tags.get("name").map(String::as_str))
        .unwrap_or_default()
        .to_owned();
    Traits {
        resource_id: resource_id.to_owned(),
        resource_name: name,
        account: [row.text("x_AccountId"), row.text("SubAccountName")]
            .into_iter()
            .flatten()
            .map(Into::into)
            .collect(),
        region: row.text_or_empty("RegionId").to_owned(),
        sku: row.text_or_empty("x_Sku").to_owned(),
        hosts: joined.hosts_of(resource_id),
        namespaces: Vec::new(),
        tags,
    }
}

/// The `owners` table in the making.
#[derive(Default)]
struct OwnerTable {
    columns: [Vec<Option<String>>; 13],
    untagged: Vec<bool>,
}

impl OwnerTable {
    const NAMES: [&'static str; 13] = [
        "ResourceId",
        "ResourceName",
        "x_AccountId",
        "SubAccountName",
        "RegionId",
        "x_Sku",
        "Tags",
        "x_Class",
        "x_Team",
        "x_Project",
        "x_Environment",
        "x_Model",
        "x_Workload",
    ];

    fn push(&mut self, key: Row<'_>, owner: &Owner, untagged: bool) {
        let found = [
            Some(owner.class.as_str().to_owned()),
            owner.team.as_ref().map(ToString::to_string),
            owner.project.clone(),
            owner.environment.clone(),
            owner.model.clone(),
            owner.workload.as_ref().map(ToString::to_string),
        ];
        let key = Self::NAMES[..7].iter().map(|name| key.text(name).map(Into::into));
        for (column, value) in self.columns.iter_mut().zip(key.chain(found)) {
            column.push(value);
        }
        self.untagged.push(untagged);
    }

    fn finish(self) -> Result<RecordBatch, StoreError> {
        let text = |values: Vec<Option<String>>| Arc::new(StringArray::from(values)) as ArrayRef;
        let untagged = Arc::new(BooleanArray::from(self.untagged)) as ArrayRef;
        let columns = self.columns.map(text).into_iter().chain([untagged]);
        Ok(RecordBatch::try_new(owners(), columns.collect())?)
    }
}
