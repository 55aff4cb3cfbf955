//! `raddle.toml`: the user's own lock functions, entries, suppressions and budgets.

/// The whole file; everything is optional.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    pub locks: Vec<LockFunctions>,
}

/// `[[lock]]`: functions that acquire and release what an argument points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockFunctions {
    pub acquire: String,
    pub release: String,
    pub try_acquire: Option<String>,
    pub argument: u8,
    pub mode: LockMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    Exclusive,
    Shared,
}
