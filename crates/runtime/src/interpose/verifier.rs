//! Functions of verification tasks that have no meaning in a native run: values from outside, atomic sections. Under control the
//! schedule has the values, and sections are a lock of the model's. `VERIFIER_C` defines the functions themselves.

use super::mutex::{given_up, taken};
use crate::control::{Ending, Family, How, SECTION, calls};
use crate::thread::Mode;

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_choose(variants: u32) -> u64 {
    calls::choose(variants).unwrap_or_else(|| {
        crate::start::give_up(
            "the program asks for a value of __VERIFIER_nondet_*, and a native run has none",
        )
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_section(enter: i32) {
    if enter != 0 {
        if let Some(result) = calls::lock(Family::Mutex, SECTION, Mode::Exclusive, How::Block) {
            taken(SECTION, Mode::Exclusive, result);
        }
    } else if let Some(result) = calls::unlock(Family::Mutex, SECTION) {
        given_up(SECTION, result);
    }
}

/// The run does not count: an assumption of the program does not hold.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_assumption_failed() -> ! {
    calls::exit(Ending::Infeasible);
    crate::control::schedule::end("infeasible", "")
}
