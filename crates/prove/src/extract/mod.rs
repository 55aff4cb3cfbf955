//! From the expanded program and the facts about it to a [`System`] (decision 23).
//!
//! Errs towards more behaviour: what is not followed may be anything. What cannot be said so is [`NotCovered`].

mod cells;
mod loops;
mod values;
mod walk;

use crate::ground::{End, Ground, OpenPair, Spot};
use crate::names::{self, TID_BITS};
use crate::system::{Conflict, Creation, Edge, LocationIndex, Pairs, Step, System, Thread, ThreadIndex};
use cells::Cells;
use raddle_base::SiteId;
use raddle_facts::{Location, ObjectId, ObjectKind, Phase, Spacing, Start, ThreadId};
use raddle_ir::{BlockId, FunctionId, Operand};
use raddle_libmodel::{Effect, SyncKind};
use raddle_logic::{Op, Sort, Term, Var};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use values::Inputs;
use walk::{Seen, Walker, Ways};

/// Something that the model does not cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCovered {
    /// In the expanded program.
    pub site: Option<SiteId>,
    pub text: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    stack: Vec<Spot>,
    spot: Spot,
    phase: Phase,
}

/// A system, and where its parts come from.
pub struct Extracted<'g> {
    pub system: System,
    pub pairs: StaticPairs<'g>,
    places: Vec<Vec<Place>>,
    ground: &'g dyn Ground,
}

/// More locations are given up on.
const MOST_LOCATIONS: usize = 4_000;

pub fn extract<'g>(ground: &'g dyn Ground, open: &[OpenPair]) -> Result<Extracted<'g>, NotCovered> {
    let threads = threads(ground)?;
    let spots = spots(ground);
    let cells = Cells::of(ground, &spots);
    let locks = locks(ground, &spots);
    let stops = loops::stops(ground);
    let mut walker =
        Walker { ground, cells: &cells, locks: &locks, stops: &stops, inputs: Inputs::default() };
    let mut places = Vec::new();
    let mut all = Vec::new();
    for (_, entry) in &threads {
        let (found, ways) = explore(&mut walker, *entry)?;
        places.push(found);
        all.push(ways);
    }
    let mut systems = Vec::new();
    for (index, list) in all.into_iter().enumerate() {
        let index_of = |place: &Place| places[index].binary_search(place).unwrap_or_default();
        let (mut edges, mut steps) = (Vec::new(), Vec::new());
        for ways in list {
            let edge = |path: walk::Path| Edge {
                to: path.to.as_ref().map(index_of),
                guard: path.guard,
                updates: path.updates,
            };
            edges.push(ways.paths.into_iter().map(edge).collect());
            steps.push(
                ways.seen
                    .into_iter()
                    .map(|seen| step(ground, &threads, seen))
                    .collect::<Result<Vec<Step>, _>>()?,
            );
        }
        let (thread, entry) = threads[index];
        let name = ground.program().functions[entry].name;
        systems.push(Thread {
            name: ground.program().text(name).into(),
            many: ground.facts().threads.threads[thread].many,
            start: index_of(&start_of(entry)),
            starts_with: starts_with(&cells, &locks),
            edges,
            steps,
        });
    }
    let ids: Vec<ThreadId> = threads.iter().map(|(thread, _)| *thread).collect();
    let first = ids.iter().position(|thread| ground.facts().threads.threads[*thread].start == Start::Main);
    let Some(first) = first else { return Err(NotCovered { site: None, text: "there is no `main`" }) };
    let spots =
        places.iter().map(|list| list.iter().map(|place| (place.spot, place.phase)).collect()).collect();
    let pairs = StaticPairs {
        ground,
        threads: ids,
        spots,
        locks: locks.keys().copied().collect(),
        known: RefCell::default(),
    };
    let mut system = System {
        threads: systems,
        first,
        initial: initial(ground, &cells, &locks),
        always: Term::from(names::tid()).differs(&Term::bits(0, TID_BITS)),
        is_shared: names::is_shared,
        conflicts: Vec::new(),
    };
    system.conflicts = conflicts(ground, &system, &pairs, &places, open);
    Ok(Extracted { system, pairs, places, ground })
}

/// What runs, with its start function.
fn threads(ground: &dyn Ground) -> Result<Vec<(ThreadId, FunctionId)>, NotCovered> {
    let no = |text| Err(NotCovered { site: None, text });
    let program = ground.program();
    if !program.constructors.is_empty() || !program.destructors.is_empty() {
        return no("functions that run before or after `main`");
    }
    let mut found = Vec::new();
    for (id, thread) in ground.facts().threads.threads.iter() {
        match thread.start {
            Start::Main | Start::Created(_) => found.push((id, thread.entry)),
            Start::Client => return no("functions that clients call"),
            Start::Once(_) => return no("`pthread_once`"),
            Start::Handler(_) => return no("functions that run at the end of a thread or of the program"),
        }
    }
    Ok(found)
}

/// Every instruction that can be reached.
fn spots(ground: &dyn Ground) -> Vec<Spot> {
    let mut found = Vec::new();
    for (function, body) in ground.program().functions.iter() {
        for (block, code) in body.blocks.iter().filter(|(block, _)| ground.is_reachable(function, *block)) {
            found.extend((0..code.insts.len()).map(|index| Spot { function, block, index }));
        }
    }
    found
}

/// Places that calls acquire a lock at, with the bytes of the largest lock there.
type Locks = BTreeMap<(ObjectId, i64), u64>;

fn locks(ground: &dyn Ground, spots: &[Spot]) -> Locks {
    let mut found = Locks::new();
    for spot in spots {
        let (Some(taken), Some(called)) = (ground.taken(*spot), ground.call(*spot)) else { continue };
        let kind = match called.effects[..] {
            [Effect::Lock { family, .. }] => family.kind(),
            [Effect::Cond(..)] => SyncKind::Mutex,
            _ => SyncKind::Semaphore,
        };
        let bytes = kind.bytes(ground.program().data_model);
        let known = found.entry(taken.lock).or_insert(bytes);
        *known = bytes.max(*known);
    }
    found
}

fn start_of(entry: FunctionId) -> Place {
    let spot = Spot { function: entry, block: BlockId(0), index: 0 };
    Place { stack: Vec::new(), spot, phase: Phase::Before }
}

/// The places of a thread, sorted, with the ways on from each.
fn explore(walker: &mut Walker<'_>, entry: FunctionId) -> Result<(Vec<Place>, Vec<Ways>), NotCovered> {
    let mut known: BTreeMap<Place, Ways> = BTreeMap::new();
    let mut open = vec![start_of(entry)];
    while let Some(place) = open.pop() {
        if known.contains_key(&place) {
            continue;
        }
        if known.len() == MOST_LOCATIONS {
            return Err(NotCovered { site: None, text: "a thread with too many places" });
        }
        let ways = walker.ways(&place)?;
        open.extend(ways.paths.iter().filter_map(|path| path.to.clone()));
        known.insert(place, ways);
    }
    Ok(known.into_iter().unzip())
}

fn step(ground: &dyn Ground, threads: &[(ThreadId, FunctionId)], seen: Seen) -> Result<Step, NotCovered> {
    let mut creates = Vec::new();
    for (site, function, argument) in seen.creates {
        let is_it = |(thread, entry): &(ThreadId, FunctionId)| {
            *entry == function && ground.facts().threads.threads[*thread].start == Start::Created(site)
        };
        let Some(thread) = threads.iter().position(is_it) else {
            return Err(NotCovered { site: Some(site), text: "a thread that the facts do not have" });
        };
        let param = ground.program().functions[function].params.first();
        let passes = param.and_then(|param| {
            let var = names::register(ground.program(), function, param.reg)?;
            (var.sort == argument.sort()).then(|| (var, argument.clone()))
        });
        creates.push(Creation { thread, passes: passes.into_iter().collect() });
    }
    Ok(Step { guard: seen.guard, updates: seen.updates, creates })
}

/// What a new thread knows of its own variables.
fn starts_with(cells: &Cells, locks: &Locks) -> Term {
    let tid = Term::from(names::tid());
    let mut all = Vec::new();
    all.extend(cells.all.iter().map(|cell| Term::from(cell.writer()).differs(&tid)));
    all.extend(locks.keys().map(|lock| Term::from(names::lock(*lock)).equals(&Term::bits(0, 2))));
    all.extend(locks.keys().map(|lock| Term::from(names::owner(*lock)).differs(&tid)));
    Term::and(all)
}

fn initial(ground: &dyn Ground, cells: &Cells, locks: &Locks) -> Term {
    let free = |lock: &(ObjectId, i64)| Term::from(names::owner(*lock)).equals(&Term::bits(0, TID_BITS));
    let mut all: Vec<Term> = locks.keys().map(free).collect();
    for cell in &cells.all {
        all.push(Term::from(cell.writer()).equals(&Term::bits(0, TID_BITS)));
        let ObjectKind::Global(global) = ground.facts().points_to.objects[cell.object].kind else { continue };
        let variable = &ground.program().globals[global];
        let Some(init) = &variable.init else { continue };
        let Ok(start) = u64::try_from(cell.offset) else { continue };
        let end = start + u64::from(cell.bytes);
        let pointer = u64::from(ground.program().data_model.pointer_bytes());
        let is_relocated = init
            .relocations
            .iter()
            .any(|relocation| relocation.offset < end && start < relocation.offset + pointer);
        if is_relocated || init.is_open(start, end) || end > variable.bytes || cell.bytes > 16 {
            continue;
        }
        let byte = |at: u64| u128::from(init.data.get(at as usize).copied().unwrap_or(0));
        let value = (start..end).rev().fold(0, |value, at| value << 8 | byte(at));
        all.push(Term::from(cell.value()).equals(&Term::bits(value, 8 * cell.bytes)));
    }
    Term::and(all)
}

fn conflicts(
    ground: &dyn Ground,
    system: &System,
    pairs: &StaticPairs<'_>,
    places: &[Vec<Place>],
    open: &[OpenPair],
) -> Vec<Conflict> {
    let at = |end: &End| -> Vec<(ThreadIndex, LocationIndex)> {
        let threads = places.iter().enumerate();
        threads
            .flat_map(|(thread, list)| {
                let here = list.iter().enumerate().filter(|(_, place)| place.spot == end.spot);
                here.map(move |(location, _)| (thread, location))
            })
            .collect()
    };
    let mut found = Vec::new();
    for (question, pair) in open.iter().enumerate() {
        let overlap = overlap(ground, system, pair);
        for first in at(&pair.first) {
            for second in at(&pair.second) {
                if system.can_be_two(first.0, second.0) && pairs.may_meet(first, second) {
                    found.push(Conflict { first, second, overlap: overlap.clone(), question });
                }
            }
        }
    }
    found
}

fn overlap(ground: &dyn Ground, system: &System, pair: &OpenPair) -> Term {
    let (Some(a), Some(b)) = (address(ground, &pair.first), address(ground, &pair.second)) else {
        return Term::truth(true);
    };
    let b = system.other(&b);
    let below = |a: &Term, b: &Term, bytes: u64| {
        let distance = Term::app(Op::Sub, vec![a.clone(), b.clone()]);
        Term::app(Op::Ult, vec![distance, Term::bits(u128::from(bytes), a.width())])
    };
    let too_long = |bytes: u64| bytes >= 1 << 31;
    if too_long(pair.first.bytes) || too_long(pair.second.bytes) {
        return Term::truth(true);
    }
    Term::or([below(&a, &b, pair.second.bytes), below(&b, &a, pair.first.bytes)])
}

/// The address of an access, as the registers of its thread say it.
fn address(ground: &dyn Ground, end: &End) -> Option<Term> {
    let program = ground.program();
    let width = names::width(program, raddle_ir::Ty::Ptr)?;
    match end.address? {
        Operand::Reg(reg) => names::register(program, end.spot.function, reg).map(Term::from),
        Operand::Global(..) => {
            let mut inputs = Inputs::default();
            let values = values::Values::default();
            let value = values.operand(ground, &mut inputs, end.spot.function, end.address?, width);
            let is_known = !crate::system::mentions(&value, &mut |var| var.name.starts_with("i."));
            is_known.then_some(value)
        }
        Operand::Const(_) | Operand::Function(_) | Operand::Block(_) | Operand::Null | Operand::Undef => None,
    }
}

/// Static facts about two places.
pub struct StaticPairs<'g> {
    ground: &'g dyn Ground,
    threads: Vec<ThreadId>,
    spots: Vec<Vec<(Spot, Phase)>>,
    locks: Vec<(ObjectId, i64)>,
    #[allow(clippy::type_complexity)]
    known: RefCell<HashMap<((Spot, Phase, ThreadIndex), (Spot, Phase, ThreadIndex)), bool>>,
}

impl Pairs for StaticPairs<'_> {
    fn may_meet(&self, a: (ThreadIndex, LocationIndex), b: (ThreadIndex, LocationIndex)) -> bool {
        let ((a_spot, a_phase), (b_spot, b_phase)) = (self.spots[a.0][a.1], self.spots[b.0][b.1]);
        let key = ((a_spot, a_phase, a.0), (b_spot, b_phase, b.0));
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let locks_count = a_phase == Phase::Before && b_phase == Phase::Before;
        let place = |spot, thread: ThreadIndex| (spot, self.threads[thread]);
        let may = self.ground.may_meet(place(a_spot, a.0), place(b_spot, b.0), locks_count);
        self.known.borrow_mut().insert(key, may);
        may
    }

    fn apart(&self, a: ThreadIndex, b: ThreadIndex) -> Term {
        let pair = |var: Var| (Term::from(var.clone()), Term::from(crate::system::suffixed(&var, "'")));
        let (mine, theirs) = pair(names::tid());
        let zero = Term::bits(0, TID_BITS);
        let mut all = vec![mine.differs(&theirs), mine.differs(&zero), theirs.differs(&zero)];
        for lock in &self.locks {
            let (mine, theirs) = pair(names::lock(*lock));
            let excludes = |one: &Term, other: &Term| {
                let alone = one.equals(&Term::bits(2, 2));
                alone.implies(&other.equals(&Term::bits(0, 2)))
            };
            all.push(excludes(&mine, &theirs));
            all.push(excludes(&theirs, &mine));
        }
        if a == b {
            all.extend(self.distinct(self.threads[a]));
        }
        Term::and(all)
    }
}

impl StaticPairs<'_> {
    fn distinct(&self, thread: ThreadId) -> Vec<Term> {
        let program = self.ground.program();
        let facts = self.ground.facts().threads.distinct.iter().filter(|fact| fact.thread == thread);
        let mut found = Vec::new();
        for fact in facts {
            let Spacing::Apart { least, most } = fact.spacing else { continue };
            let Some(var) = names::register(program, fact.function, fact.reg) else { continue };
            let Sort::Bits(width) = var.sort else { continue };
            // Numbers that are further apart come close again.
            if u128::from(least) + u128::from(most) > 1 << width.min(64) {
                continue;
            }
            let (mine, theirs) = (Term::from(var.clone()), Term::from(crate::system::suffixed(&var, "'")));
            let least = Term::bits(u128::from(least), width);
            for (a, b) in [(&mine, &theirs), (&theirs, &mine)] {
                let distance = Term::app(Op::Sub, vec![a.clone(), b.clone()]);
                found.push(Term::app(Op::Ule, vec![least.clone(), distance]));
            }
        }
        found
    }
}

impl Extracted<'_> {
    /// The place of a location, as certificates name it.
    pub fn location(&self, thread: ThreadIndex, location: LocationIndex) -> Location {
        let place = &self.places[thread][location];
        let program = self.ground.program();
        let site = |spot: &Spot| program.functions[spot.function].blocks[spot.block].site_of(spot.index);
        Location {
            thread: self.pairs.threads[thread],
            stack: place.stack.iter().map(site).collect(),
            function: place.spot.function,
            block: place.spot.block,
            index: place.spot.index as u32,
            phase: place.phase,
        }
    }
}
