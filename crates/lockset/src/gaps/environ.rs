//! The array of the environment, which the models of functions on it keep apart from what `environ` and `main` are given.

use raddle_absint::accesses::Access;
use raddle_absint::points_to::LibraryPart;
use raddle_base::SiteId;
use raddle_facts::{ObjectId, ObjectKind, Offsets, PointsTo};
use raddle_ir::Program;
use raddle_libmodel::memory::Library;
use raddle_libmodel::uses_environ;

/// A call on the environment of a program that also gets at the array by itself, if one of the two writes.
pub(super) fn mixed_use(program: &Program, points_to: &PointsTo, accesses: &[Access]) -> Option<SiteId> {
    if !uses_environ(program) {
        return None;
    }
    let touch = |part: LibraryPart| {
        let part = part.offsets();
        let is_inside = move |(object, at): &(ObjectId, Offsets)| {
            points_to.objects[*object].kind == ObjectKind::Library && at.may_overlap(1, part, 1)
        };
        accesses.iter().filter(move |access| access.targets(points_to).iter().any(is_inside))
    };
    let array: Vec<&Access> = touch(LibraryPart::Arguments).collect();
    let is_written = array.iter().any(|access| access.is_write());
    let mixes = |call: &&Access| is_written || call.is_write() && !array.is_empty();
    touch(LibraryPart::Static(Library::Environment)).find(mixes).map(|call| call.site)
}
