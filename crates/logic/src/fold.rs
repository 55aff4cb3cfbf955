//! Operators applied to values: the one place where the meaning of an operator is written down.

use crate::eval::Value;
use crate::term::Op;

/// The arguments have the sorts that the operator takes.
pub(crate) fn apply(op: Op, args: &[Value]) -> Value {
    match op {
        Op::Not => Value::Bool(!truth(args[0])),
        Op::And => Value::Bool(args.iter().all(|arg| truth(*arg))),
        Op::Or => Value::Bool(args.iter().any(|arg| truth(*arg))),
        Op::Eq => Value::Bool(args[0] == args[1]),
        Op::Ite => args[if truth(args[0]) { 1 } else { 2 }],
        Op::Ult => Value::Bool(bits(args[0]).0 < bits(args[1]).0),
        Op::Ule => Value::Bool(bits(args[0]).0 <= bits(args[1]).0),
        Op::Slt => Value::Bool(signed(args[0]) < signed(args[1])),
        Op::Sle => Value::Bool(signed(args[0]) <= signed(args[1])),
        Op::Concat => {
            let ((high, high_width), (low, width)) = (bits(args[0]), bits(args[1]));
            make(high << width | low, high_width + width)
        }
        Op::Extract { high, low } => make(bits(args[0]).0 >> low, high - low + 1),
        Op::ZeroExtend(by) => {
            let (value, width) = bits(args[0]);
            make(value, width + by)
        }
        Op::SignExtend(by) => make(signed(args[0]) as u128, bits(args[0]).1 + by),
        Op::BvNot => {
            let (value, width) = bits(args[0]);
            make(!value, width)
        }
        Op::Neg => {
            let (value, width) = bits(args[0]);
            make(value.wrapping_neg(), width)
        }
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::UDiv
        | Op::SDiv
        | Op::URem
        | Op::SRem
        | Op::Shl
        | Op::LShr
        | Op::AShr
        | Op::BvAnd
        | Op::BvOr
        | Op::BvXor => arithmetic(op, args[0], args[1]),
    }
}

fn arithmetic(op: Op, first: Value, second: Value) -> Value {
    let ((a, width), (b, _)) = (bits(first), bits(second));
    let shift = |shifted: u128, out: u128| if b >= u128::from(width) { out } else { shifted };
    let amount = b.min(127) as u32;
    let value = match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b).unwrap_or(u128::MAX),
        Op::URem => a.checked_rem(b).unwrap_or(a),
        // By zero: minus one for what is not negative, else one.
        Op::SDiv if b == 0 => {
            if signed(first) >= 0 {
                u128::MAX
            } else {
                1
            }
        }
        Op::SDiv => signed(first).wrapping_div(signed(second)) as u128,
        Op::SRem if b == 0 => a,
        Op::SRem => signed(first).wrapping_rem(signed(second)) as u128,
        Op::Shl => shift(a << amount, 0),
        Op::LShr => shift(a >> amount, 0),
        Op::AShr => {
            let sign = if signed(first) < 0 { u128::MAX } else { 0 };
            shift((signed(first) >> amount) as u128, sign)
        }
        Op::BvAnd => a & b,
        Op::BvOr => a | b,
        Op::BvXor => a ^ b,
        _ => unreachable!("not an operator on two vectors of one width"),
    };
    make(value, width)
}

pub(crate) fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

fn make(value: u128, width: u32) -> Value {
    Value::Bits { value: value & mask(width), width }
}

fn truth(value: Value) -> bool {
    match value {
        Value::Bool(value) => value,
        Value::Bits { .. } => panic!("a bit vector where a truth value belongs"),
    }
}

fn bits(value: Value) -> (u128, u32) {
    match value {
        Value::Bits { value, width } => (value, width),
        Value::Bool(_) => panic!("a truth value where a bit vector belongs"),
    }
}

fn signed(value: Value) -> i128 {
    let (value, width) = bits(value);
    let unused = 128 - width;
    ((value << unused) as i128) >> unused
}
