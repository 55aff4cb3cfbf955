//! The real program as a [`Machine`]: all its threads run in one process of its own, one at a time, as this side says.
//!
//! A checkpoint is the length of the schedule. Going back costs nothing; the next step has the program start anew and make all choices
//! up to it, in one request. Nothing is trusted to be the same again: a hash of everything that was said on the way is compared, and
//! an execution that differs ends as unsupported. See `docs/decisions/0019`.

mod state;
mod table;
mod words;

use crate::{NativeError, binary};
use raddle_base::SiteId;
use raddle_event::{Addr, Choice, Event, EventKind, Loc, ObjectId, Problem, ThreadId};
use raddle_machine::{
    Canonical, Machine, Names, ObjectInfo, ObjectKind, ObjectNames, Operation, Origin, Sink, StackSource,
    Status, ThreadInfo, Visibility,
};
use raddle_runtime::explore::channel::{self, Choice as Wanted};
use raddle_runtime::explore::{Heard, Host, Launch, Silence, Visible, Wish};
use state::{State, UNSTEADY};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use table::Table;

/// What is explored.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Built by `raddle cc`.
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub stdin: Option<PathBuf>,
    pub spurious: Spurious,
}

/// Whether waits on condition variables may end for no reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spurious {
    On,
    Off,
}

/// Whether call stacks are taken down at each event: for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stacks {
    Wanted,
    Unwanted,
}

/// A program that comes to no visible operation for so long is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// The program in a process of its own, right before `main` or at the end of a schedule.
pub struct NativeMachine {
    host: Host,
    table: Rc<Table>,
    stacks: Stacks,
    path: Vec<Wanted>,
    /// One more than the choices of the path.
    states: Vec<State>,
    /// How many answers were heard to the last request; nothing if the last one heard is not to the end of the path.
    heard: Option<usize>,
    /// Choices that will probably be asked for next: not yet asked for, and those asked for with an earlier one.
    foreseen: Vec<Wanted>,
    asked_ahead: VecDeque<Wanted>,
    /// Versions of memory were needed before: they are asked for from the start.
    versions: bool,
    /// Why nothing that was known of the program holds any more: it did something else when run again, or its process is gone.
    lost: Option<Status>,
}

impl NativeMachine {
    pub fn start(subject: &Subject, stacks: Stacks) -> Result<Self, NativeError> {
        let binary = binary::open(subject.program.as_os_str())?;
        let table = Table::new(binary::table(&binary.path)?);
        let problem = |reason: String| NativeError::Explore { path: binary.path.clone(), reason };
        let stdin = match &subject.stdin {
            Some(path) => Some(File::open(path).map_err(|error| NativeError::file(path, error))?),
            None => None,
        };
        let launch = Launch {
            program: binary.path.as_os_str(),
            arguments: &subject.arguments,
            stdin,
            spurious: subject.spurious == Spurious::On,
            patience: PATIENCE,
        };
        let mut host = Host::start(launch).map_err(|error| problem(error.to_string()))?;
        host.is_ready().map_err(|silence| problem(words_of(&silence)))?;
        let wanted = stacks == Stacks::Wanted;
        let wish =
            Wish { anew: true, choices: &[], heard_from: 0, ahead: 0, stacks: wanted, versions_from: None };
        host.ask(wish);
        let first = {
            let heard = host.hear(0).map_err(|silence| problem(words_of(&silence)))?;
            State::first(&heard, &table).map_err(|_| problem(NONSENSE.to_owned()))?
        };
        Ok(Self {
            host,
            table: Rc::new(table),
            stacks,
            path: Vec::new(),
            states: vec![first],
            heard: Some(1),
            foreseen: Vec::new(),
            asked_ahead: VecDeque::new(),
            versions: false,
            lost: None,
        })
    }

    fn now(&self) -> &State {
        self.states.last().expect("there is always the first state")
    }

    fn strand(&self, thread: ThreadId) -> Option<&state::Strand> {
        self.now().strands.get(thread.0 as usize).map(Rc::as_ref)
    }

    /// The state behind a choice, and its events told.
    fn went(&mut self, choice: Choice, sink: &mut dyn Sink) -> Result<State, Status> {
        let wanted = Wanted { thread: choice.thread.0, variant: choice.variant };
        self.path.push(wanted);
        if self.path.len() > MOST_STEPS {
            return Err(Status::Limit { reason: "visible operations of one run".to_owned() });
        }
        let before = self.states.last().expect("there is always the first state");
        let site = before.strands[choice.thread.0 as usize].operation.map_or(SiteId::NONE, |op| op.site);
        let silent = |silence| Status::Unsupported { site, reason: words_of(&silence) };
        let mut number = 0;
        let program = match self.heard {
            None => Program::Elsewhere,
            Some(next) => {
                number = next;
                let answer = self.host.hear(next).map_err(silent)?.answer;
                match answer.choice {
                    guess if guess == wanted => Program::Guessed,
                    channel::NO_GUESS => Program::There,
                    _ => Program::Elsewhere,
                }
            }
        };
        if program == Program::Guessed {
            if self.asked_ahead.pop_front().is_some_and(|asked| asked != wanted) {
                self.asked_ahead.clear();
            }
        } else {
            let there = program == Program::There;
            let mut choices = if there { vec![wanted] } else { self.path.clone() };
            let heard_from = choices.len() - 1;
            choices.extend(&self.foreseen);
            self.asked_ahead.clear();
            self.asked_ahead.extend(self.foreseen.drain(..));
            let stacks = self.stacks == Stacks::Wanted;
            let versions_from = self.versions.then_some(heard_from);
            let wish =
                Wish { anew: !there, choices: &choices, heard_from, ahead: AHEAD, stacks, versions_from };
            self.host.ask(wish);
            number = 0;
        }
        self.foreseen.clear();
        let heard = self.host.hear(number).map_err(silent)?;
        let is_running = heard.answer.status == channel::RUNNING;
        let from = is_running.then(|| State::wants_versions_from(&self.states, &heard)).flatten();
        let is_unknown =
            |from: &usize| heard.answer.version == 0 || !self.states[*from..].iter().all(State::is_versioned);
        if let Some(from) = from.filter(is_unknown) {
            number = self.repeat_with_versions(from)?;
        }
        let before = self.states.last().expect("there is always the first state");
        let heard = self.host.hear(number).map_err(silent)?;
        let refused = heard.answer.status == channel::REFUSED;
        if refused || heard.answer.choice != wanted || heard.answer.digest_before != before.digest {
            return Err(Status::Unsupported { site: SiteId::NONE, reason: UNSTEADY.to_owned() });
        }
        let after = before.after(choice, &heard, &self.table).map_err(|_| nonsense())?;
        for event in heard.events {
            let stack = Stack { table: &self.table, heard: &heard, event };
            let (thread, site) = (ThreadId(event.thread), self.table.original(event.site));
            words::each_event(event, |kind: EventKind| sink.event(Event { thread, site, kind }, &stack));
        }
        self.heard = Some(number + 1);
        Ok(after)
    }

    /// Makes the path again, with versions of memory from this state on, and gives the number of the answer to its last choice, which is
    /// not followed yet.
    fn repeat_with_versions(&mut self, from: usize) -> Result<usize, Status> {
        let silent = |silence| Status::Unsupported { site: SiteId::NONE, reason: words_of(&silence) };
        let unsteady = || Status::Unsupported { site: SiteId::NONE, reason: UNSTEADY.to_owned() };
        let stacks = self.stacks == Stacks::Wanted;
        self.versions = true;
        let whole: Vec<Wanted> = self.path.iter().chain(&self.asked_ahead).copied().collect();
        // The state behind choice `at` is `at + 1`.
        let last = self.path.len() - 1;
        let mut at = from.saturating_sub(1).min(last);
        let mut anew = true;
        loop {
            let (choices, heard_from) = if anew { (&whole[..], at) } else { (&whole[at..], 0) };
            let versions_from = Some(heard_from);
            self.host.ask(Wish { anew, choices, heard_from, ahead: AHEAD, stacks, versions_from });
            anew = false;
            let mut number = 0;
            while at < last {
                let heard = self.host.hear(number).map_err(silent)?;
                let (answer, before) = (heard.answer, &self.states[at]);
                if answer.choice == channel::NO_GUESS {
                    break;
                }
                if answer.choice != self.path[at] || answer.digest_before != before.digest {
                    return Err(unsteady());
                }
                let Wanted { thread, variant } = self.path[at];
                let choice = Choice { thread: ThreadId(thread), variant };
                let after = before.after(choice, &heard, &self.table).map_err(|_| nonsense())?;
                if after.digest != self.states[at + 1].digest || after.enabled != self.states[at + 1].enabled
                {
                    return Err(unsteady());
                }
                self.states[at + 1] = after;
                at += 1;
                number += 1;
            }
            if at == last && self.host.hear(number).map_err(silent)?.answer.choice != channel::NO_GUESS {
                return Ok(number);
            }
        }
    }
}

fn nonsense() -> Status {
    Status::Unsupported { site: SiteId::NONE, reason: NONSENSE.to_owned() }
}

/// Where the program stands when a choice is to be made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    /// It has made it already.
    Guessed,
    /// Right before it.
    There,
    Elsewhere,
}

/// Answers that the program may give before it is asked.
const AHEAD: usize = 200;

/// Visible operations of one run.
const MOST_STEPS: usize = 100_000;

const NONSENSE: &str = "the program wrote over Raddle's own memory";

fn words_of(silence: &Silence) -> String {
    match silence {
        Silence::Ended(why) => format!("the program's process has ended ({why})"),
        Silence::NoProgress => {
            format!("no visible operation for {} seconds", PATIENCE.as_secs())
        }
    }
}

/// The calls around an event.
struct Stack<'a> {
    table: &'a Table,
    heard: &'a Heard<'a>,
    event: &'a channel::Event,
}

impl StackSource for Stack<'_> {
    fn call_sites(&self) -> Vec<SiteId> {
        self.table.calls(self.event.site, self.heard.stack(self.event.stack, self.event.depth))
    }
}

impl Machine for NativeMachine {
    type Checkpoint = usize;

    fn thread_count(&self) -> u32 {
        self.now().strands.len() as u32
    }

    fn status(&self) -> Status {
        self.now().status.clone()
    }

    fn pending(&self, thread: ThreadId) -> Option<Operation> {
        self.strand(thread)?.operation
    }

    fn enabled(&self, choices: &mut Vec<Choice>) {
        choices.clone_from(&self.now().enabled);
    }

    fn standpoint(&self, thread: ThreadId) -> u64 {
        self.strand(thread).map_or(0, |strand| strand.local)
    }

    fn step(&mut self, choice: Choice, sink: &mut dyn Sink) {
        if let Some(status) = self.lost.clone() {
            self.path.push(Wanted { thread: choice.thread.0, variant: choice.variant });
            self.heard = None;
            return self.states.push(self.now().ended(status));
        }
        assert!(self.now().enabled.contains(&choice), "{choice:?} is not enabled");
        let after = self.went(choice, sink).unwrap_or_else(|status| {
            self.heard = None;
            self.lost = Some(status.clone());
            self.now().ended(status)
        });
        self.states.push(after);
    }

    fn foresee(&mut self, choices: &[Choice]) {
        let wanted = |choice: &Choice| Wanted { thread: choice.thread.0, variant: choice.variant };
        self.foreseen.clear();
        self.foreseen.extend(choices.iter().map(wanted));
    }

    fn checkpoint(&mut self) -> usize {
        self.path.len()
    }

    fn restore(&mut self, checkpoint: &usize) {
        assert!(*checkpoint <= self.path.len(), "an earlier checkpoint was restored");
        if *checkpoint < self.path.len() {
            self.heard = None;
        }
        self.path.truncate(*checkpoint);
        self.states.truncate(*checkpoint + 1);
    }

    fn discard(&mut self, _checkpoint: usize) {}

    /// Nothing is known to be the same state but the same execution.
    fn canonical(&mut self) -> Canonical {
        let threads = (0..self.thread_count()).map(|thread| (ThreadId(thread), ThreadId(thread)));
        let key = u128::from(self.now().digest) << 64 | self.path.len() as u128;
        Canonical { key, names: Names::new(threads.collect(), ObjectNames::Same) }
    }

    fn problems(&self) -> &[Problem] {
        &self.now().problems
    }

    fn assumptions(&self) -> Vec<&'static str> {
        if self.now().slept { vec!["A-HASH", "A-LOOP"] } else { Vec::new() }
    }

    /// What the program prints is dropped.
    fn output(&self) -> &[u8] {
        &[]
    }

    /// At the start of an execution only: one that was made with other visible operations cannot be made again.
    fn set_visibility(&mut self, visibility: Visibility) {
        match visibility {
            Visibility::SyncOnly => self.host.set_visible(Visible::None),
            Visibility::EveryAccess => self.host.set_visible(Visible::All),
            Visibility::Sites(sites) => self.host.set_visible(Visible::Sites(&self.table.copies(&sites))),
        }
    }

    fn thread_info(&self, thread: ThreadId) -> ThreadInfo {
        let strand = self.strand(thread);
        let entry = match thread {
            ThreadId::MAIN => "main".to_owned(),
            _ => strand
                .and_then(|strand| strand.function)
                .map(|site| self.table.function(site))
                .unwrap_or_default(),
        };
        ThreadInfo { entry, created: strand.and_then(|strand| strand.created.clone()) }
    }

    fn origin(&self, _thread: ThreadId) -> Option<Origin> {
        None
    }

    fn call_sites(&self, _thread: ThreadId) -> Vec<SiteId> {
        Vec::new()
    }

    /// Objects are parts of the address space, without names.
    fn object_info(&self, object: ObjectId) -> ObjectInfo {
        let _ = object;
        ObjectInfo { kind: ObjectKind::Global, name: String::new(), size: 0, allocated: None }
    }

    fn place_name(&self, loc: Loc) -> String {
        let _ = loc;
        String::new()
    }

    fn held_locks(&self, thread: ThreadId) -> Vec<Addr> {
        self.strand(thread).map(|strand| strand.held.clone()).unwrap_or_default()
    }
}
