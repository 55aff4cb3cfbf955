//! What an instruction makes of what its operands are: the rules for terms and intervals of registers, calls and loads excepted.
//!
//! A register of an integer type has a form only where the form, as a number, is its sign-extended value: below 64 bits that needs
//! intervals which show that nothing wraps around. Pointers have their form modulo their width.

use super::code::{At, Code};
use super::fold::{compared, folded, unsigned};
use super::intervals::{binary, compare, includes, int_bits, join, range, without_wrapping};
use super::linear::{Atom, Linear};
use super::terms::sign_extend;
use super::value::{Value, Where};
use raddle_facts::Interval;
use raddle_ir::{BinOp, CastOp, DataModel, Gep, IcmpPred, Inst, Operand, Ty};

impl Code<'_> {
    /// The value that an instruction gives its result; `None` for calls, loads and whatever has no rule here.
    pub fn computed(&self, at: At, inst: &Inst) -> Option<Value> {
        let see = |operand: Operand, ty: Ty| self.value(at.function, operand, ty, Where::Block(at.block));
        Some(match inst {
            Inst::Copy { ty, a, .. } => see(*a, *ty),
            Inst::Bin { op, ty, a, b, .. } => self.arithmetic(*op, *ty, &see(*a, *ty), &see(*b, *ty)),
            Inst::Icmp { pred, ty, a, b, .. } => self.comparison(*pred, *ty, &see(*a, *ty), &see(*b, *ty)),
            Inst::Cast { op, from, to, a, .. } => self.cast(*op, *from, *to, &see(*a, *from)),
            Inst::Select { ty, cond, a, b, .. } => match see(*cond, Ty::Int(1)).as_constant() {
                Some(0) => see(*b, *ty),
                Some(_) => see(*a, *ty),
                None => {
                    let (a, b) = (see(*a, *ty), see(*b, *ty));
                    let interval = join(a.interval, b.interval);
                    Value { form: a.form.filter(|form| Some(form) == b.form.as_ref()), interval }
                }
            },
            Inst::Gep(gep) => self.address(at, gep),
            _ => return None,
        })
    }

    fn address(&self, at: At, gep: &Gep) -> Value {
        let see = |operand: Operand, ty: Ty| self.value(at.function, operand, ty, Where::Block(at.block));
        let mut form = see(gep.base, Ty::Ptr).form.map(|base| base.plus(&Linear::constant(gep.offset)));
        for (index, ty, scale) in &gep.indices {
            let index = see(*index, *ty).form;
            form = form.zip(index).map(|(sum, index)| sum.plus(&index.times(*scale)));
        }
        Value { form, interval: Interval::ANY }
    }

    fn arithmetic(&self, op: BinOp, ty: Ty, a: &Value, b: &Value) -> Value {
        let Some(bits) = int_bits(ty) else { return Value::anything(ty) };
        let interval = binary(op, ty, a.interval, b.interval);
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            return folded(op, bits, x, y).map_or(Value { form: None, interval }, Value::constant);
        }
        let form = a.form.as_ref().zip(b.form.as_ref()).and_then(|(x, y)| {
            let (left, right) = (x.as_constant(), y.as_constant());
            let difference = (op == BinOp::Sub).then(|| x.minus(y).as_constant()).flatten();
            let fits = bits == 64 || without_wrapping(op, bits, a.interval, b.interval).is_some();
            match op {
                // Whatever wraps around: both sides are the same modulo the width.
                BinOp::Sub if difference.is_some() => {
                    difference.map(|d| Linear::constant(sign_extend(d, bits)))
                }
                BinOp::Or | BinOp::Xor if right == Some(0) => Some(x.clone()),
                BinOp::Or | BinOp::Xor if left == Some(0) => Some(y.clone()),
                BinOp::And if right == Some(-1) => Some(x.clone()),
                BinOp::And if left == Some(-1) => Some(y.clone()),
                BinOp::And if right == Some(0) || left == Some(0) => Some(Linear::constant(0)),
                BinOp::UDiv | BinOp::SDiv if right == Some(1) => Some(x.clone()),
                BinOp::Shl | BinOp::LShr | BinOp::AShr if right == Some(0) => Some(x.clone()),
                BinOp::Mul if right == Some(0) || left == Some(0) => Some(Linear::constant(0)),
                _ if !fits => None,
                BinOp::Add => Some(x.plus(y)),
                BinOp::Sub => Some(x.minus(y)),
                BinOp::Mul => right.map(|by| x.times(by)).or_else(|| left.map(|by| y.times(by))),
                BinOp::Shl => right.filter(|by| (0..i64::from(bits)).contains(by)).map(|by| x.times(1 << by)),
                _ => None,
            }
        });
        Value { form, interval }
    }

    fn comparison(&self, pred: IcmpPred, ty: Ty, a: &Value, b: &Value) -> Value {
        let truth = |is: bool| Value::constant(if is { -1 } else { 0 });
        let open = Value { form: None, interval: Interval { low: -1, high: 0 } };
        let Some(bits) = self.width(ty) else { return open };
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            return truth(compared(pred, bits, x, y));
        }
        let distance = a.form.as_ref().zip(b.form.as_ref()).and_then(|(x, y)| x.minus(y).as_constant());
        if let Some(distance) = distance {
            let equal = sign_extend(distance, bits) == 0;
            match pred {
                IcmpPred::Eq => return truth(equal),
                IcmpPred::Ne => return truth(!equal),
                IcmpPred::Ule | IcmpPred::Uge | IcmpPred::Sle | IcmpPred::Sge if equal => return truth(true),
                IcmpPred::Ult | IcmpPred::Ugt | IcmpPred::Slt | IcmpPred::Sgt if equal => {
                    return truth(false);
                }
                _ => {}
            }
        }
        let is_null = |value: &Value| value.as_constant() == Some(0);
        if matches!(pred, IcmpPred::Eq | IcmpPred::Ne)
            && (is_null(b) && self.is_never_null(a) || is_null(a) && self.is_never_null(b))
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

    /// Whether a value is the address of something that the program defines.
    fn is_never_null(&self, value: &Value) -> bool {
        let Some(form) = &value.form else { return false };
        match form.atoms[..] {
            [(Atom::Global(global), 1)] => {
                let global = &self.program.globals[global];
                let inside = u64::try_from(form.constant).is_ok_and(|offset| offset <= global.bytes);
                global.init.is_some() && inside
            }
            [(Atom::Function(function), 1)] => {
                self.program.functions[function].is_defined() && form.constant == 0
            }
            _ => false,
        }
    }

    fn cast(&self, op: CastOp, from: Ty, to: Ty, a: &Value) -> Value {
        let (Some(from_bits), Some(to_bits)) = (self.width(from), self.width(to)) else {
            return Value::anything(to);
        };
        let unsigned_of = |value: i64| unsigned(value, from_bits) as i64;
        if let Some(value) = a.as_constant() {
            return match op {
                CastOp::Trunc | CastOp::SExt => Value::constant(sign_extend(value, to_bits)),
                CastOp::ZExt | CastOp::PtrToInt | CastOp::IntToPtr => {
                    Value::constant(sign_extend(unsigned_of(value), to_bits))
                }
                CastOp::Bitcast => Value::constant(value),
                _ => Value::anything(to),
            };
        }
        let is_number = int_bits(from).is_some();
        let exact = a.form.clone().filter(|form| self.is_exact(form));
        let same = Value { form: exact, interval: a.interval };
        match op {
            CastOp::SExt if is_number => same,
            CastOp::ZExt if is_number && a.interval.low >= 0 => same,
            CastOp::ZExt if is_number && from_bits < 64 => {
                Value { form: None, interval: Interval { low: 0, high: (1 << from_bits) - 1 } }
            }
            CastOp::Trunc if is_number && includes(range(to), a.interval) => same,
            CastOp::Bitcast | CastOp::PtrToInt | CastOp::IntToPtr if from_bits == to_bits => {
                let interval = if is_number && int_bits(to).is_some() { a.interval } else { range(to) };
                Value { form: a.form.clone(), interval }
            }
            _ => Value::anything(to),
        }
    }

    /// Bits of the types that forms speak of.
    pub fn width(&self, ty: Ty) -> Option<u32> {
        match ty {
            Ty::Ptr => Some(self.pointer_bytes() * 8),
            _ => int_bits(ty),
        }
    }

    /// Whether a register of this type that has the computed form has the stored one.
    pub fn says(&self, ty: Ty, stored: &Linear, computed: &Linear) -> bool {
        if stored == computed {
            // A number of 32 bits that is known modulo 2^32 only is none of those that are known exactly.
            return true;
        }
        let modulo = self.program.data_model == DataModel::Ilp32
            && (ty == Ty::Ptr || (ty == Ty::Int(32) && !self.is_exact(stored) && !self.is_exact(computed)));
        modulo && stored.in_32_bits() == computed.in_32_bits()
    }
}
