//! `lowwater serve`

use std::net::SocketAddr;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::output;
use crate::web::{self, Serving};

/// Serve the dashboard: where the money goes, what leaks, the plan; on this machine only unless told otherwise
///
/// It answers from the newest load: what is loaded while it runs is shown some seconds later.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lowwater serve\n  lowwater serve --listen 127.0.0.1:8080")]
pub struct Args {
    /// Address and port; port 0 = any that is free
    #[arg(long, value_name = "ADDRESS", default_value_t = web::ADDRESS)]
    listen: SocketAddr,
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        if !self.listen.ip().is_loopback() {
            return Err(AppError::Refused(format!(
                "{} can be reached from other machines, and nobody would have to log in\nhint: listen on 127.0.0.1, and reach it \
                 through an SSH tunnel",
                self.listen
            )));
        }
        let bound = web::bind(&Serving {
            data: settings.data.clone(),
            listen: self.listen,
            who: settings.who.clone(),
        })?;
        output::text(&format!("http://{}/  (Ctrl-C ends it)\n", bound.address))?;
        bound.run()?;
        Ok(Outcome::Done)
    }
}
