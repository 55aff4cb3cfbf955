//! What the tool tells the runtime by the environment: `RADDLE_OUT` (file of findings), `RADDLE_TRACE` (file for a trace, with its header),
//! `RADDLE_OPTIONS` (key=value, commas).

use crate::observe::{self, Mode};
use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

#[derive(Default)]
pub struct Options {
    /// Where findings go; empty: to people, on stderr.
    pub out: CString,
    /// Where the trace goes; empty: nothing is recorded.
    pub trace: CString,
    /// Report every race, not once per pair of sites.
    pub every: bool,
    /// The file of the schedule that a replay enforces.
    pub schedule: String,
    /// The descriptor of the channel to the tool that explores.
    pub channel: i32,
    /// Whether a wait on a condition variable may end for no reason.
    pub no_spurious: bool,
    /// Collect after so many new sets (for tests; 0: when it is worth it).
    pub collect: u32,
    /// Clocks begin here (for tests).
    pub clock: u32,
}

static OPTIONS: OnceLock<Options> = OnceLock::new();

/// Reads the environment as the program gets it: this early, `getenv` knows none.
pub unsafe fn read(mut environment: *const *const c_char) {
    let mut options = Options::default();
    while !(*environment).is_null() {
        let entry = CStr::from_ptr(*environment);
        if let Some(path) = entry.to_bytes().strip_prefix(b"RADDLE_OUT=") {
            options.out = CString::new(path).unwrap_or_default();
        } else if let Some(path) = entry.to_bytes().strip_prefix(b"RADDLE_TRACE=") {
            options.trace = CString::new(path).unwrap_or_default();
        } else if let Some(text) = entry.to_bytes().strip_prefix(b"RADDLE_OPTIONS=") {
            options.parse(&String::from_utf8_lossy(text));
        }
        environment = environment.add(1);
    }
    let _ = OPTIONS.set(options);
}

/// Programs that this one starts have none of it.
pub unsafe fn hide(mut environment: *const *const c_char) {
    while !(*environment).is_null() {
        for name in [c"RADDLE_OUT=", c"RADDLE_OPTIONS="] {
            let entry = (*environment).cast_mut();
            if libc::strncmp(entry, name.as_ptr(), name.count_bytes()) == 0 {
                *entry.add(name.count_bytes()) = 0;
            }
        }
        environment = environment.add(1);
    }
}

pub fn get() -> &'static Options {
    OPTIONS.get_or_init(Options::default)
}

impl Options {
    fn parse(&mut self, text: &str) {
        // The schedule comes last: its path may have commas.
        let (text, schedule) = text.split_once("schedule=").unwrap_or((text, ""));
        self.schedule = schedule.to_owned();
        for (key, value) in text.split(',').filter_map(|part| part.split_once('=')) {
            match key {
                "mode" => observe::set_mode(match value {
                    "record" => Mode::Record,
                    "replay" => Mode::Replay,
                    "explore" => Mode::Explore,
                    _ => Mode::Run,
                }),
                "every" => self.every = value == "1",
                "channel" => self.channel = value.parse().unwrap_or(-1),
                "spurious" => self.no_spurious = value == "0",
                "collect" => self.collect = value.parse().unwrap_or(0),
                "clock" => self.clock = value.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}
