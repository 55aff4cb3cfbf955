//! Which registers still matter at a place: only these are part of a thread's state.

use crate::code::{Func, Pc, S};
use raddle_base::fast_hash::FastMap;
use raddle_ir::{Block, Function, Operand, Ty};
use std::sync::Arc;

/// A slot whose value may still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LiveSlot {
    pub slot: S,
    pub ty: Ty,
}

/// Registers alive at the end of each block, one bit each.
#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    out: Vec<Vec<u64>>,
}

/// Answers by place, kept for the next question.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveCache {
    known: FastMap<(u32, Pc), Arc<[LiveSlot]>>,
}

impl LiveCache {
    pub fn at(&mut self, function: &Function, func: &Func, id: u32, pc: Pc) -> Arc<[LiveSlot]> {
        self.known.entry((id, pc)).or_insert_with(|| live_at(function, func, pc)).clone()
    }
}

fn live_at(function: &Function, func: &Func, pc: Pc) -> Arc<[LiveSlot]> {
    let liveness = func.liveness.get_or_init(|| Liveness::of(function));
    let block = func.block_starts.partition_point(|&start| start <= pc) - 1;
    let mut live = liveness.out[block].clone();
    // Code after the terminator makes the moves of the edges: all that leaves the block is alive.
    if pc <= func.terminator_pcs[block] {
        let info = &function.blocks.as_slice()[block];
        let first = if pc == func.block_starts[block] {
            0
        } else {
            (func.sites[pc as usize].0 - info.first_site.0) as usize
        };
        go_back(info, first.min(info.insts.len()), &mut live);
    }
    (0..function.regs.len() as u32)
        .filter(|&reg| live[reg as usize / 64] >> (reg % 64) & 1 == 1)
        .map(|reg| LiveSlot {
            slot: func.reg_slots[reg as usize],
            ty: function.regs.as_slice()[reg as usize].ty,
        })
        .collect()
}

impl Liveness {
    fn of(function: &Function) -> Self {
        let words = function.regs.len().div_ceil(64);
        let count = function.blocks.len();
        let mut inside = vec![vec![0u64; words]; count];
        let mut out = vec![vec![0u64; words]; count];
        let mut changed = true;
        while changed {
            changed = false;
            for (id, block) in function.blocks.iter().rev() {
                let at = id.0 as usize;
                let mut live = vec![0u64; words];
                let mut successors = Vec::new();
                block.terminator.each_target(|next| successors.push(next));
                for next in successors {
                    let target = &function.blocks[next];
                    let mut entering = inside[next.0 as usize].clone();
                    for phi in &target.phis {
                        clear(&mut entering, phi.dst.0);
                    }
                    for phi in &target.phis {
                        for (from, operand) in &phi.incoming {
                            if let (true, Operand::Reg(reg)) = (*from == id, operand) {
                                set(&mut entering, reg.0);
                            }
                        }
                    }
                    live.iter_mut().zip(&entering).for_each(|(a, b)| *a |= b);
                }
                if live != out[at] {
                    out[at].clone_from(&live);
                    changed = true;
                }
                go_back(block, 0, &mut live);
                if live != inside[at] {
                    inside[at] = live;
                    changed = true;
                }
            }
        }
        Self { out }
    }
}

/// From what is alive at the end of a block to what is alive before an instruction of it.
fn go_back(block: &Block, first: usize, live: &mut [u64]) {
    let read = |live: &mut [u64], operand| {
        if let Operand::Reg(reg) = operand {
            set(live, reg.0);
        }
    };
    block.terminator.each_operand(|operand| read(live, operand));
    for inst in block.insts[first..].iter().rev() {
        inst.each_dst(|reg| clear(live, reg.0));
        inst.each_operand(|operand| read(live, operand));
    }
}

fn set(bits: &mut [u64], index: u32) {
    bits[index as usize / 64] |= 1 << (index % 64);
}

fn clear(bits: &mut [u64], index: u32) {
    bits[index as usize / 64] &= !(1 << (index % 64));
}

/// What is alive at one of two places of a function.
pub(crate) fn both(one: &Arc<[LiveSlot]>, other: &[LiveSlot]) -> Arc<[LiveSlot]> {
    let more = other.iter().filter(|slot| !one.iter().any(|known| known.slot == slot.slot));
    one.iter().chain(more).copied().collect()
}
