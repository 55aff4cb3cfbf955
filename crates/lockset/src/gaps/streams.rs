//! Streams at the end of the process.

use raddle_absint::accesses::Access;
use raddle_absint::points_to::LibraryPart;
use raddle_facts::{
    GateKind, ObjectId, ObjectKind, Offsets, OrderFacts, PointsTo, Start, ThreadFacts, ThreadId, Values,
};
use raddle_ir::{FunctionId, Program, Terminator};
use raddle_libmodel::memory::Library;

pub(super) fn may_return(program: &Program, values: &Values, function: FunctionId) -> bool {
    let mut blocks = program.functions[function].blocks.iter();
    blocks.any(|(id, block)| {
        values.is_reachable(function, id) && matches!(block.terminator, Terminator::Ret { .. })
    })
}

/// Whether a call uses a stream without its lock, in a thread that `main` has not waited for when it returns: then all streams are
/// flushed (C11 5.1.2.2.3, 7.22.4.4).
pub(super) fn may_outlast(
    points_to: &PointsTo,
    threads: &ThreadFacts,
    order: &OrderFacts,
    main: FunctionId,
    access: &Access,
) -> bool {
    let streams = LibraryPart::Static(Library::Stream).offsets();
    let is_stream = |(object, at): &(ObjectId, Offsets)| {
        points_to.objects[*object].kind == ObjectKind::Library && at.may_overlap(1, streams, 1)
    };
    let has_ended = |thread: ThreadId| {
        let passed = &order.functions[main].at_exit.passed;
        passed.iter().any(|gate| order.gates[*gate].kind == GateKind::Exited(thread))
    };
    access.is_write()
        && access.targets(points_to).iter().any(is_stream)
        && threads.runs[access.function]
            .iter()
            .any(|thread| threads.threads[*thread].start != Start::Main && !has_ended(*thread))
}
