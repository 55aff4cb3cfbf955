//! From the units of a link to the object with checks in it, and the run-time library that goes with it.

use super::{Advice, Prune};
use crate::NativeError;
use raddle_frontend::embedded::{Level, Unit};
use raddle_instrument::{Built, Keep, Options, Output};
use raddle_ir::Program;

/// The archive of the run-time library, built with this crate.
pub(super) const RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_runtime.a"));

/// The part of it that is compiled into the program, as bitcode.
pub(super) const HOT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hot.bc"));
const HOT_SHARED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hot-shared.bc"));

pub(super) struct Instrumented {
    pub(super) object: Vec<u8>,
    /// The linked units as they were, for other engines.
    pub(super) bitcode: Vec<u8>,
    pub(super) sites: Vec<u8>,
    pub(super) level: Level,
    pub(super) output: Output,
}

/// `too_large` is called when the analysis was left at a limit; if it comes back, everything is checked.
pub(super) fn build(
    units: &[Unit],
    output: Output,
    prune: Prune,
    advice: &dyn Advice,
    too_large: &dyn Fn(),
) -> Result<Instrumented, NativeError> {
    let level = units.iter().map(|unit| unit.level).max().unwrap_or(Level::O0);
    let options = Options {
        output,
        level: Some(level),
        hot: Some(match output {
            Output::Executable => HOT,
            Output::SharedLibrary => HOT_SHARED,
        }),
        wrapped: raddle_runtime::WRAPPED,
        own_locks: advice.own_locks(),
        ..Options::default()
    };
    let keep = |program: &Program| {
        advice.keep(program, prune).unwrap_or_else(|| {
            too_large();
            Keep::All
        })
    };
    let Built { object, bitcode, sites, warnings, .. } = raddle_instrument::build(units, &options, &keep)?;
    for warning in warnings {
        eprintln!("raddle cc: {warning}");
    }
    Ok(Instrumented { object, bitcode, sites, level, output })
}
