//! What a script would do on the sides of its branches that a run did not take, worked out from the script itself.

use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, LockMode};
use raddle_explore::enumerate::Atomicity;
use raddle_explore::pdp::{Ahead, Oracle, Released, SideAccess, SideOperations, SidePath, Untaken};
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
        let mut accesses = Vec::new();
        let merges = self.ways(block, start, vec![SidePath::default()], &mut accesses)?;
        let operations =
            if block.iter().any(has_operations) { SideOperations::Some } else { SideOperations::None };
        Some(Rc::new(Untaken { accesses, merges, operations }))
    }

    fn ways(
        &self,
        block: &Block,
        start: u32,
        mut paths: Vec<SidePath>,
        accesses: &mut Vec<SideAccess>,
    ) -> Option<Vec<SidePath>> {
        let mut site = start;
        for stmt in block {
            match stmt {
                Stmt::Act(act) => self.act(*act, SiteId(site), &mut paths, accesses)?,
                Stmt::If { then, otherwise, .. } => {
                    let mut both = self.ways(then, site + 1, paths.clone(), accesses)?;
                    both.extend(self.ways(otherwise, site + 1 + size(then), paths, accesses)?);
                    both.sort();
                    both.dedup();
                    paths = both;
                }
                Stmt::Repeat { times, body } => {
                    for _ in 0..*times {
                        paths = self.ways(body, site + 1, paths, accesses)?;
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

    fn act(
        &self,
        act: Act,
        site: SiteId,
        paths: &mut Vec<SidePath>,
        accesses: &mut Vec<SideAccess>,
    ) -> Option<()> {
        let mut access = |place: Place, kind, atomicity| {
            let made = paths.iter().map(|path| SideAccess {
                site,
                loc: Some(location(place)),
                kind,
                atomicity,
                path: path.clone(),
            });
            accesses.extend(made);
        };
        match act {
            Act::Read { place, .. } => access(place, AccessKind::Read, Atomicity::Plain),
            Act::Write { place, .. } => access(place, AccessKind::Write, Atomicity::Plain),
            Act::AtomicLoad { place, .. } => access(place, AccessKind::Read, Atomicity::Atomic),
            Act::AtomicStore { place, .. } | Act::AtomicRmw { place, .. } | Act::AtomicCas { place, .. } => {
                access(place, AccessKind::Write, Atomicity::Atomic);
            }
            Act::Lock { lock, mode, how: How::Block, .. } => {
                let mode = match mode {
                    Mode::Exclusive => LockMode::Exclusive,
                    Mode::Shared => LockMode::Shared,
                };
                self.acquire(usize::from(lock), mode, paths);
            }
            Act::AtomicBegin => self.acquire(self.locks.len() - 1, LockMode::Exclusive, paths),
            Act::Unlock { lock } => self.release(usize::from(lock), paths),
            Act::AtomicEnd => self.release(self.locks.len() - 1, paths),
            Act::Exit | Act::Return => paths.clear(),
            Act::Wait { .. }
            | Act::Barrier { .. }
            | Act::Down { .. }
            | Act::Once { .. }
            | Act::Create { .. }
            | Act::Join { .. }
            | Act::Detach { .. } => return None,
            Act::Lock { .. }
            | Act::Fence(_)
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

    fn acquire(&self, lock: usize, mode: LockMode, paths: &mut [SidePath]) {
        let lock = self.locks[lock];
        for path in paths {
            if path.acquired.iter().all(|(other, _)| *other != lock) {
                path.acquired.push((lock, mode));
            }
        }
    }

    fn release(&self, lock: usize, paths: &mut [SidePath]) {
        let lock = self.locks[lock];
        for path in paths {
            path.acquired.retain(|(other, _)| *other != lock);
            if let Released::These(released) = &mut path.released
                && !released.contains(&lock)
            {
                released.push(lock);
            }
        }
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
