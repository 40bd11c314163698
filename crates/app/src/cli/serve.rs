//! `lowwater serve`

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use axum::http::HeaderName;
use ipnet::IpNet;
use lowwater_store::state::State;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::output;
use crate::web::{self, Entrance, Serving};

/// Serve the dashboard: where the money goes, what leaks, the plan; on this machine only unless told
/// otherwise
///
/// It answers from the newest load: what is loaded while it runs is shown some seconds later. On an
/// address that other machines can reach, people log in, and TLS is needed, its own or a proxy's.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lowwater serve
  lowwater serve --listen 127.0.0.1:8080 --open
  lowwater serve --listen 0.0.0.0:443 --host costs.example.com --tls-cert chain.pem --tls-key key.pem")]
pub struct Args {
    /// Address and port; port 0 = any that is free
    #[arg(long, value_name = "ADDRESS", default_value_t = web::ADDRESS)]
    listen: SocketAddr,
    /// Show it in the browser
    #[arg(long)]
    open: bool,
    /// Ask for a login on this machine too
    #[arg(long)]
    login: bool,
    /// Name under which it is reached, beside its address; may be given again
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Chain of certificates in PEM, the server's own first
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A proxy on this machine or network ends TLS, and says in X-Forwarded-For who asks
    #[arg(long, conflicts_with = "tls_cert")]
    behind_proxy: bool,
    /// Header in which a proxy names the user that it let in; the user must be known here
    #[arg(long, value_name = "HEADER", requires = "trust_from")]
    trust_header: Option<HeaderName>,
    /// Network whose proxies are believed, such as 10.1.0.0/16; may be given again
    #[arg(long, value_name = "NETWORK", value_parser = network, requires = "trust_header")]
    trust_from: Vec<IpNet>,
}

fn network(text: &str) -> Result<IpNet, String> {
    let one = || text.parse::<IpAddr>().map(IpNet::from);
    let parsed = text.parse::<IpNet>().or_else(|_| one());
    parsed.map_err(|_| "write a network such as 10.1.0.0/16, or one address".to_owned())
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let needs_login = self.login || !self.listen.ip().is_loopback();
        if needs_login {
            self.check_login(settings)?;
        }
        if !self.listen.ip().is_loopback() {
            self.check_address()?;
        }
        let bound = web::bind(&Serving {
            data: settings.data.clone(),
            listen: self.listen,
            names: self.hosts.clone(),
            entrance: Entrance {
                everybody: (!needs_login).then(|| settings.who.clone()),
                behind_proxy: self.behind_proxy,
                tls: self.tls_cert.is_some(),
                trusted: self.trust_header.clone().map(|header| (header, self.trust_from.clone())),
            },
            tls: self.tls_cert.clone().zip(self.tls_key.clone()),
        })?;
        output::text(&format!("{}  (Ctrl-C ends it)\n", bound.url()))?;
        if self.open {
            show(&bound.url());
        }
        bound.run()?;
        Ok(Outcome::Done)
    }

    /// Somebody must be able to log in.
    fn check_login(&self, settings: &Settings) -> Result<(), AppError> {
        let users = State::there(&settings.data)?.map(|state| state.users()).transpose()?;
        if users.is_some_and(|users| !users.is_empty()) {
            return Ok(());
        }
        let why = if self.login { "--login asks for one".to_owned() } else { format!("{} can be reached from other machines", self.listen) };
        Err(AppError::Refused(format!(
            "nobody could log in, and {why}\nhint: add a user: `lowwater{} user add NAME --role admin`; or listen on 127.0.0.1, and \
             reach it through an SSH tunnel",
            settings.data_option()
        )))
    }

    /// What others send must not be readable on the way, and pages must know under which names they are asked for.
    fn check_address(&self) -> Result<(), AppError> {
        if self.tls_cert.is_none() && !self.behind_proxy {
            return Err(AppError::Refused(format!(
                "{} can be reached from other machines, and passwords could be read on the way\nhint: give --tls-cert and --tls-key; \
                 or --behind-proxy, if a proxy in front of it speaks TLS",
                self.listen
            )));
        }
        if self.listen.ip().is_unspecified() && self.hosts.is_empty() {
            return Err(AppError::Refused(format!(
                "{} is every address of this machine, and requests for an unknown host are refused\nhint: say under which name it is \
                 reached: --host costs.example.com",
                self.listen
            )));
        }
        Ok(())
    }
}

/// Asks the system to show a page. Where it can't, the address stands on the terminal.
fn show(url: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(opener);
    let quiet = || std::process::Stdio::null();
    let _ = command.arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}
