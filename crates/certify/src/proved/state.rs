//! What a thread has done since a location: new values, conditions, where it is. Operands and results of instructions as terms.

use super::Model;
use super::names::{any, register, width};
use crate::statics::Spot;
use raddle_base::Id;
use raddle_facts::{Root, Term as Fact};
use raddle_ir::{FunctionId, Operand, Reg, Ty};
use raddle_logic::{Node, Op, Sort, Term, Var};
use std::collections::BTreeMap;

/// Terms are over the values at the location.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// New values, by the name of the variable. What is not here is as it was.
    values: BTreeMap<String, Term>,
    pub conditions: Vec<Term>,
    /// Conditions up to here can hold together, as far as their shape tells.
    looked_at: usize,
    /// The innermost activation last; all others stand at their calls. Empty: the thread has ended.
    pub frames: Vec<Spot>,
}

impl State {
    pub fn at(frames: Vec<Spot>) -> State {
        State { values: BTreeMap::new(), conditions: Vec::new(), looked_at: 0, frames }
    }

    /// The value of a variable now.
    pub fn now(&self, variable: &Term) -> Term {
        match variable.node() {
            Node::Var(var) => self.values.get(&*var.name).unwrap_or(variable).clone(),
            _ => variable.clone(),
        }
    }

    pub fn set(&mut self, variable: &Term, value: Term) {
        if let Node::Var(var) = variable.node() {
            self.values.insert(var.name.to_string(), value);
        }
    }

    pub fn require(&mut self, condition: Term) {
        if !condition.is_true() && !self.conditions.contains(&condition) {
            self.conditions.push(condition);
        }
    }

    /// *Must*: by the shape of the conditions alone.
    pub fn is_impossible(&mut self) -> bool {
        let is_new = std::mem::replace(&mut self.looked_at, self.conditions.len()) != self.conditions.len();
        is_new && self.condition().is_false()
    }

    pub fn condition(&self) -> Term {
        Term::and(self.conditions.iter().cloned())
    }

    /// A formula about the values now, as one about those at the location.
    pub fn before(&self, formula: &Term) -> Term {
        formula.substitute(&mut |var: &Var| self.values.get(&*var.name).cloned())
    }

    pub fn changes(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Names of variables with a new value.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

impl Model<'_, '_> {
    pub fn width(&self, ty: Ty) -> Option<u32> {
        width(self.standing, ty)
    }

    pub fn pointer_bits(&self) -> u32 {
        self.standing.code().pointer_bytes() * 8
    }

    /// An arbitrary value, another one each time.
    pub fn any(&self, bits: u32) -> Term {
        let number = self.fresh.get();
        self.fresh.set(number + 1);
        any(number, bits)
    }

    /// `None`: a type that formulas do not speak of.
    pub fn operand(&self, state: &State, function: FunctionId, operand: Operand, ty: Ty) -> Option<Term> {
        let bits = self.width(ty)?;
        let value = match operand {
            Operand::Reg(reg) => {
                let own = self.width(self.standing.program().functions[function].regs[reg].ty);
                (own == Some(bits)).then(|| state.now(&register(function, reg, bits)))
            }
            Operand::Const(value) => Some(Term::bits(value, bits)),
            Operand::Null => Some(Term::bits(0, bits)),
            Operand::Global(..) | Operand::Function(_) => {
                let fact = self.standing.code().term(function, operand, ty);
                fact.and_then(|fact| self.fixed(fact, bits))
            }
            Operand::Block(_) | Operand::Undef => None,
        };
        Some(value.unwrap_or_else(|| self.any(bits)))
    }

    /// The value of a term that is a constant, or an address and a constant.
    fn fixed(&self, fact: Fact, bits: u32) -> Option<Term> {
        let code = self.standing.code();
        if fact.index.is_some() {
            return None;
        }
        let number = Term::bits(fact.offset as i128 as u128, bits);
        let address = match fact.root {
            Root::Zero => return (bits <= 64).then_some(number),
            Root::Reg(..) => return None,
            Root::Global(global) => super::names::Variable::Address(code.object(code.global_kind(global))?),
            Root::Function(function) => super::names::Variable::Function(function),
        };
        let Sort::Bits(own) = address.sort(self.standing)? else { return None };
        (own == bits).then(|| Term::app(Op::Add, vec![address.term(own), number]))
    }

    /// A register gets a value, and what static facts say of it. Without a value: any.
    pub fn assign(&self, state: &mut State, function: FunctionId, reg: Reg, value: Option<Term>) {
        let code = self.standing.code();
        let ty = code.program.functions[function].regs[reg].ty;
        let Some(bits) = self.width(ty) else { return };
        let value = value.filter(|value| value.sort() == Sort::Bits(bits));
        let fixed = code.facts.values.terms[function][reg.index()].and_then(|fact| self.fixed(fact, bits));
        let value = match (fixed, value) {
            (Some(fixed), Some(value)) => {
                state.require(value.equals(&fixed));
                fixed
            }
            (Some(value), None) | (None, Some(value)) => value,
            (None, None) => self.any(bits),
        };
        if let Some(within) = self.within(function, reg, &value) {
            state.require(within);
        }
        state.set(&register(function, reg, bits), value);
    }

    /// What the interval of a register says of its value.
    pub fn within(&self, function: FunctionId, reg: Reg, value: &Term) -> Option<Term> {
        let code = self.standing.code();
        let Ty::Int(bits @ 1..=64) = code.program.functions[function].regs[reg].ty else { return None };
        let interval = code.facts.values.intervals[function][reg.index()];
        let bits = u32::from(bits);
        let (lowest, highest) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
        let number = |number: i64| Term::bits(number as i128 as u128, bits);
        let mut parts = Vec::new();
        if interval.low > highest || interval.high < lowest {
            return Some(Term::truth(false));
        }
        if interval.low > lowest {
            parts.push(Term::app(Op::Sle, vec![number(interval.low), value.clone()]));
        }
        if interval.high < highest {
            parts.push(Term::app(Op::Sle, vec![value.clone(), number(interval.high)]));
        }
        Some(Term::and(parts))
    }
}
