//! One function body: registers for every value first, then block by block.

use std::collections::HashMap;

use inkwell::llvm_sys::LLVMOpcode;
use raddle_base::{Id, IdVec, Span, Symbol};
use raddle_ir::{
    BlockId, DebugTypeId, FunctionId, Inst, Operand, Phi, Place, PlaceBase, Reg, RegInfo, Terminator, Ty,
};

use super::Lowered;
use super::debug::{DebugCall, Variable};
use super::draft::{Draft, finish};
use super::module::ModuleLowerer;
use super::names::LoadedFrom;
use crate::llvm::{Block, Value, ValueKind};

/// Lowers the body of a function that was declared before.
pub(super) fn lower_body<'m>(module: &mut ModuleLowerer<'m>, value: Value<'m>) {
    let id = module.functions[&value];
    if let Some(reason) = module.refused.get(&id).cloned() {
        refuse_body(module, id, &reason);
        return;
    }
    let mut lowerer = FunctionLowerer::new(module, id, value);
    lowerer.prepare();
    let blocks: Vec<Block<'m>> = value.blocks().collect();
    for (index, &block) in blocks.iter().enumerate() {
        lowerer.current = index;
        lowerer.span = lowerer.home_span;
        lowerer.block(block);
    }
    for (index, &block) in blocks.iter().enumerate() {
        lowerer.fill_phis(index, block);
    }
    lowerer.finish();
}

/// A body that must not be reached.
pub(super) fn refuse_body(module: &mut ModuleLowerer<'_>, id: FunctionId, reason: &str) {
    let reason = module.symbol(reason);
    let span = module.program.functions[id].span;
    let draft = Draft { terminator: Some((Terminator::Unsupported { reason }, span)), ..Draft::default() };
    let blocks = finish(vec![draft], id, &mut module.program.sites);
    module.program.functions[id].blocks = blocks;
}

/// The constructor that computes initial values which are not plain data.
pub(super) fn lower_deferred(module: &mut ModuleLowerer<'_>, id: FunctionId) {
    let deferred = std::mem::take(&mut module.deferred);
    let Some(any) = deferred.first().map(|piece| piece.value) else { return };
    // No LLVM function stands behind it; no local value or label is ever looked up in it.
    let mut lowerer = FunctionLowerer::new(module, id, any);
    lowerer.drafts.push(Draft::default());
    for piece in deferred {
        let mark = lowerer.drafts[0].insts.len();
        if let Err(reason) = lowerer.store_initial(piece.global, piece.offset, piece.value) {
            lowerer.drafts[0].insts.truncate(mark);
            let reason = lowerer.module.symbol(&format!("initial value: {reason}"));
            lowerer.emit(Inst::Unsupported { dsts: Vec::new(), reason });
        }
    }
    lowerer.drafts[0].terminator = Some((Terminator::Ret { values: Vec::new() }, None));
    lowerer.finish();
}

/// The registers of an LLVM value: one for each piece of its type, consecutive.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) first: Reg,
    pub(super) count: u32,
}

impl Slot {
    pub(super) fn reg(self, piece: usize) -> Reg {
        Reg(self.first.0 + piece as u32)
    }

    pub(super) fn regs(self) -> Vec<Reg> {
        (0..self.count as usize).map(|piece| self.reg(piece)).collect()
    }
}

pub(super) struct FunctionLowerer<'a, 'm> {
    pub(super) module: &'a mut ModuleLowerer<'m>,
    id: FunctionId,
    pub(super) value: Value<'m>,
    regs: IdVec<Reg, RegInfo>,
    slots: HashMap<Value<'m>, Slot>,
    block_ids: HashMap<Block<'m>, BlockId>,
    pub(super) drafts: Vec<Draft>,
    current: usize,
    /// The place of the instruction being lowered.
    span: Option<Span>,
    /// Where the function begins: for instructions without a place of their own.
    home_span: Option<Span>,
    /// Variables in memory, by their address.
    pub(super) homes: HashMap<Value<'m>, Variable>,
    /// The variable that a value was last assigned to, at this point of the walk.
    pub(super) named: HashMap<Value<'m>, Variable>,
    pub(super) loaded: HashMap<Value<'m>, LoadedFrom>,
    /// Which instruction of which draft does the work of an LLVM instruction; empty unless asked for.
    origins: Vec<(Value<'m>, usize, usize)>,
}

impl<'a, 'm> FunctionLowerer<'a, 'm> {
    fn new(module: &'a mut ModuleLowerer<'m>, id: FunctionId, value: Value<'m>) -> Self {
        let function = &mut module.program.functions[id];
        let regs = std::mem::take(&mut function.regs);
        let home_span = function.span;
        Self {
            module,
            id,
            value,
            regs,
            slots: HashMap::new(),
            block_ids: HashMap::new(),
            drafts: Vec::new(),
            current: 0,
            span: home_span,
            home_span,
            homes: HashMap::new(),
            named: HashMap::new(),
            loaded: HashMap::new(),
            origins: Vec::new(),
        }
    }

    /// Numbers blocks and registers, and collects the programmer's names.
    fn prepare(&mut self) {
        let params = self.value.params();
        let mut next = 0;
        for &param in &params {
            let count = self.module.types.pieces(param.ty()).map_or(0, |pieces| pieces.len() as u32);
            self.slots.insert(param, Slot { first: Reg(next), count });
            next += count;
        }
        let mut assignments = Vec::new();
        for (index, block) in self.value.blocks().enumerate() {
            self.block_ids.insert(block, BlockId(index as u32));
            self.drafts.push(Draft::default());
            for inst in block.instructions() {
                if let Some(name) = debug_call_name(inst) {
                    match self.module.debug.call(&name, inst) {
                        DebugCall::Declare(value, node) => {
                            if let Some(variable) = self.variable(node) {
                                self.homes.entry(value).or_insert(variable);
                            }
                        }
                        DebugCall::Value(value, node) => assignments.push((value, node)),
                        DebugCall::Other => {}
                    }
                    continue;
                }
                let Ok(pieces) = self.module.types.pieces(inst.ty()) else { continue };
                if pieces.is_empty() {
                    continue;
                }
                let first = Reg::from_index(self.regs.len());
                for piece in pieces.iter() {
                    self.regs.push(RegInfo { ty: piece.ty, name: None, debug_type: None });
                }
                self.slots.insert(inst, Slot { first, count: pieces.len() as u32 });
            }
        }
        for (value, node) in assignments {
            let Some(slot) = self.slots.get(&value).copied() else { continue };
            let Some(variable) = self.variable(node) else { continue };
            if slot.count == 1 {
                self.name_register(slot.first, variable);
            }
        }
        self.describe_params(&params);
    }

    /// The first variable of a value names its register, unless a later one knows more about what it points to.
    fn name_register(&mut self, reg: Reg, variable: Variable) {
        let old = self.regs[reg].name.map(|name| Variable { name, ty: self.regs[reg].debug_type });
        if old.is_none_or(|old| self.tells_more(variable, old)) {
            self.regs[reg].name = Some(variable.name);
            self.regs[reg].debug_type = variable.ty;
        }
    }

    fn describe_params(&mut self, params: &[Value<'m>]) {
        let without_debug = self.value.subprogram(self.module.debug.context).is_none();
        for &param in params {
            let Some(&slot) = self.slots.get(&param) else { continue };
            let declared = self.homes.get(&param).copied();
            for reg in slot.regs() {
                if without_debug && slot.count == 1 && !param.name().is_empty() {
                    self.regs[reg].name = Some(self.module.symbol(&param.name()));
                }
                let debug_type = declared.and_then(|variable| variable.ty).or(self.regs[reg].debug_type);
                let function = &mut self.module.program.functions[self.id];
                if let Some(param) = function.params.iter_mut().find(|param| param.reg == reg) {
                    param.debug_type = debug_type;
                }
            }
        }
    }

    fn block(&mut self, block: Block<'m>) {
        for inst in block.instructions() {
            if let Some(name) = debug_call_name(inst) {
                if let DebugCall::Value(value, node) = self.module.debug.call(&name, inst) {
                    self.assign(value, node);
                }
                continue;
            }
            if let Some(span) = self.module.debug.span(&mut self.module.program, inst) {
                self.span = Some(span);
            }
            if inst.opcode() == Some(LLVMOpcode::LLVMPHI) {
                continue;
            }
            let mark = self.drafts[self.current].insts.len();
            if let Err(reason) = self.instruction(inst) {
                self.drafts[self.current].insts.truncate(mark);
                self.refuse(inst, &reason);
            }
            if self.module.origins.is_some() {
                let made = &self.drafts[self.current].insts[mark..];
                if let Some(index) = made.iter().position(|(made, _)| is_event(made) && !self.is_mark(made)) {
                    self.origins.push((inst, self.current, mark + index));
                }
            }
        }
    }

    fn assign(&mut self, value: Value<'m>, node: crate::llvm::Meta<'m>) {
        let Some(variable) = self.variable(node) else { return };
        let keep = self.named.get(&value).is_some_and(|&old| self.tells_more(old, variable));
        if !keep {
            self.named.insert(value, variable);
        }
    }

    fn variable(&mut self, node: crate::llvm::Meta<'m>) -> Option<Variable> {
        self.module.debug.variable(&mut self.module.program, node)
    }

    fn refuse(&mut self, inst: Value<'m>, reason: &str) {
        let reason = self.module.symbol(reason);
        let terminator = matches!(
            inst.opcode(),
            Some(
                LLVMOpcode::LLVMRet
                    | LLVMOpcode::LLVMBr
                    | LLVMOpcode::LLVMSwitch
                    | LLVMOpcode::LLVMIndirectBr
                    | LLVMOpcode::LLVMInvoke
                    | LLVMOpcode::LLVMUnreachable
                    | LLVMOpcode::LLVMCallBr
                    | LLVMOpcode::LLVMResume
                    | LLVMOpcode::LLVMCleanupRet
                    | LLVMOpcode::LLVMCatchRet
                    | LLVMOpcode::LLVMCatchSwitch
            )
        );
        let dsts = self.slots.get(&inst).map(|slot| slot.regs()).unwrap_or_default();
        if !terminator || !dsts.is_empty() {
            self.emit(Inst::Unsupported { dsts, reason });
        }
        if terminator {
            self.terminate(Terminator::Unsupported { reason });
        }
    }

    /// Phis are filled last: a constant that has to be computed is computed at the end of the block it comes from.
    fn fill_phis(&mut self, index: usize, block: Block<'m>) {
        for phi in block.instructions().take_while(|inst| inst.opcode() == Some(LLVMOpcode::LLVMPHI)) {
            let Some(&slot) = self.slots.get(&phi) else { continue };
            let mut incoming: Vec<Vec<(BlockId, Operand)>> = vec![Vec::new(); slot.count as usize];
            for (from, value) in phi.incoming() {
                let Some(&from) = self.block_ids.get(&from) else { continue };
                let known = incoming[0].iter().any(|(known, _)| *known == from);
                if known || !self.drafts[from.index()].goes_to(BlockId(index as u32)) {
                    continue;
                }
                self.current = from.index();
                self.span = self.drafts[self.current].terminator.as_ref().and_then(|(_, span)| *span);
                let operands = match self.pieces(value) {
                    Ok(operands) if operands.len() == incoming.len() => operands,
                    refused => {
                        let reason = refused.err().unwrap_or_else(|| "phi of an unknown form".to_owned());
                        let reason = self.module.symbol(&reason);
                        self.emit(Inst::Unsupported { dsts: Vec::new(), reason });
                        vec![Operand::Undef; incoming.len()]
                    }
                };
                for (list, operand) in incoming.iter_mut().zip(operands) {
                    list.push((from, operand));
                }
            }
            for (piece, incoming) in incoming.into_iter().enumerate() {
                self.drafts[index].phis.push(Phi { dst: slot.reg(piece), incoming });
            }
        }
    }

    fn finish(self) {
        let blocks = finish(self.drafts, self.id, &mut self.module.program.sites);
        let function = &mut self.module.program.functions[self.id];
        if let Some(origins) = &mut self.module.origins {
            let sites = self.origins.iter();
            origins.extend(
                sites.map(|(inst, block, index)| (*inst, blocks[BlockId(*block as u32)].site_of(*index))),
            );
        }
        function.blocks = blocks;
        function.regs = self.regs;
    }

    fn instruction(&mut self, inst: Value<'m>) -> Lowered<()> {
        let opcode = inst.opcode().ok_or_else(|| "not an instruction".to_owned())?;
        match opcode {
            LLVMOpcode::LLVMAdd
            | LLVMOpcode::LLVMSub
            | LLVMOpcode::LLVMMul
            | LLVMOpcode::LLVMUDiv
            | LLVMOpcode::LLVMSDiv
            | LLVMOpcode::LLVMURem
            | LLVMOpcode::LLVMSRem
            | LLVMOpcode::LLVMShl
            | LLVMOpcode::LLVMLShr
            | LLVMOpcode::LLVMAShr
            | LLVMOpcode::LLVMAnd
            | LLVMOpcode::LLVMOr
            | LLVMOpcode::LLVMXor => self.binary(inst, opcode),
            LLVMOpcode::LLVMFAdd
            | LLVMOpcode::LLVMFSub
            | LLVMOpcode::LLVMFMul
            | LLVMOpcode::LLVMFDiv
            | LLVMOpcode::LLVMFRem => self.float_binary(inst, opcode),
            LLVMOpcode::LLVMFNeg => self.float_negate(inst),
            LLVMOpcode::LLVMICmp => self.compare_ints(inst),
            LLVMOpcode::LLVMFCmp => self.compare_floats(inst),
            LLVMOpcode::LLVMSelect => self.select(inst),
            LLVMOpcode::LLVMFreeze => self.copy_operand(inst, 0),
            LLVMOpcode::LLVMTrunc
            | LLVMOpcode::LLVMZExt
            | LLVMOpcode::LLVMSExt
            | LLVMOpcode::LLVMFPToUI
            | LLVMOpcode::LLVMFPToSI
            | LLVMOpcode::LLVMUIToFP
            | LLVMOpcode::LLVMSIToFP
            | LLVMOpcode::LLVMFPTrunc
            | LLVMOpcode::LLVMFPExt
            | LLVMOpcode::LLVMPtrToInt
            | LLVMOpcode::LLVMIntToPtr => self.cast(inst, opcode),
            LLVMOpcode::LLVMBitCast => self.bitcast(inst),
            LLVMOpcode::LLVMAddrSpaceCast => Err("pointer into another address space".to_owned()),
            LLVMOpcode::LLVMAlloca => self.alloca(inst),
            LLVMOpcode::LLVMLoad => self.load(inst),
            LLVMOpcode::LLVMStore => self.store(inst),
            LLVMOpcode::LLVMGetElementPtr => self.address_arithmetic(inst),
            LLVMOpcode::LLVMFence => self.fence(inst),
            LLVMOpcode::LLVMAtomicCmpXchg => self.compare_exchange(inst),
            LLVMOpcode::LLVMAtomicRMW => self.read_modify_write(inst),
            LLVMOpcode::LLVMCall => self.call(inst),
            LLVMOpcode::LLVMVAArg => self.va_arg(inst),
            LLVMOpcode::LLVMExtractElement => self.extract_element(inst),
            LLVMOpcode::LLVMInsertElement => self.insert_element(inst),
            LLVMOpcode::LLVMShuffleVector => self.shuffle(inst),
            LLVMOpcode::LLVMExtractValue => self.extract_value(inst),
            LLVMOpcode::LLVMInsertValue => self.insert_value(inst),
            LLVMOpcode::LLVMBr => self.branch(inst),
            LLVMOpcode::LLVMSwitch => self.switch(inst),
            LLVMOpcode::LLVMIndirectBr => self.computed_goto(inst),
            LLVMOpcode::LLVMRet => self.ret(inst),
            LLVMOpcode::LLVMInvoke => self.invoke(inst),
            LLVMOpcode::LLVMUnreachable => {
                self.terminate(Terminator::Unreachable);
                Ok(())
            }
            LLVMOpcode::LLVMCallBr => Err("asm goto".to_owned()),
            LLVMOpcode::LLVMLandingPad | LLVMOpcode::LLVMResume => Err("exception handling".to_owned()),
            other => Err(format!("instruction {other:?}")),
        }
    }

    pub(super) fn emit(&mut self, inst: Inst) {
        self.drafts[self.current].insts.push((inst, self.span));
    }

    pub(super) fn terminate(&mut self, terminator: Terminator) {
        self.drafts[self.current].terminator = Some((terminator, self.span));
    }

    pub(super) fn temporary(&mut self, ty: Ty) -> Reg {
        self.regs.push(RegInfo { ty, name: None, debug_type: None })
    }

    pub(super) fn slot(&self, inst: Value<'m>) -> Lowered<Slot> {
        self.slots.get(&inst).copied().ok_or_else(|| "result of a type that is not supported".to_owned())
    }

    pub(super) fn block_id(&self, block: Block<'m>) -> Lowered<BlockId> {
        self.block_ids.get(&block).copied().ok_or_else(|| "jump to nowhere".to_owned())
    }

    pub(super) fn register_of(&self, value: Value<'m>) -> Option<Reg> {
        self.slots.get(&value).filter(|slot| slot.count == 1).map(|slot| slot.first)
    }

    pub(super) fn register_name(&self, value: Value<'m>) -> Option<Symbol> {
        self.regs[self.register_of(value)?].name
    }

    pub(super) fn function_id(&self) -> FunctionId {
        self.id
    }

    pub(super) fn register_type(&self, reg: Reg) -> Ty {
        self.regs[reg].ty
    }

    pub(super) fn register_debug_type(&self, value: Value<'m>) -> Option<DebugTypeId> {
        self.regs[self.register_of(value)?].debug_type
    }

    /// Operand of an instruction by position, as an LLVM value.
    pub(super) fn input(&self, inst: Value<'m>, index: u32) -> Lowered<Value<'m>> {
        inst.operand(index).ok_or_else(|| "missing operand".to_owned())
    }

    /// A scalar value.
    pub(super) fn scalar(&mut self, value: Value<'m>) -> Lowered<Operand> {
        match self.slots.get(&value) {
            Some(slot) if slot.count == 1 => Ok(Operand::Reg(slot.first)),
            Some(_) => Err("vector or aggregate where a scalar is expected".to_owned()),
            None => match value.kind() {
                ValueKind::Instruction | ValueKind::Argument => {
                    Err("value of a type that is not supported".to_owned())
                }
                _ => self.constant(value),
            },
        }
    }

    /// A value as its scalar pieces.
    pub(super) fn pieces(&mut self, value: Value<'m>) -> Lowered<Vec<Operand>> {
        match self.slots.get(&value) {
            Some(slot) => Ok(slot.regs().into_iter().map(Operand::Reg).collect()),
            None => match value.kind() {
                ValueKind::Instruction | ValueKind::Argument => {
                    let pieces = self.module.types.pieces(value.ty())?;
                    if pieces.is_empty() {
                        return Ok(Vec::new());
                    }
                    Err("value of a type that is not supported".to_owned())
                }
                _ => {
                    let mut out = Vec::new();
                    self.constant_pieces(value, &mut out)?;
                    Ok(out)
                }
            },
        }
    }

    fn store_initial(&mut self, global: raddle_ir::GlobalId, offset: u64, value: Value<'m>) -> Lowered<()> {
        let pieces = self.module.types.pieces(value.ty())?;
        let operands = self.pieces(value)?;
        let place = self.module.place(Place { base: PlaceBase::Global(global), steps: Vec::new() });
        for (piece, value) in pieces.iter().zip(operands) {
            let ptr = Operand::Global(global, (offset + piece.offset) as i64);
            self.emit(Inst::Store { ty: piece.ty, value, ptr, atomic: None, volatile: false, place });
        }
        Ok(())
    }
}

/// What other threads can see, or what a stack is kept for.
fn is_event(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::Load { .. }
            | Inst::Store { .. }
            | Inst::Rmw { .. }
            | Inst::CmpXchg(_)
            | Inst::Fence { .. }
            | Inst::MemCopy { .. }
            | Inst::MemSet { .. }
            | Inst::Call { .. }
            | Inst::Asm { .. }
            | Inst::VaArg { .. }
            | Inst::Unsupported { .. }
    )
}

fn debug_call_name(inst: Value<'_>) -> Option<String> {
    if inst.opcode() != Some(LLVMOpcode::LLVMCall) {
        return None;
    }
    let callee = inst.called_value().filter(|callee| callee.kind() == ValueKind::Function)?;
    let name = callee.name();
    name.starts_with("llvm.dbg.").then_some(name)
}
