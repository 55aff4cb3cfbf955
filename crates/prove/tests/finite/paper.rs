//! Algorithms A, B and TAR of section 2 of the 2003 paper, as printed there, on programs of two threads with few states: relations are
//! sets of pairs of states.
//!
//! The refinement function adds predicates that are given by hand, group by group, and takes the exact relations when there are none
//! left. Where we differ: `g` of algorithm TAR starts with the steps that change no predicate over the shared state (and anything in the
//! private state), not empty. The paper's own table does so, too: `m' = m` is in its `g` for a value of `m` that the thread never
//! saw, and the error of its first iteration needs a private state of the other thread that nothing leads to without a step of `g`.

use std::collections::BTreeSet;

/// `(S, P1, P2)`.
pub type State = (usize, usize, usize);

/// Of `Q_i`: shared and private state.
pub type Own = (usize, usize);

/// Per state of `Q_i` (see [`Program::own`]), its successors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation(Vec<BTreeSet<Own>>);

pub type Predicate = fn(Own) -> bool;

pub struct Program {
    pub shared: usize,
    /// Of each thread.
    pub private: usize,
    pub initial: State,
    /// The successors of a state of a thread (0 or 1).
    pub step: fn(usize, Own) -> Vec<Own>,
    pub is_error: fn(State) -> bool,
    /// The first group is there from the start.
    pub predicates: Vec<Vec<Predicate>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Safe,
    Unsafe,
    DoNotKnow,
}

#[derive(Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub iterations: usize,
    /// Environment assumptions at the end, where the algorithm has some.
    pub assumptions: Option<[Relation; 2]>,
}

pub fn algorithm_a(program: &Program) -> Outcome {
    let outcome = |verdict, iterations| Outcome { verdict, iterations, assumptions: None };
    let mut level = 0;
    loop {
        let t = program.abstraction(level);
        level += 1;
        if !program.reach([&t[0], &t[1]]).into_iter().any(program.is_error) {
            return outcome(Verdict::Safe, level);
        }
        if program.has_concrete_error([&t[0], &t[1]]) {
            return outcome(Verdict::Unsafe, level);
        }
    }
}

pub fn algorithm_b(program: &Program) -> Outcome {
    let exact = program.exact();
    let everything = || Relation(vec![program.all().collect(); program.shared * program.private]);
    let mut g = [everything(), everything()];
    let mut t = program.abstraction(0);
    let mut level = 0;
    let verdict = loop {
        if !program.has_error(&t, &g) {
            break Verdict::Safe;
        }
        if program.has_concrete_error([&t[0], &g[1]]) || program.has_concrete_error([&g[0], &t[1]]) {
            break Verdict::Unsafe;
        }
        if t == exact {
            break Verdict::DoNotKnow;
        }
        level += 1;
        t = program.abstraction(level);
        g = [0, 1].map(|thread: usize| program.any_private(&t[thread], |_| true));
    };
    Outcome { verdict, iterations: level + 1, assumptions: Some(g) }
}

pub fn algorithm_tar(program: &Program) -> Outcome {
    let exact = program.exact();
    let mut level = 0;
    let mut t = program.abstraction(level);
    let mut g = [program.nothing(level), program.nothing(level)];
    let mut iterations = 0;
    let verdict = loop {
        iterations += 1;
        let has_error = program.has_error(&t, &g);
        let rho = program.rho(&t, &g);
        if !has_error && (0..2).all(|thread| rho[thread].is_within(&g[thread])) {
            break Verdict::Safe;
        }
        if program.has_concrete_error([&t[0], &g[1]]) || program.has_concrete_error([&g[0], &t[1]]) {
            break Verdict::Unsafe;
        }
        if !has_error {
            let nothing = program.nothing(level);
            g = rho.map(|rho| rho.or(&nothing));
        } else if t == exact {
            break Verdict::DoNotKnow;
        } else {
            level += 1;
            t = program.abstraction(level);
            g = [program.nothing(level), program.nothing(level)];
        }
    };
    Outcome { verdict, iterations, assumptions: Some(g) }
}

impl Relation {
    fn is_within(&self, other: &Relation) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a.is_subset(b))
    }

    fn or(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// What it says of the shared state.
    pub fn shared(&self, program: &Program) -> BTreeSet<(usize, usize)> {
        let pairs = program.all().zip(&self.0);
        pairs.flat_map(|(from, to)| to.iter().map(move |to| (from.0, to.0))).collect()
    }
}

impl Program {
    fn all(&self) -> impl Iterator<Item = Own> {
        let private = self.private;
        (0..self.shared * private).map(move |number| (number / private, number % private))
    }

    fn own(&self, (shared, private): Own) -> usize {
        shared * self.private + private
    }

    fn relation(&self, successors: impl Fn(Own) -> BTreeSet<Own>) -> Relation {
        Relation(self.all().map(successors).collect())
    }

    fn exact(&self) -> [Relation; 2] {
        [0, 1].map(|thread| self.relation(|from| (self.step)(thread, from).into_iter().collect()))
    }

    /// What the predicates of a level say; a state of its own for each state past the last level.
    fn says(&self, level: usize, (shared, private): Own) -> Vec<usize> {
        if level >= self.predicates.len() {
            return vec![shared, private];
        }
        let groups = &self.predicates[..=level];
        groups.iter().flatten().map(|predicate| usize::from(predicate((shared, private)))).collect()
    }

    /// Existential: a pair that the predicates cannot tell from one of `T_i`.
    fn abstraction(&self, level: usize) -> [Relation; 2] {
        self.exact().map(|exact| {
            let concrete =
                self.all().zip(&exact.0).flat_map(|(from, to)| to.iter().map(move |to| (from, *to)));
            let classes: BTreeSet<(Vec<usize>, Vec<usize>)> =
                concrete.map(|(from, to)| (self.says(level, from), self.says(level, to))).collect();
            self.relation(|from| {
                let from = self.says(level, from);
                self.all().filter(|to| classes.contains(&(from.clone(), self.says(level, *to)))).collect()
            })
        })
    }

    /// An environment that does nothing that the predicates see.
    fn nothing(&self, level: usize) -> Relation {
        let agree = |a: usize, b: usize| {
            (0..self.private).all(|private| self.says(level, (a, private)) == self.says(level, (b, private)))
        };
        self.relation(|from| self.all().filter(|to| agree(from.0, to.0)).collect())
    }

    /// The steps of a relation from such states, with any private states: σ, if it is all states.
    fn any_private(&self, relation: &Relation, from: impl Fn(Own) -> bool) -> Relation {
        let steps = self.all().zip(&relation.0).filter(|(own, _)| from(*own));
        let shared: BTreeSet<(usize, usize)> =
            steps.flat_map(|(own, to)| to.iter().map(move |to| (own.0, to.0))).collect();
        self.relation(|own| self.all().filter(|to| shared.contains(&(own.0, to.0))).collect())
    }

    /// `ρ_1[t_1, g_2]` and `ρ_2[g_1, t_2]`.
    fn rho(&self, t: &[Relation; 2], g: &[Relation; 2]) -> [Relation; 2] {
        let first: BTreeSet<Own> = self.reach([&t[0], &g[1]]).into_iter().map(|(s, p, _)| (s, p)).collect();
        let second: BTreeSet<Own> = self.reach([&g[0], &t[1]]).into_iter().map(|(s, _, p)| (s, p)).collect();
        [
            self.any_private(&t[0], |own| first.contains(&own)),
            self.any_private(&t[1], |own| second.contains(&own)),
        ]
    }

    fn successors(&self, [first, second]: [&Relation; 2], (shared, p, q): State) -> BTreeSet<State> {
        let mut found: BTreeSet<State> =
            first.0[self.own((shared, p))].iter().map(|to| (to.0, to.1, q)).collect();
        found.extend(second.0[self.own((shared, q))].iter().map(|to| (to.0, p, to.1)));
        found
    }

    fn reach(&self, relations: [&Relation; 2]) -> BTreeSet<State> {
        self.closure(|state| self.successors(relations, state))
    }

    fn closure(&self, successors: impl Fn(State) -> BTreeSet<State>) -> BTreeSet<State> {
        let mut seen = BTreeSet::from([self.initial]);
        let mut open = vec![self.initial];
        while let Some(state) = open.pop() {
            open.extend(successors(state).into_iter().filter(|next| seen.insert(*next)));
        }
        seen
    }

    /// `R(t_1 || g_2) ∩ R(g_1 || t_2) ∩ E`
    fn has_error(&self, t: &[Relation; 2], g: &[Relation; 2]) -> bool {
        let second = self.reach([&g[0], &t[1]]);
        self.reach([&t[0], &g[1]]).into_iter().any(|state| second.contains(&state) && (self.is_error)(state))
    }

    /// A trace of these relations to an error that is one of the threads, too.
    fn has_concrete_error(&self, relations: [&Relation; 2]) -> bool {
        let [first, second] = self.exact();
        let both = |state| &self.successors(relations, state) & &self.successors([&first, &second], state);
        self.closure(both).into_iter().any(self.is_error)
    }
}
