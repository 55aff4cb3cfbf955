//! From the IR to compact code: slots and block targets are resolved once, phis become moves on edges.

mod arith;
mod calls;
mod edges;
mod looks;
mod memory;
mod retry;
mod uses;

use crate::address::Layout;
use crate::branches::ReportedBranches;
use crate::code::{Code, Func, ParamSlot, Pc, S};
use raddle_base::SiteId;
use raddle_ir::{BlockId, Function, FunctionId, IcmpPred, Inst, Operand, Program, Reg, Ty};
use raddle_libmodel::Models;
use std::collections::HashMap;
use uses::Uses;

pub(crate) use looks::Looks;

/// What the compiler knows of the whole program.
pub(crate) struct Surroundings<'a> {
    pub program: &'a Program,
    pub models: &'a Models,
    pub layout: &'a Layout,
    /// Address of each global; 0 for thread-locals.
    pub globals: &'a [u64],
    pub branches: &'a ReportedBranches,
    pub looks: &'a Looks,
}

/// Compiles a defined function. `first_block` is the number of its block 0 among all blocks.
pub(crate) fn function(
    around: &Surroundings<'_>,
    id: FunctionId,
    function: &Function,
    first_block: u32,
) -> Func {
    let mut compiler = Compiler {
        around,
        id,
        function,
        uses: Uses::of(around, function),
        func: Func { first_block, variadic: function.variadic, ..Func::default() },
        consts: HashMap::new(),
        wide_consts: HashMap::new(),
        edges: HashMap::new(),
        fixups: Vec::new(),
        site: SiteId::NONE,
        pointer_bits: around.layout.pointer_bytes as u8 * 8,
    };
    compiler.assign_slots();
    compiler.blocks();
    compiler.finish()
}

struct Compiler<'a> {
    around: &'a Surroundings<'a>,
    id: FunctionId,
    function: &'a Function,
    uses: Uses,
    func: Func,
    /// Constants by value; their slots are relative to the constants until `finish`.
    consts: HashMap<u64, u32>,
    wide_consts: HashMap<u128, u32>,
    /// Code of an edge with moves, by (from, to).
    edges: HashMap<(BlockId, BlockId), Pc>,
    fixups: Vec<(Pc, Fixup)>,
    site: SiteId,
    pointer_bits: u8,
}

/// A jump target to fill in: position in the code and which of its targets.
#[derive(Clone, Copy)]
enum Fixup {
    Only(BlockId),
    Then(BlockId),
    Other(BlockId),
}

impl Compiler<'_> {
    fn assign_slots(&mut self) {
        let mut next = 0;
        for info in self.function.regs.values() {
            self.func.reg_slots.push(next);
            next += if info.ty.is_wide() { 2 } else { 1 };
        }
        // One spare slot breaks cycles of moves.
        self.func.registers = next + 1;
        for param in &self.function.params {
            self.func.params.push(ParamSlot {
                slot: self.func.reg_slots[param.reg.0 as usize],
                ty: self.function.regs[param.reg].ty,
            });
        }
    }

    fn blocks(&mut self) {
        let merges = self.around.branches.merge_blocks(self.function);
        for (id, block) in self.function.blocks.iter() {
            self.func.block_starts.push(self.func.code.len() as Pc);
            if merges.contains(&id) {
                self.site = block.site_of(0);
                self.emit(Code::BranchEnd { block: id });
            }
            let fused = self.fusible(block);
            let plain = block.insts.len() - usize::from(fused.is_some());
            for (index, inst) in block.insts[..plain].iter().enumerate() {
                self.site = block.site_of(index);
                self.note_unassigned(inst);
                self.note_handles(inst);
                if self.around.branches.calls.contains(&self.site) {
                    self.emit(Code::UnknownBranch);
                }
                self.inst(inst);
            }
            self.site = block.terminator_site();
            if fused.is_some()
                && let Some(inst) = block.insts.last()
            {
                self.note_unassigned(inst);
                self.note_handles(inst);
            }
            let mut unassigned = false;
            block.terminator.each_operand(|operand| unassigned |= operand == Operand::Undef);
            if unassigned {
                self.emit(Code::Unassigned);
            }
            self.terminator(id, block, fused);
        }
    }

    fn finish(mut self) -> Func {
        for (at, fixup) in std::mem::take(&mut self.fixups) {
            let start = |block: BlockId| self.func.block_starts[block.0 as usize];
            match (&mut self.func.code[at as usize], fixup) {
                (Code::Jump { target, .. } | Code::Goto { target }, Fixup::Only(block)) => {
                    *target = start(block)
                }
                (
                    Code::JumpIf { then, .. }
                    | Code::JumpEq { then, .. }
                    | Code::JumpNe { then, .. }
                    | Code::JumpUlt { then, .. }
                    | Code::JumpUle { then, .. }
                    | Code::JumpSlt { then, .. }
                    | Code::JumpSle { then, .. },
                    Fixup::Then(block),
                ) => *then = start(block),
                (
                    Code::JumpIf { other, .. }
                    | Code::JumpEq { other, .. }
                    | Code::JumpNe { other, .. }
                    | Code::JumpUlt { other, .. }
                    | Code::JumpUle { other, .. }
                    | Code::JumpSlt { other, .. }
                    | Code::JumpSle { other, .. },
                    Fixup::Other(block),
                ) => *other = start(block),
                _ => unreachable!("a fixup of something that does not jump"),
            }
        }
        self.func.slots = self.func.registers + self.func.consts.len() as u32;
        self.func
    }

    /// `mem2reg` leaves `Undef` where a local is read before it is assigned. Handing it on inside a block does not count yet.
    fn note_unassigned(&mut self, inst: &Inst) {
        let mut unassigned = false;
        if !matches!(inst, Inst::Select { .. } | Inst::Copy { .. }) {
            inst.each_operand(|operand| unassigned |= operand == Operand::Undef);
        }
        if unassigned {
            self.emit(Code::Unassigned);
        }
    }

    /// Two numbers of the size of a handle that are compared, stored and handed to thread functions only.
    fn note_handles(&mut self, inst: &Inst) {
        if let Inst::Icmp { pred: IcmpPred::Eq | IcmpPred::Ne, ty: Ty::Int(bits), a, b, .. } = *inst
            && let (Operand::Reg(x), Operand::Reg(y)) = (a, b)
            && bits == self.pointer_bits
            && !self.uses.may_be_computed_with(x)
            && !self.uses.may_be_computed_with(y)
        {
            let (a, b) = (self.register(a), self.register(b));
            self.emit(Code::Handles { a, b });
        }
    }

    fn emit(&mut self, code: Code) -> Pc {
        self.func.code.push(code);
        self.func.sites.push(self.site);
        self.func.code.len() as Pc - 1
    }

    fn slot(&self, reg: Reg) -> S {
        self.func.reg_slots[reg.0 as usize]
    }

    fn spare(&self) -> S {
        self.func.registers - 1
    }

    /// The slot that holds an operand of a type of at most 64 bits.
    fn operand(&mut self, operand: Operand, ty: Ty) -> S {
        debug_assert!(!ty.is_wide());
        match self.constant(operand) {
            Some(value) => self.constant_slot(keep(value, self.bits(ty)) as u64),
            None => self.register(operand),
        }
    }

    /// The first of the two slots of a wide operand.
    fn wide_operand(&mut self, operand: Operand) -> S {
        match self.constant(operand) {
            Some(value) => self.wide_constant_slot(value),
            None => self.register(operand),
        }
    }

    /// Wide or not, by type.
    fn any_operand(&mut self, operand: Operand, ty: Ty) -> S {
        if ty.is_wide() { self.wide_operand(operand) } else { self.operand(operand, ty) }
    }

    fn register(&self, operand: Operand) -> S {
        match operand {
            Operand::Reg(reg) => self.slot(reg),
            _ => unreachable!("constants were handled before"),
        }
    }

    fn constant(&self, operand: Operand) -> Option<u128> {
        let mask = self.around.layout.mask;
        match operand {
            Operand::Reg(_) => None,
            Operand::Const(value) => Some(value),
            Operand::Global(global, offset) => {
                let address = self.around.globals[global.0 as usize].wrapping_add(offset as u64);
                Some(u128::from(address & mask))
            }
            Operand::Function(function) => Some(u128::from(self.around.layout.function_address(function))),
            Operand::Block(block) => {
                Some(u128::from(self.around.layout.block_address(self.func.first_block + block.0)))
            }
            Operand::Null | Operand::Undef => Some(0),
        }
    }

    fn constant_slot(&mut self, value: u64) -> S {
        let registers = self.func.registers;
        let consts = &mut self.func.consts;
        registers
            + *self.consts.entry(value).or_insert_with(|| {
                consts.push(value);
                consts.len() as u32 - 1
            })
    }

    fn wide_constant_slot(&mut self, value: u128) -> S {
        let registers = self.func.registers;
        let consts = &mut self.func.consts;
        registers
            + *self.wide_consts.entry(value).or_insert_with(|| {
                consts.push(value as u64);
                consts.push((value >> 64) as u64);
                consts.len() as u32 - 2
            })
    }

    fn bits(&self, ty: Ty) -> u8 {
        match ty {
            Ty::Int(bits) => bits,
            Ty::Ptr => self.pointer_bits,
            Ty::Float(float) => (float.access_bytes() * 8) as u8,
        }
    }

    fn inst(&mut self, inst: &Inst) {
        match inst {
            Inst::Bin { .. }
            | Inst::FBin { .. }
            | Inst::FNeg { .. }
            | Inst::Icmp { .. }
            | Inst::Fcmp { .. }
            | Inst::Cast { .. }
            | Inst::Select { .. }
            | Inst::Copy { .. }
            | Inst::Intrinsic { .. } => self.arith(inst),
            Inst::Alloca { .. }
            | Inst::TlsAddr { .. }
            | Inst::Load { .. }
            | Inst::Store { .. }
            | Inst::Rmw { .. }
            | Inst::CmpXchg(_)
            | Inst::Fence { .. }
            | Inst::SignalFence
            | Inst::Gep(_)
            | Inst::MemCopy { .. }
            | Inst::MemSet { .. } => self.memory(inst),
            Inst::Call { .. }
            | Inst::VaStart { .. }
            | Inst::VaEnd { .. }
            | Inst::VaCopy { .. }
            | Inst::VaArg { .. }
            | Inst::StackSave { .. }
            | Inst::StackRestore { .. }
            | Inst::Asm { .. }
            | Inst::Unsupported { .. } => self.call(inst),
        }
    }
}

/// The low bits of a constant.
fn keep(value: u128, bits: u8) -> u128 {
    if bits >= 128 { value } else { value & ((1 << bits) - 1) }
}
