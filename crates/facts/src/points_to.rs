//! May-points-to, flow-insensitive and field-sensitive, over the expanded program.
//!
//! *May*: a register or memory cell that ever holds an address inside an object (also as an integer, also as part of a wider value)
//! lists that object with offsets that include it. Closure rules, one per instruction, for reachable blocks of functions that some thread runs:
//! copies, casts, selects and phis (over edges that can be taken) include their sources; a `Gep` shifts offsets (a variable index makes
//! them strided, bounded by the index's interval where one is known), its indices are numbers unless its base is a constant; integer
//! arithmetic in a pointer's width keeps the objects of its operands (a subtraction those of the left one; the difference of two pointers is a number) and,
//! unless it adds a constant, loses the offset; in less width only shifts and bit operations do; a load includes the contents of every
//! cell that may overlap the bytes read, with offsets lost where width or start differ; a store puts the set into one cell at least as wide
//! that covers the written offsets; a memory copy carries the cells over, shifted; a call passes arguments to the parameters of every
//! target, and returns flow back; a thread creation passes its argument; library calls as `libmodel`'s memory effects say. What is
//! said of a register that is only compared, measured or used as an index does not matter.
//! Functions without body or model have one part of [`ObjectKind::Unknown`] together, the last. It holds what was handed out: variables
//! that are declared only; what such a call can reach, if a part of that is neither local nor constant nor the library's; then, and if such
//! a call returns a pointer, every variable that other files can name; and what these hold. What is handed out, can be written and is large enough
//! holds all of it, at any offset; what a call can reach holds that and all that the call can reach; a call returns any of this. A known
//! function that is not supported returns an address in a part of its own. Each part holds addresses of itself. [`ObjectKind::Library`] and [`ObjectKind::Unknown`] are made of parts of 2^32 offsets each, and a part starts
//! in the middle of these: for `Library` in the order errno, results of threads, thread-specific data, `argv` and `environ`, public
//! variables, handles, then `libmodel`'s `Library` in its order; for `Unknown` first what comes from nowhere, then function by function, then that of
//! functions without body or model.
//! A pointer into a part does not leave it.
//! In an open program a number as wide as an address that a client passes, or can put into a variable that it can name, leads to what
//! comes from nowhere; where their pointers lead is told by `absint`, and no proof speaks of it.

use raddle_base::{IdVec, SiteId};
use raddle_ir::{DebugTypeId, FunctionId, GlobalId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

raddle_base::define_id! {
    /// An abstract object: all concrete objects that one place makes.
    pub struct ObjectId, "o"
}

raddle_base::define_id! {
    /// An interned set of targets; set 0 is empty.
    pub struct SetId, "s"
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointsTo {
    pub objects: IdVec<ObjectId, Object>,
    /// Sorted by object, at most a few offset patterns per object.
    pub sets: IdVec<SetId, Vec<(ObjectId, Offsets)>>,
    /// Per function, per register.
    pub regs: IdVec<FunctionId, Vec<SetId>>,
    /// Per function, per returned value.
    pub returns: IdVec<FunctionId, Vec<SetId>>,
    pub contents: IdVec<ObjectId, Vec<Cell>>,
    /// Functions that an indirect call, a thread creation, `pthread_once`, a callback of a library function may run.
    pub targets: BTreeMap<SiteId, Vec<FunctionId>>,
    /// Calls whose target is not (wholly) known, with the reason in words: nothing may be called safe while one is reachable.
    pub unresolved: Vec<(SiteId, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    pub kind: ObjectKind,
    /// Size of each concrete object, where it is one constant.
    pub bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ObjectKind {
    Global(GlobalId),
    /// Each thread has its own.
    ThreadLocal(GlobalId),
    /// A local in memory, by its `Alloca` (expanded site).
    Stack(SiteId),
    /// A struct passed by value: function and parameter.
    Parameter(FunctionId, u32),
    /// Made by a library call at this (expanded) site.
    Heap(SiteId),
    Function(FunctionId),
    /// Memory that the library owns and hands out (`getenv`, `localtime`, `argv`); one object for all.
    Library,
    /// What callers of an entry function pass in, by pointee type (assumption A-ENTRY).
    Outside(DebugTypeId),
    /// Anything else.
    Unknown,
}

/// Byte offsets into an object: all `o` with `o = anchor (mod stride)` and `low <= o <= high`; stride 0 is the anchor alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Offsets {
    pub anchor: i64,
    pub stride: u64,
    pub low: i64,
    pub high: i64,
}

/// Bytes of an object that may hold addresses: at any of these offsets, `bytes` wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    pub at: Offsets,
    pub bytes: u32,
    pub holds: SetId,
}

impl PointsTo {
    pub fn targets_of(&self, set: SetId) -> &[(ObjectId, Offsets)] {
        &self.sets[set]
    }
}

impl Offsets {
    pub const ANY: Offsets = Offsets { anchor: 0, stride: 1, low: i64::MIN, high: i64::MAX };

    pub fn exact(offset: i64) -> Offsets {
        Offsets { anchor: offset, stride: 0, low: offset, high: offset }
    }

    pub fn is_exact(self) -> bool {
        self.stride == 0 || self.low == self.high
    }

    /// Whether `bytes` from some offset of `self` and `other_bytes` from some offset of `other` may share a byte.
    pub fn may_overlap(self, bytes: u64, other: Offsets, other_bytes: u64) -> bool {
        if bytes == 0 || other_bytes == 0 {
            return false;
        }
        if self.stride == 0 && other.stride == 0 {
            let (a, b) = (i128::from(self.anchor), i128::from(other.anchor));
            return a < b + i128::from(other_bytes) && b < a + i128::from(bytes);
        }
        let (bytes, other_bytes) = (i128::from(bytes), i128::from(other_bytes));
        let (low, high) = (i128::from(self.low), i128::from(self.high));
        let (other_low, other_high) = (i128::from(other.low), i128::from(other.high));
        if low >= other_high + other_bytes || other_low >= high + bytes {
            return false;
        }
        // self.start - other.start must be in (-bytes, other_bytes); modulo the common stride both starts are their anchors.
        let common = gcd(self.stride, other.stride);
        let distance = i128::from(self.anchor) - i128::from(other.anchor);
        if common == 0 {
            return -bytes < distance && distance < other_bytes;
        }
        let common = i128::from(common);
        let rest = distance.rem_euclid(common);
        rest < other_bytes || common - rest < bytes
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::Offsets;

    #[test]
    fn overlap_is_exact_on_small_patterns() {
        let patterns: Vec<Offsets> = [
            (0, 0, 0, 0),
            (3, 0, 3, 3),
            (0, 4, 0, 12),
            (2, 4, 2, 14),
            (1, 6, -5, 13),
            (0, 1, 0, 9),
            (5, 8, 5, 29),
        ]
        .into_iter()
        .map(|(anchor, stride, low, high)| Offsets { anchor, stride, low, high })
        .collect();
        let members = |o: Offsets| -> Vec<i64> {
            (o.low..=o.high)
                .filter(|x| {
                    if o.stride == 0 {
                        *x == o.anchor
                    } else {
                        (x - o.anchor).rem_euclid(o.stride as i64) == 0
                    }
                })
                .collect()
        };
        for a in &patterns {
            for b in &patterns {
                for bytes in [1, 2, 4] {
                    for other in [1, 3, 8] {
                        let truth = members(*a).iter().any(|x| {
                            members(*b).iter().any(|y| *x < y + other as i64 && *y < x + bytes as i64)
                        });
                        let said = a.may_overlap(bytes, *b, other);
                        assert!(said || !truth, "{a:?} {bytes} against {b:?} {other}");
                        if a.low == a.high && b.low == b.high {
                            assert_eq!(said, truth, "{a:?} {bytes} against {b:?} {other}");
                        }
                    }
                }
            }
        }
    }
}
