//! Random terms: what is simplified, printed, read back or substituted keeps its value.

use raddle_logic::{Assignment, Op, Sort, Term, Value, Var, parse};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn bits(&mut self) -> u128 {
        let all = u128::from(self.0) << 64 | u128::from(self.below(u64::MAX));
        [0, 1, 2, u128::MAX, 1 << 7, all, all >> 64][self.below(7) as usize]
    }
}

const WIDTHS: [u32; 5] = [1, 3, 8, 64, 128];

/// Without simplification: pairs of the operator with the values that it was applied to decide.
fn term(random: &mut Random, sort: Sort, depth: u32) -> Term {
    if depth == 0 || random.below(6) == 0 {
        return match (sort, random.below(2)) {
            (Sort::Bool, 0) => Term::truth(random.below(2) == 0),
            (Sort::Bits(width), 0) => Term::bits(random.bits(), width),
            (Sort::Bool, _) => Term::var(format!("b{}", random.below(2)), sort),
            (Sort::Bits(width), _) => Term::var(format!("v{width}.{}", random.below(2)), sort),
        };
    }
    let below = depth - 1;
    let Sort::Bits(width) = sort else {
        let inner = Sort::Bits(WIDTHS[random.below(5) as usize]);
        let compare = [Op::Eq, Op::Ult, Op::Ule, Op::Slt, Op::Sle];
        return match random.below(9) {
            0 => term(random, sort, below).negated(),
            1 => Term::and((0..random.below(4)).map(|_| term(random, sort, below)).collect::<Vec<_>>()),
            2 => Term::or((0..random.below(4)).map(|_| term(random, sort, below)).collect::<Vec<_>>()),
            3 => term(random, sort, below).equals(&term(random, sort, below)),
            n => {
                let args = vec![term(random, inner, below), term(random, inner, below)];
                Term::app(compare[n as usize - 4], args)
            }
        };
    };
    let binary = [
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
    match random.below(18) {
        0 => Term::app(Op::BvNot, vec![term(random, sort, below)]),
        1 => Term::app(Op::Neg, vec![term(random, sort, below)]),
        2 => {
            let condition = term(random, Sort::Bool, below);
            Term::ite(&condition, &term(random, sort, below), &term(random, sort, below))
        }
        3 if width == 8 => term(random, Sort::Bits(3), below).sign_extended_to(8),
        4 if width == 64 => term(random, Sort::Bits(8), below).zero_extended_to(64),
        3 if width == 1 => term(random, Sort::Bool, below).as_bit(),
        4 if width == 128 => Term::app(
            Op::Concat,
            vec![term(random, Sort::Bits(64), below), term(random, Sort::Bits(64), below)],
        ),
        3 | 4 if width == 3 => {
            let low = random.below(6) as u32;
            Term::app(Op::Extract { high: low + 2, low }, vec![term(random, Sort::Bits(8), below)])
        }
        n => {
            let args = vec![term(random, sort, below), term(random, sort, below)];
            Term::app(binary[n as usize % 13], args)
        }
    }
}

fn assignment(random: &mut Random) -> Assignment {
    let mut all = Assignment::new();
    for index in 0..2 {
        let name = format!("b{index}");
        all.insert(Var::new(name, Sort::Bool), Value::Bool(random.below(2) == 0));
        for width in WIDTHS {
            let Some(value) = Term::bits(random.bits(), width).as_bits() else { unreachable!() };
            all.insert(
                Var::new(format!("v{width}.{index}"), Sort::Bits(width)),
                Value::Bits { value, width },
            );
        }
    }
    all
}

fn sort_of(name: &str) -> Option<Sort> {
    match name.split_at_checked(1)? {
        ("b", "0" | "1") => Some(Sort::Bool),
        ("v", rest) => rest.split('.').next()?.parse().ok().map(Sort::Bits),
        _ => None,
    }
}

#[test]
fn a_term_that_is_printed_and_read_is_the_same() {
    let mut random = Random(7);
    for case in 0..20_000 {
        let sort = if case % 3 == 0 { Sort::Bool } else { Sort::Bits(WIDTHS[case % 5]) };
        let term = term(&mut random, sort, 4);
        let text = term.to_string();
        let read = parse(&text, &mut sort_of).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read, term, "{text}");
    }
}

#[test]
fn values_in_place_of_variables_give_the_value() {
    let mut random = Random(11);
    for case in 0..20_000 {
        let sort = if case % 2 == 0 { Sort::Bool } else { Sort::Bits(WIDTHS[case % 5]) };
        let term = term(&mut random, sort, 4);
        let values = assignment(&mut random);
        let value = term.eval(&values).expect("every variable has a value");
        let constant = term.substitute(&mut |var| Some(Term::from(values[var])));
        assert_eq!(constant, Term::from(value), "{term} under {values:?}");
        // Half of them: the rest of the term is simplified, and means the same.
        let half = term.substitute(&mut |var| var.name.ends_with('0').then(|| Term::from(values[var])));
        assert_eq!(half.eval(&values), Ok(value), "{term}, then {half}");
    }
}

#[test]
fn damaged_text_is_an_error_or_a_term() {
    let mut random = Random(13);
    let mut errors = 0;
    for _ in 0..20_000 {
        let mut text = term(&mut random, Sort::Bool, 3).to_string().into_bytes();
        for _ in 0..=random.below(2) {
            let at = random.below(text.len() as u64) as usize;
            match random.below(3) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, b"() #|bx019_-"[random.below(12) as usize]),
                _ => text[at] = b"() #|bx019_-"[random.below(12) as usize],
            }
            if text.is_empty() {
                break;
            }
        }
        let text = String::from_utf8(text).expect("ASCII");
        match parse(&text, &mut sort_of) {
            Ok(term) => drop(term.variables()),
            Err(_) => errors += 1,
        }
    }
    assert!(errors > 10_000, "only {errors} errors");
    assert!(parse(&"(not ".repeat(100_000), &mut sort_of).is_err());
}

/// The definitions of SMT-LIB 2.6 where languages differ.
#[test]
fn division_and_shifts_are_those_of_smt_lib() {
    let bits = |value: i128| Term::bits(value as u128, 8);
    let table = [
        (Op::UDiv, 7, 0, 255),
        (Op::URem, 7, 0, 7),
        (Op::SDiv, 7, 0, -1),
        (Op::SDiv, -7, 0, 1),
        (Op::SDiv, -128, -1, -128),
        (Op::SDiv, -7, 2, -3),
        (Op::SRem, -7, 2, -1),
        (Op::SRem, -7, 0, -7),
        (Op::Shl, 1, 8, 0),
        (Op::LShr, -1, 200, 0),
        (Op::AShr, -2, 200, -1),
        (Op::AShr, 64, 8, 0),
    ];
    for (op, a, b, value) in table {
        assert_eq!(Term::app(op, vec![bits(a), bits(b)]), bits(value), "{op:?} {a} {b}");
    }
}
