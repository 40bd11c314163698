//! `lowwater doctor`

use jiff::tz::TimeZone;
use lowwater_model::facts::Facts;
use lowwater_model::money::Money;
use lowwater_store::report::{Dimension, ReportQuery};
use lowwater_store::store::Store;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::doctor::{Diagnosis, Evidence};
use crate::view::next::Next;
use crate::{output, registry};

/// Say what is missing for a better answer, and how much money each gap concerns
///
/// Exits with 1 where something is missing.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Cost in the replayed days that lacks a required tag.
fn untagged(store: &Store, facts: &Facts) -> Result<Money, AppError> {
    let day = |at| Some(TimeZone::UTC.to_datetime(at).date());
    let query = ReportQuery {
        by: vec![Dimension::Class],
        metric: Some(facts.basis.metric),
        from: day(facts.period.start),
        to: day(facts.period.end),
        utc: true,
        ..ReportQuery::default()
    };
    Ok(store.report(&query)?.lines.untagged)
}

/// Collects what the checks look at.
pub fn evidence(store: &Store) -> Result<Evidence, AppError> {
    evidence_of(store, store.facts(None)?)
}

/// The same, of facts that are there.
pub fn evidence_of(store: &Store, facts: Facts) -> Result<Evidence, AppError> {
    let joined = store.joined()?;
    Ok(Evidence {
        unmatched: joined.unmatched.iter().map(|gpu| (gpu.host.clone(), gpu.gpu.clone())).collect(),
        ambiguous: joined.ambiguous.iter().map(|(host, resources)| (host.clone(), resources.clone())).collect(),
        untagged: untagged(store, &facts)?,
        uncarried_tags: store.uncarried_tags()?,
        rejects: store.rejects()?,
        unknown_costs: store.manifest().bills.values().map(|unit| unit.unknown_costs).sum(),
        config_warnings: [store.config().warnings.clone(), store.contract_warnings(facts.as_of)?].concat(),
        min_join_share: store.config().policy.section("usage").float("min_join_share"),
        facts,
    })
}

impl Args {
    #[expect(clippy::unused_self, reason = "every command has the same form")]
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let store = Store::open(&settings.data, &registry::lever_sections())?;
        let view = Diagnosis::new(&evidence(&store)?, Next::new(settings));
        output::show(settings, &view)?;
        Ok(if view.is_healthy() { Outcome::Done } else { Outcome::Findings })
    }
}
