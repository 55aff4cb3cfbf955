//! Whether the facts fit the program at all: as many entries as there are functions, blocks and registers, and every id in them
//! leads somewhere. All other rules index without asking.

use super::Refusal;
use super::patterns;
use raddle_base::{IdVec, SiteId};
use raddle_facts::{
    Facts, Guard, HeldLock, LocalLocks, LocalOrder, ObjectId, ObjectKind, Offsets, Released, Start,
    StaticProof, Term, ThreadId,
};
use raddle_ir::{FunctionId, Program, Reg};

pub(crate) fn check(program: &Program, proof: &StaticProof) -> Result<(), Refusal> {
    let facts = &proof.facts;
    let sizes = Sizes { program, facts };
    let steps: [(&str, bool); 5] = [
        ("values", sizes.values()),
        ("points-to", sizes.points_to()),
        ("threads", sizes.threads()),
        ("order", sizes.order()),
        ("locks", sizes.locks()),
    ];
    match steps.iter().find(|(_, fits)| !fits) {
        None => Ok(()),
        Some((which, _)) => {
            let text = format!("the facts about {which} are not about this program");
            Err(Refusal { place: None, rule: "sizes", text })
        }
    }
}

struct Sizes<'a> {
    program: &'a Program,
    facts: &'a Facts,
}

impl Sizes<'_> {
    /// One row per function, each as long as `length` says.
    fn rows<T>(&self, rows: &IdVec<FunctionId, Vec<T>>, length: impl Fn(FunctionId) -> usize) -> bool {
        rows.len() == self.program.functions.len() && rows.iter().all(|(id, row)| row.len() == length(id))
    }

    fn blocks(&self, function: FunctionId) -> usize {
        self.program.functions[function].blocks.len()
    }

    fn regs(&self, function: FunctionId) -> usize {
        self.program.functions[function].regs.len()
    }

    fn reg(&self, function: FunctionId, reg: Reg) -> bool {
        self.program.functions.get(function).is_some_and(|f| f.regs.get(reg).is_some())
    }

    fn site(&self, site: SiteId) -> bool {
        self.program.sites.get(site).is_some()
    }

    fn object(&self, object: ObjectId) -> bool {
        self.facts.points_to.objects.get(object).is_some()
    }

    fn thread(&self, thread: ThreadId) -> bool {
        self.facts.threads.threads.get(thread).is_some()
    }

    fn place(&self, (object, at): (ObjectId, Offsets)) -> bool {
        self.object(object) && patterns::is_well_formed(at)
    }

    fn term(&self, term: Term) -> bool {
        let root = match term.root {
            raddle_facts::Root::Global(global) => {
                self.program.globals.get(global).is_some_and(|global| !global.thread_local)
            }
            raddle_facts::Root::Function(function) => self.program.functions.get(function).is_some(),
            raddle_facts::Root::Zero | raddle_facts::Root::Reg(..) => true,
        };
        root && term.registers().all(|(function, reg)| self.reg(function, reg))
    }

    fn values(&self) -> bool {
        let values = &self.facts.values;
        self.rows(&values.reachable, |f| self.blocks(f))
            && self.rows(&values.terms, |f| self.regs(f))
            && self.rows(&values.intervals, |f| self.regs(f))
            && self.rows(&values.memory, |f| self.blocks(f))
            && values.terms.values().flatten().flatten().all(|term| self.term(*term))
            && values.intervals.values().flatten().all(|interval| interval.low <= interval.high)
            && values
                .memory
                .values()
                .flatten()
                .flatten()
                .all(|fact| self.term(fact.cell) && self.term(fact.value) && (1..=8).contains(&fact.bytes))
            && values.loads.iter().all(|(site, term)| self.site(*site) && self.term(*term))
    }

    fn points_to(&self) -> bool {
        let facts = &self.facts.points_to;
        let set = |id: &raddle_facts::SetId| facts.sets.get(*id).is_some();
        let kind = |kind: ObjectKind| match kind {
            ObjectKind::Global(global) => {
                self.program.globals.get(global).is_some_and(|global| !global.thread_local)
            }
            ObjectKind::ThreadLocal(global) => {
                self.program.globals.get(global).is_some_and(|global| global.thread_local)
            }
            ObjectKind::Stack(site) | ObjectKind::Heap(site) => self.site(site),
            ObjectKind::Parameter(function, index) => {
                (self.program.functions.get(function)).is_some_and(|f| index as usize <= f.params.len())
            }
            ObjectKind::Function(function) => self.program.functions.get(function).is_some(),
            ObjectKind::Outside(ty) => self.program.debug_types.get(ty).is_some(),
            ObjectKind::Library | ObjectKind::Unknown => true,
        };
        facts.objects.values().all(|object| kind(object.kind))
            && facts.sets.values().flatten().all(|place| self.place(*place))
            && facts.sets.values().all(|set| set.is_sorted_by_key(|(object, _)| *object))
            && facts.sets.values().next().is_some_and(Vec::is_empty)
            && self.rows(&facts.regs, |f| self.regs(f))
            && facts.regs.values().flatten().all(set)
            && self.rows(&facts.returns, |f| self.program.functions[f].returns.len())
            && facts.returns.values().flatten().all(set)
            && facts.contents.len() == facts.objects.len()
            && (facts.contents.values().flatten())
                .all(|cell| cell.bytes > 0 && patterns::is_well_formed(cell.at) && set(&cell.holds))
            && facts.targets.iter().all(|(site, list)| {
                self.site(*site) && list.iter().all(|f| self.program.functions.get(*f).is_some())
            })
    }

    fn threads(&self) -> bool {
        let facts = &self.facts.threads;
        let known = |list: &[ThreadId]| list.iter().all(|thread| self.thread(*thread));
        let start = |start: Start| match start {
            Start::Main | Start::Client => true,
            Start::Created(site) | Start::Once(site) => self.site(site),
            Start::Handler(site) => site == SiteId::NONE || self.site(site),
        };
        facts.threads.values().all(|thread| {
            self.program.functions.get(thread.entry).is_some()
                && start(thread.start)
                && known(&thread.creators)
        }) && facts.runs.len() == self.program.functions.len()
            && facts.runs.values().all(|list| known(list))
            && self.rows(&facts.times, |f| self.blocks(f))
            && facts.shared.len() == self.facts.points_to.objects.len()
            && facts.distinct.iter().all(|one| self.thread(one.thread) && self.reg(one.function, one.reg))
            && facts.before_start.iter().all(|one| self.thread(one.thread) && self.site(one.site))
    }

    fn order(&self) -> bool {
        let facts = &self.facts.order;
        let gates = |list: &[raddle_facts::GateId]| list.iter().all(|gate| facts.gates.get(*gate).is_some());
        let kind = |kind: raddle_facts::GateKind| match kind {
            raddle_facts::GateKind::Started(thread) | raddle_facts::GateKind::Exited(thread) => {
                self.thread(thread)
            }
            raddle_facts::GateKind::Semaphore(term)
            | raddle_facts::GateKind::AtomicFlag(term)
            | raddle_facts::GateKind::FencedFlag(term) => self.term(term),
            raddle_facts::GateKind::LockedFlag(flag, lock) => self.term(flag) && self.term(lock),
        };
        let local = |local: &LocalOrder| {
            gates(&local.passed)
                && gates(&local.opened)
                && (local.rounds.is_empty() || local.rounds.len() == facts.barriers.len())
                && local.handles.iter().all(|(term, thread)| self.term(*term) && self.thread(*thread))
                && local.overwritten.iter().all(|place| self.place(*place))
        };
        facts.gates.values().all(|gate| {
            kind(gate.kind) && gate.openers.iter().all(|t| self.thread(*t)) && gates(&gate.brings)
        }) && facts.functions.len() == self.program.functions.len()
            && facts.functions.iter().all(|(id, function)| {
                (function.blocks.is_empty() || function.blocks.len() == self.blocks(id))
                    && function.blocks.iter().chain([&function.entry, &function.at_exit]).all(local)
            })
            && facts.at_start.len() == self.facts.threads.threads.len()
            && facts.at_start.values().all(|list| gates(list))
            && facts.barriers.iter().all(|barrier| {
                self.term(barrier.object) && barrier.members.iter().all(|thread| self.thread(*thread))
            })
    }

    fn locks(&self) -> bool {
        let facts = &self.facts.locks;
        let guard = |guard: Guard| self.reg(guard.function, guard.reg);
        let held = |held: &HeldLock| {
            self.term(held.lock)
                && held.guard.is_none_or(guard)
                && held.history.iter().all(|term| self.term(*term))
        };
        let released = |released: &Released| match released {
            Released::These(list) => list.iter().all(|place| self.place(*place)),
            Released::Anything => true,
        };
        let local = |local: &LocalLocks| {
            local.held.iter().all(held)
                && released(&local.released)
                && released(&local.renewed)
                && local.acquired.iter().all(|term| self.term(*term))
        };
        facts.functions.len() == self.program.functions.len()
            && facts.functions.iter().all(|(id, function)| {
                (function.blocks.is_empty() || function.blocks.len() == self.blocks(id))
                    && function.entry.iter().all(held)
                    && function.blocks.iter().chain([&function.at_exit]).all(local)
            })
            && facts.semaphores.iter().all(|(object, _)| self.object(*object))
            && facts.words.iter().all(|word| self.object(word.object))
    }
}
