//! One line on standard error while a search runs, only on a terminal.

use raddle_driver::Progress;
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(200);

pub(crate) struct Line {
    shown: bool,
    last: Cell<Option<Instant>>,
    began: Instant,
}

impl Line {
    pub(crate) fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        Self { shown, last: Cell::new(None), began: Instant::now() }
    }

    pub(crate) fn show(&self, progress: &Progress) {
        let due = self.last.get().is_none_or(|last| last.elapsed() >= PERIOD);
        if !self.shown || !due {
            return;
        }
        self.last.set(Some(Instant::now()));
        let _ = write!(
            std::io::stderr(),
            "\r\x1b[Kexploring: {} executions, {} races, pass {}, {:.0} s",
            progress.executions,
            progress.races,
            progress.pass,
            self.began.elapsed().as_secs_f64()
        );
    }

    pub(crate) fn clear(&self) {
        if self.last.get().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
