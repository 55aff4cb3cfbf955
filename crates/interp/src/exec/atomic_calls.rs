//! Atomic operations that come as library calls: `__atomic_*`, `atomic_flag_*`, the kernel's `atomic_t`.
//!
//! What the generic forms read and write besides the atomic object belongs to the same step.

use super::atomics::{AtomicAccess, combine};
use super::{Cx, Halt, wide};
use crate::memory::{At, Named, Piece};
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use raddle_event::{AccessKind, AtomicOp, EventKind};
use raddle_ir::{RmwOp, Ty};
use raddle_libmodel::{
    Arg, AtomicCall, FetchOp, KernelAtomic, KernelOrder, KernelResult, KernelWidth, SizedAtomic,
};
use raddle_machine::OpKind;

impl Cx<'_> {
    pub(super) fn pending_atomic_call(&mut self, call: AtomicCall) -> Result<OpKind, Halt> {
        let Some((address, len, op)) = self.atomic_call_access(call) else { return Ok(OpKind::Fence) };
        let access = self.atomic_bytes(address, len, op)?;
        Ok(OpKind::Atomic { loc: self.memory.loc(access.at, access.len as u64), op })
    }

    /// The bytes, and the strongest form of what is done to them; `None` for a fence.
    fn atomic_call_access(&self, call: AtomicCall) -> Option<(u64, usize, AtomicOp)> {
        let order_at = |index: u8| self.arg(Arg(index));
        let generic = (self.pointer_arg(Arg(1)), self.arg(Arg(0)) as usize);
        let pointer = self.pointer_arg(Arg(0));
        let flag_order = |order: Option<Arg>| order.map_or(5, |arg| self.arg(arg));
        Some(match call {
            AtomicCall::LoadGeneric => (generic.0, generic.1, AtomicOp::Load(load_order(order_at(3)))),
            AtomicCall::StoreGeneric => (generic.0, generic.1, AtomicOp::Store(store_order(order_at(3)))),
            AtomicCall::ExchangeGeneric | AtomicCall::CompareExchangeGeneric => {
                (generic.0, generic.1, AtomicOp::Rmw(rmw_order(order_at(4))))
            }
            AtomicCall::Sized { op, bytes } => {
                let op = match op {
                    SizedAtomic::Load => AtomicOp::Load(load_order(order_at(1))),
                    SizedAtomic::Store => AtomicOp::Store(store_order(order_at(2))),
                    SizedAtomic::CompareExchange => AtomicOp::Rmw(rmw_order(order_at(3))),
                    SizedAtomic::Exchange | SizedAtomic::Fetch(_) | SizedAtomic::FetchNew(_) => {
                        AtomicOp::Rmw(rmw_order(order_at(2)))
                    }
                };
                (pointer, usize::from(bytes), op)
            }
            AtomicCall::TestAndSet { order } => (pointer, 1, AtomicOp::Rmw(rmw_order(flag_order(order)))),
            AtomicCall::Clear { order } => (pointer, 1, AtomicOp::Store(store_order(flag_order(order)))),
            AtomicCall::Fence { .. } => return None,
            AtomicCall::Kernel { op, target, width, order } => {
                let len = match width {
                    KernelWidth::Int => 4,
                    KernelWidth::Long => self.memory.layout.pointer_bytes as usize,
                    KernelWidth::Quad => 8,
                };
                (self.pointer_arg(target), len, kernel_op(op, order))
            }
        })
    }

    pub(super) fn perform_atomic_call(&mut self, call: AtomicCall) -> Result<u128, Halt> {
        let Some((address, len, op)) = self.atomic_call_access(call) else {
            if let AtomicCall::Fence { order } = call {
                let order = order.map_or(5, |arg| self.arg(arg));
                self.fence(fence_order(order));
            }
            return Ok(0);
        };
        let access = self.atomic_bytes(address, len, op)?;
        match call {
            AtomicCall::LoadGeneric => {
                self.atomic_event(&access, op);
                let piece = self.memory.take(access.at, len);
                self.put_piece(self.pointer_arg(Arg(2)), &piece)?;
                Ok(0)
            }
            AtomicCall::StoreGeneric => {
                let piece = self.take_piece(self.pointer_arg(Arg(2)), len)?;
                self.atomic_event(&access, op);
                self.memory.put(access.at, &piece);
                Ok(0)
            }
            AtomicCall::ExchangeGeneric => {
                let new = self.take_piece(self.pointer_arg(Arg(2)), len)?;
                self.atomic_event(&access, op);
                let old = self.memory.take(access.at, len);
                self.memory.put(access.at, &new);
                self.put_piece(self.pointer_arg(Arg(3)), &old)?;
                Ok(0)
            }
            AtomicCall::CompareExchangeGeneric => {
                let new = self.take_piece(self.pointer_arg(Arg(3)), len)?;
                self.exchange_if_equal(&access, op, new, load_order(self.arg(Arg(5))), Arg(2))
            }
            AtomicCall::Sized { op: SizedAtomic::CompareExchange, .. } => {
                let new = self.sized_arg(Arg(2), len);
                let piece = Piece::from_bytes(new.to_le_bytes()[..len].to_vec());
                self.exchange_if_equal(&access, op, piece, load_order(self.arg(Arg(4))), Arg(1))
            }
            AtomicCall::Sized { op: sized, .. } => {
                self.atomic_event(&access, op);
                let old = self.raw_value(&access);
                let operand = self.sized_arg(Arg(1), len);
                let (new, result) = match sized {
                    SizedAtomic::Load | SizedAtomic::CompareExchange => return Ok(old),
                    SizedAtomic::Store => (operand, 0),
                    SizedAtomic::Exchange => (operand, old),
                    SizedAtomic::Fetch(fetch) => (fetched(fetch, len, old, operand), old),
                    SizedAtomic::FetchNew(fetch) => {
                        let new = fetched(fetch, len, old, operand);
                        (new, new)
                    }
                };
                self.put_value(&access, new);
                Ok(result)
            }
            AtomicCall::TestAndSet { .. } => {
                self.atomic_event(&access, op);
                let old = self.raw_value(&access);
                self.put_value(&access, 1);
                Ok(u128::from(old != 0))
            }
            AtomicCall::Clear { .. } => {
                self.atomic_event(&access, op);
                self.put_value(&access, 0);
                Ok(0)
            }
            AtomicCall::Fence { .. } => Ok(0),
            AtomicCall::Kernel { op: kernel, order, .. } => Ok(self.kernel_atomic(&access, kernel, order)),
        }
    }

    fn exchange_if_equal(
        &mut self,
        access: &AtomicAccess,
        op: AtomicOp,
        new: Piece,
        on_failure: LoadOrder,
        expected: Arg,
    ) -> Result<u128, Halt> {
        let wanted = self.take_piece(self.pointer_arg(expected), access.len)?;
        let old = self.memory.take(access.at, access.len);
        if old.bytes == wanted.bytes {
            self.atomic_event(access, op);
            self.memory.put(access.at, &new);
            return Ok(1);
        }
        self.atomic_event(access, AtomicOp::Load(on_failure));
        self.put_piece(self.pointer_arg(expected), &old)?;
        Ok(0)
    }

    fn kernel_atomic(&mut self, access: &AtomicAccess, kernel: KernelAtomic, order: KernelOrder) -> u128 {
        let bits = access.len as u8 * 8;
        let keep = |value: u128| wide::keep(value, bits);
        let old = self.raw_value(access);
        let arg = |cx: &Self, arg: Arg| keep(cx.sized_arg(arg, access.len));
        let add = |value: u128| keep(old.wrapping_add(value));
        let (new, result) = match kernel {
            KernelAtomic::Read => (None, old),
            KernelAtomic::Set { value } => (Some(arg(self, value)), 0),
            KernelAtomic::Add { value, factor, result } => {
                let amount = value.map_or(1, |value| arg(self, value));
                let new = add(amount.wrapping_mul(i128::from(factor) as u128));
                let result = match result {
                    KernelResult::Nothing => 0,
                    KernelResult::New => new,
                    KernelResult::Old => old,
                    KernelResult::NewIsZero => u128::from(new == 0),
                    KernelResult::NewIsNegative => u128::from(wide::sign_extend(new, bits) < 0),
                };
                (Some(new), result)
            }
            KernelAtomic::Exchange { value } => (Some(arg(self, value)), old),
            KernelAtomic::CompareExchange { expected, new } => {
                let equal = old == arg(self, expected);
                (equal.then(|| arg(self, new)), old)
            }
            KernelAtomic::AddUnless { value, unless } => {
                let unless = unless.map_or(0, |unless| arg(self, unless));
                let adds = old != unless;
                let amount = value.map_or(1, |value| arg(self, value));
                (adds.then(|| add(amount)), u128::from(adds))
            }
        };
        let op = match new {
            Some(_) => kernel_op(kernel, order),
            None => AtomicOp::Load(match order {
                KernelOrder::Relaxed | KernelOrder::Release => LoadOrder::Relaxed,
                KernelOrder::Acquire => LoadOrder::Acquire,
                KernelOrder::SeqCst => LoadOrder::SeqCst,
            }),
        };
        self.atomic_event(access, op);
        if let Some(new) = new {
            self.put_value(access, new);
        }
        result
    }

    fn sized_arg(&self, arg: Arg, len: usize) -> u128 {
        let value =
            self.call_desc().args.get(arg.0 as usize).map_or(0, |arg| self.value_of(arg.slot, arg.ty));
        wide::keep(value, len as u8 * 8)
    }

    fn raw_value(&self, access: &AtomicAccess) -> u128 {
        let mut bytes = [0u8; 16];
        let object = self.memory.object(access.at.slot);
        bytes[..access.len].copy_from_slice(&object.data[access.at.offset..access.at.offset + access.len]);
        u128::from_le_bytes(bytes)
    }

    fn put_value(&mut self, access: &AtomicAccess, value: u128) {
        self.memory.store_bytes(access.at, &value.to_le_bytes()[..access.len], Named::Number);
    }

    fn take_piece(&mut self, address: u64, len: usize) -> Result<Piece, Halt> {
        let at = self.readable(address, len as u64)?;
        self.report(at, len, AccessKind::Read);
        Ok(self.memory.take(at, len))
    }

    fn put_piece(&mut self, address: u64, piece: &Piece) -> Result<(), Halt> {
        let len = piece.bytes.len();
        let at = self.writable(address, len as u64)?;
        self.report(at, len, AccessKind::Write);
        self.memory.put(at, piece);
        Ok(())
    }

    /// An access inside the step of a larger operation.
    pub(crate) fn report(&mut self, at: At, len: usize, kind: AccessKind) {
        if !self.memory.object(at.slot).quiet {
            let loc = self.memory.loc(at, len as u64);
            self.event(EventKind::Access { loc, kind });
        }
    }
}

fn fetched(op: FetchOp, len: usize, old: u128, operand: u128) -> u128 {
    let op = match op {
        FetchOp::Add => RmwOp::Add,
        FetchOp::Sub => RmwOp::Sub,
        FetchOp::And => RmwOp::And,
        FetchOp::Or => RmwOp::Or,
        FetchOp::Xor => RmwOp::Xor,
        FetchOp::Nand => RmwOp::Nand,
    };
    let bits = len as u8 * 8;
    combine(op, Ty::Int(bits), bits, old, operand)
}

/// The event of a kernel operation that takes effect.
fn kernel_op(op: KernelAtomic, order: KernelOrder) -> AtomicOp {
    match op {
        KernelAtomic::Read => AtomicOp::Load(match order {
            KernelOrder::Relaxed | KernelOrder::Release => LoadOrder::Relaxed,
            KernelOrder::Acquire => LoadOrder::Acquire,
            KernelOrder::SeqCst => LoadOrder::SeqCst,
        }),
        KernelAtomic::Set { .. } => AtomicOp::Store(match order {
            KernelOrder::Relaxed | KernelOrder::Acquire => StoreOrder::Relaxed,
            KernelOrder::Release => StoreOrder::Release,
            KernelOrder::SeqCst => StoreOrder::SeqCst,
        }),
        KernelAtomic::Add { .. }
        | KernelAtomic::Exchange { .. }
        | KernelAtomic::CompareExchange { .. }
        | KernelAtomic::AddUnless { .. } => AtomicOp::Rmw(match order {
            KernelOrder::Relaxed => RmwOrder::Relaxed,
            KernelOrder::Acquire => RmwOrder::Acquire,
            KernelOrder::Release => RmwOrder::Release,
            KernelOrder::SeqCst => RmwOrder::SeqCst,
        }),
    }
}

fn load_order(order: u64) -> LoadOrder {
    match order & 0xFF {
        0 => LoadOrder::Relaxed,
        1 | 2 | 4 => LoadOrder::Acquire,
        _ => LoadOrder::SeqCst,
    }
}

fn store_order(order: u64) -> StoreOrder {
    match order & 0xFF {
        0 => StoreOrder::Relaxed,
        3 | 4 => StoreOrder::Release,
        _ => StoreOrder::SeqCst,
    }
}

fn rmw_order(order: u64) -> RmwOrder {
    match order & 0xFF {
        0 => RmwOrder::Relaxed,
        1 | 2 => RmwOrder::Acquire,
        3 => RmwOrder::Release,
        4 => RmwOrder::AcqRel,
        _ => RmwOrder::SeqCst,
    }
}

fn fence_order(order: u64) -> Option<FenceOrder> {
    match order & 0xFF {
        0 => None,
        1 | 2 => Some(FenceOrder::Acquire),
        3 => Some(FenceOrder::Release),
        4 => Some(FenceOrder::AcqRel),
        _ => Some(FenceOrder::SeqCst),
    }
}
