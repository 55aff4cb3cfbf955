//! What the stutter rule ([`raddle_machine::Stutter`]) compares: the local state of a thread, and all that others can see. And the search for
//! states that come back inside a segment.

use crate::exec::Cx;
use crate::memory::mix;
use crate::thread::{Action, Leaving, OnReturn, Phase, Spurious, Stand, Until, Wait};
use crate::world::State;
use raddle_ir::Ty;

/// Looks for a state that comes back inside a segment (Brent's algorithm).
pub(crate) struct Probe {
    anchor: (u64, u64),
    steps: u32,
    power: u32,
    left: u32,
}

impl Probe {
    /// Looks at this many states at most.
    pub fn new(state: (u64, u64), patience: u32) -> Self {
        Self { anchor: state, steps: 0, power: 1, left: patience }
    }

    pub fn returns_to(&mut self, state: (u64, u64)) -> bool {
        if state == self.anchor {
            return true;
        }
        self.left -= 1;
        self.steps += 1;
        if self.steps == self.power {
            self.anchor = state;
            self.power *= 2;
            self.steps = 0;
        }
        false
    }

    pub fn exhausted(&self) -> bool {
        self.left == 0
    }
}

impl Cx<'_> {
    /// Hash of all that other threads can see.
    pub fn version(&self) -> u64 {
        version(self.memory.version, self.world.sync.version, &self.world.state)
    }

    /// Hash of the local state at a stop, the operation included.
    pub fn stop_hash(&mut self) -> u64 {
        let kind = match &self.thread.stand {
            Stand::Before { operation, action } => {
                let word = match action {
                    Action::WaitEnd(Wait { until: Until::Spurious, .. }) => 13,
                    Action::WaitEnd(_) => 1,
                    Action::BarrierLeave { round, .. } => 2 + (u64::from(*round) << 8),
                    Action::Resume => 3,
                    Action::Exit(_) => 4,
                    Action::End => 5,
                    Action::Begin => 6,
                    Action::Atomic => 7,
                    Action::Fence => 8,
                    Action::Effect => 9,
                    Action::OnceEnd(_) => 10,
                    Action::AtomicEnter => 11,
                    Action::AtomicLeave => 12,
                    Action::Decide => 14,
                    Action::Channel(_) => 15,
                };
                u64::from(operation.site.0) << 32 | word
            }
            Stand::Ended => 0,
        };
        mix(self.local_hash() ^ kind, 0x5DEE_CE66_D001).max(2)
    }

    /// Hash of the thread's own state: where its frames stand and what they still need.
    pub fn local_hash(&mut self) -> u64 {
        let mut sum = 0x1234_5678_9ABC_DEF0;
        let last = self.thread.frames.len().saturating_sub(1);
        for index in 0..self.thread.frames.len() {
            if index < last && self.thread.frames[index].hash != 0 {
                sum = self.thread.frames[index].hash;
                continue;
            }
            sum = self.frame_hash(index, sum);
            if index < last {
                self.thread.frames[index].hash = sum | 1;
                sum |= 1;
            }
        }
        sum = mix(sum ^ u64::from(self.thread.failures), phase_word(&self.thread.phase));
        sum =
            self.thread.specific.iter().fold(sum, |sum, (key, value)| mix(sum ^ u64::from(*key), value | 1));
        sum = self.thread.cleanups.iter().fold(sum, |sum, cleanup| {
            mix(sum ^ 0xC1EA, u64::from(cleanup.depth) << 32 | u64::from(cleanup.jump.unwrap_or(0)))
        });
        if let Some(result) = self.thread.exiting {
            sum = mix(sum ^ 0xE817, self.memory.canonical_pointer(result) | 1);
        }
        if let Leaving::Process { handlers, .. } = &self.thread.leaving {
            sum = mix(sum ^ 0x5EA5, handlers.len() as u64 + 1);
        }
        sum
    }

    fn frame_hash(&mut self, index: usize, sum: u64) -> u64 {
        let frame = &self.thread.frames[index];
        let (id, pc, base) = (frame.function, frame.pc, frame.base as usize);
        let function = &self.image.program.functions[id];
        let mut live = self.world.live.at(function, self.image.func(id), id.0, pc);
        for jump in self.thread.jumps(index) {
            live = crate::live::both(&live, &self.world.live.at(function, self.image.func(id), id.0, jump));
        }
        let mut sum = mix(sum ^ u64::from(id.0) << 32 ^ u64::from(pc), 0x9E37_79B9_7F4A_7C15);
        if let OnReturn::Journal(journal) = &frame.on_return {
            sum = mix(sum, journal.done.len() as u64 + 1);
        }
        for slot in live.iter() {
            let at = base + slot.slot as usize;
            let value = self.thread.regs[at];
            let value = if slot.ty == Ty::Ptr { self.memory.canonical_pointer(value) } else { value };
            sum = mix(sum ^ value, u64::from(slot.slot) + 0xABCD_0001);
            if slot.ty.is_wide() {
                sum = mix(sum ^ self.thread.regs[at + 1], 0x0BAD_5EED);
            }
        }
        sum
    }
}

/// A sum, so that what a step adds to it does not depend on what others have changed.
pub(crate) fn version(memory: u64, sync: u64, state: &State) -> u64 {
    memory.wrapping_add(sync.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_add(mix(
        state.ambient ^ state.libc_hash ^ state.channels_hash.rotate_left(7) ^ 0x77,
        state.lives_hash | 1,
    ))
}

/// What a thread's local state adds to the hash over all threads.
pub(crate) fn local_token(thread: u32, local: u64) -> u64 {
    mix(local ^ 0x3C6E_F372, u64::from(thread) + 0x1000_0001)
}

fn phase_word(phase: &Phase) -> u64 {
    match phase {
        Phase::Start => 1,
        Phase::Granted => 2,
        Phase::Decided(Spurious::No) => 4,
        Phase::Decided(Spurious::Fails) => 5,
        Phase::Chosen(made) => made.iter().fold(6, |sum, choice| mix(sum, u64::from(*choice) + 9)),
        Phase::Copied(piece) | Phase::CopiedGranted(piece) => {
            piece.bytes.iter().fold(3, |sum, &byte| mix(sum, u64::from(byte) + 5))
        }
        Phase::ByValue(pieces) | Phase::ByValueGranted(pieces) => pieces
            .iter()
            .flat_map(|piece| &piece.bytes)
            .fold(7 + pieces.len() as u64, |sum, &byte| mix(sum, u64::from(byte) + 5)),
        Phase::Library(journal) | Phase::LibraryGranted(journal) => 100 + journal.done.len() as u64,
    }
}
