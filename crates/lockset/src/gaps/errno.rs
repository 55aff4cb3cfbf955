//! The address of `errno`: accesses to it are looked at in no thread, so it has to stay in its own.

use raddle_absint::calls::Call;
use raddle_absint::points_to::LibraryPart;
use raddle_base::Id;
use raddle_facts::{ObjectKind, PointsTo, SetId, Start, ThreadFacts};
use raddle_ir::Program;
use raddle_libmodel::memory::{Base, Value};

/// Whether the address of `errno` may be in memory, or be given to a thread or a handler: accesses to `errno` are followed in its own
/// thread only.
pub(super) fn errno_is_kept(program: &Program, points_to: &PointsTo, threads: &ThreadFacts) -> bool {
    let errno = LibraryPart::Errno.offsets();
    let has_errno = |set: SetId| {
        points_to.targets_of(set).iter().any(|(object, at)| {
            points_to.objects[*object].kind == ObjectKind::Library && at.may_overlap(1, errno, 1)
        })
    };
    let started = threads.threads.values().filter(|thread| thread.start != Start::Main);
    let mut given = started.flat_map(|thread| {
        let params = &program.functions[thread.entry].params;
        params.iter().map(|param| points_to.regs[thread.entry][param.reg.index()])
    });
    points_to.contents.values().flatten().any(|cell| has_errno(cell.holds)) || given.any(has_errno)
}

pub(super) fn gives_errno(call: &Call) -> bool {
    let errno = Value::Into(Base::Errno.into());
    call.effects.iter().any(|effect| effect.memory().returns.contains(&errno))
}
