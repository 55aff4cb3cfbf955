//! Semaphores that are used as locks.
//!
//! A semaphore counts as an exclusive lock if it is one object, initialised in one place that runs once, to 1, and every post on it is by a
//! thread that must hold it: that has waited for it and not posted since. Then at most one thread is between its wait and its post:
//! the count plus the number of holders is 1 at first, a wait takes one from the count and adds a holder, a post takes back both, and
//! nothing else changes either. Whether posts are by holders is seen in a solution that takes it for a lock; that solution rests on the
//! thread's own path only, so there is no circle. If one is not, the semaphore is no lock and the solution is computed anew.

use super::Locks;
use raddle_base::SiteId;
use raddle_facts::{LockFacts, ObjectId, ObjectKind, Released, Times};
use raddle_ir::{BlockId, CallArg, FunctionId};
use raddle_libmodel::{Effect, SemOp, SyncKind};
use std::collections::{BTreeMap, BTreeSet};

impl Locks<'_> {
    /// All that is so but for the posts.
    pub(super) fn semaphore_candidates(&self) -> BTreeSet<(ObjectId, i64)> {
        let mut inits: Vec<(Released, bool)> = Vec::new();
        for (caller, calls) in self.calls.from.iter() {
            for call in calls {
                let (_, args) = call.parts(self.program, caller);
                for effect in &call.effects {
                    if let Effect::SyncInit {
                        kind: SyncKind::Semaphore | SyncKind::KernelSemaphore,
                        object,
                        attribute,
                        ..
                    } = effect
                    {
                        let one =
                            attribute.is_some_and(|arg| self.is_one(caller, args.get(usize::from(arg.0))));
                        let once = self.block_times(caller, call.block) == Times::Once;
                        inits.push((self.argument_places(caller, args, *object), one && once));
                    }
                }
            }
        }
        let mut found: BTreeMap<(ObjectId, i64), usize> = BTreeMap::new();
        for (places, good) in &inits {
            if let Some(place) = single(places)
                && *good
                && self.is_single(place.0)
            {
                *found.entry(place).or_default() += 1;
            }
        }
        found
            .into_iter()
            .filter(|(place, count)| {
                let here = Released::These(vec![(place.0, raddle_facts::Offsets::exact(place.1))]);
                *count == 1 && inits.iter().filter(|(places, _)| self.overlap(places, &here)).count() == 1
            })
            .map(|(place, _)| place)
            .collect()
    }

    /// Those that some post touches without holding them.
    pub(super) fn violated_semaphores(&self, facts: &LockFacts) -> BTreeSet<(ObjectId, i64)> {
        let mut violated = BTreeSet::new();
        if self.semaphores.is_empty() {
            return violated;
        }
        for (caller, calls) in self.calls.from.iter() {
            let posts: BTreeMap<SiteId, (&[CallArg], u8)> = calls
                .iter()
                .flat_map(|call| {
                    let (_, args) = call.parts(self.program, caller);
                    call.effects.iter().filter_map(move |effect| match effect {
                        Effect::Sem(SemOp::Post { sem }, _) => Some((call.site, (args, sem.0))),
                        _ => None,
                    })
                })
                .collect();
            if posts.is_empty() {
                continue;
            }
            self.for_each_site(facts, caller, |block, index, held| {
                let site = self.program.functions[caller].blocks[block].site_of(index);
                let Some((args, position)) = posts.get(&site) else { return };
                let operand = args.get(usize::from(*position)).map(|arg| arg.value);
                let lock = operand.map(|operand| self.term(caller, operand));
                if lock.is_some_and(|lock| held.iter().any(|held| held.lock == lock)) {
                    return;
                }
                let places = operand.map_or(Released::Anything, |operand| self.places_of(caller, operand));
                violated.extend(self.semaphores_among(&places));
            });
        }
        violated
    }

    /// Whether the places are semaphores that count as locks, and nothing else.
    pub(super) fn are_semaphores(&self, places: &Released) -> bool {
        match places {
            Released::Anything => false,
            Released::These(list) => {
                !list.is_empty()
                    && list.iter().all(|(o, at)| at.is_exact() && self.semaphores.contains(&(*o, at.anchor)))
            }
        }
    }

    pub(super) fn may_be_semaphore(&self, places: &Released) -> bool {
        self.semaphores_among(places).next().is_some()
    }

    fn semaphores_among(&self, places: &Released) -> impl Iterator<Item = (ObjectId, i64)> {
        self.semaphores.iter().copied().filter(|(object, offset)| {
            let here = Released::These(vec![(*object, raddle_facts::Offsets::exact(*offset))]);
            self.overlap(places, &here)
        })
    }

    fn is_one(&self, function: FunctionId, arg: Option<&CallArg>) -> bool {
        arg.is_some_and(|arg| self.term(function, arg.value).as_constant() == Some(1))
    }

    fn block_times(&self, function: FunctionId, block: BlockId) -> Times {
        self.threads.times[function].get(block.0 as usize).copied().unwrap_or(Times::Many)
    }

    /// Whether the abstract object stands for one object only.
    fn is_single(&self, object: ObjectId) -> bool {
        match self.points_to.objects[object].kind {
            ObjectKind::Global(_) => true,
            ObjectKind::Stack(site) | ObjectKind::Heap(site) => {
                let function = self.program.sites[site].function;
                let blocks = self.program.functions[function].blocks.as_slice();
                let after = blocks.partition_point(|block| block.first_site <= site);
                after > 0 && self.block_times(function, BlockId(after as u32 - 1)) == Times::Once
            }
            _ => false,
        }
    }
}

fn single(places: &Released) -> Option<(ObjectId, i64)> {
    match places {
        Released::These(list) => match list[..] {
            [(object, at)] if at.is_exact() => Some((object, at.anchor)),
            _ => None,
        },
        Released::Anything => None,
    }
}
