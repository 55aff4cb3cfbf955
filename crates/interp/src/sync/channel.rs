//! Calls on pipes, socket pairs, eventfds and epolls as visible operations (A-DESCRIPTOR), and calls that give or take back numbers of
//! descriptors: which thread gets which number depends on the order of these.
//!
//! A descriptor that is used after another thread closed it is not modelled, as long as its number is free, or where it was given again
//! while the user stood before the operation: a read that waits already would go on waiting, a later one would fail.

use super::shared::NUMBERS;
use crate::channels::{Blocking, Channels, Use, UseKind};
use crate::exec::{Cx, Halt};
use crate::libc;
use crate::readiness::{IN, OUT, PRI, RDBAND, RDNORM, Until, WRBAND, WRNORM, Wait, Watched};
use crate::thread::{Action, Phase};
use crate::world::Operating;
use raddle_base::{LoadOrder, StableHasher, StoreOrder};
use raddle_event::{Addr, AtomicOp, EventKind, Loc};
use raddle_libmodel::{Arg, DescriptorSet, DescriptorUse, Effect, LibcFn, Meaning, Models, TimeLimit};
use raddle_machine::OpKind;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

const CLOSED: &str = "a descriptor of a pipe, socket pair or eventfd that was closed before its use";

/// `MSG_DONTWAIT`
const DO_NOT_WAIT: u64 = 0x40;

/// How bytes go through a channel, for the order of events: positions in the stream are memory that the write stores and the read loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    Gives,
    Takes,
}

/// Whether it gives or takes back a number that only other functions show.
fn is_for_streams(function: LibcFn) -> bool {
    matches!(function.0, "fopen" | "freopen" | "tmpfile" | "fclose")
}

/// Whether the program calls functions that show numbers of descriptors, or take them.
pub(crate) fn numbers_are_seen(models: &Models) -> bool {
    models.meanings.values().any(|meaning| match meaning {
        Meaning::Effect(Effect::Libc(function), _) => {
            let shows = matches!(function.0, "fileno" | "fileno_unlocked");
            shows || function.descriptor_use().is_some() && !is_for_streams(*function)
        }
        _ => false,
    })
}

impl Cx<'_> {
    /// The operation that the library call at the present position is; `None` where it concerns no channel.
    pub(crate) fn pending_channel(&mut self, function: LibcFn) -> Result<Option<(OpKind, Use)>, Halt> {
        let Some(how) = function.descriptor_use() else { return Ok(None) };
        if is_for_streams(function) && !self.image.numbers_are_seen {
            return Ok(None);
        }
        if !matches!(self.thread.phase, Phase::Start | Phase::Chosen(_)) {
            return Ok(None);
        }
        let how = match how {
            DescriptorUse::Makes => {
                self.choose_before()?;
                let operation = Use::new(UseKind::Descriptors);
                return Ok(Some((OpKind::Channel { channel: None }, operation)));
            }
            DescriptorUse::Opens => {
                if !self.opens_null() {
                    self.choose_before()?;
                }
                return self.numbers(function).map(Some);
            }
            DescriptorUse::ClosesStream => return self.numbers(function).map(Some),
            DescriptorUse::Asks { about, limit } => return self.pending_wait(about, limit),
            how => how,
        };
        let descriptor = self.arg(Arg(0)) as u32 as i32;
        let channels = &self.world.state.channels;
        if channels.was_closed(descriptor) {
            return Err(self.unsupported(CLOSED.to_owned()));
        }
        if !channels.is_open(descriptor) {
            return match how {
                DescriptorUse::Closes => self.numbers(function).map(Some),
                DescriptorUse::Accepts => {
                    self.choose_before()?;
                    self.numbers(function).map(Some)
                }
                _ => Ok(None),
            };
        }
        let kind = match how {
            DescriptorUse::Reads { size, .. } if size.is_some_and(|size| self.arg(size) == 0) => {
                UseKind::Descriptors
            }
            DescriptorUse::Reads { flags, .. } => {
                let waits = flags.is_none_or(|flags| self.arg(flags) & DO_NOT_WAIT == 0);
                UseKind::Read(if waits { Blocking::Yes } else { Blocking::No })
            }
            DescriptorUse::Writes => UseKind::Write,
            _ => UseKind::Descriptors,
        };
        let given = channels.description(descriptor).map(|number| (descriptor, number));
        let operation = Use { descriptor: Some(descriptor), kind, given: given.into_iter().collect() };
        let stream = channels.concerned(&operation);
        let channel = stream.map(|stream| self.channel_address(stream)).transpose()?;
        Ok(Some((OpKind::Channel { channel }, operation)))
    }

    /// Lets the environment choose how the call goes, unless it has.
    pub(super) fn choose_before(&mut self) -> Result<(), Halt> {
        if matches!(self.thread.phase, Phase::Start) && libc::may_differ(self.thread.failures) {
            self.thread.phase = Phase::Chosen(Arc::default());
            return Err(self.stand(OpKind::Choose { variants: 2 }, Action::Decide));
        }
        Ok(())
    }

    /// Whether it opens `/dev/null`, which always works.
    fn opens_null(&self) -> bool {
        let names = |arg| self.peek_string(self.pointer_arg(arg)).is_some_and(|path| path == "/dev/null");
        names(Arg(0)) || names(Arg(1))
    }

    /// Gives or takes back a number of a descriptor.
    fn numbers(&mut self, function: LibcFn) -> Result<(OpKind, Use), Halt> {
        self.shared(NUMBERS | self.parts(function))
    }

    /// A call that waits for one of several descriptors. What it was given is looked at here and read when it happens: who writes to
    /// it in between is in a race with that.
    fn pending_wait(
        &mut self,
        about: DescriptorSet,
        limit: TimeLimit,
    ) -> Result<Option<(OpKind, Use)>, Halt> {
        let epoll = match about {
            DescriptorSet::Epoll => {
                let descriptor = self.arg(Arg(0)) as u32 as i32;
                if self.world.state.channels.was_closed(descriptor) {
                    return Err(self.unsupported(CLOSED.to_owned()));
                }
                match self.world.state.channels.at(descriptor).and_then(|end| end.epoll) {
                    Some(epoll) => Some(epoll),
                    None => return Ok(None),
                }
            }
            DescriptorSet::Entries | DescriptorSet::Bits => None,
        };
        let asked = match about {
            DescriptorSet::Epoll => Vec::new(),
            DescriptorSet::Entries => self.asked_entries(),
            DescriptorSet::Bits => self.asked_bits(),
        };
        let channels: &Channels = &self.world.state.channels;
        if asked.iter().any(|(descriptor, _)| channels.was_closed(*descriptor)) {
            return Err(self.unsupported(CLOSED.to_owned()));
        }
        let (asked, others): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|(descriptor, _)| channels.is_open(*descriptor));
        if asked.is_empty() && epoll.is_none() {
            return Ok(None);
        }
        let watched = |watched: fn(&Watched) -> bool| {
            let interests = epoll.map(|epoll| &channels.epolls[epoll].interests);
            interests.is_some_and(|all| all.values().any(|interest| watched(&interest.watched)))
        };
        let is_open = |descriptor| libc::is_open(&self.world.state.libc, descriptor);
        let outside = watched(|watched| *watched == Watched::Outside)
            || others.iter().any(|(descriptor, _)| is_open(*descriptor));
        let inside = !asked.is_empty() || watched(|watched| *watched != Watched::Outside);
        let invalid = others.iter().any(|(descriptor, _)| !is_open(*descriptor));
        let limited = match limit {
            TimeLimit::Milliseconds(arg) => self.arg(arg) as u32 as i32 >= 0,
            TimeLimit::Behind(arg) => self.arg(arg) != 0,
        };
        if outside && (inside || limited) {
            self.choose_before()?;
        }
        let chosen = match &self.thread.phase {
            Phase::Chosen(made) => made.first() == Some(&1),
            _ => false,
        };
        let until = match (outside, inside) {
            _ if limited || invalid => Until::AtOnce,
            (false, _) => Until::Ready,
            (true, true) if !chosen => Until::ReadyOrOutside,
            (true, _) => Until::AtOnce,
        };
        let channels: &Channels = &self.world.state.channels;
        let own = epoll.map(|_| self.arg(Arg(0)) as u32 as i32);
        let given = asked.iter().map(|(descriptor, _)| *descriptor).chain(own);
        let given =
            given.filter_map(|descriptor| Some((descriptor, channels.description(descriptor)?))).collect();
        let kind = UseKind::Waits(Arc::new(Wait { asked, epoll, until }));
        Ok(Some((OpKind::Channel { channel: None }, Use { descriptor: None, kind, given })))
    }

    /// Of `poll`.
    fn asked_entries(&self) -> Vec<(i32, u32)> {
        const ENTRY: u64 = 8;
        let (entries, count) = (self.pointer_arg(Arg(0)), self.arg(Arg(1)));
        let mut asked = Vec::new();
        for index in 0..count.min(libc::MOST_ASKED) {
            let Some(entry) = self.peek(entries.wrapping_add(index * ENTRY), ENTRY) else { break };
            let descriptor = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
            let events = u32::from(u16::from_le_bytes([entry[4], entry[5]]));
            if descriptor >= 0 {
                asked.push((descriptor, events));
            }
        }
        asked
    }

    /// Of `select`.
    fn asked_bits(&self) -> Vec<(i32, u32)> {
        let count = (self.arg(Arg(0)) as u32 as i32).clamp(0, libc::MOST_ASKED as i32);
        let mut asked = Vec::new();
        let sets = [IN | RDNORM | RDBAND, OUT | WRNORM | WRBAND, PRI];
        for (index, events) in sets.into_iter().enumerate() {
            let set = self.pointer_arg(Arg(index as u8 + 1));
            for descriptor in 0..count {
                let byte = self.peek(set.wrapping_add(descriptor as u64 / 8), 1);
                if byte.is_some_and(|byte| byte[0] >> (descriptor % 8) & 1 == 1) {
                    asked.push((descriptor, events));
                }
            }
        }
        asked
    }

    /// Bytes of the program's memory, without an access.
    pub(super) fn peek(&self, address: u64, len: u64) -> Option<&[u8]> {
        let at = self.memory.find(address, len)?;
        Some(&self.memory.object(at.slot).data[at.offset..at.offset + len as usize])
    }

    pub(crate) fn perform_channel(&mut self, operation: &Use) -> Result<(), Halt> {
        if !self.world.state.channels.are_the_same(operation) {
            return Err(self.unsupported(CLOSED.to_owned()));
        }
        self.world.operating = match operation.kind {
            UseKind::Shared(parts) => {
                self.stand_again(parts)?;
                Operating::OnSharedState
            }
            _ => Operating::OnChannel,
        };
        let outcome = self.perform_present(0);
        self.world.operating = Operating::No;
        let mut hasher = StableHasher::new();
        self.world.state.channels.hash(&mut hasher);
        self.world.state.channels_hash = hasher.finish();
        outcome
    }

    /// The block that stands for one direction in events and reports.
    fn channel_address(&mut self, stream: usize) -> Result<Addr, Halt> {
        let name = self.world.state.channels.stream(stream).name(stream);
        self.block_address(&name)
    }

    pub(super) fn block_address(&mut self, name: &str) -> Result<Addr, Halt> {
        let address = self.library_block(name, &[0])?;
        let at = self.resolve(address, 1)?;
        Ok(Addr { object: self.memory.identify(at.slot), offset: 0 })
    }

    /// These places of a direction are given, or taken: a read is ordered after the writes of what it takes, and nothing else is.
    pub(crate) fn pass(&mut self, stream: usize, places: (u32, u32), passing: Passing) -> Result<(), Halt> {
        let (offset, len) = places;
        let loc = Loc { object: self.channel_address(stream)?.object, offset, len };
        let op = match passing {
            Passing::Gives => AtomicOp::Store(StoreOrder::SeqCst),
            Passing::Takes => AtomicOp::Load(LoadOrder::SeqCst),
        };
        if len > 0 {
            self.event(EventKind::Atomic { loc, op });
        }
        if passing == Passing::Takes {
            self.assume("A-DESCRIPTOR");
        }
        Ok(())
    }
}
