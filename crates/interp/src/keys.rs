//! Whether the numbers of keys (`pthread_key_create`) are used for anything but naming them.
//!
//! They are stored into a variable of which the program does nothing else but load a key to give it to a function on keys. Everything else
//! counts as another use, and so does a key in a variable that is not known. Errs on that side.

use crate::handles::{Variable, are_named_in_data, argument, variable};
use crate::image::{Callable, Image};
use raddle_ir::{Bases, CallArg, Callee, Function, FunctionId, Inst, Operand, Reg};
use raddle_libmodel::{Arg, Effect, TlsOp};
use std::collections::BTreeSet;

pub(crate) fn are_only_handed_on(image: &Image) -> bool {
    let program = &image.program;
    let handed_out = program
        .functions
        .iter()
        .any(|(id, function)| function.address_taken && operation(image, id).is_some());
    let bodies = || program.functions.iter().filter(|(_, function)| function.is_defined());
    let mut holders: BTreeSet<Variable> = BTreeSet::new();
    for (id, function) in bodies() {
        let bases = Bases::of(function);
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if let Some((TlsOp::KeyCreate { key, .. }, args)) = call(image, inst) {
                let Some(base) = argument(args, key).and_then(|operand| bases.of_operand(operand)) else {
                    return false;
                };
                holders.insert(variable(id, base));
            }
        }
    }
    let known = !handed_out && !are_named_in_data(program, &holders);
    known && bodies().all(|(id, function)| are_handed_on(image, id, function, &holders))
}

fn are_handed_on(image: &Image, id: FunctionId, function: &Function, holders: &BTreeSet<Variable>) -> bool {
    let bases = Bases::of(function);
    let holds = |operand| bases.of_operand(operand).is_some_and(|base| holders.contains(&variable(id, base)));
    let insts = || function.blocks.values().flat_map(|block| &block.insts);
    let keys: BTreeSet<Reg> = insts()
        .filter_map(|inst| match inst {
            Inst::Load { dst, ptr, .. } if holds(*ptr) => Some(*dst),
            _ => None,
        })
        .collect();
    let concerned =
        |operand: Operand| holds(operand) || matches!(operand, Operand::Reg(reg) if keys.contains(&reg));
    let allowed = |inst: &Inst| {
        let mut uses = 0;
        inst.each_operand(|operand| uses += usize::from(concerned(operand)));
        let fine = match (inst, call(image, inst)) {
            (Inst::Load { ptr, .. }, _) => holds(*ptr),
            (Inst::Gep(gep), _) => holds(gep.base),
            (Inst::Copy { a, .. }, _) => holds(*a),
            // What the program itself stores there is no key.
            (Inst::Store { ptr, .. }, _) => holds(*ptr),
            (_, Some((op, args))) => argument(args, key_of(op)).is_some_and(concerned),
            _ => false,
        };
        uses == usize::from(fine)
    };
    let elsewhere = function.blocks.values().any(|block| {
        let mut used =
            block.phis.iter().flat_map(|phi| &phi.incoming).any(|(_, operand)| concerned(*operand));
        block.terminator.each_operand(|operand| used |= concerned(operand));
        used
    });
    !elsewhere && insts().all(allowed)
}

fn key_of(op: TlsOp) -> Arg {
    match op {
        TlsOp::KeyCreate { key, .. }
        | TlsOp::KeyDelete { key }
        | TlsOp::Get { key }
        | TlsOp::Set { key, .. } => key,
    }
}

fn operation(image: &Image, function: FunctionId) -> Option<TlsOp> {
    match image.callable(function) {
        Callable::Effect(Effect::Tls(op, _), _) => Some(*op),
        _ => None,
    }
}

fn call<'a>(image: &Image, inst: &'a Inst) -> Option<(TlsOp, &'a [CallArg])> {
    match inst {
        Inst::Call { callee: Callee::Direct(function), args, .. } => {
            operation(image, *function).map(|op| (op, &args[..]))
        }
        _ => None,
    }
}
