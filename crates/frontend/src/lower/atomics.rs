//! Atomic operations, fences and their memory orders.

use inkwell::llvm_sys::LLVMAtomicRMWBinOp;
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use raddle_ir::{CmpXchg, Inst, RmwOp};

use super::Lowered;
use super::function::FunctionLowerer;
use crate::llvm::{Ordering, Value};

/// The order of a load; `None` for a plain one.
pub(super) fn load_order(ordering: Ordering) -> Option<LoadOrder> {
    match ordering {
        Ordering::NotAtomic => None,
        Ordering::Relaxed | Ordering::Release => Some(LoadOrder::Relaxed),
        Ordering::Acquire | Ordering::AcqRel => Some(LoadOrder::Acquire),
        Ordering::SeqCst => Some(LoadOrder::SeqCst),
    }
}

/// The order of a store; `None` for a plain one.
pub(super) fn store_order(ordering: Ordering) -> Option<StoreOrder> {
    match ordering {
        Ordering::NotAtomic => None,
        Ordering::Relaxed | Ordering::Acquire => Some(StoreOrder::Relaxed),
        Ordering::Release | Ordering::AcqRel => Some(StoreOrder::Release),
        Ordering::SeqCst => Some(StoreOrder::SeqCst),
    }
}

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn fence(&mut self, inst: Value<'m>) -> Lowered<()> {
        if inst.is_single_thread() {
            self.emit(Inst::SignalFence);
            return Ok(());
        }
        let order = match inst.ordering() {
            Ordering::Acquire => FenceOrder::Acquire,
            Ordering::Release => FenceOrder::Release,
            Ordering::AcqRel => FenceOrder::AcqRel,
            Ordering::SeqCst => FenceOrder::SeqCst,
            Ordering::NotAtomic | Ordering::Relaxed => return Err("fence without an order".to_owned()),
        };
        self.emit(Inst::Fence { order });
        Ok(())
    }

    pub(super) fn compare_exchange(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (pointer, expected, new) = (self.input(inst, 0)?, self.input(inst, 1)?, self.input(inst, 2)?);
        let slot = self.slot(inst)?;
        let orders = inst.cmpxchg_orders().ok_or_else(|| "exchange without orders".to_owned())?;
        let ty = self.module.types.scalar(expected.ty())?;
        if slot.count != 2 {
            return Err("exchange of an unknown form".to_owned());
        }
        let (ptr, expected, new) = (self.scalar(pointer)?, self.scalar(expected)?, self.scalar(new)?);
        let extent = self.scalar_extent(ty);
        let place = self.place(pointer, 0, extent);
        self.emit(Inst::CmpXchg(Box::new(CmpXchg {
            old: slot.reg(0),
            success: slot.reg(1),
            ty,
            ptr,
            expected,
            new,
            on_success: rmw_order(orders.success),
            on_failure: load_order(orders.failure).unwrap_or(LoadOrder::Relaxed),
            weak: orders.weak,
            place,
        })));
        Ok(())
    }

    pub(super) fn read_modify_write(&mut self, inst: Value<'m>) -> Lowered<()> {
        let op = match inst.rmw_op().ok_or_else(|| "atomic operation without a kind".to_owned())? {
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg => RmwOp::Xchg,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd => RmwOp::Add,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpSub => RmwOp::Sub,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAnd => RmwOp::And,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpNand => RmwOp::Nand,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpOr => RmwOp::Or,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXor => RmwOp::Xor,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpMax => RmwOp::Max,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpMin => RmwOp::Min,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUMax => RmwOp::UMax,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUMin => RmwOp::UMin,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFAdd => RmwOp::FAdd,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFSub => RmwOp::FSub,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFMax => RmwOp::FMax,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFMin => RmwOp::FMin,
            other => return Err(format!("atomic operation {other:?}")),
        };
        let (pointer, value) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let slot = self.slot(inst)?;
        let ty = self.module.types.scalar(value.ty())?;
        let (ptr, value) = (self.scalar(pointer)?, self.scalar(value)?);
        let extent = self.scalar_extent(ty);
        let place = self.place(pointer, 0, extent);
        let order = rmw_order(inst.ordering());
        self.emit(Inst::Rmw { dst: slot.first, op, ty, ptr, value, order, place });
        Ok(())
    }
}

fn rmw_order(ordering: Ordering) -> RmwOrder {
    match ordering {
        Ordering::NotAtomic | Ordering::Relaxed => RmwOrder::Relaxed,
        Ordering::Acquire => RmwOrder::Acquire,
        Ordering::Release => RmwOrder::Release,
        Ordering::AcqRel => RmwOrder::AcqRel,
        Ordering::SeqCst => RmwOrder::SeqCst,
    }
}
