//! The file plan.json: read and written whole.

use std::path::{Path, PathBuf};

use lowwater_model::plan::{PLAN_VERSION, Plan};
use serde_json::Value;

use crate::config::Settings;
use crate::error::AppError;
use crate::whole_file;

/// Where a plan is, unless the user says.
pub fn path(settings: &Settings, file: Option<&Path>) -> PathBuf {
    file.map_or_else(|| settings.data.join("plan.json"), Path::to_owned)
}

/// Reads a plan and checks that it is as it was written.
pub fn read(settings: &Settings, file: Option<&Path>) -> Result<Plan, AppError> {
    let path = path(settings, file);
    let shown = path.display();
    let text = std::fs::read_to_string(&path).map_err(|e| {
        let hint = format!("hint: `lowwater plan{}` makes one", settings.data_option());
        AppError::Input(format!("{shown}: {e}\n{hint}"))
    })?;
    let again = "hint: make it again with `lowwater plan`";
    let value: Value =
        serde_json::from_str(&text).map_err(|e| AppError::Input(format!("{shown}: is not JSON: {e}\n{again}")))?;
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
        assert!(
            read(&settings, None)
                .unwrap_err()
                .message()
                .unwrap()
                .contains("hint: `lowwater plan --data ")
        );
    }
}
