//! Which channels a descriptor reads from and writes to, whatever its number: pipes and socket pairs by inode, connections by their two
//! addresses, listening sockets and datagrams by name, counters and timers by a number that was given when they were made.
//!
//! The kernel is asked each time what a descriptor is, because the program may close and reuse it where nobody sees it. Only for
//! anonymous inodes, which all look alike, the numbers of descriptors are followed.

use crate::channels::{self, Id, Key, Positions, Waiting};
use crate::gate;
use crate::spin::Spin;
use libc::{c_int, c_void, sockaddr, sockaddr_storage, socklen_t};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What one number of the stream is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Byte,
    Message,
}

/// The channels of a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    pub input: Option<Id>,
    pub output: Option<Id>,
    pub unit: Unit,
    pub kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Pipe,
    Pair,
    Connection,
    /// Reads give what many writes have added up to, or one of many messages.
    Collected,
    Signals,
    Epoll,
    Watch,
}

/// What is known of inodes that were met.
struct Known {
    ends: BTreeMap<(u64, u64), End>,
    /// Which inodes wrote to and read from a connection first: others are of a new one with the same addresses.
    sides: BTreeMap<Id, [Option<(u64, u64)>; 2]>,
    /// Descriptors of anonymous inodes, and what these are.
    anonymous: BTreeMap<c_int, (u64, Kind)>,
    /// More inodes are not remembered; they are looked at again when they are met again.
    most: usize,
    evictions: u32,
}

static KNOWN: Spin<Known> = Spin::new(Known {
    ends: BTreeMap::new(),
    sides: BTreeMap::new(),
    anonymous: BTreeMap::new(),
    most: MOST_KNOWN,
    evictions: 0,
});
static NEXT: AtomicU64 = AtomicU64::new(1);

const MOST_KNOWN: usize = 4096;

/// The channels of a descriptor; `None` where it has none: a file, a terminal, nothing. Leaves `errno` alone.
pub fn of(descriptor: c_int) -> Option<End> {
    keeping_errno(|| unsafe {
        let mut status = std::mem::zeroed::<libc::stat>();
        if libc::fstat(descriptor, &mut status) != 0 {
            return None;
        }
        let inode = (status.st_dev, status.st_ino);
        match status.st_mode & libc::S_IFMT {
            libc::S_IFIFO => Some(pipe(descriptor, inode)),
            libc::S_IFSOCK => socket(descriptor, inode),
            0 => Some(anonymous(descriptor)),
            _ => None,
        }
    })
}

/// Whether a descriptor is a file that others may watch.
pub fn is_file(descriptor: c_int) -> bool {
    keeping_errno(|| unsafe {
        let mut status = std::mem::zeroed::<libc::stat>();
        libc::fstat(descriptor, &mut status) == 0
            && matches!(status.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR)
    })
}

/// A pair of connected sockets was made.
pub fn paired(a: c_int, b: c_int) {
    keeping_errno(|| unsafe {
        let inodes = [a, b].map(|descriptor| inode_of(descriptor));
        let [Some(first), Some(second)] = inodes else { return };
        let unit = unit_of(number_option(a, libc::SO_TYPE));
        let inbox = |(device, inode)| channels::of(Key::Inbox(device, inode), Positions::Counted);
        let (to_first, to_second) = (inbox(first), inbox(second));
        remember(first, End { input: Some(to_first), output: Some(to_second), unit, kind: Kind::Pair });
        remember(second, End { input: Some(to_second), output: Some(to_first), unit, kind: Kind::Pair });
    });
}

/// A counter, timer or the like was made.
pub fn made(descriptor: c_int, kind: Kind) {
    if descriptor >= 0 {
        let number = NEXT.fetch_add(1, Relaxed);
        locked(|known| known.anonymous.insert(descriptor, (number, kind)));
    }
}

/// `new` is another number of what `old` is.
pub fn duplicated(old: c_int, new: c_int) {
    if new >= 0 && old != new {
        locked(|known| match known.anonymous.get(&old).copied() {
            Some(same) => known.anonymous.insert(new, same),
            None => known.anonymous.remove(&new),
        });
    }
}

pub fn closed(descriptor: c_int) {
    locked(|known| known.anonymous.remove(&descriptor));
}

/// Our number of the anonymous inode behind a descriptor; 0 if its making was not seen.
pub fn number(descriptor: c_int) -> u64 {
    locked(|known| known.anonymous.get(&descriptor).map_or(0, |(number, _)| *number))
}

/// The channel of requests to connect to an address, or to the one that a socket listens at.
pub fn requests(address: Option<Vec<u8>>) -> Option<Id> {
    Some(channels::of(Key::Requests(port_or_name(&address?)), Positions::Unknown))
}

/// The channel of datagrams for an address.
pub fn datagrams_to(address: &[u8]) -> Id {
    channels::of(Key::To(port_or_name(address)), Positions::Unknown)
}

/// The address at which a socket is, or is connected to. `None` if it has none.
pub fn own_address(descriptor: c_int) -> Option<Vec<u8>> {
    keeping_errno(|| unsafe { address(descriptor, libc::getsockname) })
}

/// An address of the program's in the form in which we compare them. `None` without one.
pub unsafe fn normal(address: *const sockaddr, bytes: socklen_t) -> Option<Vec<u8>> {
    if address.is_null() || (bytes as usize) < size_of::<libc::sa_family_t>() {
        return None;
    }
    let bytes = (bytes as usize).min(size_of::<sockaddr_storage>());
    let mut copy = std::mem::zeroed::<sockaddr_storage>();
    std::ptr::copy_nonoverlapping(address.cast::<u8>(), (&raw mut copy).cast(), bytes);
    match c_int::from(copy.ss_family) {
        libc::AF_INET => {
            let inet = &*(&raw const copy).cast::<libc::sockaddr_in>();
            let mut normal = b"i".to_vec();
            normal.extend(inet.sin_port.to_ne_bytes());
            // As the address that a socket of version 6 has for it.
            normal.extend([0; 10].iter().chain(&[0xff; 2]).copied());
            normal.extend(inet.sin_addr.s_addr.to_ne_bytes());
            Some(normal)
        }
        libc::AF_INET6 => {
            let inet = &*(&raw const copy).cast::<libc::sockaddr_in6>();
            let mut normal = b"i".to_vec();
            normal.extend(inet.sin6_port.to_ne_bytes());
            normal.extend(inet.sin6_addr.s6_addr);
            Some(normal)
        }
        libc::AF_UNIX => {
            let raw = std::slice::from_raw_parts((&raw const copy).cast::<u8>(), bytes);
            let name = &raw[size_of::<libc::sa_family_t>()..];
            let name = match name {
                [] => return None,
                [0, rest @ ..] => rest,
                _ => name.split(|byte| *byte == 0).next().unwrap_or_default(),
            };
            let mut normal = b"u".to_vec();
            // Paths of one file may differ in their folders.
            normal.extend(name.rsplit(|byte| *byte == b'/').next().unwrap_or_default());
            Some(normal).filter(|name| name.len() > 1)
        }
        _ => None,
    }
}

/// How many bytes wait to be read. For [`channels::read_ends`].
pub fn waiting(descriptor: c_int, end: &End) -> Waiting {
    if end.unit == Unit::Message || end.kind == Kind::Collected {
        return Waiting::Unknown;
    }
    keeping_errno(|| {
        let mut bytes: c_int = 0;
        match unsafe { libc::ioctl(descriptor, libc::FIONREAD, &raw mut bytes) } {
            0 if end.kind == Kind::Pipe => Waiting::Exactly(bytes as u64),
            0 => Waiting::AtLeast(bytes as u64),
            _ => Waiting::Unknown,
        }
    })
}

/// For a fork.
pub fn hold() -> bool {
    KNOWN.hold()
}

/// After a fork, on both sides.
pub fn reset() {
    KNOWN.reset();
}

unsafe fn pipe(descriptor: c_int, inode: (u64, u64)) -> End {
    if let Some(end) = remembered(inode) {
        return end;
    }
    // A pipe of packets drops what a short read leaves.
    let packets = libc::fcntl(descriptor, libc::F_GETFL) & libc::O_DIRECT != 0;
    let positions = if packets { Positions::Unknown } else { Positions::Counted };
    let channel = Some(channels::of(Key::Inbox(inode.0, inode.1), positions));
    remember(inode, End { input: channel, output: channel, unit: Unit::Byte, kind: Kind::Pipe })
}

unsafe fn socket(descriptor: c_int, inode: (u64, u64)) -> Option<End> {
    if let Some(end) = remembered(inode) {
        return Some(end);
    }
    let (family, kind) = (number_option(descriptor, SO_DOMAIN)?, number_option(descriptor, libc::SO_TYPE)?);
    let (own, peer) = (address(descriptor, libc::getsockname), address(descriptor, libc::getpeername));
    let unit = unit_of(Some(kind));
    let collected = |input, output| Some(End { input, output, unit, kind: Kind::Collected });
    let named = |key| Some(channels::of(key, Positions::Unknown));
    if kind == libc::SOCK_DGRAM {
        // Datagrams may be lost on the way. Addresses may change: nothing is remembered.
        let input = own.as_deref().map(datagrams_to);
        return collected(input, peer.as_deref().map(datagrams_to));
    }
    let is_connected = libc::getpeername(descriptor, &mut std::mem::zeroed(), &mut 0) == 0;
    if !is_connected {
        return None;
    }
    match (family, own, peer) {
        (libc::AF_INET | libc::AF_INET6 | libc::AF_UNIX, Some(own), Some(peer)) => {
            let input = connection(inode, &peer, &own, READER);
            let output = connection(inode, &own, &peer, WRITER);
            let end = End { input: Some(input), output: Some(output), unit, kind: Kind::Connection };
            Some(remember(inode, end))
        }
        // Whoever is at the other end of a socket without a name.
        (libc::AF_UNIX, _, _) if !is_peer_here(descriptor) => collected(None, None),
        (libc::AF_UNIX, Some(own), None) => collected(named(Key::To(own.clone())), named(Key::From(own))),
        (libc::AF_UNIX, None, Some(peer)) => collected(named(Key::From(peer.clone())), named(Key::To(peer))),
        (libc::AF_UNIX, None, None) => {
            let channel = named(Key::Anonymous(0));
            collected(channel, channel)
        }
        _ => None,
    }
}

const WRITER: usize = 0;
const READER: usize = 1;
const SO_DOMAIN: c_int = 39;

/// One direction of a connection. A second socket in the same role is of a new connection.
fn connection(inode: (u64, u64), from: &[u8], to: &[u8], role: usize) -> Id {
    let key = || Key::Connection { from: from.to_owned(), to: to.to_owned() };
    let found = channels::of(key(), Positions::Counted);
    let is_free = locked(|known| {
        let side = &mut known.sides.entry(found).or_default()[role];
        *side.get_or_insert(inode) == inode
    });
    if is_free {
        return found;
    }
    let new = channels::anew(key(), Positions::Counted);
    locked(|known| {
        known.sides.remove(&found);
        known.sides.entry(new).or_default()[role] = Some(inode);
    });
    new
}

fn anonymous(descriptor: c_int) -> End {
    let (number, kind) =
        locked(|known| known.anonymous.get(&descriptor).copied()).unwrap_or((0, Kind::Collected));
    let channel = Some(channels::of(Key::Anonymous(number), Positions::Unknown));
    End { input: channel, output: channel, unit: Unit::Byte, kind }
}

fn remember(inode: (u64, u64), end: End) -> End {
    locked(|known| {
        if known.ends.len() >= known.most {
            known.forget();
        }
        known.ends.insert(inode, end);
    });
    end
}

fn remembered(inode: (u64, u64)) -> Option<End> {
    locked(|known| {
        if known.evictions != channels::evictions() {
            known.evictions = channels::evictions();
            known.forget();
        }
        known.ends.get(&inode).copied()
    })
}

impl Known {
    /// Pipes and connections are found again by their keys; pairs would not be.
    fn forget(&mut self) {
        self.ends.retain(|_, end| end.kind == Kind::Pair);
        self.sides.clear();
        self.most = (self.ends.len() * 2).max(MOST_KNOWN);
    }
}

/// Of the address: the port, since a socket may have many addresses, or the name.
fn port_or_name(address: &[u8]) -> Vec<u8> {
    let bytes = if address.first() == Some(&b'i') { 3 } else { address.len() };
    address[..bytes.min(address.len())].to_owned()
}

fn unit_of(kind: Option<c_int>) -> Unit {
    if kind == Some(libc::SOCK_STREAM) { Unit::Byte } else { Unit::Message }
}

unsafe fn inode_of(descriptor: c_int) -> Option<(u64, u64)> {
    let mut status = std::mem::zeroed::<libc::stat>();
    (libc::fstat(descriptor, &mut status) == 0).then_some((status.st_dev, status.st_ino))
}

unsafe fn number_option(descriptor: c_int, option: c_int) -> Option<c_int> {
    let (mut value, mut bytes) = (0, size_of::<c_int>() as socklen_t);
    let value_at = (&raw mut value).cast::<c_void>();
    let result = libc::getsockopt(descriptor, libc::SOL_SOCKET, option, value_at, &mut bytes);
    (result == 0).then_some(value)
}

/// Whether the process at the other end is this one.
unsafe fn is_peer_here(descriptor: c_int) -> bool {
    let mut peer = std::mem::zeroed::<libc::ucred>();
    let mut bytes = size_of::<libc::ucred>() as socklen_t;
    let at = (&raw mut peer).cast::<c_void>();
    let result = libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_PEERCRED, at, &mut bytes);
    result != 0 || peer.pid == libc::getpid() || channels::is_shared()
}

unsafe fn address(
    descriptor: c_int,
    ask: unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int,
) -> Option<Vec<u8>> {
    let mut storage = std::mem::zeroed::<sockaddr_storage>();
    let mut bytes = size_of::<sockaddr_storage>() as socklen_t;
    let at = (&raw mut storage).cast::<sockaddr>();
    if ask(descriptor, at, &mut bytes) != 0 {
        return None;
    }
    normal(at, bytes)
}

/// Signal handlers use descriptors, too.
fn locked<T>(work: impl FnOnce(&mut Known) -> T) -> T {
    gate::undisturbed(|| work(&mut KNOWN.lock()))
}

fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    unsafe {
        let errno = *libc::__errno_location();
        let result = work();
        *libc::__errno_location() = errno;
        result
    }
}
