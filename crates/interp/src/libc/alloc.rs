//! The `malloc` family. Allocation does not fail (A-MALLOC, named in the rows), except where the arguments make it: a product that
//! overflows, or an alignment that is no power of two.

use super::errors::{EINVAL, ENOMEM};
use super::values::{NULL, int};
use super::{Family, Host, Outcome, Zeroed};

pub(super) const FUNCTIONS: Family = &[
    ("malloc", malloc),
    ("kzalloc", kzalloc),
    ("kmalloc_array", kmalloc_array),
    ("calloc", calloc),
    ("realloc", realloc),
    ("reallocarray", reallocarray),
    ("aligned_alloc", aligned_alloc),
    ("_ZnwmSt11align_val_t", aligned_new),
    ("posix_memalign", posix_memalign),
    ("valloc", valloc),
    ("malloc_usable_size", malloc_usable_size),
    ("free", free),
];

const ALIGN: u64 = 16;
const PAGE: u64 = 4096;

/// A block of no bytes may be null or not (C11 7.22.3); here it is not, as glibc has it.
fn look_at_size(host: &mut dyn Host, size: u64) {
    if size == 0 {
        host.assume("A-RESULT");
    }
}

fn malloc(host: &mut dyn Host) -> Outcome<u128> {
    let size = host.size(0);
    look_at_size(host, size);
    host.allocate(size, ALIGN, Zeroed::No, &format!("malloc({size})")).map(u128::from)
}

fn kzalloc(host: &mut dyn Host) -> Outcome<u128> {
    let size = host.size(0);
    host.allocate(size, ALIGN, Zeroed::Yes, &format!("kzalloc({size})")).map(u128::from)
}

fn kmalloc_array(host: &mut dyn Host) -> Outcome<u128> {
    array(host, Zeroed::No, "kmalloc_array")
}

fn calloc(host: &mut dyn Host) -> Outcome<u128> {
    array(host, Zeroed::Yes, "calloc")
}

fn array(host: &mut dyn Host, zeroed: Zeroed, name: &str) -> Outcome<u128> {
    let (count, size) = (host.size(0), host.size(1));
    match count.checked_mul(size).filter(|bytes| *bytes <= host.word_max()) {
        Some(bytes) => {
            look_at_size(host, bytes);
            host.allocate(bytes, ALIGN, zeroed, &format!("{name}({count}, {size})")).map(u128::from)
        }
        None => {
            host.set_errno(ENOMEM);
            Ok(NULL)
        }
    }
}

fn realloc(host: &mut dyn Host) -> Outcome<u128> {
    let size = host.size(1);
    resize(host, size)
}

fn reallocarray(host: &mut dyn Host) -> Outcome<u128> {
    match host.size(1).checked_mul(host.size(2)).filter(|bytes| *bytes <= host.word_max()) {
        Some(bytes) => resize(host, bytes),
        None => {
            host.set_errno(ENOMEM);
            Ok(NULL)
        }
    }
}

fn resize(host: &mut dyn Host, size: u64) -> Outcome<u128> {
    let old = host.pointer(0);
    let what = format!("realloc({size})");
    look_at_size(host, size);
    if old == 0 {
        return host.allocate(size, ALIGN, Zeroed::No, &what).map(u128::from);
    }
    let Some(old_size) = host.block_size(old) else {
        // The machine knows why the pointer is wrong, and says so when it is freed.
        host.free(old)?;
        return Ok(NULL);
    };
    if size == 0 {
        host.free(old)?;
        return Ok(NULL);
    }
    let new = host.allocate(size, ALIGN, Zeroed::No, &what)?;
    let kept = old_size.min(size);
    if kept > 0 {
        host.copy(new, old, kept)?;
    }
    host.free(old)?;
    Ok(u128::from(new))
}

fn aligned_alloc(host: &mut dyn Host) -> Outcome<u128> {
    let (align, size) = (host.size(0), host.size(1));
    if !align.is_power_of_two() {
        host.set_errno(EINVAL);
        return Ok(NULL);
    }
    let what = format!("aligned_alloc({align}, {size})");
    host.allocate(size, align.max(ALIGN), Zeroed::No, &what).map(u128::from)
}

fn posix_memalign(host: &mut dyn Host) -> Outcome<u128> {
    let (target, align, size) = (host.pointer(0), host.size(1), host.size(2));
    if !align.is_power_of_two() || align < host.word_bytes() {
        return Ok(int(EINVAL));
    }
    let what = format!("posix_memalign({align}, {size})");
    let block = host.allocate(size, align.max(ALIGN), Zeroed::No, &what)?;
    host.write_pointer(target, block)?;
    Ok(0)
}

fn valloc(host: &mut dyn Host) -> Outcome<u128> {
    let size = host.size(0);
    host.allocate(size, PAGE, Zeroed::No, &format!("valloc({size})")).map(u128::from)
}

/// `operator new(size, align)`
fn aligned_new(host: &mut dyn Host) -> Outcome<u128> {
    let (size, align) = (host.size(0), host.size(1));
    let what = format!("operator new({size})");
    host.allocate(size, align.max(ALIGN), Zeroed::No, &what).map(u128::from)
}

fn malloc_usable_size(host: &mut dyn Host) -> Outcome<u128> {
    let address = host.pointer(0);
    Ok(u128::from(host.block_size(address).unwrap_or(0)))
}

fn free(host: &mut dyn Host) -> Outcome<u128> {
    let address = host.pointer(0);
    host.free(address)?;
    Ok(0)
}
