//! Branches that a machine is asked to report, for searches that want to know what a run did not do (2008 paper, section 3.2).
//!
//! The code of a function gets marks only for what is asked, so other machines are as fast as before. `BranchBegin` names the
//! block that was gone to; `BranchEnd` comes where all sides have come together. A frame that is left in any other way than by returning
//! ends none of its branches.

use crate::exec::Cx;
use raddle_base::SiteId;
use raddle_event::EventKind;
use raddle_ir::{BlockId, Function};
use std::collections::{BTreeMap, BTreeSet};

/// What to report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedBranches {
    /// By the site of the terminator.
    pub merges: BTreeMap<SiteId, Merge>,
    /// Calls of something that may be another function another time: each is a branch of which no side is known.
    pub calls: BTreeSet<SiteId>,
}

/// Where the sides of a branch have come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    Block(BlockId),
    /// When the function returns.
    Return,
}

/// A branch that has begun and not ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenBranch {
    /// Frames of the thread then.
    depth: u32,
    merge: Merge,
}

/// More branches inside of each other are not kept apart: a branch of an unknown place is reported instead.
const MOST_OPEN: usize = 256;

impl ReportedBranches {
    /// Blocks at which reported branches of the function come together.
    pub(crate) fn merge_blocks(&self, function: &Function) -> BTreeSet<BlockId> {
        let sites = function.blocks.values().map(|block| block.terminator_site());
        let merges = sites.filter_map(|site| self.merges.get(&site));
        merges.filter_map(|merge| if let Merge::Block(block) = merge { Some(*block) } else { None }).collect()
    }
}

impl Cx<'_> {
    /// At an edge of a reported branch.
    pub(crate) fn begin_branch(&mut self, taken: BlockId) {
        let site = self.site();
        let Some(merge) = self.world.options.branches.merges.get(&site).copied() else { return };
        if self.thread.open.len() >= MOST_OPEN {
            self.unknown_branch(SiteId::NONE);
            return;
        }
        self.event_at(site, EventKind::BranchBegin { taken: taken.0 });
        self.thread.open.push(OpenBranch { depth: self.thread.frames.len() as u32, merge });
    }

    /// A branch of which nothing is known but that it is there.
    pub(crate) fn unknown_branch(&mut self, site: SiteId) {
        self.event_at(site, EventKind::BranchBegin { taken: u32::MAX });
        self.event_at(site, EventKind::BranchEnd);
    }

    /// At the beginning of a block.
    pub(crate) fn end_branches(&mut self, block: BlockId) {
        self.end_while(|merge| merge == Merge::Block(block));
    }

    /// At a return.
    pub(crate) fn end_branches_of_frame(&mut self) {
        self.end_while(|_| true);
    }

    /// A frame is gone.
    pub(crate) fn forget_branches(&mut self) {
        let depth = self.thread.frames.len() as u32;
        let kept = self.thread.open.iter().rposition(|branch| branch.depth <= depth).map_or(0, |at| at + 1);
        self.thread.open.truncate(kept);
    }

    fn end_while(&mut self, ends: impl Fn(Merge) -> bool) {
        let depth = self.thread.frames.len() as u32;
        while self.thread.open.pop_if(|open| open.depth == depth && ends(open.merge)).is_some() {
            self.event(EventKind::BranchEnd);
        }
    }
}
