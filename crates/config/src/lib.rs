//! `raddle.toml`: the user's own lock functions, functions to ignore, functions that clients call.
//!
//! ```toml
//! [[lock]]
//! acquire = "my_lock"       # these functions act on what argument 0 points to
//! release = "my_unlock"
//! try = "my_trylock"        # optional: returns at once, with or without the lock
//! try_success = "non-zero"  # what `try` returns when it got the lock: "non-zero" (without this key) or "zero"
//! argument = 0              # optional, 0 without
//! mode = "exclusive"        # or "shared"; exclusive without
//! ```
//!
//! ```toml
//! ignore = ["log_message"]   # functions without a body that do nothing of interest and return 0
//! entries = ["open", "read"] # functions that any number of clients may call at once, for code without `main`
//! extern = "pure"            # all functions without body or model do nothing and return 0; "open" without this key
//! ```
//!
//! ```toml
//! [[suppress]]               # races that `raddle run` does not tell: all keys that are given must fit
//! function = "log_*"         # one of the two accesses is in it, or below it
//! file = "vendor/*.c"        # one of the two accesses is there
//! variable = "stats.*"       # as the report names it
//! ```
//!
//! Unknown keys are errors: a misspelt key must not silently change what a verdict rests on.

mod file;
mod suggest;

pub use file::ConfigError;
pub use raddle_runtime::suppress::Suppression;

use std::path::Path;

/// The whole file; everything is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    pub locks: Vec<LockFunctions>,
    /// Functions that are taken to do nothing and return 0 where they have no body (assumption A-IGNORE).
    pub ignore: Vec<String>,
    /// Functions that any number of clients may call at once.
    pub entries: Vec<String>,
    /// What functions without body or model may do.
    pub external: External,
    /// Races that are known and not told.
    pub suppressions: Vec<Suppression>,
}

/// What functions without body or model may do, those named in `ignore` aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum External {
    /// Use what they are given and what was published.
    #[default]
    Open,
    /// Nothing, and return 0: at the user's request (assumption A-EXTERN).
    Pure,
}

impl External {
    pub fn name(self) -> &'static str {
        match self {
            External::Open => "open",
            External::Pure => "pure",
        }
    }

    pub fn named(name: &str) -> Option<External> {
        [External::Open, External::Pure].into_iter().find(|external| external.name() == name)
    }
}

/// `[[lock]]`: functions that acquire and release what an argument points to. At least `acquire` or `release` is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockFunctions {
    pub acquire: Option<String>,
    pub release: Option<String>,
    /// Returns at once; `try_success` says what when it got the lock.
    pub try_acquire: Option<String>,
    pub try_success: TrySuccess,
    pub argument: u8,
    pub mode: LockMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    Exclusive,
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrySuccess {
    Zero,
    NonZero,
}

impl Config {
    pub fn parse(text: &str) -> Result<Config, ConfigError> {
        file::parse(text)
    }

    pub fn load(path: impl AsRef<Path>) -> Result<Config, ConfigError> {
        let path = path.as_ref();
        let bytes =
            std::fs::read(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        let text = String::from_utf8(bytes).map_err(|_| ConfigError::NotText { path: path.to_owned() })?;
        Config::parse(&text).map_err(|error| error.in_file(path))
    }
}
