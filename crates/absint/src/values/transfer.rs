//! What one phi, instruction or branch makes of what its operands are known to be.

use super::initial::initial_value;
use super::interval::{binary, compare, exact, includes, int_bits, join, range};
use super::narrow::{At, Narrowing};
use super::solve::{Known, Leads, Mode, Solver, Value, Widen, cell_value, constant_value, resolved};
use super::terms::{self, add, add_scaled, constant, fitted, is_exact, scale, subtract, width, wrap};
use raddle_base::{Id, SiteId};
use raddle_facts::{Interval, Root, Term};
use raddle_ir::{BinOp, BlockId, CastOp, FunctionId, Gep, IcmpPred, Inst, Operand, Phi, Reg, Terminator, Ty};

/// Once a phi's term was wrong this often it stands for itself.
const PHI_RETRIES: u8 = 2;

impl Solver<'_> {
    /// `None`: not seen yet.
    pub fn value(&self, function: FunctionId, operand: Operand, ty: Ty, at: At) -> Option<Value> {
        match operand {
            Operand::Reg(reg) => {
                let mut value = cell_value(function, reg, &self.state(function).cells[reg.index()])?;
                if int_bits(ty).is_some() && value.interval.low != value.interval.high {
                    let state = self.state(function);
                    let body = &self.program.functions[function];
                    let seen = |reg: Reg| {
                        let cell = &state.cells[reg.index()];
                        (cell.known != Known::Unseen).then_some(cell.interval)
                    };
                    let narrowing = Narrowing { body, shape: &state.shape, interval: seen };
                    value.interval = narrowing.at(reg, value.interval, at);
                }
                Some(value)
            }
            Operand::Global(global, offset) => {
                Some(Value::of_term(Term::root(Root::Global(global)).plus(offset)))
            }
            Operand::Function(target) => Some(Value::of_term(Term::root(Root::Function(target)))),
            Operand::Block(block) => Some(Value::of_term(terms::of_block(function, block))),
            Operand::Const(_) | Operand::Null | Operand::Undef => Some(match constant(operand, ty) {
                Some(value) => constant_value(value),
                None => Value { term: None, interval: range(ty) },
            }),
        }
    }

    pub fn phi(&self, function: FunctionId, id: BlockId, phi: &Phi) -> Option<Value> {
        let ty = self.program.functions[function].regs[phi.dst].ty;
        let state = self.state(function);
        let own = Term::reg(function, phi.dst);
        let mut result: Option<Value> = None;
        let mut others: Vec<Term> = Vec::new();
        let mut sayable = true;
        for (from, operand) in &phi.incoming {
            let live = match state.leads[from.index()] {
                Leads::Nowhere => false,
                Leads::To(target) => target == id,
                Leads::Anywhere => true,
            };
            if !live {
                continue;
            }
            let Some(value) = self.value(function, *operand, ty, At::Edge(*from, id)) else { continue };
            match value.term {
                Some(term) if term == own => {}
                Some(term) if others.contains(&term) => {}
                Some(term) => others.push(term),
                None => sayable = false,
            }
            result = Some(match result {
                Some(so_far) => Value { interval: join(so_far.interval, value.interval), term: None },
                None => value,
            });
        }
        let cell = &state.cells[phi.dst.index()];
        let term = match (&others[..], cell.known) {
            _ if !sayable => None,
            ([term], _) => Some(*term),
            // The term that the phi had may come back to it by a back edge, where it will be replaced.
            ([a, b], Known::Term(old))
                if self.mode == Mode::Ascend && self.retries_left(function, phi.dst) =>
            {
                if *a == old {
                    Some(*b)
                } else if *b == old {
                    Some(*a)
                } else {
                    None
                }
            }
            _ => None,
        };
        result.map(|value| Value { term, ..value })
    }

    fn retries_left(&self, function: FunctionId, reg: Reg) -> bool {
        self.state(function).cells[reg.index()].changes() < PHI_RETRIES
    }

    pub fn instruction(&mut self, function: FunctionId, block: BlockId, site: SiteId, inst: &Inst) {
        if let Inst::Call { dsts, callee, args } = inst {
            return self.call(function, block, site, dsts, *callee, args);
        }
        let at = At::Block(block);
        let see = |operand: Operand, ty: Ty| self.value(function, operand, ty, at);
        let (dst, value) = match inst {
            Inst::Copy { dst, ty, a } => (*dst, see(*a, *ty)),
            Inst::Bin { dst, op, ty, a, b } => {
                let both = see(*a, *ty).zip(see(*b, *ty));
                (*dst, both.map(|(a, b)| self.arithmetic(*op, *ty, a, b)))
            }
            Inst::Icmp { dst, pred, ty, a, b } => {
                let both = see(*a, *ty).zip(see(*b, *ty));
                (*dst, both.map(|(a, b)| self.comparison(*pred, *ty, a, b)))
            }
            Inst::Cast { dst, op, from, to, a } => {
                (*dst, see(*a, *from).map(|a| self.cast(*op, *from, *to, a)))
            }
            Inst::Select { dst, ty, cond, a, b } => {
                let cond = see(*cond, Ty::Int(1));
                let value = match cond.map(Value::constant) {
                    None => None,
                    Some(Some(0)) => see(*b, *ty),
                    Some(Some(_)) => see(*a, *ty),
                    Some(None) => see(*a, *ty).zip(see(*b, *ty)).map(|(a, b)| Value {
                        term: a.term.filter(|_| a.term == b.term),
                        interval: join(a.interval, b.interval),
                    }),
                };
                (*dst, value)
            }
            Inst::Gep(gep) => (gep.dst, self.address(function, gep, at)),
            Inst::Load { dst, ty, ptr, .. } => {
                let known = |address: Value| self.loaded(site, *ty, address);
                let unknown = Value { term: None, interval: range(*ty) };
                (*dst, see(*ptr, Ty::Ptr).map(|address| known(address).unwrap_or(unknown)))
            }
            _ => {
                let mut all = Vec::new();
                inst.each_dst(|dst| all.push(dst));
                for dst in all {
                    self.assign(function, dst, self.anything(function, dst), Widen::Late);
                }
                return;
            }
        };
        if let Some(value) = value {
            self.assign(function, dst, value, Widen::Late);
        }
    }

    pub fn leads(&self, function: FunctionId, terminator: &Terminator) -> Leads {
        let constant = |operand: Operand, ty: Ty| -> Option<Option<i64>> {
            match operand {
                Operand::Reg(reg) => {
                    let cell = &self.state(function).cells[reg.index()];
                    cell_value(function, reg, cell).map(Value::constant)
                }
                _ => Some(terms::constant(operand, ty)),
            }
        };
        match terminator {
            Terminator::CondBr { cond, then, other } => match constant(*cond, Ty::Int(1)) {
                None => Leads::Nowhere,
                Some(None) => Leads::Anywhere,
                Some(Some(0)) => Leads::To(*other),
                Some(Some(_)) => Leads::To(*then),
            },
            Terminator::Switch { value, ty, cases, default } => match constant(*value, *ty) {
                None => Leads::Nowhere,
                Some(None) => Leads::Anywhere,
                Some(Some(value)) => {
                    let case = cases
                        .iter()
                        .find(|(case, _)| terms::constant(Operand::Const(*case), *ty) == Some(value));
                    Leads::To(case.map_or(*default, |(_, target)| *target))
                }
            },
            Terminator::Br(target) => Leads::To(*target),
            Terminator::IndirectBr { .. } => Leads::Anywhere,
            Terminator::Ret { .. } | Terminator::Unreachable | Terminator::Unsupported { .. } => {
                Leads::Nowhere
            }
        }
    }

    fn loaded(&self, site: SiteId, ty: Ty, address: Value) -> Option<Value> {
        if let Some(term) = self.input.loads.get(&site) {
            return Some(Value { interval: bounded(range(ty), *term), term: Some(resolved(self, *term)) });
        }
        let address = address.term?;
        match (address.root, address.index) {
            (Root::Global(global), None) if self.program.globals[global].constant => {
                initial_value(self.program, global, address.offset, ty).map(Value::of_term)
            }
            _ => None,
        }
    }

    fn address(&self, function: FunctionId, gep: &Gep, at: At) -> Option<Value> {
        let base = self.value(function, gep.base, Ty::Ptr, at)?;
        let mut term = base.term.map(|term| term.plus(gep.offset));
        for (index, ty, by) in &gep.indices {
            let index = self.value(function, *index, *ty, at)?;
            let exact = index.term.filter(|term| is_exact(self.program, *term));
            term = term.zip(exact).and_then(|(term, index)| add_scaled(term, index, *by));
        }
        // A number that was made up as a pointer is not exact on 32 bits, and cannot be told from one that is.
        let term = term.filter(|term| {
            self.program.data_model == raddle_ir::DataModel::Lp64
                || term.root != Root::Zero
                || term.index.is_none()
        });
        Some(Value { term: term.map(|term| fitted(self.program, Ty::Ptr, term)), interval: Interval::ANY })
    }

    fn arithmetic(&self, op: BinOp, ty: Ty, a: Value, b: Value) -> Value {
        let interval = binary(op, ty, a.interval, b.interval);
        let Some(bits) = int_bits(ty) else { return Value { term: None, interval: range(ty) } };
        if let Some((a, b)) = a.constant().zip(b.constant()) {
            return match folded(op, bits, a, b) {
                Some(value) => constant_value(value),
                None => Value { term: None, interval },
            };
        }
        // Nothing may wrap below 64 bits: the term is a number.
        let keeps = bits == 64 || exact(op, bits, a.interval, b.interval).is_some();
        let term = a.term.zip(b.term).and_then(|(x, y)| match op {
            BinOp::Sub if x.distance(y).is_some() => x.distance(y).map(|d| Term::constant(wrap(d, bits))),
            BinOp::Or | BinOp::Xor if y.as_constant() == Some(0) => Some(x),
            BinOp::Or | BinOp::Xor if x.as_constant() == Some(0) => Some(y),
            BinOp::And if y.as_constant() == Some(-1) => Some(x),
            BinOp::And if y.as_constant() == Some(0) => Some(y),
            BinOp::UDiv | BinOp::SDiv if y.as_constant() == Some(1) => Some(x),
            BinOp::LShr | BinOp::AShr if y.as_constant() == Some(0) => Some(x),
            _ if !keeps => None,
            BinOp::Add => add(x, y),
            BinOp::Sub => subtract(x, y),
            BinOp::Mul => match (x.as_constant(), y.as_constant()) {
                (_, Some(by)) => scale(x, by),
                (Some(by), _) => scale(y, by),
                _ => None,
            },
            BinOp::Shl => y
                .as_constant()
                .filter(|by| (0..i64::from(bits)).contains(by))
                .and_then(|by| scale(x, 1 << by)),
            _ => None,
        });
        match term.and_then(Term::as_constant) {
            Some(value) => constant_value(wrap(value, bits)),
            None => Value { term, interval },
        }
    }

    fn comparison(&self, pred: IcmpPred, ty: Ty, a: Value, b: Value) -> Value {
        let truth = |is: bool| constant_value(if is { -1 } else { 0 });
        let open = Value { term: None, interval: Interval { low: -1, high: 0 } };
        let Some(bits) = width(self.program.data_model, ty) else { return open };
        if let Some((a, b)) = a.constant().zip(b.constant()) {
            return truth(compared(pred, bits, a, b));
        }
        if let Some(distance) = a.term.zip(b.term).and_then(|(a, b)| a.distance(b)) {
            let equal = wrap(distance, bits) == 0;
            match pred {
                IcmpPred::Eq => return truth(equal),
                IcmpPred::Ne => return truth(!equal),
                IcmpPred::Ule | IcmpPred::Uge | IcmpPred::Sle | IcmpPred::Sge if equal => return truth(true),
                _ if equal => return truth(false),
                _ => {}
            }
        }
        if let (IcmpPred::Eq | IcmpPred::Ne, Some(a), Some(b)) = (pred, a.term, b.term)
            && (self.is_never_null(a) && b == Term::constant(0)
                || self.is_never_null(b) && a == Term::constant(0))
        {
            return truth(pred == IcmpPred::Ne);
        }
        if int_bits(ty).is_some()
            && let Some(is) = compare(pred, a.interval, b.interval)
        {
            return truth(is);
        }
        open
    }

    /// The address of something that the program defines.
    fn is_never_null(&self, term: Term) -> bool {
        match (term.root, term.index) {
            (Root::Global(global), None) => {
                let global = &self.program.globals[global];
                global.init.is_some() && u64::try_from(term.offset).is_ok_and(|offset| offset <= global.bytes)
            }
            (Root::Function(function), None) => {
                self.program.functions[function].is_defined() && term.offset == 0
            }
            _ => false,
        }
    }

    fn cast(&self, op: CastOp, from: Ty, to: Ty, a: Value) -> Value {
        let model = self.program.data_model;
        let unknown = Value { term: None, interval: range(to) };
        let (Some(from_bits), Some(to_bits)) = (width(model, from), width(model, to)) else {
            // Wide integers and floats: only their own bits under another name.
            return match op {
                CastOp::Bitcast if from == to => a,
                CastOp::Trunc | CastOp::ZExt | CastOp::SExt => unknown,
                _ => unknown,
            };
        };
        if let Some(value) = a.constant() {
            return match op {
                CastOp::Trunc | CastOp::SExt => constant_value(wrap(value, to_bits)),
                CastOp::ZExt => constant_value(wrap(zero_extended(value, from_bits), to_bits)),
                CastOp::PtrToInt | CastOp::IntToPtr if to_bits <= from_bits => {
                    constant_value(wrap(value, to_bits))
                }
                CastOp::PtrToInt | CastOp::IntToPtr => {
                    constant_value(wrap(zero_extended(value, from_bits), to_bits))
                }
                CastOp::Bitcast => constant_value(value),
                _ => unknown,
            };
        }
        let exact = a.term.filter(|term| is_exact(self.program, *term));
        let fits = includes(range(to), a.interval) && int_bits(from).is_some();
        match op {
            CastOp::SExt => Value { term: exact, interval: a.interval },
            CastOp::ZExt if a.interval.low >= 0 => Value { term: exact, interval: a.interval },
            CastOp::ZExt if from_bits < 64 => {
                Value { term: None, interval: Interval { low: 0, high: (1 << from_bits) - 1 } }
            }
            CastOp::Trunc if fits => Value { term: exact, interval: a.interval },
            CastOp::Bitcast | CastOp::PtrToInt | CastOp::IntToPtr if from_bits == to_bits => Value {
                term: a.term,
                interval: if int_bits(from).is_some() && int_bits(to).is_some() {
                    a.interval
                } else {
                    range(to)
                },
            },
            _ => unknown,
        }
    }
}

/// The interval of a term that is a constant, else all of the range.
fn bounded(range: Interval, term: Term) -> Interval {
    term.as_constant().map_or(range, |value| Interval { low: value, high: value })
}

fn zero_extended(value: i64, bits: u32) -> i64 {
    if bits == 64 { value } else { value & ((1 << bits) - 1) }
}

/// The value of an operation on constants, sign-extended; `None` for a division that is a run-time problem.
fn folded(op: BinOp, bits: u32, a: i64, b: i64) -> Option<i64> {
    let (ua, ub) = (zero_extended(a, bits) as u64, zero_extended(b, bits) as u64);
    let in_width = ub < u64::from(bits);
    let value = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => ua.checked_div(ub)? as i64,
        BinOp::URem => ua.checked_rem(ub)? as i64,
        BinOp::SDiv if b == 0 => return None,
        BinOp::SRem if b == 0 => return None,
        BinOp::SDiv => a.wrapping_div(b),
        BinOp::SRem => a.wrapping_rem(b),
        BinOp::Shl => {
            if in_width {
                a << ub
            } else {
                0
            }
        }
        BinOp::LShr => {
            if in_width {
                (ua >> ub) as i64
            } else {
                0
            }
        }
        BinOp::AShr => a >> ub.min(u64::from(bits) - 1),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
    };
    Some(wrap(value, bits))
}

fn compared(pred: IcmpPred, bits: u32, a: i64, b: i64) -> bool {
    let (a, b) = (wrap(a, bits), wrap(b, bits));
    let (ua, ub) = (zero_extended(a, bits) as u64, zero_extended(b, bits) as u64);
    match pred {
        IcmpPred::Eq => a == b,
        IcmpPred::Ne => a != b,
        IcmpPred::Ult => ua < ub,
        IcmpPred::Ule => ua <= ub,
        IcmpPred::Ugt => ua > ub,
        IcmpPred::Uge => ua >= ub,
        IcmpPred::Slt => a < b,
        IcmpPred::Sle => a <= b,
        IcmpPred::Sgt => a > b,
        IcmpPred::Sge => a >= b,
    }
}
