//! What clients of an open program know of its memory, and may have changed before they call an entry (assumption A-ENTRY).
//!
//! *May*: variables that other files can name, what entries return the address of, what is in memory of clients, and all that these lead to.

use raddle_facts::{ObjectId, ObjectKind, PointsTo, Start, ThreadFacts};
use raddle_ir::Program;
use std::collections::BTreeSet;

/// Nothing, if the program has no clients.
pub(crate) fn known_to_clients(
    program: &Program,
    threads: &ThreadFacts,
    points_to: &PointsTo,
) -> BTreeSet<ObjectId> {
    let clients = threads.threads.values().filter(|thread| thread.start == Start::Client);
    let entries: BTreeSet<_> = clients.map(|thread| thread.entry).collect();
    if entries.is_empty() {
        return BTreeSet::new();
    }
    let is_theirs = |kind: ObjectKind| match kind {
        ObjectKind::Global(global) | ObjectKind::ThreadLocal(global) => program.globals[global].exported,
        ObjectKind::Outside(_) | ObjectKind::Unknown => true,
        _ => false,
    };
    let theirs = points_to.objects.iter().filter(|(_, object)| is_theirs(object.kind));
    let mut work: Vec<ObjectId> = theirs.map(|(id, _)| id).collect();
    for set in entries.iter().flat_map(|entry| &points_to.returns[*entry]) {
        work.extend(points_to.targets_of(*set).iter().map(|(object, _)| *object));
    }
    let mut known = BTreeSet::new();
    while let Some(object) = work.pop() {
        if known.insert(object) {
            let cells = points_to.contents[object].iter();
            work.extend(cells.flat_map(|cell| points_to.targets_of(cell.holds)).map(|(object, _)| *object));
        }
    }
    known
}
