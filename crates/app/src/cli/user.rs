//! `lowwater user`: who may log in to the dashboard.

use std::collections::BTreeSet;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use jiff::Timestamp;
use lowwater_store::layout::check_data_dir;
use lowwater_store::state::{NAME_RULE, Person, Role, Scope, State, is_name};

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::output;
use crate::view::people::{Changed, Users};

/// Users of the dashboard: add, list, remove, give another password
///
/// As soon as there is one, `lowwater serve --login` and addresses that other machines can reach ask
/// for a login.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lowwater user add ann --role approver
  lowwater user add ben --team vision --password-file ben.txt
  lowwater user list")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Add a user; the password is asked for, or read from standard input or a file
    Add {
        #[command(flatten)]
        holder: Holder,
        /// Read the password from the first line of this file
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
    /// List who may log in
    List,
    /// Give a user another password, which ends its sessions
    Password {
        /// Name
        #[arg(value_parser = name)]
        name: String,
        /// Read the password from the first line of this file
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
    /// Remove a user, which ends its sessions
    Remove {
        /// Name
        #[arg(value_parser = name)]
        name: String,
    },
}

/// Who, what it may do, and what it may see.
#[derive(Debug, clap::Args)]
pub struct Holder {
    /// Name
    #[arg(value_parser = name)]
    name: String,
    /// What it may do: look; approve steps too; everything
    #[arg(long, default_value = "viewer", value_parser = PossibleValuesParser::new(Role::ALL.map(Role::as_str)))]
    role: String,
    /// It sees this team alone, named as in reports; may be given again
    #[arg(long = "team", value_name = "TEAM")]
    teams: Vec<String>,
    /// It sees this sub-account alone, named as in reports; may be given again
    #[arg(long = "account", value_name = "ACCOUNT")]
    accounts: Vec<String>,
}

impl Holder {
    /// As the state keeps it.
    pub fn person(&self) -> Person {
        let set = |words: &[String]| words.iter().cloned().collect::<BTreeSet<_>>();
        Person {
            name: self.name.clone(),
            role: Role::parse(&self.role).unwrap_or_default(),
            scope: Scope {
                teams: set(&self.teams),
                accounts: set(&self.accounts),
            },
        }
    }
}

/// A name of a user or of a token.
pub fn name(text: &str) -> Result<String, String> {
    is_name(text).then(|| text.to_owned()).ok_or_else(|| NAME_RULE.to_owned())
}

/// Longest line that is read as a password, in bytes.
const MAX_LINE: u64 = 8 * 1024;

/// The password from a file, from a terminal without showing it, or from standard input.
fn password(file: Option<&Path>) -> Result<String, AppError> {
    use std::io::Read as _;
    let mut line = String::new();
    let read = match file {
        Some(path) => std::fs::File::open(path)
            .and_then(|file| std::io::BufReader::new(file.take(MAX_LINE)).read_line(&mut line))
            .map_err(|e| AppError::Input(format!("{}: {e}\nhint: name a file whose first line is the password", path.display()))),
        None if std::io::stdin().is_terminal() => rpassword::prompt_password("password: ")
            .map(|typed| line = typed)
            .map(|()| 0)
            .map_err(AppError::Output),
        None => std::io::BufReader::new(std::io::stdin().lock().take(MAX_LINE))
            .read_line(&mut line)
            .map_err(AppError::Output),
    };
    read?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// The decisions of the data directory; made where nobody decided anything yet.
pub fn state(settings: &Settings) -> Result<State, AppError> {
    check_data_dir(&settings.data)?;
    Ok(State::open(&settings.data)?)
}

fn unknown(name: &str) -> AppError {
    AppError::Refused(format!("there is no user `{name}`\nhint: `lowwater user list` names them"))
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let (state, who, now) = (state(settings)?, settings.who.as_str(), Timestamp::now());
        let said = match &self.action {
            Action::List => {
                output::show(settings, &Users::new(state.users()?))?;
                return Ok(Outcome::Done);
            }
            Action::Add { holder, password_file } => {
                let person = holder.person();
                state.add_user(&person, &password(password_file.as_deref())?, who, now)?;
                Changed::new("user", "added", &person.name)
            }
            Action::Password { name, password_file } => {
                let password = password(password_file.as_deref())?;
                if !state.set_password(name, &password, who, now)? {
                    return Err(unknown(name));
                }
                Changed::new("user", "given another password", name)
            }
            Action::Remove { name } => {
                if !state.remove_user(name, who, now)? {
                    return Err(unknown(name));
                }
                Changed::new("user", "removed", name)
            }
        };
        output::show(settings, &said)?;
        Ok(Outcome::Done)
    }
}
