//! Locals in memory, loads, stores and address arithmetic.

use inkwell::llvm_sys::LLVMOpcode;
use raddle_ir::{BinOp, CastOp, Gep, Inst, IntrinsicOp, Operand, Ty};

use super::Lowered;
use super::atomics::{load_order, store_order};
use super::function::FunctionLowerer;
use super::places::{Class, Extent};
use super::types::scalar_bits;
use crate::llvm::{Layout, TypeKind, Value, ValueKind};

/// One summand of an address computation.
pub(super) enum GepStep<'m> {
    Bytes(i64),
    /// A computed index and the bytes that one of it stands for.
    Index(Value<'m>, i64),
}

/// The summands of a `getelementptr`, instruction or constant, in the order written.
pub(super) fn gep_steps<'m>(layout: Layout<'m>, gep: Value<'m>) -> Lowered<Vec<GepStep<'m>>> {
    let refusal = || "address computation of an unknown form".to_owned();
    let source = gep.gep_source_type().ok_or_else(refusal)?;
    let mut steps = Vec::new();
    let mut ty = source;
    for position in 1..gep.operand_count() {
        let index = gep.operand(position).ok_or_else(refusal)?;
        let scale = if position == 1 {
            layout.size(source)
        } else if ty.kind() == TypeKind::Struct {
            let field = index.int_bits().ok_or_else(refusal)? as u32;
            steps.push(GepStep::Bytes(layout.field_offset(ty, field).ok_or_else(refusal)? as i64));
            ty = ty.field(field).ok_or_else(refusal)?;
            continue;
        } else {
            ty = ty.element().ok_or_else(refusal)?;
            layout.size(ty)
        };
        match index.int_signed() {
            Some(constant) => steps.push(GepStep::Bytes(constant.wrapping_mul(scale as i64))),
            None => steps.push(GepStep::Index(index, scale as i64)),
        }
    }
    Ok(steps)
}

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn alloca(&mut self, inst: Value<'m>) -> Lowered<()> {
        let slot = self.slot(inst)?;
        let ty = inst.allocated_type().ok_or_else(|| "local without a type".to_owned())?;
        let layout = self.module.types.layout;
        let size = layout.size(ty);
        let count = self.input(inst, 0)?;
        let bytes = match count.int_bits() {
            Some(count) => Operand::Const(count.wrapping_mul(u128::from(size))),
            None => {
                let address = self.module.address_type();
                let count_ty = self.module.types.scalar(count.ty())?;
                let count = self.scalar(count)?;
                let count = self.convert(count, count_ty, address);
                self.binary_to(BinOp::Mul, address, count, Operand::Const(u128::from(size)))
            }
        };
        let variable = self.homes.get(&inst).copied();
        let name = match variable {
            Some(variable) => Some(variable.name),
            None => self.name_without_debug(inst),
        };
        self.emit(Inst::Alloca {
            dst: slot.first,
            bytes,
            align: inst.alloca_alignment().max(1),
            name,
            debug_type: variable.and_then(|variable| variable.ty),
        });
        Ok(())
    }

    pub(super) fn load(&mut self, inst: Value<'m>) -> Lowered<()> {
        let pointer = self.input(inst, 0)?;
        let slot = self.slot(inst)?;
        let pieces = self.module.types.pieces(inst.ty())?;
        let atomic = load_order(inst.ordering());
        let volatile = inst.is_volatile();
        let base = self.scalar(pointer)?;
        if self.module.types.is_bit_packed(inst.ty()) {
            let total: u32 = pieces.iter().map(|piece| self.bits(piece.ty)).sum();
            if total > 128 {
                return Err("vector of single bits in memory".to_owned());
            }
            let ty = Ty::Int(total as u8);
            let place = self.place(pointer, 0, Extent::Scalar(u64::from(total.div_ceil(8)), Class::Integer));
            let dst = self.temporary(ty);
            self.emit(Inst::Load { dst, ty, ptr: base, atomic, volatile, place });
            let lanes = self.unpack(Operand::Reg(dst), &pieces);
            return self.copy_pieces(inst, &lanes);
        }
        if atomic.is_some() && pieces.len() != 1 {
            return Err("atomic load of an aggregate".to_owned());
        }
        let single = pieces.len() == 1;
        for (index, piece) in pieces.iter().enumerate() {
            let extent = self.scalar_extent(piece.ty);
            let place = if single {
                self.load_place(inst, pointer, extent)
            } else {
                self.place(pointer, piece.offset as i64, extent)
            };
            let ptr = self.add_bytes(base, piece.offset as i64);
            let outside = volatile && self.may_change_outside(pointer);
            let dst = if outside { self.temporary(piece.ty) } else { slot.reg(index) };
            self.emit(Inst::Load { dst, ty: piece.ty, ptr, atomic, volatile, place });
            if outside {
                let (dsts, args) = (vec![slot.reg(index)], vec![Operand::Reg(dst)]);
                self.emit(Inst::Intrinsic { dsts, op: IntrinsicOp::Outside, ty: piece.ty, args });
            }
        }
        Ok(())
    }

    /// Whether a volatile read may meet an object that the program cannot write, and that changes all the same.
    pub(super) fn may_change_outside(&self, pointer: Value<'m>) -> bool {
        let mut base = pointer;
        while base.gep_source_type().is_some() {
            let Some(operand) = base.operand(0) else { break };
            base = operand;
        }
        match base.kind() {
            ValueKind::GlobalVariable => self.module.const_volatile.contains(&base),
            _ if base.opcode() == Some(LLVMOpcode::LLVMAlloca) => false,
            _ => self.module.const_volatile_escapes,
        }
    }

    pub(super) fn store(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (value, pointer) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let pieces = self.module.types.pieces(value.ty())?;
        let atomic = store_order(inst.ordering());
        let volatile = inst.is_volatile();
        let operands = self.pieces(value)?;
        let base = self.scalar(pointer)?;
        if self.module.types.is_bit_packed(value.ty()) {
            let packed = self.pack(&operands, &pieces)?;
            let total: u32 = pieces.iter().map(|piece| self.bits(piece.ty)).sum();
            let ty = Ty::Int(total as u8);
            let place = self.place(pointer, 0, Extent::Scalar(u64::from(total.div_ceil(8)), Class::Integer));
            self.emit(Inst::Store { ty, value: packed, ptr: base, atomic, volatile, place });
            return Ok(());
        }
        if atomic.is_some() && pieces.len() != 1 {
            return Err("atomic store of an aggregate".to_owned());
        }
        for (piece, operand) in pieces.iter().zip(operands) {
            let extent = self.scalar_extent(piece.ty);
            let place = if pieces.len() == 1 {
                self.store_place(value, pointer, extent)
            } else {
                self.place(pointer, piece.offset as i64, extent)
            };
            let ptr = self.add_bytes(base, piece.offset as i64);
            self.emit(Inst::Store { ty: piece.ty, value: operand, ptr, atomic, volatile, place });
        }
        Ok(())
    }

    /// `getelementptr`, lane by lane where a base or index is a vector.
    pub(super) fn address_arithmetic(&mut self, inst: Value<'m>) -> Lowered<()> {
        let slot = self.slot(inst)?;
        let base = self.input(inst, 0)?;
        let bases = self.pieces(base)?;
        let mut offset = 0i64;
        let mut terms = Vec::new();
        for step in gep_steps(self.module.types.layout, inst)? {
            match step {
                GepStep::Bytes(bytes) => offset = offset.wrapping_add(bytes),
                GepStep::Index(index, scale) => {
                    let ty = self.module.types.pieces(index.ty())?;
                    let ty = ty.first().map(|piece| piece.ty).ok_or_else(|| "empty index".to_owned())?;
                    terms.push((self.pieces(index)?, ty, scale));
                }
            }
        }
        for lane in 0..slot.count as usize {
            let pick = |list: &[Operand]| list.get(lane).or(list.first()).copied();
            let refusal = || "address computation of an unknown form".to_owned();
            let base = pick(&bases).ok_or_else(refusal)?;
            let mut indices = Vec::with_capacity(terms.len());
            for (operands, ty, scale) in &terms {
                indices.push((pick(operands).ok_or_else(refusal)?, *ty, *scale));
            }
            let dst = slot.reg(lane);
            self.emit(match base {
                _ if indices.is_empty() && offset == 0 => Inst::Copy { dst, ty: Ty::Ptr, a: base },
                Operand::Global(id, bytes) if indices.is_empty() => {
                    Inst::Copy { dst, ty: Ty::Ptr, a: Operand::Global(id, bytes.wrapping_add(offset)) }
                }
                _ => Inst::Gep(Box::new(Gep { dst, base, offset, indices })),
            });
        }
        Ok(())
    }

    pub(super) fn va_arg(&mut self, inst: Value<'m>) -> Lowered<()> {
        let slot = self.slot(inst)?;
        let ty = self.module.types.scalar(inst.ty())?;
        let list = self.input(inst, 0)?;
        let list = self.scalar(list)?;
        self.emit(Inst::VaArg { dst: slot.first, ty, list });
        Ok(())
    }

    /// A byte count or similar as an integer of the pointer's width.
    pub(super) fn length(&mut self, value: Value<'m>) -> Lowered<Operand> {
        let ty = self.module.types.scalar(value.ty())?;
        let address = self.module.address_type();
        let operand = self.scalar(value)?;
        let (from, to) = (self.bits(ty), self.bits(address));
        Ok(match operand {
            Operand::Const(bits) => Operand::Const(bits),
            _ if from == to => operand,
            _ => {
                let op = if from > to { CastOp::Trunc } else { CastOp::ZExt };
                self.cast_to(operand, op, ty, address)
            }
        })
    }

    pub(super) fn scalar_extent(&self, ty: Ty) -> Extent {
        let class = match ty {
            Ty::Int(_) => Class::Integer,
            Ty::Float(_) => Class::Float,
            Ty::Ptr => Class::Pointer,
        };
        Extent::Scalar(u64::from(scalar_bits(ty, self.module.pointer_bytes()).div_ceil(8)), class)
    }
}
