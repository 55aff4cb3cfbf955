//! One line on standard error while a search or a prediction runs, only on a terminal.

use raddle_driver::{Progress, Stage};
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(200);

pub(crate) struct Line {
    shown: bool,
    last: Mutex<Option<Instant>>,
    began: Instant,
}

impl Line {
    pub(crate) fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        Self { shown, last: Mutex::new(None), began: Instant::now() }
    }

    pub(crate) fn show(&self, progress: &Progress) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= PERIOD);
        if !self.shown || !due {
            return;
        }
        *last = Some(Instant::now());
        let seconds = self.began.elapsed().as_secs_f64();
        let done = progress
            .explored
            .map_or_else(String::new, |done| format!(", about {} % done", (done / 10).min(99)));
        let _ = write!(
            std::io::stderr(),
            "\r\x1b[Kexploring: {} executions, {:.0} per second, depth {}, {} races, pass {}, {seconds:.0} s{done}",
            progress.executions,
            progress.executions as f64 / seconds.max(0.001),
            progress.depth,
            progress.races,
            progress.pass,
        );
    }

    /// Of `raddle predict`. Stages are shown at once, candidates from time to time.
    pub(crate) fn stage(&self, stage: Stage) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_step = matches!(stage, Stage::Confirming { .. });
        let due = !is_step || last.is_none_or(|last| last.elapsed() >= PERIOD);
        if !self.shown || !due {
            return;
        }
        *last = Some(Instant::now());
        let text = match stage {
            // The program has the terminal.
            Stage::Recording => return,
            Stage::Reading => "reading the trace".to_owned(),
            Stage::Predicting { events } => format!("predicting from {events} events"),
            Stage::Confirming { tried, candidates, confirmed } => {
                let filled = (20 * tried).checked_div(candidates).unwrap_or(20);
                let bar: String = (0..20).map(|at| if at < filled { '#' } else { '.' }).collect();
                format!("confirming [{bar}] {tried} of {candidates} candidates, {confirmed} errors")
            }
        };
        let seconds = self.began.elapsed().as_secs();
        let _ = write!(std::io::stderr(), "\r\x1b[K{text}, {seconds} s");
    }

    pub(crate) fn clear(&self) {
        if self.last.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
