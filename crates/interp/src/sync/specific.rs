//! Thread-specific data: `pthread_key_*`, `tss_*`.

use super::Errno;
use crate::exec::{Cx, Halt};
use crate::memory::Named;
use crate::world::Key;
use raddle_event::{AccessKind, EventKind};
use raddle_libmodel::{Returns, TlsOp};

impl Cx<'_> {
    pub(crate) fn perform_specific(&mut self, op: TlsOp, returns: Returns) -> Result<u128, Halt> {
        match op {
            TlsOp::KeyCreate { key, destructor } => {
                self.assume("A-THREAD");
                if !self.image.keys_are_names() {
                    self.assume("A-RESULT");
                }
                let into = self.writable(self.pointer_arg(key), 4)?;
                if !self.memory.object(into.slot).quiet {
                    let loc = self.memory.loc(into, 4);
                    self.event(EventKind::Access { loc, kind: AccessKind::Write });
                }
                let number = self.world.state.keys.len() as u64;
                let destructor = self.pointer_arg(destructor);
                self.world.state.lasting_mut().keys.push(Key { destructor, deleted: false });
                self.memory.store::<4>(into, number, Named::Number);
                Ok(self.answer(returns, Ok(())))
            }
            TlsOp::KeyDelete { key } => {
                let key = self.arg(key) as u32 as usize;
                let known = self.world.state.keys.get(key).is_some_and(|key| !key.deleted);
                if known {
                    self.world.state.lasting_mut().keys[key].deleted = true;
                }
                Ok(self.answer(returns, if known { Ok(()) } else { Err(Errno::Invalid) }))
            }
            TlsOp::Get { key } => {
                let key = self.arg(key) as u32;
                let value = self.thread.specific.iter().find(|(k, _)| *k == key).map_or(0, |(_, v)| *v);
                Ok(u128::from(value))
            }
            TlsOp::Set { key, value } => {
                let (key, value) = (self.arg(key) as u32, self.pointer_arg(value));
                if self.world.state.keys.get(key as usize).is_none_or(|key| key.deleted) {
                    return Ok(self.answer(returns, Err(Errno::Invalid)));
                }
                self.thread.specific.retain(|(k, _)| *k != key);
                if value != 0 {
                    self.thread.specific.push((key, value));
                    self.thread.specific.sort_unstable();
                }
                Ok(self.answer(returns, Ok(())))
            }
        }
    }

    /// A value with a destructor, taken out; `None` when there is none left.
    pub(crate) fn take_specific(&mut self) -> Option<(u64, u64)> {
        let keys = &self.world.state.keys;
        let index = self.thread.specific.iter().position(|(key, _)| {
            keys.get(*key as usize).is_some_and(|key| key.destructor != 0 && !key.deleted)
        })?;
        let (key, value) = self.thread.specific.remove(index);
        Some((self.world.state.keys[key as usize].destructor, value))
    }
}
