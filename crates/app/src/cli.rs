//! The command line: one file a command, one word in the list.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::config::{Environment, GlobalArgs, Settings};
use crate::error::AppError;
use crate::{amount, misuse, output};

/// How a command that ran to its end ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0.
    Done,
    /// There is something to look at: exit code 1.
    Findings,
}

macro_rules! commands {
    ($($module:ident :: $name:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every command; its help is the documentation of its arguments.
        #[derive(Debug, Subcommand)]
        enum Command {
            $($name($module::Args),)+
        }

        impl Command {
            fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
                match self { $(Self::$name(args) => args.run(settings),)+ }
            }
        }
    };
}

commands! {
    demo::Demo,
    init::Init,
    load::Load,
    unload::Unload,
    report::Report,
    plan::Plan,
    check::Check,
    backtest::Backtest,
    show::Show,
    explain::Explain,
    offers::Offers,
    serve::Serve,
    user::User,
    token::Token,
    log::Log,
    digest::Digest,
    rejects::Rejects,
    tags::Tags,
    doctor::Doctor,
    policy::Policy,
    completions::Completions,
    man::Man,
    docs::Docs,
    sim::Sim,
}

/// Lowwater: where GPU money goes, and a plan whose every saving was replayed
///
/// Reads what was paid (FOCUS bills) and used (GPU metrics), shows where the money goes, and finds
/// what to change. Every saving is the difference of two replays of the same hours. Nothing leaves
/// this machine and nothing is changed outside the data directory.
#[derive(Debug, Parser)]
#[command(name = "lowwater", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Begin with:
  lowwater demo          a sample organisation, loaded, reported and planned
  lowwater init          a folder for your own bill

Exit codes: 0 done, 1 findings, 2 usage, 3 bad input, 4 refused, 130 stopped.";

/// Runs the program.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse(&explained(error, &arguments), &arguments),
    };
    let settings = Settings::new(&cli.global, &Environment::read());
    match cli.command.run(&settings) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(error) => {
            if let Some(message) = error.message() {
                output::error(&message);
            }
            ExitCode::from(error.exit_code())
        }
    }
}

/// Ends with what is wrong with the command line, or with the help that was asked for.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let commands: Vec<String> = definition()
        .get_subcommands()
        .map(|c| c.get_name().to_owned())
        .collect();
    match misuse::message(error, arguments, &commands) {
        Some(message) => {
            output::error(&message);
            ExitCode::from(2)
        }
        None => error.exit(),
    }
}

/// The same error, with long arguments cut in what it repeats.
fn explained(error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let short = |a: &OsString| amount::shortened(&a.to_string_lossy(), amount::ECHO);
    Cli::try_parse_from(arguments.iter().map(short)).err().unwrap_or(error)
}

/// The definition of the whole command line: completions, man pages and reference are made from it.
pub fn definition() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        definition().debug_assert();
    }

    #[test]
    fn global_options_stand_before_or_after_the_command() {
        for line in [["lowwater", "--json", "policy"], ["lowwater", "policy", "--json"]] {
            assert!(Cli::try_parse_from(line).unwrap().global.json);
        }
    }

    #[test]
    fn an_error_does_not_repeat_a_book() {
        let arguments = ["lowwater", "report", "--from", &"x".repeat(100_000)].map(OsString::from);
        let error = explained(Cli::try_parse_from(&arguments).unwrap_err(), &arguments).to_string();
        assert!(
            error.len() < 500 && error.contains("write a day such as 2026-10-01"),
            "{error}"
        );
    }

    #[test]
    fn every_command_says_what_it_does() {
        for command in definition().get_subcommands() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(about.len() > 15, "{}: {about}", command.get_name());
            assert!(!about.ends_with('.'), "{}: {about}", command.get_name());
        }
    }
}
