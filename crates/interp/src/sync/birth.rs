//! How synchronisation objects come to be: by an initialising call, or from the bytes of a static initialiser.
//!
//! Bytes that are all zero, or that glibc's static initialisers give, make a valid object; anything else that no call has
//! initialised is a problem, and is then used as a default object. A copy of a semaphore or of a once control has the state of the
//! original. Kernel and custom locks are valid whatever their bytes.

use super::copied::{ONCE_DONE, ONCE_RUNNING};
use super::{Barrier, Errno, Health, Mutex, MutexKind, OnceState, Rwlock, RwlockKind, SyncObject};
use crate::exec::{Cx, Halt};
use crate::memory::Named;
use raddle_base::LoadOrder;
use raddle_event::{AccessKind, Addr, AtomicOp, EventKind, Loc, ProblemKind};
use raddle_libmodel::{Arg, LockFamily, Returns, SyncKind};

/// What is expected at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Mutex,
    Rwlock,
    Spin,
    Cond,
    Barrier,
    Semaphore,
    Once,
    /// Kernel and custom locks: layout unknown.
    Opaque,
    OpaqueRwlock,
    OpaqueSemaphore,
    /// The kernel's completions: semaphores that start at 0.
    Completion,
}

/// Bits of glibc's attribute and `__kind` words.
const ROBUST_ATTRIBUTE: u32 = 0x4000_0000;
const ROBUST_KIND: u32 = 16;

impl Expected {
    pub fn of_family(family: LockFamily) -> Self {
        match family {
            LockFamily::PthreadMutex | LockFamily::C11Mutex => Expected::Mutex,
            LockFamily::PthreadRwlock => Expected::Rwlock,
            LockFamily::PthreadSpin => Expected::Spin,
            LockFamily::KernelSpin | LockFamily::KernelMutex => Expected::Opaque,
            LockFamily::KernelRwlock | LockFamily::KernelRwSemaphore | LockFamily::Custom => {
                Expected::OpaqueRwlock
            }
        }
    }

    /// Size of the object in glibc, for LP64 and ILP32; 0 where unknown.
    pub(super) fn bytes(self, lp64: bool) -> usize {
        let (wide, narrow) = match self {
            Expected::Mutex => (40, 24),
            Expected::Rwlock => (56, 32),
            Expected::Cond => (48, 48),
            Expected::Barrier => (32, 20),
            Expected::Semaphore => (32, 16),
            Expected::Spin | Expected::Once => (4, 4),
            Expected::Opaque | Expected::OpaqueRwlock | Expected::OpaqueSemaphore | Expected::Completion => {
                (0, 0)
            }
        };
        if lp64 { wide } else { narrow }
    }
}

impl Cx<'_> {
    /// The object at this address, brought to life if need be, for an operation on it.
    pub(super) fn sync_object(&mut self, at: Addr, address: u64, expected: Expected) -> SyncObject {
        self.report_use(address, expected);
        self.life_of(at, address, expected)
    }

    fn life_of(&mut self, at: Addr, address: u64, expected: Expected) -> SyncObject {
        match self.world.sync.get(at).cloned() {
            Some(SyncObject::Destroyed) if !self.reinitialised(address, expected) => SyncObject::Destroyed,
            Some(object) if object != SyncObject::Destroyed && fits(&object, expected) => object,
            _ => {
                let object = self.awaken(at, address, expected);
                let bytes = self.extent(address, expected);
                self.world.sync.set_sized(at, object.clone(), bytes);
                object
            }
        }
    }

    /// An operation on a synchronisation object is an atomic read of it, before it acquires or releases anything: whoever writes to the
    /// object meanwhile races with it. Without this a write would not even be tried on the other side of an operation, for only
    /// operations are put in another order.
    pub(super) fn report_use(&mut self, address: u64, expected: Expected) {
        if let Some(loc) = self.bytes_of(address, expected) {
            self.event(EventKind::Atomic { loc, op: AtomicOp::Load(LoadOrder::SeqCst) });
        }
    }

    /// To initialise or destroy an object is a plain write to it: whoever operates on it meanwhile races with this.
    fn report_renewal(&mut self, address: u64, expected: Expected) {
        if let Some(loc) = self.bytes_of(address, expected) {
            self.event(EventKind::Access { loc, kind: AccessKind::Write });
        }
    }

    /// The bytes of an object that operations on it touch.
    fn bytes_of(&self, address: u64, expected: Expected) -> Option<Loc> {
        let at = self.memory.find(address, 1)?;
        let wanted = match expected {
            // What glibc counts with; a kernel's semaphore has no more than that for certain.
            Expected::Semaphore => 4,
            _ => expected.bytes(self.memory.layout.pointer_bytes == 8).max(1),
        };
        let len = wanted.min((self.memory.object(at.slot).size as usize).saturating_sub(at.offset));
        Some(self.memory.loc(at, len as u64))
    }

    fn awaken(&mut self, at: Addr, address: u64, expected: Expected) -> SyncObject {
        let bytes = self.static_bytes(address, expected);
        let zero_but = |allowed: std::ops::Range<usize>| {
            bytes.as_ref().is_some_and(|bytes| {
                bytes.iter().enumerate().all(|(i, byte)| *byte == 0 || allowed.contains(&i))
            })
        };
        let kind_at = self.kind_offset();
        let first = bytes.as_ref().map_or(0, |bytes| word(bytes, 0));
        let valid = match expected {
            Expected::Mutex => zero_but(kind_at..kind_at + 4),
            Expected::Rwlock => zero_but(24..56),
            Expected::Spin | Expected::Cond => zero_but(0..0),
            Expected::Semaphore => zero_but(0..4),
            Expected::Barrier => false,
            Expected::Once => first != ONCE_RUNNING,
            Expected::Opaque | Expected::OpaqueRwlock | Expected::OpaqueSemaphore | Expected::Completion => {
                true
            }
        };
        let kind = match &bytes {
            Some(bytes) if expected == Expected::Mutex && valid => word(bytes, kind_at),
            _ => 0,
        };
        let flags = bytes.as_ref().and_then(|bytes| bytes.get(self.rwlock_kind_offset()).copied());
        if !valid || kind & !ROBUST_KIND > 3 {
            self.problem(ProblemKind::UninitialisedLock, Some(at), "");
        }
        match expected {
            Expected::Mutex => {
                let robust = kind & ROBUST_KIND != 0;
                SyncObject::Mutex(Mutex { kind: mutex_kind(kind & 3), robust, ..fresh_mutex() })
            }
            Expected::Spin | Expected::Opaque => SyncObject::Mutex(fresh_mutex()),
            Expected::Rwlock => SyncObject::Rwlock(Rwlock {
                kind: rwlock_kind(u32::from(flags.unwrap_or(0))),
                ..Rwlock::default()
            }),
            Expected::OpaqueRwlock => SyncObject::Rwlock(Rwlock::default()),
            Expected::Cond => SyncObject::Cond(Vec::new()),
            Expected::Barrier => SyncObject::Barrier(fresh_barrier(1)),
            Expected::Semaphore if valid => SyncObject::Semaphore { value: u64::from(first) },
            Expected::Semaphore | Expected::Completion => SyncObject::Semaphore { value: 0 },
            Expected::OpaqueSemaphore => SyncObject::Semaphore { value: 1 },
            Expected::Once if first == ONCE_DONE => SyncObject::Once(OnceState::Done),
            Expected::Once => SyncObject::Once(OnceState::Fresh),
        }
    }

    /// A copy of a semaphore counts before its first use: the wait for it may be ready.
    pub(super) fn awaken_copied_semaphore(&mut self, at: Addr, address: u64) {
        let counts = |bytes: &Vec<u8>| word(bytes, 0) != 0 && bytes.iter().skip(4).all(|byte| *byte == 0);
        if self.world.sync.get(at).is_none()
            && self.static_bytes(address, Expected::Semaphore).as_ref().is_some_and(counts)
        {
            let object = self.awaken(at, address, Expected::Semaphore);
            let bytes = self.extent(address, Expected::Semaphore);
            self.world.sync.set_sized(at, object, bytes);
        }
    }

    /// The bytes of the object if all are initialised.
    fn static_bytes(&mut self, address: u64, expected: Expected) -> Option<Vec<u8>> {
        let at = self.memory.find(address, 1)?;
        let object = self.memory.object(at.slot);
        let wanted = expected.bytes(self.memory.layout.pointer_bytes == 8);
        let len = wanted.min((object.size as usize).saturating_sub(at.offset));
        object.is_initialised(at.offset, len).then(|| object.data[at.offset..at.offset + len].to_vec())
    }

    fn kind_offset(&self) -> usize {
        if self.memory.layout.pointer_bytes == 8 { 16 } else { 12 }
    }

    /// Whether the read-write lock there is, or will be when it is first used, one that prefers writers.
    pub(super) fn prefers_writers(&mut self, at: Addr, address: u64) -> bool {
        let kind = match self.world.sync.get(at) {
            Some(SyncObject::Rwlock(lock)) => lock.kind,
            Some(_) => return false,
            None => {
                let flags = self.rwlock_kind_offset();
                let bytes = self.static_bytes(address, Expected::Rwlock);
                rwlock_kind(bytes.and_then(|bytes| bytes.get(flags).copied()).unwrap_or(0).into())
            }
        };
        kind == RwlockKind::Writers
    }

    /// Where glibc keeps whom a read-write lock prefers.
    fn rwlock_kind_offset(&self) -> usize {
        if self.memory.layout.pointer_bytes == 8 { 48 } else { 24 }
    }

    /// The program has written a static initialiser over a destroyed mutex.
    fn reinitialised(&mut self, address: u64, expected: Expected) -> bool {
        let kind_at = self.kind_offset();
        expected == Expected::Mutex
            && self.static_bytes(address, expected).is_some_and(|bytes| word(&bytes, kind_at) != u32::MAX)
    }

    /// Writes what glibc would leave in memory, so that copies and static tests see it. Not an access of the program.
    fn write_sync_bytes(&mut self, address: u64, expected: Expected, kind: u32) {
        let Some(at) = self.memory.find(address, 1) else { return };
        let object = self.memory.object(at.slot);
        let wanted = expected.bytes(self.memory.layout.pointer_bytes == 8);
        let len = wanted.min((object.size as usize).saturating_sub(at.offset));
        if len == 0 || object.constant {
            return;
        }
        let mut bytes = vec![0u8; len];
        let kind_at = self.kind_offset();
        if expected == Expected::Mutex && kind_at + 4 <= len {
            bytes[kind_at..kind_at + 4].copy_from_slice(&kind.to_le_bytes());
        }
        if expected == Expected::Rwlock
            && let Some(byte) = bytes.get_mut(self.rwlock_kind_offset())
        {
            *byte = kind as u8;
        }
        self.memory.store_bytes(at, &bytes, Named::Number);
    }

    pub(crate) fn perform_init(
        &mut self,
        kind: SyncKind,
        object: Arg,
        attribute: Option<Arg>,
        returns: Returns,
    ) -> Result<u128, Halt> {
        self.assume("A-THREAD");
        let address = self.pointer_arg(object);
        let at = self.sync_addr(address)?;
        let number = attribute.map_or(0, |arg| self.arg(arg));
        let attribute_word = match attribute {
            Some(arg) if matches!(kind, SyncKind::Mutex | SyncKind::Rwlock) && self.pointer_arg(arg) != 0 => {
                self.attribute_word(self.pointer_arg(arg))?
            }
            _ => 0,
        };
        let mut kind_word = 0;
        let (expected, new) = match kind {
            SyncKind::Mutex => {
                let robust = attribute_word & ROBUST_ATTRIBUTE != 0;
                kind_word = (attribute_word & 3) | if robust { ROBUST_KIND } else { 0 };
                let mutex = Mutex { kind: mutex_kind(attribute_word & 3), robust, ..fresh_mutex() };
                (Expected::Mutex, SyncObject::Mutex(mutex))
            }
            SyncKind::C11Mutex => {
                let recursive = number & 1 != 0;
                kind_word = u32::from(recursive);
                let kind = if recursive { MutexKind::Recursive } else { MutexKind::Normal };
                (Expected::Mutex, SyncObject::Mutex(Mutex { kind, ..fresh_mutex() }))
            }
            SyncKind::Spin => (Expected::Spin, SyncObject::Mutex(fresh_mutex())),
            SyncKind::KernelLock => (Expected::Opaque, SyncObject::Mutex(fresh_mutex())),
            SyncKind::Rwlock => {
                kind_word = attribute_word;
                let lock = Rwlock { kind: rwlock_kind(attribute_word), ..Rwlock::default() };
                (Expected::Rwlock, SyncObject::Rwlock(lock))
            }
            SyncKind::Cond | SyncKind::C11Cond => (Expected::Cond, SyncObject::Cond(Vec::new())),
            SyncKind::Barrier => {
                if number as u32 == 0 {
                    self.problem(ProblemKind::InvalidArgument, Some(at), "a barrier for 0 threads");
                    return Ok(self.answer(returns, Err(Errno::Invalid)));
                }
                (Expected::Barrier, SyncObject::Barrier(fresh_barrier(number as u32)))
            }
            SyncKind::Semaphore => {
                let value = u64::from(number as u32);
                if value > i32::MAX as u64 {
                    return Ok(self.answer(returns, Err(Errno::Invalid)));
                }
                (Expected::Semaphore, SyncObject::Semaphore { value })
            }
            SyncKind::KernelSemaphore => {
                (Expected::OpaqueSemaphore, SyncObject::Semaphore { value: u64::from(number as u32) })
            }
        };
        self.report_renewal(address, expected);
        self.event(EventKind::SyncInit { object: at });
        self.write_sync_bytes(address, expected, kind_word);
        let bytes = self.extent(address, expected);
        self.world.sync.set_sized(at, new, bytes);
        Ok(self.answer(returns, Ok(())))
    }

    /// An `int` of an attribute object: a read inside the step.
    pub(super) fn attribute_word(&mut self, address: u64) -> Result<u32, Halt> {
        let at = self.readable(address, 4)?;
        self.report(at, 4, AccessKind::Read);
        Ok(self.memory.object(at.slot).value::<4>(at.offset) as u32)
    }

    pub(crate) fn perform_destroy(
        &mut self,
        kind: SyncKind,
        object: Arg,
        returns: Returns,
    ) -> Result<u128, Halt> {
        let address = self.pointer_arg(object);
        let at = self.sync_addr(address)?;
        let expected = match kind {
            SyncKind::Mutex | SyncKind::C11Mutex => Expected::Mutex,
            SyncKind::Rwlock => Expected::Rwlock,
            SyncKind::Spin => Expected::Spin,
            SyncKind::Cond | SyncKind::C11Cond => Expected::Cond,
            SyncKind::Barrier => Expected::Barrier,
            SyncKind::Semaphore => Expected::Semaphore,
            SyncKind::KernelLock => Expected::Opaque,
            SyncKind::KernelSemaphore => Expected::OpaqueSemaphore,
        };
        // Undefined where it is in use or gone, not without effect (POSIX).
        self.report_renewal(address, expected);
        let busy = match self.life_of(at, address, expected) {
            SyncObject::Destroyed => {
                self.problem(ProblemKind::DestroyedLockUse, Some(at), "destroyed twice");
                return Ok(self.answer(returns, Err(Errno::Invalid)));
            }
            SyncObject::Mutex(mutex) => mutex.owner.is_some(),
            SyncObject::Rwlock(lock) => lock.writer.is_some() || !lock.readers.is_empty(),
            SyncObject::Cond(waiters) => waiters.iter().any(|waiter| !waiter.signalled),
            SyncObject::Barrier(barrier) => barrier.arrived > 0,
            SyncObject::Semaphore { .. } | SyncObject::Once(_) => false,
        };
        if busy {
            self.problem(ProblemKind::DestroyLocked, Some(at), "");
            return Ok(self.answer(returns, Err(Errno::Busy)));
        }
        self.event(EventKind::SyncDestroy { object: at });
        self.write_sync_bytes(address, expected, u32::MAX);
        self.world.sync.set(at, SyncObject::Destroyed);
        Ok(self.answer(returns, Ok(())))
    }

    /// The memory of a synchronisation object goes away.
    pub(crate) fn forget_sync(&mut self, slot: crate::memory::Slot) {
        if self.memory.object(slot).has_sync {
            for at in self.world.sync.inside(self.memory.object(slot).id) {
                self.world.sync.remove(at);
            }
        }
    }
}

pub(super) fn fresh_mutex() -> Mutex {
    Mutex { kind: MutexKind::Normal, robust: false, owner: None, depth: 0, health: Health::Consistent }
}

fn fresh_barrier(count: u32) -> Barrier {
    Barrier { count, arrived: 0, round: 0, leaving: 0 }
}

fn mutex_kind(word: u32) -> MutexKind {
    match word {
        1 => MutexKind::Recursive,
        2 => MutexKind::ErrorCheck,
        _ => MutexKind::Normal,
    }
}

/// From `__lockkind` of an attribute, or `__flags` of a lock.
fn rwlock_kind(word: u32) -> RwlockKind {
    match word {
        2 => RwlockKind::Writers,
        _ => RwlockKind::Readers,
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes(b.try_into().expect("4 bytes")))
}

fn fits(object: &SyncObject, expected: Expected) -> bool {
    match object {
        SyncObject::Mutex(_) => matches!(expected, Expected::Mutex | Expected::Spin | Expected::Opaque),
        SyncObject::Rwlock(_) => matches!(expected, Expected::Rwlock | Expected::OpaqueRwlock),
        SyncObject::Cond(_) => expected == Expected::Cond,
        SyncObject::Barrier(_) => expected == Expected::Barrier,
        SyncObject::Semaphore { .. } => {
            matches!(expected, Expected::Semaphore | Expected::OpaqueSemaphore | Expected::Completion)
        }
        SyncObject::Once(_) => expected == Expected::Once,
        SyncObject::Destroyed => false,
    }
}
