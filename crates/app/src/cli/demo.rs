//! `lowwater demo`

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lowwater_store::load::{Existing, LoadRequest, Progress as _};
use lowwater_store::report::{Dimension, ReportQuery};
use lowwater_store::store::Store;

use super::Outcome;
use super::plan::make;
use crate::config::Settings;
use crate::demo::{self, DemoSummary, MARK};
use crate::error::AppError;
use crate::progress::Watch;
use crate::view::demo::{DemoView, Shown};
use crate::view::load::Loaded;
use crate::view::next::Next;
use crate::view::report::ReportView;
use crate::web::{self, Serving};
use crate::{output, plan_file, registry};

/// Write a sample organisation as real files, then load, report and plan it as if it were yours
///
/// Writes into DIR/demo, or into the directory that --data names, never among your own data.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// End after the text: do not serve the dashboard, which is served on a terminal only
    #[arg(long)]
    no_serve: bool,
    /// Another seed makes another organisation of the same kind
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

/// The plan of day 60 of the sample is judged on days 61 to 90.
const BACKTEST_DAYS: i64 = 30;

/// Where the sample goes; refused where somebody's own files are.
fn directory(settings: &Settings) -> Result<PathBuf, AppError> {
    let dir = if settings.data_given { settings.data.clone() } else { settings.data.join("demo") };
    let is_empty = !dir.exists() || std::fs::read_dir(&dir).map_err(AppError::at(&dir))?.next().is_none();
    if is_empty || dir.join(MARK).is_file() {
        return Ok(dir);
    }
    Err(AppError::Refused(format!(
        "{} has files that are not of the sample organisation\nhint: name an empty directory with --data, or leave --data out",
        dir.display()
    )))
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let dir = directory(settings)?;
        let watch = Watch::new(settings);
        let start = Instant::now();
        watch.step("writing the sample organisation");
        let summary = demo::write(&dir, self.seed)?;
        let view = walk(&dir, &summary, &watch)?;
        drop(watch);
        output::show(settings, &view)?;
        output::remark(settings, &format!("\nAll of it took {:.1} s.", start.elapsed().as_secs_f64()));
        if settings.look.terminal && !self.no_serve && !settings.json {
            serve(&dir, &settings.who)?;
        }
        Ok(Outcome::Done)
    }
}

/// The same in a browser, until Ctrl-C; on any port where the usual one is taken.
fn serve(dir: &Path, who: &str) -> Result<(), AppError> {
    let on = |listen: SocketAddr| web::bind(&Serving::here(dir, listen, who));
    let bound = on(web::ADDRESS).or_else(|_| on(SocketAddr::new(web::ADDRESS.ip(), 0)))?;
    output::text(&format!("\nThe same as pages: {}  (Ctrl-C ends it)\n", bound.url()))?;
    bound.run()
}

/// The very same load, report and plan that a user runs.
fn walk(dir: &Path, summary: &DemoSummary, watch: &Watch) -> Result<DemoView, AppError> {
    let phase = |what: &str| {
        watch.step(what);
        if watch.stop() { Err(AppError::Stopped("stopped; the sample is loaded, its plan is not made".to_owned())) } else { Ok(()) }
    };
    let levers = registry::lever_sections();
    let policy = lowwater_store::config::Config::read(dir, &levers)?.policy;
    let request = LoadRequest { paths: vec![dir.join("bills"), dir.join("metrics")], existing: Existing::Replace, ..LoadRequest::default() };
    let loaded = lowwater_store::load::load(dir, &request, &policy, watch)?;
    phase("joining metrics to the bill")?;
    let store = Store::open(dir, &levers)?;
    let next = Next::on(dir);
    let loaded = Loaded::new(&loaded, store.manifest().currency.clone(), &store.coverage()?, next.clone());
    phase("asking where the money goes")?;
    let query = ReportQuery { by: vec![Dimension::Class], ..ReportQuery::default() };
    let mut report = ReportView::new(store.report(&query)?, &query, next.clone());
    // The plan says the same a screen below.
    report.notes.clear();
    phase("replaying and planning")?;
    let plan = make(&store, None)?;
    let path = dir.join("plan.json");
    plan_file::write(&path, &plan)?;
    phase("judging the plan of a month ago on the month after it")?;
    let backtest = super::backtest::judge(&store, None, BACKTEST_DAYS)?;
    Ok(DemoView::new(dir, summary, Shown { loaded, report, plan, backtest }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, GlobalArgs};

    fn settings(dir: &Path, given: bool) -> Settings {
        let env = Environment { data: (!given).then(|| dir.as_os_str().to_owned()), ..Environment::default() };
        let args = GlobalArgs { data: given.then(|| dir.to_owned()), ..GlobalArgs::default() };
        Settings::new(&args, &env)
    }

    #[test]
    fn the_sample_never_goes_among_own_files() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(directory(&settings(dir.path(), true)).unwrap(), dir.path());
        assert_eq!(directory(&settings(dir.path(), false)).unwrap(), dir.path().join("demo"));
        std::fs::write(dir.path().join("policy.toml"), "").unwrap();
        assert_eq!(directory(&settings(dir.path(), true)).unwrap_err().exit_code(), 4);
        assert!(directory(&settings(dir.path(), false)).is_ok(), "a folder of its own is beside them");
        std::fs::write(dir.path().join(MARK), "").unwrap();
        assert!(directory(&settings(dir.path(), true)).is_ok(), "a sample that was begun is written anew");
    }
}
