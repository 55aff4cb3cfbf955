//! Why accesses cannot race, asked again after the analysis: for one pair, or for everything that conflicts with one source line.
//!
//! The rules are those of [`crate::rules`], asked pair by pair; nothing is decided here. A pair that is in the list of warnings may race,
//! whatever a rule says: an argument by publication may have been withdrawn.

use crate::published::Unpublished;
use crate::rules::{Class, LockKey, Memo, Reason, Rules};
use crate::{Analysis, LockNames};
use raddle_absint::terms::term_of;
use raddle_base::SiteId;
use raddle_facts::{GateKind, HeldLock, LockMode, ObjectId, ThreadId};
use raddle_finding::{
    ExplainedAccess, ExplainedLock, Explanation, OrderBy, OtherAccess, PairStanding, Reach, RunningThread,
    ThreadReport, Why,
};
use raddle_ir::Program;
use std::collections::{BTreeMap, BTreeSet};

/// Lines with accesses that are named when a line has none.
const NEARBY: usize = 4;

/// Accesses that are listed for each access, besides those that may race.
const LISTED: usize = 40;

impl Analysis {
    /// Everything about the accesses of a line. `program` is the original one; a file is named by the end of its path.
    pub fn explain(&self, program: &Program, file: &str, line: u32) -> Explanation {
        let is_file = |name: &str| name == file || name.ends_with(&format!("/{file}"));
        let mut here: Vec<usize> = Vec::new();
        let mut lines: BTreeSet<u32> = BTreeSet::new();
        for (index, access) in self.accesses.iter().enumerate() {
            let span = program.sites[self.expanded.site_origin[access.site]].span;
            let Some(span) =
                span.filter(|span| program.files.get(span.file).is_some_and(|name| is_file(name)))
            else {
                continue;
            };
            lines.insert(span.line);
            if span.line == line {
                here.push(index);
            }
        }
        let mut explainer = Explainer::new(self);
        let mut accesses: Vec<(SiteId, ExplainedAccess)> = Vec::new();
        for index in here {
            let explained = explainer.access(program, index);
            let site = self.expanded.site_origin[self.accesses[index].site];
            match accesses.iter_mut().find(|(of, known)| *of == site && alike(known, &explained)) {
                Some((_, known)) => merge(known, explained),
                None => accesses.push((site, explained)),
            }
        }
        let mut nearby: Vec<u32> = lines.into_iter().collect();
        nearby.sort_by_key(|other| (other.abs_diff(line), *other));
        nearby.truncate(NEARBY);
        nearby.sort_unstable();
        let mut accesses: Vec<ExplainedAccess> = accesses.into_iter().map(|(_, access)| access).collect();
        accesses.iter_mut().for_each(shorten);
        let nearby = if accesses.is_empty() { nearby } else { Vec::new() };
        Explanation { file: file.to_owned(), line, accesses, nearby }
    }
}

/// Asks the rules again.
pub struct Explainer<'a> {
    analysis: &'a Analysis,
    rules: Rules<'a>,
    unpublished: Unpublished<'a>,
    names: LockNames,
}

impl<'a> Explainer<'a> {
    pub fn new(analysis: &'a Analysis) -> Self {
        let facts = &analysis.facts;
        let rules = Rules {
            program: &analysis.expanded.program,
            definitions: &analysis.definitions,
            values: &facts.values,
            points_to: &facts.points_to,
            threads: &facts.threads,
            order: &facts.order,
            accesses: &analysis.accesses,
            states: &analysis.states,
            memo: Memo::new(analysis.accesses.len()),
        };
        let unpublished = Unpublished::new(
            &analysis.expanded.program,
            &analysis.calls,
            &analysis.definitions,
            &facts.values,
            &facts.points_to,
            &facts.threads,
        );
        Explainer { analysis, rules, unpublished, names: analysis.lock_names() }
    }

    /// Two threads in which a pair of accesses may race.
    pub fn racing_threads(&mut self, first: usize, second: usize) -> Option<(ThreadId, ThreadId)> {
        let objects: Vec<ObjectId> = self.common(first, second);
        for object in objects {
            let one = self.rules.classes(object, &[first], &mut self.unpublished);
            let other = self.rules.classes(object, &[second], &mut self.unpublished);
            for a in &one {
                for b in other.iter().filter(|b| self.rules.conflict(object, a, b)) {
                    let open = |pair: &(ThreadId, ThreadId)| {
                        matches!(self.rules.reason(a, pair.0, b, pair.1), None | Some(Reason::Unpublished))
                    };
                    if let Some(pair) = self.parallel(first, second).find(open) {
                        return Some(pair);
                    }
                }
            }
        }
        None
    }

    /// Pairs of threads, or instances, that may run the two accesses at once.
    fn parallel(&self, first: usize, second: usize) -> impl Iterator<Item = (ThreadId, ThreadId)> {
        let facts = &self.analysis.facts.threads;
        let runs = |index: usize| facts.runs[self.analysis.accesses[index].function].iter();
        let pairs: Vec<(ThreadId, ThreadId)> = runs(first)
            .flat_map(|a| runs(second).map(move |b| (*a, *b)))
            .filter(|(a, b)| a != b || facts.threads[*a].many)
            .collect();
        pairs.into_iter()
    }

    fn common(&self, first: usize, second: usize) -> Vec<ObjectId> {
        let facts = &self.analysis.facts;
        let objects = |index: usize| -> BTreeSet<ObjectId> {
            let targets = self.analysis.accesses[index].targets(&facts.points_to).iter();
            targets.map(|(object, _)| *object).filter(|object| facts.threads.shared[*object]).collect()
        };
        objects(first).intersection(&objects(second)).copied().collect()
    }

    fn access(&mut self, program: &Program, index: usize) -> ExplainedAccess {
        let analysis = self.analysis;
        let access = &analysis.accesses[index];
        let facts = &analysis.facts;
        let objects: BTreeSet<ObjectId> =
            access.targets(&facts.points_to).iter().map(|(object, _)| *object).collect();
        let shared = objects.iter().any(|object| facts.threads.shared[*object]);
        let threads = facts.threads.runs[access.function].iter().map(|thread| {
            let (name, created) = analysis.thread(*thread);
            let created = created.map(|site| Analysis::frame(program, site)).into_iter().collect();
            RunningThread {
                thread: ThreadReport { name, created },
                many: facts.threads.threads[*thread].many,
            }
        });
        // That a thread comes after its own creation goes without saying.
        let own = |gate: &GateKind| match gate {
            GateKind::Started(thread) => facts.threads.runs[access.function].contains(thread),
            _ => false,
        };
        let passed = analysis.states[index].order.passed.iter().map(|gate| facts.order.gates[*gate].kind);
        let mut after: Vec<OrderBy> =
            passed.filter(|gate| !own(gate)).map(|gate| self.order_by(gate)).collect();
        after.sort();
        after.dedup();
        ExplainedAccess {
            at: Analysis::frame(program, analysis.expanded.site_origin[access.site]),
            action: Analysis::action(access).to_owned(),
            atomic: access.atomic.is_some(),
            expression: analysis.expression(access),
            contexts: 1,
            objects: objects
                .iter()
                .map(|object| analysis.object(*object))
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            reach: if shared { Reach::Shared } else { Reach::Private },
            threads: threads.collect(),
            locks: analysis.states[index].locks.iter().map(|held| self.lock(held)).collect(),
            after,
            others: self.others(program, index, &objects),
            more: 0,
        }
    }

    fn lock(&self, held: &HeldLock) -> ExplainedLock {
        ExplainedLock {
            name: self.analysis.lock_name(&self.names, held.lock),
            shared: held.mode == LockMode::Shared,
            conditional: held.guard.is_some(),
            since: held.history.iter().map(|lock| self.analysis.lock_name(&self.names, *lock)).collect(),
        }
    }

    /// Conflicting accesses, one per source place and action.
    fn others(&mut self, program: &Program, index: usize, objects: &BTreeSet<ObjectId>) -> Vec<OtherAccess> {
        let mut found: BTreeMap<(SiteId, &'static str), OtherAccess> = BTreeMap::new();
        for object in objects {
            if !self.analysis.facts.threads.shared[*object] {
                continue;
            }
            let points_to = &self.analysis.facts.points_to;
            let touches =
                |index: &usize| self.analysis.accesses[*index].in_object(points_to, *object).next().is_some();
            let list: Vec<usize> = (0..self.analysis.accesses.len()).filter(touches).collect();
            let own = self.rules.classes(*object, &[index], &mut self.unpublished);
            let classes = self.rules.classes(*object, &list, &mut self.unpublished);
            for a in &own {
                for b in classes.iter().filter(|b| self.rules.conflict(*object, a, b)) {
                    let reasons = self.reasons(a, index, b);
                    for member in &b.members {
                        let may_race = self.analysis.pairs.relation.may_race(index, *member);
                        if *member == index && reasons.is_none() {
                            continue;
                        }
                        let standing = match &reasons {
                            _ if may_race => PairStanding::MayRace,
                            None => continue,
                            Some(reasons) => PairStanding::RuledOut(reasons.clone()),
                        };
                        self.note(program, *member, standing, &mut found);
                    }
                }
            }
        }
        found.into_values().collect()
    }

    fn note(
        &self,
        program: &Program,
        member: usize,
        standing: PairStanding,
        found: &mut BTreeMap<(SiteId, &'static str), OtherAccess>,
    ) {
        let analysis = self.analysis;
        let access = &analysis.accesses[member];
        let site = analysis.expanded.site_origin[access.site];
        let action = Analysis::action(access);
        let threads = &analysis.facts.threads.runs[access.function];
        let threads: Vec<String> = threads.iter().map(|thread| analysis.thread(*thread).0).collect();
        let other = found.entry((site, action)).or_insert_with(|| OtherAccess {
            at: Analysis::frame(program, site),
            action: action.to_owned(),
            atomic: access.atomic.is_some(),
            expression: analysis.expression(access),
            threads: Vec::new(),
            standing: PairStanding::RuledOut(Vec::new()),
        });
        other.threads.extend(threads);
        other.threads.sort();
        other.threads.dedup();
        join(&mut other.standing, standing);
    }

    /// Why the access and a class never race; `None`: only in one thread, one after the other, and not worth a word.
    fn reasons(&self, own: &Class, index: usize, other: &Class) -> Option<Vec<Why>> {
        let mut reasons = BTreeSet::new();
        let first = other.members[0];
        for (a, b) in self.parallel(index, first) {
            match self.rules.reason(own, a, other, b) {
                Some(reason) => {
                    reasons.insert(self.why(&reason, own, other));
                }
                None => continue,
            }
        }
        if reasons.is_empty() {
            let threads = &self.analysis.facts.threads.runs[self.analysis.accesses[index].function];
            let thread = threads.first().filter(|_| index != first)?;
            let elsewhere = self.parallel(index, first).next().is_some();
            if elsewhere {
                return Some(Vec::new());
            }
            reasons.insert(Why::SameThread { thread: self.analysis.thread(*thread).0 });
        }
        Some(reasons.into_iter().collect())
    }

    fn why(&self, reason: &Reason, own: &Class, other: &Class) -> Why {
        let lock = |term| self.analysis.lock_name(&self.names, term);
        match reason {
            Reason::Ordered { gate, first_is_earlier } => {
                Why::Ordered { by: self.order_by(*gate), this_is_earlier: *first_is_earlier }
            }
            Reason::Rounds { barrier } => Why::Rounds { barrier: lock(*barrier) },
            Reason::CommonLock(LockKey::Global(term, _)) => Why::CommonLock { name: lock(*term) },
            Reason::CommonLock(key) => Why::CommonLock { name: self.lock_of_object(*key, own) },
            Reason::Histories { held_by_first, held_by_second } => {
                Why::Histories { held_here: lock(*held_by_first), held_there: lock(*held_by_second) }
            }
            Reason::OwnCell => Why::OwnCell,
            Reason::Unpublished => {
                Why::Unpublished { this_is_earlier: own.unpublished || !other.unpublished }
            }
        }
    }

    /// The held lock that such a key stands for, by the access' own name for it.
    fn lock_of_object(&self, key: LockKey, own: &Class) -> String {
        let access = &self.analysis.accesses[own.members[0]];
        let address =
            access.address.map(|address| term_of(&self.analysis.facts.values, access.function, address));
        let fits = |held: &&HeldLock| match (key, address) {
            (LockKey::AtDistance(bytes, _), Some(address)) => held.lock.distance(address) == Some(bytes),
            (_, Some(address)) => held.lock.root == address.root,
            (_, None) => false,
        };
        match self.analysis.held(own.members[0]).find(fits) {
            Some(held) => self.analysis.lock_name(&self.names, held.lock),
            None => "the lock of the object".to_owned(),
        }
    }

    fn order_by(&self, gate: GateKind) -> OrderBy {
        let thread = |thread: ThreadId| self.analysis.thread(thread).0;
        let name = |term| self.analysis.lock_name(&self.names, term);
        match gate {
            GateKind::Started(id) => OrderBy::Creation { thread: thread(id) },
            GateKind::Exited(id) => OrderBy::End { thread: thread(id) },
            GateKind::Semaphore(term) => OrderBy::Semaphore { name: name(term) },
            GateKind::AtomicFlag(term) | GateKind::FencedFlag(term) => OrderBy::Flag { name: name(term) },
            GateKind::LockedFlag(flag, lock) => OrderBy::LockedFlag { name: name(flag), lock: name(lock) },
        }
    }
}

/// Whether two contexts of one access can be told together.
fn alike(a: &ExplainedAccess, b: &ExplainedAccess) -> bool {
    a.action == b.action && a.objects == b.objects && a.reach == b.reach && a.locks == b.locks
}

fn merge(into: &mut ExplainedAccess, other: ExplainedAccess) {
    into.contexts += other.contexts;
    into.after.retain(|order| other.after.contains(order));
    for thread in other.threads {
        if !into.threads.contains(&thread) {
            into.threads.push(thread);
        }
    }
    for access in other.others {
        match into.others.iter_mut().find(|known| known.at == access.at && known.action == access.action) {
            Some(known) => {
                known.threads.extend(access.threads);
                known.threads.sort();
                known.threads.dedup();
                join(&mut known.standing, access.standing);
            }
            None => into.others.push(access),
        }
    }
}

fn join(into: &mut PairStanding, other: PairStanding) {
    match (into, other) {
        (PairStanding::MayRace, _) => {}
        (into, PairStanding::MayRace) => *into = PairStanding::MayRace,
        (PairStanding::RuledOut(reasons), PairStanding::RuledOut(more)) => {
            reasons.extend(more);
            reasons.sort();
            reasons.dedup();
            // Where there is more to say, that some contexts are in one thread goes without saying.
            if reasons.iter().any(|why| !matches!(why, Why::SameThread { .. })) {
                reasons.retain(|why| !matches!(why, Why::SameThread { .. }));
            }
        }
    }
}

/// What may race first, then by place; the long rest is counted only.
fn shorten(access: &mut ExplainedAccess) {
    access.others.sort_by(|a, b| {
        let apart = |other: &OtherAccess| other.standing != PairStanding::MayRace;
        (apart(a), &a.at, &a.action).cmp(&(apart(b), &b.at, &b.action))
    });
    let racing = access.others.iter().filter(|other| other.standing == PairStanding::MayRace).count();
    let shown = (racing + LISTED).min(access.others.len());
    access.more = access.others.len() - shown;
    access.others.truncate(shown);
}
