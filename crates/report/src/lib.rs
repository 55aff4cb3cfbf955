//! Terminal text and JSON from findings.
