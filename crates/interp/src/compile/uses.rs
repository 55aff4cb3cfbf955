//! How the registers of a function are used: what the compiler may fuse, which locals never leave their thread, which values stay
//! handles.
//!
//! All answers err to the safe side: a local is private only if every use of its address is a plain access or address arithmetic.

use super::Surroundings;
use raddle_ir::{BinOp, Callee, CastOp, Function, IcmpPred, Inst, Operand, Reg, Terminator, Ty};
use raddle_libmodel::{Effect, Meaning, Models, ThreadOp};

pub(super) struct Uses {
    /// Number of uses, by register.
    pub counts: Vec<u32>,
    /// The register's value (a pointer) may be reached by another thread.
    escapes: Vec<bool>,
    /// The register's value is computed with or handed to code that may do so.
    computed_with: Vec<bool>,
    /// Uses as the address of a load or store, or in a comparison.
    addresses: Vec<u32>,
    /// A pointer made a number only to be subtracted from another such.
    pub only_subtracted: Vec<bool>,
}

impl Uses {
    pub fn of(around: &Surroundings<'_>, function: &Function) -> Self {
        let count = function.regs.len();
        let mut uses = Self {
            counts: vec![0; count],
            escapes: vec![false; count],
            computed_with: vec![false; count],
            addresses: vec![0; count],
            only_subtracted: vec![false; count],
        };
        let mut flows: Vec<(Reg, Reg)> = Vec::new();
        for block in function.blocks.values() {
            for phi in &block.phis {
                for (_, operand) in &phi.incoming {
                    uses.flow(*operand, phi.dst, &mut flows);
                    uses.compute(*operand);
                }
            }
            for inst in &block.insts {
                uses.inst(around.models, function, inst, &mut flows);
            }
            uses.terminator(&block.terminator);
        }
        uses.mark_differences(function, around.layout.pointer_bytes as u8 * 8);
        while flows.iter().any(|&(from, to)| uses.escapes[to.0 as usize] && !uses.escapes[from.0 as usize]) {
            for &(from, to) in &flows {
                if uses.escapes[to.0 as usize] {
                    uses.escapes[from.0 as usize] = true;
                }
            }
        }
        uses
    }

    pub fn may_escape(&self, reg: Reg) -> bool {
        self.escapes[reg.0 as usize]
    }

    pub fn may_be_computed_with(&self, reg: Reg) -> bool {
        self.computed_with[reg.0 as usize]
    }

    /// The register's value goes elsewhere than to the address of a load or store, or a comparison.
    pub fn may_be_kept(&self, reg: Reg) -> bool {
        self.counts[reg.0 as usize] > self.addresses[reg.0 as usize]
    }

    fn address(&mut self, operand: Operand) {
        self.plain(operand);
        if let Operand::Reg(reg) = operand {
            self.addresses[reg.0 as usize] += 1;
        }
    }

    /// The operand is used in a way that does not hand on its value.
    fn plain(&mut self, operand: Operand) {
        if let Operand::Reg(reg) = operand {
            self.counts[reg.0 as usize] += 1;
        }
    }

    fn escape(&mut self, operand: Operand) {
        self.plain(operand);
        if let Operand::Reg(reg) = operand {
            self.escapes[reg.0 as usize] = true;
        }
    }

    fn compute(&mut self, operand: Operand) {
        if let Operand::Reg(reg) = operand {
            self.computed_with[reg.0 as usize] = true;
        }
    }

    fn flow(&mut self, from: Operand, to: Reg, flows: &mut Vec<(Reg, Reg)>) {
        self.plain(from);
        if let Operand::Reg(from) = from {
            flows.push((from, to));
        }
    }

    fn inst(&mut self, models: &Models, function: &Function, inst: &Inst, flows: &mut Vec<(Reg, Reg)>) {
        match inst {
            Inst::Bin { a, b, .. } | Inst::FBin { a, b, .. } | Inst::Fcmp { a, b, .. } => {
                for operand in [*a, *b] {
                    self.plain(operand);
                    self.compute(operand);
                }
            }
            Inst::Icmp { pred, a, b, .. } => {
                for operand in [*a, *b] {
                    self.address(operand);
                    if !matches!(pred, IcmpPred::Eq | IcmpPred::Ne) {
                        self.compute(operand);
                    }
                }
            }
            Inst::FNeg { a, .. } => self.plain(*a),
            Inst::Cast { op, a, .. } => {
                match op {
                    CastOp::PtrToInt | CastOp::Bitcast => self.escape(*a),
                    _ => self.plain(*a),
                }
                self.compute(*a);
            }
            Inst::Select { dst, cond, a, b, .. } => {
                self.plain(*cond);
                self.compute(*cond);
                for operand in [*a, *b] {
                    self.flow(operand, *dst, flows);
                    self.compute(operand);
                }
            }
            Inst::Copy { dst, a, .. } => {
                self.flow(*a, *dst, flows);
                self.compute(*a);
            }
            Inst::Alloca { bytes, .. } => {
                self.plain(*bytes);
                self.compute(*bytes);
            }
            Inst::TlsAddr { .. } | Inst::Fence { .. } | Inst::SignalFence => {}
            Inst::Load { ptr, .. } => self.address(*ptr),
            Inst::Store { value, ptr, .. } => {
                self.address(*ptr);
                self.escape(*value);
            }
            Inst::Rmw { ptr, value, .. } => {
                self.plain(*ptr);
                self.escape(*value);
                self.compute(*value);
            }
            Inst::CmpXchg(exchange) => {
                self.plain(exchange.ptr);
                for operand in [exchange.expected, exchange.new] {
                    self.escape(operand);
                    self.compute(operand);
                }
            }
            Inst::Gep(gep) => {
                self.flow(gep.base, gep.dst, flows);
                for (index, _, _) in &gep.indices {
                    self.plain(*index);
                    self.compute(*index);
                }
            }
            Inst::MemCopy { dst, src, len, .. } => {
                for operand in [*dst, *src, *len] {
                    self.plain(operand);
                    self.compute(operand);
                }
            }
            Inst::MemSet { dst, byte, len, .. } => {
                for operand in [*dst, *byte, *len] {
                    self.plain(operand);
                    self.compute(operand);
                }
            }
            Inst::Call { dsts, callee, args } => {
                let returns_pointer = dsts.iter().any(|&dst| function.regs[dst].ty == Ty::Ptr);
                let meaning = match callee {
                    Callee::Direct(id) => models.meanings.get(*id),
                    Callee::Indirect(operand) => {
                        self.escape(*operand);
                        self.compute(*operand);
                        None
                    }
                };
                for arg in args {
                    if arg.by_value.is_some() || !returns_pointer && meaning.is_some_and(keeps_no_pointer) {
                        self.plain(arg.value);
                    } else {
                        self.escape(arg.value);
                    }
                    if !meaning.is_some_and(takes_handles) {
                        self.compute(arg.value);
                    }
                }
            }
            Inst::Intrinsic { args, .. } => {
                for operand in args {
                    self.plain(*operand);
                    self.compute(*operand);
                }
            }
            Inst::VaStart { list } | Inst::VaEnd { list } | Inst::VaArg { list, .. } => self.plain(*list),
            Inst::VaCopy { dst, src } => {
                self.plain(*dst);
                self.plain(*src);
            }
            Inst::StackSave { .. } => {}
            Inst::StackRestore { mark } => self.plain(*mark),
            Inst::Asm { writes, reads, .. } => {
                for operand in writes.iter().map(|(operand, _)| operand).chain(reads) {
                    self.escape(*operand);
                    self.compute(*operand);
                }
            }
            Inst::Unsupported { .. } => {}
        }
    }

    fn terminator(&mut self, terminator: &Terminator) {
        match terminator {
            Terminator::CondBr { cond, .. } => {
                self.plain(*cond);
                self.compute(*cond);
            }
            Terminator::Switch { value, .. } => {
                self.plain(*value);
                self.compute(*value);
            }
            Terminator::IndirectBr { target, .. } => self.plain(*target),
            Terminator::Ret { values } => {
                for value in values {
                    self.escape(*value);
                    self.compute(*value);
                }
            }
            Terminator::Br(_) | Terminator::Unreachable | Terminator::Unsupported { .. } => {}
        }
    }

    /// `p - q` is written as the difference of two numbers; the numbers themselves go nowhere else.
    fn mark_differences(&mut self, function: &Function, pointer_bits: u8) {
        let mut numbers = vec![false; function.regs.len()];
        let mut subtracted = vec![0u32; function.regs.len()];
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if let Inst::Cast { dst, op: CastOp::PtrToInt, to: Ty::Int(bits), .. } = inst
                && *bits == pointer_bits
            {
                numbers[dst.0 as usize] = true;
            }
        }
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if let Inst::Bin { op: BinOp::Sub, a: Operand::Reg(a), b: Operand::Reg(b), .. } = inst
                && numbers[a.0 as usize]
                && numbers[b.0 as usize]
            {
                subtracted[a.0 as usize] += 1;
                subtracted[b.0 as usize] += 1;
            }
        }
        for reg in 0..numbers.len() {
            self.only_subtracted[reg] = numbers[reg] && subtracted[reg] == self.counts[reg];
        }
    }
}

/// The function neither stores its pointer arguments nor hands them to another thread.
fn keeps_no_pointer(meaning: &Meaning) -> bool {
    match meaning {
        Meaning::Effect(Effect::Libc(function), _) => !function.may_keep_pointers(),
        Meaning::Effect(Effect::Verifier(_) | Effect::Nothing { .. }, _) => true,
        _ => false,
    }
}

/// Thread handles stay handles in calls of thread functions.
fn takes_handles(meaning: &Meaning) -> bool {
    matches!(
        meaning,
        Meaning::Effect(
            Effect::Thread(
                ThreadOp::Join { .. }
                    | ThreadOp::Detach { .. }
                    | ThreadOp::Equal { .. }
                    | ThreadOp::Cancel { .. },
                _
            ),
            _
        )
    )
}
