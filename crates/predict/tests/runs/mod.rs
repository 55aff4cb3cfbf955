//! Random scripts, runs of them, and runs that follow the order of a candidate.
//!
//! Which way it errs: a signal may wake another thread than in the trace, and a wait may end for another reason, as long as each thread does
//! the same: a script cannot tell. Initial values of semaphores and the statements that decide are read from the script.

use raddle_base::SiteId;
use raddle_event::{Addr, AtomicOp, Choice, Event, EventKind, ObjectId, ThreadId, Trace};
use raddle_machine::{Machine, Status, TraceSink, Visibility};
use raddle_predict::{Candidate, Deciding, Error, Initial};
use raddle_testkit::random::Random;
use raddle_testkit::script::{
    Act, Block, How, LockKind, Mode, Place, Script, ScriptMachine, Stmt, Stuttering, Value,
};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

/// A script, a run of it by chance, and what is known besides.
pub struct Run {
    pub script: Script,
    pub trace: Trace,
    pub initial: Initial,
    pub deciding: Deciding,
}

/// By chance: the same for the same seed.
pub fn run(script: Script, seed: u64) -> Run {
    let mut rng = Random::new(seed);
    let mut machine = start(&script);
    let mut sink = TraceSink::default();
    let mut choices = Vec::new();
    let (mut last, mut steps) = (None, 0);
    while machine.status() == Status::Running && steps < 60 {
        machine.enabled(&mut choices);
        // Long stretches of one thread hide more than switches at every step.
        let own: Vec<_> = choices.iter().copied().filter(|choice| Some(choice.thread) == last).collect();
        let choice = if !own.is_empty() && rng.chance(60) { rng.pick(&own) } else { rng.pick(&choices) };
        last = Some(choice.thread);
        machine.step(choice, &mut sink);
        steps += 1;
    }
    let initial = Initial { before: semaphores(&script), ..Initial::default() };
    let deciding = Deciding::Sites(deciding(&script));
    Run { trace: sink.trace, initial, deciding, script }
}

/// Threads that take locks inside of each other, and wait for each other in other ways.
pub fn nested_sections(seed: u64) -> Script {
    let mut rng = Random::new(seed ^ 0xDEAD);
    let kinds = [LockKind::Mutex, LockKind::Mutex, LockKind::Rwlock];
    let locks: Vec<LockKind> =
        std::iter::once(LockKind::Mutex).chain((0..2).map(|_| rng.pick(&kinds))).collect();
    let count = rng.between(1, 3);
    let waits = [Act::Post { sem: 0 }, Act::Signal { cond: 0 }, Act::Barrier { barrier: 0 }];
    let down = Act::Down { sem: 0, how: How::Block, result: 0 };
    let other = |rng: &mut Random| match rng.below(6) {
        0 => down,
        1 | 2 => rng.pick(&waits),
        _ => Act::Write { place: Place { var: 0, offset: 0, size: 1 }, value: Value::Const(1) },
    };
    let mut threads = vec![Block::new()];
    for _ in 0..count {
        let mut block = Block::new();
        for _ in 0..rng.between(1, 2) {
            let mut held: Vec<u8> = Vec::new();
            for _ in 0..rng.between(1, 3) {
                let lock = rng.below(locks.len()) as u8;
                if !held.contains(&lock) {
                    let shared = locks[usize::from(lock)] == LockKind::Rwlock && rng.chance(50);
                    let mode = if shared { Mode::Shared } else { Mode::Exclusive };
                    block.push(Stmt::Act(Act::Lock { lock, mode, how: How::Block, result: 0 }));
                    held.push(lock);
                }
            }
            if held == [0] && rng.chance(30) {
                block.push(Stmt::Act(Act::Wait { cond: 0, lock: 0, how: How::Block }));
            } else if rng.chance(50) {
                block.push(Stmt::Act(other(&mut rng)));
            }
            block.extend(held.iter().rev().map(|&lock| Stmt::Act(Act::Unlock { lock })));
            if rng.chance(30) {
                block.push(Stmt::Act(other(&mut rng)));
            }
        }
        threads.push(block);
    }
    let mut main: Block = (1..=count as u8).map(|thread| Stmt::Act(Act::Create { thread })).collect();
    if rng.chance(30) {
        main.push(Stmt::Act(other(&mut rng)));
    }
    main.extend((1..=count as u8).map(|thread| Stmt::Act(Act::Join { thread })));
    threads[0] = main;
    Script { vars: 1, locks, conds: 1, barriers: vec![2], sems: vec![1], onces: Vec::new(), threads }
}

/// A thread that goes round in circles does not sleep: the trace has its rounds, too.
fn start(script: &Script) -> ScriptMachine {
    let mut machine = ScriptMachine::new(script).stuttering(Stuttering::GoesOn);
    machine.set_visibility(Visibility::EveryAccess);
    machine
}

/// Objects are numbered by kind in the order of the fields of a script.
fn semaphores(script: &Script) -> BTreeMap<Addr, u32> {
    let before =
        usize::from(script.vars) + script.locks.len() + usize::from(script.conds) + script.barriers.len();
    let address = |sem: usize| Addr { object: ObjectId((before + sem) as u32), offset: 0 };
    script.sems.iter().enumerate().map(|(sem, &value)| (address(sem), u32::from(value))).collect()
}

/// Sites of reads in functions that branch on anything, and of all compare-exchanges.
fn deciding(script: &Script) -> BTreeSet<SiteId> {
    let mut sites = BTreeSet::new();
    let mut next = 0;
    for function in script.onces.iter().chain(&script.threads) {
        let statements = statements(function);
        let is_condition = |stmt: &&Stmt| {
            matches!(
                stmt,
                Stmt::If { .. } | Stmt::BreakIf(_) | Stmt::Act(Act::Assume(_)) | Stmt::Act(Act::Assert(_))
            )
        };
        let branches = statements.iter().any(is_condition);
        for stmt in &statements {
            if branches || matches!(stmt, Stmt::Act(Act::AtomicCas { .. })) {
                sites.insert(SiteId(next));
            }
            next += 1;
        }
    }
    sites
}

/// In the order of their sites.
fn statements(block: &Block) -> Vec<&Stmt> {
    let mut all = Vec::new();
    for stmt in block {
        all.push(stmt);
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                all.extend(statements(then));
                all.extend(statements(otherwise));
            }
            Stmt::Repeat { body, .. } | Stmt::Forever { body } => all.extend(statements(body)),
            Stmt::Act(_) | Stmt::BreakIf(_) => {}
        }
    }
    all
}

/// Whether all runs do the same in each thread, and the run did all of it. Barriers and once calls are left out, because the definition keeps
/// what the trace fixed by chance: who is in which round, and who runs the initialiser. So are waits, which may end for no reason.
pub fn shows_everything(run: &Run) -> bool {
    let all: Vec<&Stmt> = run.script.onces.iter().chain(&run.script.threads).flat_map(statements).collect();
    let plain = |stmt: &&Stmt| match stmt {
        Stmt::If { .. } | Stmt::Forever { .. } | Stmt::BreakIf(_) => false,
        Stmt::Repeat { .. } => true,
        Stmt::Act(act) => !matches!(
            act,
            Act::Assume(_)
                | Act::Assert(_)
                | Act::Exit
                | Act::Return
                | Act::Barrier { .. }
                | Act::Once { .. }
                | Act::Wait { .. }
                | Act::AtomicCas { .. }
                | Act::Choose { .. }
        ),
    };
    let begun = run.trace.events.iter().filter(|event| event.kind == EventKind::Begin).count();
    let over = |event: &&Event| matches!(event.kind, EventKind::End | EventKind::Exit);
    let ended = run.trace.events.iter().filter(over).count();
    all.iter().all(plain) && begun == ended && begun == run.script.threads.len()
}

/// Whether the statement gives up by itself: a trace does not tell such an acquisition or wait from one that blocks.
pub fn gives_up(script: &Script, site: SiteId) -> bool {
    let all = script.onces.iter().chain(&script.threads).flat_map(statements);
    let act = all.into_iter().nth(site.0 as usize);
    matches!(
        act,
        Some(Stmt::Act(Act::Lock { how, .. } | Act::Down { how, .. } | Act::Wait { how, .. }))
            if *how != How::Block
    )
}

/// Whether some run of the script follows the order of the candidate, event by event, and then has the error.
pub fn exists(run: &Run, candidate: &Candidate) -> Result<(), String> {
    let mut replay = Replay { run, candidate, longest: 0, reason: String::new() };
    let threads = BTreeMap::from([(ThreadId::MAIN, ThreadId::MAIN)]);
    let first = Follower { machine: start(&run.script), ahead: BTreeMap::new(), threads };
    if replay.follow(first, 0) {
        return Ok(());
    }
    Err(format!("after {} of {} events: {}", replay.longest, candidate.order.len(), replay.reason))
}

struct Replay<'a> {
    run: &'a Run,
    candidate: &'a Candidate,
    longest: usize,
    reason: String,
}

/// A run in the making.
#[derive(Clone)]
struct Follower {
    machine: ScriptMachine,
    /// What the machine did in one step with an event before, and the order has later.
    ahead: BTreeMap<ThreadId, VecDeque<EventKind>>,
    /// Threads of the trace, numbered as in this run: in order of creation.
    threads: BTreeMap<ThreadId, ThreadId>,
}

impl Replay<'_> {
    fn follow(&mut self, mut run: Follower, at: usize) -> bool {
        if at >= self.longest {
            self.longest = at;
            self.reason = "the run has no such event".to_owned();
        }
        let Some(&index) = self.candidate.order.get(at) else { return self.has_error(&run) };
        let event = self.run.trace.events[index];
        if let Some(done) = run.ahead.get_mut(&event.thread).and_then(VecDeque::pop_front) {
            return run.same(done, event.kind) && self.follow(run, at + 1);
        }
        let thread = run.threads[&event.thread];
        let mut choices = Vec::new();
        run.machine.enabled(&mut choices);
        choices.retain(|choice| choice.thread == thread);
        let steps = choices.into_iter().flat_map(|choice| steps(&run.machine, choice));
        steps.collect::<Vec<_>>().into_iter().any(|(machine, events)| {
            let mut next = Follower { machine, ..run.clone() };
            let mut events = events.into_iter();
            let Some(first) = events.next() else { return false };
            if let (EventKind::Create { child: own }, EventKind::Create { child }) = (first.kind, event.kind)
            {
                next.threads.insert(child, own);
            }
            if first.site != event.site || !next.same(first.kind, event.kind) {
                return false;
            }
            next.ahead.insert(event.thread, events.map(|event| event.kind).collect());
            self.follow(next, at + 1)
        })
    }

    fn has_error(&mut self, run: &Follower) -> bool {
        self.reason = "the error is not there".to_owned();
        let machine = &run.machine;
        match &self.candidate.error {
            Error::Race { first, second } => [first, second].into_iter().all(|&index| {
                let event = self.run.trace.events[index];
                nexts(machine, run.threads[&event.thread]).into_iter().any(|next| {
                    next.site == event.site && (next.kind == event.kind || took_effect(next.kind, event.kind))
                })
            }),
            Error::Deadlock { blocked } => {
                let blocked = blocked.iter().map(|&index| self.run.trace.events[index]);
                let blocked: Vec<_> = blocked.map(|event| (run.threads[&event.thread], event.site)).collect();
                let threads: Vec<ThreadId> = blocked.iter().map(|(thread, _)| *thread).collect();
                let machine = threads.iter().fold(machine.clone(), without_event);
                let stands = |&(thread, site): &(ThreadId, SiteId)| {
                    machine.pending(thread).is_some_and(|operation| operation.site == site)
                };
                blocked.iter().all(stands) && never_move(&machine, &threads)
            }
        }
    }
}

impl Follower {
    /// Whether it is the same to the thread that does it.
    fn same(&self, own: EventKind, recorded: EventKind) -> bool {
        let is = |own: ThreadId, recorded: ThreadId| self.threads.get(&recorded) == Some(&own);
        match (own, recorded) {
            (EventKind::Signal { cond: a, .. }, EventKind::Signal { cond: b, .. })
            | (EventKind::WaitEnd { cond: a, .. }, EventKind::WaitEnd { cond: b, .. }) => a == b,
            (EventKind::Create { child: a }, EventKind::Create { child: b })
            | (EventKind::Join { child: a }, EventKind::Join { child: b })
            | (EventKind::Detach { child: a }, EventKind::Detach { child: b }) => is(a, b),
            _ => own == recorded,
        }
    }
}

/// The events with which the thread may go on.
fn nexts(machine: &ScriptMachine, thread: ThreadId) -> Vec<Event> {
    let mut choices = Vec::new();
    machine.enabled(&mut choices);
    choices.retain(|choice| choice.thread == thread);
    let steps = choices.into_iter().flat_map(|choice| steps(machine, choice));
    steps.filter_map(|(_, events)| events.first().copied()).collect()
}

/// A compare-exchange that failed in the trace and writes now: what races with a read races with a write.
fn took_effect(own: EventKind, recorded: EventKind) -> bool {
    match (own, recorded) {
        (
            EventKind::Atomic { loc: a, op: AtomicOp::Rmw(_) },
            EventKind::Atomic { loc: b, op: AtomicOp::Load(_) },
        ) => a == b,
        _ => false,
    }
}

/// All that the thread may do by this choice, up to its first event: the end of a loop's round, a lock taken again and a wait without the
/// mutex have none, and the operation behind them may have several outcomes.
fn steps(machine: &ScriptMachine, choice: Choice) -> Vec<(ScriptMachine, Vec<Event>)> {
    let mut next = machine.clone();
    let mut sink = TraceSink::default();
    next.step(choice, &mut sink);
    if !sink.trace.events.is_empty() {
        return vec![(next, sink.trace.events)];
    }
    let mut open = Vec::new();
    next.enabled(&mut open);
    open.retain(|open| open.thread == choice.thread);
    open.into_iter().flat_map(|choice| steps(&next, choice)).collect()
}

/// After what the thread may do without an event.
fn without_event(machine: ScriptMachine, thread: &ThreadId) -> ScriptMachine {
    let mut open = Vec::new();
    machine.enabled(&mut open);
    let Some(choice) = open.into_iter().find(|open| open.thread == *thread) else { return machine };
    let mut next = machine.clone();
    let mut sink = TraceSink::default();
    next.step(choice, &mut sink);
    if sink.trace.events.is_empty() { without_event(next, thread) } else { machine }
}

/// Whether none of the threads can move, whatever the others do.
fn never_move(machine: &ScriptMachine, threads: &[ThreadId]) -> bool {
    let mut seen = HashSet::new();
    let mut todo = vec![machine.clone()];
    let mut choices = Vec::new();
    while let Some(mut machine) = todo.pop() {
        if !seen.insert(machine.fingerprint()) {
            continue;
        }
        assert!(seen.len() < 100_000, "too many states after a deadlock");
        machine.enabled(&mut choices);
        if choices.iter().any(|choice| threads.contains(&choice.thread)) {
            return false;
        }
        todo.extend(choices.iter().map(|&choice| {
            let mut next = machine.clone();
            next.step(choice, &mut TraceSink::default());
            next
        }));
    }
    true
}
