//! *May*: which memory a function writes, with all that it calls, in its own thread.

use super::accesses::Access;
use super::calls::Way;
use super::code::Code;
use raddle_base::IdVec;
use raddle_facts::{ObjectId, Offsets};
use raddle_ir::FunctionId;
use std::collections::BTreeMap;

/// Places listed per object and function; beyond, all of the object.
const MOST_PLACES: usize = 16;

/// Written bytes of an object: from some offsets on, so many.
type Places = Vec<(Offsets, u64)>;

pub(crate) struct Writes {
    functions: IdVec<FunctionId, BTreeMap<ObjectId, Places>>,
    /// Per object, the accesses that write it.
    by_object: BTreeMap<ObjectId, Vec<usize>>,
}

impl Writes {
    pub fn of(code: &Code<'_>, accesses: &[Access<'_>]) -> Writes {
        let mut functions: IdVec<FunctionId, BTreeMap<ObjectId, Places>> =
            code.program.functions.ids().map(|_| BTreeMap::new()).collect();
        let mut by_object: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
        for (index, access) in accesses.iter().enumerate().filter(|(_, access)| access.is_write()) {
            for (object, at) in access.targets.iter() {
                add(&mut functions[access.at.function], *object, *at, access.bytes);
                let list = by_object.entry(*object).or_default();
                if list.last() != Some(&index) {
                    list.push(index);
                }
            }
        }
        // Grows to at most `MOST_PLACES` per function and object, so it ends.
        let mut changed = true;
        while changed {
            changed = false;
            for (caller, calls) in code.calls.from.iter() {
                let runs = calls.iter().flat_map(|call| &call.runs);
                for run in runs.filter(|run| run.way.is_nested() || run.way == Way::Once) {
                    if run.function == caller {
                        continue;
                    }
                    let theirs = std::mem::take(&mut functions[run.function]);
                    for (object, places) in &theirs {
                        for (at, bytes) in places {
                            changed |= add(&mut functions[caller], *object, *at, *bytes);
                        }
                    }
                    functions[run.function] = theirs;
                }
            }
        }
        Writes { functions, by_object }
    }

    /// Whether the function, or what it calls, may write one of these bytes.
    pub fn may_write(&self, function: FunctionId, places: &[(ObjectId, Offsets)], bytes: u64) -> bool {
        places.iter().any(|(object, at)| {
            let written = self.functions[function].get(object);
            written.is_some_and(|list| {
                list.iter().any(|(offsets, extent)| offsets.may_overlap(*extent, *at, bytes))
            })
        })
    }

    /// The accesses of the program that may write one of these bytes.
    pub fn writers<'w, 'a>(
        &'w self,
        accesses: &'w [Access<'a>],
        places: &'w [(ObjectId, Offsets)],
        bytes: u64,
    ) -> impl Iterator<Item = &'w Access<'a>> {
        places.iter().flat_map(move |(object, at)| {
            let list = self.by_object.get(object).map_or(&[][..], Vec::as_slice);
            list.iter().map(|index| &accesses[*index]).filter(move |a| a.may_touch(*object, *at, bytes))
        })
    }
}

/// True if something was added.
fn add(writes: &mut BTreeMap<ObjectId, Places>, object: ObjectId, at: Offsets, bytes: u64) -> bool {
    let places = writes.entry(object).or_default();
    let known =
        |(other, extent): &(Offsets, u64)| (*other == at || *other == Offsets::ANY) && *extent >= bytes;
    if places.iter().any(known) {
        return false;
    }
    if places.len() >= MOST_PLACES {
        *places = vec![(Offsets::ANY, u64::MAX)];
    } else {
        places.push((at, bytes));
    }
    true
}
