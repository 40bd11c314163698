//! `lowwater load`

use std::path::PathBuf;

use jiff::Timestamp;
use lowwater_model::period::has_impossible_offset;
use lowwater_store::input::read_login;
use lowwater_store::load::{Existing, LoadRequest};
use lowwater_store::prometheus::{Login, Secret, ServerOptions, is_server};
use lowwater_store::store::Store;

use super::Outcome;
use crate::config::{PrometheusLogin, Settings};
use crate::error::AppError;
use crate::progress::Watch;
use crate::view::load::Loaded;
use crate::view::next::Next;
use crate::{output, registry};

/// Load bills and GPU metrics; prints every sum to its last digit
///
/// All files of one call are one export. A newer export of a month replaces that month of that
/// source and account whole; the same files again change nothing. A Prometheus server is asked for
/// what is newer than the last load, and each day is kept as soon as it is there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lowwater load bills/2026-10/
  lowwater load scrape.prom --at 2026-10-31T14:05:00Z
  lowwater load smi.csv --host node-7 --tz Europe/Berlin
  lowwater load http://prometheus:9090 --format prometheus
A login for a server is read from LOWWATER_PROMETHEUS_TOKEN, or from
LOWWATER_PROMETHEUS_USER and LOWWATER_PROMETHEUS_PASSWORD.")]
pub struct Args {
    /// Files or folders, or addresses of Prometheus servers
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Format by name [default: found from the content]
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(lowwater_store::format::FORMATS.iter().map(|f| f.name)))]
    format: Option<String>,
    /// Name of the source [default: the provider of a bill, the format of metrics]
    #[arg(long, value_name = "NAME", value_parser = name)]
    source: Option<String>,
    /// Provider, where the bill names none
    #[arg(long, value_name = "NAME", value_parser = name)]
    provider: Option<String>,
    /// Replace months that are there, whatever that removes
    #[arg(long, conflicts_with = "append")]
    replace: bool,
    /// Add to months that are there
    #[arg(long)]
    append: bool,
    /// Host, where the metrics name none
    #[arg(long, value_name = "HOST", value_parser = name)]
    host: Option<String>,
    /// Time zone of times without offset, such as Europe/Berlin
    #[arg(long, value_name = "ZONE", value_parser = zone)]
    tz: Option<String>,
    /// Time of a scrape without timestamps, such as 2026-10-31T14:05:00Z
    #[arg(long, value_name = "TIME", value_parser = instant)]
    at: Option<Timestamp>,
    #[command(flatten)]
    server: ServerArgs,
}

/// How to ask a server.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options for a Prometheus server")]
struct ServerArgs {
    /// First instant to ask for [default: the last whole hour that is stored, else the oldest sample]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    start: Option<Timestamp>,
    /// First instant after [default: now]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    end: Option<Timestamp>,
    /// Seconds between two points [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    step: Option<u32>,
    /// Name of the cluster [default: the server's external label `cluster`, else its address]
    #[arg(long, value_name = "NAME", value_parser = cluster)]
    cluster: Option<String>,
    /// Tenant, sent as X-Scope-OrgID
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// File that holds a bearer token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl ServerArgs {
    fn options(&self, login: &PrometheusLogin) -> Result<ServerOptions, AppError> {
        Ok(ServerOptions {
            start: self.start,
            end: self.end,
            step_seconds: self.step,
            cluster: self.cluster.clone(),
            tenant: self.tenant.clone(),
            login: self.login(login)?,
        })
    }

    /// The file before the environment, a token before a password.
    fn login(&self, login: &PrometheusLogin) -> Result<Login, AppError> {
        if let Some(file) = &self.token_file {
            return Ok(Login::Bearer(Secret::new(&read_login(file)?)));
        }
        if let Some(token) = &login.token {
            return Ok(Login::Bearer(Secret::new(token)));
        }
        match (&login.user, &login.password) {
            (Some(user), Some(password)) => Ok(Login::Basic {
                user: user.clone(),
                password: Secret::new(password),
            }),
            (None, None) => Ok(Login::None),
            _ => Err(AppError::Usage(
                "only one of LOWWATER_PROMETHEUS_USER and LOWWATER_PROMETHEUS_PASSWORD is set\nhint: set both, or neither".into(),
            )),
        }
    }

    fn is_given(&self) -> bool {
        let times = self.start.is_some() || self.end.is_some() || self.step.is_some();
        times || self.cluster.is_some() || self.tenant.is_some() || self.token_file.is_some()
    }
}

fn cluster(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_alphanumeric() || "-_.:".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return Ok(text.to_owned());
    }
    Err("a name of letters, digits and - _ . : such as eu-1".to_owned())
}

/// An empty name would be that of something else: nothing.
fn name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a name is needed; leave the option out for the default".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

fn zone(text: &str) -> Result<String, String> {
    let known = jiff::tz::TimeZone::get(text).map(|_| text.to_owned());
    known.map_err(|_| "is not an IANA time zone\nhint: write it like Europe/Berlin".to_owned())
}

fn instant(text: &str) -> Result<Timestamp, String> {
    let at = text.parse().ok().filter(|_| !has_impossible_offset(text));
    at.ok_or_else(|| "write an instant with offset, such as 2026-10-31T14:05:00Z; no offset is over 14:00".to_owned())
}

impl Args {
    fn request(&self, login: &PrometheusLogin) -> Result<LoadRequest, AppError> {
        let server = if self.paths.iter().any(|path| is_server(path)) {
            self.server.options(login)?
        } else if self.server.is_given() {
            let what = "--start, --end, --step, --cluster, --tenant and --token-file are for a Prometheus server";
            return Err(AppError::Usage(format!(
                "{what}\nhint: name the server, such as http://HOST:9090"
            )));
        } else {
            ServerOptions::default()
        };
        Ok(LoadRequest {
            paths: self.paths.clone(),
            format: self.format.clone(),
            source: self.source.clone(),
            provider: self.provider.clone(),
            existing: match (self.replace, self.append) {
                (true, _) => Existing::Replace,
                (_, true) => Existing::Append,
                _ => Existing::Guarded,
            },
            host: self.host.clone(),
            tz: self.tz.clone(),
            at: self.at,
            server,
        })
    }

    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let policy = registry::policy(settings, None)?;
        let watch = Watch::new(settings);
        let report = lowwater_store::load::load(&settings.data, &self.request(&settings.prometheus)?, &policy, &watch)?;
        // What is committed stays committed: from here on Ctrl-C has nothing to undo.
        watch.step("joining metrics to the bill");
        let store = Store::open(&settings.data, &registry::lever_sections())?;
        let currency = store.manifest().currency.clone();
        let loaded = Loaded::new(&report, currency, &store.coverage()?, Next::new(settings));
        drop(watch);
        output::show(settings, &loaded)?;
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_and_instants_are_checked_before_anything_is_read() {
        assert_eq!(zone("Europe/Berlin"), Ok("Europe/Berlin".to_owned()));
        assert!(zone("Berlin").is_err());
        assert!(instant("2026-10-31T14:05:00Z").is_ok());
        assert!(instant("2026-10-31 14:05").unwrap_err().contains("offset"));
        assert!(cluster("eu-1").is_ok() && cluster("a/b").is_err() && cluster("").is_err());
    }

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn request(line: &[&str], login: &PrometheusLogin) -> Result<LoadRequest, String> {
        let words = ["load"].iter().chain(line);
        let args = <Line as clap::Parser>::try_parse_from(words)
            .map_err(|e| e.to_string())?
            .args;
        args.request(login).map_err(|e| e.message().unwrap_or_default())
    }

    #[test]
    fn a_login_comes_from_the_file_then_the_environment_and_is_never_shown() {
        let env = PrometheusLogin {
            token: Some("t0ken".into()),
            user: Some("me".into()),
            password: Some("s3cret".into()),
        };
        let login = |line: &[&str], env: &PrometheusLogin| request(line, env).map(|r| r.server.login);
        let dir = std::env::temp_dir().join(format!("lowwater-token-{}", std::process::id()));
        std::fs::write(&dir, "f1le\n").unwrap();
        let file = dir.to_str().unwrap();
        let shown = format!(
            "{:?} {env:?}",
            request(&["http://h", "--token-file", file], &env).unwrap()
        );
        std::fs::remove_file(&dir).unwrap();
        assert!(
            !["t0ken", "s3cret", "f1le"].iter().any(|secret| shown.contains(secret)),
            "{shown}"
        );
        assert!(
            login(&["http://h", "--token-file", file], &env)
                .unwrap_err()
                .contains(file),
            "a file that is not there"
        );
        #[cfg(unix)]
        {
            let endless = login(&["http://h", "--token-file", "/dev/zero"], &env).unwrap_err();
            assert!(endless.contains("/dev/zero: is larger than 64 KiB"), "{endless}");
        }
        assert!(matches!(login(&["http://h"], &env), Ok(Login::Bearer(_))));
        let basic = PrometheusLogin {
            token: None,
            ..env.clone()
        };
        assert!(matches!(login(&["http://h"], &basic), Ok(Login::Basic { .. })));
        let half = PrometheusLogin {
            password: None,
            ..basic
        };
        assert!(login(&["http://h"], &half).unwrap_err().contains("hint: set both"));
        assert!(
            matches!(login(&["a.csv"], &half), Ok(Login::None)),
            "a file needs no login"
        );
        assert!(matches!(
            login(&["http://h"], &PrometheusLogin::default()),
            Ok(Login::None)
        ));
    }

    #[test]
    fn options_of_servers_are_for_servers() {
        let none = PrometheusLogin::default();
        let given = [
            "http://h",
            "--start",
            "2026-10-01T00:00:00Z",
            "--step",
            "30",
            "--cluster",
            "eu",
            "--tenant",
            "t",
        ];
        let server = request(&given, &none).unwrap().server;
        assert_eq!(
            (server.step_seconds, server.cluster.as_deref(), server.tenant.as_deref()),
            (Some(30), Some("eu"), Some("t"))
        );
        for option in [
            "--start=2026-10-01T00:00:00Z",
            "--step=30",
            "--cluster=eu",
            "--tenant=t",
            "--token-file=x",
        ] {
            assert!(
                request(&["a.csv", option], &none)
                    .unwrap_err()
                    .contains("hint: name the server"),
                "{option}"
            );
        }
        assert!(request(&["http://h", "--step", "0"], &none).is_err());
    }
}
