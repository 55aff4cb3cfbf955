//! From a site number back to the instruction.

use crate::{Block, Function, Inst, Program, SiteId, Terminator};

/// What stands at a site.
#[derive(Clone, Copy, Debug)]
pub enum Code<'p> {
    Inst(&'p Inst),
    Terminator(&'p Terminator),
}

impl Program {
    /// The instruction or terminator at a site; `None` for a site that is not of this program.
    pub fn code_at(&self, site: SiteId) -> Option<Code<'_>> {
        let function = self.functions.get(self.sites.get(site)?.function)?;
        let block = block_of(function, site)?;
        let index = (site.0 - block.first_site.0) as usize;
        match block.insts.get(index) {
            Some(inst) => Some(Code::Inst(inst)),
            None if index == block.insts.len() => Some(Code::Terminator(&block.terminator)),
            None => None,
        }
    }
}

/// Blocks of a function are in the order of their sites.
fn block_of(function: &Function, site: SiteId) -> Option<&Block> {
    let blocks = function.blocks.as_slice();
    let after = blocks.partition_point(|block| block.first_site <= site);
    blocks.get(after.checked_sub(1)?)
}
