//! Terms and guards across calls.
//!
//! Down: a lock of the caller gets every name that the callee has for it: relative to a parameter whose argument has the same root, and
//! its own name, which stays right as long as the call does not start another activation of the function it names registers of. Up: a
//! parameter becomes its argument; another register of the callee keeps its meaning only if it is assigned once in the whole run.

use super::Locks;
use super::condition::Zero;
use raddle_facts::{Guard, HeldLock, Index, Root, Term};
use raddle_ir::{CallArg, FunctionId, Operand, Reg, Ty};

/// A call seen from both sides. A callback has no arguments that we know.
pub(super) struct Crossing<'a> {
    pub caller: FunctionId,
    pub callee: FunctionId,
    pub args: Option<&'a [CallArg]>,
    /// The register that gets the callee's first result.
    pub result: Option<Reg>,
}

impl Locks<'_> {
    /// The argument of each parameter that is passed as it is.
    fn passed<'c>(&'c self, crossing: &Crossing<'c>) -> impl Iterator<Item = (Reg, Operand)> + use<'c> {
        let params = &self.program.functions[crossing.callee].params;
        params
            .iter()
            .zip(crossing.args.unwrap_or_default())
            .filter(|(param, arg)| param.by_value.is_none() && arg.by_value.is_none())
            .map(|(param, arg)| (param.reg, arg.value))
    }

    fn argument(&self, crossing: &Crossing<'_>, reg: Reg) -> Option<Operand> {
        self.passed(crossing).find(|(param, _)| *param == reg).map(|(_, arg)| arg)
    }

    /// The callee's term in the caller's words.
    pub(super) fn term_up(&self, crossing: &Crossing<'_>, term: Term) -> Option<Term> {
        let mut result = term;
        if let Root::Reg(function, reg) = term.root
            && function == crossing.callee
            && !self.is_global(Term::reg(function, reg))
        {
            let base = self.term(crossing.caller, self.argument(crossing, reg)?);
            if base.index.is_some() && term.index.is_some() {
                return None;
            }
            result = Term { root: base.root, index: base.index.or(term.index), offset: term.offset }
                .plus(base.offset);
        }
        if let Some(index) = term.index
            && index.function == crossing.callee
            && !self.is_global(Term::reg(index.function, index.reg))
        {
            let (translated, bytes) = self.index_up(crossing, index)?;
            result.index = translated;
            result = result.plus(bytes);
        }
        Some(result)
    }

    /// A lock of the callee said by its result: what the caller has just got.
    pub(super) fn term_by_result(&self, crossing: &Crossing<'_>, held: &HeldLock) -> Option<Term> {
        let result = &self.results[crossing.callee];
        let mine = self.term(crossing.caller, Operand::Reg(crossing.result?));
        if let Some(distance) = result.term.and_then(|term| held.lock.distance(term))
            && held.lock.registers().any(|(function, _)| function == crossing.callee)
        {
            return Some(mine.plus(distance));
        }
        let not_zero = result.zero.map(|zero| Guard { zero: !zero.zero, ..zero });
        if held.guard.is_some() && held.guard == not_zero {
            return Some(mine.plus(held.lock.distance(result.unless_zero?)?));
        }
        None
    }

    /// A condition of the callee in the caller's words.
    pub(super) fn guard_up(&self, crossing: &Crossing<'_>, guard: Guard) -> Zero {
        if guard.function != crossing.callee {
            return Zero::If(guard);
        }
        if let (Some(result), Some(reg)) = (self.results[crossing.callee].zero, crossing.result)
            && (result.function, result.reg) == (guard.function, guard.reg)
        {
            return Zero::If(Guard { function: crossing.caller, reg, zero: result.zero == guard.zero });
        }
        let when_zero = match self.argument(crossing, guard.reg) {
            Some(Operand::Undef) => return Zero::Never,
            Some(argument) => self.zero_when(crossing.caller, argument),
            None if self.is_global(Term::reg(guard.function, guard.reg)) => return Zero::If(guard),
            None => return Zero::Never,
        };
        if guard.zero { when_zero } else { when_zero.negated() }
    }

    /// All names that the callee has for a lock that the caller holds.
    pub(super) fn locks_down(&self, crossing: &Crossing<'_>, held: &HeldLock, into: &mut Vec<HeldLock>) {
        let Some(guards) = self.guards_down(crossing, held.guard) else { return };
        let mut names: Vec<Term> = self
            .passed(crossing)
            .filter_map(|(param, arg)| {
                let base = self.term(crossing.caller, arg);
                if matches!(base.root, Root::Zero) {
                    return None;
                }
                let distance = held.lock.distance(base)?;
                Some(self.term(crossing.callee, Operand::Reg(param)).plus(distance))
            })
            .collect();
        let starts_anew = |(function, reg): (FunctionId, Reg)| {
            function == crossing.callee && !self.is_global(Term::reg(function, reg))
        };
        if !held.lock.registers().any(starts_anew) {
            names.push(held.lock);
        }
        names.sort();
        names.dedup();
        for lock in names {
            into.push(HeldLock { lock, guard: guards, ..held.clone() });
        }
    }

    /// `None`: the condition has no name in the callee.
    fn guards_down(&self, crossing: &Crossing<'_>, guard: Option<Guard>) -> Option<Option<Guard>> {
        let Some(guard) = guard else { return Some(None) };
        for (param, arg) in self.passed(crossing) {
            if let Zero::If(same) = self.zero_when(crossing.caller, arg)
                && (same.function, same.reg) == (guard.function, guard.reg)
            {
                // The parameter is zero when `same` holds.
                let inside = match self.zero_when(crossing.callee, Operand::Reg(param)) {
                    Zero::If(inside) => inside,
                    Zero::Always | Zero::Never => continue,
                };
                let zero = if same.zero == guard.zero { inside.zero } else { !inside.zero };
                return Some(Some(Guard { zero, ..inside }));
            }
        }
        let starts_anew =
            guard.function == crossing.callee && !self.is_global(Term::reg(guard.function, guard.reg));
        (!starts_anew).then_some(Some(guard))
    }

    /// The argument as an index: a number, or a register of the parameter's own type, for an index is sign-extended from it.
    fn index_up(&self, crossing: &Crossing<'_>, index: Index) -> Option<(Option<Index>, i64)> {
        let value = self.term(crossing.caller, self.argument(crossing, index.reg)?);
        let ty = |function: FunctionId, reg: Reg| self.program.functions[function].regs[reg].ty;
        let own = ty(index.function, index.reg);
        match (value.root, value.index, value.offset) {
            (Root::Zero, None, number) => {
                let Ty::Int(bits) = own else { return None };
                let positive = number >= 0 && (bits > 63 || number < 1 << (bits - 1));
                positive.then(|| (None, number.wrapping_mul(index.scale)))
            }
            (Root::Reg(function, reg), None, 0) if ty(function, reg) == own => {
                Some((Some(Index { function, reg, scale: index.scale }), 0))
            }
            _ => None,
        }
    }
}
