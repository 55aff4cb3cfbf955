//! Atomic operations and fences: the runtime is told before and after the real instruction.
//!
//! The runtime holds the location between the two calls, so that the order it sees is the order that took place.

use inkwell::llvm_sys::LLVMOpcode;
use raddle_runtime::sites::Reads;

use crate::body::Body;
use crate::deciding;
use crate::emit::Emitter;
use crate::llvm::Value;
use crate::locals::Locals;
use crate::marks::{Marks, Role};
use crate::merged::Merged;

const LOAD: u32 = 0;
const STORE: u32 = 1;
const READ_MODIFY_WRITE: u32 = 2;
const COMPARE_EXCHANGE: u32 = 3;

pub(crate) fn instrument(
    emitter: &Emitter<'_>,
    body: &Body,
    (locals, merged): (&mut Locals<'_>, &Merged),
    marks: &mut Marks,
) -> usize {
    let mut count = 0;
    for &inst in body.instructions.iter().flatten() {
        let Some(order) = inst.order() else { continue };
        if inst.is(LLVMOpcode::LLVMFence) {
            if !inst.is_single_thread() {
                let site = marks.site(emitter.module, inst, Role::Write);
                emitter.builder.before(inst);
                let arguments = [emitter.builder.int32(order), emitter.site(site)];
                emitter.builder.call(emitter.hooks.fence, &arguments);
                count += 1;
            }
            continue;
        }
        let Some((kind, address, value)) = parts(inst) else { continue };
        let Some(bytes) = emitter.module.access_bytes(value) else { continue };
        if !address.ty().is_plain_pointer() || locals.needs_no_check(address) {
            continue;
        }
        let role = if kind == LOAD { Role::Read } else { Role::Write };
        let site = marks.site(emitter.module, inst, role);
        match kind {
            LOAD | READ_MODIFY_WRITE => {
                let own = deciding::reads(emitter.module, inst, locals, marks);
                marks.reads(site, own.max(merged.reads(address)));
            }
            // Whether it stores depends on what it reads.
            COMPARE_EXCHANGE => marks.reads(site, Reads::Decides),
            _ => marks.reads(site, Reads::Nothing),
        }
        let builder = &emitter.builder;
        builder.before(inst);
        let failure = inst.failure_order().unwrap_or(0);
        let arguments = [
            address,
            builder.int32(bytes as u32),
            builder.int32(kind),
            builder.int32(order),
            builder.int32(failure),
            emitter.site(site),
        ];
        let token = builder.call(emitter.hooks.atomic_enter, &arguments);
        let Some(next) = inst.next() else { continue };
        builder.before_at(next, inst.location());
        let succeeded = if kind == COMPARE_EXCHANGE {
            builder.zero_extend(builder.extract(inst, 1), emitter.module.int(32))
        } else {
            builder.int32(1)
        };
        builder.call(emitter.hooks.atomic_leave, &[token, succeeded]);
        count += 1;
    }
    count
}

/// The kind of an operation, its address, and the type it works on.
fn parts(inst: Value) -> Option<(u32, Value, crate::llvm::Type)> {
    match inst.opcode()? {
        LLVMOpcode::LLVMLoad => Some((LOAD, inst.operand(0)?, inst.ty())),
        LLVMOpcode::LLVMStore => Some((STORE, inst.operand(1)?, inst.operand(0)?.ty())),
        LLVMOpcode::LLVMAtomicRMW => Some((READ_MODIFY_WRITE, inst.operand(0)?, inst.operand(1)?.ty())),
        LLVMOpcode::LLVMAtomicCmpXchg => Some((COMPARE_EXCHANGE, inst.operand(0)?, inst.operand(1)?.ty())),
        _ => None,
    }
}
