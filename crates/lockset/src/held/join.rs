//! Where paths join: what all of them hold, and what some hold under a condition.
//!
//! A lock that not all paths hold is kept under a guard if the guard is false on every path that does not hold it: by the branch that led
//! there, or because a phi of the joining block gets zero on exactly one of the two kinds of paths. Of several possible guards one that
//! the function tests again is taken.

use super::shape::Shape;
use super::{Locks, places};
use raddle_facts::{Guard, HeldLock, LocalLocks, LockMode, Term};
use raddle_ir::{BlockId, FunctionId, Operand, Phi};

/// A path into a join: its state, and where it comes from.
pub(super) struct Path {
    pub from: BlockId,
    pub state: LocalLocks,
    /// What the edge itself says.
    pub says: Vec<Guard>,
}

impl Locks<'_> {
    /// All paths together. `phis` are those of the joining block, none at a return.
    pub(super) fn join(
        &self,
        function: FunctionId,
        shape: &Shape,
        phis: &[Phi],
        mut paths: Vec<Path>,
    ) -> LocalLocks {
        if paths.len() == 1 {
            return paths.remove(0).state;
        }
        let mut terms: Vec<Term> =
            paths.iter().flat_map(|path| path.state.held.iter().map(|held| held.lock)).collect();
        terms.sort();
        terms.dedup();
        let mut result = LocalLocks::default();
        for term in terms {
            let on_paths: Vec<Option<&HeldLock>> = paths.iter().map(|path| find(&path.state, term)).collect();
            if let Some(guard) = self.common_guard(function, shape, phis, &paths, &on_paths) {
                result.held.push(weakest(on_paths.into_iter().flatten(), guard));
            }
        }
        for (index, path) in paths.iter().enumerate() {
            places::add(&mut result.released, &path.state.released);
            places::add(&mut result.renewed, &path.state.renewed);
            if index == 0 {
                result.acquired = path.state.acquired.clone();
            } else {
                result.acquired.retain(|term| path.state.acquired.binary_search(term).is_ok());
            }
        }
        result
    }

    /// `None`: the lock is not kept. `Some(None)`: held in any case.
    fn common_guard(
        &self,
        function: FunctionId,
        shape: &Shape,
        phis: &[Phi],
        paths: &[Path],
        on_paths: &[Option<&HeldLock>],
    ) -> Option<Option<Guard>> {
        let mut guards: Vec<Guard> = on_paths.iter().flatten().filter_map(|held| held.guard).collect();
        guards.sort();
        guards.dedup();
        let excluded = |guard: Guard| {
            paths.iter().zip(on_paths).all(|(path, held)| {
                held.is_some_and(|held| held.guard.is_none_or(|own| own == guard))
                    || is_false(shape, path, guard)
            })
        };
        match guards[..] {
            [] if on_paths.iter().all(Option::is_some) => Some(None),
            [guard] => excluded(guard).then_some(Some(guard)),
            [] => {
                let by_phi = self.phi_guards(function, phis, paths, on_paths);
                let without = paths.iter().zip(on_paths).find(|(_, held)| held.is_none())?.0;
                let by_branch = without
                    .says
                    .iter()
                    .copied()
                    .chain(shape.known(without.from))
                    .map(|said| Guard { zero: !said.zero, ..said })
                    .filter(|guard| {
                        !phis.iter().any(|phi| (function, phi.dst) == (guard.function, guard.reg))
                    })
                    .filter(|guard| excluded(*guard));
                let mut first = None;
                for guard in by_phi.into_iter().chain(by_branch) {
                    if shape.is_tested(guard.reg) && guard.function == function {
                        return Some(Some(guard));
                    }
                    first = first.or(Some(guard));
                }
                first.map(Some)
            }
            _ => None,
        }
    }

    fn phi_guards(
        &self,
        function: FunctionId,
        phis: &[Phi],
        paths: &[Path],
        on_paths: &[Option<&HeldLock>],
    ) -> Vec<Guard> {
        let mut found = Vec::new();
        for phi in phis {
            let zero_on = |from: BlockId| {
                let (_, value) = phi.incoming.iter().find(|(block, _)| *block == from)?;
                match value {
                    Operand::Const(bits) => Some(*bits == 0),
                    Operand::Null => Some(true),
                    Operand::Reg(_) => self.term(function, *value).as_constant().map(|value| value == 0),
                    _ => None,
                }
            };
            let all = |held: bool, is: bool| {
                let mut such = paths.iter().zip(on_paths).filter(|(_, on)| on.is_some() == held);
                such.all(|(path, _)| zero_on(path.from) == Some(is))
            };
            for zero in [false, true] {
                // Enough is that the guard is false where the lock is not held; useless if it is false where it is held, too.
                if all(false, !zero) && !all(true, !zero) {
                    found.push(Guard { function, reg: phi.dst, zero });
                }
            }
        }
        found
    }
}

/// Whether the guard cannot hold at the end of the path.
fn is_false(shape: &Shape, path: &Path, guard: Guard) -> bool {
    let opposite = Guard { zero: !guard.zero, ..guard };
    path.says.contains(&opposite) || shape.decides(path.from, guard) == Some(false)
}

/// The weaker of two states of one point, each a solution so far.
pub(super) fn meet(a: &LocalLocks, b: &LocalLocks) -> LocalLocks {
    let mut result =
        LocalLocks { released: a.released.clone(), renewed: a.renewed.clone(), ..Default::default() };
    for held in &a.held {
        let Some(other) = find(b, held.lock) else { continue };
        let guard = match (held.guard, other.guard) {
            (None, guard) | (guard, None) => guard,
            (Some(one), Some(two)) if one == two => Some(one),
            _ => continue,
        };
        result.held.push(weakest([held, other].into_iter(), guard));
    }
    places::add(&mut result.released, &b.released);
    places::add(&mut result.renewed, &b.renewed);
    result.acquired =
        a.acquired.iter().copied().filter(|term| b.acquired.binary_search(term).is_ok()).collect();
    result
}

fn find(state: &LocalLocks, lock: Term) -> Option<&HeldLock> {
    state.held.binary_search_by_key(&lock, |held| held.lock).ok().map(|at| &state.held[at])
}

/// What all of these say; not empty.
pub(super) fn weakest<'h>(all: impl Iterator<Item = &'h HeldLock>, guard: Option<Guard>) -> HeldLock {
    let mut result: Option<HeldLock> = None;
    for held in all {
        match &mut result {
            None => result = Some(held.clone()),
            Some(so_far) => {
                so_far.mode = so_far.mode.max(held.mode);
                so_far.depth = so_far.depth.min(held.depth);
                so_far.history.retain(|term| held.history.binary_search(term).is_ok());
            }
        }
    }
    let mut result = result.expect("a lock is on some path");
    if result.mode == LockMode::Shared {
        result.history.clear();
    }
    result.guard = guard;
    result
}
