//! A function while its body is being written: instructions with their spans, blocks in LLVM's order.

use raddle_base::{IdVec, SiteId, Span};
use raddle_ir::{Block, BlockId, FunctionId, Inst, Phi, SiteInfo, Terminator};

#[derive(Default)]
pub(super) struct Draft {
    pub(super) phis: Vec<Phi>,
    pub(super) insts: Vec<(Inst, Option<Span>)>,
    pub(super) terminator: Option<(Terminator, Option<Span>)>,
}

impl Draft {
    /// Whether control can go from here to a block. A refused terminator goes nowhere, an unwinding call only to its normal end.
    pub(super) fn goes_to(&self, block: BlockId) -> bool {
        match self.terminator.as_ref().map(|(terminator, _)| terminator) {
            Some(Terminator::Br(target)) => *target == block,
            Some(Terminator::CondBr { then, other, .. }) => *then == block || *other == block,
            Some(Terminator::Switch { cases, default, .. }) => {
                *default == block || cases.iter().any(|(_, target)| *target == block)
            }
            Some(Terminator::IndirectBr { targets, .. }) => targets.contains(&block),
            _ => false,
        }
    }
}

/// Turns drafts into blocks and numbers their sites through the program.
pub(super) fn finish(
    drafts: Vec<Draft>,
    function: FunctionId,
    sites: &mut IdVec<SiteId, SiteInfo>,
) -> IdVec<BlockId, Block> {
    let mut blocks = IdVec::new();
    for draft in drafts {
        let first_site = SiteId(u32::try_from(sites.len()).expect("more than 2^32 sites"));
        let mut insts = Vec::with_capacity(draft.insts.len());
        for (inst, span) in draft.insts {
            sites.push(SiteInfo { function, span });
            insts.push(inst);
        }
        let (terminator, span) = draft.terminator.unwrap_or((Terminator::Unreachable, None));
        sites.push(SiteInfo { function, span });
        blocks.push(Block { phis: draft.phis, first_site, insts, terminator });
    }
    blocks
}
