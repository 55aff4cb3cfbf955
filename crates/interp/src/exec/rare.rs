//! Instructions that are not worth a place in the loop.

use super::access::Taking;
use super::{Cx, Halt, cast, float, intrinsics, wide};
use crate::code::{AtomicKind, Code, S};
use crate::memory::{Birth, Fill, Name, Named, StackId};
use crate::thread::Action;
use raddle_event::{ProblemKind, ThreadId};
use raddle_ir::{FloatTy, GlobalId, IcmpPred, Ty};
use raddle_machine::{ObjectKind, OpKind};

impl Cx<'_> {
    pub(super) fn rare(&mut self, code: Code) -> Result<(), Halt> {
        let image = self.image;
        let func = image.func(self.thread.top().function);
        match code {
            Code::BinWide { op, bits, d, a, b } => match wide::bin(op, bits, self.wide(a), self.wide(b)) {
                Some(value) => self.set_wide(d, value),
                None => return Err(self.crash(ProblemKind::DivisionByZero, None, String::new())),
            },
            Code::PtrDiff { d, a, b } => {
                let (x, y) = (self.value(a), self.value(b));
                self.order_pointers(x, y);
                self.put(d, x.wrapping_sub(y) & self.memory.layout.mask);
            }
            Code::IcmpPtr { pred, d, a, b } => {
                let (x, y) = (self.value(a), self.value(b));
                match pred {
                    IcmpPred::Eq | IcmpPred::Ne => self.equate_pointers(x, y),
                    _ => self.order_pointers(x, y),
                }
                let holds = wide::icmp(pred, image.pointer_bits, u128::from(x), u128::from(y));
                self.put(d, u64::from(holds));
            }
            Code::IcmpWide { pred, bits, d, a, b } => {
                let holds = wide::icmp(pred, bits, self.wide(a), self.wide(b));
                self.put(d, u64::from(holds));
            }
            Code::FBinOther { op, ty, d, a, b } => {
                let value = float::bin(op, ty, self.float(a, ty), self.float(b, ty));
                self.set(d, Ty::Float(ty), value);
            }
            Code::FNeg { ty, d, a } => {
                let value = float::negate(ty, self.float(a, ty));
                self.set(d, Ty::Float(ty), value);
            }
            Code::Fcmp { pred, ty, d, a, b } => {
                let holds = float::compare(pred, ty, self.float(a, ty), self.float(b, ty));
                self.put(d, u64::from(holds));
            }
            Code::PtrToInt { bits, d, a } => {
                let value = self.value(a);
                self.expose_value(value);
                self.put(d, super::arith::keep(value, bits));
            }
            Code::Cast { desc, d, a } => {
                let desc = &func.casts[desc as usize];
                let value = self.value_of(a, desc.from);
                if desc.from == Ty::Ptr {
                    self.expose_value(value as u64);
                }
                let value = cast::cast(desc, value, |ty| image.bits(ty));
                self.set(d, desc.to, value);
            }
            Code::Alloca { desc, d, bytes } => {
                let desc = &func.allocas[desc as usize];
                let bytes = self.value(bytes);
                let address =
                    self.local(bytes, u64::from(desc.align), Name::Local(desc.name), desc.ty, desc.private)?;
                self.put(d, address);
            }
            Code::TlsAddr { d, global } => {
                let address = self.tls_address(global)?;
                self.put(d, address);
            }
            Code::LoadOther { bits, bytes, d, p } => {
                let value = self.load_slow(self.value(p), usize::from(bytes), Taking::Number)?;
                let value = wide::keep(value, bits);
                self.set(d, if bits > 64 { Ty::Int(128) } else { Ty::Int(64) }, value);
            }
            Code::StoreOther { bytes, p, v } => {
                let value = if bytes > 8 { self.wide(v) } else { u128::from(self.value(v)) };
                self.store_slow(self.value(p), usize::from(bytes), value, Named::Number)?;
            }
            Code::Atomic { desc } => {
                let desc = &func.atomics[desc as usize];
                if let AtomicKind::CmpXchg { weak: true, .. } = desc.kind {
                    self.decide()?;
                }
                let kind = self.pending_atomic(desc)?;
                return Err(self.stand(kind, Action::Atomic));
            }
            Code::Fence { .. } => return Err(self.stand(OpKind::Fence, Action::Fence)),
            Code::MemCopy { d, s, len } => self.copy_bytes(self.value(d), self.value(s), self.value(len))?,
            Code::MemSet { d, byte, len } => {
                self.set_bytes(self.value(d), self.value(byte) as u8, self.value(len))?;
            }
            Code::Intrinsic { desc } => {
                let desc = &func.intrinsics[desc as usize];
                let mut args = [0u128; 4];
                for (index, &slot) in desc.args.iter().take(4).enumerate() {
                    let narrow = index == 1 && is_mixed(desc.op);
                    args[index] = self.value_of(slot, if narrow { Ty::Int(32) } else { desc.ty });
                }
                if desc.op == raddle_ir::IntrinsicOp::Outside {
                    self.assume("A-INPUT");
                }
                let count = desc.args.len().min(4);
                let (value, flag) = intrinsics::run(desc.op, desc.ty, image.bits(desc.ty), &args[..count]);
                if flag && desc.op == raddle_ir::IntrinsicOp::MulAdd {
                    self.assume("A-RESULT");
                }
                if let Some(&(slot, ty)) = desc.dsts.first() {
                    self.set(slot, ty, wide::keep(value, image.bits(ty)));
                }
                if let Some(&(slot, ty)) = desc.dsts.get(1) {
                    self.set(slot, ty, u128::from(flag));
                }
            }
            Code::VaStart { list } => self.va_start(self.value(list))?,
            Code::VaCopy { d, s } => self.va_copy(self.value(d), self.value(s))?,
            Code::VaArg { desc, d, list } => {
                let ty = func.va_args[desc as usize];
                let value = self.va_arg(self.value(list), ty)?;
                self.set(d, ty, value);
            }
            Code::StackSave { d } => self.put(d, self.thread.allocas.len() as u64),
            Code::StackRestore { mark } => {
                let mark = self.value(mark) as usize;
                let own = self.thread.top().allocas as usize;
                self.free_locals(mark.max(own));
            }
            Code::Asm { desc } => {
                self.assume("A-ASM");
                let desc = &func.asms[desc as usize];
                for &(pointer, bytes) in &desc.writes {
                    self.set_bytes(self.value(pointer), 0, bytes)?;
                }
                for &(slot, ty) in &desc.dsts {
                    self.set(slot, ty, 0);
                }
            }
            Code::BranchBegin { taken } => self.begin_branch(taken),
            Code::BranchEnd { block } => self.end_branches(block),
            Code::UnknownBranch => self.unknown_branch(self.site()),
            Code::Unassigned => self.assume("A-UNINIT"),
            Code::Unsupported { reason } => {
                let reason = image.program.text(reason).to_owned();
                return Err(self.unsupported(reason));
            }
            Code::Unreachable => {
                return Err(self.crash(ProblemKind::Unreachable, None, String::new()));
            }
            other => unreachable!("{other:?} runs in the loop"),
        }
        self.thread.phase = crate::thread::Phase::Start;
        self.advance();
        Ok(())
    }

    fn put(&mut self, slot: S, value: u64) {
        let at = (self.thread.top().base + slot) as usize;
        self.thread.regs[at] = value;
    }

    fn wide(&self, slot: S) -> u128 {
        u128::from(self.value(slot)) | u128::from(self.value(slot + 1)) << 64
    }

    fn set_wide(&mut self, slot: S, value: u128) {
        self.set(slot, Ty::Int(128), value);
    }

    fn float(&self, slot: S, ty: FloatTy) -> u128 {
        self.value_of(slot, Ty::Float(ty))
    }

    /// The order of two addresses is looked at: numbers, unless both are of one object.
    fn order_pointers(&mut self, a: u64, b: u64) {
        let (x, y) = (self.memory.owner(a), self.memory.owner(b));
        if x.map(|(slot, _)| slot) != y.map(|(slot, _)| slot) {
            self.expose_value(a);
            self.expose_value(b);
        }
    }

    /// The end of one object may be the start of another (C11 6.5.9p6); here it never is.
    fn equate_pointers(&mut self, a: u64, b: u64) {
        let (Some((x, from)), Some((y, to))) = (self.memory.owner(a), self.memory.owner(b)) else { return };
        let is_end = |slot, offset| offset == self.memory.object(slot).size;
        if x != y && (is_end(x, from) && to == 0 || is_end(y, to) && from == 0) {
            self.assume("A-ADDRESS");
        }
    }

    /// An address or the handle of a thread is looked at as a number.
    pub(crate) fn expose_value(&mut self, value: u64) {
        match self.memory.layout.thread_at(value) {
            Some(thread) => self.expose_thread(thread),
            None if self.memory.owner(value).is_some() => {
                self.memory.expose(value);
                self.assume("A-ADDRESS");
            }
            None => {}
        }
    }

    pub(crate) fn expose_thread(&mut self, thread: ThreadId) {
        if (thread.0 as usize) >= self.world.state.lives().len() {
            return;
        }
        if !self.world.state.life(thread).exposed {
            self.world.state.change_life(thread, |life| life.exposed = true);
        }
        self.assume("A-ADDRESS");
    }

    /// This thread's copy of a thread-local global, made on first use.
    fn tls_address(&mut self, global: GlobalId) -> Result<u64, Halt> {
        if let Some(&(_, address)) = self.thread.tls.iter().find(|(id, _)| *id == global) {
            return Ok(address);
        }
        let info = &self.image.program.globals[global];
        let birth = Birth {
            kind: ObjectKind::ThreadLocal,
            name: Name::Global(global),
            size: info.bytes,
            align: u64::from(info.align),
            fill: Fill::Zero,
            quiet: false,
            constant: false,
            thread: self.thread.id,
            site: self.site(),
            stack: StackId::EMPTY,
            ty: info.debug_type,
            canon: None,
        };
        let Ok(address) = self.memory.allocate(birth) else {
            return Err(self.limit("memory of the program"));
        };
        crate::start::initialise(self.memory, self.image, address, info);
        self.thread.tls.push((global, address));
        Ok(address)
    }
}

fn is_mixed(op: raddle_ir::IntrinsicOp) -> bool {
    matches!(op, raddle_ir::IntrinsicOp::Powi | raddle_ir::IntrinsicOp::IsFpClass)
}
