//! How far plans and reports are from the truth.

use std::collections::{BTreeMap, BTreeSet};

use lowwater_model::change::Change;
use lowwater_model::charge::CostMetric;
use lowwater_model::id::ResourceId;
use lowwater_model::money::Money;
use lowwater_model::period::{Period, Spans};
use lowwater_model::plan::Plan;
use lowwater_store::report::{Dimension, ReportQuery};
use lowwater_store::store::Store;
use serde::Serialize;

use super::truth::{Paid, TrueMachine, Truth};
use crate::demo::clock::{HOURS, second};
use crate::error::AppError;

/// Highest share of all GPU-hours that steps may take from machines that are needed: one in a thousand.
const MAX_FALSE_SHARE: f64 = 0.001;

/// Lowest share of the machines of a case that the lever finds that should: nine of ten.
const MIN_FOUND_SHARE: f64 = 0.9;

/// One case.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CaseScore {
    /// Machines with GPUs.
    pub machines: usize,
    /// Of them, found by the lever that should; none where no step is expected.
    pub found: Option<usize>,
    /// GPU-hours that steps take, of both plans.
    pub taken: f64,
    /// GPU-hours of them in which the machine was needed.
    pub falsely: f64,
}

/// One organisation.
#[derive(Debug, Serialize)]
pub struct Score {
    /// Its seed.
    pub seed: u64,
    /// GPU-hours that the plans were judged on.
    pub gpu_hours: f64,
    /// GPU-hours that steps take.
    pub taken: f64,
    /// GPU-hours of them in which the machine was needed.
    pub falsely: f64,
    /// GPU-hours that would go to spot although they may not be interrupted.
    pub wrongly_on_spot: f64,
    /// Owners whose money in a report is not what they paid.
    pub misallocated: Vec<String>,
    /// By case.
    pub cases: BTreeMap<String, CaseScore>,
    #[serde(skip)]
    machines: Vec<Judged>,
    #[serde(skip)]
    paid: Vec<Paid>,
}

/// A machine, as long as it is judged.
#[derive(Debug)]
struct Judged {
    case: String,
    wanted: Option<String>,
    resource: ResourceId,
    gpus: f64,
    billed_seconds: Vec<i64>,
    needed: Vec<bool>,
    may_spot: bool,
}

impl Judged {
    fn of(machine: &TrueMachine) -> Self {
        Self {
            case: machine.case.clone(),
            wanted: machine.wanted.clone(),
            resource: machine.resource.as_str().into(),
            gpus: machine.gpus,
            billed_seconds: machine.billed_seconds.clone(),
            needed: (0..HOURS).map(|hour| machine.is_needed(hour)).collect(),
            may_spot: machine.may_spot,
        }
    }

    /// GPU-hours that it is billed in these instants: all, and those in which it is needed.
    fn gpu_hours(&self, within: &Spans) -> (f64, f64) {
        let mut of = (0.0, 0.0);
        for hour in 0..HOURS {
            let inside = within
                .overlap(second(hour), second(hour + 1))
                .min(self.billed_seconds[hour]);
            let hours = self.gpus * inside as f64 / 3600.0;
            of.0 += hours;
            of.1 += if self.needed[hour] { hours } else { 0.0 };
        }
        of
    }
}

/// When a change has a machine stopped, whatever the machine does then.
fn stopped(change: &Change, within: Period) -> Spans {
    match change {
        Change::Stop(stop) => Spans::of(Period {
            start: stop.since.max(within.start),
            end: within.end.max(stop.since),
        }),
        Change::SetSchedule(set) => set.schedule.stopped(within),
        Change::UseSpot(_) | Change::Commit(_) => Spans::default(),
    }
}

impl Score {
    /// Nothing is judged yet.
    pub fn new(seed: u64, truth: &Truth) -> Self {
        let mut cases: BTreeMap<String, CaseScore> = BTreeMap::new();
        for machine in &truth.machines {
            cases.entry(machine.case.clone()).or_default().machines += 1;
        }
        Self {
            seed,
            gpu_hours: 0.0,
            taken: 0.0,
            falsely: 0.0,
            wrongly_on_spot: 0.0,
            misallocated: Vec::new(),
            cases,
            machines: truth.machines.iter().map(Judged::of).collect(),
            paid: truth.paid.clone(),
        }
    }

    /// What the steps of a plan do in a period, as if they had been carried out before it.
    pub fn plan(&mut self, plan: &Plan, within: Period) {
        for judged in &self.machines {
            self.gpu_hours += judged.gpu_hours(&Spans::of(within)).0;
            let steps = plan
                .steps
                .iter()
                .filter(|s| s.change.kind().resources().contains(&judged.resource));
            let mut off = Spans::default();
            for step in steps {
                off = off.union(&stopped(&step.change, within));
                if matches!(step.change, Change::UseSpot(_)) && !judged.may_spot {
                    self.wrongly_on_spot += judged.gpu_hours(&Spans::of(within)).0;
                }
            }
            let (taken, falsely) = judged.gpu_hours(&off);
            let case = self.cases.entry(judged.case.clone()).or_default();
            case.taken += taken;
            case.falsely += falsely;
            self.taken += taken;
            self.falsely += falsely;
        }
    }

    /// Which machines the levers found that should.
    pub fn found(&mut self, plan: &Plan) {
        let mut seen: BTreeSet<&ResourceId> = BTreeSet::new();
        for judged in &self.machines {
            let case = self.cases.entry(judged.case.clone()).or_default();
            let Some(wanted) = &judged.wanted else { continue };
            let is_found = plan
                .steps
                .iter()
                .any(|s| s.lever == *wanted && s.change.kind().resources().contains(&judged.resource));
            let found = case.found.get_or_insert(0);
            *found += usize::from(is_found);
            // A machine of two owners in turn is one.
            if !seen.insert(&judged.resource) {
                *found -= usize::from(is_found);
                case.machines -= 1;
            }
        }
    }

    /// Whether reports give each owner what it paid, to the last digit.
    pub fn allocation(&mut self, store: &Store) -> Result<(), AppError> {
        let pairs = [
            [Dimension::Team, Dimension::Project],
            [Dimension::Team, Dimension::Workload],
            [Dimension::Project, Dimension::Workload],
        ];
        for metric in [CostMetric::Billed, CostMetric::Effective] {
            for by in pairs {
                let query = ReportQuery {
                    by: by.to_vec(),
                    metric: Some(metric),
                    ..ReportQuery::default()
                };
                let rows = store.report(&query)?.rows.into_iter().map(|row| (row.labels, row.cost));
                self.compare(
                    &format!("{metric} by {}, {}", by[0].as_str(), by[1].as_str()),
                    by,
                    metric,
                    rows,
                );
            }
        }
        Ok(())
    }

    fn compare(
        &mut self,
        what: &str,
        by: [Dimension; 2],
        metric: CostMetric,
        rows: impl Iterator<Item = (Vec<String>, Money)>,
    ) {
        let mut due: BTreeMap<Vec<String>, Money> = BTreeMap::new();
        for paid in &self.paid {
            let labels = by.iter().map(|dimension| label(paid, *dimension)).collect();
            let cost = if metric == CostMetric::Billed {
                paid.billed
            } else {
                paid.effective
            };
            *due.entry(labels).or_default() += cost;
        }
        let mut of_cloud: Money = due.remove(&vec![CLOUD.to_owned(); 2]).unwrap_or_default();
        for (labels, cost) in rows {
            let folded: Vec<String> = labels.iter().map(|label| label.to_lowercase()).collect();
            if folded.iter().all(|label| is_of_cloud(label)) {
                of_cloud -= cost;
                continue;
            }
            // Two rows of one owner, or a row of nobody whom the truth knows, are wrong as well.
            let owed = due.remove(&folded);
            if owed != Some(cost) {
                let owed = owed.map_or_else(|| "nothing".to_owned(), |money| money.to_string());
                self.misallocated
                    .push(format!("{what}: {} has {cost}, paid {owed}", labels.join(", ")));
            }
        }
        let left = due.into_iter().filter(|(_, cost)| !cost.is_zero());
        self.misallocated
            .extend(left.map(|(labels, cost)| format!("{what}: {} paid {cost} and has no row", labels.join(", "))));
        if !of_cloud.is_zero() {
            self.misallocated
                .push(format!("{what}: rows of nobody are off by {of_cloud}"));
        }
    }

    /// Share of the judged GPU-hours that steps take from machines that are needed.
    pub fn false_share(&self) -> f64 {
        if self.gpu_hours > 0.0 {
            self.falsely / self.gpu_hours
        } else {
            0.0
        }
    }

    /// Within all limits?
    pub fn is_good(&self) -> bool {
        self.faults().is_empty()
    }

    /// What is beyond a limit, in words.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = self.misallocated.clone();
        if self.false_share() > MAX_FALSE_SHARE {
            faults.push(format!("false stops are {:.3} %", self.false_share() * 100.0));
        }
        if self.wrongly_on_spot > 0.0 {
            faults.push(format!("{:.1} GPU-hours are wrongly on spot", self.wrongly_on_spot));
        }
        for (name, case) in &self.cases {
            let least = MIN_FOUND_SHARE * case.machines as f64;
            if let Some(found) = case.found.filter(|found| (*found as f64) < least) {
                faults.push(format!(
                    "{found} of {} machines found of the case `{name}`",
                    case.machines
                ));
            }
        }
        faults
    }
}

const CLOUD: &str = "(cloud)";
const NOBODY: &str = "(unallocated)";

/// A row of the cloud's account: tax, credits, support, purchases, unused commitment.
fn is_of_cloud(label: &str) -> bool {
    label.starts_with('(') && label != NOBODY
}

fn label(paid: &Paid, dimension: Dimension) -> String {
    if paid.is_of_cloud {
        return CLOUD.to_owned();
    }
    let name = match dimension {
        Dimension::Team => &paid.team,
        Dimension::Project => &paid.project,
        _ => &paid.workload,
    };
    name.clone().unwrap_or_else(|| NOBODY.to_owned())
}
