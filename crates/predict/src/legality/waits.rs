//! Rule 4: which waits on one condition the signals and broadcasts so far may end.
//!
//! A signal ends the wait of any thread that waits when it comes; which one is decided as late as possible, when a wait ends: it takes the earliest
//! signal that came since its beginning, because a later one serves every wait that the earlier one serves. So a wait may end
//! exactly when some assignment of signals to waits lets it.

use raddle_event::ThreadId;
use std::collections::BTreeSet;

/// Waits that were signalled in the trace, of one condition. Those that ended for another reason need no signal.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Waits {
    /// Beginnings and signals in the order in which they came, without what can no longer matter.
    tokens: Vec<Token>,
    /// Woken by a broadcast.
    woken: BTreeSet<ThreadId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Token {
    Waiter(ThreadId),
    Signal,
}

impl Waits {
    /// Whether the wait of the thread is known.
    pub(crate) fn has(&self, thread: ThreadId) -> bool {
        self.woken.contains(&thread) || self.waiter(thread).is_some()
    }

    pub(crate) fn begin(&mut self, thread: ThreadId) {
        self.tokens.push(Token::Waiter(thread));
    }

    pub(crate) fn signal(&mut self) {
        self.tokens.push(Token::Signal);
        self.forget();
    }

    pub(crate) fn broadcast(&mut self) {
        for token in std::mem::take(&mut self.tokens) {
            if let Token::Waiter(thread) = token {
                self.woken.insert(thread);
            }
        }
    }

    /// Whether the wait of the thread may end. One that is not known began before the trace, and ends at any time.
    pub(crate) fn may_end(&self, thread: ThreadId) -> bool {
        self.waiter(thread).is_none_or(|at| self.tokens[at..].contains(&Token::Signal))
    }

    pub(crate) fn end(&mut self, thread: ThreadId) {
        if self.woken.remove(&thread) {
            return;
        }
        if let Some(waiter) = self.waiter(thread) {
            let signal = self.tokens[waiter..].iter().position(|token| *token == Token::Signal);
            // A trace that lacks the signal is taken at its word.
            if let Some(signal) = signal {
                self.tokens.remove(waiter + signal);
            }
            self.tokens.remove(waiter);
            self.forget();
        }
    }

    fn waiter(&self, thread: ThreadId) -> Option<usize> {
        self.tokens.iter().position(|token| *token == Token::Waiter(thread))
    }

    /// Of each beginning of the list, there is no use for more signals than waits.
    fn forget(&mut self) {
        let mut spare = 0u32;
        self.tokens.retain(|token| match token {
            Token::Waiter(_) => {
                spare += 1;
                true
            }
            Token::Signal if spare == 0 => false,
            Token::Signal => {
                spare -= 1;
                true
            }
        });
    }
}
