//! The native commands: what `raddle-native` needs from the engines.

use crate::DriverError;
use raddle_native::cc::{Built, Parts};
use std::ffi::OsString;

pub use raddle_native::cc::Driver;

/// `raddle cc` and `raddle c++`: the exit status is clang's own.
pub fn cc(driver: Driver, arguments: Vec<OsString>) -> Result<u8, DriverError> {
    Ok(raddle_native::cc::cc(driver, arguments, &build)?)
}

fn build(_: &Parts) -> Result<Option<Built>, String> {
    Ok(None)
}
