//! `poll`, `select` and epoll: see [`crate::readiness`]. A report that an end can be read comes after the write of the first byte that
//! waits there; what an epoll returns comes after the call that named it (A-DESCRIPTOR).
//!
//! Of sockets with unknown peers, and of standard input, all that is asked for is ready. Where there is a time limit nothing of it may
//! be, by the environment's choice. Beside channels the choice is the other way round: nothing comes from outside, or all does.
//! An epoll reports in any order.

use super::channel::{channels, connected, hears, new_stream};
use super::errors::{EBADF, EEXIST, EINVAL, EMFILE, ENOENT, EPERM};
use super::state::Target;
use super::stream::{differs, open_file};
use super::values::int;
use super::{Family, Host, Outcome, channel};
use crate::channels::{Blocking, Description, StreamKind};
use crate::readiness::{
    EDGE, ERR, Epoll, HEARD, HUP, IN, INVALID, Interest, ONCE, OUT, PRI, RDBAND, RDHUP, RDNORM, WRBAND,
    WRNORM, Watched,
};
use crate::sync::Passing;

pub(super) const FUNCTIONS: Family =
    &[
        ("poll", |h| {
            let limit = u64::try_from(h.int(2)).ok().map(|limit| limit * 1_000_000);
            poll(h, limit)
        }),
        ("ppoll", |h| {
            let limit = h.pointer(2);
            let limit = read_limit(h, limit, 1)?;
            poll(h, limit)
        }),
        ("select", select),
        ("pselect", |h| {
            let limit = h.pointer(4);
            let limit = read_limit(h, limit, 1)?;
            select_until(h, limit)
        }),
        ("epoll_create", |h| if h.int(0) <= 0 { Ok(h.error(EINVAL)) } else { epoll_create(h) }),
        ("epoll_create1", |h| {
            if h.int(0) & !channel::CLOEXEC != 0 { Ok(h.error(EINVAL)) } else { epoll_create(h) }
        }),
        ("epoll_ctl", epoll_ctl),
        ("epoll_wait", epoll_wait),
    ];

/// Descriptors that one call asks about at most.
pub(crate) const MOST_ASKED: u64 = 1024;

/// Unread bytes, and writes, with which a socket of Linux has room in any case.
const ROOM: (usize, usize) = (8192, 16);

/// Seconds and a part of a second, at this address: nanoseconds.
fn read_limit(host: &mut dyn Host, address: u64, unit: i64) -> Outcome<Option<u64>> {
    if address == 0 {
        return Ok(None);
    }
    let seconds = host.read_long(address)?;
    let part_at = host.offset(address, host.word_bytes());
    let part = host.read_long(part_at)?;
    let nanoseconds = seconds.saturating_mul(1_000_000_000).saturating_add(part.saturating_mul(unit));
    Ok(Some(u64::try_from(nanoseconds).unwrap_or(0)))
}

/// What a call asks about, besides channels.
struct Outside {
    /// Whether sockets of unknown peers and standard input are ready.
    ready: bool,
}

impl Outside {
    fn of(host: &mut dyn Host, descriptors: &[i32], limit: Option<u64>) -> Outcome<Outside> {
        let inside = descriptors.iter().any(|descriptor| host.is_channel(*descriptor));
        let outside = descriptors
            .iter()
            .any(|descriptor| !host.is_channel(*descriptor) && channel::is_open(host.state(), *descriptor));
        Outside::chosen(host, outside, inside, limit)
    }

    fn chosen(host: &mut dyn Host, outside: bool, inside: bool, limit: Option<u64>) -> Outcome<Outside> {
        let ready = match (outside, inside) {
            (false, _) => false,
            (true, true) => differs(host)?,
            (true, false) => limit.is_none() || !differs(host)?,
        };
        Ok(Outside { ready })
    }

    /// The conditions of a descriptor.
    fn condition(&self, host: &mut dyn Host, descriptor: i32) -> Outcome<u32> {
        if host.is_channel(descriptor) {
            return inside(host, descriptor);
        }
        Ok(match channel::is_open(host.state(), descriptor) {
            true if self.ready => IN | OUT | RDNORM | WRNORM,
            true => 0,
            false => INVALID,
        })
    }
}

fn inside(host: &mut dyn Host, descriptor: i32) -> Outcome<u32> {
    let channels = channels(host)?;
    let Some(end) = channels.at(descriptor) else { return Ok(INVALID) };
    if end.epoll.is_some() {
        return Err(host.unsupported("waiting for an epoll by another one, or by poll or select".into()));
    }
    let condition = channels.condition(&end);
    let full = end.writes.is_some_and(|writes| {
        let stream = channels.stream(writes);
        let socket = matches!(stream.kind, StreamKind::Socket | StreamKind::Messages | StreamKind::Datagrams);
        socket && (stream.unread.len() > ROOM.0 || stream.messages.len() > ROOM.1)
    });
    if full { Err(host.limit("unread bytes of a socket pair that is asked for room")) } else { Ok(condition) }
}

/// The thread gets to know these conditions.
fn heard(host: &mut dyn Host, descriptor: i32, reported: u32) -> Outcome<()> {
    match host.channels().at(descriptor) {
        Some(end) if reported & HEARD != 0 => hears(host, &end),
        _ => Ok(()),
    }
}

/// Nothing is ready: the time limit is over.
fn times_out(host: &mut dyn Host, limit: Option<u64>) -> Outcome<()> {
    match limit {
        Some(limit) => {
            host.sleep(limit);
            Ok(())
        }
        None => Err(host.unsupported("a wait for descriptors without an end".into())),
    }
}

fn poll(host: &mut dyn Host, limit: Option<u64>) -> Outcome<u128> {
    const ENTRY: u64 = 8;
    let (entries, count) = (host.pointer(0), host.size(1));
    if count > MOST_ASKED {
        return Err(host.unsupported("poll of more than 1024 descriptors".into()));
    }
    let mut asked = Vec::new();
    for index in 0..count {
        let at = host.offset(entries, index * ENTRY);
        let entry = host.read_bytes(at, 6)?;
        let descriptor = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        asked.push((descriptor, u32::from(u16::from_le_bytes([entry[4], entry[5]]))));
    }
    let descriptors: Vec<i32> = asked.iter().map(|(descriptor, _)| *descriptor).collect();
    let outside = Outside::of(host, &descriptors, limit)?;
    let mut reported = Vec::new();
    for (descriptor, events) in &asked {
        let condition = if *descriptor < 0 { 0 } else { outside.condition(host, *descriptor)? };
        reported.push(condition & (events | ERR | HUP | INVALID));
    }
    let ready = reported.iter().filter(|bits| **bits != 0).count();
    if ready == 0 {
        times_out(host, limit)?;
    }
    for (index, (descriptor, bits)) in descriptors.into_iter().zip(reported).enumerate() {
        heard(host, descriptor, bits)?;
        let at = host.offset(entries, index as u64 * ENTRY + 6);
        host.write(at, &(bits as u16).to_le_bytes())?;
    }
    Ok(ready as u128)
}

/// Linux writes back what is left of the time: all, or nothing.
fn select(host: &mut dyn Host) -> Outcome<u128> {
    let address = host.pointer(4);
    let limit = read_limit(host, address, 1000)?;
    let result = select_until(host, limit)?;
    let bytes = 2 * host.word_bytes();
    if limit.is_some() {
        let left = if result == 0 { vec![0; bytes as usize] } else { host.read_bytes(address, bytes)? };
        host.write(address, &left)?;
    }
    Ok(result)
}

fn select_until(host: &mut dyn Host, limit: Option<u64>) -> Outcome<u128> {
    const CONDITIONS: [u32; 3] = [IN | RDNORM | RDBAND | HUP | ERR, OUT | WRNORM | WRBAND | ERR, PRI];
    let count = host.int(0);
    let Some(count) = u64::try_from(count).ok().filter(|count| *count <= MOST_ASKED) else {
        return Ok(host.error(EINVAL));
    };
    let bytes = count.div_ceil(8 * host.word_bytes()) * host.word_bytes();
    let mut asked = Vec::new();
    for index in 0..3 {
        let set = host.pointer(index + 1);
        let bits = if set == 0 { vec![0; bytes as usize] } else { host.read_bytes(set, bytes)? };
        let is_asked = |descriptor: &i32| bits[*descriptor as usize / 8] >> (descriptor % 8) & 1 == 1;
        asked.push((0..count as i32).filter(is_asked).collect::<Vec<i32>>());
    }
    let outside = Outside::of(host, &asked.concat(), limit)?;
    let mut results = Vec::new();
    for (descriptors, conditions) in asked.into_iter().zip(CONDITIONS) {
        let mut ready = Vec::new();
        for descriptor in descriptors {
            match outside.condition(host, descriptor)? {
                INVALID => return Ok(host.error(EBADF)),
                condition if condition & conditions != 0 => ready.push(descriptor),
                _ => {}
            }
        }
        results.push(ready);
    }
    let ready: usize = results.iter().map(Vec::len).sum();
    if ready == 0 {
        times_out(host, limit)?;
    }
    for descriptor in &results[0] {
        heard(host, *descriptor, HEARD)?;
    }
    for (index, descriptors) in results.into_iter().enumerate() {
        let set = host.pointer(index + 1);
        let mut bits = vec![0u8; bytes as usize];
        descriptors.iter().for_each(|descriptor| bits[*descriptor as usize / 8] |= 1 << (descriptor % 8));
        if set != 0 {
            host.write_bytes(set, &bits)?;
        }
    }
    Ok(ready as u128)
}

fn epoll_create(host: &mut dyn Host) -> Outcome<u128> {
    if differs(host)? {
        return Ok(host.error(EMFILE));
    }
    let stream = new_stream(host, StreamKind::Interests, 0)?;
    let channels = channels(host)?;
    channels.epolls.push(Epoll { stream, interests: Default::default() });
    let epoll = Some(channels.epolls.len() - 1);
    match connected(host, Description { reads: None, writes: None, epoll, blocking: Blocking::Yes }) {
        Ok(descriptor) => Ok(int(descriptor)),
        Err(_) => Err(host.limit("descriptors of the process")),
    }
}

/// The epoll that the first argument stands for, or what is wrong with it.
fn epoll_of(host: &mut dyn Host) -> Result<usize, i32> {
    let descriptor = host.int(0);
    match host.channels().at(descriptor) {
        Some(end) => end.epoll.ok_or(EINVAL),
        None if channel::is_open(host.state(), descriptor) => Err(EINVAL),
        None => Err(EBADF),
    }
}

fn epoll_ctl(host: &mut dyn Host) -> Outcome<u128> {
    const ADD: i32 = 1;
    const REMOVE: i32 = 2;
    const CHANGE: i32 = 3;
    let (operation, descriptor, event) = (host.int(1), host.int(2), host.pointer(3));
    let epoll = match epoll_of(host) {
        Ok(epoll) => epoll,
        Err(errno) => return Ok(host.error(errno)),
    };
    let watched = match watched(host, descriptor)? {
        Ok(watched) => watched,
        Err(errno) => return Ok(host.error(errno)),
    };
    let known = channels(host)?.epolls[epoll].interests.contains_key(&descriptor);
    match (operation, known) {
        (ADD, true) => return Ok(host.error(EEXIST)),
        (REMOVE | CHANGE, false) => return Ok(host.error(ENOENT)),
        (REMOVE, true) => {
            channels(host)?.epolls[epoll].interests.remove(&descriptor);
            return Ok(0);
        }
        (ADD | CHANGE, _) => {}
        _ => return Ok(host.error(EINVAL)),
    }
    let bytes = host.read_bytes(event, EVENT)?;
    let (events, data) = bytes.split_at(4);
    let events = events.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
    let data = data.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    if events & !KNOWN != 0 || events & EDGE != 0 && events & (OUT | WRNORM | WRBAND) != 0 {
        return Err(host.unsupported("an epoll that reports edges of writing".into()));
    }
    let interest = Interest { watched, events, data, fresh: true, spent: false };
    let epoll = &mut channels(host)?.epolls[epoll];
    epoll.interests.insert(descriptor, interest);
    let stream = epoll.stream;
    let own = host.thread_number();
    host.pass(stream, (place(descriptor) + own, 1), Passing::Gives)?;
    Ok(0)
}

/// Bytes of a `struct epoll_event`, which is packed.
const EVENT: u64 = 12;

/// What may be asked for; `EPOLLEXCLUSIVE` and `EPOLLWAKEUP` change nothing here.
const KNOWN: u32 =
    IN | PRI | OUT | ERR | HUP | RDNORM | RDBAND | WRNORM | WRBAND | RDHUP | EDGE | ONCE | 1 << 28 | 1 << 29;

/// Where the calls about a descriptor are, one place for each thread.
fn place(descriptor: i32) -> u32 {
    const THREADS: u32 = 1 << 16;
    descriptor as u32 * THREADS
}

fn watched(host: &mut dyn Host, descriptor: i32) -> Outcome<Result<Watched, i32>> {
    let channels = channels(host)?;
    if let Some(end) = channels.at(descriptor) {
        if end.epoll.is_some() {
            return Err(host.unsupported("waiting for an epoll by another one, or by poll or select".into()));
        }
        return Ok(host.channels().description(descriptor).map(Watched::Description).ok_or(EBADF));
    }
    Ok(match open_file(host, descriptor).map(|file| &file.target) {
        Some(Target::Socket { .. } | Target::Standard) => Ok(Watched::Outside),
        Some(Target::File(_) | Target::Null) => Err(EPERM),
        None => Err(EBADF),
    })
}

fn epoll_wait(host: &mut dyn Host) -> Outcome<u128> {
    let (target, most, limit) = (host.pointer(1), host.int(2), host.int(3));
    let limit = u64::try_from(limit).ok().map(|limit| limit * 1_000_000);
    let epoll = match epoll_of(host) {
        Ok(epoll) => epoll,
        Err(errno) => return Ok(host.error(errno)),
    };
    let Some(most) = usize::try_from(most).ok().filter(|most| *most > 0) else {
        return Ok(host.error(EINVAL));
    };
    let interests = channels(host)?.epolls[epoll].interests.clone();
    let is_outside = |interest: &Interest| interest.watched == Watched::Outside;
    let (some_outside, some_inside) =
        (interests.values().any(is_outside), !interests.values().all(is_outside));
    let outside = Outside::chosen(host, some_outside, some_inside, limit)?;
    for (descriptor, _) in interests.iter().filter(|(_, interest)| !is_outside(interest)) {
        inside(host, *descriptor)?;
    }
    let mut reports = channels(host)?.reports(epoll);
    for (descriptor, interest) in interests.iter().filter(|(_, interest)| is_outside(interest)) {
        let condition = if outside.ready { IN | OUT | RDNORM | WRNORM } else { 0 };
        let bits = Interest { fresh: true, ..*interest }.reported(condition);
        if bits != 0 {
            reports.push((*descriptor, bits));
        }
    }
    if reports.is_empty() {
        times_out(host, limit)?;
        return Ok(0);
    }
    arrange(host, &mut reports)?;
    reports.truncate(most);
    for (index, (descriptor, bits)) in reports.iter().enumerate() {
        let threads = host.thread_count();
        let epoll = &mut channels(host)?.epolls[epoll];
        let stream = epoll.stream;
        let mut data = 0;
        if let Some(interest) = epoll.interests.get_mut(descriptor) {
            interest.fresh = false;
            interest.spent |= interest.events & ONCE != 0;
            data = interest.data;
        }
        host.pass(stream, (place(*descriptor), threads), Passing::Takes)?;
        heard(host, *descriptor, *bits)?;
        let at = host.offset(target, index as u64 * EVENT);
        let event = [&bits.to_le_bytes()[..], &data.to_le_bytes()[..]].concat();
        host.write(at, &event)?;
    }
    Ok(reports.len() as u128)
}

/// Puts them into the order that the environment chooses.
fn arrange(host: &mut dyn Host, reports: &mut [(i32, u32)]) -> Outcome<()> {
    const MOST: usize = 3;
    if reports.len() > MOST {
        return Err(host.limit("descriptors that an epoll finds ready at once"));
    }
    let orders = (1..=reports.len() as u32).product();
    if orders < 2 {
        return Ok(());
    }
    let mut order = host.choose(orders)? % orders;
    for first in 0..reports.len() {
        let left = (reports.len() - first) as u32;
        reports[first..].rotate_left((order % left) as usize);
        order /= left;
    }
    Ok(())
}
