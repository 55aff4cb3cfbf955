//! Semaphores that count as locks: single objects, initialised at one place that runs once, to 1, and posted only while held.

use super::super::Refusal;
use super::super::code::{At, Code};
use super::{Locks, RULE};
use raddle_base::{Id, SiteId};
use raddle_facts::{ObjectId, ObjectKind, Offsets, Released, Times};
use raddle_ir::{BlockId, FunctionId};
use raddle_libmodel::{Effect, SemOp, SyncKind};

impl Locks<'_, '_> {
    pub(super) fn semaphores(&self) -> Result<(), Refusal> {
        let code = self.code;
        for (object, offset) in &code.facts.locks.semaphores {
            if !is_single(code, *object) || self.initialisations(*object, *offset) != Some(1) {
                return code.refuse(
                    SiteId::NONE,
                    RULE,
                    "a semaphore that counts as a lock is not made once with 1",
                );
            }
        }
        if code.facts.locks.semaphores.is_empty() {
            return Ok(());
        }
        for (function, calls) in code.calls.from.iter() {
            for call in calls.iter().filter(|call| self.posts(function, call)) {
                self.is_holder(function, call.block, call.index)?;
            }
        }
        Ok(())
    }

    /// How many calls may initialise it; `None` if one of them does not do it once, to 1, and exactly there.
    fn initialisations(&self, object: ObjectId, offset: i64) -> Option<usize> {
        let code = self.code;
        let here = Released::These(vec![(object, Offsets::exact(offset))]);
        let mut count = 0;
        for (function, calls) in code.calls.from.iter() {
            for call in calls {
                let (_, args) = call.parts(code, function);
                for (_, effect) in &call.effects {
                    let Effect::SyncInit {
                        kind: SyncKind::Semaphore | SyncKind::KernelSemaphore,
                        object,
                        attribute,
                        ..
                    } = effect
                    else {
                        continue;
                    };
                    let named = code.named(function, args, *object)?;
                    if !code.may_be_same(&named.places, &here) {
                        continue;
                    }
                    let value = args.get(usize::from((*attribute)?.0))?;
                    let one = code.term(function, value.value, value.ty)?.as_constant() == Some(1);
                    let once = code.facts.threads.times[function][call.block.index()] == Times::Once;
                    if !one || !once || named.places != here || call.effects.len() != 1 {
                        return None;
                    }
                    count += 1;
                }
            }
        }
        Some(count)
    }

    fn posts(&self, function: FunctionId, call: &super::super::calls::Call) -> bool {
        let (_, args) = call.parts(self.code, function);
        call.effects.iter().any(|(_, effect)| match effect {
            Effect::Sem(SemOp::Post { sem }, _) => {
                self.code.named(function, args, *sem).is_none_or(|named| self.may_be_semaphore(&named.places))
            }
            _ => false,
        })
    }

    fn is_holder(&self, function: FunctionId, block: BlockId, index: usize) -> Result<(), Refusal> {
        let code = self.code;
        let at = At { function, block, index };
        let Some(full) = self.full_at(at) else { return Ok(()) };
        let site = code.site(at);
        let Some(call) = code.calls.at(function, site) else { return Ok(()) };
        let (_, args) = call.parts(code, function);
        let held = call.effects.iter().all(|(_, effect)| match effect {
            Effect::Sem(SemOp::Post { sem }, _) => code
                .named(function, args, *sem)
                .and_then(|named| full.held.get(&named.term).cloned())
                .is_some_and(|held| held.guard.is_none()),
            _ => false,
        });
        if held {
            Ok(())
        } else {
            code.refuse(site, RULE, "a semaphore that counts as a lock is posted by one who need not hold it")
        }
    }

    /// Whether the places are semaphores that count as locks, and nothing else.
    pub(super) fn are_semaphores(&self, places: &Released) -> bool {
        let all = &self.code.facts.locks.semaphores;
        match places {
            Released::Anything => false,
            Released::These(list) => {
                !list.is_empty()
                    && list.iter().all(|(object, at)| at.is_exact() && all.contains(&(*object, at.low)))
            }
        }
    }

    pub(super) fn may_be_semaphore(&self, places: &Released) -> bool {
        self.code.facts.locks.semaphores.iter().any(|(object, offset)| {
            self.code.may_be_same(places, &Released::These(vec![(*object, Offsets::exact(*offset))]))
        })
    }
}

/// Whether the abstract object stands for one object only.
fn is_single(code: &Code<'_>, object: ObjectId) -> bool {
    match code.kind(object) {
        ObjectKind::Global(_) => true,
        ObjectKind::Stack(site) | ObjectKind::Heap(site) => {
            let Some(place) = code.program.sites.get(site) else { return false };
            let blocks = code.program.functions[place.function].blocks.as_slice();
            let after = blocks.partition_point(|block| block.first_site <= site);
            after > 0 && code.facts.threads.times[place.function].get(after - 1) == Some(&Times::Once)
        }
        _ => false,
    }
}
