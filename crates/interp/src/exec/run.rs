//! The loop. Hot instructions are here; all others are one call away.

use super::access::Taking;
use super::{Cx, Halt, arith};
use crate::code::Code;
use crate::memory::Named;
use crate::stutter::Probe;
use crate::thread::{Action, OnReturn};
use crate::world::Watch;
use raddle_event::ProblemKind;
use raddle_machine::OpKind;
use std::sync::atomic::Ordering;

/// Instructions before the first look for an endless loop without effect.
const FIRST_LOOK: i64 = 1024;

/// How much of a segment has been run, for limits and for finding spins.
struct Meter {
    /// Instructions left until the next look.
    fuel: i64,
    chunk: i64,
    used: u64,
    probe: Option<Probe>,
    /// States that the next probe looks at.
    patience: u32,
}

impl Cx<'_> {
    /// Runs up to the next visible operation.
    pub fn run(&mut self) -> Halt {
        match self.world.watch {
            Watch::Nothing => self.run_loop::<false>(usize::MAX),
            _ => self.run_loop::<true>(usize::MAX),
        }
    }

    /// Runs until the frame at `depth` has returned (`Ok`) or the thread stands.
    pub(super) fn run_nested(&mut self, depth: usize) -> Result<(), Halt> {
        self.run_loop::<false>(depth);
        if self.thread.frames.len() <= depth { Ok(()) } else { Err(Halt) }
    }

    fn run_loop<const WATCH: bool>(&mut self, depth: usize) -> Halt {
        let image = self.image;
        let wide_pointers = self.memory.layout.pointer_bytes == 8;
        let pointer_mask = self.memory.layout.mask;
        let mut meter = Meter { fuel: FIRST_LOOK, chunk: FIRST_LOOK, used: 0, probe: None, patience: 96 };
        let mut regs = std::mem::take(&mut self.thread.regs);
        'frames: loop {
            let top = self.thread.top();
            let func = image.func(top.function);
            let code = &func.code[..];
            let reached = image.reached.targets(top.function);
            let mut pc = top.pc as usize;
            let base = top.base as usize;
            let r = &mut regs[base..base + func.slots as usize];

            macro_rules! r {
                ($slot:expr) => {
                    r[$slot as usize]
                };
            }
            // Hands over to code that sees the whole thread and moves the position itself.
            macro_rules! hand_over {
                ($call:expr) => {{
                    self.thread.top_mut().pc = pc as u32;
                    self.thread.regs = regs;
                    let outcome: Result<(), Halt> = $call;
                    if outcome.is_err() {
                        self.spend(&meter);
                        return Halt;
                    }
                    if depth != usize::MAX && self.thread.frames.len() <= depth {
                        self.spend(&meter);
                        return Halt;
                    }
                    regs = std::mem::take(&mut self.thread.regs);
                    continue 'frames;
                }};
            }
            macro_rules! jump {
                ($count:expr, $target:expr) => {{
                    pc = $target as usize;
                    reached[pc].store(true, Ordering::Relaxed);
                    meter.fuel -= i64::from($count);
                    if meter.fuel < 0 {
                        hand_over!(self.look(&mut meter));
                    }
                    continue;
                }};
            }
            macro_rules! load {
                ($n:literal, $d:expr, $p:expr, $taking:expr) => {{
                    let address = r!($p);
                    match self.load_fast::<$n, WATCH>(func.sites[pc], address, $taking) {
                        Some(value) => r!($d) = value,
                        None => hand_over!(self.load_slow(address, $n, $taking).map(|value| {
                            self.set_narrow($d, value as u64);
                        })),
                    }
                }};
            }
            macro_rules! store {
                ($n:literal, $p:expr, $v:expr, $named:expr) => {{
                    let (address, value) = (r!($p), r!($v));
                    let named = $named;
                    if self.store_fast::<$n, WATCH>(func.sites[pc], address, value, named).is_none() {
                        hand_over!(
                            self.store_slow(address, $n, u128::from(value), named).map(|()| self.advance())
                        );
                    }
                }};
            }

            loop {
                match code[pc] {
                    Code::Add64 { d, a, b } => r!(d) = r!(a).wrapping_add(r!(b)),
                    Code::Handles { a, b } => {
                        let (a, b) = (r!(a), r!(b));
                        let layout = &self.memory.layout;
                        if a != b && layout.is_thread_handle(a) && layout.is_thread_handle(b) {
                            self.compare_handles(a, b);
                        }
                    }
                    Code::Add32 { d, a, b } => r!(d) = u64::from((r!(a) as u32).wrapping_add(r!(b) as u32)),
                    Code::Sub64 { d, a, b } => r!(d) = r!(a).wrapping_sub(r!(b)),
                    Code::Sub32 { d, a, b } => r!(d) = u64::from((r!(a) as u32).wrapping_sub(r!(b) as u32)),
                    Code::Mul64 { d, a, b } => r!(d) = r!(a).wrapping_mul(r!(b)),
                    Code::Mul32 { d, a, b } => r!(d) = u64::from((r!(a) as u32).wrapping_mul(r!(b) as u32)),
                    Code::And { d, a, b } => r!(d) = r!(a) & r!(b),
                    Code::Or { d, a, b } => r!(d) = r!(a) | r!(b),
                    Code::Xor { d, a, b } => r!(d) = r!(a) ^ r!(b),
                    Code::Bin { op, bits, d, a, b } => match arith::bin(op, bits, r!(a), r!(b)) {
                        Some(value) => r!(d) = value,
                        None => hand_over!(Err(self.division_by_zero())),
                    },
                    Code::Eq { d, a, b } => r!(d) = u64::from(r!(a) == r!(b)),
                    Code::Ne { d, a, b } => r!(d) = u64::from(r!(a) != r!(b)),
                    Code::Ult { d, a, b } => r!(d) = u64::from(r!(a) < r!(b)),
                    Code::Ule { d, a, b } => r!(d) = u64::from(r!(a) <= r!(b)),
                    Code::Slt { shift, d, a, b } => {
                        r!(d) = u64::from(arith::signed(r!(a), shift) < arith::signed(r!(b), shift));
                    }
                    Code::Sle { shift, d, a, b } => {
                        r!(d) = u64::from(arith::signed(r!(a), shift) <= arith::signed(r!(b), shift));
                    }
                    Code::FBin32 { op, d, a, b } => {
                        let (x, y) = (f32::from_bits(r!(a) as u32), f32::from_bits(r!(b) as u32));
                        r!(d) = u64::from(arith::fbin32(op, x, y).to_bits());
                    }
                    Code::FBin64 { op, d, a, b } => {
                        let (x, y) = (f64::from_bits(r!(a)), f64::from_bits(r!(b)));
                        r!(d) = arith::fbin64(op, x, y).to_bits();
                    }
                    Code::Trunc { bits, d, a } => r!(d) = arith::keep(r!(a), bits),
                    Code::Sext { from, to, d, a } => r!(d) = arith::sign_extend(r!(a), from, to),
                    Code::Select { d, cond, a, b } => r!(d) = if r!(cond) != 0 { r!(a) } else { r!(b) },
                    Code::SelectWide { d, cond, a, b } => {
                        let from = if r!(cond) != 0 { a } else { b };
                        (r!(d), r!(d + 1)) = (r!(from), r!(from + 1));
                    }
                    Code::Move { d, a } => r!(d) = r!(a),
                    Code::Move2 { d, a } => (r!(d), r!(d + 1)) = (r!(a), r!(a + 1)),
                    Code::Load1 { d, p } => load!(1, d, p, Taking::Number),
                    Code::Load2 { d, p } => load!(2, d, p, Taking::Number),
                    Code::Load4 { d, p } => load!(4, d, p, Taking::Number),
                    Code::Load8 { d, p } => load!(8, d, p, Taking::Number),
                    Code::LoadHandle { d, p } if wide_pointers => load!(8, d, p, Taking::Handle),
                    Code::LoadHandle { d, p } => load!(4, d, p, Taking::Handle),
                    Code::LoadPtr { d, p } if wide_pointers => load!(8, d, p, Taking::Pointer),
                    Code::LoadPtr { d, p } => load!(4, d, p, Taking::Pointer),
                    Code::Store1 { p, v } => store!(1, p, v, Named::Number),
                    Code::Store2 { p, v } => store!(2, p, v, Named::Number),
                    Code::Store4 { p, v } if wide_pointers => store!(4, p, v, Named::Number),
                    Code::Store4 { p, v } => store!(4, p, v, self.naming(r!(v))),
                    Code::Store8 { p, v } if wide_pointers => store!(8, p, v, self.naming(r!(v))),
                    Code::Store8 { p, v } => store!(8, p, v, Named::Number),
                    Code::StorePtr { p, v } if wide_pointers => store!(8, p, v, Named::Name),
                    Code::StorePtr { p, v } => store!(4, p, v, Named::Name),
                    Code::Gep { shift, d, base, index, scale } => {
                        let index = arith::signed(r!(index), shift) >> shift;
                        let offset = index.wrapping_mul(i64::from(scale));
                        r!(d) = r!(base).wrapping_add(offset as u64) & pointer_mask;
                    }
                    Code::GepMany { desc, d, base } => {
                        let desc = &func.geps[desc as usize];
                        let mut address = r!(base).wrapping_add(desc.offset as u64);
                        for &(index, shift, scale) in &desc.indices {
                            let index = ((r!(index) << shift) as i64) >> shift;
                            address = address.wrapping_add(index.wrapping_mul(scale) as u64);
                        }
                        r!(d) = address & pointer_mask;
                    }
                    Code::Jump { count, target } => jump!(count, target),
                    Code::Goto { target } => {
                        pc = target as usize;
                        reached[pc].store(true, Ordering::Relaxed);
                        continue;
                    }
                    Code::JumpIf { count, cond, then, other } => {
                        jump!(count, if r!(cond) != 0 { then } else { other })
                    }
                    Code::JumpEq { count, a, b, then, other } => {
                        jump!(count, if r!(a) == r!(b) { then } else { other })
                    }
                    Code::JumpNe { count, a, b, then, other } => {
                        jump!(count, if r!(a) != r!(b) { then } else { other })
                    }
                    Code::JumpUlt { count, a, b, then, other } => {
                        jump!(count, if r!(a) < r!(b) { then } else { other })
                    }
                    Code::JumpUle { count, a, b, then, other } => {
                        jump!(count, if r!(a) <= r!(b) { then } else { other })
                    }
                    Code::JumpSlt { shift, count, a, b, then, other } => {
                        let less = arith::signed(r!(a), shift) < arith::signed(r!(b), shift);
                        jump!(count, if less { then } else { other })
                    }
                    Code::JumpSle { shift, count, a, b, then, other } => {
                        let less = arith::signed(r!(a), shift) <= arith::signed(r!(b), shift);
                        jump!(count, if less { then } else { other })
                    }
                    Code::Switch { count, desc, value } => {
                        let desc = &func.switches[desc as usize];
                        let mut key = u128::from(r!(value));
                        if desc.wide {
                            key |= u128::from(r!(value + 1)) << 64;
                        }
                        let target = match desc.cases.binary_search_by_key(&key, |(case, _)| *case) {
                            Ok(index) => desc.cases[index].1,
                            Err(_) => desc.default,
                        };
                        jump!(count, target)
                    }
                    Code::IndirectBr { count, desc, target } => {
                        let block = self.memory.layout.block_at(r!(target), func.first_block);
                        let targets = &func.indirect[desc as usize].targets;
                        match targets.iter().find(|(id, _)| Some(*id) == block) {
                            Some(&(_, target)) => jump!(count, target),
                            None => hand_over!(Err(self.bad_jump())),
                        }
                    }
                    Code::Ret { count, desc } => {
                        meter.fuel -= i64::from(count);
                        hand_over!(self.ret(desc))
                    }
                    Code::Call { desc } => hand_over!(self.call(desc)),
                    Code::Nop => {}
                    other => hand_over!(self.rare(other)),
                }
                pc += 1;
            }
        }
    }

    /// What an integer of pointer width is when it is stored.
    #[inline(always)]
    pub(crate) fn naming(&self, value: u64) -> Named {
        if self.memory.layout.is_thread_handle(value) { Named::Name } else { Named::Number }
    }

    pub(super) fn advance(&mut self) {
        self.thread.top_mut().pc += 1;
    }

    pub(super) fn set_narrow(&mut self, slot: u32, value: u64) {
        let at = (self.thread.top().base + slot) as usize;
        self.thread.regs[at] = value;
        self.advance();
    }

    fn division_by_zero(&mut self) -> Halt {
        self.crash(ProblemKind::DivisionByZero, None, String::new())
    }

    fn bad_jump(&mut self) -> Halt {
        self.crash(ProblemKind::InvalidPointer, None, "jump to an address that is no label here".to_owned())
    }

    fn spend(&mut self, meter: &Meter) {
        let run = meter.used + (meter.chunk - meter.fuel).max(0) as u64;
        self.world.instructions += run;
        self.world.state.instructions += run;
    }

    /// Called at a jump when the fuel is used up: looks for a loop without effect, then for the limits.
    #[cold]
    fn look(&mut self, meter: &mut Meter) -> Result<(), Halt> {
        if let Some(probe) = &mut meter.probe {
            meter.used += (meter.chunk - meter.fuel) as u64;
            meter.chunk = 0;
            meter.fuel = 0;
            let state = (self.local_hash(), self.version());
            if probe.returns_to(state) {
                return Err(self.stand(OpKind::Spin, Action::Resume));
            }
            if probe.exhausted() {
                meter.probe = None;
                meter.chunk = (meter.used as i64 * 4).clamp(FIRST_LOOK, 1 << 20);
                meter.fuel = meter.chunk;
            }
            return Ok(());
        }
        meter.used += (meter.chunk - meter.fuel) as u64;
        meter.chunk = 0;
        meter.fuel = 0;
        if self.world.state.instructions + meter.used > self.world.options.instruction_limit {
            return Err(self.limit("instructions of one run"));
        }
        if meter.used >= self.world.options.segment_limit && self.thread.nesting == 0 {
            return Err(self.stand(OpKind::Yield, Action::Resume));
        }
        meter.probe = Some(Probe::new((self.local_hash(), self.version()), meter.patience));
        meter.patience = (meter.patience * 4).min(1 << 16);
        Ok(())
    }

    /// The frame to go back to after a return, and whether that is an ordinary caller.
    pub(super) fn returns_to_caller(&self) -> bool {
        matches!(self.thread.top().on_return, OnReturn::Caller)
    }
}
