//! `raddle.toml`: the user's own lock functions, entries, suppressions and budgets.
