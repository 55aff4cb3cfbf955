//! Operational semantics: the first steps of a term, by visible event, tau or tick.
//!
//! The rules are those of Roscoe (2010), chapter 9, which the 2015 paper, section 2.2, uses by way of FDR3. In particular:
//!
//! - Termination is distributed. A child of a parallel composition that terminates does so by tau and becomes Omega; the composition
//!   ticks when all children are Omega. So a child can terminate while others go on.
//! - `P [] SKIP` ticks without asking anyone, and then nothing of P is left. A state that can tick can refuse every event.
//! - A call of a name behaves as its body, without a step of its own.
//!
//! Each step keeps the event that it had before hiding. Which way it errs: neither. Invariant: [`check_guarded`] has accepted the term.

use crate::event::{EventId, EventSet};
use crate::term::{Arena, IllFormed, Name, ProcId, Term};
use std::collections::HashMap;
use std::sync::Arc;

/// What others see of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    Event(EventId),
    Tau,
    Tick,
}

/// One step of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    pub label: Label,
    /// The event of the step before hiding; none for tick, termination of a part, and the start of a second process.
    pub underlying: Option<EventId>,
    pub next: ProcId,
}

impl Arena {
    /// The steps of a process, in an order that depends on the term only.
    ///
    /// # Panics
    /// Where [`Arena::check`] rejects the process, this may panic or not return.
    pub fn steps(&mut self, process: ProcId) -> Arc<[Step]> {
        if let Some(steps) = &self.steps[process.0 as usize] {
            return steps.clone();
        }
        let steps: Arc<[Step]> = self.compute(process).into();
        self.steps[process.0 as usize] = Some(steps.clone());
        steps
    }

    fn compute(&mut self, process: ProcId) -> Vec<Step> {
        match self.term(process).clone() {
            Term::Stop | Term::Omega => Vec::new(),
            Term::Skip => vec![Step::tick()],
            Term::Prefix(event, then) => vec![Step::event(event, then)],
            Term::Events(array, index, then) => {
                let events = self.array(array);
                let event = events[index as usize];
                let last = index as usize + 1 == events.len();
                let next = if last { then } else { self.add(Term::Events(array, index + 1, then)) };
                vec![Step::event(event, next)]
            }
            Term::Choice(branches) => self.choice_steps(&branches),
            Term::Parallel(on, children) => self.parallel_steps(&on, &children),
            Term::Interrupt(first, by) => {
                let mut steps = Vec::new();
                for step in self.steps(first).iter() {
                    let next =
                        if step.label == Label::Tick { step.next } else { self.interrupt(step.next, by) };
                    steps.push(Step { next, ..*step });
                }
                for step in self.steps(by).iter() {
                    let next =
                        if step.label == Label::Tau { self.interrupt(first, step.next) } else { step.next };
                    steps.push(Step { next, ..*step });
                }
                steps
            }
            Term::Hide(inner, set) => {
                let mut steps = Vec::new();
                for step in self.steps(inner).iter() {
                    let next = match step.label {
                        Label::Tick => step.next,
                        _ => self.add(Term::Hide(step.next, set.clone())),
                    };
                    steps.push(Step { label: step.label.hidden(&set), next, ..*step });
                }
                steps
            }
            Term::Then(first, second) => {
                let mut steps = Vec::new();
                for step in self.steps(first).iter() {
                    steps.push(match step.label {
                        Label::Tick => Step { label: Label::Tau, underlying: None, next: second },
                        _ => Step { next: self.then(step.next, second), ..*step },
                    });
                }
                steps
            }
            Term::Call(name) => {
                let body = self.body(name).expect("a checked name has a body");
                self.steps(body).to_vec()
            }
        }
    }

    fn choice_steps(&mut self, branches: &[ProcId]) -> Vec<Step> {
        let mut steps = Vec::new();
        for (index, &branch) in branches.iter().enumerate() {
            for step in self.steps(branch).iter() {
                let next = match step.label {
                    Label::Tau => {
                        let mut branches = branches.to_vec();
                        branches[index] = step.next;
                        self.add(Term::Choice(branches.into()))
                    }
                    _ => step.next,
                };
                steps.push(Step { next, ..*step });
            }
        }
        steps
    }

    fn parallel_steps(&mut self, on: &Arc<EventSet>, children: &[ProcId]) -> Vec<Step> {
        if children.iter().all(|&child| child == Self::OMEGA) {
            return vec![Step::tick()];
        }
        let each: Vec<Arc<[Step]>> = children.iter().map(|&child| self.steps(child)).collect();
        let mut steps = Vec::new();
        for (index, own) in each.iter().enumerate() {
            for step in own.iter() {
                let (label, next) = match step.label {
                    Label::Event(event) if on.contains(event) => continue,
                    Label::Tick => (Label::Tau, Self::OMEGA),
                    label => (label, step.next),
                };
                let mut children = children.to_vec();
                children[index] = next;
                let next = self.add(Term::Parallel(on.clone(), children.into()));
                steps.push(Step { label, underlying: step.underlying, next });
            }
        }
        for first in each[0].iter() {
            let Label::Event(event) = first.label else { continue };
            if !on.contains(event) {
                continue;
            }
            let mut vectors = vec![vec![first.next]];
            for own in &each[1..] {
                let partners = own.iter().filter(|step| step.label == first.label);
                let partners: Vec<ProcId> = partners.map(|step| step.next).collect();
                let with = |next: ProcId, vector: &Vec<ProcId>| [vector.as_slice(), &[next]].concat();
                vectors = vectors
                    .iter()
                    .flat_map(|v| partners.iter().map(|&next| with(next, v)).collect::<Vec<_>>())
                    .collect();
            }
            for vector in vectors {
                let next = self.add(Term::Parallel(on.clone(), vector.into()));
                steps.push(Step::event(event, next));
            }
        }
        steps
    }
}

impl Step {
    fn event(event: EventId, next: ProcId) -> Self {
        Self { label: Label::Event(event), underlying: Some(event), next }
    }

    fn tick() -> Self {
        Self { label: Label::Tick, underlying: None, next: Arena::OMEGA }
    }
}

impl Label {
    pub(crate) fn hidden(self, set: &EventSet) -> Self {
        match self {
            Label::Event(event) if set.contains(event) => Label::Tau,
            label => label,
        }
    }
}

/// See [`Arena::check`].
pub(crate) fn check_guarded(arena: &Arena, roots: &[ProcId]) -> Result<(), IllFormed> {
    let mut found = HashMap::new();
    let mut todo: Vec<ProcId> = roots.to_vec();
    let mut seen: Vec<bool> = vec![false; arena.len()];
    while let Some(process) = todo.pop() {
        if std::mem::replace(&mut seen[process.0 as usize], true) {
            continue;
        }
        match arena.term(process) {
            Term::Stop | Term::Skip | Term::Omega => {}
            Term::Prefix(_, then) | Term::Events(_, _, then) => todo.push(*then),
            Term::Choice(parts) | Term::Parallel(_, parts) => todo.extend(parts.iter()),
            Term::Interrupt(a, b) | Term::Then(a, b) => todo.extend([a, b]),
            Term::Hide(inner, _) => todo.push(*inner),
            Term::Call(name) => {
                let body =
                    arena.body(*name).ok_or_else(|| IllFormed::Undefined(arena.name(*name).to_owned()))?;
                todo.push(body);
                follow(arena, *name, body, &mut found, &mut Vec::new())?;
            }
        }
    }
    Ok(())
}

/// Whether a name was followed to its end, or is being followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follow {
    Open,
    Done,
}

fn follow(
    arena: &Arena,
    name: Name,
    body: ProcId,
    found: &mut HashMap<Name, Follow>,
    path: &mut Vec<Name>,
) -> Result<(), IllFormed> {
    match found.get(&name) {
        Some(Follow::Done) => return Ok(()),
        Some(Follow::Open) => {
            let from = path.iter().position(|&on_path| on_path == name).unwrap_or(0);
            let cycle = path[from..].iter().chain([&name]);
            return Err(IllFormed::Unguarded(cycle.map(|&name| arena.name(name).to_owned()).collect()));
        }
        None => {}
    }
    found.insert(name, Follow::Open);
    path.push(name);
    let mut todo = vec![body];
    while let Some(process) = todo.pop() {
        match arena.term(process) {
            Term::Stop | Term::Skip | Term::Omega | Term::Prefix(..) | Term::Events(..) => {}
            Term::Choice(parts) | Term::Parallel(_, parts) => todo.extend(parts.iter().rev()),
            Term::Interrupt(a, b) => todo.extend([b, a]),
            // The second process starts by a tau, which is a step.
            Term::Hide(inner, _) | Term::Then(inner, _) => todo.push(*inner),
            Term::Call(called) => {
                let body = arena.body(*called);
                let body = body.ok_or_else(|| IllFormed::Undefined(arena.name(*called).to_owned()))?;
                follow(arena, *called, body, found, path)?;
            }
        }
    }
    path.pop();
    found.insert(name, Follow::Done);
    Ok(())
}
