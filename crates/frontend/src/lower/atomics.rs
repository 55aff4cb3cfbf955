//! Fences, read-modify-writes and compare-exchange.

use inkwell::llvm_sys::LLVMAtomicRMWBinOp;
use raddle_base::{FenceOrder, LoadOrder, RmwOrder};
use raddle_ir::{CmpXchg, Inst, RmwOp};

use super::Lowered;
use super::function::FunctionLowerer;
use super::places::Extent;
use crate::llvm::{Ordering, Value};

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn fence(&mut self, inst: Value<'m>) -> Lowered<()> {
        let order = match inst.ordering() {
            _ if inst.is_single_thread() => {
                self.emit(Inst::SignalFence);
                return Ok(());
            }
            Ordering::Acquire => FenceOrder::Acquire,
            Ordering::Release => FenceOrder::Release,
            Ordering::AcqRel => FenceOrder::AcqRel,
            Ordering::SeqCst => FenceOrder::SeqCst,
            Ordering::Relaxed | Ordering::NotAtomic => return Err("fence without an order".to_owned()),
        };
        self.emit(Inst::Fence { order });
        Ok(())
    }

    pub(super) fn read_modify_write(&mut self, inst: Value<'m>) -> Lowered<()> {
        use LLVMAtomicRMWBinOp as Op;
        let op = match inst.rmw_op() {
            Some(Op::LLVMAtomicRMWBinOpXchg) => RmwOp::Xchg,
            Some(Op::LLVMAtomicRMWBinOpAdd) => RmwOp::Add,
            Some(Op::LLVMAtomicRMWBinOpSub) => RmwOp::Sub,
            Some(Op::LLVMAtomicRMWBinOpAnd) => RmwOp::And,
            Some(Op::LLVMAtomicRMWBinOpNand) => RmwOp::Nand,
            Some(Op::LLVMAtomicRMWBinOpOr) => RmwOp::Or,
            Some(Op::LLVMAtomicRMWBinOpXor) => RmwOp::Xor,
            Some(Op::LLVMAtomicRMWBinOpMax) => RmwOp::Max,
            Some(Op::LLVMAtomicRMWBinOpMin) => RmwOp::Min,
            Some(Op::LLVMAtomicRMWBinOpUMax) => RmwOp::UMax,
            Some(Op::LLVMAtomicRMWBinOpUMin) => RmwOp::UMin,
            Some(Op::LLVMAtomicRMWBinOpFAdd) => RmwOp::FAdd,
            Some(Op::LLVMAtomicRMWBinOpFSub) => RmwOp::FSub,
            Some(Op::LLVMAtomicRMWBinOpFMax) => RmwOp::FMax,
            Some(Op::LLVMAtomicRMWBinOpFMin) => RmwOp::FMin,
            _ => return Err("atomic operation of an unknown kind".to_owned()),
        };
        let (pointer, value) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let ty = self.module.types.scalar(value.ty())?;
        let extent = Extent::scalar(self, value.ty());
        let place = self.place_of(pointer, extent);
        let (ptr, value) = (self.scalar(pointer)?, self.scalar(value)?);
        let order = rmw_order(inst.ordering())?;
        let dst = self.slot(inst)?.first;
        self.emit(Inst::Rmw { dst, op, ty, ptr, value, order, place });
        Ok(())
    }

    pub(super) fn compare_exchange(&mut self, inst: Value<'m>) -> Lowered<()> {
        let orders = inst.cmpxchg_orders().ok_or_else(|| "compare-exchange without orders".to_owned())?;
        let (pointer, expected, new) = (self.input(inst, 0)?, self.input(inst, 1)?, self.input(inst, 2)?);
        let ty = self.module.types.scalar(new.ty())?;
        let extent = Extent::scalar(self, new.ty());
        let place = self.place_of(pointer, extent);
        let on_failure = match orders.failure {
            Ordering::Relaxed | Ordering::NotAtomic | Ordering::Release => LoadOrder::Relaxed,
            Ordering::Acquire | Ordering::AcqRel => LoadOrder::Acquire,
            Ordering::SeqCst => LoadOrder::SeqCst,
        };
        let slot = self.slot(inst)?;
        let exchange = CmpXchg {
            old: slot.reg(0),
            success: slot.reg(1),
            ty,
            ptr: self.scalar(pointer)?,
            expected: self.scalar(expected)?,
            new: self.scalar(new)?,
            on_success: rmw_order(orders.success)?,
            on_failure,
            weak: orders.weak,
            place,
        };
        self.emit(Inst::CmpXchg(Box::new(exchange)));
        Ok(())
    }
}

fn rmw_order(order: Ordering) -> Lowered<RmwOrder> {
    Ok(match order {
        Ordering::Relaxed => RmwOrder::Relaxed,
        Ordering::Acquire => RmwOrder::Acquire,
        Ordering::Release => RmwOrder::Release,
        Ordering::AcqRel => RmwOrder::AcqRel,
        Ordering::SeqCst => RmwOrder::SeqCst,
        Ordering::NotAtomic => return Err("atomic operation without an order".to_owned()),
    })
}
