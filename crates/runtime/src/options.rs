//! What the environment tells the runtime: `RADDLE_OUT` (where a tool wants findings), `RADDLE_TRACE` (file for a trace, with its header),
//! `RADDLE_OPTIONS` (key=value, separated by colons, commas or spaces).
//!
//! Of `RADDLE_OPTIONS`, these are for people who run the program without `raddle run`; the others are for tools and tests.
//!
//! | key | value |
//! |---|---|
//! | `exitcode` | how the process ends when races were found; 66 unless given, 0 for its own status |
//! | `log_path` | the file to which reports are appended; standard error unless given |
//! | `format` | `text`, or `json`: one object per race, each on a line |
//! | `suppressions` | a `raddle.toml`, of which the tables `[[suppress]]` are read |
//! | `halt_on_error` | `1`: the process ends at the first race |

use crate::observe::{self, Mode};
use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

#[derive(Default)]
pub struct Options {
    /// Where findings go; empty: to people, on stderr.
    pub out: CString,
    /// Where the trace goes; empty: nothing is recorded.
    pub trace: CString,
    /// How the process ends when races were found and nobody but its user is told; 0: as it would.
    pub exit_code: i32,
    /// Where reports for people go; empty: standard error.
    pub log: CString,
    pub format: Format,
    /// The file with races that are not reported.
    pub suppressions: String,
    /// End at the first race.
    pub halt: bool,
    /// What was not understood, for a message.
    pub unknown: Vec<String>,
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

/// Of reports for people.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    #[default]
    Text,
    Json,
}

/// As ThreadSanitizer does it.
const EXIT_CODE: i32 = 66;

static OPTIONS: OnceLock<Options> = OnceLock::new();

/// Reads the environment as the program gets it: this early, `getenv` knows none.
pub unsafe fn read(mut environment: *const *const c_char) {
    let mut options = Options { exit_code: EXIT_CODE, ..Options::default() };
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
        for name in [c"RADDLE_OUT=", c"RADDLE_TRACE=", c"RADDLE_OPTIONS="] {
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
        for part in text.split([',', ':', ' ']).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match key {
                "exitcode" if value.parse::<u8>().is_ok() => {
                    self.exit_code = value.parse().unwrap_or(EXIT_CODE)
                }
                "log_path" => self.log = CString::new(value).unwrap_or_default(),
                "format" if value == "text" => self.format = Format::Text,
                "format" if value == "json" => self.format = Format::Json,
                "suppressions" => self.suppressions = value.to_owned(),
                "halt_on_error" => self.halt = value == "1",
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
                _ => self.unknown.push(part.to_owned()),
            }
        }
    }
}
