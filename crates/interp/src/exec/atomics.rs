//! Atomic instructions, and the same operations where they come as library calls.
//!
//! Every execution is sequentially consistent; orders weaker than `seq_cst` are noted as A-SC. A weak compare-exchange may fail for
//! no reason (`spurious`): then it is a load.

use super::access::Taking;
use super::{Cx, Halt, wide};
use crate::code::{AtomicDesc, AtomicKind, Code};
use crate::memory::{At, Named};
use crate::thread::Phase;
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use raddle_event::{AtomicOp, EventKind};
use raddle_ir::{RmwOp, Ty};
use raddle_machine::OpKind;

/// Bytes that an atomic operation works on.
pub(crate) struct AtomicAccess {
    pub at: At,
    pub len: usize,
}

impl Cx<'_> {
    pub(super) fn pending_atomic(&mut self, desc: &AtomicDesc) -> Result<OpKind, Halt> {
        let op = match desc.kind {
            AtomicKind::Load { order, .. } => AtomicOp::Load(order),
            AtomicKind::Store { order, .. } => AtomicOp::Store(order),
            AtomicKind::Rmw { order, .. } => AtomicOp::Rmw(order),
            AtomicKind::CmpXchg { on_failure, .. } if self.fails_for_no_reason() => {
                AtomicOp::Load(on_failure)
            }
            AtomicKind::CmpXchg { on_success, .. } => AtomicOp::Rmw(on_success),
        };
        let access = self.atomic_access(self.value(desc.ptr), desc.ty, op)?;
        Ok(OpKind::Atomic { loc: self.memory.loc(access.at, access.len as u64), op })
    }

    fn atomic_access(&mut self, address: u64, ty: Ty, op: AtomicOp) -> Result<AtomicAccess, Halt> {
        let len = ty.access_bytes(self.memory.layout.pointer_bytes) as usize;
        self.atomic_bytes(address, len, op)
    }

    pub(crate) fn atomic_bytes(
        &mut self,
        address: u64,
        len: usize,
        op: AtomicOp,
    ) -> Result<AtomicAccess, Halt> {
        let at = if op.writes() {
            self.writable(address, len as u64)?
        } else {
            self.readable(address, len as u64)?
        };
        self.memory.identify(at.slot);
        Ok(AtomicAccess { at, len })
    }

    /// Performs the atomic instruction at the present position and moves past it.
    pub(crate) fn perform_atomic(&mut self) -> Result<(), Halt> {
        let func = self.func();
        let Code::Atomic { desc } = func.code[self.thread.top().pc as usize] else {
            unreachable!("the thread stands at an atomic instruction");
        };
        let AtomicDesc { kind, ty, ptr } = func.atomics[desc as usize];
        let address = self.value(ptr);
        match kind {
            AtomicKind::Load { d, order } => {
                let access = self.atomic_access(address, ty, AtomicOp::Load(order))?;
                self.atomic_event(&access, AtomicOp::Load(order));
                let value = self.atomic_value(&access, ty);
                self.set(d, ty, value);
            }
            AtomicKind::Store { value, order } => {
                let access = self.atomic_access(address, ty, AtomicOp::Store(order))?;
                self.atomic_event(&access, AtomicOp::Store(order));
                let value = self.value_of(value, ty);
                self.atomic_store(&access, ty, value);
            }
            AtomicKind::Rmw { d, op, value, order } => {
                let access = self.atomic_access(address, ty, AtomicOp::Rmw(order))?;
                self.atomic_event(&access, AtomicOp::Rmw(order));
                let old = self.atomic_value(&access, ty);
                let operand = self.value_of(value, ty);
                let new = combine(op, ty, self.image.bits(ty), old, operand);
                self.atomic_store(&access, ty, new);
                self.set(d, ty, old);
            }
            AtomicKind::CmpXchg { old: old_slot, success, expected, new, on_success, on_failure, .. } => {
                let access = self.atomic_access(address, ty, AtomicOp::Rmw(on_success))?;
                let old = self.atomic_value(&access, ty);
                let equal = old == self.value_of(expected, ty) && !self.fails_for_no_reason();
                if equal {
                    self.thread.spurious = 0;
                    self.atomic_event(&access, AtomicOp::Rmw(on_success));
                    let new = self.value_of(new, ty);
                    self.atomic_store(&access, ty, new);
                } else {
                    self.atomic_event(&access, AtomicOp::Load(on_failure));
                }
                self.set(old_slot, ty, old);
                self.set(success, Ty::Int(1), u128::from(equal));
            }
        }
        self.thread.phase = Phase::Start;
        self.advance();
        Ok(())
    }

    pub(crate) fn perform_fence(&mut self) {
        if let Code::Fence { order } = self.func().code[self.thread.top().pc as usize] {
            self.fence(Some(order));
        }
        self.advance();
    }

    /// `None`: a relaxed fence, which does nothing.
    pub(super) fn fence(&mut self, order: Option<FenceOrder>) {
        if order != Some(FenceOrder::SeqCst) {
            self.assume("A-SC");
        }
        if let Some(order) = order {
            self.event(EventKind::Fence { order });
        }
    }

    pub(crate) fn atomic_event(&mut self, access: &AtomicAccess, op: AtomicOp) {
        let strong = matches!(
            op,
            AtomicOp::Load(LoadOrder::SeqCst)
                | AtomicOp::Store(StoreOrder::SeqCst)
                | AtomicOp::Rmw(RmwOrder::SeqCst)
        );
        if !strong {
            self.assume("A-SC");
        }
        let loc = self.memory.loc(access.at, access.len as u64);
        self.event(EventKind::Atomic { loc, op });
    }

    fn atomic_value(&mut self, access: &AtomicAccess, ty: Ty) -> u128 {
        let taking = if ty == Ty::Ptr { Taking::Pointer } else { Taking::Number };
        let value = self.take_value(access.at, access.len, taking);
        wide::keep(value, self.image.bits(ty))
    }

    fn atomic_store(&mut self, access: &AtomicAccess, ty: Ty, value: u128) {
        let named = if ty == Ty::Ptr { Named::Name } else { Named::Number };
        self.memory.store_bytes(access.at, &value.to_le_bytes()[..access.len], named);
    }
}

pub(super) fn combine(op: RmwOp, ty: Ty, bits: u8, old: u128, operand: u128) -> u128 {
    use raddle_ir::{BinOp, FBinOp};
    let int = |op| wide::bin(op, bits, old, operand).unwrap_or(0);
    let (x, y) = (wide::sign_extend(old, bits), wide::sign_extend(operand, bits));
    let float = match ty {
        Ty::Float(float) => float,
        Ty::Int(_) | Ty::Ptr => raddle_ir::FloatTy::F64,
    };
    let value = match op {
        RmwOp::Xchg => operand,
        RmwOp::Add => int(BinOp::Add),
        RmwOp::Sub => int(BinOp::Sub),
        RmwOp::And => old & operand,
        RmwOp::Nand => !(old & operand),
        RmwOp::Or => old | operand,
        RmwOp::Xor => old ^ operand,
        RmwOp::Max => x.max(y) as u128,
        RmwOp::Min => x.min(y) as u128,
        RmwOp::UMax => old.max(operand),
        RmwOp::UMin => old.min(operand),
        RmwOp::FAdd => super::float::bin(FBinOp::Add, float, old, operand),
        RmwOp::FSub => super::float::bin(FBinOp::Sub, float, old, operand),
        RmwOp::FMax => super::intrinsics::run(raddle_ir::IntrinsicOp::FMax, ty, bits, &[old, operand]).0,
        RmwOp::FMin => super::intrinsics::run(raddle_ir::IntrinsicOp::FMin, ty, bits, &[old, operand]).0,
    };
    wide::keep(value, bits)
}
