//! Which reads decide: whether a value that is read may reach a branch, an address, a call or what nobody records.
//!
//! Prediction (Carril and Tichy, SEPS 2015, section 3; `raddle_predict::reordering`) may let a read see another value than the recorded
//! one where the thread takes its way without it. A value is followed through SSA: arithmetic, comparisons, phis, casts and selects pass it on;
//! a store passes it to memory, where later reads of it are reads of their own, if that memory is checked. Everything else decides:
//! branches, addresses, divisors, arguments, results, functions that are not inlined. Errs towards `Decides`.
//!
//! In one segment of a thread a trace may have one read of some bytes for all that follow: see [`crate::merged`]. The check that stands for
//! others in its function has their flags ([`crate::redundancy`]).

use std::collections::HashSet;

use inkwell::llvm_sys::LLVMOpcode;
use raddle_runtime::sites::Reads;

use crate::llvm::{Module, Value};
use crate::locals::Locals;
use crate::marks::{Marks, Role};

/// Intrinsics that compute, by the beginnings of their names.
const COMPUTE: [&str; 36] = [
    "abs",
    "bitreverse",
    "bswap",
    "ceil",
    "copysign",
    "cos",
    "ctlz",
    "ctpop",
    "cttz",
    "exp",
    "expect",
    "fabs",
    "floor",
    "fma",
    "fmuladd",
    "fshl",
    "fshr",
    "log",
    "maxnum",
    "minnum",
    "nearbyint",
    "pow",
    "rint",
    "round",
    "sadd",
    "sin",
    "smax",
    "smin",
    "sqrt",
    "ssub",
    "trunc",
    "uadd",
    "umax",
    "umin",
    "umul",
    "usub",
];
/// Intrinsics that do nothing with their arguments.
const IGNORE: [&str; 4] = ["dbg", "lifetime", "assume", "donothing"];
/// More values than this are not followed.
const MOST: usize = 10_000;

/// What becomes of the value of a load, or of what an atomic instruction found in memory.
pub(crate) fn reads(module: &Module, load: Value, locals: &mut Locals<'_>, marks: &Marks) -> Reads {
    let mut seen = HashSet::from([load]);
    let mut queue = vec![load];
    while let Some(value) = queue.pop() {
        for user in value.users() {
            match use_of(module, value, user, locals, marks) {
                Use::Ends => {}
                Use::Passes => {
                    if seen.insert(user) {
                        queue.push(user);
                    }
                }
                Use::Decides => return Reads::Decides,
            }
        }
        if seen.len() > MOST {
            return Reads::Decides;
        }
    }
    Reads::Passes
}

enum Use {
    /// Into checked memory, or nowhere.
    Ends,
    /// The result of the user depends on it.
    Passes,
    Decides,
}

fn use_of(module: &Module, value: Value, user: Value, locals: &mut Locals<'_>, marks: &Marks) -> Use {
    let is_operand = |index: u32| user.operand(index) == Some(value);
    match user.opcode() {
        Some(LLVMOpcode::LLVMStore) if !is_operand(1) => match user.operand(1) {
            Some(address) if is_checked(module, user, address, locals, marks) => Use::Ends,
            _ => Use::Decides,
        },
        // What it finds there is read from memory, and not this value.
        Some(LLVMOpcode::LLVMAtomicRMW) if !is_operand(0) => match user.operand(0) {
            Some(address) if address.ty().is_plain_pointer() && !locals.needs_no_check(address) => Use::Ends,
            _ => Use::Decides,
        },
        Some(LLVMOpcode::LLVMSDiv | LLVMOpcode::LLVMUDiv | LLVMOpcode::LLVMSRem | LLVMOpcode::LLVMURem)
            if is_operand(1) =>
        {
            Use::Decides
        }
        Some(
            LLVMOpcode::LLVMAdd
            | LLVMOpcode::LLVMFAdd
            | LLVMOpcode::LLVMSub
            | LLVMOpcode::LLVMFSub
            | LLVMOpcode::LLVMMul
            | LLVMOpcode::LLVMFMul
            | LLVMOpcode::LLVMUDiv
            | LLVMOpcode::LLVMSDiv
            | LLVMOpcode::LLVMFDiv
            | LLVMOpcode::LLVMURem
            | LLVMOpcode::LLVMSRem
            | LLVMOpcode::LLVMFRem
            | LLVMOpcode::LLVMFNeg
            | LLVMOpcode::LLVMShl
            | LLVMOpcode::LLVMLShr
            | LLVMOpcode::LLVMAShr
            | LLVMOpcode::LLVMAnd
            | LLVMOpcode::LLVMOr
            | LLVMOpcode::LLVMXor
            | LLVMOpcode::LLVMICmp
            | LLVMOpcode::LLVMFCmp
            | LLVMOpcode::LLVMPHI
            | LLVMOpcode::LLVMSelect
            | LLVMOpcode::LLVMFreeze
            | LLVMOpcode::LLVMGetElementPtr
            | LLVMOpcode::LLVMTrunc
            | LLVMOpcode::LLVMZExt
            | LLVMOpcode::LLVMSExt
            | LLVMOpcode::LLVMFPToUI
            | LLVMOpcode::LLVMFPToSI
            | LLVMOpcode::LLVMUIToFP
            | LLVMOpcode::LLVMSIToFP
            | LLVMOpcode::LLVMFPTrunc
            | LLVMOpcode::LLVMFPExt
            | LLVMOpcode::LLVMPtrToInt
            | LLVMOpcode::LLVMIntToPtr
            | LLVMOpcode::LLVMBitCast
            | LLVMOpcode::LLVMExtractElement
            | LLVMOpcode::LLVMInsertElement
            | LLVMOpcode::LLVMShuffleVector
            | LLVMOpcode::LLVMExtractValue
            | LLVMOpcode::LLVMInsertValue,
        ) => Use::Passes,
        Some(LLVMOpcode::LLVMCall) => called(user),
        _ => Use::Decides,
    }
}

fn called(call: Value) -> Use {
    let name = call.direct_callee().map(Value::name).unwrap_or_default();
    let Some(intrinsic) = name.strip_prefix("llvm.") else { return Use::Decides };
    let kind = intrinsic.split('.').next().unwrap_or_default();
    if COMPUTE.contains(&kind) {
        Use::Passes
    } else if IGNORE.contains(&kind) {
        Use::Ends
    } else {
        Use::Decides
    }
}

/// Whether reads of what is stored there are seen: the memory is checked, and so is this store.
fn is_checked(module: &Module, store: Value, address: Value, locals: &mut Locals<'_>, marks: &Marks) -> bool {
    address.ty().is_plain_pointer()
        && (store.order().is_some() || marks.keeps(module, store, Role::Write))
        && !locals.needs_no_check(address)
}
