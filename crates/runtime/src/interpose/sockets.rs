//! Sockets: messages and bytes that are sent and received, connections that are made.

use super::descriptors::{
    Manner, Transfer, are_followed, ends, keeping_errno, me, read_around, read_begins, write_begins, write_to,
};
use super::real::real;
use crate::channels;
use crate::ends;
use libc::{c_int, c_void, iovec, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t, timespec};

real! {
    fn send(socket: c_int, from: *const c_void, bytes: size_t, flags: c_int) -> ssize_t;
    fn sendto(socket: c_int, from: *const c_void, bytes: size_t, flags: c_int, to: *const sockaddr, length: socklen_t) -> ssize_t;
    fn sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    fn sendmmsg(socket: c_int, messages: *mut mmsghdr, count: u32, flags: c_int) -> c_int;
    fn recv(socket: c_int, to: *mut c_void, bytes: size_t, flags: c_int) -> ssize_t;
    fn recvfrom(socket: c_int, to: *mut c_void, bytes: size_t, flags: c_int, from: *mut sockaddr, length: *mut socklen_t) -> ssize_t;
    fn recvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    fn recvmmsg(socket: c_int, messages: *mut mmsghdr, count: u32, flags: c_int, time: *mut timespec) -> c_int;
    fn socketpair(family: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int;
    fn connect(socket: c_int, to: *const sockaddr, length: socklen_t) -> c_int;
    fn accept(socket: c_int, from: *mut sockaddr, length: *mut socklen_t) -> c_int;
    fn accept4(socket: c_int, from: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int;
    fn shutdown(socket: c_int, how: c_int) -> c_int;
}

unsafe extern "C" {
    fn __chk_fail() -> !;
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn send(socket: c_int, from: *const c_void, bytes: size_t, flags: c_int) -> ssize_t {
    let transfer = sends(socket, std::ptr::null(), 0, flags);
    sent(transfer, real::send(socket, from, bytes, flags))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendto(
    socket: c_int,
    from: *const c_void,
    bytes: size_t,
    flags: c_int,
    to: *const sockaddr,
    length: socklen_t,
) -> ssize_t {
    let transfer = sends(socket, to, length, flags);
    sent(transfer, real::sendto(socket, from, bytes, flags, to, length))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    let transfer = sends_message(socket, message, flags);
    sent(transfer, real::sendmsg(socket, message, flags))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmmsg(
    socket: c_int,
    messages: *mut mmsghdr,
    count: u32,
    flags: c_int,
) -> c_int {
    // Each may have an address of its own.
    let mut transfers: Vec<Transfer> = Vec::new();
    for at in 0..count as usize {
        transfers.extend(sends_message(socket, &raw const (*messages.add(at)).msg_hdr, flags));
    }
    let result = real::sendmmsg(socket, messages, count, flags);
    let sent = result.max(0) as usize;
    for (at, transfer) in transfers.into_iter().enumerate() {
        transfer.written(if at < sent { (*messages.add(at)).msg_len as ssize_t } else { -1 });
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recv(socket: c_int, to: *mut c_void, bytes: size_t, flags: c_int) -> ssize_t {
    read_around!(socket, bytes, manner(flags), real::recv(socket, to, bytes, flags))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __recv_chk(
    socket: c_int,
    to: *mut c_void,
    bytes: size_t,
    room: size_t,
    flags: c_int,
) -> ssize_t {
    if bytes > room {
        __chk_fail();
    }
    recv(socket, to, bytes, flags)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvfrom(
    socket: c_int,
    to: *mut c_void,
    bytes: size_t,
    flags: c_int,
    from: *mut sockaddr,
    length: *mut socklen_t,
) -> ssize_t {
    read_around!(socket, bytes, manner(flags), real::recvfrom(socket, to, bytes, flags, from, length))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __recvfrom_chk(
    socket: c_int,
    to: *mut c_void,
    bytes: size_t,
    room: size_t,
    flags: c_int,
    from: *mut sockaddr,
    length: *mut socklen_t,
) -> ssize_t {
    if bytes > room {
        __chk_fail();
    }
    recvfrom(socket, to, bytes, flags, from, length)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    read_around!(socket, room(message), manner(flags), real::recvmsg(socket, message, flags))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvmmsg(
    socket: c_int,
    messages: *mut mmsghdr,
    count: u32,
    flags: c_int,
    time: *mut timespec,
) -> c_int {
    let transfer = read_begins(socket, usize::MAX);
    let result = real::recvmmsg(socket, messages, count, flags, time);
    match transfer {
        Some(transfer) => transfer.messages_were_read(result, manner(flags)),
        None => result,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn socketpair(family: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int {
    let result = real::socketpair(family, kind, protocol, pair);
    if result == 0 && are_followed() {
        ends::paired(*pair, *pair.add(1));
    }
    result
}

/// What the thread did so far comes before the connection is accepted.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn connect(socket: c_int, to: *const sockaddr, length: socklen_t) -> c_int {
    if are_followed() {
        keeping_errno(|| {
            if let Some(requests) = ends::requests(ends::normal(to, length)) {
                channels::release(me(), requests);
            }
        });
    }
    real::connect(socket, to, length)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn accept(socket: c_int, from: *mut sockaddr, length: *mut socklen_t) -> c_int {
    accepted(socket, real::accept(socket, from, length))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn accept4(
    socket: c_int,
    from: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    accepted(socket, real::accept4(socket, from, length, flags))
}

/// The stream may end here, as in a close.
#[unsafe(no_mangle)]
unsafe extern "C" fn shutdown(socket: c_int, how: c_int) -> c_int {
    if are_followed() {
        ends(socket);
    }
    real::shutdown(socket, how)
}

unsafe fn accepted(socket: c_int, result: c_int) -> c_int {
    if result >= 0 && are_followed() {
        keeping_errno(|| {
            if let Some(requests) = ends::requests(ends::own_address(socket)) {
                channels::acquire(me(), requests);
            }
        });
    }
    result
}

/// A send is about to be made, perhaps to an address.
unsafe fn sends(socket: c_int, to: *const sockaddr, length: socklen_t, flags: c_int) -> Option<Transfer> {
    if !are_followed() {
        return None;
    }
    let transfer = match ends::normal(to, length) {
        None => write_begins(socket),
        Some(address) => {
            let end = ends::of(socket)?;
            match end.kind {
                // The address of a connected socket is the one it has.
                ends::Kind::Connection | ends::Kind::Pair => write_begins(socket),
                _ => write_to(socket, end, ends::datagrams_to(&address)),
            }
        }
    };
    if flags & libc::MSG_OOB != 0
        && let Some(transfer) = &transfer
    {
        transfer.is_beside();
    }
    transfer
}

unsafe fn sends_message(socket: c_int, message: *const msghdr, flags: c_int) -> Option<Transfer> {
    if !(*message).msg_control.is_null() {
        hands_over(&*message);
    }
    sends(socket, (*message).msg_name.cast(), (*message).msg_namelen, flags)
}

fn sent(transfer: Option<Transfer>, result: ssize_t) -> ssize_t {
    match transfer {
        Some(transfer) => transfer.written(result),
        None => result,
    }
}

/// Descriptors may go to another process with a message: what is read and written there is not seen here.
unsafe fn hands_over(message: &msghdr) {
    let mut header = libc::CMSG_FIRSTHDR(message);
    while !header.is_null() {
        if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_RIGHTS {
            return channels::shared();
        }
        header = libc::CMSG_NXTHDR(message, header);
    }
}

fn manner(flags: c_int) -> Manner {
    if flags & libc::MSG_OOB != 0 {
        Manner::Beside
    } else if flags & libc::MSG_PEEK != 0 {
        Manner::Peeks
    } else {
        Manner::Takes
    }
}

unsafe fn room(message: *const msghdr) -> usize {
    let parts: *const iovec = (*message).msg_iov;
    (0..(*message).msg_iovlen).map(|at| (*parts.add(at)).iov_len).fold(0, usize::saturating_add)
}
