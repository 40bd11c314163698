//! What the dashboard answers from: one version of the store with its settings, made anew when either changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use lowwater_model::facts::Facts;
use lowwater_model::plan::Plan;
use lowwater_store::config;
use lowwater_store::report::{Report, ReportQuery};
use lowwater_store::state::{Approval, State};
use lowwater_store::store::Store;

use crate::cli::{doctor, plan};
use crate::error::AppError;
use crate::registry;
use crate::view::doctor::Diagnosis;
use crate::view::next::Next;

/// How often a watch looks for a newer version.
const LOOK: Duration = Duration::from_secs(1);

/// Answers that are kept; a page asks for a handful.
const MAX_REPORTS: usize = 512;

/// Size and age of every file that an answer depends on.
type Version = Vec<Option<(u64, SystemTime)>>;

/// The newest version that could be opened.
pub struct Live {
    /// Data directory.
    pub data: PathBuf,
    /// Why the newest version can't be shown; none where it is.
    trouble: Arc<Mutex<Option<String>>>,
    current: RwLock<Option<Arc<Shown>>>,
    making: Mutex<()>,
}

/// One version, and what was worked out of it.
pub struct Shown {
    /// Data directory.
    pub data: PathBuf,
    trouble: Arc<Mutex<Option<String>>>,
    /// The store at that version.
    pub store: Store,
    /// Until when the bill is there; none without a bill.
    pub until: Option<Timestamp>,
    version: Version,
    facts: OnceLock<Facts>,
    plan: OnceLock<Plan>,
    diagnosis: OnceLock<Diagnosis>,
    /// By question.
    reports: Mutex<BTreeMap<String, Arc<Report>>>,
    working: Mutex<()>,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn version(data: &Path) -> Version {
    let files = std::iter::once("store/manifest.json").chain(config::FILES);
    let seen = |file: &str| {
        let metadata = data.join(file).metadata().ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    files.map(seen).collect()
}

impl Live {
    /// Of a data directory.
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            trouble: Arc::default(),
            current: RwLock::default(),
            making: Mutex::default(),
        }
    }

    /// The version that answers: the newest that was worked out. Where there is none yet, it is opened now.
    pub fn shown(&self) -> Result<Arc<Shown>, AppError> {
        match self.current() {
            Some(shown) => Ok(shown),
            None => self.renew(|_| ()),
        }
    }

    /// Opens what is newer than the version that answers; until `prepare` is done, that one goes on to answer.
    fn renew(&self, prepare: fn(&Shown)) -> Result<Arc<Shown>, AppError> {
        let _making = held(&self.making);
        let version = version(&self.data);
        if let Some(shown) = self.current().filter(|shown| shown.version == version) {
            return Ok(shown);
        }
        let shown = Arc::new(Shown::open(self, version)?);
        prepare(&shown);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&shown));
        Ok(shown)
    }

    fn current(&self) -> Option<Arc<Shown>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks once a second whether there is something newer, for as long as the server lives.
    pub fn watch(self: &Arc<Self>) {
        let live = Arc::downgrade(self);
        std::thread::spawn(move || {
            while let Some(live) = live.upgrade() {
                // What most people ask for first is there before they do. What can't be opened is told on every page.
                let failed = live.renew(super::page::warm).err().and_then(|error| error.message());
                *held(&live.trouble) = failed;
                drop(live);
                std::thread::sleep(LOOK);
            }
        });
    }
}

impl Shown {
    fn open(live: &Live, version: Version) -> Result<Self, AppError> {
        let store = Store::open(&live.data, &registry::lever_sections())?;
        let has_bill = !store.manifest().bills.is_empty();
        let until = if has_bill { store.charged_until()? } else { None };
        let shown = Self {
            data: live.data.clone(),
            trouble: Arc::clone(&live.trouble),
            store,
            until,
            version,
            facts: OnceLock::new(),
            plan: OnceLock::new(),
            diagnosis: OnceLock::new(),
            reports: Mutex::default(),
            working: Mutex::default(),
        };
        // The first question registers tables and owners; after it the store only answers.
        if has_bill {
            shown.report(&ReportQuery::default())?;
        }
        Ok(shown)
    }

    /// A report, asked for once.
    pub fn report(&self, query: &ReportQuery) -> Result<Arc<Report>, AppError> {
        let key = format!("{query:?}");
        if let Some(report) = held(&self.reports).get(&key) {
            return Ok(Arc::clone(report));
        }
        let report = Arc::new(self.store.report(query)?);
        let mut reports = held(&self.reports);
        if reports.len() >= MAX_REPORTS {
            reports.pop_first();
        }
        reports.insert(key, Arc::clone(&report));
        Ok(report)
    }

    /// Why there is something newer that can't be shown; none where this is the newest.
    pub fn trouble(&self) -> Option<String> {
        held(&self.trouble).clone()
    }

    /// Approvals that hold now. They are no part of a version: a decision is seen at once.
    pub fn approvals(&self) -> Result<Vec<Approval>, AppError> {
        let state = State::there(&self.data)?;
        Ok(state
            .map(|state| state.approvals(Timestamp::now()))
            .transpose()?
            .unwrap_or_default())
    }

    /// The frozen input of plans.
    pub fn facts(&self) -> Result<&Facts, AppError> {
        let _working = held(&self.working);
        if self.facts.get().is_none() {
            let _ = self.facts.set(self.store.facts(None)?);
        }
        self.facts.get().ok_or_else(gone)
    }

    /// What is missing for a better answer.
    pub fn diagnosis(&self) -> Result<&Diagnosis, AppError> {
        let facts = self.facts()?;
        let _working = held(&self.working);
        if self.diagnosis.get().is_none() {
            let evidence = doctor::evidence_of(&self.store, facts.clone())?;
            let _ = self.diagnosis.set(Diagnosis::new(&evidence, Next::default()));
        }
        self.diagnosis.get().ok_or_else(gone)
    }

    /// The plan of this version, audited.
    pub fn plan(&self) -> Result<&Plan, AppError> {
        let facts = self.facts()?;
        let _working = held(&self.working);
        if self.plan.get().is_none() {
            let _ = self.plan.set(plan::of(facts, &self.store.config().policy)?);
        }
        self.plan.get().ok_or_else(gone)
    }
}

fn gone() -> AppError {
    AppError::Refused("what was worked out is gone\nhint: load the page again".into())
}
