//! Calls on pipes, socket pairs and eventfds as visible operations (A-DESCRIPTOR).
//!
//! A descriptor that is used after another thread closed it is not modelled: a read that waits already would go on waiting, a later one
//! would fail or, where the number was given again, concern something else.

use crate::channels::{Use, UseKind};
use crate::exec::{Cx, Halt};
use crate::libc;
use crate::thread::{Action, Phase};
use raddle_base::{LoadOrder, StableHasher, StoreOrder};
use raddle_event::{Addr, AtomicOp, EventKind, Loc};
use raddle_libmodel::{Arg, DescriptorUse, LibcFn};
use raddle_machine::OpKind;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

const CLOSED: &str = "a descriptor of a pipe, socket pair or eventfd that was closed before its use";

/// How bytes go through a channel, for the order of events: positions in the stream are memory that the write stores and the read loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    Gives,
    Takes,
}

impl Cx<'_> {
    /// The operation that the library call at the present position is; `None` where it concerns no channel.
    pub(crate) fn pending_channel(&mut self, function: LibcFn) -> Result<Option<(OpKind, Use)>, Halt> {
        let Some(how) = function.descriptor_use() else { return Ok(None) };
        if !matches!(self.thread.phase, Phase::Start | Phase::Chosen(_)) {
            return Ok(None);
        }
        if how == DescriptorUse::Makes {
            let open = matches!(self.thread.phase, Phase::Start) && libc::may_differ(&self.world.state.libc);
            if open {
                self.thread.phase = Phase::Chosen(Arc::default());
                return Err(self.stand(OpKind::Choose { variants: 2 }, Action::Decide));
            }
            let operation = Use { descriptor: None, kind: UseKind::Descriptors };
            return Ok(Some((OpKind::Channel { channel: None }, operation)));
        }
        let descriptor = self.arg(Arg(0)) as u32 as i32;
        let channels = &self.world.state.channels;
        if channels.was_closed(descriptor) {
            return Err(self.unsupported(CLOSED.to_owned()));
        }
        if !channels.is_open(descriptor) {
            return Ok(None);
        }
        let kind = match how {
            DescriptorUse::Reads { size } if self.arg(size) != 0 => UseKind::Read,
            DescriptorUse::Writes => UseKind::Write,
            _ => UseKind::Descriptors,
        };
        let operation = Use { descriptor: Some(descriptor), kind };
        let stream = channels.concerned(&operation);
        let channel = stream.map(|stream| self.channel_address(stream)).transpose()?;
        Ok(Some((OpKind::Channel { channel }, operation)))
    }

    pub(crate) fn perform_channel(&mut self, operation: Use) -> Result<(), Halt> {
        if operation.descriptor.is_some_and(|descriptor| self.world.state.channels.was_closed(descriptor)) {
            return Err(self.unsupported(CLOSED.to_owned()));
        }
        self.world.on_channel = true;
        let outcome = self.perform_present(0);
        self.world.on_channel = false;
        let mut hasher = StableHasher::new();
        self.world.state.channels.hash(&mut hasher);
        self.world.state.channels_hash = hasher.finish();
        outcome
    }

    /// The block that stands for one direction in events and reports.
    fn channel_address(&mut self, stream: usize) -> Result<Addr, Halt> {
        let name = self.world.state.channels.stream(stream).name(stream);
        let address = self.library_block(&name, &[0])?;
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
