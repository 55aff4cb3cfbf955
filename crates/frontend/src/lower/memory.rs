//! Locals in memory, loads, stores and address arithmetic.

use raddle_base::{LoadOrder, StoreOrder};
use raddle_ir::{BinOp, CastOp, Gep, Inst, Operand, PlaceId, Ty};

use super::Lowered;
use super::function::FunctionLowerer;
use super::places::Extent;
use crate::llvm::{Layout, Ordering, Type, TypeKind, Value};

/// One step of address arithmetic.
#[derive(Clone, Copy)]
pub(super) enum GepStep<'m> {
    /// Constant bytes.
    Bytes(i64),
    /// An index times bytes.
    Index(Value<'m>, i64),
}

/// The steps of a `getelementptr`, as an instruction or a constant expression.
pub(super) fn gep_steps<'m>(layout: Layout<'m>, gep: Value<'m>) -> Lowered<Vec<GepStep<'m>>> {
    let mut steps = Vec::new();
    walk_gep(layout, gep, |step, _| steps.push(step))?;
    Ok(steps)
}

/// Calls `visit` for each index, with whether it picks a field of a struct.
pub(super) fn walk_gep<'m>(
    layout: Layout<'m>,
    gep: Value<'m>,
    mut visit: impl FnMut(GepStep<'m>, GepIndex),
) -> Lowered<()> {
    let mut ty = gep.gep_source_type().ok_or_else(|| "address arithmetic of an unknown form".to_owned())?;
    for position in 1..gep.operand_count() {
        let index = gep.operand(position).ok_or_else(|| "missing operand".to_owned())?;
        if position > 1 && ty.kind() == TypeKind::Struct {
            let field = index.int_bits().ok_or_else(|| "field that is not a constant".to_owned())? as u32;
            let bytes = layout.field_offset(ty, field).ok_or_else(|| "field of nothing".to_owned())?;
            visit(GepStep::Bytes(bytes as i64), GepIndex::Field);
            ty = ty.field(field).ok_or_else(|| "field of nothing".to_owned())?;
            continue;
        }
        if position > 1 {
            ty = element_of(ty)?;
        }
        let scale = layout.size(ty) as i64;
        match index.int_signed() {
            Some(number) => visit(GepStep::Bytes(number.wrapping_mul(scale)), GepIndex::Element),
            None => visit(GepStep::Index(index, scale), GepIndex::Element),
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GepIndex {
    Field,
    Element,
}

fn element_of(ty: Type<'_>) -> Lowered<Type<'_>> {
    ty.element().ok_or_else(|| "index into what is no array".to_owned())
}

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn alloca(&mut self, inst: Value<'m>) -> Lowered<()> {
        let ty = inst.allocated_type().ok_or_else(|| "local without a type".to_owned())?;
        let count = self.input(inst, 0)?;
        let size = self.module.types.layout.size(ty);
        let bytes = match count.int_bits() {
            Some(count) => Operand::Const(u128::from(size) * count),
            None => {
                let from = self.module.types.scalar(count.ty())?;
                let to = self.module.address_type();
                let count = self.scalar(count)?;
                let op = if from > to { CastOp::Trunc } else { CastOp::ZExt };
                let count = self.convert(op, from, to, count);
                self.compute(BinOp::Mul, to, count, Operand::Const(u128::from(size)))
            }
        };
        let natural = self.module.types.layout.alignment(ty);
        let variable = self.homes.get(&inst).copied();
        let dst = self.slot(inst)?.first;
        self.emit(Inst::Alloca {
            dst,
            bytes,
            align: inst.alloca_alignment().max(natural).max(1),
            name: variable.map(|variable| variable.name),
            debug_type: variable.and_then(|variable| variable.ty),
        });
        Ok(())
    }

    pub(super) fn load(&mut self, inst: Value<'m>) -> Lowered<()> {
        let pointer = self.input(inst, 0)?;
        let atomic = match inst.ordering() {
            Ordering::NotAtomic => None,
            // Atomic only against a signal handler of the same thread: plain to other threads, but still one access.
            _ if inst.is_single_thread() => None,
            Ordering::Relaxed | Ordering::Release => Some(LoadOrder::Relaxed),
            Ordering::Acquire | Ordering::AcqRel => Some(LoadOrder::Acquire),
            Ordering::SeqCst => Some(LoadOrder::SeqCst),
        };
        let pieces = self.module.types.pieces(inst.ty())?;
        self.refuse_bit_packed(inst.ty())?;
        let slot = self.slot(inst)?;
        if atomic.is_some() && pieces.len() != 1 {
            return Err("atomic access to a vector or aggregate".to_owned());
        }
        let located = self.locate(pointer, Extent::of_load(self, inst));
        let place = self.module.place(located.place.clone());
        self.loaded.insert(inst, located.as_loaded());
        let base = self.scalar(pointer)?;
        for (index, piece) in pieces.iter().enumerate() {
            let ptr = self.add_bytes(base, piece.offset as i64);
            self.emit(Inst::Load {
                dst: slot.reg(index),
                ty: piece.ty,
                ptr,
                atomic,
                volatile: inst.is_volatile(),
                place,
            });
        }
        Ok(())
    }

    pub(super) fn store(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (value, pointer) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let atomic = match inst.ordering() {
            Ordering::NotAtomic => None,
            _ if inst.is_single_thread() => None,
            Ordering::Relaxed | Ordering::Acquire => Some(StoreOrder::Relaxed),
            Ordering::Release | Ordering::AcqRel => Some(StoreOrder::Release),
            Ordering::SeqCst => Some(StoreOrder::SeqCst),
        };
        let pieces = self.module.types.pieces(value.ty())?;
        self.refuse_bit_packed(value.ty())?;
        if atomic.is_some() && pieces.len() != 1 {
            return Err("atomic access to a vector or aggregate".to_owned());
        }
        let extent = Extent::of_store(self, inst, value);
        let place = self.place_of(pointer, extent);
        let operands = self.pieces(value)?;
        let base = self.scalar(pointer)?;
        for (piece, value) in pieces.iter().zip(operands) {
            let ptr = self.add_bytes(base, piece.offset as i64);
            self.emit(Inst::Store { ty: piece.ty, value, ptr, atomic, volatile: inst.is_volatile(), place });
        }
        Ok(())
    }

    fn refuse_bit_packed(&self, ty: Type<'m>) -> Lowered<()> {
        if self.module.types.is_bit_packed(ty) {
            return Err("vector of single bits in memory".to_owned());
        }
        Ok(())
    }

    pub(super) fn address_arithmetic(&mut self, inst: Value<'m>) -> Lowered<()> {
        if !matches!(inst.ty().kind(), TypeKind::Pointer(_)) {
            return Err("vector of addresses".to_owned());
        }
        let steps = gep_steps(self.module.types.layout, inst)?;
        let base = self.input(inst, 0)?;
        let base = self.scalar(base)?;
        let mut offset = 0i64;
        let mut indices: Vec<(Operand, Ty, i64)> = Vec::new();
        for step in steps {
            match step {
                GepStep::Bytes(bytes) => offset = offset.wrapping_add(bytes),
                GepStep::Index(value, scale) => {
                    let ty = self.module.types.scalar(value.ty())?;
                    indices.push((self.scalar(value)?, ty, scale));
                }
            }
        }
        let dst = self.slot(inst)?.first;
        self.emit(Inst::Gep(Box::new(Gep { dst, base, offset, indices })));
        Ok(())
    }

    pub(super) fn place_of(&mut self, pointer: Value<'m>, extent: Extent) -> PlaceId {
        let located = self.locate(pointer, extent);
        self.module.place(located.place)
    }
}
