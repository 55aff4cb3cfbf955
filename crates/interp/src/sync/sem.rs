//! POSIX semaphores, also named ones, and the kernel's.

use super::birth::Expected;
use super::shared::NAMES;
use super::{Errno, SyncObject};
use crate::exec::{Cx, Halt};
use crate::memory::Named;
use raddle_event::{AccessKind, Addr, EventKind, ProblemKind};
use raddle_libmodel::{Arg, How, Returns, SemOp};
use raddle_machine::OpKind;

/// `SEM_VALUE_MAX`.
const MOST: u64 = i32::MAX as u64;

impl Cx<'_> {
    pub(crate) fn pending_sem(&mut self, op: SemOp) -> Result<Option<OpKind>, Halt> {
        Ok(Some(match op {
            SemOp::Post { sem } => OpKind::SemPost { sem: self.sync_addr(self.pointer_arg(sem))? },
            SemOp::Wait { sem, how } => {
                let address = self.pointer_arg(sem);
                let sem = self.sync_addr(address)?;
                if self.semaphore_kind() == Expected::Semaphore {
                    self.awaken_copied_semaphore(sem, address);
                }
                OpKind::SemWait { sem, how: super::lock::lock_how(how) }
            }
            SemOp::GetValue { sem, .. } => OpKind::SemRead { sem: self.sync_addr(self.pointer_arg(sem))? },
            SemOp::Open { .. } => return self.pending_part(NAMES),
        }))
    }

    pub(crate) fn perform_sem(&mut self, op: SemOp, returns: Returns, variant: u32) -> Result<u128, Halt> {
        match op {
            SemOp::Post { sem } => {
                let address = self.pointer_arg(sem);
                let at = self.sync_addr(address)?;
                let expected = self.semaphore_kind();
                let result = self.post_semaphore(at, address, expected);
                Ok(self.answer(returns, result))
            }
            SemOp::Wait { sem, how } => {
                let address = self.pointer_arg(sem);
                let at = self.sync_addr(address)?;
                let expected = self.semaphore_kind();
                let result = self.take_semaphore(at, address, expected, how, variant);
                let result = result.map_err(|error| if how == How::Try { Errno::TryAgain } else { error });
                Ok(self.answer(returns, result))
            }
            SemOp::GetValue { sem, out } => {
                let address = self.pointer_arg(sem);
                let at = self.sync_addr(address)?;
                let value = match self.sync_object(at, address, Expected::Semaphore) {
                    SyncObject::Semaphore { value } => value,
                    _ => {
                        self.problem(ProblemKind::DestroyedLockUse, Some(at), "");
                        return Ok(self.answer(returns, Err(Errno::Invalid)));
                    }
                };
                let into = self.writable(self.pointer_arg(out), 4)?;
                let loc = self.memory.loc(into, 4);
                if !self.memory.object(into.slot).quiet {
                    self.event(EventKind::Access { loc, kind: AccessKind::Write });
                }
                self.memory.store::<4>(into, value, Named::Number);
                Ok(self.answer(returns, Ok(())))
            }
            SemOp::Open { name, flags, value } => self.open_semaphore(name, flags, value),
        }
    }

    /// POSIX semaphores are told from the kernel's by the name of the function: only they have a known layout.
    fn semaphore_kind(&mut self) -> Expected {
        let desc = self.call_desc();
        match self.callee(desc).map(|function| self.image.name(function)) {
            Ok(name) if name.starts_with("sem_") => Expected::Semaphore,
            Ok(name) if name.contains("complet") => Expected::Completion,
            _ => Expected::OpaqueSemaphore,
        }
    }

    /// Named semaphores live in the library, one block per name. The value counts when the name is new.
    fn open_semaphore(&mut self, name: Arg, flags: Arg, value: Arg) -> Result<u128, Halt> {
        const CREATE_NEW: u128 = 0o300;
        const EXISTS: i32 = 17;
        let name = self.c_string(self.pointer_arg(name))?;
        let key = format!("semaphore {name}");
        let fresh = !self.world.state.library.contains_key(&key);
        if !fresh && u128::from(self.arg(flags)) & CREATE_NEW == CREATE_NEW {
            if self.image.removes_semaphores() {
                return Err(self
                    .unsupported("a name of a semaphore that is made and may have been removed".to_owned()));
            }
            self.set_errno(EXISTS);
            return Ok(0);
        }
        let address = self.library_block(&key, &[0; 32])?;
        if fresh {
            // Other processes may have made it, with another value.
            self.assume("A-IO");
            let at = self.sync_addr(address)?;
            let value = u64::from(self.arg(value) as u32);
            self.event(EventKind::SyncInit { object: at });
            self.world.sync.set(at, SyncObject::Semaphore { value });
        }
        Ok(u128::from(address))
    }

    pub(super) fn post_semaphore(&mut self, at: Addr, address: u64, expected: Expected) -> Result<(), Errno> {
        match self.sync_object(at, address, expected) {
            SyncObject::Semaphore { value } if value >= MOST => Err(Errno::Overflow),
            SyncObject::Semaphore { value } => {
                self.event(EventKind::SemPost { sem: at });
                self.world.sync.set(at, SyncObject::Semaphore { value: value + 1 });
                Ok(())
            }
            _ => {
                self.problem(ProblemKind::DestroyedLockUse, Some(at), "");
                Ok(())
            }
        }
    }

    pub(super) fn take_semaphore(
        &mut self,
        at: Addr,
        address: u64,
        expected: Expected,
        how: How,
        variant: u32,
    ) -> Result<(), Errno> {
        match self.sync_object(at, address, expected) {
            SyncObject::Semaphore { value } if value > 0 && variant == 0 => {
                self.event(EventKind::SemWait { sem: at });
                self.world.sync.set(at, SyncObject::Semaphore { value: value - 1 });
                Ok(())
            }
            SyncObject::Semaphore { .. } => {
                self.event(EventKind::AcquireFailed { lock: at });
                Err(if how == How::Try { Errno::Busy } else { Errno::TimedOut })
            }
            _ => {
                self.problem(ProblemKind::DestroyedLockUse, Some(at), "");
                Err(Errno::Invalid)
            }
        }
    }
}
