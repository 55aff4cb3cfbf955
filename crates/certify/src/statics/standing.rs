//! Static facts whose closure was checked, asked about places where threads stand (decision 23).
//!
//! Answers err so that nothing is excluded that the facts do not exclude: threads *may* meet, a call *may* release, and what is held
//! after a call *must* be. Histories of locks are not used. Places are points of the expanded program.

use super::accesses::{Access, Kind};
use super::calls::Call;
use super::code::{At, Code};
use super::locks::{self, Fallible, HeldAt};
use super::order::OrderAt;
use super::returning::Returning;
use super::{Refusal, accesses, check_base, locks_and_order_at, pairs, renewed};
use raddle_base::SiteId;
use raddle_facts::{
    HeldLock, LockMode, ObjectId, ObjectKind, Offsets, Released, StaticProof, ThreadId, Times,
};
use raddle_ir::{BlockId, FunctionId, Operand, Program, Reg};
use raddle_libmodel::{Arg, CondOp, Effect, Models, SemOp, SyncKind};
use std::collections::BTreeSet;

/// Made by [`Standing::of`] only, which checks all facts.
pub struct Standing<'a> {
    code: Code<'a>,
    /// Sorted by point.
    accesses: Vec<Access<'a>>,
    held: HeldAt,
    /// Right after calls that may acquire, also under conditions.
    after: HeldAt,
    order: OrderAt,
    fallible: Fallible,
}

/// A lock of one place of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub object: ObjectId,
    pub offset: i64,
    pub held: Held,
}

/// *Must*. The register is one of the function that calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    No,
    Always(LockMode),
    IfZero(Reg, LockMode),
    IfNonZero(Reg, LockMode),
}

/// Two conflicting accesses that no static rule excludes. Both can be the same.
#[derive(Clone, Debug)]
pub struct Open<'s, 'a> {
    pub accesses: [&'s Access<'a>; 2],
    /// In the original program.
    pub origins: [SiteId; 2],
    /// *May*: shared objects in which both touch common bytes.
    pub objects: Vec<ObjectId>,
}

impl<'a> Standing<'a> {
    pub fn of(program: &Program, models: &Models, proof: &'a StaticProof) -> Result<Standing<'a>, Refusal> {
        let code = Code::new(program, models, proof)?;
        let accesses = accesses::collect(&code);
        check_base(&code, &accesses)?;
        let mut points = BTreeSet::new();
        code.each_instruction(|at, _| {
            points.insert(at);
            Ok(())
        })?;
        let both = locks_and_order_at(&code, &accesses, points)?;
        let after = locks::after_acquisitions(&code, &Returning::of(&code), &accesses);
        let after = renewed::without(&code, after, &both.void);
        let fallible = Fallible::of(&code, &accesses);
        Ok(Standing { code, accesses, held: both.held, after, order: both.order, fallible })
    }

    /// Expanded; all places are of this one.
    pub fn program(&self) -> &Program {
        &self.code.program
    }

    /// Of the expanded program.
    pub fn models(&self) -> &Models {
        &self.code.models
    }

    pub fn proof(&self) -> &'a StaticProof {
        self.code.proof
    }

    pub(crate) fn code(&self) -> &Code<'a> {
        &self.code
    }

    pub(crate) fn accesses(&self) -> &[Access<'a>] {
        &self.accesses
    }

    /// The site of the original program that a site of the expanded one is a copy of.
    pub fn origin(&self, site: SiteId) -> SiteId {
        self.code.origin(site)
    }

    pub fn site(&self, spot: At) -> SiteId {
        self.code.site(spot)
    }

    /// *May*: whether two threads, or two instances of one, can be right before these points at one time. The facts hold up to the first
    /// race. `locks_count`: whether they hold what the facts say is held there.
    pub fn may_meet(&self, a: At, ta: ThreadId, b: At, tb: ThreadId, locks_count: bool) -> bool {
        if ta == tb && !self.code.facts.threads.threads[ta].many {
            return false;
        }
        if locks_count && self.have_common_lock(a, b) {
            return false;
        }
        let (Some(first), Some(second)) = (self.order.get(&a), self.order.get(&b)) else { return true };
        !pairs::comes_before(&self.code, first, ta, second, tb)
            && !pairs::comes_before(&self.code, second, tb, first, ta)
            && !pairs::apart_by_rounds(&self.code, (first, ta), (second, tb))
    }

    fn have_common_lock(&self, a: At, b: At) -> bool {
        let (Some(a), Some(b)) = (self.held.get(&a), self.held.get(&b)) else { return false };
        let counts = |held: &HeldLock| held.guard.is_none() && self.code.is_global(held.lock);
        a.iter().filter(|held| counts(held)).any(|mine| {
            b.iter().filter(|held| counts(held)).any(|theirs| {
                let exclusive = mine.mode == LockMode::Exclusive || theirs.mode == LockMode::Exclusive;
                mine.lock == theirs.lock && exclusive
            })
        })
    }

    /// What is held right after a library call that acquires the lock at one place of one object. `None`: it does not, or it may be one
    /// of several.
    pub fn held_after(&self, call: At) -> Option<Taken> {
        let one = self.call(call)?;
        let [(_, effect)] = &one.effects[..] else { return None };
        if !one.runs.is_empty() || !one.unknown.is_empty() {
            return None;
        }
        let arg = match *effect {
            Effect::Lock { lock, .. } => lock,
            Effect::Cond(CondOp::Wait { mutex, .. }, _) => mutex,
            Effect::Sem(SemOp::Wait { sem, .. }, _) => sem,
            _ => return None,
        };
        let (_, args) = one.parts(&self.code, call.function);
        let place =
            self.place(&Released::These(self.code.pointees(call.function, args.get(position(arg))?.value)))?;
        let (object, offset) = place;
        let held = self.after.get(&call).map_or(&[][..], |held| &held[..]);
        let same = held.iter().filter(|held| self.place(&self.code.places(held.lock)) == Some(place));
        let held = same.filter_map(|held| meaning(call.function, held)).min_by_key(|held| rank(*held));
        Some(Taken { object, offset, held: held.unwrap_or(Held::No) })
    }

    /// *Must*: whether who acquired the lock at a place holds it until it is released there. A robust mutex goes on without its owner.
    pub fn has_lasting_owner(&self, place: (ObjectId, i64)) -> bool {
        !self.fallible.may_be(&self.code, place)
    }

    /// Bytes of the largest synchronisation object that calls acquire at a place.
    pub fn lock_bytes(&self, place: (ObjectId, i64)) -> u64 {
        let bytes = |at: At| {
            let taken = self.held_after(at)?;
            let kind = match self.call(at)?.effects[..] {
                [(_, Effect::Lock { family, .. })] => family.kind(),
                [(_, Effect::Cond(..))] => SyncKind::Mutex,
                _ => SyncKind::Semaphore,
            };
            ((taken.object, taken.offset) == place).then(|| kind.bytes(self.code.program.data_model))
        };
        let calls = self
            .code
            .calls
            .from
            .iter()
            .flat_map(|(function, calls)| calls.iter().filter_map(move |call| bytes(call.at(function))));
        calls.max().unwrap_or(1)
    }

    fn place(&self, places: &Released) -> Option<(ObjectId, i64)> {
        match places {
            Released::These(list) => match list[..] {
                [(object, at)] if at.is_exact() && self.is_one_object(object) => Some((object, at.low)),
                _ => None,
            },
            Released::Anything => None,
        }
    }

    /// *Must*: whether the object is one concrete object in each execution.
    pub fn is_one_object(&self, object: ObjectId) -> bool {
        match self.code.kind(object) {
            ObjectKind::Global(_) => true,
            ObjectKind::Heap(site) | ObjectKind::Stack(site) => self.times(site) == Times::Once,
            ObjectKind::ThreadLocal(_)
            | ObjectKind::Parameter(..)
            | ObjectKind::Function(_)
            | ObjectKind::Library
            | ObjectKind::Outside(_)
            | ObjectKind::Unknown => false,
        }
    }

    fn times(&self, site: SiteId) -> Times {
        let Some(info) = self.code.program.sites.get(site) else { return Times::Many };
        let blocks = &self.code.program.functions[info.function].blocks;
        let inside = |first: SiteId, last: SiteId| first <= site && site <= last;
        let block = blocks.iter().find(|(_, block)| inside(block.first_site, block.terminator_site()));
        let times = &self.code.facts.threads.times[info.function];
        block.and_then(|(id, _)| times.get(id.0 as usize)).copied().unwrap_or(Times::Many)
    }

    /// *May*: whether the library call takes away from this thread the lock at a place, if only for a while: by an unlock, a condition
    /// wait, an initialisation, a destruction, the end of the memory.
    pub fn may_release(&self, call: At, (object, offset): (ObjectId, i64)) -> bool {
        let Some(one) = self.call(call) else { return false };
        if !one.unknown.is_empty() {
            return true;
        }
        let (_, args) = one.parts(&self.code, call.function);
        let lock = Released::These(vec![(object, Offsets::exact(offset))]);
        let is_it = |arg: Arg| {
            let named = self.code.named(call.function, args, arg);
            named.is_none_or(|named| self.code.may_be_same(&named.places, &lock))
        };
        let released = one.effects.iter().any(|(_, effect)| match *effect {
            Effect::Unlock { lock, .. } => is_it(lock),
            Effect::SyncInit { object, .. } | Effect::SyncDestroy { object, .. } => is_it(object),
            Effect::Cond(CondOp::Wait { mutex, .. }, _) => is_it(mutex),
            Effect::Sem(SemOp::Post { sem }, _) => is_it(sem),
            _ => false,
        });
        let frees = |access: &Access<'_>| {
            access.kind == Kind::Free && access.targets.iter().any(|(target, _)| *target == object)
        };
        released || self.touches(call).iter().any(frees)
    }

    /// The pairs that the first race of an execution is among.
    pub fn open(&self) -> Vec<Open<'_, 'a>> {
        let open = pairs::open(&self.code, &self.accesses, &self.held, &self.order);
        open.into_iter()
            .map(|(a, b)| {
                let accesses = [&self.accesses[a], &self.accesses[b]];
                let origins = accesses.map(|access| self.code.origin(access.site));
                Open { accesses, origins, objects: self.common(accesses) }
            })
            .collect()
    }

    fn common(&self, [a, b]: [&Access<'_>; 2]) -> Vec<ObjectId> {
        let shared = |object: ObjectId| self.code.facts.threads.shared[object];
        let mut objects: Vec<ObjectId> = a
            .targets
            .iter()
            .filter(|(object, at)| shared(*object) && b.may_touch(*object, *at, a.bytes))
            .map(|(object, _)| *object)
            .collect();
        objects.dedup();
        objects
    }

    /// The call at a point, with all that it may run; `None`: no call, or not reachable.
    pub fn call(&self, spot: At) -> Option<&Call> {
        self.code.calls.at(spot.function, self.code.site(spot))
    }

    /// What the instruction at a point does to memory that the facts know.
    pub fn touches(&self, spot: At) -> &[Access<'a>] {
        let start = self.accesses.partition_point(|access| access.at < spot);
        let end = self.accesses.partition_point(|access| access.at <= spot);
        &self.accesses[start..end]
    }

    /// *May*: whether the instruction at a point accesses an object that several threads can reach.
    pub fn touches_shared(&self, spot: At) -> bool {
        let shared = |(object, _): &(ObjectId, Offsets)| self.code.facts.threads.shared[*object];
        self.touches(spot).iter().any(|access| access.targets.iter().any(shared))
    }

    /// Where an operand may point.
    pub fn pointees(&self, function: FunctionId, operand: Operand) -> Vec<(ObjectId, Offsets)> {
        self.code.pointees(function, operand)
    }

    pub fn kind(&self, object: ObjectId) -> ObjectKind {
        self.code.kind(object)
    }

    /// *May*.
    pub fn is_reachable(&self, function: FunctionId, block: BlockId) -> bool {
        self.code.reachable(function, block)
    }

    /// *May*: the blocks that can follow, each once.
    pub fn successors(&self, function: FunctionId, block: BlockId) -> &[BlockId] {
        &self.code.flows[function].successors[block.0 as usize]
    }
}

fn position(arg: Arg) -> usize {
    usize::from(arg.0)
}

fn meaning(function: FunctionId, held: &HeldLock) -> Option<Held> {
    match held.guard {
        None => Some(Held::Always(held.mode)),
        Some(guard) if guard.function != function => None,
        Some(guard) if guard.zero => Some(Held::IfZero(guard.reg, held.mode)),
        Some(guard) => Some(Held::IfNonZero(guard.reg, held.mode)),
    }
}

/// What says more comes first.
fn rank(held: Held) -> (u8, Option<LockMode>) {
    match held {
        Held::Always(mode) => (0, Some(mode)),
        Held::IfZero(_, mode) | Held::IfNonZero(_, mode) => (1, Some(mode)),
        Held::No => (2, None),
    }
}
