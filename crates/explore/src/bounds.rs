//! Bounds on single runs. A search that left something out because of one is not complete and says which one it was.
//!
//! *Preemptions*: how often a thread is stopped although it could go on (Musuvathi and Qadeer, *Iterative Context Bounding*, PLDI 2007). A
//! thread that blocks, ends or sleeps is not preempted. *Rounds*: how often a thread comes to the same visible operation. A loop
//! without one is no matter of the search; the machine limits it.

use raddle_base::SiteId;
use raddle_event::{Choice, ThreadId};

/// Whether letting `next` move, after `last`, is a preemption.
pub(crate) fn preempts(last: Option<ThreadId>, enabled: &[Choice], next: ThreadId) -> bool {
    last.is_some_and(|last| last != next && enabled.iter().any(|choice| choice.thread == last))
}

/// How often the thread that moved last has been where it was last.
pub(crate) fn rounds(mut places: impl DoubleEndedIterator<Item = (ThreadId, SiteId)>) -> u32 {
    let Some(last) = places.next_back() else { return 0 };
    1 + places.filter(|place| *place == last).count() as u32
}
