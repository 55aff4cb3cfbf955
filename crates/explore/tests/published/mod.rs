//! The search of the 2006 paper to the letter: Fig. 4 (locksets), Fig. 5 to 7 (search), for scripts of locks, plain accesses, creations and
//! joins. Every access is a step, reads and writes are alike, and there is nothing to rename: main creates all threads.

use raddle_event::{Addr, Choice, Loc, ThreadId};
use raddle_machine::{IgnoreEvents, Machine, OpKind, Status, Visibility};
use raddle_testkit::script::{Script, ScriptMachine};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// `Addr ∪ Tid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Point {
    Thread(ThreadId),
    Lock(Addr),
}

/// A variable that is absent has all points.
type Locksets = BTreeMap<Loc, BTreeSet<Point>>;

struct Node {
    state: u128,
    saved: <ScriptMachine as Machine>::Checkpoint,
    ls: Locksets,
    la: BTreeMap<Loc, usize>,
    tid: Option<ThreadId>,
    done: BTreeSet<ThreadId>,
    races: Vars,
    va: BTreeSet<Loc>,
    succ_on_stack: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Vars {
    These(BTreeSet<Loc>),
    All,
}

/// What the published search reports.
#[derive(Debug, Default)]
pub struct Published {
    pub races: BTreeSet<Loc>,
    pub failures: BTreeSet<u32>,
    /// It went on for too long.
    pub given_up: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line50 {
    /// As published.
    Intersect,
    /// The sets of the present path.
    Leave,
}

const MOST_STEPS: u32 = 100_000;

pub fn search(script: &Script, line_50: Line50) -> Published {
    let mut machine = ScriptMachine::new(script);
    machine.set_visibility(Visibility::EveryAccess);
    let mut found = Published::default();
    let mut table: HashMap<u128, Locksets> = HashMap::new();
    let mut rtable: HashMap<u128, Vars> = HashMap::new();
    let mut stack = vec![Node::at(&mut machine, Locksets::new(), BTreeMap::new())];
    table.insert(stack[0].state, Locksets::new());
    let mut steps = 0;
    while let Some(top) = stack.len().checked_sub(1) {
        let curr = &stack[top];
        machine.restore(&curr.saved);
        let mut choices: Vec<Choice> = Vec::new();
        machine.enabled(&mut choices);
        // Lines 19 to 22.
        let open = choices.iter().map(|choice| choice.thread).find(|thread| !curr.done.contains(thread));
        let chosen = match curr.tid {
            None => open,
            Some(thread) => (!curr.done.contains(&thread)).then_some(thread),
        };
        let Some(t) = chosen else {
            // Lines 24 to 32.
            let mut curr = stack.pop().expect("it is the last");
            if curr.tid.is_none() && curr.succ_on_stack {
                for at in curr.la.values() {
                    stack[*at].tid = None;
                }
                curr.races = Vars::All;
            }
            rtable.insert(curr.state, curr.races.clone());
            if let Some(prev) = stack.last_mut() {
                prev.races.add(curr.races.without(&curr.va));
            }
            continue;
        };
        steps += 1;
        if steps > MOST_STEPS {
            found.given_up = true;
            return found;
        }
        // Lines 35 to 37, and Fig. 7.
        stack[top].done.insert(t);
        stack[top].tid = Some(t);
        let kind = machine.pending(t).expect("it is enabled").kind;
        let before = held(&machine, t);
        let child = match kind {
            OpKind::Join { child, .. } => Some(held(&machine, child)),
            _ => None,
        };
        let threads = machine.thread_count();
        machine.step(Choice { thread: t, variant: 0 }, &mut IgnoreEvents);
        let mut ls = stack[top].ls.clone();
        let mut la = stack[top].la.clone();
        let mut va = BTreeSet::new();
        match kind {
            OpKind::Access { loc, .. } => {
                va.insert(loc);
                la.insert(loc, top);
                if stack[top].ls.get(&loc).is_some_and(|set| set.is_disjoint(&before)) {
                    found.races.insert(loc);
                    let last = stack[top].la[&loc];
                    stack[last].tid = None;
                    stack[top].races.add(Vars::These(BTreeSet::from([loc])));
                }
                ls.insert(loc, before);
            }
            OpKind::Lock { .. } => {
                stack[top].tid = None;
                let after = held(&machine, t);
                grow(&mut ls, &after, &after);
            }
            OpKind::Create => grow(&mut ls, &before, &BTreeSet::from([Point::Thread(ThreadId(threads))])),
            OpKind::Join { .. } => {
                stack[top].tid = None;
                grow(&mut ls, &child.expect("it joins"), &before);
            }
            _ => {}
        }
        found.failures.extend(machine.problems().iter().map(|problem| problem.site.0));
        if machine.status() != Status::Running {
            continue;
        }
        let mut next = Node::at(&mut machine, ls, la);
        next.va = va;
        if let Some(races) = rtable.get(&next.state) {
            next.races = races.clone();
            for (q, at) in &next.la {
                if races.has(q) {
                    stack[*at].tid = None;
                }
            }
            let races = next.races.without(&next.va);
            stack[top].races.add(races);
        }
        machine.enabled(&mut choices);
        next.tid = choices.iter().any(|choice| choice.thread == t).then_some(t);
        // Lines 40 to 53.
        if let Some(locksets) = table.get(&next.state) {
            if is_below(locksets, &next.ls) {
                if stack.iter().any(|node| node.state == next.state) {
                    stack[top].tid = None;
                    stack[top].succ_on_stack = true;
                }
                continue;
            }
            if line_50 == Line50::Intersect {
                next.ls = intersection(locksets, &next.ls);
            }
        }
        table.insert(next.state, next.ls.clone());
        stack.push(next);
    }
    found
}

impl Node {
    fn at(machine: &mut ScriptMachine, ls: Locksets, la: BTreeMap<Loc, usize>) -> Self {
        Self {
            state: machine.fingerprint(),
            saved: machine.checkpoint(),
            ls,
            la,
            tid: None,
            done: BTreeSet::new(),
            races: Vars::These(BTreeSet::new()),
            va: BTreeSet::new(),
            succ_on_stack: false,
        }
    }
}

impl Vars {
    fn add(&mut self, more: Vars) {
        match (&mut *self, more) {
            (Vars::These(these), Vars::These(more)) => these.extend(more),
            (_, Vars::All) => *self = Vars::All,
            (Vars::All, _) => {}
        }
    }

    fn without(&self, vars: &BTreeSet<Loc>) -> Vars {
        match self {
            Vars::These(these) => Vars::These(these.difference(vars).copied().collect()),
            Vars::All => Vars::All,
        }
    }

    fn has(&self, var: &Loc) -> bool {
        match self {
            Vars::These(these) => these.contains(var),
            Vars::All => true,
        }
    }
}

/// `LH`.
fn held(machine: &ScriptMachine, thread: ThreadId) -> BTreeSet<Point> {
    let locks = machine.held_locks(thread).into_iter().map(Point::Lock);
    locks.chain([Point::Thread(thread)]).collect()
}

fn grow(ls: &mut Locksets, trigger: &BTreeSet<Point>, add: &BTreeSet<Point>) {
    for set in ls.values_mut().filter(|set| !set.is_disjoint(trigger)) {
        set.extend(add);
    }
}

fn is_below(small: &Locksets, large: &Locksets) -> bool {
    large.iter().all(|(var, set)| small.get(var).is_some_and(|smaller| smaller.is_subset(set)))
}

fn intersection(a: &Locksets, b: &Locksets) -> Locksets {
    let mut both = a.clone();
    for (var, set) in b {
        let mine = both.entry(*var).or_insert_with(|| set.clone());
        mine.retain(|point| set.contains(point));
    }
    both
}
