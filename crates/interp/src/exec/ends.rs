//! How threads and the process end: handlers and destructors first, then one visible operation.

use super::{Cx, Halt};
use crate::libc::STREAM_KEYS;
use crate::thread::{Action, Ending, Leaving, OnReturn, Stand};
use raddle_event::{AccessKind, EventKind, ThreadId};
use raddle_ir::Ty;
use raddle_libmodel::memory::Library;
use raddle_machine::{OpKind, Status};
use std::sync::Arc;

/// `PTHREAD_DESTRUCTOR_ITERATIONS` times the keys a thread may hold: the rounds of destructors of thread-specific data.
const DESTRUCTOR_CALLS: u32 = 4 * 128;

/// Bytes of a stream that a call which uses it touches.
const STREAM_BLOCK: u64 = 8;

impl Cx<'_> {
    /// `exit`, or `main` returns. The frames stay, so that the end has a place.
    pub(crate) fn leave_process(&mut self, code: i32) -> Result<(), Halt> {
        if let Leaving::Process { .. } = self.thread.leaving {
            return Err(self.end_with(Ending::Exit(code)));
        }
        let layout = &self.memory.layout;
        let destructors = self.image.program.destructors.iter().map(|&f| layout.function_address(f));
        let handlers = destructors.rev().chain(self.world.state.at_exit.iter().copied()).collect();
        self.thread.leaving = Leaving::Process { code, handlers };
        self.go_on_leaving()
    }

    /// `pthread_exit`, or the thread's function returns.
    pub(crate) fn leave_thread(&mut self, result: u64) -> Result<(), Halt> {
        self.thread.leaving = Leaving::Thread { result, rounds: DESTRUCTOR_CALLS };
        self.go_on_leaving()
    }

    /// The end of the process takes the lock of every stream (C11 7.22.4.4). Only calls that do not take it can race with that.
    fn flush_streams(&mut self) {
        if !self.image.shared.writes(Library::Stream) {
            return;
        }
        let is_stream = |key: &str| STREAM_KEYS.contains(&key) || key.starts_with("FILE ");
        let blocks: Vec<u64> = self
            .world
            .state
            .library
            .iter()
            .filter(|(key, _)| is_stream(key))
            .map(|(_, address)| *address)
            .collect();
        for address in blocks {
            if let Some(at) = self.memory.find(address, STREAM_BLOCK) {
                let loc = self.memory.loc(at, STREAM_BLOCK);
                self.event(EventKind::Access { loc, kind: AccessKind::Read });
            }
        }
    }

    pub(super) fn go_on_leaving(&mut self) -> Result<(), Halt> {
        match self.thread.leaving {
            Leaving::No => Ok(()),
            Leaving::Process { code, ref mut handlers } => match handlers.pop() {
                Some(handler) => {
                    let function = self.function_at(handler)?;
                    let Some(function) = self.image.entry(function) else {
                        return Err(self.unsupported("an exit handler without a body".to_owned()));
                    };
                    self.enter_with(function, &[], OnReturn::Leaving)
                }
                None => {
                    self.flush_streams();
                    Err(self.end_with(Ending::Exit(code)))
                }
            },
            Leaving::Thread { ref mut rounds, .. } => {
                *rounds = rounds.saturating_sub(1);
                let next = if *rounds > 0 { self.take_specific() } else { None };
                match next {
                    Some((destructor, value)) => {
                        let function = self.function_at(destructor)?;
                        let Some(function) = self.image.entry(function) else {
                            return Err(self.unsupported("a destructor without a body".to_owned()));
                        };
                        self.enter_with(function, &[(u128::from(value), Ty::Ptr)], OnReturn::Leaving)
                    }
                    None => Err(self.stand(OpKind::End, Action::End)),
                }
            }
        }
    }

    /// The thread ends. The locals of the main thread stay, as they do on Linux.
    pub(crate) fn perform_end(&mut self) {
        let result = match self.thread.leaving {
            Leaving::Thread { result, .. } => result,
            Leaving::No | Leaving::Process { .. } => 0,
        };
        self.abandon_locks();
        self.event(EventKind::End);
        if self.thread.id != ThreadId::MAIN {
            while !self.thread.frames.is_empty() {
                self.pop_frame();
            }
            self.thread.regs = Vec::new();
            for (_, address) in std::mem::take(&mut self.thread.tls) {
                if let Some((slot, _)) = self.memory.owner(address) {
                    self.forget_sync(slot);
                    self.memory.release(slot);
                }
            }
            if let Some((slot, _)) = self.memory.owner(self.thread.errno) {
                self.memory.release(slot);
            }
            self.thread.errno = 0;
        }
        self.world.state.change_life(self.thread.id, |life| {
            life.ended = true;
            life.result = result;
        });
        self.thread.stand = Stand::Ended;
        // The end of the last thread is its last event: no `Exit` follows it.
        if self.world.state.lives().iter().all(|life| life.ended) {
            self.world.state.status = Status::Exited(0);
        }
    }

    /// The run ends.
    pub(crate) fn perform_exit(&mut self, ending: &Arc<Ending>) {
        self.event(EventKind::Exit);
        self.world.state.status = match &**ending {
            Ending::Exit(code) => Status::Exited(*code),
            Ending::Problem(problem) => {
                self.world.problems.push(problem.clone());
                Status::Crashed
            }
            Ending::Infeasible => Status::Infeasible,
            Ending::Unsupported { site, reason } => {
                Status::Unsupported { site: *site, reason: reason.clone() }
            }
            Ending::Limit { reason } => Status::Limit { reason: reason.clone() },
        };
    }
}
