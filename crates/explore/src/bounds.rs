//! Bounds on single runs. A search that left something out because of one is not complete and says which one it was.
//!
//! *Preemptions*: how often a thread is stopped although it could go on (Musuvathi and Qadeer, *Iterative Context Bounding*, PLDI 2007). A
//! thread that blocks, ends or sleeps is not preempted. *Rounds*: how often a thread comes to the same visible operation. A loop
//! without one is cut by the machine, which lets other threads move there ([`OpKind::Yield`]); so that a loop without an end does not
//! keep them from it, the searches pick the thread in the loop less and less often ([`fairest`]).

use raddle_base::SiteId;
use raddle_event::{Choice, ThreadId};
use raddle_machine::{Machine, OpKind};

/// Whether letting `next` move, after `last`, is a preemption.
pub(crate) fn preempts(last: Option<ThreadId>, enabled: &[Choice], next: ThreadId) -> bool {
    last.is_some_and(|last| last != next && enabled.iter().any(|choice| choice.thread == last))
}

/// How often the thread that moved last has been where it was last.
pub(crate) fn rounds(mut places: impl DoubleEndedIterator<Item = (ThreadId, SiteId)>) -> u32 {
    let Some(last) = places.next_back() else { return 0 };
    1 + places.filter(|place| *place == last).count() as u32
}

/// Steps of others after which a thread in a long stretch of plain instructions moves again, at most.
const LONGEST_TURN: u32 = 1024;

/// The choice to try first: the first one, but a thread that stands in a long stretch of plain instructions lets the others move once
/// after its first piece, twice after its second, four times after its third. If all stand in one, the one that has waited longest.
///
/// Which choice comes first does not matter to what a search covers, only to what it has seen when it is stopped.
pub(crate) fn fairest<M: Machine>(
    machine: &M,
    choices: impl Iterator<Item = Choice> + Clone,
    steps: impl DoubleEndedIterator<Item = (ThreadId, OpKind)> + Clone,
) -> Option<Choice> {
    let in_loop = |choice: &Choice| {
        machine.pending(choice.thread).is_some_and(|operation| operation.kind == OpKind::Yield)
    };
    let due = |choice: &Choice| !in_loop(choice) || is_due(choice.thread, steps.clone());
    let idle = |choice: &Choice| {
        let last = steps.clone().rev().position(|(thread, _)| thread == choice.thread);
        (last.unwrap_or(usize::MAX), std::cmp::Reverse(choice.thread))
    };
    choices.clone().find(due).or_else(|| choices.max_by_key(idle))
}

/// Whether the others have moved often enough since the thread did.
fn is_due(thread: ThreadId, steps: impl DoubleEndedIterator<Item = (ThreadId, OpKind)>) -> bool {
    let (mut others, mut pieces, mut moved) = (0, 0, false);
    for (who, kind) in steps.rev() {
        if who == thread {
            moved = true;
            if kind != OpKind::Yield || 1 << pieces >= LONGEST_TURN {
                break;
            }
            pieces += 1;
        } else if !moved {
            others += 1;
            if others >= LONGEST_TURN {
                return true;
            }
        }
    }
    others >= 1 << pieces
}
