//! How a schedule was followed, in the programmer's words.

use crate::run::lines::{Replay, Stop, Waiting};
use raddle_instrument::sites::{Kind, Sites};

/// From numbers to the programmer's places.
pub(crate) struct Words<'a> {
    pub(crate) sites: &'a Sites,
}

impl Words<'_> {
    /// Which step was not followed, and why.
    pub(crate) fn divergence(&self, replay: &Replay) -> String {
        let Replay { step, steps, thread, expected, arrived, why, .. } = replay;
        let expected = expected.as_ref().map(|stop| self.stop(stop)).unwrap_or_default();
        let arrived = match arrived {
            Some(arrived) => format!("; it stands before {}", self.stop(arrived)),
            None => String::new(),
        };
        let step = step + 1;
        format!("step {step} of {steps} is T{thread}: {expected}; {why}{arrived}")
    }

    pub(crate) fn waiting(&self, waiting: &Waiting) -> String {
        let stop = Stop { kind: waiting.kind.clone(), site: waiting.site };
        format!("T{} before {}", waiting.thread, self.stop(&stop))
    }

    /// `pthread_mutex_lock of q->m at q.c:12:3 in push`
    pub(crate) fn stop(&self, stop: &Stop) -> String {
        let known = !matches!(stop.kind.as_str(), "begin" | "end" | "exit" | "once-end");
        let frames = if known { self.sites.frames(stop.site) } else { Vec::new() };
        let Some(site) = frames.first() else { return format!("its {}", stop.kind) };
        let what = match (site.kind, site.expression, site.source) {
            (Kind::Call, name, "") if !name.is_empty() => name.to_owned(),
            (Kind::Call, name, object) if !name.is_empty() => format!("{name} of {object}"),
            (_, "", _) => stop.kind.clone(),
            (_, expression, _) => format!("{} of {expression}", stop.kind),
        };
        format!("{what} at {}:{}:{} in {}", site.file, site.line, site.column, site.function)
    }
}
