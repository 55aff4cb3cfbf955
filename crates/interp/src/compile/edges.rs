//! Terminators, and the moves that phis ask for on the edges between blocks.

use super::arith::looks_at_layout;
use super::{Compiler, Fixup};
use crate::code::{Code, IndirectDesc, Pc, RetValue, S, SwitchDesc};
use raddle_ir::{Block, BlockId, IcmpPred, Inst, Operand, Reg, Terminator, Ty};

/// A comparison that only the branch right after it looks at.
#[derive(Clone, Copy)]
pub(super) struct Fused {
    pred: IcmpPred,
    ty: Ty,
    a: Operand,
    b: Operand,
}

impl Compiler<'_> {
    pub(super) fn fusible(&self, block: &Block) -> Option<Fused> {
        let Terminator::CondBr { cond: Operand::Reg(cond), .. } = block.terminator else { return None };
        let Some(&Inst::Icmp { dst, pred, ty, a, b }) = block.insts.last() else { return None };
        let simple = !ty.is_wide() && !looks_at_layout(pred, ty, a, b);
        (dst == cond && self.uses.counts[dst.0 as usize] == 1 && simple).then_some(Fused { pred, ty, a, b })
    }

    pub(super) fn terminator(&mut self, id: BlockId, block: &Block, fused: Option<Fused>) {
        let count = u16::try_from(block.insts.len() + 1).unwrap_or(u16::MAX);
        if !matches!(block.terminator, Terminator::Br(_)) {
            self.func.terminator_pcs.push(self.func.code.len() as Pc);
        }
        // A reported branch counts behind its report, so that the thread can stand at the same places as without one.
        let head = if self.is_reported(id) { 0 } else { count };
        match &block.terminator {
            Terminator::Br(target) => {
                let start = self.func.code.len() as Pc;
                self.moves(id, *target);
                // The first move stands for the jump; a thread never stops in between.
                self.func.terminator_pcs.push(start);
                let at = self.emit(Code::Jump { count, target: 0 });
                self.fixups.push((at, Fixup::Only(*target)));
            }
            Terminator::CondBr { cond, then, other } => {
                let at = match fused {
                    Some(fused) => self.fused_jump(head, fused),
                    None => {
                        let cond = self.operand(*cond, Ty::Int(1));
                        self.emit(Code::JumpIf { count: head, cond, then: 0, other: 0 })
                    }
                };
                let (then, other) = match self.is_reported(id) {
                    true => (Ok(self.report(id, *then, count)), Ok(self.report(id, *other, count))),
                    false => (self.edge(id, *then), self.edge(id, *other)),
                };
                self.target(at, then, other);
            }
            Terminator::Switch { value, ty, cases, default } => {
                let value = self.any_operand(*value, *ty);
                let desc = self.func.switches.len() as u32;
                self.func.switches.push(SwitchDesc { wide: ty.is_wide(), cases: Vec::new(), default: 0 });
                self.emit(Code::Switch { count: head, desc, value });
                let mut targets: Vec<_> = cases
                    .iter()
                    .map(|(value, block)| (super::keep(*value, self.bits(*ty)), self.case(id, *block, count)))
                    .collect();
                targets.sort_by_key(|(value, _)| *value);
                let default = self.case(id, *default, count);
                let desc = &mut self.func.switches[desc as usize];
                desc.cases = targets;
                desc.default = default;
            }
            Terminator::IndirectBr { target, targets } => {
                let target = self.operand(*target, Ty::Ptr);
                let desc = self.func.indirect.len() as u32;
                self.func.indirect.push(IndirectDesc { targets: Vec::new() });
                self.emit(Code::IndirectBr { count: head, desc, target });
                let targets = targets.iter().map(|&block| (block, self.case(id, block, count))).collect();
                self.func.indirect[desc as usize].targets = targets;
            }
            Terminator::Ret { values } => {
                let values = values
                    .iter()
                    .zip(&self.function.returns)
                    .map(|(&value, &ty)| (value, ty))
                    .collect::<Vec<_>>();
                let values = values
                    .into_iter()
                    .map(|(value, ty)| RetValue { slot: self.any_operand(value, ty), ty })
                    .collect();
                self.func.rets.push(values);
                self.emit(Code::Ret { count, desc: self.func.rets.len() as u32 - 1 });
            }
            Terminator::Unreachable => {
                self.emit(Code::Unreachable);
            }
            Terminator::Unsupported { reason } => {
                self.emit(Code::Unsupported { reason: *reason });
            }
        }
    }

    fn fused_jump(&mut self, count: u16, fused: Fused) -> Pc {
        let shift = 64 - self.bits(fused.ty);
        let (a, b) = (self.operand(fused.a, fused.ty), self.operand(fused.b, fused.ty));
        let (then, other) = (0, 0);
        self.emit(match fused.pred {
            IcmpPred::Eq => Code::JumpEq { count, a, b, then, other },
            IcmpPred::Ne => Code::JumpNe { count, a, b, then, other },
            IcmpPred::Ult => Code::JumpUlt { count, a, b, then, other },
            IcmpPred::Ule => Code::JumpUle { count, a, b, then, other },
            IcmpPred::Ugt => Code::JumpUlt { count, a: b, b: a, then, other },
            IcmpPred::Uge => Code::JumpUle { count, a: b, b: a, then, other },
            IcmpPred::Slt => Code::JumpSlt { shift, count, a, b, then, other },
            IcmpPred::Sle => Code::JumpSle { shift, count, a, b, then, other },
            IcmpPred::Sgt => Code::JumpSlt { shift, count, a: b, b: a, then, other },
            IcmpPred::Sge => Code::JumpSle { shift, count, a: b, b: a, then, other },
        })
    }

    /// Where to jump for an edge: its moves, or the block itself (`Err`) when there are none.
    fn edge(&mut self, from: BlockId, to: BlockId) -> Result<Pc, BlockId> {
        if self.function.blocks[to].phis.is_empty() { Err(to) } else { Ok(self.jump_edge(from, to)) }
    }

    fn is_reported(&self, from: BlockId) -> bool {
        self.around.branches.merges.contains_key(&self.function.blocks[from].terminator_site())
    }

    fn case(&mut self, from: BlockId, to: BlockId, count: u16) -> Pc {
        let edge = self.jump_edge(from, to);
        if self.is_reported(from) { self.report_to(Ok(edge), to, count) } else { edge }
    }

    fn report(&mut self, from: BlockId, to: BlockId, count: u16) -> Pc {
        let edge = self.edge(from, to);
        self.report_to(edge, to, count)
    }

    /// Code that reports the edge and goes there.
    fn report_to(&mut self, edge: Result<Pc, BlockId>, to: BlockId, count: u16) -> Pc {
        let start = self.emit(Code::BranchBegin { taken: to });
        let at = self.emit(Code::Jump { count, target: edge.unwrap_or(0) });
        if let Err(block) = edge {
            self.fixups.push((at, Fixup::Only(block)));
        }
        start
    }

    /// Code that makes the moves of an edge and goes to its block.
    fn jump_edge(&mut self, from: BlockId, to: BlockId) -> Pc {
        if let Some(&at) = self.edges.get(&(from, to)) {
            return at;
        }
        let start = self.func.code.len() as Pc;
        self.moves(from, to);
        let at = self.emit(Code::Goto { target: 0 });
        self.fixups.push((at, Fixup::Only(to)));
        self.edges.insert((from, to), start);
        start
    }

    fn target(&mut self, at: Pc, then: Result<Pc, BlockId>, other: Result<Pc, BlockId>) {
        if let Err(block) = then {
            self.fixups.push((at, Fixup::Then(block)));
        }
        if let Err(block) = other {
            self.fixups.push((at, Fixup::Other(block)));
        }
        match &mut self.func.code[at as usize] {
            Code::JumpIf { then: t, other: o, .. }
            | Code::JumpEq { then: t, other: o, .. }
            | Code::JumpNe { then: t, other: o, .. }
            | Code::JumpUlt { then: t, other: o, .. }
            | Code::JumpUle { then: t, other: o, .. }
            | Code::JumpSlt { then: t, other: o, .. }
            | Code::JumpSle { then: t, other: o, .. } => {
                *t = then.unwrap_or(0);
                *o = other.unwrap_or(0);
            }
            _ => unreachable!("not a conditional jump"),
        }
    }

    /// Whether a local that this way leaves unassigned is looked at from there on.
    fn hands_on_unassigned(&self, from: BlockId, to: BlockId) -> bool {
        let incoming = self.function.blocks[to].phis.iter().flat_map(|phi| &phi.incoming);
        incoming.into_iter().any(|(block, operand)| *block == from && *operand == Operand::Undef)
    }

    /// The phis of `to` take their values at once: parallel moves, put in order, cycles broken by the spare slot.
    fn moves(&mut self, from: BlockId, to: BlockId) {
        if self.hands_on_unassigned(from, to) {
            self.emit(Code::Unassigned);
        }
        let mut pending: Vec<(S, S)> = Vec::new();
        for phi in &self.function.blocks[to].phis {
            let Some((_, operand)) = phi.incoming.iter().find(|(block, _)| *block == from) else { continue };
            let ty = self.function.regs[phi.dst].ty;
            let (d, a) = (self.slot(phi.dst), self.any_operand(*operand, ty));
            pending.push((d, a));
            if ty.is_wide() {
                pending.push((d + 1, a + 1));
            }
        }
        pending.retain(|(d, a)| d != a);
        while !pending.is_empty() {
            let free = pending.iter().position(|&(d, _)| pending.iter().all(|&(_, a)| a != d));
            match free {
                Some(index) => {
                    let (d, a) = pending.swap_remove(index);
                    self.emit(Code::Move { d, a });
                }
                None => {
                    let (d, spare) = (pending[0].0, self.spare());
                    self.emit(Code::Move { d: spare, a: d });
                    for (_, a) in &mut pending {
                        if *a == d {
                            *a = spare;
                        }
                    }
                }
            }
        }
    }

    pub(super) fn result_slots(&self, dsts: &[Reg]) -> Vec<(S, Ty)> {
        dsts.iter().map(|&dst| (self.slot(dst), self.function.regs[dst].ty)).collect()
    }
}
