//! Settings of a run: the global options and every environment variable, in one struct.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;

/// Where data is kept when neither `--data` nor `LOWWATER_DATA` says.
pub const DEFAULT_DATA: &str = "lowwater-data";
/// Narrowest and widest layout.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=200;
/// Layout where nobody says how wide the output is: a file, a pipe.
const PLAIN_WIDTH: usize = 100;

const GLOBAL: &str = "Options of every command";

/// Options that every command takes, before or after its name.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct GlobalArgs {
    /// Data directory of the organisation [default: $LOWWATER_DATA, else ./lowwater-data]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    pub data: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub json: bool,
    /// No progress, no remarks, no next steps: only what was asked for
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub quiet: bool,
}

/// Everything that is read from the environment of the process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `LOWWATER_DATA`: the data directory.
    pub data: Option<OsString>,
    /// `NO_COLOR`: any text turns colour off.
    pub no_color: Option<OsString>,
    /// `TERM`: `dumb` turns colour off.
    pub term: Option<OsString>,
    /// `COLUMNS`: layout width where the terminal does not say.
    pub columns: Option<OsString>,
    /// `LOWWATER_PROMETHEUS_TOKEN`, `_USER` and `_PASSWORD`: who asks a Prometheus server.
    pub prometheus: PrometheusLogin,
    /// `USER`, `LOGNAME` or `USERNAME`: who decides on this machine.
    pub user: Option<String>,
    /// Standard output is a terminal.
    pub terminal: bool,
    /// Standard error is a terminal.
    pub error_terminal: bool,
    /// Columns of the terminal.
    pub terminal_width: Option<u16>,
}

/// Who asks a Prometheus server, as the environment says.
#[derive(Clone, Default)]
pub struct PrometheusLogin {
    /// Bearer token.
    pub token: Option<String>,
    /// User of basic authentication.
    pub user: Option<String>,
    /// Its password.
    pub password: Option<String>,
}

impl PrometheusLogin {
    fn read() -> Self {
        let text = |name| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
        Self {
            token: text("LOWWATER_PROMETHEUS_TOKEN"),
            user: text("LOWWATER_PROMETHEUS_USER"),
            password: text("LOWWATER_PROMETHEUS_PASSWORD"),
        }
    }
}

/// Says nothing: what it holds is secret.
impl std::fmt::Debug for PrometheusLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PrometheusLogin(…)")
    }
}

impl Environment {
    /// Of this process.
    pub fn read() -> Self {
        let terminal = std::io::stdout().is_terminal();
        Self {
            data: std::env::var_os("LOWWATER_DATA"),
            no_color: std::env::var_os("NO_COLOR"),
            term: std::env::var_os("TERM"),
            columns: std::env::var_os("COLUMNS"),
            prometheus: PrometheusLogin::read(),
            user: ["USER", "LOGNAME", "USERNAME"]
                .iter()
                .find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty())),
            terminal,
            error_terminal: std::io::stderr().is_terminal(),
            terminal_width: terminal.then(|| comfy_table::Table::new().width()).flatten(),
        }
    }
}

/// Settings of this run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Data directory.
    pub data: PathBuf,
    /// It was named with `--data`.
    pub data_given: bool,
    /// JSON instead of text.
    pub json: bool,
    /// Only what was asked for.
    pub quiet: bool,
    /// How to show it.
    pub look: Look,
    /// Who asks a Prometheus server.
    pub prometheus: PrometheusLogin,
    /// Who decides on this machine.
    pub who: String,
}

/// What the place where it is shown can take.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Colours may be used.
    pub colour: bool,
    /// A progress bar may be shown.
    pub progress: bool,
    /// Somebody reads along: the output goes to a terminal.
    pub terminal: bool,
    /// Layout width in characters.
    pub width: usize,
}

impl Settings {
    /// The command line over the environment over the defaults.
    pub fn new(args: &GlobalArgs, env: &Environment) -> Self {
        let set = |v: &Option<OsString>| v.clone().filter(|v| !v.is_empty());
        let data = args.data.clone().or_else(|| set(&env.data).map(PathBuf::from));
        let dumb = env.term.as_ref().is_some_and(|t| t == "dumb");
        let columns = set(&env.columns).and_then(|c| c.to_str()?.parse().ok());
        let width = env
            .terminal_width
            .map(usize::from)
            .filter(|w| *w > 0)
            .or(columns)
            .unwrap_or(PLAIN_WIDTH);
        Self {
            data: data.unwrap_or_else(|| DEFAULT_DATA.into()),
            data_given: args.data.is_some(),
            json: args.json,
            quiet: args.quiet,
            look: Look {
                colour: env.terminal && set(&env.no_color).is_none() && !dumb,
                progress: env.error_terminal && !args.quiet && !args.json && !dumb,
                terminal: env.terminal,
                width: width.clamp(*WIDTHS.start(), *WIDTHS.end()),
            },
            prometheus: env.prometheus.clone(),
            who: env
                .user
                .clone()
                .unwrap_or_else(|| "somebody on this machine".to_owned()),
        }
    }

    /// `--data DIR ` where a next command needs it, else nothing.
    pub fn data_option(&self) -> String {
        if self.data_given {
            format!(" --data {}", quoted(&self.data.to_string_lossy()))
        } else {
            String::new()
        }
    }
}

/// The text as one word of a shell.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal() -> Environment {
        Environment {
            terminal: true,
            error_terminal: true,
            terminal_width: Some(140),
            ..Environment::default()
        }
    }

    #[test]
    fn the_command_line_wins_over_the_environment() {
        let env = Environment {
            data: Some("from-env".into()),
            ..Environment::default()
        };
        let given = GlobalArgs {
            data: Some("given".into()),
            ..GlobalArgs::default()
        };
        let data = |args: &GlobalArgs, env: &Environment| {
            let s = Settings::new(args, env);
            (s.data.to_string_lossy().into_owned(), s.data_given)
        };
        assert_eq!(data(&given, &env), ("given".into(), true));
        assert_eq!(data(&GlobalArgs::default(), &env), ("from-env".into(), false));
        assert_eq!(
            data(&GlobalArgs::default(), &Environment::default()),
            (DEFAULT_DATA.into(), false)
        );
        let empty = Environment {
            data: Some("".into()),
            ..Environment::default()
        };
        assert_eq!(data(&GlobalArgs::default(), &empty), (DEFAULT_DATA.into(), false));
    }

    #[test]
    fn colour_only_on_a_terminal_that_wants_it() {
        let colour = |env: &Environment| Settings::new(&GlobalArgs::default(), env).look.colour;
        assert!(colour(&terminal()));
        assert!(!colour(&Environment {
            terminal: false,
            ..terminal()
        }));
        assert!(!colour(&Environment {
            no_color: Some("1".into()),
            ..terminal()
        }));
        assert!(
            colour(&Environment {
                no_color: Some("".into()),
                ..terminal()
            }),
            "an empty NO_COLOR says nothing"
        );
        assert!(!colour(&Environment {
            term: Some("dumb".into()),
            ..terminal()
        }));
    }

    #[test]
    fn progress_only_where_somebody_watches() {
        let progress = |args: GlobalArgs| Settings::new(&args, &terminal()).look.progress;
        assert!(progress(GlobalArgs::default()));
        assert!(!progress(GlobalArgs {
            quiet: true,
            ..GlobalArgs::default()
        }));
        assert!(!progress(GlobalArgs {
            json: true,
            ..GlobalArgs::default()
        }));
        let piped = Environment {
            error_terminal: false,
            ..terminal()
        };
        assert!(!Settings::new(&GlobalArgs::default(), &piped).look.progress);
    }

    #[test]
    fn width_is_the_terminal_then_columns_then_plain_and_bounded() {
        let width = |terminal_width, columns: Option<&str>| {
            let env = Environment {
                terminal_width,
                columns: columns.map(Into::into),
                ..Environment::default()
            };
            Settings::new(&GlobalArgs::default(), &env).look.width
        };
        assert_eq!(width(Some(140), Some("80")), 140);
        assert_eq!(width(None, Some("80")), 80);
        assert_eq!(width(Some(0), Some("80")), 80, "a terminal that does not know");
        assert_eq!(width(None, Some("wide")), PLAIN_WIDTH);
        assert_eq!(width(None, None), PLAIN_WIDTH);
        assert_eq!((width(Some(20), None), width(Some(999), None)), (60, 200));
    }

    #[test]
    fn words_for_a_shell() {
        assert_eq!(quoted("./data/a.csv"), "./data/a.csv");
        assert_eq!(quoted("my data"), "'my data'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
