//! Atomic accesses: who did them, and what a read gets to know by the value it reads.
//!
//! Memory that was accessed atomically has a record per 8 bytes: the plain lanes, the last atomic writes and reads, and the clock that an
//! acquire load would get (C23 release sequences, `docs/decisions/0006`), by byte. The record is locked from before the real instruction
//! until after it, so that clocks follow the order in which the values were written. Loads and relaxed read-modify-writes that tell their
//! thread nothing new are made without the lock, in hot.c, and looked at again afterwards. A plain write of a whole granule ends its part
//! of the record. Fences are modelled: a release fence is what relaxed stores tell, an acquire fence brings in what relaxed loads read.
//!
//! A signal handler that interrupts an atomic access of its own thread to the same bytes is not checked: the record is taken.

use crate::cells::{ATOMIC, lane_of, stamp, touch, whole};
use crate::clocks::Clock;
use crate::collect;
use crate::contexts::{self, Shape};
use crate::epochs::TAG;
use crate::fronts::Front;
use crate::gate;
use crate::lanes::{Conflicts, Full, Kind, Lane};
use crate::layout::{self, GRANULE, HAS_RECORDS};
use crate::log::{self, What};
use crate::mixed::{self, Refused};
use crate::observe::{self, Detector};
use crate::records::{self, Group, Record};
use crate::report;
use crate::spin::Taken;
use crate::thread::Thread;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const UNIT: usize = 8;
const NESTED: usize = 4;
/// As C numbers the orders.
const RELEASE: u32 = 3;
/// As number of records: the detector does not follow the access.
const ALONE: usize = usize::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Load,
    Store,
    Modify,
    CompareExchange,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Order(pub u32);

impl Order {
    pub fn acquires(self) -> bool {
        matches!(self.0, 1 | 2 | 4 | 5)
    }

    pub fn releases(self) -> bool {
        matches!(self.0, 3..=5)
    }
}

/// Atomic accesses between enter and leave; more than one only in signal handlers.
#[repr(C)]
pub struct Pending {
    stack: [Access; NESTED],
    depth: usize,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Access {
    address: usize,
    bytes: usize,
    operation: u32,
    order: Order,
    failure: Order,
    site: u32,
    records: [u32; 3],
    count: usize,
}

/// Before the real instruction. False: not followed, and there must be no leave.
pub fn enter(
    thread: &mut Thread,
    (address, bytes): (usize, usize),
    operation: Operation,
    order: Order,
    failure: Order,
    site: u32,
) -> bool {
    let depth = thread.pending.depth;
    if depth == NESTED || bytes == 0 || bytes > 2 * UNIT || thread.apart > 0 {
        return false;
    }
    let detector = match observe::is_on() {
        true => {
            let atomic = observe::Atomic { address, bytes, operation, order, failure, site };
            observe::before_atomic(thread, &atomic)
        }
        false => Detector::Follows,
    };
    let operation = operation as u32;
    if detector == Detector::Stays {
        thread.pending.stack[depth] =
            Access { address, bytes, operation, order, failure, site, records: [0; 3], count: ALONE };
        thread.pending.depth = depth + 1;
        return true;
    }
    gate::enter(thread);
    let mut access = Access { address, bytes, operation, order, failure, site, records: [0; 3], count: 0 };
    if let Some(id) = take_at_once(thread, &access) {
        access.records[0] = id;
        access.count = 1;
        thread.pending.stack[depth] = access;
        thread.pending.depth = depth + 1;
        return true;
    }
    if !lock_all(thread, &mut access) {
        gate::leave(thread);
        return false;
    }
    thread.pending.stack[depth] = access;
    thread.pending.depth = depth + 1;
    true
}

/// Locks the records of an access, from the lowest address.
fn lock_all(thread: &mut Thread, access: &mut Access) -> bool {
    let end = access.address + access.bytes;
    let mut unit = access.address & !(UNIT - 1);
    access.count = 0;
    while unit < end {
        let Some(id) = take(thread, unit, byte_mask(unit, access.address, end)) else {
            access.unlock();
            return false;
        };
        access.records[access.count] = id;
        access.count += 1;
        unit += UNIT;
    }
    true
}

/// After the real instruction.
pub fn leave(thread: &mut Thread, succeeded: bool) {
    thread.pending.depth -= 1;
    let access = thread.pending.stack[thread.pending.depth];
    if observe::is_on() {
        observe::after_atomic(thread, &access.observed(), succeeded);
        if access.count == ALONE {
            return;
        }
    }
    let (operation, order) = match (access.operation, succeeded) {
        (0, _) => (Operation::Load, access.order),
        (1, _) => (Operation::Store, access.order),
        (3, false) => (Operation::Load, access.failure),
        _ => (Operation::Modify, access.order),
    };
    log::event(thread, What::Atomic { operation, order }, access.address, access.bytes as u64, access.site);
    finish(thread, &access, operation, order);
}

/// After an access for which hot.c thought that it needs nothing, but somebody came in between: it is taken to have come last. Inside
/// the gate.
pub fn late(
    thread: &mut Thread,
    (address, bytes): (usize, usize),
    operation: Operation,
    order: Order,
    site: u32,
) {
    let (kind, failure) = (operation as u32, order);
    let mut access =
        Access { address, bytes, operation: kind, order, failure, site, records: [0; 3], count: 0 };
    if !lock_all(thread, &mut access) {
        return gate::leave(thread);
    }
    log::event(thread, What::Atomic { operation, order }, address, bytes as u64, site);
    finish(thread, &access, operation, order);
}

/// Somebody who is not a thread here, the kernel, stores to these bytes by a release, after what the thread did so far. Not an access of
/// the thread.
pub fn published(thread: &mut Thread, (address, bytes): (usize, usize)) {
    let (operation, order) = (Operation::Modify, Order(RELEASE));
    let mut access = Access {
        address,
        bytes,
        operation: operation as u32,
        order,
        failure: order,
        site: 0,
        records: [0; 3],
        count: 0,
    };
    gate::enter(thread);
    if lock_all(thread, &mut access) {
        log::event(thread, What::Atomic { operation, order }, address, bytes as u64, 0);
        access.each(|_, group| tell(thread, &mut group.message, operation, order));
        thread.after_release();
        access.unlock();
    }
    gate::leave(thread);
    collect::if_needed(thread);
}

fn finish(thread: &mut Thread, access: &Access, operation: Operation, order: Order) {
    if !perform_simply(thread, access, operation, order) {
        perform(thread, access, operation, order);
    }
    gate::leave(thread);
    collect::if_needed(thread);
}

/// The usual case: one record, its bytes have one history, and what was done to them plainly is known to the thread. Otherwise false,
/// and nothing was done that may not be done again.
#[inline(always)]
fn perform_simply(thread: &mut Thread, access: &Access, operation: Operation, order: Order) -> bool {
    if access.count != 1 {
        return false;
    }
    let record = records::get(access.records[0]);
    let end = access.address + access.bytes;
    let Some(group) = record.only(byte_mask(record.unit, access.address, end)) else { return false };
    let stores = operation != Operation::Load;
    if operation != Operation::Store {
        hear(thread, &group.message, order);
    }
    let known = |front: Front| front.word & TAG == 0 && thread.knows_epoch(front.word);
    if !known(group.plain.write) || (stores && !known(group.plain.read)) {
        return false;
    }
    let kind = if stores { Kind::Write } else { Kind::Read };
    if !group.has(thread, kind) {
        let context = contexts::of(thread, access.site, Shape::atomic(access.bytes, stores));
        if group.note(thread, kind, context).is_err() {
            return false;
        }
    }
    if stores {
        tell(thread, &mut group.message, operation, order);
        if order.releases() {
            thread.after_release();
        }
    }
    record.done();
    true
}

fn perform(thread: &mut Thread, access: &Access, operation: Operation, order: Order) {
    let stores = operation != Operation::Load;
    if operation != Operation::Store {
        access.each(|_, group| hear(thread, &group.message, order));
    }
    let context = contexts::of(thread, access.site, Shape::atomic(access.bytes, stores));
    let mut full = false;
    let mut racing = [const { None }; 3];
    access.each_record(|at, record, bytes| {
        let mut conflicts = Conflicts::none();
        record.each(bytes, |bytes, group| {
            full |= note(thread, group, stores, context, bytes, &mut conflicts).is_err();
        });
        if !conflicts.is_empty() {
            racing[at] = Some((record.unit, conflicts));
        }
    });
    if stores {
        access.each(|_, group| tell(thread, &mut group.message, operation, order));
        if order.releases() {
            thread.after_release();
        }
    }
    access.unlock();
    for (unit, conflicts) in racing.into_iter().flatten() {
        report::races(thread, unit, &conflicts, context);
    }
    if full {
        collect::no_room(thread);
    }
}

pub fn fence(thread: &mut Thread, order: Order, site: u32) {
    if thread.apart > 0 {
        return;
    }
    if observe::is_on() && observe::fence(thread, order, site) == Detector::Stays {
        return;
    }
    gate::enter(thread);
    log::event(thread, What::Fence { order }, 0, 0, site);
    if order.acquires() {
        let reads = std::mem::replace(&mut thread.relaxed_reads, Clock::EMPTY);
        thread.acquire(&reads);
        thread.relaxed_reads = reads;
    }
    if order.releases() {
        let mut told = std::mem::replace(&mut thread.release_fence, Clock::EMPTY);
        told.copy_from(thread);
        thread.release_fence = told;
        thread.show_fence();
        thread.after_release();
    }
    gate::leave(thread);
}

/// A plain access to a granule whose cell names a record. False: the cell has changed, look again.
pub fn plain_access(thread: &mut Thread, at: usize, mask: u8, kind: Kind, context: u32, word: u32) -> bool {
    let id = word & !(TAG | ATOMIC);
    let record = records::get(id);
    match record.lock.take(thread.index, thread.is_nested()) {
        Taken::Locked => {}
        Taken::Mine | Taken::Never => return true,
    }
    let cell = layout::cell(at);
    let old = cell.load(Acquire);
    if old as u32 != word {
        record.done();
        return false;
    }
    let shift = at & (UNIT - 1);
    let mut conflicts = Conflicts::none();
    let mut full = false;
    let here = (mask as u32) << shift;
    log::event(thread, What::PlainAgain { kind }, at, u64::from(mask), 0);
    record.each(here as u8, |bytes, group| {
        group.conflicts_of_plain(thread, kind, bytes >> shift, &mut conflicts);
        match group.plain.after(thread, kind, context, bytes >> shift, &mut conflicts) {
            Ok(lane) => group.plain = lane,
            Err(Full) => full = true,
        }
        if kind == Kind::Write {
            group.clear();
        }
    });
    thread.used = true;
    if kind == Kind::Write && mask == 0b1111 {
        layout::context(at, 0).store(stamp(context, thread.epoch), Relaxed);
        cell.store(whole(thread.epoch, 0), Release);
        record.drop_bytes(0b1111 << shift);
        if record.is_unused() {
            records::release(id);
        }
    }
    record.done();
    if !conflicts.is_empty() {
        report::races(thread, at, &conflicts, context);
    }
    if full {
        collect::no_room(thread);
    }
    true
}

/// Forgets what a cell about to be cleaned refers to.
pub fn forget(thread: &Thread, at: usize, word: u32) {
    let id = word & !(TAG | ATOMIC);
    let record = records::get(id);
    if record.lock.take(thread.index, thread.is_nested()) != Taken::Locked {
        return;
    }
    if layout::cell(at).load(Relaxed) as u32 == word {
        layout::cell(at).store(0, Relaxed);
        record.drop_bytes(0b1111 << (at & (UNIT - 1)));
        if record.is_unused() {
            records::release(id);
        }
    }
    record.done();
}

/// The locked record, if the cells of an access inside one unit name it already.
#[inline(always)]
fn take_at_once(thread: &Thread, access: &Access) -> Option<u32> {
    let (first, last) = access.granules();
    let word = layout::cell(first).load(Acquire) as u32;
    if word & (TAG | ATOMIC) != TAG | ATOMIC || last & !(UNIT - 1) != first & !(UNIT - 1) {
        return None;
    }
    let id = word & !(TAG | ATOMIC);
    let record = records::get(id);
    if !record.lock.try_take(thread.index) {
        return None;
    }
    if names(first, id) && names(last, id) {
        return Some(id);
    }
    record.done();
    None
}

/// The locked record of a unit, with cells that name it for all granules of `bytes`.
fn take(thread: &mut Thread, unit: usize, bytes: u8) -> Option<u32> {
    let granules = [(unit, 0b0000_1111_u8), (unit + GRANULE, 0b1111_0000)];
    let mut stripe = None;
    loop {
        let words = granules.map(|(at, _)| layout::cell(at).load(Acquire) as u32);
        let named = words.iter().find(|word| **word & (TAG | ATOMIC) == TAG | ATOMIC);
        let complete =
            granules.iter().zip(words).all(|((_, mine), word)| bytes & mine == 0 || Some(&word) == named);
        if !complete && stripe.is_none() {
            // Making and extending records of a unit is for one thread at a time.
            let lock = records::stripe(unit);
            if lock.take(thread.index, thread.is_nested()) != Taken::Locked {
                return None;
            }
            stripe = Some(lock);
            continue;
        }
        let id = match named {
            Some(word) => word & !(TAG | ATOMIC),
            None => {
                layout::presence(unit).fetch_or(HAS_RECORDS, Relaxed);
                match records::create(unit) {
                    Some(id) => id,
                    None => crate::start::give_up("too many atomics"),
                }
            }
        };
        let record = records::get(id);
        let taken = record.lock.take(thread.index, thread.is_nested());
        let still_named = named.is_none() || granules.iter().any(|(at, _)| names(*at, id));
        let joined = match taken {
            Taken::Locked if still_named => join_granules(thread, record, id, granules, bytes),
            Taken::Locked => Err(Refused::Changed),
            Taken::Mine | Taken::Never => Err(Refused::Busy),
        };
        if joined != Err(Refused::Changed) {
            if let Some(lock) = stripe {
                lock.free();
            }
            if joined.is_err() && taken == Taken::Locked {
                record.done();
            }
            return joined.ok().map(|()| id);
        }
        record.done();
    }
}

fn names(at: usize, id: u32) -> bool {
    layout::cell(at).load(Relaxed) as u32 == TAG | ATOMIC | id
}

/// Turns the cells of the granules over to the record. Changed: one belongs to a record that is not this one.
fn join_granules(
    thread: &mut Thread,
    record: &mut Record,
    id: u32,
    granules: [(usize, u8); 2],
    bytes: u8,
) -> Result<(), Refused> {
    for (at, mine) in granules {
        while bytes & mine != 0 && !names(at, id) {
            let cell = layout::cell(at);
            let old = cell.load(Acquire);
            let new = u64::from(TAG | ATOMIC | id);
            let lanes = match old as u32 & (TAG | ATOMIC) {
                0 | ATOMIC => {
                    let lane = lane_of(thread, at, old);
                    cell.compare_exchange(old, new, AcqRel, Relaxed).map(|_| [lane; 4]).ok()
                }
                TAG => match mixed::replace(thread, at, old as u32, new) {
                    Err(Refused::Busy) => return Err(Refused::Busy),
                    lanes => lanes.ok(),
                },
                _ => return Err(Refused::Changed),
            };
            if let Some(lanes) = lanes {
                touch(at, old);
                record.add_lanes(lanes, at & (UNIT - 1));
            }
        }
    }
    Ok(())
}

/// What a read gets to know.
fn hear(thread: &mut Thread, message: &Clock, order: Order) {
    if message.is_empty() {
        return;
    }
    if order.acquires() {
        thread.acquire(message);
    } else {
        thread.relaxed_reads.join(message);
    }
}

/// What a write leaves for readers.
fn tell(thread: &Thread, message: &mut Clock, operation: Operation, order: Order) {
    let continues = operation == Operation::Modify;
    match (order.releases(), continues) {
        (true, false) => message.copy_from(thread),
        (true, true) if order.acquires() => message.copy_from(thread),
        (true, true) => message.join_from(thread),
        (false, false) => {
            message.clear();
            if !thread.release_fence.is_empty() {
                *message = thread.release_fence.duplicate();
            }
        }
        (false, true) if !thread.release_fence.is_empty() => message.join(&thread.release_fence),
        (false, true) => {}
    }
}

/// Checks an atomic access to some bytes and notes it.
fn note(
    thread: &mut Thread,
    group: &mut Group,
    stores: bool,
    context: u32,
    bytes: u8,
    conflicts: &mut Conflicts,
) -> Result<(), Full> {
    let Lane { write, read } = group.plain;
    conflicts.add(thread, write, bytes);
    if stores {
        conflicts.add(thread, read, bytes);
    }
    let kind = if stores { Kind::Write } else { Kind::Read };
    if group.has(thread, kind) {
        return Ok(());
    }
    group.note(thread, kind, context)
}

/// Which bytes of a unit an access touches.
fn byte_mask(unit: usize, address: usize, end: usize) -> u8 {
    let mut mask = 0xff_u8;
    if unit < address {
        mask &= 0xff << (address - unit);
    }
    if end - unit < UNIT {
        mask &= 0xff >> (UNIT - (end - unit));
    }
    mask
}

impl Access {
    /// The first and the last granule.
    #[inline(always)]
    fn granules(&self) -> (usize, usize) {
        (self.address & !(GRANULE - 1), (self.address + self.bytes - 1) & !(GRANULE - 1))
    }

    fn observed(&self) -> observe::Atomic {
        let Access { address, bytes, order, failure, site, .. } = *self;
        let operation = match self.operation {
            0 => Operation::Load,
            1 => Operation::Store,
            2 => Operation::Modify,
            _ => Operation::CompareExchange,
        };
        observe::Atomic { address, bytes, operation, order, failure, site }
    }

    fn unlock(&self) {
        for &id in &self.records[..self.count] {
            records::get(id).done();
        }
    }

    fn each_record(&self, mut visit: impl FnMut(usize, &mut Record, u8)) {
        for (at, &id) in self.records[..self.count].iter().enumerate() {
            let record = records::get(id);
            let bytes = byte_mask(record.unit, self.address, self.address + self.bytes);
            visit(at, record, bytes);
        }
    }

    fn each(&self, mut visit: impl FnMut(u8, &mut Group)) {
        self.each_record(|_, record, bytes| record.each(bytes, &mut visit));
    }
}
