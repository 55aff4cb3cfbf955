//! Locks across calls, in the words of both sides.
//!
//! Down: a lock that the callee is said to be entered with has a name in the caller: the argument in the place of a parameter, or its own
//! name, if that names no register that the call starts anew. Up: parameters become arguments, what the callee returns becomes the
//! result; other registers of the callee keep their meaning only if they are assigned once in the whole run.

use super::super::calls::{Call, Passes, Run};
use super::super::conditions::same_zero;
use super::state::State;
use super::{Locks, implies};
use raddle_facts::{Guard, HeldLock, Index, Root, Term};
use raddle_ir::{FunctionId, Operand, Reg, Terminator, Ty};

pub(super) struct Crossing<'l, 'c, 'a> {
    pub locks: &'l Locks<'c, 'a>,
    pub caller: FunctionId,
    pub call: &'l Call,
    pub run: &'l Run,
}

impl Crossing<'_, '_, '_> {
    /// Whether the caller holds what the callee is said to be entered with.
    pub fn is_held(&self, state: &State, fact: &HeldLock) -> bool {
        self.names(fact.lock).into_iter().any(|name| {
            state.held.get(&name).is_some_and(|held| {
                let same_guard = held.guard == fact.guard
                    && held.guard.is_some_and(|guard| guard.function != self.run.function);
                implies(held, fact) && (held.guard.is_none() || same_guard)
            })
        })
    }

    /// All that the caller may call a lock of the callee's entry.
    fn names(&self, lock: Term) -> Vec<Term> {
        let code = self.locks.code;
        let mut names = Vec::new();
        if !lock.registers().any(|(function, reg)| self.starts_anew(function, reg)) {
            names.push(lock);
        }
        for (index, param) in code.program.functions[self.run.function].params.iter().enumerate() {
            let Some(argument) = self.argument(index) else { continue };
            for own in [code.reg_term(self.run.function, param.reg), Term::reg(self.run.function, param.reg)]
            {
                if let Some(distance) = lock.distance(own).filter(|_| own.root != Root::Zero) {
                    names.push(argument.plus(distance));
                }
            }
        }
        names
    }

    fn starts_anew(&self, function: FunctionId, reg: Reg) -> bool {
        function == self.run.function && !self.locks.code.is_global(Term::reg(function, reg))
    }

    /// The term of what becomes a parameter. A callback has no arguments that are known.
    fn argument(&self, index: usize) -> Option<Term> {
        if self.run.passes != Passes::Arguments {
            return None;
        }
        let code = self.locks.code;
        let (_, args) = self.call.parts(code, self.caller);
        let arg = code.passed(self.run, args, index)?;
        code.term(self.caller, arg.value, arg.ty)
    }

    fn parameter(&self, reg: Reg) -> Option<usize> {
        let params = &self.locks.code.program.functions[self.run.function].params;
        params.iter().position(|param| param.reg == reg)
    }

    /// A lock that the callee leaves held, in the caller's words.
    pub fn up(&self, held: &HeldLock, dsts: &[Reg]) -> Option<HeldLock> {
        let lock = match self.by_result(held.lock, dsts) {
            Some(lock) => lock,
            None => {
                // What it names is from before the call: results are assigned by it.
                let lock = self.term_up(held.lock)?;
                let stale = lock.registers().any(|(of, reg)| of == self.caller && dsts.contains(&reg));
                (!stale).then_some(lock)?
            }
        };
        let guard = match held.guard {
            None => None,
            Some(guard) => Some(self.guard_up(guard, dsts)?),
        };
        Some(HeldLock { lock, guard, ..held.clone() })
    }

    /// The value that every return gives.
    fn returned(&self) -> Option<Operand> {
        let code = self.locks.code;
        let mut found = None;
        for block in code.reachable_blocks(self.run.function) {
            if let Terminator::Ret { values } =
                &code.program.functions[self.run.function].blocks[block].terminator
            {
                let value = *values.first()?;
                if found.is_some_and(|before| before != value) {
                    return None;
                }
                found = Some(value);
            }
        }
        found
    }

    /// A lock said by the callee's result: what the caller has just got.
    fn by_result(&self, lock: Term, dsts: &[Reg]) -> Option<Term> {
        let code = self.locks.code;
        let (Some(Operand::Reg(value)), Some(dst)) = (self.returned(), dsts.first()) else { return None };
        if !lock.registers().any(|(of, _)| of == self.run.function) {
            return None;
        }
        let distance = lock.distance(code.reg_term(self.run.function, value))?;
        Some(code.reg_term(self.caller, *dst).plus(distance))
    }

    fn term_up(&self, term: Term) -> Option<Term> {
        let code = self.locks.code;
        let mut said = term;
        if let Root::Reg(of, reg) = term.root
            && self.starts_anew(of, reg)
        {
            let base = self.argument(self.parameter(reg)?)?;
            if base.index.is_some() && term.index.is_some() {
                return None;
            }
            said = Term { root: base.root, index: base.index.or(term.index), offset: term.offset }
                .plus(base.offset);
        }
        if let Some(index) = term.index
            && self.starts_anew(index.function, index.reg)
        {
            let value = self.argument(self.parameter(index.reg)?)?;
            let ty = |of: FunctionId, reg: Reg| code.program.functions[of].regs[reg].ty;
            let own = ty(index.function, index.reg);
            match (value.root, value.index, value.offset) {
                (Root::Zero, None, number) => {
                    let Ty::Int(bits) = own else { return None };
                    let fits = number >= 0 && (bits > 63 || number < 1 << (bits - 1));
                    said = Term { index: None, ..said }.plus(number.wrapping_mul(index.scale));
                    fits.then_some(())?;
                }
                (Root::Reg(of, reg), None, 0) if ty(of, reg) == own => {
                    said.index = Some(Index { function: of, reg, scale: index.scale });
                }
                _ => return None,
            }
        }
        Some(said)
    }

    /// A condition of the callee that its result tells.
    fn guard_up(&self, guard: Guard, dsts: &[Reg]) -> Option<Guard> {
        if guard.function != self.run.function {
            return Some(guard);
        }
        let code = self.locks.code;
        let told = self.returned().and_then(|value| same_zero(code, self.run.function, value));
        let own = same_zero(code, self.run.function, Operand::Reg(guard.reg))?;
        let (Some((reg, same)), Some(dst)) = (told, dsts.first()) else { return self.lasting(guard) };
        if own.0 != reg {
            return self.lasting(guard);
        }
        // The result is zero exactly if the guard's register is, or exactly if it is not.
        let alike = same == own.1;
        Some(Guard { function: self.caller, reg: *dst, zero: guard.zero == alike })
    }

    /// A condition on a register that is assigned once in the whole run means the same behind the call.
    fn lasting(&self, guard: Guard) -> Option<Guard> {
        self.locks.code.is_global(Term::reg(guard.function, guard.reg)).then_some(guard)
    }
}
