//! Memory accesses, atomics, address arithmetic.

use super::{Compiler, retry};
use crate::code::{AllocaDesc, AtomicDesc, AtomicKind, Code, GepDesc};
use raddle_ir::{CmpXchg, Gep, Inst, Operand, Ty};

impl Compiler<'_> {
    /// Whether the weak compare-exchange is tried again at once when it fails.
    fn is_retried(&self, exchange: &CmpXchg) -> bool {
        let place = self.function.blocks.iter().find_map(|(block, code)| {
            let is_it = |inst: &Inst| matches!(inst, Inst::CmpXchg(other) if other.old == exchange.old);
            Some((block, code.insts.iter().position(is_it)?))
        });
        place.is_some_and(|(block, index)| retry::is_retried(self.function, block, index))
    }

    pub(super) fn memory(&mut self, inst: &Inst) {
        match inst {
            Inst::Alloca { dst, bytes, align, name, debug_type } => {
                let (d, bytes) = (self.slot(*dst), self.operand(*bytes, Ty::Int(64)));
                self.func.allocas.push(AllocaDesc {
                    align: *align,
                    private: !self.uses.may_escape(*dst),
                    name: *name,
                    ty: *debug_type,
                });
                self.emit(Code::Alloca { desc: self.func.allocas.len() as u32 - 1, d, bytes });
            }
            Inst::TlsAddr { dst, global } => {
                let d = self.slot(*dst);
                self.emit(Code::TlsAddr { d, global: *global });
            }
            Inst::Load { dst, ty, ptr, atomic: Some(order), .. } => {
                let d = self.slot(*dst);
                self.atomic(AtomicKind::Load { d, order: *order }, *ty, *ptr);
            }
            Inst::Load { dst, ty, ptr, atomic: None, .. } => {
                let (d, p) = (self.slot(*dst), self.operand(*ptr, Ty::Ptr));
                let bytes = ty.access_bytes(self.around.layout.pointer_bytes) as u8;
                let bits = self.bits(*ty);
                let handle = matches!(ty, Ty::Int(b) if *b == self.pointer_bits)
                    && !self.uses.may_be_computed_with(*dst);
                self.emit(match (ty, bytes) {
                    (Ty::Ptr, _) => Code::LoadPtr { d, p },
                    _ if handle => Code::LoadHandle { d, p },
                    (_, 1) if bits == 8 => Code::Load1 { d, p },
                    (_, 2) if bits == 16 => Code::Load2 { d, p },
                    (_, 4) if bits == 32 => Code::Load4 { d, p },
                    (_, 8) if bits == 64 => Code::Load8 { d, p },
                    _ => Code::LoadOther { bits, bytes, d, p },
                });
            }
            Inst::Store { ty, value, ptr, atomic: Some(order), .. } => {
                let value = self.any_operand(*value, *ty);
                self.atomic(AtomicKind::Store { value, order: *order }, *ty, *ptr);
            }
            Inst::Store { ty, value, ptr, atomic: None, .. } => {
                let (p, v) = (self.operand(*ptr, Ty::Ptr), self.any_operand(*value, *ty));
                let bytes = ty.access_bytes(self.around.layout.pointer_bytes) as u8;
                self.emit(match (ty, bytes) {
                    (Ty::Ptr, _) => Code::StorePtr { p, v },
                    (_, 1) => Code::Store1 { p, v },
                    (_, 2) => Code::Store2 { p, v },
                    (_, 4) => Code::Store4 { p, v },
                    (_, 8) => Code::Store8 { p, v },
                    _ => Code::StoreOther { bytes, p, v },
                });
            }
            Inst::Rmw { dst, op, ty, ptr, value, order, .. } => {
                let (d, value) = (self.slot(*dst), self.any_operand(*value, *ty));
                self.atomic(AtomicKind::Rmw { d, op: *op, value, order: *order }, *ty, *ptr);
            }
            Inst::CmpXchg(exchange) => {
                let (expected, new) = (
                    self.any_operand(exchange.expected, exchange.ty),
                    self.any_operand(exchange.new, exchange.ty),
                );
                let kind = AtomicKind::CmpXchg {
                    old: self.slot(exchange.old),
                    success: self.slot(exchange.success),
                    expected,
                    new,
                    on_success: exchange.on_success,
                    on_failure: exchange.on_failure,
                    weak: exchange.weak && !self.is_retried(exchange),
                };
                self.atomic(kind, exchange.ty, exchange.ptr);
            }
            Inst::Fence { order } => {
                self.emit(Code::Fence { order: *order });
            }
            Inst::SignalFence => {
                self.emit(Code::Nop);
            }
            Inst::Gep(gep) => self.gep(gep),
            Inst::MemCopy { dst, src, len, .. } => {
                let (d, s) = (self.operand(*dst, Ty::Ptr), self.operand(*src, Ty::Ptr));
                let len = self.operand(*len, Ty::Int(64));
                self.emit(Code::MemCopy { d, s, len });
            }
            Inst::MemSet { dst, byte, len, .. } => {
                let (d, byte) = (self.operand(*dst, Ty::Ptr), self.operand(*byte, Ty::Int(8)));
                let len = self.operand(*len, Ty::Int(64));
                self.emit(Code::MemSet { d, byte, len });
            }
            _ => unreachable!("not a memory instruction"),
        }
    }

    fn atomic(&mut self, kind: AtomicKind, ty: Ty, ptr: Operand) {
        let ptr = self.operand(ptr, Ty::Ptr);
        self.func.atomics.push(AtomicDesc { kind, ty, ptr });
        self.emit(Code::Atomic { desc: self.func.atomics.len() as u32 - 1 });
    }

    fn gep(&mut self, gep: &Gep) {
        let (d, base) = (self.slot(gep.dst), self.operand(gep.base, Ty::Ptr));
        let mask = self.around.layout.mask;
        let mut offset = gep.offset;
        let mut indices = Vec::new();
        for &(index, ty, scale) in &gep.indices {
            let bits = self.bits(ty).min(64);
            match self.constant(index) {
                Some(value) => {
                    let shift = 64 - bits;
                    let value = ((value as u64) << shift) as i64 >> shift;
                    offset = offset.wrapping_add(value.wrapping_mul(scale));
                }
                None => {
                    let slot = self.any_operand(index, ty);
                    indices.push((slot, u32::from(64 - bits), scale));
                }
            }
        }
        let code = match indices[..] {
            [] if offset == 0 => Code::Move { d, a: base },
            [] => {
                let b = self.constant_slot(offset as u64 & mask);
                if self.pointer_bits == 64 {
                    Code::Add64 { d, a: base, b }
                } else {
                    Code::Add32 { d, a: base, b }
                }
            }
            [(index, shift, scale)] if offset == 0 && i32::try_from(scale).is_ok() => {
                Code::Gep { shift: shift as u8, d, base, index, scale: scale as i32 }
            }
            _ => {
                self.func.geps.push(GepDesc { offset, indices });
                Code::GepMany { desc: self.func.geps.len() as u32 - 1, d, base }
            }
        };
        self.emit(code);
    }
}
