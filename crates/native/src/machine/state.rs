//! What is known of one state of an execution: where threads stand, what is open to them, who sleeps.
//!
//! The program says what is possible; that a thread which goes round in circles need not do so again is found out here, by the rule
//! that the interpreter uses ([`raddle_machine::Stutter`]). Local state is a hash of stack and registers, rests of dead variables included,
//! so a round may go unnoticed; then the run ends at a limit. Versions of shared memory are known only where they matter, because a hash
//! takes time: from where a thread first stood as it stands again, and while one sleeps ([`State::wants_versions_from`]).

use super::table::Table;
use super::words::{self, addr};
use raddle_base::SiteId;
use raddle_event::{Addr, Choice, EventKind, Problem, ProblemKind, ThreadId};
use raddle_machine::{OpKind, Operation, Place, Rest, Status, Stutter};
use raddle_runtime::explore::channel::{self, Event, MOST_THREADS};
use raddle_runtime::explore::{Heard, kind};
use std::rc::Rc;

#[derive(Clone)]
pub(super) struct State {
    pub(super) strands: Vec<Rc<Strand>>,
    pub(super) status: Status,
    /// Open choices.
    pub(super) enabled: Rc<Vec<Choice>>,
    pub(super) digest: u64,
    pub(super) slept: bool,
    pub(super) problems: Rc<Vec<Problem>>,
    /// Blocks of the heap that were freed: first byte and the one behind the last.
    freed: Rc<Vec<(u64, u64)>>,
    /// Of shared memory; 0 where nobody asked.
    version: u64,
    /// Over the local states of all threads.
    locals: u64,
}

/// A thread.
#[derive(Clone)]
pub(super) struct Strand {
    pub(super) operation: Option<Operation>,
    pub(super) local: u64,
    /// Locks held, outermost first.
    pub(super) held: Vec<Addr>,
    /// Where it was created.
    pub(super) created: Option<(ThreadId, SiteId, Vec<SiteId>)>,
    /// A site of its start function, once that runs.
    pub(super) function: Option<u32>,
    /// It is in a wait that has woken up for no reason.
    roused: bool,
    stutter: Stutter,
}

/// The program said something that it cannot say.
pub(super) struct Nonsense;

impl State {
    /// Before `main`.
    pub(super) fn first(heard: &Heard<'_>, table: &Table) -> Result<State, Nonsense> {
        let mut state = State {
            strands: Vec::new(),
            status: Status::Running,
            enabled: Rc::default(),
            digest: heard.answer.digest,
            slept: false,
            problems: Rc::default(),
            freed: Rc::default(),
            version: 0,
            locals: 0,
        };
        state.arrive(ThreadId::MAIN, heard, table)?;
        Ok(state)
    }

    /// After the thread has taken a choice.
    pub(super) fn after(&self, choice: Choice, heard: &Heard<'_>, table: &Table) -> Result<State, Nonsense> {
        let mut next = self.clone();
        let others = self.others(choice.thread);
        let strand = next.strand_mut(choice.thread).ok_or(Nonsense)?;
        strand.stutter.takes(choice.variant, 0, self.shared(), others);
        let kind = strand.operation.map(|operation| operation.kind);
        strand.roused = matches!(kind, Some(OpKind::WaitBegin { .. })) && choice.variant == 1;
        if let Some(lock) = kind.and_then(OpKind::lock) {
            next.disturb_roused(choice.thread, lock);
        }
        next.arrive(choice.thread, heard, table)?;
        Ok(next)
    }

    /// Threads that have woken up for no reason, and wait for this lock, may find something new.
    fn disturb_roused(&mut self, moved: ThreadId, lock: Addr) {
        let waits = |strand: &Strand| {
            let kind = strand.operation.map(|operation| operation.kind);
            strand.roused && matches!(kind, Some(OpKind::Lock { lock: wanted, .. }) if wanted == lock)
        };
        for (at, strand) in self.strands.iter_mut().enumerate() {
            if at != moved.0 as usize && waits(strand) {
                Rc::make_mut(strand).stutter.note_use_of_lock();
            }
        }
    }

    /// The execution cannot go on.
    pub(super) fn ended(&self, status: Status) -> State {
        State { status, enabled: Rc::default(), ..self.clone() }
    }

    fn arrive(&mut self, moved: ThreadId, heard: &Heard<'_>, table: &Table) -> Result<(), Nonsense> {
        let answer = heard.answer;
        self.digest = answer.digest;
        let old = self.strands.len();
        for _ in old..(answer.threads as usize).min(MOST_THREADS) {
            let strand = Strand {
                operation: None,
                local: 0,
                held: Vec::new(),
                created: None,
                function: None,
                roused: false,
                stutter: Stutter::default(),
            };
            self.strands.push(Rc::new(strand));
        }
        self.follow(heard, table)?;
        for pending in heard.pending {
            let operation = words::operation(pending, table).map_err(|()| Nonsense)?;
            let strand = self.strand_mut(ThreadId(pending.thread)).ok_or(Nonsense)?;
            strand.operation = operation;
            strand.function = pending.function.checked_sub(1).or(strand.function);
        }
        self.version = answer.version;
        self.status = status(heard, table);
        if self.status != Status::Running {
            self.enabled = Rc::default();
            return self.meet_problems(heard, table);
        }
        for pending in heard.pending {
            self.note_stop(ThreadId(pending.thread), pending.local);
        }
        self.meet_problems(heard, table)?;
        self.open(moved, heard);
        Ok(())
    }

    /// What events say about threads and their locks.
    fn follow(&mut self, heard: &Heard<'_>, table: &Table) -> Result<(), Nonsense> {
        for event in heard.events {
            let by = ThreadId(event.thread);
            let mut told = Ok(());
            words::each_event(event, |kind| match kind {
                EventKind::Acquire { lock, .. } => match self.strand_mut(by) {
                    Some(strand) => strand.held.push(lock),
                    None => told = Err(Nonsense),
                },
                EventKind::Release { lock, .. } => {
                    if let Some(strand) = self.strand_mut(by)
                        && let Some(at) = strand.held.iter().rposition(|held| *held == lock)
                    {
                        strand.held.remove(at);
                    }
                }
                EventKind::Create { child } => {
                    let site = table.original(event.site);
                    let stack = table.calls(event.site, heard.stack(event.stack, event.depth));
                    match self.strand_mut(child) {
                        Some(strand) => strand.created = Some((by, site, stack)),
                        None => told = Err(Nonsense),
                    }
                }
                _ => {}
            });
            told?;
            self.look_at_blocks(event, heard, table);
        }
        Ok(())
    }

    /// The heap hands out nothing twice, so that an access to a freed block shows.
    fn look_at_blocks(&mut self, event: &Event, heard: &Heard<'_>, table: &Table) {
        let (start, end) = (event.address, event.address.saturating_add(event.length));
        let accesses = matches!(event.kind, kind::READ | kind::WRITE | kind::ATOMIC);
        if accesses && self.freed.iter().any(|(from, to)| start < *to && *from < end) {
            Rc::make_mut(&mut self.problems).push(Problem {
                kind: ProblemKind::UseAfterFree,
                thread: ThreadId(event.thread),
                site: table.original(event.site),
                object: Some(addr(event.address)),
                stack: table.calls(event.site, heard.stack(event.stack, event.depth)),
                detail: String::new(),
            });
        }
        if event.kind == kind::FREE {
            Rc::make_mut(&mut self.freed).push((start, end));
        }
    }

    fn note_stop(&mut self, thread: ThreadId, local: u64) {
        let version = self.shared();
        let at = thread.0 as usize;
        let before = self.strands[at].local;
        let ended = self.strands[at].operation.is_none();
        let local = if ended { ENDED } else { of_running(local) };
        let others = self.locals.wrapping_sub(token(thread, before));
        self.locals = others.wrapping_add(token(thread, local));
        let strand = Rc::make_mut(&mut self.strands[at]);
        strand.local = local;
        if ended {
            strand.stutter.forget();
            strand.stutter.local = local;
            return;
        }
        let rest = match strand.operation.map(|operation| operation.kind) {
            Some(OpKind::WaitBegin { .. }) => Rest::Detours,
            _ if strand.roused => Rest::Roused,
            _ => Rest::WithFewestLocks,
        };
        let place = Place { held: strand.held.len() as u32, rest };
        strand.stutter.stops_at(local, version, others, place);
        self.slept |= strand.stutter.sleep.is_some();
    }

    fn meet_problems(&mut self, heard: &Heard<'_>, table: &Table) -> Result<(), Nonsense> {
        for problem in heard.problems {
            let kind = ProblemKind::named(problem.name()).ok_or(Nonsense)?;
            let problem = Problem {
                kind,
                thread: ThreadId(problem.thread),
                site: table.original(problem.site),
                object: (problem.address != 0).then(|| addr(problem.address)),
                stack: table.calls(problem.site, heard.stack(problem.stack, problem.depth)),
                detail: String::new(),
            };
            Rc::make_mut(&mut self.problems).push(problem);
        }
        Ok(())
    }

    /// What is open, and what it means when nothing is.
    fn open(&mut self, moved: ThreadId, heard: &Heard<'_>) {
        let possible = heard
            .enabled
            .iter()
            .map(|choice| Choice { thread: ThreadId(choice.thread), variant: choice.variant });
        let possible: Vec<Choice> = possible.collect();
        let asleep = |choice: &Choice| {
            self.strands.get(choice.thread.0 as usize).is_none_or(|strand| {
                strand.stutter.rules_out(choice.variant, self.shared(), self.others(choice.thread))
            })
        };
        let open: Vec<Choice> = possible.iter().copied().filter(|choice| !asleep(choice)).collect();
        if open.iter().any(|choice| choice.thread != moved)
            && let Some(strand) = self.strand_mut(moved)
        {
            strand.stutter.note_chance();
        }
        if open.is_empty() {
            self.stuck(&possible);
        }
        self.enabled = Rc::new(open);
    }

    /// Nobody can move: the same three kinds of end as the interpreter's.
    fn stuck(&mut self, possible: &[Choice]) {
        let (mut spinning, mut chance) = (false, false);
        let mut problems = Vec::new();
        for (index, strand) in self.strands.iter().enumerate() {
            let Some(operation) = strand.operation else { continue };
            let thread = ThreadId(index as u32);
            let asleep = possible.iter().any(|choice| choice.thread == thread);
            spinning |= asleep;
            chance |= asleep && strand.stutter.sleep.is_some_and(|sleep| sleep.chance);
            problems.push(Problem {
                kind: ProblemKind::Deadlock,
                thread,
                site: operation.site,
                object: operation.kind.waited_for(),
                stack: Vec::new(),
                detail: String::new(),
            });
        }
        if chance {
            self.status = Status::Infeasible;
            return;
        }
        if problems.is_empty() {
            self.status = Status::Exited(0);
            return;
        }
        if spinning {
            problems.iter_mut().for_each(|problem| problem.kind = ProblemKind::Livelock);
        }
        Rc::make_mut(&mut self.problems).extend(problems);
        self.status = if spinning { Status::Livelock } else { Status::Deadlock };
    }

    pub(super) fn is_versioned(&self) -> bool {
        self.version != 0
    }

    /// The state of shared memory. Without a hash of it no two are the same.
    fn shared(&self) -> u64 {
        if self.version != 0 { self.version } else { self.digest }
    }

    /// The number of the state from which on versions must be known to say what is open after this answer; none if they change nothing.
    pub(super) fn wants_versions_from(before: &[State], heard: &Heard<'_>) -> Option<usize> {
        let last = before.last()?;
        let stood = heard.pending.iter().filter(|pending| pending.kind != 0).filter_map(|pending| {
            let (at, local) = (pending.thread as usize, of_running(pending.local));
            let known = last.strands.get(at)?.stutter.has_stopped_at(local);
            let stands = |state: &State| state.strands.get(at).is_some_and(|strand| strand.local == local);
            known.then(|| before.iter().position(stands)).flatten()
        });
        let sleeps = last.strands.iter().any(|strand| strand.stutter.sleep.is_some());
        // In the first state nothing has begun.
        stood.min().map(|state| state.max(1)).or_else(|| sleeps.then_some(before.len()))
    }

    fn others(&self, thread: ThreadId) -> u64 {
        let own = self.strands.get(thread.0 as usize).map_or(0, |strand| strand.local);
        self.locals.wrapping_sub(token(thread, own))
    }

    fn strand_mut(&mut self, thread: ThreadId) -> Option<&mut Strand> {
        self.strands.get_mut(thread.0 as usize).map(Rc::make_mut)
    }
}

fn status(heard: &Heard<'_>, table: &Table) -> Status {
    let answer = heard.answer;
    match answer.status {
        channel::RUNNING => Status::Running,
        channel::EXITED => Status::Exited(answer.code),
        channel::CRASHED => Status::Crashed,
        channel::INFEASIBLE => Status::Infeasible,
        channel::LIMIT => Status::Limit { reason: heard.words() },
        channel::REFUSED => Status::Unsupported { site: SiteId::NONE, reason: UNSTEADY.to_owned() },
        _ => Status::Unsupported { site: table.original(answer.site), reason: heard.words() },
    }
}

/// Local state of a thread that has ended; 0 is that of one that has not begun.
const ENDED: u64 = 1;

fn of_running(local: u64) -> u64 {
    local.max(2)
}

pub(super) const UNSTEADY: &str =
    "the program does not do the same when it is run again with the same choices";

/// What a thread's local state adds to the hash over all threads; nothing before its first stop.
fn token(thread: ThreadId, local: u64) -> u64 {
    if local == 0 {
        return 0;
    }
    let product =
        u128::from(local ^ 0x3C6E_F372) * u128::from(u64::from(thread.0) << 1 | 0x9E37_79B9_7F4A_7C15);
    product as u64 ^ (product >> 64) as u64
}
