//! Random formulas: what the solvers answer, with every assignment tried.

mod terms;

use raddle_logic::{Assignment, Op, Sort, Term, Value, Var};
use raddle_smt::{Answer, Checker, Cvc5, Limits, Solver, Validity};
use raddle_testkit::random::Random;
use raddle_testkit::soak::{cases_of_seeds, seeds};
use terms::{assignments, formula, holds, satisfiable, variables};

fn answer(satisfiable: bool) -> Answer {
    if satisfiable { Answer::Sat } else { Answer::Unsat }
}

#[test]
fn answers_models_and_cores_of_z3() {
    let mut solver = Solver::new(Limits::default());
    let (mut sat, mut unsat, mut cores) = (0, 0, 0);
    for seed in cases_of_seeds("Z3 agrees with the evaluator", seeds(1_000, 20_000)) {
        let mut random = Random::new(seed);
        let vars = variables(&mut random);
        let all = assignments(&vars);
        let depth = 2 + random.below(2) as u32;
        let asserted = formula(&mut random, &vars, depth);
        solver.push();
        solver.assert(&asserted);
        let expected = satisfiable([&asserted], &all);
        assert_eq!(solver.check(), answer(expected), "seed {seed}: {asserted}");
        if expected {
            sat += 1;
            let model = solver.model(&vars).expect("a model");
            assert!(holds(&asserted, &model), "seed {seed}: {asserted} under {model:?}");
        } else {
            assert!(solver.model(&vars).is_err());
            assert_eq!(solver.core(), Some(Vec::new()), "seed {seed}");
        }
        for _ in 0..2 {
            let assumed: Vec<Term> =
                (0..1 + random.below(4)).map(|_| formula(&mut random, &vars, 2)).collect();
            let expected = satisfiable(assumed.iter().chain([&asserted]), &all);
            let found = solver.check_assuming(&assumed);
            assert_eq!(found, answer(expected), "seed {seed}: {asserted} with {assumed:?}");
            if expected {
                let model = solver.model(&vars).expect("a model");
                assert!(
                    assumed.iter().chain([&asserted]).all(|term| holds(term, &model)),
                    "seed {seed}: {model:?}"
                );
                assert_eq!(solver.core(), None);
            } else {
                unsat += 1;
                let core = solver.core().expect("a core");
                let named = core.iter().map(|index| &assumed[*index]).chain([&asserted]);
                assert!(!satisfiable(named, &all), "seed {seed}: {core:?} of {assumed:?} with {asserted}");
                assert_eq!(solver.core(), Some(core.clone()), "seed {seed}: asked again");
                cores += u64::from(!core.is_empty() && core.len() < assumed.len());
            }
        }
        solver.pop();
    }
    assert!(sat > 300 && unsat > 100 && cores > 30, "{sat} sat, {unsat} unsat, {cores} small cores");
}

#[test]
fn answers_of_cvc5() {
    let mut cvc5 = Cvc5::new("cvc5", Limits::default());
    for seed in cases_of_seeds("cvc5 agrees with the evaluator", seeds(200, 5_000)) {
        let mut random = Random::new(seed);
        let vars = variables(&mut random);
        let formulas = [formula(&mut random, &vars, 3), formula(&mut random, &vars, 2)];
        let Some(found) = cvc5.ask(&formulas) else { return };
        let expected = satisfiable(&formulas, &assignments(&vars));
        assert_eq!(found, answer(expected), "seed {seed}: {formulas:?}");
    }
}

#[test]
fn validity() {
    let mut checker = Checker::new(Limits::default());
    let mut valid = 0;
    for seed in cases_of_seeds("the checker agrees with the evaluator", seeds(300, 5_000)) {
        let mut random = Random::new(seed);
        let vars = variables(&mut random);
        let parts = [formula(&mut random, &vars, 2), formula(&mut random, &vars, 2)];
        // Half of them are likely to be valid.
        let formula =
            if seed % 2 == 0 { parts[0].implies(&Term::or(parts.clone())) } else { Term::or(parts) };
        let formula = Term::or([formula, Term::from(vars[0].clone())]);
        let all = assignments(&vars);
        match checker.valid(&formula) {
            Validity::Valid => {
                valid += 1;
                assert!(all.iter().all(|values| holds(&formula, values)), "seed {seed}: {formula}");
            }
            Validity::Invalid(values) => {
                let mut values: Assignment = values;
                for var in &vars {
                    values.entry(var.clone()).or_insert_with(|| match var.sort {
                        Sort::Bool => Value::Bool(false),
                        Sort::Bits(width) => Value::Bits { value: 0, width },
                    });
                }
                assert!(!holds(&formula, &values), "seed {seed}: {formula} under {values:?}");
            }
            Validity::Unknown(reason) => panic!("seed {seed}: {reason}: {formula}"),
        }
    }
    assert!(valid > 50, "{valid} valid");
}

/// Each operator on all pairs of constants of three bits: its value, and no other, is possible.
#[test]
fn operators_have_the_values_of_the_evaluator() {
    let mut solver = Solver::new(Limits::default());
    let mut cvc5 = Cvc5::new("cvc5", Limits::default());
    let [a, b] = ["a", "b"].map(|name| Var::new(name, Sort::Bits(3)));
    let [x, y] = [&a, &b].map(|var| Term::from(var.clone()));
    for op in [
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
        Op::Ult,
        Op::Ule,
        Op::Slt,
        Op::Sle,
        Op::Concat,
        Op::Eq,
    ] {
        let term = Term::app(op, vec![x.clone(), y.clone()]);
        let differs = assignments(&[a.clone(), b.clone()]).into_iter().map(|values| {
            let inputs =
                values.iter().map(|(var, value)| Term::from(var.clone()).equals(&Term::from(*value)));
            let value = Term::from(term.eval(&values).expect("both have a value"));
            Term::and(inputs.chain([term.differs(&value)]))
        });
        let wrong = Term::or(differs);
        solver.push();
        solver.assert(&wrong);
        assert_eq!(solver.check(), Answer::Unsat, "{op:?}: {:?}", solver.model(&[a.clone(), b.clone()]));
        solver.pop();
        assert!(matches!(cvc5.ask(&[wrong]), None | Some(Answer::Unsat)), "{op:?}");
    }
}

#[test]
fn wide_values_in_models() {
    let mut solver = Solver::new(Limits::default());
    for width in [1, 63, 64, 65, 127, 128] {
        let var = Var::new(format!("wide {width}"), Sort::Bits(width));
        for value in [0, 1, u128::MAX, 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210] {
            let value = Term::bits(value, width);
            solver.push();
            solver.assert(&Term::from(var.clone()).equals(&value));
            assert_eq!(solver.check(), Answer::Sat);
            let model = solver.model(std::slice::from_ref(&var)).expect("a model");
            assert_eq!(Term::from(model[&var]), value);
            solver.pop();
        }
    }
}
