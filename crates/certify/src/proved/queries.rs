//! The checks (decision 23, "What is checked"), each as validity queries: initiation, consecution, creation, non-interference, race
//! exclusion. That facts are closed is checked before.
//!
//! A step counts for other threads as soon as it is done, whatever its thread does then: non-interference is asked of steps, under their own
//! condition, not of whole paths. A race is looked for at both phases of a condition wait.

use super::calls::Outcome;
use super::names::{EXCLUSIVE, LOCK_BITS, THREAD_BITS, Variable, held, of_other, owner, register, thread};
use super::places::{Place, Places};
use super::state::State;
use super::walk::{End, Path, start};
use super::{Judge, Model, Validity};
use crate::statics::{Access, Refusal, Spot};
use raddle_facts::{Phase, Spacing, Start, ThreadId};
use raddle_ir::{Reg, Ty};
use raddle_logic::{Node, Op, Sort, Term, Var};
use std::collections::{BTreeMap, BTreeSet, HashSet};

pub(super) fn check(model: &Model<'_, '_>, places: &Places, judge: &mut dyn Judge) -> Result<usize, Refusal> {
    let mut asker = Asker { model, judge, asked: HashSet::new(), policy: Policy::Stop };
    all(model, places, &mut asker)?;
    Ok(asker.asked.len())
}

/// The place, and the parts of its invariant that do not follow; without a place, what no weaker invariant helps against.
#[cfg(test)]
pub(super) type Failure = (Option<usize>, Vec<Term>);

/// Everything that does not follow.
#[cfg(test)]
pub(super) fn failures(
    model: &Model<'_, '_>,
    places: &Places,
    judge: &mut dyn Judge,
) -> Result<Vec<Failure>, Refusal> {
    let mut asker = Asker { model, judge, asked: HashSet::new(), policy: Policy::Collect(Vec::new()) };
    all(model, places, &mut asker)?;
    match asker.policy {
        Policy::Collect(found) => Ok(found),
        Policy::Stop => Ok(Vec::new()),
    }
}

fn all<'m>(
    model: &'m Model<'_, '_>,
    places: &'m Places,
    asker: &mut Asker<'_, '_, '_>,
) -> Result<(), Refusal> {
    let mut queries = Queries { model, places, steps: Vec::new() };
    queries.initiation(asker)?;
    for place in &places.list {
        queries.moves(asker, place)?;
    }
    queries.interference(asker)?;
    queries.races(asker)
}

struct Asker<'m, 's, 'a> {
    model: &'m Model<'s, 'a>,
    judge: &'m mut dyn Judge,
    asked: HashSet<Term>,
    policy: Policy,
}

/// What becomes of a claim that is not valid.
enum Policy {
    Stop,
    #[cfg(test)]
    Collect(Vec<Failure>),
}

/// What has to follow.
struct Goal {
    /// The place whose invariant it is.
    place: Option<usize>,
    /// Parts of the invariant as they are written, and as they are to follow.
    parts: Vec<(Term, Term)>,
}

impl Goal {
    fn of(place: usize, invariant: &Term, mut as_now: impl FnMut(&Term) -> Term) -> Goal {
        let parts = conjuncts(invariant).into_iter().map(|part| (part.clone(), as_now(&part))).collect();
        Goal { place: Some(place), parts }
    }

    fn only(goal: Term) -> Goal {
        Goal { place: None, parts: vec![(goal.clone(), goal)] }
    }
}

impl Asker<'_, '_, '_> {
    /// Whether the goal follows.
    fn ask(&mut self, at: Spot, rule: &'static str, given: &[Term], goal: Goal) -> Result<(), Refusal> {
        let known = Term::and(given.iter().cloned());
        if known.is_false() {
            return Ok(());
        }
        let facts: BTreeSet<Term> = conjuncts(&known).into_iter().collect();
        let mut parts = goal.parts;
        parts.retain(|(_, part)| !facts.contains(part));
        let code = self.model.standing.code();
        match self.follows(&known, &Term::and(parts.iter().map(|(_, part)| part.clone()))) {
            Validity::Valid => return Ok(()),
            Validity::Unknown(why) if matches!(self.policy, Policy::Stop) => {
                return code.refuse_at(at, "solver", why);
            }
            Validity::Invalid | Validity::Unknown(_) => {}
        }
        parts.retain(|(_, part)| self.follows(&known, part) != Validity::Valid);
        match &mut self.policy {
            Policy::Stop => {
                let parts = Term::and(parts.into_iter().map(|(part, _)| part));
                let place = goal
                    .place
                    .map_or(String::new(), |place| format!(" in the invariant of location {place}"));
                code.refuse_at(at, rule, format!("{parts}{place} does not follow from {known}"))
            }
            #[cfg(test)]
            Policy::Collect(found) => {
                found.push((goal.place, parts.into_iter().map(|(part, _)| part).collect()));
                Ok(())
            }
        }
    }

    fn follows(&mut self, known: &Term, goal: &Term) -> Validity {
        if goal.is_true() {
            return Validity::Valid;
        }
        let mut constants = BTreeSet::new();
        for term in [known, goal] {
            term.each_variable(&mut |var| {
                let named = Variable::named(&var.name);
                if matches!(named, Some(Variable::Address(_) | Variable::Function(_))) {
                    constants.insert(var.clone());
                }
            });
        }
        let defined = constants.into_iter().map(|var: Var| Term::from(var).is_nonzero());
        let claim = Term::and(defined.chain([known.clone()])).implies(goal);
        if claim.is_true() || self.asked.contains(&claim) {
            return Validity::Valid;
        }
        let verdict = self.judge.valid(&claim);
        if verdict == Validity::Valid {
            self.asked.insert(claim);
        }
        verdict
    }
}

fn conjuncts(term: &Term) -> Vec<Term> {
    match term.node() {
        Node::App(Op::And, parts) => parts.clone(),
        Node::App(..) | Node::Var(_) | Node::Bool(_) | Node::Bits { .. } => vec![term.clone()],
    }
}

/// What a step does to shared variables, by its place.
struct Step {
    place: usize,
    condition: Term,
    state: State,
}

struct Queries<'m, 's, 'a> {
    model: &'m Model<'s, 'a>,
    places: &'m Places,
    steps: Vec<Step>,
}

impl Queries<'_, '_, '_> {
    fn parameters(&self, thread: ThreadId) -> Vec<(Reg, Option<Term>)> {
        let code = self.model.standing.code();
        let entry = code.facts.threads.threads[thread].entry;
        code.program.functions[entry].params.iter().map(|param| (param.reg, None)).collect()
    }

    fn start_of(&self, thread: ThreadId) -> Option<usize> {
        let entry = self.model.standing.code().facts.threads.threads[thread].entry;
        self.places.find(thread, &start(entry), Phase::Before)
    }

    fn initiation(&self, asker: &mut Asker<'_, '_, '_>) -> Result<(), Refusal> {
        let code = self.model.standing.code();
        for (thread, facts) in code.facts.threads.threads.iter().filter(|(_, one)| one.start == Start::Main) {
            let at = start(facts.entry)[0];
            let Some(place) = self.start_of(thread) else {
                return code.refuse_at(at, "initiation", "the start of `main` is no location");
            };
            let mut state = State::at(Vec::new());
            self.model.started(&mut state, facts.entry, &self.parameters(thread));
            for cell in &self.model.mentioned.cells {
                if let Some(value) = cell.start(self.model.standing) {
                    state.set(&Variable::Memory(*cell).term(cell.bits()), Term::bits(value, cell.bits()));
                }
                state.set(&Variable::Writer(*cell).term(THREAD_BITS), Term::bits(0, THREAD_BITS));
            }
            for lock in &self.model.mentioned.locks {
                state.set(&owner(*lock), Term::bits(0, THREAD_BITS));
            }
            let given = [thread_is_named(), state.condition()];
            let goal = Goal::of(place, &self.places.list[place].invariant, |part| state.before(part));
            asker.ask(at, "initiation", &given, goal)?;
        }
        Ok(())
    }

    /// Consecution and creation, from one place.
    fn moves(&mut self, asker: &mut Asker<'_, '_, '_>, place: &Place) -> Result<(), Refusal> {
        if place.invariant.is_false() {
            return Ok(());
        }
        let Some(outcomes) = self.model.step(place)? else {
            return self.arrive(asker, place, self.model.onwards(self.places, place)?);
        };
        for outcome in outcomes.into_iter().filter(|outcome| !outcome.state.condition().is_false()) {
            self.creation(asker, place, &outcome)?;
            self.arrive(asker, place, self.model.after(self.places, place.thread, &outcome)?)?;
            let shared = |name: &str| Variable::named(name).is_some_and(|variable| !variable.is_private());
            if outcome.state.changed().any(shared) {
                let index = self.places.find(place.thread, &place.frames, place.phase);
                let condition = outcome.state.condition();
                self.steps.extend(index.map(|place| Step { place, condition, state: outcome.state }));
            }
        }
        Ok(())
    }

    fn arrive(&self, asker: &mut Asker<'_, '_, '_>, place: &Place, paths: Vec<Path>) -> Result<(), Refusal> {
        for Path { state, end } in paths {
            let mut given = vec![thread_is_named(), place.invariant.clone()];
            given.extend(state.conditions.iter().cloned());
            match end {
                End::Location(next) => {
                    let goal = Goal::of(next, &self.places.list[next].invariant, |part| state.before(part));
                    asker.ask(place.spot(), "consecution", &given, goal)?;
                }
                End::Stuck(at, why) => asker.ask(at, why, &given, Goal::only(Term::truth(false)))?,
            }
        }
        Ok(())
    }

    fn creation(
        &self,
        asker: &mut Asker<'_, '_, '_>,
        place: &Place,
        outcome: &Outcome,
    ) -> Result<(), Refusal> {
        let Some(created) = &outcome.created else { return Ok(()) };
        let code = self.model.standing.code();
        let entry = code.facts.threads.threads[created.thread].entry;
        let at = place.spot();
        let mut given = vec![thread_is_named(), of_other(&thread_is_named()), place.invariant.clone()];
        given.extend(outcome.state.conditions.iter().cloned());
        given.push(of_other(&thread()).differs(&thread()));
        let mentioned = self.model.mentioned;
        let writers = mentioned.cells.iter().map(|cell| Variable::Writer(*cell).term(THREAD_BITS));
        for named in writers.chain(mentioned.locks.iter().map(|lock| owner(*lock))) {
            given.push(of_other(&thread()).differs(&named));
            given.push(of_other(&thread()).differs(&outcome.state.now(&named)));
        }
        let Some(first) = self.start_of(created.thread) else {
            let never = Goal::only(Term::truth(false));
            return asker.ask(at, "the start of a thread is no location", &given, never);
        };
        // The parameters are the creator's terms; what else is private is the new thread's own.
        let mut fresh = State::at(Vec::new());
        self.model.started(&mut fresh, entry, &created.parameters);
        given.extend(fresh.conditions.iter().cloned());
        let mut there = |var: &Var| {
            let variable = Term::from(var.clone());
            match Variable::named(&var.name).is_some_and(Variable::is_private) {
                true if fresh.changes(&var.name) => Some(fresh.now(&variable)),
                true => Some(of_other(&variable)),
                false => Some(outcome.state.now(&variable)),
            }
        };
        let goal = Goal::of(first, &self.places.list[first].invariant, |part| part.substitute(&mut there));
        asker.ask(at, "creation", &given, goal)
    }

    fn interference(&self, asker: &mut Asker<'_, '_, '_>) -> Result<(), Refusal> {
        for step in &self.steps {
            let by = &self.places.list[step.place];
            let shared = |name: &str| !Variable::named(name).is_some_and(Variable::is_private);
            let changed: BTreeMap<String, Term> = (step.state.changed().filter(|name| shared(name)))
                .filter_map(|name| Some((name.to_owned(), step.state.now(&self.shared_variable(name)?))))
                .collect();
            for (index, place) in self.places.list.iter().enumerate() {
                let touched =
                    |part: &Term| part.variables().iter().any(|var| changed.contains_key(&*var.name));
                let parts: Vec<Term> = conjuncts(&place.invariant).into_iter().filter(touched).collect();
                if parts.is_empty() || !self.may_meet(place, by) {
                    continue;
                }
                let mut given =
                    vec![place.invariant.clone(), of_other(&by.invariant), of_other(&step.condition)];
                given.extend(self.two_threads(place, by));
                let mut now = |var: &Var| changed.get(&*var.name).map(of_other);
                let goal = Goal::of(index, &Term::and(parts), |part| part.substitute(&mut now));
                asker.ask(place.spot(), "non-interference", &given, goal)?;
            }
        }
        Ok(())
    }

    fn shared_variable(&self, name: &str) -> Option<Term> {
        let Sort::Bits(bits) = Variable::named(name)?.sort(self.model.standing)? else { return None };
        Some(Term::var(name, Sort::Bits(bits)))
    }

    fn races(&self, asker: &mut Asker<'_, '_, '_>) -> Result<(), Refusal> {
        let mut at: BTreeMap<Spot, Vec<&Place>> = BTreeMap::new();
        for place in &self.places.list {
            at.entry(place.spot()).or_default().push(place);
        }
        let places = |spot: Spot| at.get(&spot).map_or(&[][..], |list| &list[..]);
        for open in self.model.standing.open() {
            let [a, b] = open.accesses;
            for first in places(a.at) {
                for second in places(b.at).iter().filter(|second| self.may_meet(first, second)) {
                    let mut given = vec![first.invariant.clone(), of_other(&second.invariant)];
                    given.extend(self.two_threads(first, second));
                    asker.ask(a.at, "race", &given, Goal::only(self.overlap(a, b).negated()))?;
                }
            }
        }
        Ok(())
    }

    fn may_meet(&self, a: &Place, b: &Place) -> bool {
        let locks = a.phase == Phase::Before && b.phase == Phase::Before;
        self.model.standing.may_meet(a.spot(), a.thread, b.spot(), b.thread, locks)
    }

    /// Whether two accesses touch a common byte; the second is the other thread's.
    fn overlap(&self, a: &Access<'_>, b: &Access<'_>) -> Term {
        let state = State::at(Vec::new());
        let address = |access: &Access<'_>| {
            let operand = access.address?;
            self.model.operand(&state, access.at.function, operand, Ty::Ptr)
        };
        let (Some(first), Some(second)) = (address(a), address(b)) else { return Term::truth(true) };
        let second = of_other(&second);
        let bits = first.width();
        let within = |distance: Term, bytes: u64| {
            // An upper bound that no address is beyond.
            let all = u128::from(bytes) >= 1 << bits || bytes == u64::MAX;
            match all {
                true => Term::truth(true),
                false => Term::app(Op::Ult, vec![distance, Term::bits(u128::from(bytes), bits)]),
            }
        };
        let minus = |x: &Term, y: &Term| Term::app(Op::Sub, vec![x.clone(), y.clone()]);
        Term::or([within(minus(&first, &second), b.bytes), within(minus(&second, &first), a.bytes)])
    }

    /// What is known of a thread at one place and another one at the other.
    fn two_threads(&self, a: &Place, b: &Place) -> Vec<Term> {
        let mut known =
            vec![thread_is_named(), of_other(&thread_is_named()), thread().differs(&of_other(&thread()))];
        for lock in &self.model.mentioned.locks {
            let (mine, theirs) = (held(*lock), of_other(&held(*lock)));
            let exclusive = Term::bits(EXCLUSIVE, LOCK_BITS);
            known.push(Term::or([mine.differs(&exclusive), theirs.is_nonzero().negated()]));
            known.push(Term::or([theirs.differs(&exclusive), mine.is_nonzero().negated()]));
        }
        if a.thread == b.thread {
            known.extend(self.distinct(a, b));
        }
        known
    }

    /// Registers that differ between instances of a thread, where both have assigned them.
    fn distinct(&self, a: &Place, b: &Place) -> Vec<Term> {
        let code = self.model.standing.code();
        let mut known = Vec::new();
        for fact in code.facts.threads.distinct.iter().filter(|fact| fact.thread == a.thread) {
            let Spacing::Apart { least, most } = fact.spacing else { continue };
            let ty = code.program.functions[fact.function].regs[fact.reg].ty;
            let Some(bits) = self.model.width(ty) else { continue };
            let (least, most) = (u128::from(least), u128::from(most));
            // Numbers that are further apart may be close to each other modulo 2^bits.
            let circle = 1_u128.checked_shl(bits).unwrap_or(u128::MAX);
            let is_assigned = |place: &Place| {
                let definition = code.flows[fact.function].definition(fact.reg);
                place.frames.iter().any(|at| {
                    at.function == fact.function
                        && definition.precedes(&code.flows[at.function], at.block, at.index)
                })
            };
            if least == 0 || most.saturating_add(least) > circle || !is_assigned(a) || !is_assigned(b) {
                continue;
            }
            let mine = register(fact.function, fact.reg, bits);
            let theirs = of_other(&mine);
            let apart = |x: &Term, y: &Term| {
                let distance = Term::app(Op::Sub, vec![x.clone(), y.clone()]);
                Term::app(Op::Ule, vec![Term::bits(least, bits), distance])
            };
            known.push(apart(&mine, &theirs));
            known.push(apart(&theirs, &mine));
        }
        known
    }
}

fn thread_is_named() -> Term {
    thread().is_nonzero()
}
