//! Enforces a schedule: which thread performs its operation next, and how that comes out.
//!
//! Tolerant only where an optimised program may lack a stop, or have one that the schedule does not name: accesses, fences, yields and
//! spins are passed over, on either side; so are operations that libraries make of their own. Anything else that does not fit is a divergence: the run ends and says what was expected and
//! what came. After the last step the threads run on, one operation each in turn.

mod recorded;
mod steered;

use super::model::{Model, Note, Noted, Spurious};
use super::operation::{Family, Kind, Operation, SECTION};
use super::pairs::{Nth, Pair, Pairs, Touch};
use super::plan::{Afterwards, Plan, Step, Visible};
use crate::options;
use crate::output;
use crate::report::{self, Account};
use crate::thread::Thread;
use recorded::Recorded;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;
use steered::Steered;

const PATIENCE: Duration = Duration::from_secs(10);

/// Who goes next.
pub enum Next {
    Go {
        thread: u32,
        variant: u32,
        value: Option<u64>,
    },
    /// Nobody, until a thread that runs beside the schedule stops.
    Wait,
    /// Nobody ever; a debugger is told.
    Stuck,
}

/// A thread at a place that matters.
pub enum Arrival {
    Passes,
    /// It is held.
    First,
    /// The other one is held: both are there.
    Second,
}

pub struct Enforcer {
    plan: Plan,
    at: usize,
    /// Where the objects of the schedule are.
    places: BTreeMap<u32, usize>,
    /// The thread that went last.
    last: u32,
    pairs: Pairs,
    /// Threads that are held for a debugger.
    held: BTreeSet<u32>,
    /// For plans of recorded events.
    recorded: Recorded,
    /// For those that are steered after their last step.
    steered: Steered,
}

impl Enforcer {
    pub fn read() -> Self {
        let path = &options::get().schedule;
        let plan = std::fs::read_to_string(path)
            .map_err(|error| error.to_string())
            .and_then(|text| Plan::parse(&text));
        match plan {
            Ok(plan) => Self {
                recorded: Recorded::of(&plan.steps),
                steered: Steered::of(&plan),
                plan,
                at: 0,
                places: BTreeMap::new(),
                last: 0,
                pairs: Pairs::default(),
                held: BTreeSet::new(),
            },
            Err(why) => crate::start::give_up(&output::escaped(&format!("the schedule {path}: {why}"))),
        }
    }

    pub fn spurious(&self) -> Spurious {
        self.plan.spurious
    }

    /// Grows as long as the schedule, or what comes after it, goes on.
    pub fn progress(&self) -> usize {
        self.at + self.recorded.turns
    }

    /// The accesses that matter, where no others do, and those at which threads stop.
    pub fn only_sites(&self) -> Option<[Vec<u32>; 2]> {
        self.plan.recorded?;
        let wanted: Vec<u32> = self.plan.race.iter().flatten().copied().collect();
        let mut stops = if self.plan.steering.is_some() { wanted.clone() } else { Vec::new() };
        if let Visible::Sites(sites) = &self.plan.visible {
            let copies = self.plan.copies.iter().filter(|(_, original)| sites.contains(original));
            stops.extend(sites.iter().chain(copies.map(|(copy, _)| copy)));
        }
        Some([wanted, stops])
    }

    /// A thread has come to a stop.
    pub fn stopped(&mut self, thread: u32) {
        if self.plan.recorded.is_some() {
            self.recorded.stopped.insert(thread);
        }
    }

    pub fn patience(&self) -> Duration {
        self.plan.patience.unwrap_or(PATIENCE)
    }

    pub fn is_visible(&self, site: u32) -> bool {
        match &self.plan.visible {
            Visible::None => false,
            Visible::Sites(sites) => sites.contains(&self.plan.original(site)),
            Visible::All => true,
        }
    }

    pub fn next(&mut self, model: &Model, beside: &BTreeSet<u32>) -> Next {
        if self.plan.recorded.is_some() {
            return self.next_recorded(model, beside);
        }
        // A thread does not stop inside a library, if it can help it: another might need what it has locked there.
        if model.pending(self.last).is_some_and(|operation| self.is_aside(operation))
            && let Some(variant) = first_variant(model, self.last)
        {
            return Next::Go { thread: self.last, variant, value: None };
        }
        while let Some(&step) = self.plan.steps.get(self.at) {
            if self.held.contains(&step.thread) {
                self.advance();
                continue;
            }
            let Some(operation) = model.pending(step.thread) else {
                if passes(step.kind) {
                    self.advance();
                    continue;
                }
                if beside.contains(&step.thread) {
                    return Next::Wait;
                }
                if self.is_lenient() {
                    self.advance();
                    continue;
                }
                self.absent(model, step.thread);
            };
            if !self.fits(&step, operation) {
                if passes(step.kind) {
                    self.advance();
                    continue;
                }
                if passes(operation.kind) || self.is_aside(operation) {
                    return match first_variant(model, step.thread) {
                        Some(variant) => self.let_go(step.thread, variant),
                        None => self.go_round(model, beside),
                    };
                }
                if self.is_lenient() {
                    self.advance();
                    continue;
                }
                self.diverge(Some(operation), "the thread came to something else");
            }
            if self.is_lenient() && !model.is_enabled(step.thread, step.variant) {
                self.advance();
                continue;
            }
            self.must_be_the_object(&step, operation);
            // The real program does not say how many values there are.
            if step.kind != Kind::Choose && !model.is_enabled(step.thread, step.variant) {
                self.diverge(Some(operation), "the operation is not possible in this way now");
            }
            self.advance();
            self.last = step.thread;
            return Next::Go { thread: step.thread, variant: step.variant, value: step.value };
        }
        self.go_round(model, beside)
    }

    /// The thread does not stand before its step.
    fn absent(&self, model: &Model, thread: u32) -> ! {
        let why = match model.life(thread) {
            None => "the thread does not exist",
            Some(life) if life.ended => "the thread has ended",
            Some(_) => "the thread runs",
        };
        self.diverge(None, why);
    }

    /// Each object of the schedule has one address.
    fn must_be_the_object(&mut self, step: &Step, operation: &Operation) {
        if step.object != 0 && operation.object != 0 {
            let place = *self.places.entry(step.object).or_insert(operation.object);
            if place != operation.object {
                self.diverge(Some(operation), "the thread uses another object than before");
            }
        }
    }

    /// One of the threads is held, or was: the others may miss what it would have done.
    fn is_lenient(&self) -> bool {
        !self.plan.hold.is_empty()
    }

    /// A thread comes to a place: whether it is to be held there, and whether the other one is held already.
    pub fn arrives(&mut self, thread: u32, site: u32) -> Arrival {
        if !self.plan.race.iter().any(|places| places.contains(&site)) {
            return Arrival::Passes;
        }
        let Nth { nth, .. } = self.pairs.arrives(thread, site);
        if !self.plan.hold.contains(&(thread, site, nth)) {
            return Arrival::Passes;
        }
        match self.held.is_empty() {
            true => {
                self.held.insert(thread);
                Arrival::First
            }
            false => Arrival::Second,
        }
    }

    /// Both were seen: on they go.
    pub fn release(&mut self) {
        self.held.clear();
        self.at = self.plan.steps.len();
    }

    pub fn is_debugged(&self) -> bool {
        self.plan.debugged
    }

    fn let_go(&mut self, thread: u32, variant: u32) -> Next {
        self.last = thread;
        Next::Go { thread, variant, value: None }
    }

    /// An operation that a library makes of its own. Functions that are put around the program's own do not know their place, and 0 may be
    /// that of a call into a library.
    fn is_aside(&self, operation: &Operation) -> bool {
        let anywhere = matches!(operation.kind, Kind::Begin | Kind::End | Kind::Exit | Kind::Access);
        let around = operation.family == Family::Own || operation.object == SECTION;
        !anywhere && !around && self.plan.aside.contains(&self.plan.original(operation.site))
    }

    /// An access of the program; both ends, if it is the race that the schedule is for.
    pub fn touched(
        &mut self,
        thread: &mut Thread,
        touch: Touch,
        account: impl FnOnce(&mut Thread) -> Account,
    ) -> Option<Pair> {
        match self.plan.recorded {
            Some(_) => self.touched_recorded(thread, touch, account),
            None => self.pairs.touched(thread, touch, &self.plan.race, |_| None),
        }
    }

    pub fn forget_range(&mut self, start: usize, end: usize) {
        self.pairs.forget(start, end);
    }

    /// Whether a race of these places is the one that the schedule is for.
    pub fn is_wanted(&self, a: u32, b: u32) -> bool {
        let [one, other] = &self.plan.race;
        let is = |a: u32, b: u32| one.contains(&a) && other.contains(&b);
        is(a, b) || is(b, a)
    }

    /// The race that the schedule is for was seen.
    pub fn reproduced(&mut self, ends: &[Nth]) {
        if self.plan.debugged || self.recorded.reproduced {
            return;
        }
        let ends: Vec<String> = ends
            .iter()
            .map(|Nth { thread, site, nth }| format!(r#"{{"thread":{thread},"site":{site},"nth":{nth}}}"#))
            .collect();
        put("reproduced", &format!(r#","step":{},"accesses":[{}]"#, self.at, ends.join(",")));
        match self.plan.recorded {
            Some(Afterwards::GoesOn) => self.recorded.reproduced = true,
            Some(Afterwards::Ends) | None => exit(),
        }
    }

    fn fits(&self, step: &Step, operation: &Operation) -> bool {
        let anywhere = step.site == 0
            || operation.site == 0
            || matches!(step.kind, Kind::Begin | Kind::End | Kind::OnceEnd | Kind::Exit);
        step.kind == operation.kind && (anywhere || step.site == self.plan.original(operation.site))
    }

    fn advance(&mut self) {
        self.at += 1;
        if self.at == self.plan.steps.len() {
            put("followed", &format!(r#","steps":{}"#, self.at));
        }
    }

    /// The next thread after the last one that can go on.
    fn go_round(&mut self, model: &Model, beside: &BTreeSet<u32>) -> Next {
        let count = model.lives.len() as u32;
        for thread in (self.last + 1..count).chain(0..(self.last + 1).min(count)) {
            if self.held.contains(&thread) {
                continue;
            }
            if let Some(variant) = first_variant(model, thread) {
                return self.let_go(thread, variant);
            }
        }
        if beside.is_empty() && model.lives.iter().any(|life| life.pending.is_some()) {
            if self.plan.debugged {
                return Next::Stuck;
            }
            self.deadlock(model, None);
        }
        Next::Wait
    }

    pub fn note(&mut self, note: &Note) {
        if let Noted::Fault(fault) = note.what {
            self::fault(fault.name(), note.thread, note.site, note.object);
        }
    }

    /// Nothing has happened for longer than there is patience.
    pub fn no_progress(&mut self, model: &Model) {
        let Some(step) = self.plan.steps.get(self.at) else { end("silent", &standing(model, None)) };
        let operation = model.pending(step.thread).copied();
        self.diverge(operation.as_ref(), "nothing happened for too long")
    }

    fn diverge(&self, arrived: Option<&Operation>, why: &str) -> ! {
        let step = self.plan.steps[self.at];
        let arrived = arrived.map_or("null".to_owned(), |operation| {
            format!(r#"{{"kind":"{}","site":{}}}"#, operation.kind.name(), operation.site)
        });
        let rest = format!(
            r#","step":{},"steps":{},"thread":{},"expected":{{"kind":"{}","site":{}}},"arrived":{arrived},"why":"{why}""#,
            self.at,
            self.plan.steps.len(),
            step.thread,
            step.kind.name(),
            step.site
        );
        end("diverged", &rest)
    }

    /// Of these threads, else of all.
    fn deadlock(&self, model: &Model, threads: Option<&[u32]>) -> ! {
        end("deadlock", &standing(model, threads))
    }
}

/// Before what the threads stand, where they hold locks, and the calls that led there.
fn standing(model: &Model, threads: Option<&[u32]>) -> String {
    let mut text = String::from(r#","threads":["#);
    let mut comma = "";
    for (thread, life) in model.lives.iter().enumerate() {
        let Some(operation) = &life.pending else { continue };
        let thread = thread as u32;
        if threads.is_some_and(|threads| !threads.contains(&thread)) {
            continue;
        }
        let (kind, site, object) = (operation.kind.name(), operation.site, operation.object);
        let _ =
            write!(text, r#"{comma}{{"thread":{thread},"kind":"{kind}","site":{site},"object":{object},"#);
        report::stands(&mut text, thread);
        text.push('}');
        comma = ",";
    }
    text.push(']');
    text
}

/// An error of the program.
pub fn fault(kind: &str, thread: u32, site: u32, object: usize) {
    line(&format!(r#""fault":{{"kind":"{kind}","thread":{thread},"site":{site},"object":{object}}}"#));
}

/// The run is over as far as the replay is concerned.
pub fn end(status: &str, rest: &str) -> ! {
    put(status, rest);
    exit();
}

fn exit() -> ! {
    loop {
        unsafe { libc::syscall(libc::SYS_exit_group, 0) };
    }
}

fn put(status: &str, rest: &str) {
    line(&format!(r#""replay":{{"status":"{status}"{rest}}}"#));
}

fn line(text: &str) {
    let line = format!("{{\"pid\":{},{text}}}\n", output::pid());
    output::line(&line, || line.clone());
}

fn first_variant(model: &Model, thread: u32) -> Option<u32> {
    let mut first = None;
    model.variants(thread, |variant| first = first.or(Some(variant)));
    first
}

/// What an optimised program may lack, or have in addition.
fn passes(kind: Kind) -> bool {
    matches!(kind, Kind::Access | Kind::Fence | Kind::Yield | Kind::Spin)
}
