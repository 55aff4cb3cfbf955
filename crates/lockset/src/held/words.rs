//! Locks that a program builds from an atomic word: spin locks, try-locks and elections by exchange or compare-exchange.
//!
//! A word counts as an exclusive lock if it is part of a global that starts with zero there, and every write that may touch it
//!
//! * leaves one there (an exchange, an `or` or a compare-exchange with the number), or
//! * puts zero there in an atomic step that releases, by a thread that must hold it.
//!
//! Who takes it by a step that acquires and finds zero holds it. Then at most one thread does: the word is zero only at first and after a holder
//! has freed it, and the step that finds zero leaves another value. Critical sections are ordered: the zero that was found is the
//! first one, and nobody held it before, or was stored by the holder before, and the store releases what the step acquires (no zero
//! comes from a read-modify-write that does not release). A step that finds zero without acquiring takes the word out of use.
//!
//! A word is zero or one, so what is read of it is zero if its lowest bit is (`atomic_flag_test_and_set` looks at no more).
//!
//! As with semaphores, whether the holder frees is seen in a solution that takes the word for a lock and rests on the thread's own path.
//! Words in the heap or on the stack are not looked at: their first value is stored by the program.

use super::Locks;
use super::effects::Taking;
use raddle_absint::accesses::{self, Objects};
use raddle_absint::calls::Calls;
use raddle_absint::terms::term_of;
use raddle_absint::values::starts_at_zero;
use raddle_base::IdVec;
use raddle_facts::{
    Guard, LocalLocks, LockFacts, LockMode, LockWord, ObjectKind, Offsets, PointsTo, Released, Values,
};
use raddle_ir::{FunctionId, Inst, Operand, Program, RmwOp, Ty};
use raddle_libmodel::LockFamily;
use std::collections::BTreeSet;

/// What an instruction does to a word that may be a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Holds it if the guard is true; it is one after.
    Take(Guard),
    /// It is one after.
    Set,
    /// It may be zero after, and what came before is released.
    Free,
}

/// All that is so but for who frees; and the functions that take or free one.
pub(super) fn candidates(
    program: &Program,
    calls: &Calls,
    values: &Values,
    points_to: &PointsTo,
) -> (BTreeSet<LockWord>, IdVec<FunctionId, bool>) {
    let mut uses: IdVec<FunctionId, bool> = program.functions.ids().map(|_| false).collect();
    let mut words = BTreeSet::new();
    let objects = Objects::new(points_to);
    let mut steps = Vec::new();
    for (id, function) in program.functions.iter() {
        for (at, block) in function.blocks.iter() {
            for inst in &block.insts {
                let Some((ptr, ty, step)) = step(values, id, inst) else { continue };
                if !values.is_reachable(id, at) || !matches!(step, Step::Take(_)) {
                    continue;
                }
                let bytes = u64::from(ty.access_bytes(program.data_model.pointer_bytes()));
                steps.push((objects.targets(points_to, id, ptr), bytes));
            }
        }
    }
    if steps.is_empty() {
        return (words, uses);
    }
    for (targets, bytes) in &steps {
        for (object, at) in targets.of(points_to) {
            let ObjectKind::Global(global) = points_to.objects[*object].kind else { continue };
            if at.is_exact() && starts_at_zero(program, global, at.anchor, *bytes) {
                words.insert(LockWord { object: *object, offset: at.anchor, bytes: *bytes });
            }
        }
    }
    for access in accesses::collect(program, calls, values, points_to) {
        let inst = &program.functions[access.function].blocks[access.block].insts[access.index];
        let understood = step(values, access.function, inst).is_some();
        words.retain(|word| {
            let here = Offsets::exact(word.offset);
            if !access.is_write() || !access.may_touch(points_to, word.object, here, word.bytes) {
                return true;
            }
            uses[access.function] = true;
            understood
                && access.targets(points_to).iter().all(|(object, at)| {
                    *object != word.object
                        || !at.may_overlap(access.bytes, here, word.bytes)
                        || (*at, access.bytes) == (here, word.bytes)
                })
        });
    }
    (words, uses)
}

impl Locks<'_> {
    /// An instruction that is no call; its results no longer name anything in the state.
    pub(super) fn atomic_step(&self, function: FunctionId, inst: &Inst, state: &mut LocalLocks) {
        let Some((ptr, _, step)) = step(self.values, function, inst) else { return };
        let places = self.places_of(function, ptr);
        let lock = self.term(function, ptr);
        match step {
            Step::Take(guard) if self.are_words(&places) => {
                let (mode, guard) = (LockMode::Exclusive, Some(guard));
                self.acquire(state, Taking { lock, mode, guard, counts: false, in_histories: false });
            }
            Step::Take(_) | Step::Set => {}
            Step::Free => {
                if self.may_be_word(&places) {
                    self.release(state, lock, &places, LockFamily::Custom);
                }
            }
        }
    }

    /// Those that may be freed by one who need not hold them.
    pub(super) fn violated_words(&self, facts: &LockFacts) -> BTreeSet<LockWord> {
        let mut violated = BTreeSet::new();
        if self.words.is_empty() {
            return violated;
        }
        for (id, function) in self.program.functions.iter() {
            if !self.relevant[id] {
                continue;
            }
            self.for_each_site(facts, id, |block, index, held| {
                let inst = &function.blocks[block].insts[index];
                let Some((ptr, _, Step::Free)) = step(self.values, id, inst) else { return };
                let lock = self.term(id, ptr);
                if !held.iter().any(|held| held.lock == lock) {
                    violated.extend(self.words_among(&self.places_of(id, ptr)));
                }
            });
        }
        violated
    }

    /// Whether an instruction reads a whole word: zero or one.
    pub(super) fn reads_bit(&self, function: FunctionId, inst: &Inst) -> bool {
        match inst {
            Inst::Rmw { ptr, .. } => {
                !self.words.is_empty() && self.are_words(&self.places_of(function, *ptr))
            }
            _ => false,
        }
    }

    fn are_words(&self, places: &Released) -> bool {
        let is_word = |(object, at): &(_, Offsets)| {
            at.is_exact() && self.words.iter().any(|word| (word.object, word.offset) == (*object, at.anchor))
        };
        matches!(places, Released::These(list) if !list.is_empty() && list.iter().all(is_word))
    }

    pub(super) fn may_be_word(&self, places: &Released) -> bool {
        self.words_among(places).next().is_some()
    }

    fn words_among(&self, places: &Released) -> impl Iterator<Item = LockWord> {
        self.words.iter().copied().filter(|word| {
            let here = Released::These(vec![(word.object, Offsets::exact(word.offset))]);
            self.overlap(places, &here)
        })
    }
}

/// The address, the type and what is done; `None` for what may leave zero, or breaks the order.
fn step(values: &Values, function: FunctionId, inst: &Inst) -> Option<(Operand, Ty, Step)> {
    let constant = |operand: Operand| term_of(values, function, operand).as_constant();
    let guard = |reg, zero| Guard { function, reg, zero };
    match inst {
        Inst::Rmw {
            dst,
            op: op @ (RmwOp::Xchg | RmwOp::Or),
            ty: ty @ Ty::Int(..=64),
            ptr,
            value,
            order,
            ..
        } => {
            let step = match constant(*value)? {
                1 => {
                    if order.acquires() {
                        Step::Take(guard(*dst, true))
                    } else {
                        Step::Set
                    }
                }
                0 if *op == RmwOp::Xchg && order.releases() => Step::Free,
                _ => return None,
            };
            Some((*ptr, *ty, step))
        }
        Inst::CmpXchg(x) => {
            let Ty::Int(..=64) = x.ty else { return None };
            let step = match constant(x.new)? {
                1 => {
                    let takes = constant(x.expected) == Some(0) && x.on_success.acquires();
                    if takes { Step::Take(guard(x.success, false)) } else { Step::Set }
                }
                0 if x.on_success.releases() => Step::Free,
                _ => return None,
            };
            Some((x.ptr, x.ty, step))
        }
        Inst::Store { ty: ty @ Ty::Int(..=64), value, ptr, atomic: Some(order), .. } => {
            (order.releases() && constant(*value)? == 0).then_some((*ptr, *ty, Step::Free))
        }
        _ => None,
    }
}
