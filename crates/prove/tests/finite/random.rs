//! Random systems: two threads that a third creates, with few locations and small variables, and true facts about pairs of threads.

use crate::product::Product;
use crate::table::{Space, holds};
use raddle_logic::{Op, Sort, Term, Var};
use raddle_prove::system::{
    Conflict, Creation, Edge, LocationIndex, Pairs, Step, System, Thread, ThreadIndex, suffixed,
};
use raddle_testkit::random::Random;
use std::collections::HashSet;

/// What the threads are to each other, besides what they do.
#[derive(Debug, Default)]
pub struct Facts {
    /// `None`: everywhere.
    meet: Option<HashSet<[(ThreadIndex, LocationIndex); 2]>>,
    /// Symmetric.
    apart: Option<([ThreadIndex; 2], Term)>,
}

impl Pairs for Facts {
    fn may_meet(&self, a: (ThreadIndex, LocationIndex), b: (ThreadIndex, LocationIndex)) -> bool {
        self.meet.as_ref().is_none_or(|meet| meet.contains(&[a, b]))
    }

    fn apart(&self, a: ThreadIndex, b: ThreadIndex) -> Term {
        match &self.apart {
            Some((of, term)) if *of == [a, b] || *of == [b, a] => term.clone(),
            Some(_) | None => Term::truth(true),
        }
    }
}

pub fn space(random: &mut Random) -> Space {
    let width = random.between(1, 2) as u32;
    let vars = |prefix: &str, count: usize| -> Vec<Var> {
        (0..count).map(|index| Var::new(format!("{prefix}{index}"), Sort::Bits(width))).collect()
    };
    Space {
        width,
        shared: vars("m", random.between(1, 2)),
        private: vars("p", random.between(0, 1)),
        inputs: vars("i.", random.between(0, 1)),
    }
}

pub fn system(random: &mut Random, space: &Space) -> System {
    let many = random.chance(20);
    let mut threads = vec![worker(random, space, many), worker(random, space, false)];
    let conflict = conflict(random, space, &threads);
    let creator = creator(random, space, &threads, many);
    threads.push(creator);
    let initial: Vec<Term> = space
        .shared
        .iter()
        .filter_map(|var| {
            let is = Term::from(var.clone()).equals(&constant(random, space));
            random.chance(80).then_some(is)
        })
        .collect();
    System {
        first: 2,
        threads,
        initial: Term::and(initial),
        always: Term::truth(true),
        is_shared: |name| name.starts_with('m'),
        conflicts: vec![conflict],
    }
}

fn conflict(random: &mut Random, space: &Space, threads: &[Thread]) -> Conflict {
    let place = |random: &mut Random, thread: ThreadIndex| {
        let last = threads[thread].edges.len() - 1;
        (thread, random.between(1, last))
    };
    let with_itself = threads[0].many && random.chance(50);
    let (first, second) = (place(random, 0), place(random, if with_itself { 0 } else { 1 }));
    let overlap = match space.private.first() {
        Some(var) if random.chance(30) => {
            let other = Term::from(suffixed(var, "'"));
            Term::from(var.clone()).equals(&other)
        }
        Some(_) | None => Term::truth(true),
    };
    Conflict { first, second, overlap, question: 0 }
}

fn worker(random: &mut Random, space: &Space, many: bool) -> Thread {
    let count = random.between(2, 4);
    let edges: Vec<Vec<Edge>> = (0..count)
        .map(|at| {
            let some = random.between(1, 2);
            (0..some).map(|_| edge(random, space, at, count)).collect()
        })
        .collect();
    let starts = space.private.iter().filter(|_| random.chance(30)).map(|var| {
        let var = Term::from(var.clone());
        var.equals(&space.number(0))
    });
    let starts_with = Term::and(starts.collect::<Vec<Term>>());
    let steps = edges.iter().map(|edges| edges.iter().map(|edge| step(space, edge, Vec::new())).collect());
    let steps = steps.collect();
    Thread { name: "worker".into(), many, start: 0, starts_with, edges, steps }
}

/// Creates both, one after the other; as often as it likes, if there are many.
fn creator(random: &mut Random, space: &Space, workers: &[Thread], many: bool) -> Thread {
    let mut edges: Vec<Vec<Edge>> = Vec::new();
    let mut steps: Vec<Vec<Step>> = Vec::new();
    for (thread, worker) in workers.iter().enumerate() {
        // What a thread starts with says nothing of what is passed to it, as in the systems of programs.
        let mut passes = Vec::new();
        for var in space.private.iter().filter(|_| worker.starts_with.is_true()) {
            match random.below(3) {
                0 => passes.push((var.clone(), constant(random, space))),
                1 => passes.push((var.clone(), value(random, space))),
                2.. => {}
            }
        }
        let creation = Creation { thread, passes };
        let mut all = vec![if random.chance(30) { updates(random, space) } else { Vec::new() }];
        if many && thread == 0 {
            all.push(all[0].clone());
        }
        let to = |index: usize| if index == 0 { thread + 1 } else { thread };
        let here: Vec<Edge> = all
            .into_iter()
            .enumerate()
            .map(|(index, updates)| Edge { to: Some(to(index)), guard: Term::truth(true), updates })
            .collect();
        steps.push(here.iter().map(|edge| step(space, edge, vec![creation.clone()])).collect());
        edges.push(here);
    }
    let last = Edge { to: None, guard: guard(random, space), updates: updates(random, space) };
    let last: Vec<Edge> = random.chance(30).then_some(last).into_iter().collect();
    steps.push(last.iter().map(|edge| step(space, edge, Vec::new())).collect());
    edges.push(last);
    Thread { name: "main".into(), many: false, start: 0, starts_with: Term::truth(true), edges, steps }
}

fn step(space: &Space, edge: &Edge, creates: Vec<Creation>) -> Step {
    let shared = edge.updates.iter().filter(|(var, _)| space.shared.contains(var));
    Step { guard: edge.guard.clone(), updates: shared.cloned().collect(), creates }
}

fn edge(random: &mut Random, space: &Space, at: LocationIndex, count: usize) -> Edge {
    let to = match random.below(10) {
        0 => None,
        1..=5 => Some((at + 1) % count),
        6.. => Some(random.below(count)),
    };
    let lock = Term::from(space.shared[0].clone());
    match random.below(10) {
        // As locks and flags are used.
        0..=3 => {
            let update = (space.shared[0].clone(), constant(random, space));
            Edge { to, guard: lock.equals(&constant(random, space)), updates: vec![update] }
        }
        4..=5 => Edge { to, guard: Term::truth(true), updates: Vec::new() },
        6.. => Edge { to, guard: guard(random, space), updates: updates(random, space) },
    }
}

fn guard(random: &mut Random, space: &Space) -> Term {
    let atom = |random: &mut Random| {
        let var = variable(random, space);
        match random.below(5) {
            0..=1 => var.equals(&constant(random, space)),
            2 => var.differs(&constant(random, space)),
            3 => Term::app(Op::Ult, vec![var, constant(random, space)]),
            4.. => var.equals(&variable(random, space)),
        }
    };
    match random.below(4) {
        0 => Term::truth(true),
        1..=2 => atom(random),
        3.. => Term::and([atom(random), atom(random)]),
    }
}

fn updates(random: &mut Random, space: &Space) -> Vec<(Var, Term)> {
    let mut found = Vec::new();
    for var in space.shared.iter().chain(&space.private) {
        if random.chance(40) {
            found.push((var.clone(), value(random, space)));
        }
    }
    found
}

fn value(random: &mut Random, space: &Space) -> Term {
    match random.below(10) {
        0..=3 => constant(random, space),
        4..=6 => variable(random, space),
        7..=8 => Term::app(Op::Add, vec![variable(random, space), space.number(1)]),
        9.. => match space.inputs.first() {
            Some(input) => Term::from(input.clone()),
            None => constant(random, space),
        },
    }
}

fn constant(random: &mut Random, space: &Space) -> Term {
    space.number(random.below(1 << space.width))
}

fn variable(random: &mut Random, space: &Space) -> Term {
    let all: Vec<&Var> = space.shared.iter().chain(&space.private).collect();
    Term::from(random.pick(&all).clone())
}

/// Nothing, or what is true in all interleavings.
pub fn facts(random: &mut Random, space: &Space, system: &System, product: &Product) -> Facts {
    let mut facts = Facts::default();
    if random.chance(30) {
        let mut meet: HashSet<_> = product.pairs().map(|([a, b], _)| [(a.0, a.1), (b.0, b.1)]).collect();
        let places: Vec<_> = (0..system.threads.len())
            .flat_map(|thread| (0..system.thread(thread).edges.len()).map(move |location| (thread, location)))
            .collect();
        for _ in 0..random.below(4) {
            let (a, b) = (random.pick(&places), random.pick(&places));
            meet.extend([[a, b], [b, a]]);
        }
        facts.meet = Some(meet);
    }
    if let Some(private) = space.private.first().filter(|_| random.chance(50)) {
        let mine = Term::from(private.clone());
        let other = system.other(&mine);
        let differ = match random.below(3) {
            0 => mine.differs(&other),
            1 => mine.equals(&other),
            2.. => Term::or([mine.differs(&space.number(1)), other.differs(&space.number(1))]),
        };
        let shared = Term::from(space.shared[0].clone());
        let term = match random.below(2) {
            0 => differ,
            1.. => Term::or([shared.equals(&constant(random, space)), differ]),
        };
        let (first, second) = if system.thread(0).many && random.chance(50) { (0, 0) } else { (0, 1) };
        let mut pairs = product.pairs().filter(|([a, b], _)| (a.0, b.0) == (first, second));
        if pairs.all(|([a, b], shared)| holds(&term, &space.values_of_two(shared, a.2, b.2))) {
            facts.apart = Some(([first, second], term));
        }
    }
    facts
}
