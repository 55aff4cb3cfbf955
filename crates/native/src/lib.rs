//! The real program under Raddle: [`cc`] stands in for clang in any build and keeps the program's bitcode in its output.
//!
//! Why the whole program is instrumented at link time, and how, is decision 16.

#![forbid(unsafe_code)]

pub mod cc;
mod error;

pub use error::NativeError;
