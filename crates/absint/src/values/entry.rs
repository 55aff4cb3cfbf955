//! Calls: how values come into functions and out of them.

use super::interval::{join, range};
use super::narrow::At;
use super::solve::{
    Entered, Known, Mode, Solver, State, Value, Widen, cell_value, constant_value, is_global,
};
use super::targets::{Nested, Run};
use super::terms::{constant, substitute, width};
use raddle_base::{Id, SiteId};
use raddle_facts::{Interval, Term};
use raddle_ir::{BlockId, CallArg, Callee, FunctionId, Operand, Reg, Terminator};
use raddle_libmodel::{Effect, Meaning, VerifierOp};

/// Calls with more targets pass anything to each.
const MOST_RUNS: usize = 24;

impl Solver<'_> {
    /// A function is called by somebody unknown.
    pub fn enter_from_outside(&mut self, function: FunctionId) {
        if self.program.functions[function].is_defined() {
            self.make(function);
            let state = self.state_mut(function);
            if std::mem::replace(&mut state.entered, Entered::Variously) != Entered::Variously {
                self.keep_global_terms(function);
            }
            self.pass(function, |_| Some(None), Terms::Global);
            self.open(function);
        }
    }

    pub fn call(
        &mut self,
        function: FunctionId,
        block: BlockId,
        site: SiteId,
        dsts: &[Reg],
        callee: Callee,
        args: &[CallArg],
    ) {
        let term = |operand: Operand| {
            self.value(function, operand, raddle_ir::Ty::Ptr, At::Block(block)).and_then(|value| value.term)
        };
        let not_seen = |operand: Operand| match operand {
            Operand::Reg(reg) => self.state(function).cells[reg.index()].known == Known::Unseen,
            _ => false,
        };
        if matches!(callee, Callee::Indirect(target) if not_seen(target)) {
            return;
        }
        let runs =
            self.targets.of_call(site, callee, args.len(), term, |at| args.get(at).map(|arg| arg.value));
        let runs = match runs {
            Some(runs) if runs.len() <= MOST_RUNS => {
                for run in &runs {
                    self.enter(function, block, site, run, args);
                }
                runs
            }
            Some(runs) => {
                self.run_with_anything(runs.into_iter().map(|run| run.function).collect());
                Vec::new()
            }
            None => {
                if !std::mem::replace(&mut self.anything_runs, true) {
                    let all = self.targets.address_taken.iter().copied();
                    self.run_with_anything(all.filter(|f| self.targets.runs_body(*f)).collect());
                }
                Vec::new()
            }
        };
        for (position, dst) in dsts.iter().enumerate() {
            if let Some(value) = self.result(function, block, site, callee, &runs, args, position, *dst) {
                self.assign(function, *dst, value, Widen::Soon);
            }
        }
    }

    /// Functions that a call may run, too many to look at what it passes.
    fn run_with_anything(&mut self, functions: Vec<FunctionId>) {
        for function in functions {
            if self.from_outside.insert(function) {
                self.enter_from_outside(function);
            }
        }
    }

    fn make(&mut self, function: FunctionId) {
        if self.functions[function].is_none() {
            self.functions[function] = Some(Box::new(State::new(self.program, function)));
        }
    }

    fn open(&mut self, function: FunctionId) {
        let state = self.state_mut(function);
        if !state.reached[0] {
            state.reached[0] = true;
            self.queue(function, BlockId(0));
        }
    }

    fn enter(&mut self, caller: FunctionId, block: BlockId, site: SiteId, run: &Run, args: &[CallArg]) {
        let function = run.function;
        self.make(function);
        let recursive = self.targets.recursive[function];
        let state = self.state_mut(function);
        if run.nested == Nested::Inside {
            state.callers.insert((caller, block));
        }
        let entered = match (state.entered, run.nested) {
            (Entered::Never, Nested::Inside) if !recursive => Entered::Inside(site),
            (Entered::Inside(one), Nested::Inside) if one == site => Entered::Inside(site),
            _ => Entered::Variously,
        };
        let first_to_differ = entered != state.entered && entered == Entered::Variously;
        state.entered = entered;
        if first_to_differ {
            self.keep_global_terms(function);
        }
        let terms = match entered {
            Entered::Inside(_) => Terms::Any,
            Entered::Never | Entered::Variously => Terms::Global,
        };
        let values: Vec<Option<Option<Value>>> = (0..self.program.functions[function].params.len())
            .map(|position| self.argument(caller, block, run, args, position))
            .collect();
        self.pass(function, |position| values[position], terms);
        self.open(function);
    }

    /// Outer `None`: not seen yet; inner `None`: nothing is known.
    fn argument(
        &self,
        caller: FunctionId,
        block: BlockId,
        run: &Run,
        args: &[CallArg],
        position: usize,
    ) -> Option<Option<Value>> {
        let param = &self.program.functions[run.function].params[position];
        let ty = self.program.functions[run.function].regs[param.reg].ty;
        let arg = run.passes.get(position).copied().flatten().and_then(|at| args.get(at));
        match arg {
            Some(arg) if arg.ty == ty && arg.by_value.is_none() && param.by_value.is_none() => {
                self.value(caller, arg.value, arg.ty, At::Block(block)).map(Some)
            }
            _ => Some(None),
        }
    }

    /// A second way in: terms in registers of the one caller do not hold any more.
    fn keep_global_terms(&mut self, function: FunctionId) {
        for param in &self.program.functions[function].params {
            if let Known::Term(term) = self.state(function).cells[param.reg.index()].known
                && !is_global(term, self.input.once)
            {
                let interval = self.state(function).cells[param.reg.index()].interval;
                self.assign(function, param.reg, Value { term: None, interval }, Widen::Soon);
            }
        }
        // Returned terms may name the caller's registers.
        let count = self.state(function).returns.len();
        self.returns(function, count);
    }

    fn pass(&mut self, function: FunctionId, value: impl Fn(usize) -> Option<Option<Value>>, terms: Terms) {
        for (position, param) in self.program.functions[function].params.iter().enumerate() {
            let ty = self.program.functions[function].regs[param.reg].ty;
            let mut new = match value(position) {
                Some(Some(value)) => value,
                Some(None) => Value { term: None, interval: range(ty) },
                None => continue,
            };
            if self.mode == Mode::Descend {
                let passed = self.passed.entry(function).or_default();
                passed.resize(self.program.functions[function].params.len(), None);
                let so_far = &mut passed[position];
                *so_far = Some(so_far.map_or(new.interval, |old| join(old, new.interval)));
                continue;
            }
            if terms == Terms::Global {
                let known = self.state(function).cells[param.reg.index()].known;
                let agrees = |term: &Term| {
                    is_global(*term, self.input.once) && matches!(known, Known::Unseen)
                        || known == Known::Term(*term)
                };
                new.term = new.term.filter(agrees);
            }
            self.assign(function, param.reg, new, Widen::Soon);
        }
    }

    /// What all returns agree on.
    pub fn returns(&mut self, function: FunctionId, count: usize) {
        let body = &self.program.functions[function];
        for position in 0..count {
            let mut all: Option<Value> = None;
            for block in &self.state(function).return_blocks {
                let Terminator::Ret { values } = &body.blocks[*block].terminator else { continue };
                let ty = body.returns.get(position).copied();
                let value = match (values.get(position), ty) {
                    (Some(operand), Some(ty)) => self.value(function, *operand, ty, At::Block(*block)),
                    _ => Some(Value { term: None, interval: Interval::ANY }),
                };
                let Some(value) = value else { continue };
                let value = Value { term: value.term.filter(|term| self.leaves(function, *term)), ..value };
                all = Some(match all {
                    None => value,
                    Some(other) => Value {
                        term: value.term.filter(|term| other.term == Some(*term)),
                        interval: join(value.interval, other.interval),
                    },
                });
            }
            if let Some(value) = all {
                self.assign_return(function, position, value);
            }
        }
    }

    /// Whether a term of the function means something to its callers: parameters are said by arguments.
    fn leaves(&self, function: FunctionId, term: Term) -> bool {
        let inside = matches!(self.state(function).entered, Entered::Inside(_));
        term.registers().all(|(of, reg)| {
            let param = self.program.functions[function].params.iter().any(|param| param.reg == reg);
            let once = self.input.once.is_some_and(|once| once.contains(of, reg));
            once || if of == function { param } else { inside }
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn result(
        &self,
        function: FunctionId,
        block: BlockId,
        site: SiteId,
        callee: Callee,
        runs: &[Run],
        args: &[CallArg],
        position: usize,
        dst: Reg,
    ) -> Option<Value> {
        let anything = self.anything(function, dst);
        let nested: Vec<&Run> = runs.iter().filter(|run| run.nested == Nested::Inside).collect();
        if let Callee::Direct(target) = callee
            && nested.is_empty()
        {
            return Some(self.library_result(target, dst, function).unwrap_or(anything));
        }
        if !self.only_bodies(site, callee, &nested) {
            return Some(anything);
        }
        let mut all: Option<Value> = None;
        for run in nested {
            let Some(cell) = self.state(run.function).returns.get(position) else { continue };
            let Some(value) = cell_value(run.function, Reg(u32::MAX), cell) else { continue };
            let ty = self.program.functions[run.function].returns.get(position).copied();
            if ty != Some(self.program.functions[function].regs[dst].ty) {
                return Some(anything);
            }
            let term = match cell.known {
                Known::Term(term) => self.said_by_caller(function, block, run, args, term),
                Known::Unseen | Known::Own => None,
            };
            all = Some(match all {
                None => Value { term, ..value },
                Some(other) => Value {
                    term: term.filter(|_| other.term == term),
                    interval: join(value.interval, other.interval),
                },
            });
        }
        all
    }

    /// Whether an indirect call can only run functions that have bodies here.
    fn only_bodies(&self, site: SiteId, callee: Callee, nested: &[&Run]) -> bool {
        match callee {
            Callee::Direct(_) => true,
            Callee::Indirect(_) => match self.input.points_to {
                Some(points_to) => {
                    let targets = points_to.targets.get(&site).map_or(0, Vec::len);
                    targets == nested.len() && !self.targets.is_unresolved(site)
                }
                None => nested.len() == 1,
            },
        }
    }

    /// A returned term with the arguments of this call in the place of the parameters.
    fn said_by_caller(
        &self,
        caller: FunctionId,
        block: BlockId,
        run: &Run,
        args: &[CallArg],
        term: Term,
    ) -> Option<Term> {
        let params = &self.program.functions[run.function].params;
        substitute(term, |of, reg| {
            if self.input.once.is_some_and(|once| once.contains(of, reg)) || of != run.function {
                return Some(Term::reg(of, reg));
            }
            let position = params.iter().position(|param| param.reg == reg)?;
            self.argument(caller, block, run, args, position)??.term
        })
    }

    fn library_result(&self, target: FunctionId, dst: Reg, function: FunctionId) -> Option<Value> {
        let ty = self.program.functions[function].regs[dst].ty;
        let Meaning::Effect(effect, _) = &self.input.models.meanings[target] else { return None };
        if let Some(result) = effect.fixed_result() {
            width(self.program.data_model, ty)?;
            return constant(Operand::Const(result as u64 as u128), ty).map(constant_value);
        }
        match effect {
            Effect::Verifier(VerifierOp::Nondet { boolean: true, .. }) => {
                let wide = super::interval::int_bits(ty)? > 1;
                wide.then_some(Value { term: None, interval: Interval { low: 0, high: 1 } })
            }
            Effect::Verifier(VerifierOp::Nondet { bits, signed, .. }) => {
                let own = super::interval::int_bits(ty)?;
                let bits = u32::from(*bits);
                let low_bits = if *signed { bits } else { bits + 1 };
                (bits > 0 && low_bits <= own.min(63)).then(|| {
                    let high = (1_i64 << (low_bits - 1)) - 1;
                    let low = if *signed { -high - 1 } else { 0 };
                    Value { term: None, interval: Interval { low, high } }
                })
            }
            _ => None,
        }
    }
}

/// Which terms a parameter may take over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Terms {
    Any,
    Global,
}
