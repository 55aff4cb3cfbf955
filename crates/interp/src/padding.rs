//! Padding of structures in the constants that clang copies initialisers of automatic variables from: 0 there, and any value in the variable
//! (C11 6.2.6.1, paragraph 6). It counts as uninitialised, in the constant and so in the copy.
//!
//! The type is that of the variable. Errs towards too little padding: none is seen in types that are not known, and in a union only
//! what no member covers. Bytes that an assignment to a member leaves open keep what they had.

use crate::memory::Memory;
use raddle_base::Id;
use raddle_ir::{DebugType, DebugTypeId, Function, GlobalId, Inst, Operand, Program, Reg};

/// Marks the padding of all such constants.
pub(crate) fn mark(memory: &mut Memory, program: &Program, globals: &[u64]) {
    for function in program.functions.values() {
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            let Inst::MemCopy { dst: Operand::Reg(variable), src: Operand::Global(constant, 0), .. } = inst
            else {
                continue;
            };
            if is_template(program, *constant)
                && let Some(ty) = type_of(function, *variable)
            {
                let mut members = vec![false; program.globals[*constant].bytes as usize];
                cover(program, ty, 0, &mut members);
                memory.leave_open(globals[constant.index()], &members);
            }
        }
    }
}

fn is_template(program: &Program, global: GlobalId) -> bool {
    let constant = program.globals[global].constant;
    constant && program.text(program.globals[global].symbol).starts_with("__const.")
}

/// The type of the variable whose address the register holds.
fn type_of(function: &Function, variable: Reg) -> Option<DebugTypeId> {
    function.blocks.values().flat_map(|block| &block.insts).find_map(|inst| match inst {
        Inst::Alloca { dst, debug_type, .. } if *dst == variable => *debug_type,
        _ => None,
    })
}

/// Marks the bytes that an object of this type at this offset has values in.
fn cover(program: &Program, ty: DebugTypeId, offset: u64, members: &mut [bool]) {
    let mut fill = |bytes: u64| {
        let end = members.len().min(offset.saturating_add(bytes) as usize);
        members[end.min(offset as usize)..end].fill(true);
    };
    match &program.debug_types[program.strip(ty)] {
        DebugType::Scalar { bytes, .. } => fill(*bytes),
        DebugType::Pointer { .. } => fill(u64::from(program.data_model.pointer_bytes())),
        DebugType::Record { fields, bytes, .. } if !fields.is_empty() => {
            for field in fields {
                let (first, width) = (field.bit_offset, field.bit_width);
                match width {
                    Some(width) => {
                        let (start, end) = (first / 8, (first + u64::from(width)).div_ceil(8));
                        let range = (offset + start) as usize..(offset + end.min(*bytes)) as usize;
                        members.get_mut(range).into_iter().for_each(|bytes| bytes.fill(true));
                    }
                    None => cover(program, field.ty, offset + first / 8, members),
                }
            }
        }
        DebugType::Array { element, count: Some(count) } => match size(program, *element) {
            Some(bytes) if bytes > 0 => {
                for index in 0..(*count).min(members.len() as u64 / bytes) {
                    cover(program, *element, offset + index * bytes, members);
                }
            }
            _ => fill(u64::MAX),
        },
        _ => fill(u64::MAX),
    }
}

fn size(program: &Program, ty: DebugTypeId) -> Option<u64> {
    match program.debug_types[program.strip(ty)] {
        DebugType::Scalar { bytes, .. } | DebugType::Record { bytes, .. } => Some(bytes),
        DebugType::Pointer { .. } => Some(u64::from(program.data_model.pointer_bytes())),
        DebugType::Array { element, count } => Some(size(program, element)? * count?),
        _ => None,
    }
}
