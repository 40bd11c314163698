//! How far a long command is, and whether to stop: a bar where somebody watches, and Ctrl-C everywhere.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lowwater_store::load::Progress;

use crate::config::Settings;

/// Set by Ctrl-C; a second one ends the program at once.
static STOP: AtomicBool = AtomicBool::new(false);

/// Characters of the name of a step.
const MESSAGE: usize = 36;

/// Exit code after Ctrl-C, as shells expect.
const STOPPED: i32 = 130;

/// Shows progress and listens for Ctrl-C.
pub struct Watch {
    bar: ProgressBar,
}

impl Watch {
    /// Begins to listen; the bar comes with the first report.
    pub fn new(settings: &Settings) -> Self {
        // Fails only where a handler is there already, which then is ours.
        let _ = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::Relaxed) {
                std::process::exit(STOPPED);
            }
        });
        let target = if settings.look.progress {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        bar.set_style(style());
        Self { bar }
    }

    /// Begins a step whose length is not known.
    pub fn step(&self, what: &str) {
        self.bar.set_length(0);
        self.bar.set_message(fitted(what));
        self.bar.enable_steady_tick(Duration::from_millis(200));
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {msg:36} {bar:30} {percent:>3} %  {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The end of a step's name: of a long path that is the file.
fn fitted(what: &str) -> String {
    let length = what.chars().count();
    if length <= MESSAGE {
        return what.to_owned();
    }
    let end: String = what.chars().skip(length - MESSAGE + 1).collect();
    format!("…{end}")
}

impl Progress for Watch {
    fn at(&self, what: &str, done: u64, total: u64) {
        let message = fitted(what);
        if self.bar.message() != message {
            self.bar.set_message(message);
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    fn stop(&self) -> bool {
        STOP.load(Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_path_the_file_is_shown() {
        assert_eq!(fitted("looking at files"), "looking at files");
        let path = "lowwater-data/demo/bills/aws/2026-10.parquet";
        assert_eq!(fitted(path), "…data/demo/bills/aws/2026-10.parquet");
        assert_eq!(fitted(path).chars().count(), MESSAGE);
    }
}
