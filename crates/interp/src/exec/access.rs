//! Plain accesses: a quick way for the common case, a slow way that also handles faults, visible accesses, uninitialised
//! bytes and pointers read as numbers.

use super::{Cx, Halt};
use crate::memory::{At, Named, WORD};
use crate::thread::{Action, Phase};
use crate::world::Watch;
use raddle_base::SiteId;
use raddle_event::{AccessKind, Event, EventKind, ProblemKind};
use raddle_machine::OpKind;

/// What a load takes the bytes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taking {
    Pointer,
    Number,
    /// A number that is only compared and handed on: a thread handle stays one.
    Handle,
}

impl Cx<'_> {
    /// `None`: take the slow way.
    #[inline(always)]
    pub(super) fn load_fast<const N: usize, const WATCH: bool>(
        &mut self,
        site: SiteId,
        address: u64,
        taking: Taking,
    ) -> Option<u64> {
        let at = self.memory.find(address, N as u64)?;
        let object = self.memory.object(at.slot);
        if object.has_sync && self.hits_sync(at, N as u64) {
            return None;
        }
        if !object.init.is_empty() {
            let (word, shift) = (at.offset / WORD, at.offset % WORD);
            let wanted = (((1u32 << N) - 1) << shift) as u8;
            if shift + N > WORD || object.init[word] & wanted != wanted {
                return None;
            }
        }
        if taking != Taking::Pointer && !object.names.is_empty() {
            return None;
        }
        let value = object.value::<N>(at.offset);
        if !object.quiet {
            if WATCH && self.world.watch.sees(site) {
                return None;
            }
            let loc = self.memory.loc(at, N as u64);
            self.access_event(site, EventKind::Access { loc, kind: AccessKind::Read });
        }
        Some(value)
    }

    #[inline(always)]
    pub(super) fn store_fast<const N: usize, const WATCH: bool>(
        &mut self,
        site: SiteId,
        address: u64,
        value: u64,
        named: Named,
    ) -> Option<()> {
        let at = self.memory.find(address, N as u64)?;
        let object = self.memory.object(at.slot);
        if object.constant || object.has_sync && self.hits_sync(at, N as u64) {
            return None;
        }
        if !object.quiet {
            if WATCH && self.world.watch.sees(site) {
                return None;
            }
            let loc = self.memory.loc(at, N as u64);
            self.access_event(site, EventKind::Access { loc, kind: AccessKind::Write });
        }
        self.memory.store::<N>(at, value, named);
        Some(())
    }

    #[inline(always)]
    fn access_event(&mut self, site: SiteId, kind: EventKind) {
        let event = Event { thread: self.thread.id, site, kind };
        self.image.reached.event(event.thread, site);
        self.sink.event(event, &super::Calls { image: self.image, frames: &self.thread.frames });
    }

    /// Any number of bytes up to 16.
    #[inline(never)]
    pub(super) fn load_slow(&mut self, address: u64, len: usize, taking: Taking) -> Result<u128, Halt> {
        let at = self.readable(address, len as u64)?;
        self.let_through(at, len, AccessKind::Read)?;
        Ok(self.take_value(at, len, taking))
    }

    #[inline(never)]
    pub(super) fn store_slow(
        &mut self,
        address: u64,
        len: usize,
        value: u128,
        named: Named,
    ) -> Result<(), Halt> {
        let at = self.writable(address, len as u64)?;
        self.let_through(at, len, AccessKind::Write)?;
        self.memory.store_bytes(at, &value.to_le_bytes()[..len], named);
        Ok(())
    }

    /// The value of readable bytes; notes what that gives away.
    pub(crate) fn take_value(&mut self, at: At, len: usize, taking: Taking) -> u128 {
        if !self.memory.object(at.slot).is_initialised(at.offset, len) {
            self.assume("A-UNINIT");
        }
        if taking != Taking::Pointer {
            self.reveal(at, len, taking);
        }
        let mut bytes = [0u8; 16];
        bytes[..len].copy_from_slice(&self.memory.object(at.slot).data[at.offset..at.offset + len]);
        u128::from_le_bytes(bytes)
    }

    /// These bytes are read as a number: what they name is exposed.
    pub(crate) fn reveal(&mut self, at: At, len: usize, taking: Taking) {
        for word in self.memory.names_in(at, len) {
            let value = self.memory.pointer_at(at.slot, word);
            let whole = word == at.offset && len == self.memory.layout.pointer_bytes as usize;
            match self.memory.layout.thread_at(value) {
                Some(_) if whole && taking == Taking::Handle => {}
                _ => self.expose_value(value),
            }
        }
    }

    pub(crate) fn readable(&mut self, address: u64, len: u64) -> Result<At, Halt> {
        match self.memory.find(address, len) {
            Some(at) => {
                if self.memory.object(at.slot).has_sync && self.hits_sync(at, len) {
                    self.assume("A-RESULT");
                }
                Ok(at)
            }
            None => Err(self.fault(address, len, AccessKind::Read)),
        }
    }

    pub(crate) fn writable(&mut self, address: u64, len: u64) -> Result<At, Halt> {
        match self.memory.find(address, len) {
            Some(at) if self.memory.object(at.slot).constant => {
                let object = self.memory.loc(at, len).start();
                let detail = "write to constant memory".to_owned();
                Err(self.crash(ProblemKind::InvalidPointer, Some(object), detail))
            }
            Some(at) if self.memory.object(at.slot).has_sync && self.hits_sync(at, len) => {
                Err(self.unsupported("a plain write to a synchronisation object that is in use".to_owned()))
            }
            Some(at) => Ok(at),
            None => Err(self.fault(address, len, AccessKind::Write)),
        }
    }

    /// Whether these bytes are those of a synchronisation object: what a plain write makes of it is not modelled, what a plain read finds
    /// is open (A-RESULT).
    #[inline(never)]
    fn hits_sync(&self, at: At, len: u64) -> bool {
        let loc = self.memory.loc(at, len);
        self.world.sync.is_overwritten(loc.object, loc.offset, loc.len)
    }

    fn fault(&mut self, address: u64, len: u64, kind: AccessKind) -> Halt {
        let miss = self.memory.miss(address, len);
        if let Some(loc) = miss.dead {
            self.event(EventKind::Access { loc, kind });
        }
        self.missed(miss)
    }

    /// Stops before a visible access unless the scheduler has let it through; otherwise reports it.
    pub(crate) fn let_through(&mut self, at: At, len: usize, kind: AccessKind) -> Result<(), Halt> {
        if self.memory.object(at.slot).quiet {
            return Ok(());
        }
        let loc = self.memory.loc(at, len as u64);
        if !matches!(self.world.watch, Watch::Nothing) && self.world.watch.sees(self.site()) {
            self.thread.phase = match std::mem::replace(&mut self.thread.phase, Phase::Start) {
                Phase::Granted => Phase::Start,
                Phase::CopiedGranted(piece) => Phase::Copied(piece),
                Phase::ByValueGranted(pieces) => Phase::ByValue(pieces),
                Phase::LibraryGranted(journal) => Phase::Library(journal),
                waiting => {
                    self.thread.phase = waiting;
                    return Err(self.stand(OpKind::Access { loc, kind }, Action::Resume));
                }
            };
        }
        self.event(EventKind::Access { loc, kind });
        Ok(())
    }

    /// `memcpy` and `memmove`: a read, then a write, with a visible step before each where accesses are visible.
    pub(super) fn copy_bytes(&mut self, to: u64, from: u64, len: u64) -> Result<(), Halt> {
        if len == 0 {
            self.thread.phase = Phase::Start;
            return Ok(());
        }
        let piece = match &self.thread.phase {
            Phase::Copied(piece) | Phase::CopiedGranted(piece) => piece.clone(),
            _ => {
                let at = self.readable(from, len)?;
                self.let_through(at, len as usize, AccessKind::Read)?;
                let piece = std::sync::Arc::new(self.take_bytes(at, len as usize));
                self.thread.phase = Phase::Copied(piece.clone());
                piece
            }
        };
        let at = self.writable(to, len)?;
        self.let_through(at, len as usize, AccessKind::Write)?;
        self.memory.put(at, &piece);
        self.thread.phase = Phase::Start;
        Ok(())
    }

    pub(super) fn set_bytes(&mut self, to: u64, byte: u8, len: u64) -> Result<(), Halt> {
        if len == 0 {
            return Ok(());
        }
        let at = self.writable(to, len)?;
        self.let_through(at, len as usize, AccessKind::Write)?;
        self.memory.fill(at, len as usize, byte);
        Ok(())
    }
}
