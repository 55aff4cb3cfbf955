//! Calls of modelled functions: which are visible operations, and what they do.

use super::calls::{ATOMIC_ENTER, ATOMIC_LEAVE, Flow};
use super::{Cx, Halt};
use crate::image::Callable;
use crate::sync::KEYS;
use crate::thread::Ending;
use crate::values::{Asked, Coverage, Sign, Values};
use crate::world::Operating;
use raddle_event::{AccessKind, EventKind, ProblemKind};
use raddle_libmodel::{
    Arg, CondOp, Effect, Handlers, How, ProcessOp, SemOp, SyncKind, ThreadOp, TlsOp, VerifierOp, attr_bytes,
};
use raddle_machine::OpKind;
use std::borrow::Cow;

impl<'a> Cx<'a> {
    /// The visible operation that a call with this effect is; `None` when nobody else can tell when it happens.
    pub(super) fn pending_effect(&mut self, effect: &Effect) -> Result<Option<OpKind>, Halt> {
        match *effect {
            Effect::Lock { family, lock, mode, how, .. } => {
                self.pending_lock(family, lock, mode, how).map(Some)
            }
            Effect::Unlock { lock, mode, .. } => self.pending_unlock(lock, mode).map(Some),
            Effect::SyncInit { object, .. } => {
                Ok(Some(OpKind::SyncInit { object: self.sync_addr(self.pointer_arg(object))? }))
            }
            Effect::SyncDestroy { object, .. } => {
                Ok(Some(OpKind::SyncDestroy { object: self.sync_addr(self.pointer_arg(object))? }))
            }
            Effect::MutexConsistent { mutex } => {
                Ok(Some(OpKind::SyncInit { object: self.sync_addr(self.pointer_arg(mutex))? }))
            }
            Effect::Thread(op, _) => self.pending_thread(op),
            Effect::Cond(op, _) => self.pending_cond(op).map(Some),
            Effect::BarrierWait { barrier } => self.pending_barrier(barrier).map(Some),
            Effect::Sem(op, _) => self.pending_sem(op),
            Effect::Once { once, .. } => self.pending_once(once).map(Some),
            Effect::Tls(TlsOp::KeyCreate { .. } | TlsOp::KeyDelete { .. }, _) => self.pending_part(KEYS),
            Effect::Tls(..) => Ok(None),
            Effect::Atomic(call) => self.pending_atomic_call(call).map(Some),
            Effect::Verifier(op) => Ok(match op {
                VerifierOp::AtomicBegin => Some(ATOMIC_ENTER),
                VerifierOp::AtomicEnd => Some(ATOMIC_LEAVE),
                VerifierOp::Nondet { boolean: true, .. } => Some(OpKind::Choose { variants: 2 }),
                VerifierOp::Nondet { bits, signed, .. } => {
                    let variants = self.nondet_values(bits, signed).tried.len() as u32;
                    Some(OpKind::Choose { variants })
                }
                VerifierOp::NondetFloat { .. } => Some(OpKind::Choose { variants: FLOATS.len() as u32 }),
                VerifierOp::NondetPointer => Some(OpKind::Choose { variants: 2 }),
                VerifierOp::Assert { .. } | VerifierOp::Assume { .. } | VerifierOp::Error => None,
            }),
            Effect::Process(_) | Effect::Libc(_) | Effect::Nothing { .. } | Effect::Unsupported { .. } => {
                Ok(None)
            }
        }
    }

    /// The effect of the call at the present position, if it has one.
    pub(crate) fn present_effect(&mut self) -> Option<(&Effect, &[&'static str])> {
        let desc = self.call_desc();
        let function = self.callee(desc).ok()?;
        match self.image.callable(function) {
            Callable::Effect(effect, assumptions) => Some((effect, assumptions)),
            _ => None,
        }
    }

    /// Does it, and goes on after the call unless the thread stands.
    pub(crate) fn perform_effect(
        &mut self,
        effect: &Effect,
        assumptions: &[&'static str],
        variant: u32,
    ) -> Result<(), Halt> {
        // What goes through a channel is known.
        for id in
            assumptions.iter().filter(|id| **id != "A-IO" || self.world.operating != Operating::OnChannel)
        {
            self.world.state.assume(id);
        }
        self.read_settings(effect)?;
        let flow = match *effect {
            Effect::Lock { family, lock, mode, how, returns } => {
                Flow::Return(self.perform_lock(family, lock, mode, how, returns, variant)?)
            }
            Effect::Unlock { family, lock, mode, returns } => {
                Flow::Return(self.perform_unlock(family, lock, mode, returns)?)
            }
            Effect::SyncInit { kind, object, attribute, returns } => {
                Flow::Return(self.perform_init(kind, object, attribute, returns)?)
            }
            Effect::SyncDestroy { kind, object, returns } => {
                Flow::Return(self.perform_destroy(kind, object, returns)?)
            }
            Effect::MutexConsistent { mutex } => Flow::Return(self.make_consistent(mutex)?),
            Effect::Process(op) => {
                self.process(op)?;
                Flow::GoOn
            }
            Effect::Thread(op, returns) => self.perform_thread(op, returns, variant)?,
            Effect::Cond(op, returns) => self.perform_cond(op, returns, variant)?,
            Effect::BarrierWait { barrier } => self.perform_arrive(barrier)?,
            Effect::Sem(op, returns) => Flow::Return(self.perform_sem(op, returns, variant)?),
            Effect::Once { once, function, .. } => self.perform_once(once, function)?,
            Effect::Tls(op, returns) => Flow::Return(self.perform_specific(op, returns)?),
            Effect::Atomic(call) => Flow::Return(self.perform_atomic_call(call)?),
            Effect::Verifier(op) => Flow::Return(self.verifier(op, variant)?),
            Effect::Libc(function) => self.library_call(function)?,
            Effect::Nothing { result } => Flow::Return(result.explored() as i128 as u128),
            Effect::Unsupported { .. } if self.goes_on_unwinding() => {
                self.unwind()?;
                Flow::GoOn
            }
            Effect::Unsupported { reason } => return Err(self.unsupported(reason.to_owned())),
        };
        if let Flow::Return(value) = flow {
            self.return_value(value);
        }
        Ok(())
    }

    /// Deadlines, and attributes that nothing here depends on, are read before anything else.
    fn read_settings(&mut self, effect: &Effect) -> Result<(), Halt> {
        let word = u64::from(self.memory.layout.pointer_bytes);
        let is_deadline = matches!(
            effect,
            Effect::Lock { .. }
                | Effect::Cond(..)
                | Effect::Sem(..)
                | Effect::Thread(ThreadOp::Join { .. }, _)
        );
        let (arg, bytes) = match *effect {
            Effect::Lock { how, .. }
            | Effect::Cond(CondOp::Wait { how, .. }, _)
            | Effect::Sem(SemOp::Wait { how, .. }, _)
            | Effect::Thread(ThreadOp::Join { how, .. }, _) => match how {
                How::Timed { deadline: Some(deadline) } => (deadline, 2 * word),
                How::Timed { deadline: None } | How::Block | How::Try => return Ok(()),
            },
            Effect::Thread(ThreadOp::Create { attribute: Some(attribute), .. }, _) => {
                (attribute, attr_bytes(self.image.program.data_model))
            }
            Effect::SyncInit { kind: SyncKind::Cond | SyncKind::Barrier, .. } => (Arg(1), 4),
            Effect::SyncInit { kind: SyncKind::Rwlock, .. } => (Arg(1), 8),
            _ => return Ok(()),
        };
        let address = self.pointer_arg(arg);
        if address == 0 {
            return Ok(());
        }
        let at = self.readable(address, bytes)?;
        self.report(at, bytes as usize, AccessKind::Read);
        if is_deadline && !is_time(&self.memory.take(at, bytes as usize).bytes) {
            return Err(
                self.unsupported("a time with less than 0 or more than 999999999 nanoseconds".to_owned())
            );
        }
        Ok(())
    }

    fn verifier(&mut self, op: VerifierOp, variant: u32) -> Result<u128, Halt> {
        match op {
            VerifierOp::Assert { condition } if self.condition(condition) => Ok(0),
            VerifierOp::Assert { .. } | VerifierOp::Error => {
                Err(self.crash(ProblemKind::AssertionFailure, None, String::new()))
            }
            VerifierOp::Assume { condition } if self.condition(condition) => Ok(0),
            VerifierOp::Assume { .. } => Err(self.end_with(Ending::Infeasible)),
            VerifierOp::AtomicBegin => {
                self.enter_section();
                Ok(0)
            }
            VerifierOp::AtomicEnd => {
                self.leave_section();
                Ok(0)
            }
            VerifierOp::Nondet { boolean: true, .. } => {
                self.event(EventKind::Choose { value: u64::from(variant) });
                Ok(u128::from(variant))
            }
            VerifierOp::Nondet { bits, signed, .. } => {
                let values = self.nondet_values(bits, signed);
                let value = values.tried.get(variant as usize).copied().unwrap_or(0);
                let coverage = values.coverage;
                self.event(EventKind::Choose { value: value as u64 });
                if coverage == Coverage::Some {
                    self.assume("A-INPUT");
                    self.world.state.not_covered("not every value of a nondeterministic choice was tried");
                }
                Ok(value as u128)
            }
            VerifierOp::NondetFloat { bits } => {
                let value = FLOATS.get(variant as usize).copied().unwrap_or(0.0);
                self.assume("A-INPUT");
                self.world.state.not_covered("not every value of a nondeterministic choice was tried");
                let bits = if bits == 32 { u64::from((value as f32).to_bits()) } else { value.to_bits() };
                self.event(EventKind::Choose { value: bits });
                Ok(u128::from(bits))
            }
            VerifierOp::NondetPointer => {
                self.event(EventKind::Choose { value: u64::from(variant) });
                self.assume("A-INPUT");
                self.world.state.not_covered("not every value of a nondeterministic choice was tried");
                if variant == 0 { Ok(0) } else { self.fresh_block(64, "nondet pointer").map(u128::from) }
            }
        }
    }

    fn process(&mut self, op: ProcessOp) -> Result<(), Halt> {
        match op {
            ProcessOp::Exit { code, handlers } => {
                let code = self.arg(code) as u32 as i32;
                match handlers {
                    Handlers::Run => self.leave_process(code),
                    Handlers::Skip => Err(self.end_with(Ending::Exit(code))),
                }
            }
            ProcessOp::Abort => Err(self.crash(ProblemKind::Abort, None, String::new())),
            ProcessOp::AssertFail { text } => {
                let text = self.peek_string(self.pointer_arg(text)).unwrap_or_default();
                Err(self.crash(ProblemKind::AssertionFailure, None, text))
            }
        }
    }

    fn nondet_values(&self, bits: u8, signed: bool) -> Cow<'a, Values> {
        let site = self.image.site(self.thread.top());
        match self.image.values.get(&site) {
            Some(values) => Cow::Borrowed(values),
            None => {
                let sign = if signed { Sign::Signed } else { Sign::Unsigned };
                Cow::Owned(self.world.options.values.values(&Asked { bits, sign, call: None }))
            }
        }
    }

    fn condition(&self, arg: Arg) -> bool {
        match self.call_desc().args.get(arg.0 as usize) {
            Some(arg) => self.value_of(arg.slot, arg.ty) != 0,
            None => false,
        }
    }
}

const FLOATS: [f64; 3] = [0.0, 1.0, -1.0];

/// Whether a `struct timespec` is one: where it is not, calls that would wait fail instead (POSIX).
fn is_time(timespec: &[u8]) -> bool {
    let (_, nanoseconds) = timespec.split_at(timespec.len() / 2);
    let number = nanoseconds.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    number < 1_000_000_000
}
