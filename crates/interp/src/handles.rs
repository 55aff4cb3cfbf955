//! Whether the ids of threads are used for anything but joining them.
//!
//! They are stored by the creation into a variable of which the program does nothing else but load an id to join its thread, without
//! looking at its result. Everything else (a call of `pthread_self`, an id that is copied, compared, passed on) counts as
//! another use. The answer errs on that side: it looks at addresses made in one function from one variable only.

use crate::image::{Callable, Image};
use raddle_ir::{Callee, Function, FunctionId, GlobalId, Inst, Operand, Reg, SymbolRef};
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
                | ThreadOp::Join { how: How::Try | How::Timed, .. },
            ) => return false,
            _ => {}
        }
    }
    let bodies = || program.functions.iter().filter(|(_, function)| function.is_defined());
    let mut holders: BTreeSet<Root> = BTreeSet::new();
    for (id, function) in bodies() {
        let roots = Roots::of(id, function);
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if let Some((ThreadOp::Create { id, .. }, args)) = call(image, inst) {
                let Some(root) = argument(args, id).and_then(|operand| roots.of_operand(operand)) else {
                    return false;
                };
                holders.insert(root);
            }
        }
    }
    let escapes = |target: SymbolRef| matches!(target, SymbolRef::Global(global) if holders.contains(&Root::Global(global)));
    let inits = program.globals.values().filter_map(|global| global.init.as_ref());
    let relocated = inits.flat_map(|init| &init.relocations).any(|relocation| escapes(relocation.target));
    !relocated && bodies().all(|(id, function)| uses_are_joins(image, id, function, &holders))
}

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Root {
    Global(GlobalId),
    Local(FunctionId, Reg),
}

/// Which variable the registers of a function point into; `Err` for those that may point into several.
struct Roots(Vec<Option<Result<Root, ()>>>);

impl Roots {
    fn of(id: FunctionId, function: &Function) -> Roots {
        let mut roots = Roots(vec![None; function.regs.len()]);
        loop {
            let mut changed = false;
            for inst in function.blocks.values().flat_map(|block| &block.insts) {
                let (dst, root) = match inst {
                    Inst::Alloca { dst, .. } => (*dst, Some(Ok(Root::Local(id, *dst)))),
                    Inst::Gep(gep) => (gep.dst, roots.known(gep.base)),
                    Inst::Copy { dst, a, .. } => (*dst, roots.known(*a)),
                    _ => continue,
                };
                changed |= roots.join(dst, root);
            }
            if !changed {
                return roots;
            }
        }
    }

    fn join(&mut self, reg: Reg, root: Option<Result<Root, ()>>) -> bool {
        let known = &mut self.0[reg.0 as usize];
        let joined = match (*known, root) {
            (known, None) => known,
            (None, root) => root,
            (Some(known), Some(root)) => Some(if known == root { known } else { Err(()) }),
        };
        std::mem::replace(known, joined) != joined
    }

    fn known(&self, operand: Operand) -> Option<Result<Root, ()>> {
        match operand {
            Operand::Reg(reg) => self.0[reg.0 as usize],
            Operand::Global(global, _) => Some(Ok(Root::Global(global))),
            _ => None,
        }
    }

    fn of_operand(&self, operand: Operand) -> Option<Root> {
        self.known(operand).and_then(Result::ok)
    }
}

fn uses_are_joins(image: &Image, id: FunctionId, function: &Function, holders: &BTreeSet<Root>) -> bool {
    let roots = Roots::of(id, function);
    let holds = |operand: Operand| match roots.known(operand) {
        Some(Ok(root)) => holders.contains(&root),
        Some(Err(())) => true,
        None => false,
    };
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
    let ends = function.blocks.values().all(|block| {
        let mut fine = true;
        block.terminator.each_operand(|operand| fine &= !holds(operand) && !is_id(operand));
        fine
    });
    ends && insts().all(allowed)
}

fn thread_op(image: &Image, function: FunctionId) -> Option<ThreadOp> {
    match image.callable(function) {
        Callable::Effect(Effect::Thread(op, _), _) => Some(*op),
        _ => None,
    }
}

fn call<'a>(image: &Image, inst: &'a Inst) -> Option<(ThreadOp, &'a [raddle_ir::CallArg])> {
    match inst {
        Inst::Call { callee: Callee::Direct(function), args, .. } => {
            thread_op(image, *function).map(|op| (op, &args[..]))
        }
        _ => None,
    }
}

fn argument(args: &[raddle_ir::CallArg], arg: Arg) -> Option<Operand> {
    args.get(usize::from(arg.0)).map(|arg| arg.value)
}
