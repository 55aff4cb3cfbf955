//! Names across calls: a value or cell of the caller in the callee's terms, and back.
//!
//! Global terms mean the same everywhere. Registers of a caller may be named in a function that is not recursive and has one call:
//! its activations lie inside the one of the caller. Else only what is passed or returned can be named, by the parameter or result.

use super::super::terms::substitute;
use super::super::typed_term_of;
use super::Given;
use crate::calls::{Call, Way};
use crate::must_alias::At;
use crate::terms::term_of;
use raddle_base::{Id, IdVec};
use raddle_facts::{Root, Term};
use raddle_ir::{BlockId, CallArg, FunctionId, Reg, Terminator};
use raddle_libmodel::memory::{Value, When};

pub(crate) struct Names<'a> {
    given: Given<'a>,
    /// Entered by one call only, inside it, and never twice on a stack.
    inside: IdVec<FunctionId, bool>,
}

/// What the argument is to a parameter that is a copied struct: at the entry it holds the same, but it is somewhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copied {
    SameContent,
    OtherAddress,
}

impl<'a> Names<'a> {
    pub fn new(given: Given<'a>, is_root: impl Fn(FunctionId) -> bool) -> Names<'a> {
        let inside = given
            .program
            .functions
            .ids()
            .map(|function| match &given.calls.to[function][..] {
                [(caller, position)] => {
                    let call = &given.calls.from[*caller][*position];
                    let way = call.runs.iter().find(|(target, _)| *target == function).map(|(_, way)| *way);
                    let nested = matches!(way, Some(Way::Call | Way::AtomicCall));
                    nested && !given.calls.recursive[function] && !is_root(function)
                }
                _ => false,
            })
            .collect();
        Names { given, inside }
    }

    /// The call instruction at a place.
    pub fn call(&self, at: At) -> Option<&'a Call> {
        let site = self.given.program.functions[at.function].blocks[at.block].site_of(at.index);
        self.given.calls.at(at.function, site)
    }

    /// The one way in which a call runs a function.
    pub fn way(&self, call: &Call, function: FunctionId) -> Option<Way> {
        let mut ways = call.runs.iter().filter(|(target, _)| *target == function).map(|(_, way)| *way);
        let way = ways.next()?;
        ways.next().is_none().then_some(way)
    }

    /// The argument that becomes a parameter.
    fn argument(&self, at: At, call: &Call, function: FunctionId, position: usize) -> Option<&'a CallArg> {
        let (_, args) = call.parts(self.given.program, at.function);
        match self.way(call, function)? {
            Way::Call | Way::AtomicCall => args.get(position),
            Way::Thread => {
                let passed = call.effects.iter().find_map(|effect| {
                    let memory = effect.memory();
                    let callback = memory.calls.iter().find(|callback| callback.when == When::NewThread)?;
                    match callback.passes.get(position) {
                        Some(Value::Arg(arg)) => Some(usize::from(arg.0)),
                        _ => None,
                    }
                });
                args.get(passed?)
            }
            Way::Callback | Way::Once | Way::Handler => None,
        }
    }

    fn argument_term(&self, at: At, call: &Call, function: FunctionId, position: usize) -> Option<Term> {
        let arg = self.argument(at, call, function, position)?;
        let param = &self.given.program.functions[function].params[position];
        let ty = self.given.program.functions[function].regs[param.reg].ty;
        let fits = arg.ty == ty && arg.by_value == param.by_value;
        fits.then(|| typed_term_of(self.given.values, at.function, &arg.value, arg.ty)).flatten()
    }

    /// A cell of a function's entry, in the caller's names: parameters are the arguments, also for a struct that is passed by value.
    pub fn to_caller(&self, at: At, function: FunctionId, address: Term) -> Option<Term> {
        self.by_arguments(at, function, address, Copied::SameContent)
    }

    fn by_arguments(&self, at: At, function: FunctionId, term: Term, copied: Copied) -> Option<Term> {
        let call = self.call(at)?;
        let params = &self.given.program.functions[function].params;
        substitute(term, |of, reg| {
            // A parameter first: before the call it has no value, whether or not it is assigned once.
            let position = params.iter().position(|param| of == function && param.reg == reg);
            match position {
                Some(position) if params[position].by_value.is_some() && copied == Copied::OtherAddress => {
                    None
                }
                Some(position) => self.argument_term(at, call, function, position),
                None if self.given.once.contains(of, reg) => Some(Term::reg(of, reg)),
                None => (of != function && self.inside[function]).then(|| Term::reg(of, reg)),
            }
        })
    }

    /// A value at a call, in the names of the function that it enters.
    pub fn to_callee(&self, at: At, function: FunctionId, value: Term) -> Option<Term> {
        if self.given.once.is_global(value) || self.inside[function] {
            return Some(value);
        }
        let call = self.call(at)?;
        self.by_parameter(at, call, function, value)
    }

    /// `value` as a parameter plus a distance.
    fn by_parameter(&self, at: At, call: &Call, function: FunctionId, value: Term) -> Option<Term> {
        let params = &self.given.program.functions[function].params;
        params.iter().enumerate().filter(|(_, param)| param.by_value.is_none()).find_map(
            |(position, param)| {
                let distance = value.distance(self.argument_term(at, call, function, position)?)?;
                Some(term_of(self.given.values, function, raddle_ir::Operand::Reg(param.reg)).plus(distance))
            },
        )
    }

    /// A cell after a call, in the callee's names where it returns from `block`.
    pub fn at_return(&self, at: At, function: FunctionId, block: BlockId, address: Term) -> Option<Term> {
        let call = self.call(at)?;
        let (dsts, _) = call.parts(self.given.program, at.function);
        let result = |of: FunctionId, reg: Reg| {
            (of == at.function).then(|| dsts.iter().position(|dst| *dst == reg)).flatten()
        };
        if address.registers().any(|(of, reg)| result(of, reg).is_some()) {
            return substitute(address, |of, reg| match result(of, reg) {
                Some(position) => self.returned(function, block, position),
                None if self.given.once.contains(of, reg) || self.inside[function] => {
                    Some(Term::reg(of, reg))
                }
                None => None,
            });
        }
        if self.inside[function] {
            return Some(address);
        }
        // The callee writes through its parameter, also where the address has a name that is global.
        let named = self.by_parameter(at, call, function, address);
        named.or_else(|| self.given.once.is_global(address).then_some(address))
    }

    fn returned(&self, function: FunctionId, block: BlockId, position: usize) -> Option<Term> {
        let body = &self.given.program.functions[function];
        let Terminator::Ret { values } = &body.blocks[block].terminator else { return None };
        let ty = *body.returns.get(position)?;
        typed_term_of(self.given.values, function, values.get(position)?, ty)
    }

    /// A value where the callee returns, in the caller's names.
    pub fn returned_value(&self, at: At, function: FunctionId, block: BlockId, value: Term) -> Option<Term> {
        if self.given.once.is_global(value) {
            return Some(value);
        }
        let call = self.call(at)?;
        let (dsts, _) = call.parts(self.given.program, at.function);
        let same_type = |position: usize, dst: Reg| {
            let theirs = self.given.program.functions[function].returns.get(position);
            theirs == Some(&self.given.program.functions[at.function].regs[dst].ty)
        };
        let by_result = dsts.iter().enumerate().find_map(|(position, dst)| {
            let distance = value.distance(self.returned(function, block, position)?)?;
            let own = matches!(value.root, Root::Reg(..)) && same_type(position, *dst);
            own.then(|| term_of(self.given.values, at.function, raddle_ir::Operand::Reg(*dst)).plus(distance))
        });
        by_result.or_else(|| self.by_arguments(at, function, value, Copied::OtherAddress))
    }
}

impl Names<'_> {
    /// Blocks of a function from which it returns, reachable ones.
    pub fn returning(&self, function: FunctionId) -> Vec<BlockId> {
        let blocks = self.given.program.functions[function].blocks.iter();
        blocks
            .filter(|(id, block)| {
                matches!(block.terminator, Terminator::Ret { .. })
                    && self.given.values.reachable[function][id.index()]
            })
            .map(|(id, _)| id)
            .collect()
    }
}
