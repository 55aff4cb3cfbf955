//! The address of `errno`, accesses to which do not count.

use super::super::Refusal;
use super::super::code::Code;
use super::super::library::Part;
use super::RULE;
use raddle_base::SiteId;
use raddle_facts::{ObjectId, ObjectKind, Offsets, Start};

/// The address of `errno` stays in registers of its thread: it is in no memory, and no argument of a thread or handler.
pub(super) fn check(code: &Code<'_>) -> Result<(), Refusal> {
    let part = Part::Errno.offsets();
    let is_errno = |(object, at): &(ObjectId, Offsets)| {
        code.kind(*object) == ObjectKind::Library && at.may_overlap(1, part, 1)
    };
    let in_memory = code.facts.points_to.contents.values().flatten();
    let mut kept = in_memory.flat_map(|cell| code.targets(cell.holds)).any(is_errno);
    for thread in code.facts.threads.threads.values().filter(|thread| thread.start != Start::Main) {
        let params = &code.program.functions[thread.entry].params;
        kept |= params.iter().flat_map(|param| code.set(thread.entry, param.reg)).any(is_errno);
    }
    if kept { code.refuse(SiteId::NONE, RULE, "the address of `errno` is kept") } else { Ok(()) }
}
