//! Replays witnesses; trusts no engine.
