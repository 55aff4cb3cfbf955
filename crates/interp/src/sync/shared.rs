//! Calls on state of the library that threads share and that is no memory, as visible operations: which thread reads which line, draws
//! which random number or finds which file depends on the order of the calls.
//!
//! All of it is one object of the library, and a part of it is a bit of the offset: two operations are dependent if they have a bit in
//! common. Files share the bits that are left by a hash of their names.

use crate::channels::{Use, UseKind};
use crate::exec::{Cx, Halt};
use crate::libc::{Behind, STREAM_KEYS};
use crate::thread::{Action, Phase};
use raddle_base::StableHasher;
use raddle_event::Addr;
use raddle_libmodel::{Arg, Effect, LibcFn, SemOp, SharedUse, TlsOp};
use raddle_machine::OpKind;
use std::hash::{Hash, Hasher};

/// Stands for shared state in operations.
pub(crate) const SHARED: &str = "state of the library";

/// Which number a new descriptor gets.
pub(crate) const NUMBERS: u32 = 1;
const RANDOM: u32 = 1 << 1;
const EXIT_HANDLERS: u32 = 1 << 2;
/// Names of semaphores.
pub(crate) const NAMES: u32 = 1 << 3;
const SIGNALS: u32 = 1 << 4;
/// Keys of thread-specific data.
pub(crate) const KEYS: u32 = 1 << 5;
const INPUT: u32 = 1 << 6;
const FILES: u32 = !(INPUT | (INPUT - 1));

const SIGPIPE: u32 = 13;

/// Whether calls of this effect are such operations, or on numbers of descriptors.
pub(crate) fn uses_shared_state(effect: &Effect) -> bool {
    use raddle_libmodel::DescriptorUse::{Accepts, Closes, ClosesStream, Opens};
    match effect {
        Effect::Libc(function) => {
            function.shared_use().is_some()
                || matches!(function.descriptor_use(), Some(Accepts | Closes | ClosesStream | Opens))
        }
        Effect::Sem(SemOp::Open { .. }, _) => true,
        Effect::Tls(TlsOp::KeyCreate { .. } | TlsOp::KeyDelete { .. }, _) => true,
        _ => false,
    }
}

impl Cx<'_> {
    /// The operation on shared state that the library call at the present position is, if any.
    pub(crate) fn pending_shared(&mut self, function: LibcFn) -> Result<Option<(OpKind, Use)>, Halt> {
        let Some(using) = function.shared_use() else { return Ok(None) };
        if !matches!(self.thread.phase, Phase::Start | Phase::Chosen(_)) || self.is_alone() {
            return Ok(None);
        }
        // How a write to a broken pipe goes depends on it.
        if self.concerns_broken_pipes(using) {
            let operation = Use::new(UseKind::Shared(u32::MAX));
            return Ok(Some((OpKind::Channel { channel: None }, operation)));
        }
        match self.parts(function) {
            0 => Ok(None),
            parts => {
                if matches!(using, SharedUse::File(_) | SharedUse::Files) {
                    self.choose_before()?;
                }
                self.shared(parts).map(Some)
            }
        }
    }

    pub(crate) fn shared(&mut self, parts: u32) -> Result<(OpKind, Use), Halt> {
        let channel = Some(self.shared_part(parts)?);
        Ok((OpKind::Channel { channel }, Use::new(UseKind::Shared(parts))))
    }

    fn shared_part(&mut self, parts: u32) -> Result<Addr, Halt> {
        Ok(Addr { offset: parts, ..self.block_address(SHARED)? })
    }

    /// For a call that is no library function.
    pub(crate) fn pending_part(&mut self, part: u32) -> Result<Option<OpKind>, Halt> {
        if self.is_alone() {
            return Ok(None);
        }
        Ok(Some(OpKind::Channel { channel: Some(self.shared_part(part)?) }))
    }

    /// Which parts the call uses, numbers of descriptors aside.
    pub(crate) fn parts(&self, function: LibcFn) -> u32 {
        match function.shared_use() {
            None => 0,
            Some(SharedUse::Random) => RANDOM,
            Some(SharedUse::ExitHandlers) => EXIT_HANDLERS,
            Some(SharedUse::Signal(_)) => SIGNALS,
            Some(SharedUse::SignalMask) => 0,
            Some(SharedUse::Input) => INPUT,
            Some(SharedUse::Files) => FILES,
            Some(SharedUse::Stream(arg)) => match self.descriptor_of(self.pointer_arg(arg)) {
                Some(descriptor) => self.parts_behind(descriptor),
                None => NUMBERS,
            },
            Some(SharedUse::Descriptor(arg)) => self.parts_behind(self.arg(arg) as u32 as i32),
            Some(SharedUse::File(arg)) => match self.peek_string(self.pointer_arg(arg)) {
                Some(path) if path == "/dev/null" => 0,
                Some(path) => part_of_file(&path.as_bytes()),
                None => FILES,
            },
        }
    }

    fn parts_behind(&self, descriptor: i32) -> u32 {
        if self.world.state.channels.is_taken(descriptor) {
            return 0;
        }
        match self.world.state.libc.behind(descriptor) {
            Behind::Output => 0,
            Behind::Input => INPUT,
            // Closing takes its number back.
            Behind::Nothing => NUMBERS,
            Behind::Device => part_of_file(&descriptor),
            Behind::File(path) => part_of_file(&path),
        }
    }

    /// Of the stream at this address.
    fn descriptor_of(&self, stream: u64) -> Option<i32> {
        let (key, _) = self.world.state.library.iter().find(|(_, address)| **address == stream)?;
        match STREAM_KEYS.iter().position(|standard| standard == key) {
            Some(standard) => Some(standard as i32),
            None => key.strip_prefix("FILE ")?.split(' ').next()?.parse().ok(),
        }
    }

    fn concerns_broken_pipes(&self, using: SharedUse) -> bool {
        const UNBLOCK: u64 = 1;
        match using {
            SharedUse::Signal(signal) => self.arg(signal) as u32 == SIGPIPE,
            SharedUse::SignalMask => {
                let set = self.peek(self.pointer_arg(Arg(1)), 8);
                let blocks = |set: &[u8]| set[(SIGPIPE - 1) as usize / 8] >> ((SIGPIPE - 1) % 8) & 1 == 1;
                self.arg(Arg(0)) != UNBLOCK && set.is_some_and(blocks)
            }
            _ => false,
        }
    }

    /// All other threads have been joined, or none was made: their calls come before in every order.
    pub(crate) fn is_alone(&self) -> bool {
        let own = self.thread.id.0 as usize;
        self.world.state.lives().iter().enumerate().all(|(thread, life)| thread == own || life.joined)
    }

    /// What the call uses may be another part than when the thread came to it: the descriptor was closed and given again.
    pub(crate) fn stand_again(&mut self, stood_for: u32) -> Result<(), Halt> {
        let Some((Effect::Libc(function), _)) = self.present_effect() else { return Ok(()) };
        let function = *function;
        let parts = self.parts(function);
        if parts & !stood_for == 0 {
            return Ok(());
        }
        let (kind, operation) = self.shared(parts | stood_for)?;
        Err(self.stand(kind, Action::Channel(operation)))
    }
}

fn part_of_file(name: &impl Hash) -> u32 {
    let mut hasher = StableHasher::new();
    name.hash(&mut hasher);
    let parts = FILES.count_ones();
    1 << (FILES.trailing_zeros() + (hasher.finish() % u64::from(parts)) as u32)
}
