//! `qsort` and `bsearch`, which call back into the program.
//!
//! `qsort` is a stable merge sort, as glibc's was up to 2.36: the order of equal elements is the same as natively. All comparisons
//! see the array as it was; it is rearranged at the end, and written even if it was sorted. Which elements are compared, how often, and
//! the order of equal ones are left open by C11 7.22.5 (A-RESULT).

use super::values::NULL;
use super::{Family, Host, Outcome, Zeroed};
use raddle_ir::Ty;

pub(super) const FUNCTIONS: Family = &[
    ("qsort", |h| qsort(h, Context::None)),
    ("qsort_r", |h| qsort(h, Context::Argument4)),
    ("bsearch", bsearch),
];

/// What the comparison gets besides the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    None,
    Argument4,
}

fn qsort(host: &mut dyn Host, context: Context) -> Outcome<u128> {
    let (base, count, size, compare) = (host.pointer(0), host.size(1), host.size(2), host.pointer(3));
    let context = (context == Context::Argument4).then(|| host.pointer(4));
    if count < 2 || size == 0 {
        return Ok(0);
    }
    let Some(bytes) = count.checked_mul(size).filter(|bytes| *bytes <= 1 << 32) else {
        return Err(host.unsupported(format!("qsort of {count} elements of {size} bytes")));
    };
    host.assume("A-RESULT");
    let array = Array { base, size, compare, context };
    let order = array.sorted(host, (0..count).collect())?;
    let copy = host.allocate(bytes, 16, Zeroed::No, "the buffer of qsort")?;
    host.copy(copy, base, bytes)?;
    for (place, element) in order.into_iter().enumerate() {
        let to = host.offset(base, place as u64 * size);
        host.copy(to, copy + element * size, size)?;
    }
    host.free(copy)?;
    Ok(0)
}

fn bsearch(host: &mut dyn Host) -> Outcome<u128> {
    let (key, base) = (host.pointer(0), host.pointer(1));
    let (count, size, compare) = (host.size(2), host.size(3), host.pointer(4));
    if count > 1 {
        host.assume("A-RESULT");
    }
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let element = host.offset(base, middle.wrapping_mul(size));
        let order = call_compare(host, compare, key, element, None)?;
        if order == 0 {
            return Ok(u128::from(element));
        }
        if order < 0 {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(NULL)
}

struct Array {
    base: u64,
    size: u64,
    compare: u64,
    context: Option<u64>,
}

impl Array {
    fn sorted(&self, host: &mut dyn Host, elements: Vec<u64>) -> Outcome<Vec<u64>> {
        if elements.len() < 2 {
            return Ok(elements);
        }
        let (left, right) = elements.split_at(elements.len() / 2);
        let left = self.sorted(host, left.to_vec())?;
        let right = self.sorted(host, right.to_vec())?;
        let mut merged = Vec::with_capacity(elements.len());
        let (mut l, mut r) = (0, 0);
        while l < left.len() && r < right.len() {
            let (a, b) = (self.address(host, left[l]), self.address(host, right[r]));
            if call_compare(host, self.compare, a, b, self.context)? <= 0 {
                merged.push(left[l]);
                l += 1;
            } else {
                merged.push(right[r]);
                r += 1;
            }
        }
        merged.extend_from_slice(&left[l..]);
        merged.extend_from_slice(&right[r..]);
        Ok(merged)
    }

    fn address(&self, host: &dyn Host, element: u64) -> u64 {
        host.offset(self.base, element * self.size)
    }
}

fn call_compare(host: &mut dyn Host, function: u64, a: u64, b: u64, context: Option<u64>) -> Outcome<i32> {
    let args =
        [Some(a), Some(b), context].into_iter().flatten().map(|pointer| (u128::from(pointer), Ty::Ptr));
    let args: Vec<(u128, Ty)> = args.collect();
    host.call_back(function, &args).map(|bits| bits as i32)
}
