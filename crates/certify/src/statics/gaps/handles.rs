//! Where A-HANDLE is needed.

use super::super::accesses::Access;
use super::super::code::Code;
use raddle_base::SiteId;
use raddle_facts::{ObjectId, Offsets, Start, ThreadId};
use raddle_libmodel::{Effect, ThreadOp};

/// Whether a thread that another one created may touch a place where a creation stores a handle.
pub(super) fn are_read_early(code: &Code<'_>, accesses: &[Access<'_>]) -> bool {
    let threads = &code.facts.threads;
    let is_created =
        |thread: &ThreadId| !matches!(threads.threads[*thread].start, Start::Main | Start::Client);
    let mut places: Vec<(SiteId, ObjectId, Offsets)> = Vec::new();
    for (function, calls) in code.calls.from.iter() {
        for call in calls {
            let (_, args) = call.parts(code, function);
            for (_, effect) in &call.effects {
                if let Effect::Thread(ThreadOp::Create { id, .. }, _) = effect
                    && let Some(arg) = args.get(usize::from(id.0))
                {
                    let stored = code.pointees(function, arg.value).into_iter();
                    places.extend(stored.map(|(object, at)| (call.site, object, at)));
                }
            }
        }
    }
    places.retain(|(_, object, _)| threads.shared[*object]);
    let word = u64::from(code.pointer_bytes());
    accesses.iter().any(|access| {
        let touches = |(site, object, at): &(SiteId, ObjectId, Offsets)| {
            access.site != *site && access.may_touch(*object, *at, word)
        };
        places.iter().any(touches) && threads.runs[access.at.function].iter().any(is_created)
    })
}
