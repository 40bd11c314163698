//! Lowwater: where GPU money goes, and a plan whose every saving was replayed.

mod amount;
mod cli;
mod config;
mod csv;
mod demo;
mod error;
mod misuse;
mod output;
mod plan_file;
mod progress;
mod reference;
mod registry;
mod screen;
mod sim;
mod time;
mod view;
mod web;
mod whole_file;

fn main() -> std::process::ExitCode {
    cli::main()
}
