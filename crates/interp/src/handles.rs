//! Whether the ids of threads are used for anything but joining them.
//!
//! They are stored by the creation into a variable of which the program does nothing else but load an id to join its thread, without
//! looking at its result. Everything else (a call of `pthread_self`, an id that is copied, compared, passed on) counts as
//! another use. The answer errs on that side: it looks at addresses made in one function from one variable only.

use crate::image::{Callable, Image};
use raddle_ir::{Base, Bases, CallArg, Callee, Function, FunctionId, Inst, Operand, Program, Reg, SymbolRef};
use raddle_libmodel::{Arg, Effect, How, ThreadOp};
use std::collections::BTreeSet;

pub(crate) fn are_only_joined(image: &Image) -> bool {
    let program = &image.program;
    for (id, function) in program.functions.iter() {
        let join_or_create =
            |op: ThreadOp| matches!(op, ThreadOp::Create { .. } | ThreadOp::Join { how: How::Block, .. });
        match thread_op(image, id) {
            Some(op) if join_or_create(op) && function.address_taken => return false,
            Some(
                ThreadOp::SelfId
                | ThreadOp::Equal { .. }
                | ThreadOp::Detach { .. }
                | ThreadOp::Cancel { .. }
                | ThreadOp::CreateReturning { .. }
                | ThreadOp::Join { how: How::Try | How::Timed { .. }, .. },
            ) => return false,
            _ => {}
        }
    }
    let bodies = || program.functions.iter().filter(|(_, function)| function.is_defined());
    let mut holders: BTreeSet<Variable> = BTreeSet::new();
    for (id, function) in bodies() {
        let bases = Bases::of(function);
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if let Some((ThreadOp::Create { id: into, .. }, args)) = call(image, inst) {
                let Some(base) = argument(args, into).and_then(|operand| bases.of_operand(operand)) else {
                    return false;
                };
                holders.insert(variable(id, base));
            }
        }
    }
    !are_named_in_data(program, &holders)
        && bodies().all(|(id, function)| uses_are_joins(image, id, function, &holders))
}

/// A global, or a local of a function.
pub(crate) type Variable = (Option<FunctionId>, Base);

pub(crate) fn variable(function: FunctionId, base: Base) -> Variable {
    match base {
        Base::Local(_) => (Some(function), base),
        Base::Global(_) => (None, base),
    }
}

/// Whether the address of one of them is an initial value.
pub(crate) fn are_named_in_data(program: &Program, variables: &BTreeSet<Variable>) -> bool {
    let inits = program.globals.values().filter_map(|global| global.init.as_ref());
    inits.flat_map(|init| &init.relocations).any(|relocation| match relocation.target {
        SymbolRef::Global(global) => variables.contains(&(None, Base::Global(global))),
        _ => false,
    })
}

fn uses_are_joins(image: &Image, id: FunctionId, function: &Function, holders: &BTreeSet<Variable>) -> bool {
    let bases = Bases::of(function);
    let holds = |operand| bases.of_operand(operand).is_some_and(|base| holders.contains(&variable(id, base)));
    let insts = || function.blocks.values().flat_map(|block| &block.insts);
    let ids: BTreeSet<Reg> = insts()
        .filter_map(|inst| match inst {
            Inst::Load { dst, ptr, .. } if holds(*ptr) => Some(*dst),
            _ => None,
        })
        .collect();
    let is_id = |operand: Operand| matches!(operand, Operand::Reg(reg) if ids.contains(&reg));
    let allowed = |inst: &Inst| {
        let mut left = 0;
        inst.each_operand(|operand| left += usize::from(holds(operand) || is_id(operand)));
        let fine = match (inst, call(image, inst)) {
            // What is stored there by anyone else is no id.
            (Inst::Load { ptr, .. }, _) => holds(*ptr),
            (Inst::Gep(gep), _) => holds(gep.base),
            (Inst::Copy { a, .. }, _) => holds(*a),
            (_, Some((ThreadOp::Create { id, .. }, args))) => argument(args, id).is_some_and(holds),
            (_, Some((ThreadOp::Join { thread, .. }, args))) => argument(args, thread).is_some_and(is_id),
            _ => false,
        };
        let blind = match call(image, inst) {
            Some((ThreadOp::Join { result: Some(result), .. }, args)) => argument(args, result)
                .is_some_and(|operand| matches!(operand, Operand::Null | Operand::Const(0))),
            _ => true,
        };
        blind && left == usize::from(fine)
    };
    let unrelated = |operand| !holds(operand) && !is_id(operand);
    let elsewhere = function.blocks.values().all(|block| {
        let mut fine =
            block.phis.iter().flat_map(|phi| &phi.incoming).all(|(_, operand)| unrelated(*operand));
        block.terminator.each_operand(|operand| fine &= unrelated(operand));
        fine
    });
    elsewhere && insts().all(allowed)
}

fn thread_op(image: &Image, function: FunctionId) -> Option<ThreadOp> {
    match image.callable(function) {
        Callable::Effect(Effect::Thread(op, _), _) => Some(*op),
        _ => None,
    }
}

fn call<'a>(image: &Image, inst: &'a Inst) -> Option<(ThreadOp, &'a [CallArg])> {
    match inst {
        Inst::Call { callee: Callee::Direct(function), args, .. } => {
            thread_op(image, *function).map(|op| (op, &args[..]))
        }
        _ => None,
    }
}

pub(crate) fn argument(args: &[CallArg], arg: Arg) -> Option<Operand> {
    args.get(usize::from(arg.0)).map(|arg| arg.value)
}
