//! Vectors and first-class aggregates: taking apart and putting together.

use raddle_ir::{IcmpPred, Inst, Operand, Ty};

use super::Lowered;
use super::function::FunctionLowerer;
use crate::llvm::{Type, TypeKind, Value};

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn extract_element(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (vector, index) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let lanes = self.pieces(vector)?;
        if let Some(lane) = index.int_bits() {
            let lane = lanes.get(lane as usize).copied().unwrap_or(Operand::Undef);
            return self.copy_pieces(inst, vec![lane]);
        }
        let ty = self.module.types.scalar(inst.ty())?;
        let index_ty = self.module.types.scalar(index.ty())?;
        let index = self.scalar(index)?;
        let mut picked = Operand::Undef;
        for (lane, value) in lanes.into_iter().enumerate() {
            let cond = self.is_lane(index, index_ty, lane);
            let dst = self.temporary(ty);
            self.emit(Inst::Select { dst, ty, cond, a: value, b: picked });
            picked = Operand::Reg(dst);
        }
        self.copy_pieces(inst, vec![picked])
    }

    pub(super) fn insert_element(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (vector, element, index) = (self.input(inst, 0)?, self.input(inst, 1)?, self.input(inst, 2)?);
        let mut lanes = self.pieces(vector)?;
        let ty = self.module.types.scalar(element.ty())?;
        let element = self.scalar(element)?;
        if let Some(lane) = index.int_bits() {
            if let Some(lane) = lanes.get_mut(lane as usize) {
                *lane = element;
            }
            return self.copy_pieces(inst, lanes);
        }
        let index_ty = self.module.types.scalar(index.ty())?;
        let index = self.scalar(index)?;
        for (lane, value) in lanes.iter_mut().enumerate() {
            let cond = self.is_lane(index, index_ty, lane);
            let dst = self.temporary(ty);
            self.emit(Inst::Select { dst, ty, cond, a: element, b: *value });
            *value = Operand::Reg(dst);
        }
        self.copy_pieces(inst, lanes)
    }

    fn is_lane(&mut self, index: Operand, ty: Ty, lane: usize) -> Operand {
        let dst = self.temporary(Ty::Int(1));
        self.emit(Inst::Icmp { dst, pred: IcmpPred::Eq, ty, a: index, b: Operand::Const(lane as u128) });
        Operand::Reg(dst)
    }

    pub(super) fn shuffle(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (left, right) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let mut lanes = self.pieces(left)?;
        lanes.extend(self.pieces(right)?);
        let picked = inst
            .shuffle_mask()
            .into_iter()
            .map(|lane| lane.and_then(|lane| lanes.get(lane as usize).copied()).unwrap_or(Operand::Undef));
        let picked = picked.collect();
        self.copy_pieces(inst, picked)
    }

    pub(super) fn extract_value(&mut self, inst: Value<'m>) -> Lowered<()> {
        let aggregate = self.input(inst, 0)?;
        let start = self.first_piece(aggregate.ty(), &inst.indices())?;
        let count = self.module.types.pieces(inst.ty())?.len();
        let pieces = self.pieces(aggregate)?;
        let part = pieces.get(start..start + count).ok_or_else(|| "part of nothing".to_owned())?.to_vec();
        self.copy_pieces(inst, part)
    }

    pub(super) fn insert_value(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (aggregate, part) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let start = self.first_piece(aggregate.ty(), &inst.indices())?;
        let mut pieces = self.pieces(aggregate)?;
        for (index, operand) in self.pieces(part)?.into_iter().enumerate() {
            *pieces.get_mut(start + index).ok_or_else(|| "part of nothing".to_owned())? = operand;
        }
        self.copy_pieces(inst, pieces)
    }

    /// Position of the first scalar of a nested part.
    fn first_piece(&mut self, ty: Type<'m>, indices: &[u32]) -> Lowered<usize> {
        let mut ty = ty;
        let mut start = 0;
        for &index in indices {
            match ty.kind() {
                TypeKind::Struct => {
                    for field in 0..index {
                        let field = ty.field(field).ok_or_else(|| "part of nothing".to_owned())?;
                        start += self.module.types.pieces(field)?.len();
                    }
                    ty = ty.field(index).ok_or_else(|| "part of nothing".to_owned())?;
                }
                _ => {
                    ty = ty.element().ok_or_else(|| "part of a scalar".to_owned())?;
                    start += self.module.types.pieces(ty)?.len() * index as usize;
                }
            }
        }
        Ok(start)
    }
}
