//! `lowwater token`: what programs show to the dashboard instead of a login.

use clap::Subcommand;
use jiff::{SignedDuration, Timestamp};
use lowwater_store::state::Token;

use super::Outcome;
use super::user::{Holder, name, state};
use crate::config::Settings;
use crate::error::AppError;
use crate::output;
use crate::view::people::{Changed, Made, Tokens};

/// Tokens with which programs ask the dashboard: add, list, remove
///
/// A program sends one as `Authorization: Bearer TOKEN`. It is shown once, when it is added; only a
/// hash of it is kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lowwater token add grafana --days 365
  lowwater token add nightly-export --team vision
  lowwater token list")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Add a token, and print it, once
    Add {
        #[command(flatten)]
        holder: Holder,
        /// Days until it ends
        #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(i64).range(1..=3650))]
        days: i64,
    },
    /// List the tokens, without their secrets
    List,
    /// Remove a token: what shows it is refused from then on
    Remove {
        /// Name
        #[arg(value_parser = name)]
        name: String,
    },
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let (state, who, now) = (state(settings)?, settings.who.as_str(), Timestamp::now());
        match &self.action {
            Action::List => output::show(settings, &Tokens::new(state.tokens()?, now))?,
            Action::Add { holder, days } => {
                let token = Token {
                    holder: holder.person(),
                    until: now + SignedDuration::from_hours(24 * days),
                };
                let secret = state.add_token(&token, who, now)?;
                output::show(settings, &Made { token, secret })?;
            }
            Action::Remove { name } => {
                if !state.remove_token(name, who, now)? {
                    return Err(AppError::Refused(format!(
                        "there is no token `{name}`\nhint: `lowwater token list` names them"
                    )));
                }
                output::show(settings, &Changed::new("token", "removed", name))?;
            }
        }
        Ok(Outcome::Done)
    }
}
