//! The paper's examples as systems made by hand.

use raddle_logic::{Assignment, Sort, Term, Value, Var};
use raddle_prove::system::{Conflict, Edge, LocationIndex, Pairs, Step, System, Thread, ThreadIndex};
use raddle_prove::tar::{Answer, Environment, run};
use raddle_prove::{Asker, tar};
use raddle_smt::{Limits, Solver};

struct Nothing;

impl Pairs for Nothing {
    fn may_meet(&self, _: (ThreadIndex, LocationIndex), _: (ThreadIndex, LocationIndex)) -> bool {
        true
    }

    fn apart(&self, _: ThreadIndex, _: ThreadIndex) -> Term {
        Term::truth(true)
    }
}

fn asker() -> Asker {
    Asker::new(Solver::new(Limits::default()), Box::new(|| false))
}

fn var(name: &str) -> Var {
    Var::new(name, Sort::Bits(8))
}

fn number(value: u128) -> Term {
    Term::bits(value, 8)
}

fn is(name: &str, value: u128) -> Term {
    Term::from(var(name)).equals(&number(value))
}

fn edge(to: LocationIndex, guard: Term, updates: &[(&str, Term)]) -> Edge {
    let updates = updates.iter().map(|(name, value)| (var(name), value.clone())).collect();
    Edge { to: Some(to), guard, updates }
}

fn step(edge: &Edge) -> Step {
    let shared = edge.updates.iter().filter(|(var, _)| var.name.starts_with('m'));
    Step { guard: edge.guard.clone(), updates: shared.cloned().collect(), creates: Vec::new() }
}

fn yes() -> Term {
    Term::truth(true)
}

fn system(threads: Vec<Vec<Vec<Edge>>>, initial: Term, places: &[(usize, usize)]) -> System {
    let mut all: Vec<Thread> = threads
        .into_iter()
        .map(|edges| {
            let steps = edges.iter().map(|edges| edges.iter().map(step).collect()).collect();
            Thread { name: "t".into(), many: false, start: 0, starts_with: yes(), edges, steps }
        })
        .collect();
    // A first thread that creates the others.
    let count = all.len();
    let creates =
        (0..count).map(|thread| raddle_prove::system::Creation { thread, passes: Vec::new() }).collect();
    let start = Step { guard: yes(), updates: Vec::new(), creates };
    let (edges, steps) = (vec![Vec::new()], vec![vec![start]]);
    all.push(Thread { name: "main".into(), many: false, start: 0, starts_with: yes(), edges, steps });
    let conflict =
        Conflict { first: (0, places[0].1), second: (1, places[1].1), overlap: yes(), question: 0 };
    System {
        threads: all,
        first: count,
        initial,
        always: yes(),
        is_shared: |name| name.starts_with("m"),
        conflicts: vec![conflict],
    }
}

/// Example 1: `while (1) { acquire(m); x = i; release(m); }`.
fn example_1(releases: bool) -> System {
    let thread = |i: u128| {
        vec![
            vec![edge(1, yes(), &[])],
            vec![edge(2, is("m", 0), &[("m", number(i))])],
            vec![edge(3, yes(), &[("mx", number(i))])],
            vec![edge(0, yes(), &[("m", number(if releases { 0 } else { 7 }))])],
        ]
    };
    let mut broken = thread(2);
    if !releases {
        broken[1] = vec![edge(2, yes(), &[("m", number(2))])];
    }
    system(vec![thread(1), broken], Term::and([is("m", 0), is("mx", 0)]), &[(0, 2), (1, 2)])
}

fn producer_consumer() -> System {
    let producer = vec![
        vec![edge(0, is("mflag", 0).negated(), &[]), edge(1, is("mflag", 0), &[])],
        vec![edge(2, yes(), &[("mdata", Term::var("i.1", Sort::Bits(8)))])],
        vec![edge(0, yes(), &[("mflag", number(1))])],
    ];
    let consumer = vec![
        vec![edge(0, is("mflag", 1).negated(), &[]), edge(1, is("mflag", 1), &[])],
        vec![edge(2, yes(), &[("copy", Term::from(var("mdata")))])],
        vec![edge(0, yes(), &[("mflag", number(0))])],
    ];
    system(vec![producer, consumer], is("mflag", 0), &[(0, 1), (1, 1)])
}

fn proved(system: &System, environment: Environment) -> (Vec<Vec<Term>>, tar::Counts) {
    let result = run(system, &Nothing, &mut asker(), environment);
    match result.answer {
        Answer::Safe(invariants) => (invariants, result.counts),
        other @ (Answer::Candidate { .. } | Answer::Stuck { .. } | Answer::Stopped(_)) => {
            panic!("{other:?} {:?}", result.counts)
        }
    }
}

/// The paper's three iterations (Table 1) are one refinement, which adds three predicates everywhere, and two rounds of the environment.
/// Here it takes five refinements (three with havoc), since one counterexample is analysed at a time and its predicates are added only at
/// the locations of its paths. They are the same predicates, and the rounds after the last refinement are two as well.
#[test]
fn example_1_is_safe_with_both_environments() {
    for (environment, refinements, predicates) in [(Environment::Havoc, 3, 2), (Environment::Relation, 5, 3)]
    {
        let (invariants, counts) = proved(&example_1(true), environment);
        println!("{environment:?} {counts:?}");
        assert!(counts.outer <= refinements && counts.predicates <= predicates, "{counts:?}");
        assert_eq!(counts.inner, 2);
        for (holder, of_thread) in (1..).zip(&invariants[..2]) {
            for m in 0..=3 {
                let values = Assignment::from([(var("m"), Value::Bits { value: m, width: 8 })]);
                let in_critical_section = of_thread[2].eval(&values);
                assert_eq!(in_critical_section, Ok(Value::Bool(m == holder)), "thread {holder}, m = {m}");
            }
        }
    }
}

#[test]
fn example_1_without_its_lock_is_a_candidate() {
    let result = run(&example_1(false), &Nothing, &mut asker(), Environment::Havoc);
    assert!(matches!(result.answer, Answer::Candidate { question: 0, .. }), "{:?}", result.answer);
}

#[test]
fn the_producer_and_the_consumer_of_figure_1_are_safe() {
    for environment in [Environment::Havoc, Environment::Relation] {
        let (_, counts) = proved(&producer_consumer(), environment);
        println!("{environment:?} {counts:?}");
    }
}
