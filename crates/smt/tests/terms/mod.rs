//! Random formulas over few small variables, and their truth by trying every assignment.

use raddle_logic::{Assignment, Op, Sort, Term, Value, Var};
use raddle_testkit::random::Random;

const BINARY: [Op; 13] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::BvAnd,
    Op::BvOr,
    Op::BvXor,
];
const COMPARE: [Op; 4] = [Op::Ult, Op::Ule, Op::Slt, Op::Sle];

/// A truth value and vectors of at most nine bits together.
pub fn variables(random: &mut Random) -> Vec<Var> {
    let mut left = 8;
    let mut all = vec![Var::new("flag", Sort::Bool)];
    while left > 0 && all.len() < 4 {
        let width = 1 + random.below(left) as u32;
        all.push(Var::new(format!("v{}.{width}", all.len()), Sort::Bits(width)));
        left -= width as usize;
    }
    all
}

pub fn formula(random: &mut Random, vars: &[Var], depth: u32) -> Term {
    if depth == 0 {
        return match random.below(8) {
            0 => Term::truth(random.below(2) == 0),
            _ => Term::from(vars[0].clone()),
        };
    }
    let below = depth - 1;
    match random.below(12) {
        0 => formula(random, vars, below).negated(),
        1 => Term::and((0..2 + random.below(2)).map(|_| formula(random, vars, below)).collect::<Vec<_>>()),
        2 => Term::or((0..2 + random.below(2)).map(|_| formula(random, vars, below)).collect::<Vec<_>>()),
        3 => formula(random, vars, below).equals(&formula(random, vars, below)),
        4 => {
            let condition = formula(random, vars, below);
            Term::ite(&condition, &formula(random, vars, below), &formula(random, vars, below))
        }
        n => {
            let width = 1 + random.below(8) as u32;
            let (a, b) = (vector(random, vars, width, below), vector(random, vars, width, below));
            if n < 8 { a.equals(&b) } else { Term::app(COMPARE[n - 8], vec![a, b]) }
        }
    }
}

fn vector(random: &mut Random, vars: &[Var], width: u32, depth: u32) -> Term {
    if depth == 0 {
        let var = &vars[1 + random.below(vars.len() - 1)];
        let var = Term::from(var.clone());
        return match random.below(6) {
            0 => Term::bits([0, 1, u128::MAX, 1 << (width - 1)][random.below(4)], width),
            1 => Term::bits(random.below(256) as u128, width),
            2 | 3 => var.sign_extended_to(width),
            _ => var.zero_extended_to(width),
        };
    }
    let below = depth - 1;
    match random.below(20) {
        0 => Term::app(Op::BvNot, vec![vector(random, vars, width, below)]),
        1 => Term::app(Op::Neg, vec![vector(random, vars, width, below)]),
        2 => {
            let condition = formula(random, vars, below);
            let then = vector(random, vars, width, below);
            Term::ite(&condition, &then, &vector(random, vars, width, below))
        }
        3 if width > 1 => {
            let high = 1 + random.below(width as usize - 1) as u32;
            let parts = vec![vector(random, vars, high, below), vector(random, vars, width - high, below)];
            Term::app(Op::Concat, parts)
        }
        4 if width < 8 => {
            let whole = width + random.below(9 - width as usize) as u32;
            let low = random.below((whole - width) as usize + 1) as u32;
            let inner = vector(random, vars, whole, below);
            Term::app(Op::Extract { high: low + width - 1, low }, vec![inner])
        }
        5 | 6 if width > 1 => {
            let inner = 1 + random.below(width as usize - 1) as u32;
            let extend = if random.below(2) == 0 { Op::ZeroExtend } else { Op::SignExtend };
            Term::app(extend(width - inner), vec![vector(random, vars, inner, below)])
        }
        n => {
            let args = vec![vector(random, vars, width, below), vector(random, vars, width, below)];
            Term::app(BINARY[n % 13], args)
        }
    }
}

/// Every assignment of values to the variables.
pub fn assignments(vars: &[Var]) -> Vec<Assignment> {
    let mut all = vec![Assignment::new()];
    for var in vars {
        let values: Vec<Value> = match var.sort {
            Sort::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Sort::Bits(width) => (0..1 << width).map(|value| Value::Bits { value, width }).collect(),
        };
        let extended = |before: &Assignment| {
            let mut each = vec![before.clone(); values.len()];
            for (assignment, value) in each.iter_mut().zip(&values) {
                assignment.insert(var.clone(), *value);
            }
            each
        };
        all = all.iter().flat_map(extended).collect();
    }
    all
}

pub fn holds(formula: &Term, under: &Assignment) -> bool {
    formula.eval(under) == Ok(Value::Bool(true))
}

/// Whether they hold together under some assignment.
pub fn satisfiable<'a>(formulas: impl IntoIterator<Item = &'a Term>, all: &[Assignment]) -> bool {
    let formulas: Vec<&Term> = formulas.into_iter().collect();
    all.iter().any(|assignment| formulas.iter().all(|formula| holds(formula, assignment)))
}
