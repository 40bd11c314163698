//! How far a long command is, and whether to stop: a bar where somebody watches, and Ctrl-C everywhere.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lowwater_store::error::StoreError;
use lowwater_store::load::Progress;

use crate::config::Settings;
use crate::error::AppError;

/// Set by Ctrl-C; a second one ends the program at once.
static STOP: AtomicBool = AtomicBool::new(false);

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
    pub fn step(&self, what: &str) -> Result<(), AppError> {
        if self.stop() {
            return Err(StoreError::Stopped.into());
        }
        self.bar.set_length(0);
        self.bar.set_message(what.to_owned());
        self.bar.enable_steady_tick(Duration::from_millis(200));
        Ok(())
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {msg:28!} {bar:30} {binary_bytes:>11} of {binary_total_bytes}  {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress for Watch {
    fn at(&self, what: &str, done: u64, total: u64) {
        if self.bar.message() != what {
            self.bar.set_message(what.to_owned());
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
