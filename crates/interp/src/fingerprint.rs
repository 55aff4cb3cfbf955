//! A hash of the state that does not depend on the order of allocations or the numbering of threads.

use crate::machine::Interp;
use crate::stutter;

pub(crate) fn of(interp: &mut Interp) -> u128 {
    let state = &interp.world.state;
    let version = stutter::version(interp.memory.version, interp.world.sync.version, state);
    u128::from(version) << 64 | u128::from(state.locals)
}
