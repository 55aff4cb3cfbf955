//! Operands and instructions on registers as terms.

use crate::ground::Ground;
use crate::names;
use raddle_facts::{Interval, ObjectKind, Root};
use raddle_ir::{BinOp, CastOp, FunctionId, Gep, IcmpPred, Inst, IntrinsicOp, Operand, Reg, RmwOp, Ty};
use raddle_logic::{Op, Sort, Term, Var};
use std::collections::BTreeMap;

/// Values on a path: of registers and shared variables that changed since it began.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    pub(super) changed: BTreeMap<Var, Term>,
    pub(super) guard: Vec<Term>,
}

/// Makes values that may be anything.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    next: u32,
}

impl Inputs {
    pub(super) fn any(&mut self, width: u32) -> Term {
        self.next += 1;
        Term::var(format!("i.{}", self.next), Sort::Bits(width))
    }
}

impl Values {
    pub(super) fn get(&self, var: &Var) -> Term {
        self.changed.get(var).cloned().unwrap_or_else(|| Term::from(var.clone()))
    }

    pub(super) fn set(&mut self, var: Var, value: Term) {
        self.changed.insert(var, value);
    }

    /// The value of an operand of a type that formulas speak of.
    pub(super) fn operand(
        &self,
        ground: &dyn Ground,
        inputs: &mut Inputs,
        function: FunctionId,
        operand: Operand,
        width: u32,
    ) -> Term {
        let program = ground.program();
        let value = match operand {
            Operand::Reg(reg) => names::register(program, function, reg).map(|var| self.get(&var)),
            Operand::Const(bits) => Some(Term::bits(bits, width)),
            Operand::Null => Some(Term::bits(0, width)),
            Operand::Global(global, offset) => address(ground, Root::Global(global), offset),
            Operand::Function(target) => address(ground, Root::Function(target), 0),
            Operand::Block(_) | Operand::Undef => None,
        };
        value.filter(|value| value.width() == width).unwrap_or_else(|| inputs.any(width))
    }

    /// Gives a register its value, or the constant that the facts know.
    pub(super) fn assign(
        &mut self,
        ground: &dyn Ground,
        inputs: &mut Inputs,
        function: FunctionId,
        reg: Reg,
        value: Option<Term>,
    ) {
        let program = ground.program();
        let Some(var) = names::register(program, function, reg) else { return };
        let Sort::Bits(width) = var.sort else { return };
        let known = constant(ground, function, reg, width);
        let is_known = known.is_some() || value.is_some();
        let value =
            known.or(value).filter(|value| value.width() == width).unwrap_or_else(|| inputs.any(width));
        if !is_known && width <= 64 {
            let facts = &ground.facts().values.intervals[function];
            if let Some(interval) = facts.get(reg.0 as usize) {
                self.guard.extend(within(&value, *interval, width));
            }
        }
        self.set(var, value);
    }

    /// What an instruction on registers does. `false`: it is none.
    pub(super) fn instruction(
        &mut self,
        ground: &dyn Ground,
        inputs: &mut Inputs,
        function: FunctionId,
        inst: &Inst,
    ) -> bool {
        let program = ground.program();
        let width = |ty: Ty| names::width(program, ty);
        let mut get = |values: &Values, operand: Operand, ty: Ty| {
            width(ty).map(|width| values.operand(ground, inputs, function, operand, width))
        };
        let (dst, value) = match inst {
            Inst::Bin { dst, op, ty, a, b } => {
                let (a, b) = (get(self, *a, *ty), get(self, *b, *ty));
                let value = a.zip(b).map(|(a, b)| {
                    if matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem) {
                        self.guard.push(b.is_nonzero());
                    }
                    Term::app(operator(*op), vec![a, b])
                });
                (*dst, value)
            }
            Inst::Icmp { dst, pred, ty, a, b } => {
                let (a, b) = (get(self, *a, *ty), get(self, *b, *ty));
                (*dst, a.zip(b).map(|(a, b)| compared(*pred, a, b).as_bit()))
            }
            Inst::Cast { dst, op, from, to, a } => {
                let a = get(self, *a, *from);
                let value = a.zip(width(*to)).and_then(|(a, width)| match op {
                    CastOp::Trunc | CastOp::ZExt | CastOp::PtrToInt | CastOp::IntToPtr => {
                        Some(a.zero_extended_to(width))
                    }
                    CastOp::SExt => Some(a.sign_extended_to(width)),
                    CastOp::Bitcast => (a.width() == width).then_some(a),
                    CastOp::FpTrunc
                    | CastOp::FpExt
                    | CastOp::FpToUi
                    | CastOp::FpToSi
                    | CastOp::UiToFp
                    | CastOp::SiToFp => None,
                });
                (*dst, value)
            }
            Inst::Select { dst, ty, cond, a, b } => {
                let cond = get(self, *cond, Ty::Int(1));
                let (a, b) = (get(self, *a, *ty), get(self, *b, *ty));
                let value = cond.zip(a.zip(b)).map(|(cond, (a, b))| Term::ite(&cond.is_nonzero(), &a, &b));
                (*dst, value)
            }
            Inst::Copy { dst, ty, a } => (*dst, get(self, *a, *ty)),
            Inst::Gep(gep) => (gep.dst, self.address(ground, inputs, function, gep)),
            Inst::Intrinsic { dsts, op, ty, args } => {
                let values: Vec<Option<Term>> = args.iter().map(|arg| get(self, *arg, *ty)).collect();
                let value = match (op, &values[..]) {
                    (IntrinsicOp::Abs, [Some(a), ..]) => {
                        let zero = Term::bits(0, a.width());
                        let negative = Term::app(Op::Slt, vec![a.clone(), zero]);
                        Some(Term::ite(&negative, &Term::app(Op::Neg, vec![a.clone()]), a))
                    }
                    (IntrinsicOp::SMin, [Some(a), Some(b)]) => Some(smaller(Op::Sle, a, b)),
                    (IntrinsicOp::SMax, [Some(a), Some(b)]) => Some(larger(Op::Sle, a, b)),
                    (IntrinsicOp::UMin, [Some(a), Some(b)]) => Some(smaller(Op::Ule, a, b)),
                    (IntrinsicOp::UMax, [Some(a), Some(b)]) => Some(larger(Op::Ule, a, b)),
                    _ => None,
                };
                for (index, dst) in dsts.iter().enumerate() {
                    self.assign(ground, inputs, function, *dst, value.clone().filter(|_| index == 0));
                }
                return true;
            }
            Inst::FBin { dst, .. }
            | Inst::FNeg { dst, .. }
            | Inst::Fcmp { dst, .. }
            | Inst::Alloca { dst, .. }
            | Inst::TlsAddr { dst, .. }
            | Inst::VaArg { dst, .. }
            | Inst::StackSave { dst } => (*dst, None),
            Inst::Asm { dsts, .. } => {
                dsts.iter().for_each(|dst| self.assign(ground, inputs, function, *dst, None));
                return true;
            }
            Inst::Load { .. }
            | Inst::Store { .. }
            | Inst::Rmw { .. }
            | Inst::CmpXchg(_)
            | Inst::MemCopy { .. }
            | Inst::MemSet { .. }
            | Inst::Call { .. }
            | Inst::Unsupported { .. } => return false,
            Inst::Fence { .. }
            | Inst::SignalFence
            | Inst::VaStart { .. }
            | Inst::VaEnd { .. }
            | Inst::VaCopy { .. }
            | Inst::StackRestore { .. } => return true,
        };
        self.assign(ground, inputs, function, dst, value);
        true
    }

    fn address(
        &self,
        ground: &dyn Ground,
        inputs: &mut Inputs,
        function: FunctionId,
        gep: &Gep,
    ) -> Option<Term> {
        let program = ground.program();
        let bits = names::width(program, Ty::Ptr)?;
        let mut sum = self.operand(ground, inputs, function, gep.base, bits);
        let plus = |a: Term, b: Term| Term::app(Op::Add, vec![a, b]);
        for (index, ty, scale) in &gep.indices {
            let width = names::width(program, *ty)?;
            let index = self.operand(ground, inputs, function, *index, width).sign_extended_to(bits);
            sum = plus(sum, Term::app(Op::Mul, vec![index, Term::bits(*scale as i128 as u128, bits)]));
        }
        Some(plus(sum, Term::bits(gep.offset as i128 as u128, bits)))
    }
}

/// The one that is not above the other by this order.
fn smaller(order: Op, a: &Term, b: &Term) -> Term {
    Term::ite(&Term::app(order, vec![a.clone(), b.clone()]), a, b)
}

fn larger(order: Op, a: &Term, b: &Term) -> Term {
    Term::ite(&Term::app(order, vec![b.clone(), a.clone()]), a, b)
}

fn within(value: &Term, interval: Interval, width: u32) -> Vec<Term> {
    let (lowest, highest) =
        if width >= 64 { (i64::MIN, i64::MAX) } else { (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1) };
    let mut found = Vec::new();
    let bound = |number: i64| Term::bits(number as i128 as u128, width);
    if interval.low > lowest {
        found.push(Term::app(Op::Sle, vec![bound(interval.low), value.clone()]));
    }
    if interval.high < highest {
        found.push(Term::app(Op::Sle, vec![value.clone(), bound(interval.high)]));
    }
    found
}

/// The value that the facts give a register.
fn constant(ground: &dyn Ground, function: FunctionId, reg: Reg, width: u32) -> Option<Term> {
    let term = ground.facts().values.terms[function].get(reg.0 as usize).copied().flatten()?;
    if term.index.is_some() {
        return None;
    }
    match term.root {
        Root::Zero if width <= 64 => Some(Term::bits(term.offset as i128 as u128, width)),
        Root::Zero => None,
        Root::Global(_) | Root::Function(_) => address(ground, term.root, term.offset),
        Root::Reg(..) => None,
    }
}

fn address(ground: &dyn Ground, root: Root, offset: i64) -> Option<Term> {
    let program = ground.program();
    let var = match root {
        Root::Global(global) if program.globals[global].thread_local => return None,
        Root::Global(global) => {
            let objects = &ground.facts().points_to.objects;
            let (object, _) = objects.iter().find(|(_, object)| object.kind == ObjectKind::Global(global))?;
            names::address(program, object)
        }
        Root::Function(target) => names::function(program, target),
        Root::Zero | Root::Reg(..) => return None,
    };
    let Sort::Bits(width) = var.sort else { return None };
    Some(Term::app(Op::Add, vec![Term::from(var), Term::bits(offset as i128 as u128, width)]))
}

pub(super) fn operator(op: BinOp) -> Op {
    match op {
        BinOp::Add => Op::Add,
        BinOp::Sub => Op::Sub,
        BinOp::Mul => Op::Mul,
        BinOp::UDiv => Op::UDiv,
        BinOp::SDiv => Op::SDiv,
        BinOp::URem => Op::URem,
        BinOp::SRem => Op::SRem,
        BinOp::Shl => Op::Shl,
        BinOp::LShr => Op::LShr,
        BinOp::AShr => Op::AShr,
        BinOp::And => Op::BvAnd,
        BinOp::Or => Op::BvOr,
        BinOp::Xor => Op::BvXor,
    }
}

fn compared(pred: IcmpPred, a: Term, b: Term) -> Term {
    match pred {
        IcmpPred::Eq => a.equals(&b),
        IcmpPred::Ne => a.differs(&b),
        IcmpPred::Ult => Term::app(Op::Ult, vec![a, b]),
        IcmpPred::Ule => Term::app(Op::Ule, vec![a, b]),
        IcmpPred::Ugt => Term::app(Op::Ult, vec![b, a]),
        IcmpPred::Uge => Term::app(Op::Ule, vec![b, a]),
        IcmpPred::Slt => Term::app(Op::Slt, vec![a, b]),
        IcmpPred::Sle => Term::app(Op::Sle, vec![a, b]),
        IcmpPred::Sgt => Term::app(Op::Slt, vec![b, a]),
        IcmpPred::Sge => Term::app(Op::Sle, vec![b, a]),
    }
}

/// What a read-modify-write leaves; `None`: any value.
pub(super) fn updated(op: RmwOp, old: &Term, value: &Term) -> Option<Term> {
    let apply = |op: Op| Some(Term::app(op, vec![old.clone(), value.clone()]));
    match op {
        RmwOp::Xchg => Some(value.clone()),
        RmwOp::Add => apply(Op::Add),
        RmwOp::Sub => apply(Op::Sub),
        RmwOp::And => apply(Op::BvAnd),
        RmwOp::Or => apply(Op::BvOr),
        RmwOp::Xor => apply(Op::BvXor),
        RmwOp::Nand => Some(Term::app(Op::BvNot, vec![apply(Op::BvAnd)?])),
        RmwOp::Min => Some(smaller(Op::Sle, old, value)),
        RmwOp::UMin => Some(smaller(Op::Ule, old, value)),
        RmwOp::Max => Some(larger(Op::Sle, old, value)),
        RmwOp::UMax => Some(larger(Op::Ule, old, value)),
        RmwOp::FAdd | RmwOp::FSub | RmwOp::FMax | RmwOp::FMin => None,
    }
}
