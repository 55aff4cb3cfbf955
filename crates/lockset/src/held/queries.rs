//! Questions of other modules: which instructions wait for a lock, what is called, what may be released.

use super::effects::fact_mode;
use super::{Locks, places};
use raddle_absint::calls::Call;
use raddle_base::SiteId;
use raddle_facts::{LocalLocks, LockFacts, LockMode, ObjectId, Offsets, Released, Term};
use raddle_ir::{BlockId, FunctionId};
use raddle_libmodel::{CondOp, Effect, How};

/// An instruction may wait for this lock without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acquisition {
    pub lock: Term,
    pub mode: LockMode,
}

impl Locks<'_> {
    /// Whether the function itself waits for locks.
    pub fn acquires(&self, function: FunctionId) -> bool {
        self.calls.from[function]
            .iter()
            .any(|call| call.effects.iter().any(|effect| waiting(effect).is_some()))
    }

    /// The locks that an instruction waits for; the mutex that a condition wait takes back is one.
    pub fn blocks_on(&self, function: FunctionId, block: BlockId, index: usize) -> Vec<Acquisition> {
        let site = self.program.functions[function].blocks[block].site_of(index);
        let Some(call) = self.calls.at(function, site) else { return Vec::new() };
        let (_, args) = call.parts(self.program, function);
        call.effects
            .iter()
            .filter_map(waiting)
            .filter_map(|(arg, mode)| {
                let operand = args.get(usize::from(arg))?.value;
                Some(Acquisition { lock: self.term(function, operand), mode })
            })
            .collect()
    }

    /// The call at a site, with its targets.
    pub fn call_at(&self, function: FunctionId, site: SiteId) -> Option<&Call> {
        self.calls.at(function, site)
    }

    /// Whether a call can run functions that are not known.
    pub fn is_unresolved(&self, site: SiteId) -> bool {
        self.unresolved.contains(&site)
    }

    /// Whether activations of the function can be inside one another.
    pub fn is_recursive(&self, function: FunctionId) -> bool {
        self.calls.recursive[function]
    }

    pub(crate) fn may_release(&self, lock: Term, released: &Released) -> bool {
        self.may_be(lock, released, None)
    }

    pub(crate) fn add_released(&self, to: &mut Released, more: &Released) {
        places::add(to, more);
    }

    /// The state at the start of a block, relative to the function's entry.
    pub(crate) fn start_of(&self, facts: &LockFacts, function: FunctionId, block: BlockId) -> LocalLocks {
        facts.functions[function].blocks.get(block.0 as usize).cloned().unwrap_or_default()
    }

    /// What a lock may be, where something is known.
    pub fn places_list(&self, lock: Term) -> Option<Vec<(ObjectId, Offsets)>> {
        match self.places(lock) {
            Released::These(list) => Some(list),
            Released::Anything => None,
        }
    }
}

fn waiting(effect: &Effect) -> Option<(u8, LockMode)> {
    match *effect {
        Effect::Lock { lock, mode, how: How::Block, .. } => Some((lock.0, fact_mode(mode))),
        Effect::Cond(CondOp::Wait { mutex, .. }, _) => Some((mutex.0, LockMode::Exclusive)),
        _ => None,
    }
}
