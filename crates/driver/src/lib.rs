//! Which engine when, budgets, merging, calling certify.
