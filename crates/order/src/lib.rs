//! Happens-before.
