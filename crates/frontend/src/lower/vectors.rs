//! Vectors and first-class aggregates: inserting, extracting, shuffling, and seeing the same bits in another shape.

use raddle_ir::{BinOp, CastOp, IcmpPred, Inst, Operand, Ty};

use super::Lowered;
use super::function::FunctionLowerer;
use super::types::{Piece, scalar_bits};
use crate::llvm::{Type, TypeKind, Value};

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn extract_element(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (vector, index) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let slot = self.slot(inst)?;
        let ty = self.module.types.scalar(inst.ty())?;
        let lanes = self.pieces(vector)?;
        if let Some(lane) = index.int_bits() {
            let a = lanes.get(lane as usize).copied().unwrap_or(Operand::Undef);
            self.emit(Inst::Copy { dst: slot.first, ty, a });
            return Ok(());
        }
        let index_ty = self.module.types.scalar(index.ty())?;
        let index = self.scalar(index)?;
        let mut chosen = Operand::Undef;
        for (lane, &value) in lanes.iter().enumerate() {
            let cond = self.is_lane(index, index_ty, lane);
            let dst = self.temporary(ty);
            self.emit(Inst::Select { dst, ty, cond, a: value, b: chosen });
            chosen = Operand::Reg(dst);
        }
        self.emit(Inst::Copy { dst: slot.first, ty, a: chosen });
        Ok(())
    }

    pub(super) fn insert_element(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (vector, element, index) = (self.input(inst, 0)?, self.input(inst, 1)?, self.input(inst, 2)?);
        let mut lanes = self.pieces(vector)?;
        let element_ty = self.module.types.scalar(element.ty())?;
        let element = self.scalar(element)?;
        if let Some(lane) = index.int_bits() {
            if let Some(place) = lanes.get_mut(lane as usize) {
                *place = element;
            }
            return self.copy_pieces(inst, &lanes);
        }
        let index_ty = self.module.types.scalar(index.ty())?;
        let index = self.scalar(index)?;
        for (lane, value) in lanes.iter_mut().enumerate() {
            let cond = self.is_lane(index, index_ty, lane);
            let dst = self.temporary(element_ty);
            self.emit(Inst::Select { dst, ty: element_ty, cond, a: element, b: *value });
            *value = Operand::Reg(dst);
        }
        self.copy_pieces(inst, &lanes)
    }

    pub(super) fn shuffle(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (a, b) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let mut both = self.pieces(a)?;
        both.extend(self.pieces(b)?);
        let lanes: Vec<Operand> = inst
            .shuffle_mask()
            .into_iter()
            .map(|lane| lane.and_then(|lane| both.get(lane as usize).copied()).unwrap_or(Operand::Undef))
            .collect();
        self.copy_pieces(inst, &lanes)
    }

    pub(super) fn extract_value(&mut self, inst: Value<'m>) -> Lowered<()> {
        let aggregate = self.input(inst, 0)?;
        let (start, count) = self.piece_range(aggregate.ty(), &inst.indices())?;
        let pieces = self.pieces(aggregate)?;
        let part =
            pieces.get(start..start + count).ok_or_else(|| "aggregate of an unknown form".to_owned())?;
        if count == 0 {
            return Ok(());
        }
        self.copy_pieces(inst, part)
    }

    pub(super) fn insert_value(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (aggregate, part) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let (start, count) = self.piece_range(aggregate.ty(), &inst.indices())?;
        let mut pieces = self.pieces(aggregate)?;
        let part = self.pieces(part)?;
        let target =
            pieces.get_mut(start..start + count).ok_or_else(|| "aggregate of an unknown form".to_owned())?;
        if part.len() != count {
            return Err("aggregate of an unknown form".to_owned());
        }
        target.copy_from_slice(&part);
        self.copy_pieces(inst, &pieces)
    }

    /// The same bits in another type; shapes may differ (`<4 x i8>` and `i32`).
    pub(super) fn bitcast(&mut self, inst: Value<'m>) -> Lowered<()> {
        let input = self.input(inst, 0)?;
        let (from, to) = (self.module.types.pieces(input.ty())?, self.module.types.pieces(inst.ty())?);
        let slot = self.slot(inst)?;
        let operands = self.pieces(input)?;
        let same_shape = from.len() == to.len()
            && from.iter().zip(to.iter()).all(|(from, to)| self.bits(from.ty) == self.bits(to.ty));
        if same_shape {
            for (lane, (from, to)) in from.iter().zip(to.iter()).enumerate() {
                let (dst, a) = (slot.reg(lane), operands[lane]);
                self.emit(if from.ty == to.ty {
                    Inst::Copy { dst, ty: to.ty, a }
                } else {
                    Inst::Cast { dst, op: CastOp::Bitcast, from: from.ty, to: to.ty, a }
                });
            }
            return Ok(());
        }
        let lanes = self.reshape(&operands, &from, &to)?;
        self.copy_pieces(inst, &lanes)
    }

    /// Lanes of one width from lanes of another: whole groups are packed into one lane, or one lane is cut into a group.
    pub(super) fn reshape(
        &mut self,
        operands: &[Operand],
        from: &[Piece],
        to: &[Piece],
    ) -> Lowered<Vec<Operand>> {
        let refusal = || "bitcast between shapes that do not fit".to_owned();
        let narrow = from.first().map(|piece| self.bits(piece.ty)).ok_or_else(refusal)?;
        let wide = to.first().map(|piece| self.bits(piece.ty)).ok_or_else(refusal)?;
        let mut lanes = Vec::with_capacity(to.len());
        if narrow < wide && wide % narrow == 0 {
            let group = (wide / narrow) as usize;
            for (index, piece) in to.iter().enumerate() {
                let members = index * group..(index + 1) * group;
                let (parts, types) = (
                    operands.get(members.clone()).ok_or_else(refusal)?,
                    from.get(members).ok_or_else(refusal)?,
                );
                let packed = self.pack(parts, types)?;
                lanes.push(self.convert(packed, Ty::Int(wide as u8), piece.ty));
            }
        } else if wide < narrow && narrow % wide == 0 {
            let group = narrow / wide;
            for (index, piece) in to.iter().enumerate() {
                let source = index / group as usize;
                let (&operand, source_ty) =
                    (operands.get(source).ok_or_else(refusal)?, from.get(source).ok_or_else(refusal)?.ty);
                let whole = self.convert(operand, source_ty, Ty::Int(narrow as u8));
                let amount = (index as u32 % group) * wide;
                lanes.push(self.cut(whole, narrow, amount, piece.ty));
            }
        } else {
            return Err(refusal());
        }
        Ok(lanes)
    }

    /// All lanes in one integer, the first in the low bits.
    pub(super) fn pack(&mut self, operands: &[Operand], types: &[Piece]) -> Lowered<Operand> {
        let total: u32 = types.iter().map(|piece| self.bits(piece.ty)).sum();
        if total == 0 || total > 128 {
            return Err("vector wider than 128 bits as an integer".to_owned());
        }
        let ty = Ty::Int(total as u8);
        let (mut packed, mut amount) = (Operand::Const(0), 0);
        for (&operand, piece) in operands.iter().zip(types) {
            let wide = self.convert(operand, piece.ty, Ty::Int(self.bits(piece.ty) as u8));
            let wide = self.convert(wide, Ty::Int(self.bits(piece.ty) as u8), ty);
            let shifted = self.binary_to(BinOp::Shl, ty, wide, Operand::Const(u128::from(amount)));
            packed = self.binary_to(BinOp::Or, ty, packed, shifted);
            amount += self.bits(piece.ty);
        }
        Ok(packed)
    }

    /// The lanes of one integer.
    pub(super) fn unpack(&mut self, whole: Operand, types: &[Piece]) -> Vec<Operand> {
        let total: u32 = types.iter().map(|piece| self.bits(piece.ty)).sum();
        let mut amount = 0;
        let mut lanes = Vec::with_capacity(types.len());
        for piece in types {
            lanes.push(self.cut(whole, total, amount, piece.ty));
            amount += self.bits(piece.ty);
        }
        lanes
    }

    pub(super) fn binary_to(&mut self, op: BinOp, ty: Ty, a: Operand, b: Operand) -> Operand {
        let dst = self.temporary(ty);
        self.emit(Inst::Bin { dst, op, ty, a, b });
        Operand::Reg(dst)
    }

    pub(super) fn bits(&self, ty: Ty) -> u32 {
        scalar_bits(ty, self.module.pointer_bytes())
    }

    fn cut(&mut self, whole: Operand, width: u32, amount: u32, to: Ty) -> Operand {
        let ty = Ty::Int(width as u8);
        let low = if amount == 0 {
            whole
        } else {
            self.binary_to(BinOp::LShr, ty, whole, Operand::Const(u128::from(amount)))
        };
        self.convert(low, ty, to)
    }

    fn is_lane(&mut self, index: Operand, ty: Ty, lane: usize) -> Operand {
        let dst = self.temporary(Ty::Int(1));
        self.emit(Inst::Icmp { dst, pred: IcmpPred::Eq, ty, a: index, b: Operand::Const(lane as u128) });
        Operand::Reg(dst)
    }

    /// Which pieces of an aggregate an index list names.
    fn piece_range(&mut self, ty: Type<'m>, indices: &[u32]) -> Lowered<(usize, usize)> {
        let (mut ty, mut start) = (ty, 0);
        for &index in indices {
            match ty.kind() {
                TypeKind::Struct => {
                    for field in ty.fields().into_iter().take(index as usize) {
                        start += self.module.types.pieces(field)?.len();
                    }
                    ty = ty.field(index).ok_or_else(|| "index outside an aggregate".to_owned())?;
                }
                TypeKind::Array(_) => {
                    ty = ty.element().ok_or_else(|| "index outside an aggregate".to_owned())?;
                    start += index as usize * self.module.types.pieces(ty)?.len();
                }
                _ => return Err("index into a value without parts".to_owned()),
            }
        }
        Ok((start, self.module.types.pieces(ty)?.len()))
    }
}
