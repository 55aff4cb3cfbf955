//! Conditions as "this register is zero", traced back through comparisons with zero, extensions and copies.
//!
//! Two uses with different needs: a guard may be replaced only by a condition that is equivalent ([`Locks::zero_when`]); what a taken
//! branch says may be anything that it implies ([`Locks::edge_says`]).

use super::Locks;
use super::shape::Shape;
use raddle_base::Id;
use raddle_facts::{Guard, Interval, Root};
use raddle_ir::{BinOp, BlockId, CastOp, FunctionId, IcmpPred, Inst, Operand, Reg, Terminator, Ty};

/// When a value is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zero {
    Always,
    Never,
    If(Guard),
}

/// Longest chain of definitions that is followed.
const STEPS: usize = 16;

impl Zero {
    pub fn negated(self) -> Zero {
        match self {
            Zero::Always => Zero::Never,
            Zero::Never => Zero::Always,
            Zero::If(guard) => Zero::If(Guard { zero: !guard.zero, ..guard }),
        }
    }
}

impl Locks<'_> {
    /// An equivalent condition for "the operand is zero", the same for all registers that are zero together.
    pub(super) fn zero_when(&self, function: FunctionId, operand: Operand) -> Zero {
        self.trace(self.shapes_or_none(function), function, operand, STEPS)
    }

    fn shapes_or_none(&self, function: FunctionId) -> Option<&Shape> {
        self.shapes.get(function).and_then(Option::as_ref)
    }

    fn trace(&self, shape: Option<&Shape>, function: FunctionId, operand: Operand, steps: usize) -> Zero {
        let Operand::Reg(reg) = operand else {
            return match self.term(function, operand).as_constant() {
                Some(0) => Zero::Always,
                Some(_) => Zero::Never,
                // Addresses of globals, functions and blocks.
                None => Zero::Never,
            };
        };
        let term = self.term(function, operand);
        if let Some(value) = term.as_constant() {
            return if value == 0 { Zero::Always } else { Zero::Never };
        }
        let itself = Zero::If(Guard { function, reg, zero: true });
        if steps == 0 {
            return itself;
        }
        if let (Root::Reg(owner, other), None, 0) = (term.root, term.index, term.offset)
            && (owner, other) != (function, reg)
        {
            let next = if owner == function { shape } else { self.shapes_or_none(owner) };
            return self.trace(next, owner, Operand::Reg(other), steps - 1);
        }
        let Some(inst) = shape.and_then(|shape| shape.maker(self.program, function, reg)) else {
            return itself;
        };
        let mut undefined = false;
        inst.each_operand(|operand| undefined |= operand == Operand::Undef);
        match inst {
            _ if undefined => itself,
            Inst::Icmp { pred: pred @ (IcmpPred::Eq | IcmpPred::Ne), a, b, .. } => {
                let other = match (is_zero(*a), is_zero(*b)) {
                    (_, true) => *a,
                    (true, _) => *b,
                    _ => return itself,
                };
                let inner = self.trace(shape, function, other, steps - 1);
                if *pred == IcmpPred::Eq { inner.negated() } else { inner }
            }
            Inst::Bin { op: BinOp::Xor, ty: Ty::Int(1), a, b: Operand::Const(1), .. } => {
                self.trace(shape, function, *a, steps - 1).negated()
            }
            Inst::Copy { a, .. } => self.trace(shape, function, *a, steps - 1),
            Inst::Cast { op, from, to, a, .. } if self.keeps_zero(shape, function, *op, *from, *to, *a) => {
                self.trace(shape, function, *a, steps - 1)
            }
            _ => itself,
        }
    }

    /// Whether the result is zero exactly if the operand is.
    fn keeps_zero(
        &self,
        shape: Option<&Shape>,
        function: FunctionId,
        op: CastOp,
        from: Ty,
        to: Ty,
        a: Operand,
    ) -> bool {
        match op {
            CastOp::ZExt | CastOp::SExt => true,
            CastOp::PtrToInt | CastOp::IntToPtr => {
                let pointer = self.program.data_model.pointer_bytes();
                to.access_bytes(pointer) >= from.access_bytes(pointer)
            }
            CastOp::Bitcast => matches!((from, to), (Ty::Int(_) | Ty::Ptr, Ty::Int(_) | Ty::Ptr)),
            CastOp::Trunc => {
                let (Ty::Int(bits), Operand::Reg(reg)) = (to, a) else { return false };
                let narrow = match shape.and_then(|shape| shape.maker(self.program, function, reg)) {
                    Some(Inst::Cast { op: CastOp::ZExt, from: Ty::Int(inner), .. }) => *inner <= bits,
                    Some(inst) => self.reads_bit(function, inst),
                    None => false,
                };
                narrow || self.interval(function, reg).is_some_and(|i| i.low >= 0 && fits(i.high, bits))
            }
            _ => false,
        }
    }

    fn interval(&self, function: FunctionId, reg: Reg) -> Option<Interval> {
        self.values.intervals.get(function)?.get(reg.index()).copied()
    }

    /// What is so when control goes from one block to another.
    pub(super) fn edge_says(
        &self,
        shape: &Shape,
        function: FunctionId,
        from: BlockId,
        to: BlockId,
    ) -> Vec<Guard> {
        match &self.program.functions[function].blocks[from].terminator {
            Terminator::CondBr { cond, then, other } if then != other => {
                let mut said = Vec::new();
                self.imply(shape, function, *cond, *other == to, STEPS, &mut said);
                said
            }
            Terminator::Switch { value, cases, default, .. } => {
                let zero = cases.iter().any(|(case, target)| *case == 0 && *target == to)
                    || *default == to && cases.iter().all(|(case, _)| *case != 0);
                let other = cases.iter().any(|(case, target)| *case != 0 && *target == to) || *default == to;
                let mut said = Vec::new();
                if zero != other {
                    self.imply(shape, function, *value, zero, STEPS, &mut said);
                }
                said
            }
            _ => Vec::new(),
        }
    }

    /// All that follows from the operand being zero, or not.
    fn imply(
        &self,
        shape: &Shape,
        function: FunctionId,
        operand: Operand,
        zero: bool,
        steps: usize,
        said: &mut Vec<Guard>,
    ) {
        let Zero::If(guard) = self.trace(Some(shape), function, operand, STEPS) else { return };
        let guard = Guard { zero: guard.zero == zero, ..guard };
        if said.contains(&guard) {
            return;
        }
        said.push(guard);
        if steps == 0 || guard.function != function {
            return;
        }
        let Some(inst) = shape.maker(self.program, function, guard.reg) else { return };
        let mut more = |operand, zero| self.imply(shape, function, operand, zero, steps - 1, said);
        match inst {
            Inst::Bin { op: BinOp::And, a, b, .. } if !guard.zero => {
                more(*a, false);
                more(*b, false);
            }
            Inst::Bin { op: BinOp::Or, a, b, .. } if guard.zero => {
                more(*a, true);
                more(*b, true);
            }
            Inst::Cast { op: CastOp::Trunc, a, .. } if !guard.zero => more(*a, false),
            Inst::Icmp { pred, a, b, .. } => {
                let truth = !guard.zero;
                if excludes_zero(*pred, truth, *b) {
                    more(*a, false);
                }
                if excludes_zero(mirrored(*pred), truth, *a) {
                    more(*b, false);
                }
            }
            Inst::Select { cond, a, b, .. } if !guard.zero && is_zero(*b) => {
                more(*cond, false);
                more(*a, false);
            }
            Inst::Select { cond, a, b, .. } if guard.zero && matches!(a, Operand::Const(1)) => {
                more(*cond, true);
                more(*b, true);
            }
            _ => {}
        }
    }
}

fn is_zero(operand: Operand) -> bool {
    matches!(operand, Operand::Const(0) | Operand::Null)
}

fn fits(value: i64, bits: u8) -> bool {
    bits >= 63 || value < 1 << bits
}

/// Whether `x pred other` being `truth` means that x is not zero.
fn excludes_zero(pred: IcmpPred, truth: bool, other: Operand) -> bool {
    let (zero, positive) = match other {
        Operand::Const(0) | Operand::Null => (true, false),
        Operand::Const(_) => (false, true),
        _ => return matches!((pred, truth), (IcmpPred::Ugt, true) | (IcmpPred::Ule, false)),
    };
    match (pred, truth) {
        (IcmpPred::Eq, true) | (IcmpPred::Ne, false) => positive,
        (IcmpPred::Eq, false) | (IcmpPred::Ne, true) => zero,
        (IcmpPred::Ugt, true) | (IcmpPred::Ule, false) => true,
        (IcmpPred::Uge, true) | (IcmpPred::Ult, false) => positive,
        (IcmpPred::Slt | IcmpPred::Sgt, true) | (IcmpPred::Sge | IcmpPred::Sle, false) => zero,
        _ => false,
    }
}

fn mirrored(pred: IcmpPred) -> IcmpPred {
    match pred {
        IcmpPred::Eq | IcmpPred::Ne => pred,
        IcmpPred::Ult => IcmpPred::Ugt,
        IcmpPred::Ule => IcmpPred::Uge,
        IcmpPred::Ugt => IcmpPred::Ult,
        IcmpPred::Uge => IcmpPred::Ule,
        IcmpPred::Slt => IcmpPred::Sgt,
        IcmpPred::Sle => IcmpPred::Sge,
        IcmpPred::Sgt => IcmpPred::Slt,
        IcmpPred::Sge => IcmpPred::Sle,
    }
}
