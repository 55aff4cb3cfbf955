//! Attribute objects of POSIX threads, with glibc's layout: the machine reads them when a thread or a mutex is made.

use super::errors::EINVAL;
use super::values::int;
use super::{Family, Host, Outcome};
use raddle_ir::DataModel;
use raddle_libmodel::ATTR_FLAGS_OFFSET;

pub(super) const FUNCTIONS: Family = &[
    ("pthread_attr_init", attr_init),
    ("pthread_attr_setdetachstate", set_detach_state),
    ("pthread_attr_getdetachstate", get_detach_state),
    ("pthread_attr_setstacksize", set_stack_size),
    ("pthread_attr_getstacksize", get_stack_size),
    ("pthread_mutexattr_init", |h| clear(h, 4)),
    ("pthread_mutexattr_settype", |h| set_bits(h, 3, 0, 3)),
    ("pthread_mutexattr_gettype", |h| get_bits(h, 3, 0)),
    ("pthread_mutexattr_setrobust", |h| set_bits(h, 1, ROBUST_BIT, 1)),
    ("pthread_mutexattr_getrobust", |h| get_bits(h, 1, ROBUST_BIT)),
    ("pthread_condattr_init", |h| clear(h, 4)),
    ("pthread_rwlockattr_init", |h| clear(h, 8)),
    ("pthread_rwlockattr_setkind_np", set_rwlock_kind),
    ("pthread_rwlockattr_getkind_np", |h| get_bits(h, -1, 0)),
];

const ROBUST_BIT: u32 = 30;
const DETACHED: i32 = 1;
const STACK_BYTES: i64 = 8 << 20;

fn clear(host: &mut dyn Host, bytes: u64) -> Outcome<u128> {
    let attribute = host.pointer(0);
    host.fill(attribute, 0, bytes)?;
    Ok(0)
}

fn attr_init(host: &mut dyn Host) -> Outcome<u128> {
    let bytes = match host.data_model() {
        DataModel::Lp64 => 56,
        DataModel::Ilp32 => 36,
    };
    clear(host, bytes)
}

fn flags_address(host: &dyn Host) -> u64 {
    host.offset(host.pointer(0), ATTR_FLAGS_OFFSET)
}

fn set_detach_state(host: &mut dyn Host) -> Outcome<u128> {
    let (at, state) = (flags_address(host), host.int(1));
    if !(0..=1).contains(&state) {
        return Ok(int(EINVAL));
    }
    let flags = host.read_int(at)?;
    host.write_int(at, (flags & !DETACHED) | state)?;
    Ok(0)
}

fn get_detach_state(host: &mut dyn Host) -> Outcome<u128> {
    let (at, target) = (flags_address(host), host.pointer(1));
    let flags = host.read_int(at)?;
    host.write_int(target, flags & DETACHED)?;
    Ok(0)
}

/// Behind the flags: guard size, stack address, stack size.
fn stack_size_address(host: &dyn Host) -> u64 {
    host.offset(
        host.pointer(0),
        match host.data_model() {
            DataModel::Lp64 => 32,
            DataModel::Ilp32 => 20,
        },
    )
}

fn set_stack_size(host: &mut dyn Host) -> Outcome<u128> {
    let (at, size) = (stack_size_address(host), host.long(1));
    if (0..16384).contains(&size) {
        return Ok(int(EINVAL));
    }
    host.write_long(at, size)?;
    Ok(0)
}

fn get_stack_size(host: &mut dyn Host) -> Outcome<u128> {
    let (at, target) = (stack_size_address(host), host.pointer(1));
    let size = host.read_long(at)?;
    host.write_long(target, if size == 0 { STACK_BYTES } else { size })?;
    Ok(0)
}

fn set_rwlock_kind(host: &mut dyn Host) -> Outcome<u128> {
    let (attribute, kind) = (host.pointer(0), host.int(1));
    if !(0..=2).contains(&kind) {
        return Ok(int(EINVAL));
    }
    host.write_int(attribute, kind)?;
    Ok(0)
}

fn set_bits(host: &mut dyn Host, mask: i32, shift: u32, largest: i32) -> Outcome<u128> {
    let (attribute, value) = (host.pointer(0), host.int(1));
    if !(0..=largest).contains(&value) {
        return Ok(int(EINVAL));
    }
    let bits = host.read_int(attribute)?;
    host.write_int(attribute, (bits & !(mask << shift)) | value << shift)?;
    Ok(0)
}

fn get_bits(host: &mut dyn Host, mask: i32, shift: u32) -> Outcome<u128> {
    let (attribute, target) = (host.pointer(0), host.pointer(1));
    let bits = host.read_int(attribute)?;
    host.write_int(target, bits >> shift & mask)?;
    Ok(0)
}
