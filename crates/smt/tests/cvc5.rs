//! The process beside this one: where it is missing, dies, hangs or answers nonsense.

use raddle_logic::{Op, Sort, Term, Var};
use raddle_smt::{Answer, Checker, Counts, Cvc5, Limits, Validity};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

const MISSING: &str = "/nowhere/cvc5";

fn limits(milliseconds: u64) -> Limits {
    Limits { timeout: Duration::from_millis(milliseconds), ..Limits::default() }
}

fn equation() -> Term {
    let x = Term::var("the x", Sort::Bits(32));
    Term::app(Op::Mul, vec![x.clone(), x]).equals(&Term::bits(49, 32))
}

fn hard() -> Vec<Term> {
    let [x, y] = ["x", "y"].map(|name| Term::var(name, Sort::Bits(32)).zero_extended_to(64));
    let product = Term::app(Op::Mul, vec![x.clone(), y.clone()]);
    vec![
        product.equals(&Term::bits((1 << 61) - 1, 64)),
        Term::app(Op::Ult, vec![Term::bits(1, 64), x.clone()]),
        Term::app(Op::Ult, vec![x, y]),
    ]
}

/// A shell script in its place.
struct Fake {
    folder: PathBuf,
}

impl Fake {
    fn new(name: &str, script: &str) -> Fake {
        let folder = std::env::temp_dir().join(format!("raddle-smt-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let fake = Fake { folder };
        std::fs::write(fake.program(), format!("#!/bin/sh\n{script}\n")).expect("a file");
        std::fs::set_permissions(fake.program(), PermissionsExt::from_mode(0o755)).expect("its mode");
        fake
    }

    fn program(&self) -> PathBuf {
        self.folder.join("cvc5")
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

/// Answers every query with this.
fn answering(answer: &str) -> String {
    format!(
        "while read -r line; do case $line in '(check-sat)') echo '{answer}';; \
         '(echo '*) line=${{line#*\\\"}}; echo \"${{line%%\\\"*}}\";; esac; done"
    )
}

fn reason(answer: Option<Answer>) -> String {
    match answer {
        Some(Answer::Unknown(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

fn is_installed() -> bool {
    Cvc5::new("cvc5", limits(1_000)).ask(&[]).is_some()
}

#[test]
fn where_it_is_missing() {
    let mut cvc5 = Cvc5::new(MISSING, limits(1_000));
    assert_eq!(cvc5.ask(&[equation()]), None);
    assert_eq!(cvc5.ask(&[equation()]), None);
    assert_eq!((cvc5.queries(), cvc5.process_id()), (0, None));
}

#[test]
fn after_it_was_killed() {
    if !is_installed() {
        return;
    }
    let mut cvc5 = Cvc5::new("cvc5", limits(10_000));
    assert_eq!(cvc5.ask(&[equation()]), Some(Answer::Sat));
    let id = cvc5.process_id().expect("it runs");
    assert!(Command::new("kill").args(["-9", &id.to_string()]).status().is_ok_and(|status| status.success()));
    let reason = reason(cvc5.ask(&[equation()]));
    assert!(reason.starts_with("cvc5 ended (signal: 9"), "{reason}");
    assert_eq!(cvc5.ask(&[equation()]), Some(Answer::Sat));
    assert_eq!(
        cvc5.ask(&[equation(), Term::var("the x", Sort::Bits(32)).equals(&Term::bits(6, 32))]),
        Some(Answer::Unsat)
    );
    assert_ne!(cvc5.process_id(), Some(id));
    assert_eq!(cvc5.queries(), 4);
}

#[test]
fn its_time_is_limited() {
    if !is_installed() {
        return;
    }
    let mut cvc5 = Cvc5::new("cvc5", limits(200));
    assert_eq!(cvc5.ask(&[equation()]), Some(Answer::Sat));
    let id = cvc5.process_id();
    assert_eq!(reason(cvc5.ask(&hard())), "timeout");
    assert_eq!(cvc5.process_id(), id, "it ended the query by itself");
    let deadline = Instant::now() + Duration::from_millis(300);
    let mut cvc5 = Cvc5::new("cvc5", Limits { deadline: Some(deadline), ..limits(60_000) });
    assert_eq!(reason(cvc5.ask(&hard())), "stopped");
    assert!(deadline.elapsed() < Duration::from_millis(300), "{:?} late", deadline.elapsed());
    assert_eq!(reason(cvc5.ask(&[])), "stopped");
}

#[test]
fn programs_that_are_not_cvc5() {
    let hangs = Fake::new("hangs", "exec sleep 100");
    let started = Instant::now();
    assert_eq!(reason(Cvc5::new(hangs.program(), limits(100)).ask(&[equation()])), "timeout");
    assert!(started.elapsed() < Duration::from_secs(5));
    let fails = Fake::new("fails", "echo broken >&2; exit 3");
    let mut cvc5 = Cvc5::new(fails.program(), limits(1_000));
    for _ in 0..2 {
        assert_eq!(reason(cvc5.ask(&[equation()])), "cvc5 ended (exit status: 3) broken");
    }
    let talks = Fake::new("talks", &answering("sat or unsat"));
    assert_eq!(reason(Cvc5::new(talks.program(), limits(1_000)).ask(&[])), "cvc5 answers `sat or unsat`");
    let folder = Cvc5::new(&talks.folder, limits(1_000)).ask(&[]);
    assert!(reason(folder).starts_with("cvc5 does not start: "));
}

#[test]
fn formulas_that_have_no_text() {
    let fake = Fake::new("text", &answering("sat"));
    let mut cvc5 = Cvc5::new(fake.program(), limits(1_000));
    let bar = Term::var("a|b", Sort::Bool);
    assert_eq!(reason(cvc5.ask(&[bar])), "SMT-LIB has no name `a|b`");
    let twice = Var::new("x", Sort::Bits(8));
    let both = [Term::from(twice).is_nonzero(), Term::var("x", Sort::Bool)];
    assert_eq!(reason(cvc5.ask(&both)), "`x` has two sorts");
    let mut large = Term::var("x", Sort::Bits(8));
    for _ in 0..100 {
        large = Term::app(Op::Add, vec![large.clone(), large]);
    }
    assert!(reason(cvc5.ask(&[large.is_nonzero()])).ends_with("nodes is not written for cvc5"));
    assert_eq!(cvc5.queries(), 0);
    assert_eq!(cvc5.ask(&[]), Some(Answer::Sat));
}

#[test]
fn opinions_of_two() {
    let x = Term::var("x", Sort::Bits(8));
    let valid = Term::or([
        x.is_nonzero(),
        x.equals(&Term::bits(0, 8)),
        Term::app(Op::Ult, vec![x.clone(), Term::bits(9, 8)]),
    ]);
    let valid = Term::and([valid, Term::app(Op::Ule, vec![Term::bits(0, 8), x.clone()])]);
    let (sat, unsat, other) = (
        Fake::new("sat", &answering("sat")),
        Fake::new("unsat", &answering("unsat")),
        Fake::new("other", &answering("?")),
    );
    let check = |program: PathBuf, resources: u32, formula: &Term| {
        let limits = Limits { resources, ..limits(1_000) };
        let mut checker = Checker::with_cvc5(limits.clone(), Cvc5::new(program, limits));
        (checker.valid(formula), checker.counts())
    };
    let counts = |z3, cvc5, confirmed_once| Counts { z3, cvc5, confirmed_once };
    let unknown = |reason: &str| Validity::Unknown(reason.to_owned());
    let disagree = unknown("solvers disagree: valid by Z3, not by cvc5");
    assert_eq!(check(sat.program(), 100_000, &valid), (disagree, counts(1, 1, 0)));
    assert_eq!(check(unsat.program(), 100_000, &valid), (Validity::Valid, counts(1, 1, 0)));
    assert_eq!(check(other.program(), 100_000, &valid), (Validity::Valid, counts(1, 1, 1)));
    assert_eq!(check(MISSING.into(), 100_000, &valid), (Validity::Valid, counts(1, 0, 1)));
    // A counterexample that was evaluated needs nobody's opinion.
    let (found, asked) = check(unsat.program(), 100_000, &x.is_nonzero());
    assert_eq!(asked, counts(1, 0, 0));
    let Validity::Invalid(values) = found else { panic!("{found:?}") };
    assert_eq!(values.into_values().map(Term::from).collect::<Vec<_>>(), [Term::bits(0, 8)]);
    // Z3 does not know.
    let hard = Term::and(hard()).negated();
    assert_eq!(check(MISSING.into(), 50_000, &hard), (unknown("Z3: resource limit"), counts(1, 0, 0)));
    assert_eq!(check(unsat.program(), 50_000, &hard), (Validity::Valid, counts(1, 1, 1)));
    let no = unknown("Z3: resource limit; not valid by cvc5");
    assert_eq!(check(sat.program(), 50_000, &hard), (no, counts(1, 1, 0)));
    let neither = unknown("Z3: resource limit; cvc5: cvc5 answers `?`");
    assert_eq!(check(other.program(), 50_000, &hard), (neither, counts(1, 1, 0)));
}
