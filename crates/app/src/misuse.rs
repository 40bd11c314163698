//! A command line that can't be taken, said in the form of all other errors.

use std::ffi::OsString;

use clap::error::ErrorKind;

/// Words with which the parser ends every error.
const PARSERS_HINT: &str = "For more information, try";

/// What to print for it: what is wrong, then a hint. None where the text is what was asked for: help, or the version.
pub fn message(error: &clap::Error, arguments: &[OsString], commands: &[String]) -> Option<String> {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return None;
    }
    let text = error.render().to_string();
    let mut what = Vec::new();
    let mut hint = None;
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        if let Some(values) = line.strip_prefix("[possible values: ") {
            hint.get_or_insert(format!("write one of {}", values.trim_end_matches(']')));
        } else if let Some(advice) = line.strip_prefix("hint: ").or_else(|| line.strip_prefix("tip: ")) {
            // The nearest word says more than all of them.
            hint = Some(advice.replace('\'', "`"));
        } else if !line.starts_with("Usage: ") && !line.starts_with(PARSERS_HINT) {
            what.push(line.trim_start_matches("error: "));
        }
    }
    let what = what.join(" ");
    let (what, hint) = match (hint, what.split_once(": write ")) {
        (None, Some((what, advice))) => (what.to_owned(), format!("write {advice}")),
        (hint, _) => {
            let help = || format!("`{}` lists what it takes", help(arguments, commands));
            (what, hint.unwrap_or_else(help))
        }
    };
    Some(format!("{what}\nhint: {hint}"))
}

/// `lowwater report --help`, of the command that was meant.
fn help(arguments: &[OsString], commands: &[String]) -> String {
    let meant = arguments.iter().skip(1).filter_map(|a| a.to_str());
    let meant = meant.filter(|a| commands.iter().any(|c| c == a)).take(1);
    let words = std::iter::once("lowwater")
        .chain(meant)
        .chain(std::iter::once("--help"));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, ArgAction, Command};

    fn said(words: &[&str]) -> Option<String> {
        let day = |text: &str| match text {
            "monday" => Ok(text.to_owned()),
            _ => Err("write a day such as monday"),
        };
        let zone = |_: &str| Err::<String, _>("is no zone\nhint: write it like Europe/Berlin");
        let command = Command::new("lowwater").version("1").subcommand(
            Command::new("report")
                .arg(Arg::new("file").required(true))
                .arg(Arg::new("metric").long("metric").value_parser(["billed", "list"]))
                .arg(Arg::new("from").long("from").value_parser(day))
                .arg(Arg::new("zone").long("zone").value_parser(zone))
                .arg(Arg::new("all").long("all").action(ArgAction::SetTrue)),
        );
        let arguments: Vec<OsString> = std::iter::once("lowwater")
            .chain(words.iter().copied())
            .map(OsString::from)
            .collect();
        let error = command.try_get_matches_from(&arguments).unwrap_err();
        message(&error, &arguments, &["report".to_owned()])
    }

    #[test]
    fn every_misuse_is_one_line_and_a_hint() {
        let cases: &[(&[&str], &str)] = &[
            (
                &["report", "x", "--metric", "y"],
                "invalid value 'y' for '--metric <metric>'\nhint: write one of billed, list",
            ),
            (
                &["report", "x", "--metric", "bill"],
                "invalid value 'bill' for '--metric <metric>'\nhint: a similar value exists: `billed`",
            ),
            (
                &["report", "x", "--from", "y"],
                "invalid value 'y' for '--from <from>'\nhint: write a day such as monday",
            ),
            (
                &["report", "x", "--zone", "y"],
                "invalid value 'y' for '--zone <zone>': is no zone\nhint: write it like Europe/Berlin",
            ),
            (
                &["report", "x", "--form", "y"],
                "unexpected argument '--form' found\nhint: a similar argument exists: `--from`",
            ),
            (
                &["report"],
                "the following required arguments were not provided: <file>\nhint: `lowwater report --help` lists what it takes",
            ),
            (
                &["repot"],
                "unrecognized subcommand 'repot'\nhint: a similar subcommand exists: `report`",
            ),
            (
                &["xyz"],
                "unrecognized subcommand 'xyz'\nhint: `lowwater --help` lists what it takes",
            ),
        ];
        for (words, want) in cases {
            assert_eq!(said(words).as_deref(), Some(*want), "{words:?}");
        }
    }

    #[test]
    fn help_and_version_are_no_misuse() {
        for words in [["--help"], ["--version"], ["help"]] {
            assert_eq!(said(&words), None);
        }
    }
}
