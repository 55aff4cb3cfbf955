//! What no proof may reach, and the assumptions that it must name.

use super::Refusal;
use super::code::{At, Code};
use raddle_base::SiteId;
use raddle_facts::ObjectKind;
use raddle_ir::{Inst, Terminator};
use raddle_libmodel::{Effect, Meaning, ThreadOp};
use std::collections::BTreeSet;

const RULE: &str = "gaps";

/// Assumptions of library models that a static answer shares. Those about one run or one input it does not need: a result that is no
/// constant may be every value, and memory that was never written holds any.
const SHARED: &[&str] = &["A-LOCKFN", "A-KLOCK", "A-IGNORE", "A-SIGNAL", "A-LAYOUT", "A-THREAD"];

pub(crate) fn check(code: &Code<'_>) -> Result<(), Refusal> {
    let mut needed: BTreeSet<&'static str> = BTreeSet::from(["A-BOUNDS"]);
    if !code.roots.entries.is_empty() {
        needed.insert("A-ENTRY");
    }
    code.each_instruction(|at, inst| {
        match inst {
            Inst::Unsupported { reason, .. } => {
                return code.refuse_at(at, RULE, code.program.text(*reason));
            }
            Inst::Asm { .. } => {
                needed.insert("A-ASM");
            }
            _ => {}
        }
        Ok(())
    })?;
    for (function, body) in code.program.functions.iter() {
        for block in code.reachable_blocks(function) {
            if let Terminator::Unsupported { reason } = &body.blocks[block].terminator {
                let at = At { function, block, index: body.blocks[block].insts.len() };
                return code.refuse_at(at, RULE, code.program.text(*reason));
            }
        }
    }
    calls(code, &mut needed)?;
    match needed.iter().find(|id| !code.proof.assumptions.iter().any(|listed| listed == *id)) {
        Some(missing) => {
            code.refuse(SiteId::NONE, "assumptions", format!("{missing} is needed and not listed"))
        }
        None => Ok(()),
    }
}

fn calls(code: &Code<'_>, needed: &mut BTreeSet<&'static str>) -> Result<(), Refusal> {
    let (mut cleanup, mut leaves) = (None, false);
    for (function, calls) in code.calls.from.iter() {
        for call in calls {
            let (_, args) = call.parts(code, function);
            if !call.unknown.is_empty() {
                needed.insert("A-EXTERN");
                let is_function = |object| matches!(code.kind(object), ObjectKind::Function(_));
                let given = args.iter().flat_map(|arg| code.pointees(function, arg.value));
                if given.map(|(object, _)| object).any(is_function) {
                    return code.refuse(call.site, RULE, "a function without a body is given one to call");
                }
            }
            for (target, effect) in &call.effects {
                if let Meaning::Effect(_, ids) = &code.models.meanings[*target] {
                    // A result that is a constant is the model's word.
                    let constant = matches!(effect, Effect::Nothing { .. });
                    needed.extend(ids.iter().filter(|id| SHARED.contains(id) || constant));
                }
                match effect {
                    Effect::Unsupported { reason } => return code.refuse(call.site, RULE, *reason),
                    Effect::Thread(ThreadOp::Cancel { .. }, _) => {
                        return code.refuse(call.site, RULE, "a thread is cancelled");
                    }
                    Effect::Thread(ThreadOp::Create { .. } | ThreadOp::CreateReturning { .. }, _) => {
                        needed.insert("A-THREAD");
                    }
                    Effect::Thread(ThreadOp::CleanupRegister, _) => cleanup = cleanup.or(Some(call.site)),
                    Effect::Thread(ThreadOp::Exit { .. }, _) => leaves = true,
                    _ => {}
                }
                if let Some(reason) = effect.memory().gap {
                    return code.refuse(call.site, RULE, reason);
                }
            }
        }
    }
    match cleanup {
        Some(site) if leaves => {
            code.refuse(site, RULE, "a thread may exit with a clean-up handler registered")
        }
        _ => Ok(()),
    }
}
