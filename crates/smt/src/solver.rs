//! Z3, incremental.
//!
//! Terms of one thread share Z3's context of that thread. What Z3 answers to a query is right whatever was asked before; which model or
//! core it finds, and whether the limit of resources is met, may depend on all that the thread has asked since it started.
//!
//! A query first gets a small part of its resources and of its time: most end there. The others start again with the rest, beside a
//! thread that watches the flag. Z3 looks at its limits at steps of its own: while it prepares divisions of 128 bits, that is late.

use crate::Answer;
use crate::limits::{Limits, RESOURCES, STOPPED, TIMEOUT};
use crate::translate::{Expression, Translator};
use raddle_logic::{Assignment, Node, Op, Sort, Term, Value, Var};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use z3::ast::{BV, Bool};
use z3::{Params, SatResult};

/// Of Z3's resources and of time, before somebody watches the flag.
const FIRST_PART: u32 = 20_000;
const FIRST_TIME: Duration = Duration::from_millis(50);
/// Between two looks at the flag.
const WATCH: Duration = Duration::from_millis(10);

pub struct Solver {
    z3: z3::Solver,
    translator: Translator,
    limits: Limits,
    /// Calls of `push` without their `pop`.
    depth: u32,
    /// Those that stand for assumptions; their meaning is asserted in a scope that is popped before anything else is done.
    literals: Vec<Bool>,
    scope: AssumptionScope,
    last: Last,
    queries: u64,
    parameters: Option<Parameters>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AssumptionScope {
    Open,
    Closed,
}

/// The last query, as long as nothing has changed since.
enum Last {
    None,
    Sat,
    Unsat {
        assumed: Vec<Bool>,
    },
    /// Unsat, and the core was asked for.
    Core(Vec<usize>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Parameters {
    resources: u32,
    timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoModel {
    #[error("the last thing that happened to the solver is not a query that was answered sat")]
    NotSat,
    #[error("Z3 answered sat and gave no value for `{}`", .0.name)]
    NoValue(Var),
}

impl Solver {
    pub fn new(limits: Limits) -> Solver {
        // Without a logic: for QF_BV Z3 takes another solver, which is four times slower on small queries.
        let z3 = z3::Solver::new();
        // From its first scope on Z3 uses its incremental core: queries cost less, and unsat cores are not empty.
        z3.push();
        Solver {
            z3,
            translator: Translator::default(),
            limits,
            depth: 0,
            literals: Vec::new(),
            scope: AssumptionScope::Closed,
            last: Last::None,
            queries: 0,
            parameters: None,
        }
    }

    /// Until the `pop` of this scope.
    pub fn assert(&mut self, formula: &Term) {
        self.forget();
        let formula = self.translator.formula(formula);
        self.z3.assert(&formula);
    }

    pub fn push(&mut self) {
        self.forget();
        self.z3.push();
        self.depth += 1;
    }

    /// Panics without a `push`.
    pub fn pop(&mut self) {
        assert!(self.depth > 0, "a scope that was not opened");
        self.forget();
        self.z3.pop(1);
        self.depth -= 1;
    }

    pub fn check(&mut self) -> Answer {
        self.check_assuming(&[])
    }

    /// Whether these hold together with what is asserted. Cheapest are Boolean variables and their negations: who asks the same formulas
    /// again and again asserts once that a variable implies each, and assumes the variables.
    pub fn check_assuming(&mut self, assumptions: &[Term]) -> Answer {
        self.forget();
        if self.limits.is_stopped() {
            return Answer::unknown(STOPPED);
        }
        self.queries += 1;
        let assumed: Vec<Bool> =
            assumptions.iter().enumerate().map(|(index, term)| self.assumption(index, term)).collect();
        let answer = self.run(&assumed);
        self.last = match answer {
            Answer::Sat => Last::Sat,
            Answer::Unsat => Last::Unsat { assumed },
            Answer::Unknown(_) => Last::None,
        };
        answer
    }

    /// Indices of assumptions of the last query, which was answered unsat, that contradict what is asserted; not always the fewest.
    /// None without such a query. Empty only where what is asserted has no model by itself.
    pub fn core(&mut self) -> Option<Vec<usize>> {
        let assumed = match &self.last {
            Last::Unsat { assumed } => assumed.clone(),
            Last::Core(core) => return Some(core.clone()),
            Last::None | Last::Sat => return None,
        };
        let index = |found: &Bool| assumed.iter().position(|literal| literal == found);
        // A literal that was not assumed would be a fault of Z3: everything is a core.
        let named: Option<Vec<usize>> = self.z3.get_unsat_core().iter().map(index).collect();
        let mut core = named.unwrap_or_else(|| (0..assumed.len()).collect());
        core.sort_unstable();
        core.dedup();
        if core.is_empty() && !assumed.is_empty() {
            // Some of Z3's solvers give no core: an empty one is asked for again.
            self.queries += 1;
            if self.run(&[]) != Answer::Unsat {
                core = (0..assumed.len()).collect();
            }
        }
        self.last = Last::Core(core.clone());
        Some(core)
    }

    /// Values for these variables, of the last query, which was answered sat. Zero or false where the value does not matter.
    pub fn model(&mut self, variables: &[Var]) -> Result<Assignment, NoModel> {
        let Last::Sat = self.last else { return Err(NoModel::NotSat) };
        let model = self.z3.get_model();
        let mut found = Assignment::new();
        for var in variables {
            let expression = self.translator.variable(var);
            let value = model.as_ref().and_then(|model| value(model, &expression, var.sort));
            found.insert(var.clone(), value.ok_or_else(|| NoModel::NoValue(var.clone()))?);
        }
        Ok(found)
    }

    /// Asked of Z3 so far.
    pub fn queries(&self) -> u64 {
        self.queries
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A literal that implies the term.
    fn assumption(&mut self, index: usize, term: &Term) -> Bool {
        if is_literal(term) {
            return self.translator.formula(term);
        }
        if self.scope == AssumptionScope::Closed {
            self.z3.push();
            self.scope = AssumptionScope::Open;
        }
        while self.literals.len() <= index {
            self.literals.push(Bool::new_const(format!("a{}", self.literals.len())));
        }
        let formula = self.translator.formula(term);
        let literal = self.literals[index].clone();
        self.z3.assert(literal.implies(&formula));
        literal
    }

    fn forget(&mut self) {
        self.last = Last::None;
        if self.scope == AssumptionScope::Open {
            self.z3.pop(1);
            self.scope = AssumptionScope::Closed;
        }
    }

    fn run(&mut self, assumed: &[Bool]) -> Answer {
        let started = Instant::now();
        let mut resources = self.limits.resources;
        if resources > FIRST_PART {
            let timeout = self.limits.time(Duration::ZERO).min(FIRST_TIME);
            self.set(Parameters { resources: FIRST_PART, timeout });
            match self.z3.check_assumptions(assumed) {
                SatResult::Sat => return Answer::Sat,
                SatResult::Unsat => return Answer::Unsat,
                SatResult::Unknown => {}
            }
            // Where a limit is met before the search, no reason is given.
            resources -= FIRST_PART;
        }
        let timeout = self.limits.time(started.elapsed());
        if self.limits.is_stopped() {
            return Answer::unknown(STOPPED);
        }
        if timeout.is_zero() || resources == 0 {
            return Answer::unknown(if resources == 0 { RESOURCES } else { TIMEOUT });
        }
        self.set(Parameters { resources, timeout });
        let started = Instant::now();
        match self.watched(assumed) {
            SatResult::Sat => Answer::Sat,
            SatResult::Unsat => Answer::Unsat,
            SatResult::Unknown if self.limits.is_stopped() => Answer::unknown(STOPPED),
            SatResult::Unknown => {
                let limit = if started.elapsed() >= timeout { TIMEOUT } else { RESOURCES };
                Answer::Unknown(self.reason(limit))
            }
        }
    }

    fn watched(&self, assumed: &[Bool]) -> SatResult {
        let context = self.z3.get_context();
        let (handle, limits) = (context.handle(), &self.limits);
        let (done, ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // Again and again: an interrupt before Z3 has started is lost.
                while ended.recv_timeout(WATCH) == Err(RecvTimeoutError::Timeout) {
                    if limits.is_stopped() {
                        handle.interrupt();
                    }
                }
            });
            let result = self.z3.check_assumptions(assumed);
            drop(done);
            result
        })
    }

    /// Of Z3's last answer. Some of its solvers say the same of every limit: `limit` is the one that was met.
    fn reason(&self, limit: &str) -> String {
        let reason = self.z3.get_reason_unknown().unwrap_or_else(|| "Z3 gives no reason".to_owned());
        match reason.as_str() {
            "canceled" | "sat.canceled" | "smt.canceled" => limit.to_owned(),
            "max. resource limit exceeded" => RESOURCES.to_owned(),
            // Also where a limit is met before the search.
            "unknown" => "Z3 gives no reason".to_owned(),
            _ => reason,
        }
    }

    fn set(&mut self, parameters: Parameters) {
        if self.parameters == Some(parameters) {
            return;
        }
        let mut params = Params::new();
        params.set_u32("rlimit", parameters.resources);
        // Rounded up: when it fires, the time is over. The largest number is no limit.
        let milliseconds = u32::try_from(parameters.timeout.as_millis() + 1).unwrap_or(u32::MAX);
        params.set_u32("timeout", milliseconds);
        self.z3.set_params(&params);
        self.parameters = Some(parameters);
    }
}

fn is_literal(term: &Term) -> bool {
    match term.node() {
        Node::Var(_) => true,
        Node::App(Op::Not, args) => matches!(args[0].node(), Node::Var(_)),
        Node::App(..) | Node::Bool(_) | Node::Bits { .. } => false,
    }
}

fn value(model: &z3::Model, expression: &Expression, sort: Sort) -> Option<Value> {
    let part = |bits: &BV| model.eval(bits, true)?.as_u64().map(u128::from);
    match (expression, sort) {
        (Expression::Bool(truth), Sort::Bool) => model.eval(truth, true)?.as_bool().map(Value::Bool),
        (Expression::Bits(bits), Sort::Bits(width)) if width <= 64 => {
            Some(Value::Bits { value: part(bits)?, width })
        }
        (Expression::Bits(bits), Sort::Bits(width)) => {
            let (high, low) = (part(&bits.extract(width - 1, 64))?, part(&bits.extract(63, 0))?);
            Some(Value::Bits { value: high << 64 | low, width })
        }
        (Expression::Bool(_), Sort::Bits(_)) | (Expression::Bits(_), Sort::Bool) => {
            unreachable!("a variable is translated by its sort")
        }
    }
}
