//! Initial values of globals.
//!
//! Bytes and addresses are data. An initial value of any other form (the difference of two labels) is computed by a constructor that
//! runs before all others, so that what cannot be expressed there is `Unsupported` in plain sight.

use inkwell::llvm_sys::LLVMOpcode;
use raddle_base::IdVec;
use raddle_ir::{Function, FunctionId, GlobalId, Init, Relocation, SymbolRef, Ty};

use super::Lowered;
use super::constants::{address_parts, doubtful_address};
use super::function::lower_deferred;
use super::module::{GlobalRef, ModuleLowerer};
use crate::llvm::{ConstKind, Type, TypeKind, Value, ValueKind};
use std::ops::Range;

/// A piece of a global whose value is computed before `main`.
pub(super) struct Deferred<'m> {
    pub(super) global: GlobalId,
    pub(super) offset: u64,
    pub(super) value: Value<'m>,
}

/// How clang names the constants that it copies into automatic objects.
const OF_AUTOMATIC: &str = "__const.";

pub(super) fn lower_initializers<'m>(lowerer: &mut ModuleLowerer<'m>, globals: &[Value<'m>]) {
    for &value in globals {
        let (Some(initializer), Some(&id)) = (value.initializer(), lowerer.globals.get(&value)) else {
            continue;
        };
        let mut init = Init::default();
        lowerer.fill(id, initializer, 0, &mut init);
        if value.name().starts_with(OF_AUTOMATIC) {
            lowerer.leave_open(initializer, 0, &mut init.open);
        }
        lowerer.program.globals[id].init = Some(init);
    }
}

/// After all bodies, because sites are numbered in the order of functions.
pub(super) fn lower_deferred_initializers(lowerer: &mut ModuleLowerer<'_>) {
    if !lowerer.deferred.is_empty() {
        let function = lowerer.declare_own("raddle.initializers");
        lower_deferred(lowerer, function);
        lowerer.program.constructors.insert(0, function);
    }
}

impl<'m> ModuleLowerer<'m> {
    fn fill(&mut self, global: GlobalId, value: Value<'m>, offset: u64, init: &mut Init) {
        if value.is_zero() {
            return;
        }
        if let Some(bytes) = value.string_bytes() {
            write(init, offset, &bytes);
            return;
        }
        if value.kind() == ValueKind::Constant {
            match value.const_kind() {
                ConstKind::Undef => return,
                ConstKind::Aggregate => {
                    self.fill_elements(global, value, offset, init);
                    return;
                }
                _ => {}
            }
        }
        // A number in a pointer: `(void *)-1`.
        let value = match (value.const_kind(), value.operand(0)) {
            (ConstKind::Expression(LLVMOpcode::LLVMIntToPtr), Some(number))
                if number.int_bits().is_some()
                    && self.types.layout.size(number.ty()) == self.types.layout.size(value.ty()) =>
            {
                number
            }
            _ => value,
        };
        if let Some(bits) = value.int_bits().or_else(|| value.float_bits()) {
            let bytes = self.types.layout.bits(value.ty()).div_ceil(8) as usize;
            write(init, offset, &bits.to_le_bytes()[..bytes.min(16)]);
            return;
        }
        match self.address(value) {
            Ok((target, addend)) => init.relocations.push(Relocation { offset, target, addend }),
            Err(_) => self.deferred.push(Deferred { global, offset, value }),
        }
    }

    fn fill_elements(&mut self, global: GlobalId, value: Value<'m>, offset: u64, init: &mut Init) {
        let ty = value.ty();
        let layout = self.types.layout;
        let (count, stride) = match (ty.kind(), ty.element()) {
            (TypeKind::Struct, _) => (ty.fields().len() as u64, None),
            (TypeKind::Array(count), Some(element)) => (count, Some(layout.size(element))),
            (TypeKind::Vector(count), Some(element)) if layout.bits(element).is_multiple_of(8) => {
                (u64::from(count), Some(layout.bits(element) / 8))
            }
            _ => {
                self.deferred.push(Deferred { global, offset, value });
                return;
            }
        };
        for index in 0..count {
            let at = match stride {
                Some(stride) => Some(index * stride),
                None => layout.field_offset(ty, index as u32),
            };
            match (at, value.element(index as u32)) {
                (Some(at), Some(element)) => self.fill(global, element, offset + at, init),
                _ => self.deferred.push(Deferred { global, offset, value }),
            }
        }
    }

    /// Padding, and what belongs to no member that the program gives a value.
    fn leave_open(&self, value: Value<'m>, offset: u64, open: &mut Vec<Range<u64>>) {
        let (ty, layout) = (value.ty(), self.types.layout);
        let end = offset + layout.size(ty);
        let is_undefined =
            value.kind() == ValueKind::Constant && matches!(value.const_kind(), ConstKind::Undef);
        if is_undefined {
            open.extend((offset < end).then_some(offset..end));
            return;
        }
        let fields = match (ty.kind(), ty.element()) {
            (TypeKind::Struct, _) => ty.fields(),
            (TypeKind::Array(count), Some(element)) if has_fields(element) => {
                let stride = layout.size(element);
                for index in 0..count {
                    if let Some(element) = value.element(index as u32) {
                        self.leave_open(element, offset + index * stride, open);
                    }
                }
                return;
            }
            _ => return,
        };
        let mut done = offset;
        for index in 0..fields.len() as u32 {
            let (Some(at), Some(field)) = (layout.field_offset(ty, index), value.element(index)) else {
                return;
            };
            let at = offset + at;
            open.extend((done < at).then_some(done..at));
            self.leave_open(field, at, open);
            done = at + layout.size(field.ty());
        }
        open.extend((done < end).then_some(done..end));
    }

    /// A pointer-sized constant as symbol plus bytes.
    fn address(&mut self, value: Value<'m>) -> Lowered<(SymbolRef, i64)> {
        let mut value = value;
        if value.const_kind() == ConstKind::Expression(LLVMOpcode::LLVMPtrToInt) {
            let whole = value.ty().kind() == TypeKind::Integer(self.pointer_bytes() * 8);
            value = match value.operand(0) {
                Some(operand) if whole => operand,
                _ => return Err("part of an address".to_owned()),
            };
        }
        let (base, bytes) = address_parts(self.types.layout, value)?;
        if let Some((function, block)) = base.block_address() {
            let function = *self.functions.get(&function).ok_or_else(|| "label of nothing".to_owned())?;
            let block = self.block_id(block).ok_or_else(|| "label without a block".to_owned())?;
            return Ok((SymbolRef::Block(function, block), bytes));
        }
        doubtful_address(base)?;
        match self.global_ref(base)? {
            (GlobalRef::Variable(id), more) => Ok((SymbolRef::Global(id), bytes + more)),
            (GlobalRef::Function(id), more) => {
                self.take_address(id);
                Ok((SymbolRef::Function(id), bytes + more))
            }
            (GlobalRef::ThreadLocal(_), _) => Err("address of a thread-local in data".to_owned()),
        }
    }

    /// A function that is not in the source: what happens before `main` or after it.
    pub(super) fn declare_own(&mut self, name: &str) -> FunctionId {
        let symbol = self.symbol(name);
        self.program.functions.push(Function {
            symbol,
            name: symbol,
            span: None,
            in_primary_file: false,
            library_copy: false,
            exported: false,
            params: Vec::new(),
            variadic: false,
            returns: Vec::<Ty>::new(),
            address_taken: false,
            noreturn: false,
            regs: IdVec::new(),
            blocks: IdVec::new(),
        })
    }
}

fn has_fields(ty: Type<'_>) -> bool {
    match ty.kind() {
        TypeKind::Struct => true,
        TypeKind::Array(_) => ty.element().is_some_and(has_fields),
        _ => false,
    }
}

fn write(init: &mut Init, offset: u64, bytes: &[u8]) {
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    if used == 0 {
        return;
    }
    let start = offset as usize;
    if init.data.len() < start + used {
        init.data.resize(start + used, 0);
    }
    init.data[start..start + used].copy_from_slice(&bytes[..used]);
}
