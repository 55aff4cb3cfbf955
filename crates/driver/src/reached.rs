//! What the executions of a search came to: sites of events and blocks, over all its machines and over the searches that it was
//! resumed from.

use raddle_base::SiteId;
use raddle_event::ThreadId;
use raddle_interp::{By, Interp};
use raddle_ir::{BlockId, FunctionId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) sites: BTreeMap<SiteId, By>,
    pub(crate) blocks: BTreeSet<(FunctionId, BlockId)>,
}

/// The same as numbers; a site that several threads came to has no thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReachedNumbers {
    sites: Vec<(u32, Option<u32>)>,
    blocks: Vec<(u32, u32)>,
}

impl Reached {
    pub(crate) fn by<'a>(machines: impl IntoIterator<Item = &'a Interp>) -> Reached {
        let mut all = Reached::default();
        for machine in machines {
            all.add(Reached { sites: machine.reached_sites(), blocks: machine.reached_blocks() });
        }
        all
    }

    pub(crate) fn add(&mut self, other: Reached) {
        for (site, by) in other.sites {
            self.sites.entry(site).and_modify(|known| *known = known.and(by)).or_insert(by);
        }
        self.blocks.extend(other.blocks);
    }

    /// Whether two threads came to these accesses.
    pub(crate) fn is_shared(&self, a: SiteId, b: SiteId) -> bool {
        match (self.sites.get(&a), self.sites.get(&b)) {
            (Some(a), Some(b)) => a.and(*b) == By::Several,
            _ => false,
        }
    }

    /// Whether some thread besides the main one did anything.
    pub(crate) fn has_threads(&self) -> bool {
        self.sites.values().any(|by| *by != By::One(ThreadId(0)))
    }

    pub(crate) fn numbers(&self) -> ReachedNumbers {
        let thread = |by: &By| match by {
            By::One(thread) => Some(thread.0),
            By::Several => None,
        };
        ReachedNumbers {
            sites: self.sites.iter().map(|(site, by)| (site.0, thread(by))).collect(),
            blocks: self.blocks.iter().map(|(function, block)| (function.0, block.0)).collect(),
        }
    }
}

impl From<ReachedNumbers> for Reached {
    fn from(numbers: ReachedNumbers) -> Reached {
        let by = |thread: Option<u32>| thread.map_or(By::Several, |thread| By::One(ThreadId(thread)));
        Reached {
            sites: numbers.sites.into_iter().map(|(site, thread)| (SiteId(site), by(thread))).collect(),
            blocks: numbers.blocks.into_iter().map(|(f, block)| (FunctionId(f), BlockId(block))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Reached;
    use raddle_base::SiteId;
    use raddle_event::ThreadId;
    use raddle_interp::By;
    use raddle_ir::{BlockId, FunctionId};

    fn reached(sites: &[(u32, u32)]) -> Reached {
        let mut all = Reached::default();
        for (site, thread) in sites {
            let sites = [(SiteId(*site), By::One(ThreadId(*thread)))].into();
            all.add(Reached { sites, blocks: [(FunctionId(0), BlockId(*site))].into() });
        }
        all
    }

    #[test]
    fn two_threads_make_a_pair() {
        let all = reached(&[(1, 0), (2, 1), (3, 1), (4, 1), (4, 2)]);
        assert!(all.is_shared(SiteId(1), SiteId(2)) && all.is_shared(SiteId(4), SiteId(4)));
        assert!(!all.is_shared(SiteId(2), SiteId(3)) && !all.is_shared(SiteId(2), SiteId(2)));
        assert!(!all.is_shared(SiteId(1), SiteId(9)) && !all.is_shared(SiteId(9), SiteId(9)));
        assert!(all.has_threads() && !reached(&[(1, 0)]).has_threads());
        assert_eq!(Reached::from(all.numbers()), all);
    }
}
