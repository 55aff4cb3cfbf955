//! Words that count as locks: zero at first, then one or zero, and never made zero but by an atomic step that releases, of a thread that
//! holds the word.
//!
//! Who finds zero in an atomic step that acquires and leaves one holds the word until it frees it. So two threads never
//! hold it at once, and a zero that is found is the first value, or was released by the holder before.

use super::super::Refusal;
use super::super::accesses::Access;
use super::super::code::{At, Code};
use super::super::conditions::are_words;
use super::super::places::Named;
use super::step::Taking;
use super::{Locks, RULE, State};
use raddle_base::SiteId;
use raddle_facts::{Guard, LockMode, LockWord, ObjectKind, Offsets, Released};
use raddle_ir::{FunctionId, Inst, Operand, RmwOp, Ty};
use raddle_libmodel::LockFamily;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Leaves one; the thread holds the word if the guard, where there is one, is true.
    Sets(Option<Guard>),
    /// May leave zero, and releases.
    Frees,
}

impl Locks<'_, '_> {
    pub(super) fn words(&self, accesses: &[Access<'_>]) -> Result<(), Refusal> {
        let code = self.code;
        for word in &code.facts.locks.words {
            if !starts_at_zero(code, *word) {
                return code.refuse(
                    SiteId::NONE,
                    RULE,
                    "a word that counts as a lock does not start with zero",
                );
            }
            let here = Offsets::exact(word.offset);
            let touching = |a: &&Access<'_>| a.is_write() && a.may_touch(word.object, here, word.bytes);
            for access in accesses.iter().filter(touching) {
                self.keeps(*word, access)?;
            }
        }
        Ok(())
    }

    fn keeps(&self, word: LockWord, access: &Access<'_>) -> Result<(), Refusal> {
        let (code, at) = (self.code, access.at);
        let inst = &code.program.functions[at.function].blocks[at.block].insts[at.index];
        let here = Offsets::exact(word.offset);
        let whole = access.targets.iter().all(|(object, offsets)| {
            *object != word.object
                || !offsets.may_overlap(access.bytes, here, word.bytes)
                || (*offsets, access.bytes) == (here, word.bytes)
        });
        let kept = match does(code, at.function, inst) {
            Some((_, Does::Sets(_))) => true,
            Some((ptr, Does::Frees)) => self.holds(at, ptr),
            None => false,
        };
        if kept && whole {
            return Ok(());
        }
        code.refuse(access.site, RULE, "a word that counts as a lock is written by one who need not hold it")
    }

    /// Whether the thread must hold the lock at the address, or never comes here.
    fn holds(&self, at: At, ptr: Operand) -> bool {
        let Some(term) = self.code.term(at.function, ptr, Ty::Ptr) else { return false };
        self.full_at(at).is_none_or(|state| state.held.get(&term).is_some_and(|held| held.guard.is_none()))
    }

    pub(super) fn word_step(&self, function: FunctionId, inst: &Inst, state: &mut State) {
        if self.code.facts.locks.words.is_empty() {
            return;
        }
        let Some((ptr, does)) = does(self.code, function, inst) else { return };
        let set = self.code.pointees(function, ptr);
        let term = self.code.term(function, ptr, Ty::Ptr);
        let places = match term {
            Some(term) if set.is_empty() => self.code.places(term),
            _ => Released::These(set),
        };
        match (does, term) {
            (Does::Sets(guard @ Some(_)), Some(lock)) if matches!(&places, Released::These(list) if are_words(self.code, list)) =>
            {
                let mode = LockMode::Exclusive;
                self.acquire(state, Taking { lock, mode, guard, counts: false, in_histories: false });
            }
            (Does::Sets(_), _) => {}
            (Does::Frees, _) if !self.may_be_word(&places) => {}
            (Does::Frees, Some(term)) => self.release(state, &Named { term, places }, LockFamily::Custom),
            (Does::Frees, None) => state.forget(),
        }
    }

    pub(super) fn may_be_word(&self, places: &Released) -> bool {
        self.code.facts.locks.words.iter().any(|word| {
            let here = Released::These(vec![(word.object, Offsets::exact(word.offset))]);
            self.code.may_be_same(places, &here)
        })
    }
}

/// What an instruction does to a word at its address; `None` for all that a word which is a lock does not stand.
fn does(code: &Code<'_>, function: FunctionId, inst: &Inst) -> Option<(Operand, Does)> {
    let number = |operand, ty| code.term(function, operand, ty).and_then(|term| term.as_constant());
    match inst {
        Inst::Store { ty: ty @ Ty::Int(..=64), value, ptr, atomic: Some(order), .. } => {
            (number(*value, *ty)? == 0 && order.releases()).then_some((*ptr, Does::Frees))
        }
        Inst::Rmw { dst, op, ty: ty @ Ty::Int(..=64), ptr, value, order, .. } => {
            let does = match (op, number(*value, *ty)?) {
                (RmwOp::Xchg, 0) if order.releases() => Does::Frees,
                (RmwOp::Xchg | RmwOp::Or, 1) => {
                    Does::Sets(order.acquires().then_some(Guard { function, reg: *dst, zero: true }))
                }
                _ => return None,
            };
            Some((*ptr, does))
        }
        Inst::CmpXchg(x) if matches!(x.ty, Ty::Int(..=64)) => {
            let does = match number(x.new, x.ty)? {
                0 if x.on_success.releases() => Does::Frees,
                1 => {
                    let takes = number(x.expected, x.ty) == Some(0) && x.on_success.acquires();
                    Does::Sets(takes.then_some(Guard { function, reg: x.success, zero: false }))
                }
                _ => return None,
            };
            Some((x.ptr, does))
        }
        _ => None,
    }
}

fn starts_at_zero(code: &Code<'_>, word: LockWord) -> bool {
    match code.kind(word.object) {
        ObjectKind::Global(global) => super::super::initial::is_zero(code, global, word.offset, word.bytes),
        _ => false,
    }
}
