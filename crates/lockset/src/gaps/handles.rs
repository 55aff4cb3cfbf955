//! Where A-HANDLE is needed.

use raddle_absint::accesses::{Access, Objects};
use raddle_absint::calls::Calls;
use raddle_facts::{PointsTo, Start, ThreadFacts, ThreadId};
use raddle_ir::Program;
use raddle_libmodel::{Effect, ThreadOp};

/// Whether a thread that was created may touch the place where a creation stores the handle.
pub(super) fn handle_is_read_early(
    program: &Program,
    points_to: &PointsTo,
    calls: &Calls,
    accesses: &[Access],
    threads: &ThreadFacts,
) -> bool {
    let objects = Objects::new(points_to);
    let word = u64::from(program.data_model.pointer_bytes());
    let is_created =
        |thread: &ThreadId| !matches!(threads.threads[*thread].start, Start::Main | Start::Client);
    let by_created: Vec<&Access> =
        accesses.iter().filter(|access| threads.runs[access.function].iter().any(is_created)).collect();
    calls.from.iter().flat_map(|(function, list)| list.iter().map(move |call| (function, call))).any(
        |(function, call)| {
            let (_, args) = call.parts(program, function);
            call.effects.iter().any(|effect| {
                let Effect::Thread(ThreadOp::Create { id, .. }, _) = effect else { return false };
                let Some(arg) = args.get(usize::from(id.0)) else { return false };
                objects.targets(points_to, function, arg.value).of(points_to).iter().any(|(object, at)| {
                    threads.shared[*object]
                        && by_created.iter().any(|access| {
                            access.site != call.site && access.may_touch(points_to, *object, *at, word)
                        })
                })
            })
        },
    )
}
