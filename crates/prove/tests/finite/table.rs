//! What a system of few small bit-vectors does, by enumeration of all values: no solver and no terms after this.
//!
//! A state of the shared variables is a number, and so is one of the private variables of a thread.

use raddle_logic::{Assignment, Term, Value, Var};
use raddle_prove::system::{Conflict, Creation, Pairs, System, ThreadIndex, suffixed};
use raddle_prove::tar::Environment;

/// Variables of one width, as they stand in a number: the first one in the lowest bits.
pub struct Space {
    pub width: u32,
    pub shared: Vec<Var>,
    pub private: Vec<Var>,
    pub inputs: Vec<Var>,
}

/// What one edge and its step (of the same number) do at once.
pub struct Move {
    pub shared: usize,
    pub private: usize,
    /// Threads, and the private states they can start in.
    pub creates: Vec<(ThreadIndex, Vec<usize>)>,
}

/// Per thread, location, edge or step, and state (see [`Table::state`]): what can come of it.
pub type Outcomes<T> = Vec<Vec<Vec<Vec<Vec<T>>>>>;

pub struct Table {
    pub shared: usize,
    pub private: usize,
    pub initial: Vec<usize>,
    /// Of the first thread.
    pub starts: Vec<usize>,
    /// Shared and private state after it.
    pub edges: Outcomes<(usize, usize)>,
    /// Shared state after the step of a thread, as others know it.
    pub steps: Outcomes<usize>,
    /// A thread that a step creates, with its shared and private state.
    pub creations: Outcomes<(ThreadIndex, usize, usize)>,
    pub moves: Outcomes<Move>,
}

impl Space {
    fn count(&self, variables: &[Var]) -> usize {
        1 << (self.width as usize * variables.len())
    }

    fn assign(&self, into: &mut Assignment, variables: &[Var], suffix: &str, number: usize) {
        for (index, var) in variables.iter().enumerate() {
            let value = (number >> (index * self.width as usize)) & ((1 << self.width) - 1);
            into.insert(suffixed(var, suffix), Value::Bits { value: value as u128, width: self.width });
        }
    }

    pub fn values(&self, shared: usize, private: usize) -> Assignment {
        let mut values = Assignment::new();
        self.assign(&mut values, &self.shared, "", shared);
        self.assign(&mut values, &self.private, "", private);
        values
    }

    /// With the private variables of a second thread, as [`System::other`] names them.
    pub fn values_of_two(&self, shared: usize, first: usize, second: usize) -> Assignment {
        let mut values = self.values(shared, first);
        self.assign(&mut values, &self.private, "'", second);
        values
    }

    fn after(&self, variables: &[Var], before: usize, updates: &[(Var, Term)], values: &Assignment) -> usize {
        let mut after = before;
        for (index, var) in variables.iter().enumerate() {
            if let Some((_, term)) = updates.iter().find(|(changed, _)| changed == var) {
                let low = index * self.width as usize;
                after = after & !(((1 << self.width) - 1) << low) | number(term, values) << low;
            }
        }
        after
    }
}

pub fn holds(term: &Term, values: &Assignment) -> bool {
    term.eval(values) == Ok(Value::Bool(true))
}

fn number(term: &Term, values: &Assignment) -> usize {
    match term.eval(values) {
        Ok(Value::Bits { value, .. }) => value as usize,
        Ok(Value::Bool(_)) | Err(_) => panic!("{term} is no number"),
    }
}

impl Table {
    pub fn new(system: &System, space: &Space, environment: Environment) -> Table {
        let (shared, private) = (space.count(&space.shared), space.count(&space.private));
        let starts = |term: &Term| {
            let all = Term::and([term.clone(), system.always.clone()]);
            (0..private).filter(|p| holds(&all, &space.values(0, *p))).collect::<Vec<usize>>()
        };
        let mut table = Table {
            shared,
            private,
            initial: (0..shared).filter(|s| holds(&system.initial, &space.values(*s, 0))).collect(),
            starts: starts(&system.thread(system.first).starts_with),
            edges: Vec::new(),
            steps: Vec::new(),
            creations: Vec::new(),
            moves: Vec::new(),
        };
        let inputs = space.count(&space.inputs);
        let all: Vec<(usize, usize, Vec<Assignment>)> = (0..shared * private)
            .map(|state| {
                let (s, p) = (state / private, state % private);
                let with_input = |input| {
                    let mut values = space.values(s, p);
                    space.assign(&mut values, &space.inputs, "", input);
                    values
                };
                (s, p, (0..inputs).map(with_input).collect())
            })
            .collect();
        let guarded =
            |guard: &Term, values: &Assignment| holds(&system.always, values) && holds(guard, values);
        for thread in &system.threads {
            table.edges.push(each(&thread.edges, &all, |edge, s, p, values| {
                let after = || {
                    let s = space.after(&space.shared, s, &edge.updates, values);
                    (s, space.after(&space.private, p, &edge.updates, values))
                };
                if guarded(&edge.guard, values) { vec![after()] } else { Vec::new() }
            }));
            table.steps.push(each(&thread.steps, &all, |step, s, _, values| {
                if !guarded(&step.guard, values) {
                    return Vec::new();
                }
                let relation = space.after(&space.shared, s, &step.updates, values);
                let kept = space
                    .shared
                    .iter()
                    .filter(|var| !step.updates.iter().any(|(changed, _)| changed == *var));
                let kept: Vec<Var> = kept.cloned().collect();
                match environment {
                    Environment::Relation => vec![relation],
                    Environment::Havoc => (0..shared).filter(|other| space.agree(&kept, s, *other)).collect(),
                }
            }));
            let born = |creation: &Creation, values: &Assignment| {
                let starts = starts(&system.thread(creation.thread).starts_with);
                let passed = starts.iter().map(|p| space.after(&space.private, *p, &creation.passes, values));
                let mut born: Vec<usize> = passed.collect();
                born.sort_unstable();
                born.dedup();
                born
            };
            table.creations.push(each(&thread.steps, &all, |step, s, _, values| {
                if !guarded(&step.guard, values) {
                    return Vec::new();
                }
                let s = space.after(&space.shared, s, &step.updates, values);
                let of = |creation: &Creation| {
                    let thread = creation.thread;
                    born(creation, values).into_iter().map(move |p| (thread, s, p))
                };
                step.creates.iter().flat_map(of).collect()
            }));
            let pairs: Vec<Vec<_>> =
                thread.edges.iter().zip(&thread.steps).map(|(e, s)| e.iter().zip(s).collect()).collect();
            table.moves.push(each(&pairs, &all, |(edge, step), s, p, values| {
                if !guarded(&edge.guard, values) || !guarded(&step.guard, values) {
                    return Vec::new();
                }
                let creates =
                    step.creates.iter().map(|creation| (creation.thread, born(creation, values))).collect();
                let shared = space.after(&space.shared, s, &edge.updates, values);
                vec![Move { shared, private: space.after(&space.private, p, &edge.updates, values), creates }]
            }));
        }
        table
    }

    pub fn state(&self, shared: usize, private: usize) -> usize {
        shared * self.private + private
    }
}

impl Space {
    fn agree(&self, variables: &[Var], a: usize, b: usize) -> bool {
        let (a, b) = (self.values(a, 0), self.values(b, 0));
        variables.iter().all(|var| a[var] == b[var])
    }

    pub fn number(&self, value: usize) -> Term {
        Term::bits(value as u128 & ((1 << self.width) - 1), self.width)
    }
}

/// Of all things at the locations of a thread, what they do in each state, with each input.
fn each<E, T>(
    places: &[Vec<E>],
    all: &[(usize, usize, Vec<Assignment>)],
    outcomes: impl Fn(&E, usize, usize, &Assignment) -> Vec<T>,
) -> Vec<Vec<Vec<Vec<T>>>> {
    let of_state = |thing: &E, (s, p, inputs): &(usize, usize, Vec<Assignment>)| -> Vec<T> {
        inputs.iter().flat_map(|values| outcomes(thing, *s, *p, values)).collect()
    };
    let of_thing = |thing: &E| all.iter().map(|state| of_state(thing, state)).collect();
    places.iter().map(|things| things.iter().map(of_thing).collect()).collect()
}

/// Whether two threads in these private states are at the conflict.
pub fn is_conflict(space: &Space, pairs: &dyn Pairs, conflict: &Conflict, at: (usize, usize, usize)) -> bool {
    let apart = pairs.apart(conflict.first.0, conflict.second.0);
    let both = Term::and([apart, conflict.overlap.clone()]);
    holds(&both, &space.values_of_two(at.0, at.1, at.2))
}
