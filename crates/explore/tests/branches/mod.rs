//! What a script would do on the sides of its branches that a run did not take, worked out from the script itself.

use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, LockMode};
use raddle_explore::enumerate::Atomicity;
use raddle_explore::pdp::{
    Ahead, Awaited, MayHold, Oracle, Released, SideAccess, SideOperations, SidePath, SideWait, Untaken,
};
use raddle_testkit::script::{Act, Block, How, Mode, Place, Script, ScriptMachine, Stmt, location};
use std::collections::BTreeMap;
use std::rc::Rc;

pub struct ScriptBranches {
    /// By the site of the `If`: what each side may do.
    sides: BTreeMap<SiteId, [Option<Rc<Untaken>>; 2]>,
}

impl ScriptBranches {
    pub fn of(script: &Script) -> Self {
        let machine = ScriptMachine::new(script);
        let locks = (0..=script.locks.len()).map(|lock| machine.lock_address(lock)).collect();
        let mut walk = Walk { locks, next: 0, sides: BTreeMap::new() };
        for block in script.onces.iter().chain(&script.threads) {
            walk.block(block);
        }
        Self { sides: walk.sides }
    }
}

impl Oracle for ScriptBranches {
    fn may_race(&self, _: SiteId, _: SiteId) -> bool {
        true
    }

    fn matters(&self, _: SiteId) -> bool {
        true
    }

    fn is_fixed(&self, _: SiteId) -> bool {
        true
    }

    fn untaken(&self, branch: SiteId, taken: u32) -> Option<Rc<Untaken>> {
        self.sides.get(&branch)?[1 - taken as usize].clone()
    }

    fn ahead(&self, _: &[SiteId]) -> Option<Ahead> {
        None
    }

    fn reports_branches(&self) -> bool {
        true
    }
}

struct Walk {
    locks: Vec<Addr>,
    next: u32,
    sides: BTreeMap<SiteId, [Option<Rc<Untaken>>; 2]>,
}

/// More ways through a side than these are too many.
const MOST_WAYS: usize = 16;

impl Walk {
    /// Numbers the statements as the machine does, and notes the sides of every `If`.
    fn block(&mut self, block: &Block) {
        for stmt in block {
            let site = SiteId(self.next);
            self.next += 1;
            match stmt {
                Stmt::If { then, otherwise, .. } => {
                    let start = self.next;
                    let sides = [self.side(then, start), self.side(otherwise, start + size(then))];
                    self.sides.insert(site, sides);
                    self.block(then);
                    self.block(otherwise);
                }
                Stmt::Repeat { body, .. } | Stmt::Forever { body } => self.block(body),
                Stmt::Act(_) | Stmt::BreakIf(_) => {}
            }
        }
    }

    fn side(&self, block: &Block, start: u32) -> Option<Rc<Untaken>> {
        let mut untaken = Untaken::default();
        let ways = self.ways(block, start, vec![Way::default()], &mut untaken)?;
        if block.iter().any(has_operations) {
            untaken.operations = SideOperations::Some;
        }
        ways.iter().for_each(|way| untaken.perhaps.or(&way.perhaps));
        untaken.merges = ways.into_iter().map(|way| way.path).collect();
        Some(Rc::new(untaken))
    }

    fn ways(&self, block: &Block, start: u32, mut paths: Vec<Way>, into: &mut Untaken) -> Option<Vec<Way>> {
        let mut site = start;
        for stmt in block {
            match stmt {
                Stmt::Act(act) => self.act(*act, SiteId(site), &mut paths, into)?,
                Stmt::If { then, otherwise, .. } => {
                    let mut both = self.ways(then, site + 1, paths.clone(), into)?;
                    both.extend(self.ways(otherwise, site + 1 + size(then), paths, into)?);
                    both.sort();
                    both.dedup();
                    paths = both;
                }
                Stmt::Repeat { times, body } => {
                    for _ in 0..*times {
                        paths = self.ways(body, site + 1, paths, into)?;
                    }
                }
                Stmt::Forever { .. } | Stmt::BreakIf(_) => return None,
            }
            if paths.len() > MOST_WAYS {
                return None;
            }
            site += size(std::slice::from_ref(stmt));
        }
        Some(paths)
    }

    fn act(&self, act: Act, site: SiteId, paths: &mut Vec<Way>, into: &mut Untaken) -> Option<()> {
        let mut access = |place: Place, kind, atomicity| {
            let made = paths.iter().map(|way| SideAccess {
                site,
                loc: Some(location(place)),
                kind,
                atomicity,
                path: way.path.clone(),
            });
            into.accesses.extend(made);
        };
        match act {
            Act::Read { place, .. } => access(place, AccessKind::Read, Atomicity::Plain),
            Act::Write { place, .. } => access(place, AccessKind::Write, Atomicity::Plain),
            Act::AtomicLoad { place, .. } => access(place, AccessKind::Read, Atomicity::Atomic),
            Act::AtomicStore { place, .. } | Act::AtomicRmw { place, .. } | Act::AtomicCas { place, .. } => {
                access(place, AccessKind::Write, Atomicity::Atomic);
            }
            Act::Lock { lock, mode, how, .. } => {
                let mode = match mode {
                    Mode::Exclusive => LockMode::Exclusive,
                    Mode::Shared => LockMode::Shared,
                };
                match how {
                    How::Block => self.acquire(usize::from(lock), mode, paths, into),
                    _ => {
                        let lock = self.locks[usize::from(lock)];
                        paths.iter_mut().for_each(|way| way.perhaps.acquire(Some(lock), mode));
                    }
                }
            }
            Act::AtomicBegin => self.acquire(self.locks.len() - 1, LockMode::Exclusive, paths, into),
            Act::Unlock { lock } => self.release(usize::from(lock), paths),
            Act::AtomicEnd => self.release(self.locks.len() - 1, paths),
            Act::Exit => paths.clear(),
            Act::Return => {
                into.waits.extend(paths.drain(..).map(|way| way.wait(Awaited::End)));
            }
            Act::Wait { .. }
            | Act::Barrier { .. }
            | Act::Down { .. }
            | Act::Once { .. }
            | Act::Create { .. }
            | Act::Join { .. }
            | Act::Detach { .. } => return None,
            Act::Fence(_)
            | Act::Signal { .. }
            | Act::Broadcast { .. }
            | Act::Post { .. }
            | Act::Set { .. }
            | Act::Choose { .. }
            | Act::Assume(_)
            | Act::Assert(_) => {}
        }
        Some(())
    }

    fn acquire(&self, lock: usize, mode: LockMode, ways: &mut [Way], into: &mut Untaken) {
        let lock = self.locks[lock];
        for way in ways {
            into.waits.push(way.clone().wait(Awaited::Lock(Some(lock), mode)));
            way.perhaps.acquire(Some(lock), mode);
            if way.path.acquired.iter().all(|(other, _)| *other != lock) {
                way.path.acquired.push((lock, mode));
            }
        }
    }

    fn release(&self, lock: usize, ways: &mut [Way]) {
        let lock = self.locks[lock];
        for Way { path, perhaps } in ways {
            perhaps.release(lock);
            path.acquired.retain(|(other, _)| *other != lock);
            if let Released::These(released) = &mut path.released
                && !released.contains(&lock)
            {
                released.push(lock);
            }
        }
    }
}

/// One through the side.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    path: SidePath,
    perhaps: MayHold,
}

impl Way {
    fn wait(self, what: Awaited) -> SideWait {
        SideWait { what, path: self.path, perhaps: self.perhaps }
    }
}

/// Whether something in it is more than a plain access.
fn has_operations(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Act(act) => !matches!(act, Act::Read { .. } | Act::Write { .. } | Act::Set { .. }),
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).any(has_operations),
        Stmt::Repeat { body, .. } | Stmt::Forever { body } => body.iter().any(has_operations),
        Stmt::BreakIf(_) => false,
    }
}

fn size(block: &[Stmt]) -> u32 {
    let one = |stmt: &Stmt| match stmt {
        Stmt::If { then, otherwise, .. } => 1 + size(then) + size(otherwise),
        Stmt::Repeat { body, .. } | Stmt::Forever { body } => 1 + size(body),
        Stmt::Act(_) | Stmt::BreakIf(_) => 1,
    };
    block.iter().map(one).sum()
}
