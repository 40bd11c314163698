//! The file plan.json: read and written whole.

use std::path::{Path, PathBuf};

use lowwater_model::plan::{PLAN_VERSION, Plan};
use lowwater_store::input::read_bounded;
use lowwater_store::store::Store;
use serde_json::Value;

use crate::config::Settings;
use crate::error::AppError;
use crate::whole_file;

/// A plan of a hundred thousand steps is smaller.
const MAX_PLAN_BYTES: u64 = 256 << 20;

/// Where a plan is, unless the user says.
pub fn path(settings: &Settings, file: Option<&Path>) -> PathBuf {
    file.map_or_else(|| settings.data.join("plan.json"), Path::to_owned)
}

/// Reads a plan and checks that it is as it was written.
pub fn read(settings: &Settings, file: Option<&Path>) -> Result<Plan, AppError> {
    let path = path(settings, file);
    let shown = path.display();
    if !path.exists() {
        let hint = format!("hint: `lowwater plan{}` makes one", settings.data_option());
        return Err(AppError::Input(format!("{shown}: there is no plan yet\n{hint}")));
    }
    let text = read_bounded(
        &path,
        &shown.to_string(),
        (MAX_PLAN_BYTES, "256 MiB, the most that a plan may have"),
    )?;
    let again = "hint: make it again with `lowwater plan`";
    let value: Value =
        serde_json::from_slice(&text).map_err(|e| AppError::Input(format!("{shown}: is not JSON: {e}\n{again}")))?;
    let version = value["version"].as_u64();
    if version != Some(u64::from(PLAN_VERSION)) {
        let found = version.map_or_else(|| "no version".to_owned(), |v| format!("version {v}"));
        return Err(AppError::Input(format!(
            "{shown}: has {found}, this program reads version {PLAN_VERSION}\n{again}"
        )));
    }
    let plan: Plan =
        serde_json::from_value(value).map_err(|e| AppError::Input(format!("{shown}: is not a plan: {e}\n{again}")))?;
    if plan.id != lowwater_engine::plan_id(&plan) {
        return Err(AppError::Input(format!(
            "{shown}: was changed after it was made: its id is not the hash of the rest\n{again}"
        )));
    }
    Ok(plan)
}

/// Why a plan is not the plan of what is loaded and set now; none where it is.
pub fn stale(store: &Store, plan: &Plan, settings: &Settings) -> Option<String> {
    let again = format!("`lowwater plan{}` makes it anew", settings.data_option());
    let is_of = |as_of| store.facts_id(as_of).is_ok_and(|id| id == plan.facts);
    let other_policy = lowwater_engine::policy_id(&store.config().policy) != plan.policy;
    let of = if other_policy {
        "was made under another policy than the one that holds now"
    } else if is_of(None) {
        return None;
    } else if is_of(Some(plan.as_of)) {
        "sees nothing of the bill's newest days"
    } else {
        "is of other data or settings than those that are there now"
    };
    Some(format!("this plan {of}: {again}"))
}

/// A bill, a policy or a device under that name was not meant.
fn refuse_other_files(path: &Path) -> Result<(), AppError> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    let is_plan = || {
        let text = std::fs::read_to_string(path).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        (value.get("steps").is_some() && value.get("version").is_some()).then_some(())
    };
    if metadata.is_file() && (metadata.len() == 0 || is_plan().is_some()) {
        return Ok(());
    }
    let shown = path.display();
    Err(AppError::Refused(format!(
        "{shown}: there is something else than a plan\nhint: choose another name for --out"
    )))
}

/// Writes a plan so that a reader sees the old file or the new one.
pub fn write(path: &Path, plan: &Plan) -> Result<(), AppError> {
    refuse_other_files(path)?;
    let mut text = serde_json::to_string_pretty(plan)
        .map_err(|e| AppError::Input(format!("the plan can't be written as JSON: {e}")))?;
    text.push('\n');
    Ok(whole_file::write(path, text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, GlobalArgs};
    use crate::view::sample;

    fn settings(dir: &Path) -> Settings {
        let args = GlobalArgs {
            data: Some(dir.to_owned()),
            ..GlobalArgs::default()
        };
        Settings::new(&args, &Environment::default())
    }

    #[test]
    fn nothing_but_a_plan_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("bill.csv");
        std::fs::write(&file, "ChargePeriodStart,BilledCost\n").unwrap();
        let error = write(&file, &sample::plan()).unwrap_err();
        assert_eq!(error.exit_code(), 4);
        assert!(std::fs::read_to_string(&file).unwrap().starts_with("ChargePeriodStart"));
        assert!(write(dir.path(), &sample::plan()).is_err(), "a folder is no plan");
    }

    #[test]
    fn what_is_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let (settings, plan) = (settings(dir.path()), sample::plan());
        write(&path(&settings, None), &plan).unwrap();
        assert_eq!(read(&settings, None).unwrap(), plan);
        let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing but plan.json is left");
        assert!(write(&dir.path().join("none/plan.json"), &plan).is_err());
    }

    #[test]
    fn a_file_that_is_not_the_plan_that_was_made_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let settings = settings(dir.path());
        let message = |text: &str| {
            std::fs::write(path(&settings, None), text).unwrap();
            let error = read(&settings, None).unwrap_err();
            assert_eq!(error.exit_code(), 3);
            error.message().unwrap()
        };
        let good = serde_json::to_string(&sample::plan()).unwrap();
        assert!(message("{").contains("is not JSON"));
        assert!(message("{}").contains("has no version, this program reads version 1"));
        assert!(message(&good.replace("\"version\":1", "\"version\":2")).contains("has version 2"));
        assert!(message("{\"version\":1}").contains("is not a plan"));
        assert!(message(&good.replace("start it again", "start it twice")).contains("was changed after it was made"));
        std::fs::remove_file(path(&settings, None)).unwrap();
        let message = read(&settings, None).unwrap_err().message().unwrap();
        assert!(
            message.contains("plan.json: there is no plan yet\nhint: `lowwater plan --data "),
            "{message}"
        );
    }
}
