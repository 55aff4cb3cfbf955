//! The strongest invariants among many candidates, for every fixture: no fixture that races is proved by them.
//!
//! Candidates that do not follow are dropped until the rest does (Houdini; Flanagan and Leino, FME 2001). `RADDLE_FIXTURE=part-of-a-path`
//! looks at some fixtures.

#[path = "../../tests/proved/subject.rs"]
#[expect(dead_code, reason = "the tests in the other folder use the rest")]
mod subject;

use super::cells::{Cells, exact};
use super::names::{THREAD_BITS, Variable, held, thread};
use super::places::{Mentioned, Places};
use super::{Limits, Model, covered, queries};
use crate::statics::{Refusal, Standing};
use raddle_config::Config;
use raddle_facts::ThreadProof;
use raddle_frontend::{Request, load};
use raddle_ir::{CmpXchg, Inst};
use raddle_libmodel::Models;
use raddle_logic::{Op, Term};
use raddle_smt::{Checker, Cvc5, Limits as Budget};
use raddle_testkit::fixtures::{DataModels, Truth, files, parse};
use raddle_testkit::soak;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use subject::Subject;

/// More make no other invariants, and a fixture take longer.
const MOST_CELLS: usize = 2;
const MOST_LOCATIONS: usize = 30;

/// One fixture of so many, but under `RADDLE_SOAK`.
const SLICE: usize = 40;

fn candidates(standing: &Standing<'_>) -> (Vec<Term>, Mentioned) {
    let mut cells = BTreeSet::new();
    let mut locks = BTreeSet::new();
    let program = standing.program();
    let _ = standing.code().each_instruction(|at, inst| {
        let (ptr, ty) = match inst {
            Inst::Load { ptr, ty, .. } | Inst::Store { ptr, ty, .. } | Inst::Rmw { ptr, ty, .. } => {
                (*ptr, *ty)
            }
            Inst::CmpXchg(exchange) => {
                let CmpXchg { ptr, ty, .. } = **exchange;
                (ptr, ty)
            }
            _ => {
                locks.extend(
                    standing
                        .held_after(at)
                        .map(|taken| super::names::Lock { object: taken.object, offset: taken.offset }),
                );
                return Ok(());
            }
        };
        cells.extend(exact(standing, at, ptr, ty.access_bytes(program.data_model.pointer_bytes())));
        Ok(())
    });
    let cells: BTreeSet<_> = cells.into_iter().take(MOST_CELLS).collect();
    let mut found = Vec::new();
    for cell in &cells {
        let memory = Variable::Memory(*cell).term(cell.bits());
        let mine = Variable::Writer(*cell).term(THREAD_BITS).equals(&thread());
        found.extend([mine.clone(), apart(&Variable::Writer(*cell).term(THREAD_BITS), &thread())]);
        for number in [0, 1] {
            let number = Term::bits(number, cell.bits());
            let (is, is_not) = (memory.equals(&number), apart(&memory, &number));
            found.extend([is.clone(), is_not.clone()]);
            found.extend([Term::or([is.clone(), mine.clone()]), Term::or([is_not, mine.clone()])]);
            for lock in &locks {
                found.push(Term::or([is.clone(), held(*lock).is_nonzero()]));
            }
        }
    }
    found.extend(locks.iter().map(|lock| held(*lock).equals(&Term::bits(2, 2))));
    (found, Mentioned { cells, locks })
}

/// In a form that no constructor sees to be the opposite of an equality: candidates stay apart.
fn apart(a: &Term, b: &Term) -> Term {
    let below = |a: &Term, b: &Term| Term::app(Op::Ult, vec![a.clone(), b.clone()]);
    Term::or([below(a, b), below(b, a)])
}

/// Whether some of the candidates prove the program.
fn is_proved(subject: &Subject) -> Result<bool, Refusal> {
    let ThreadProof { statics, locations } = &subject.proof;
    let standing = Standing::of(&subject.program, &subject.models, statics)?;
    covered(&standing)?;
    let (candidates, mentioned) = candidates(&standing);
    let mut places = Places::of(&standing, locations)?;
    let budget = Budget { resources: 1_000_000, ..Budget::default() };
    let mut judge = Checker::with_cvc5(budget.clone(), Cvc5::new("no-such-solver", budget));
    let mut left: Vec<BTreeSet<Term>> =
        places.list.iter().map(|_| candidates.iter().cloned().collect()).collect();
    loop {
        for (place, left) in places.list.iter_mut().zip(&left) {
            place.invariant = Term::and(left.iter().cloned());
        }
        let model = Model {
            standing: &standing,
            mentioned: &mentioned,
            cells: RefCell::new(Cells::of(&standing)),
            fresh: Cell::new(0),
            limits: Limits { steps: 2_000, states: 20_000 },
        };
        let failures = queries::failures(&model, &places, &mut judge)?;
        let mut changed = false;
        for (place, parts) in &failures {
            if let Some(place) = place {
                for part in parts {
                    changed |= left[*place].remove(part);
                }
            }
        }
        if !changed {
            return Ok(failures.is_empty());
        }
    }
}

#[test]
fn no_racy_fixture_is_proved() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let only = std::env::var("RADDLE_FIXTURE").unwrap_or_default();
    let files: Vec<PathBuf> = files(&root)
        .expect("tests/fixtures is readable")
        .into_iter()
        .filter(|path| path.to_string_lossy().contains(&only))
        .collect();
    let files: Vec<PathBuf> = match only.is_empty() && !soak::is_on() {
        true => files.into_iter().step_by(SLICE).collect(),
        false => files,
    };
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !soak::is_over()) {
            let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
            let text = std::fs::read_to_string(path).expect("a fixture is readable");
            let fixture = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            if fixture.data_models == DataModels::Ilp32 || fixture.config.is_some() {
                continue;
            }
            let cflags = fixture.cflags.clone();
            let request = Request { inputs: vec![path.clone()], cflags, ..Request::default() };
            let program = load(&request).unwrap_or_else(|error| panic!("{name}: {error}")).program;
            let models = Models::resolve(&program, &Config::default());
            let Ok(subject) = Subject::with(program, models, &[]) else { continue };
            if subject.proof.locations.len() > MOST_LOCATIONS {
                continue;
            }
            if subject.has_open_pairs() {
                let proved = is_proved(&subject);
                found.lock().expect("no panic").push((name, fixture.truth, proved));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut found = found.into_inner().expect("no panic");
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let count = |race: bool, yes: bool| {
        let of = |one: &&(String, Truth, Result<bool, Refusal>)| {
            (one.1 == Truth::Race, one.2 == Ok(true)) == (race, yes)
        };
        found.iter().filter(of).count()
    };
    for (name, _, proved) in found.iter().filter(|one| one.1 != Truth::Race) {
        println!("{name}: {proved:?}");
    }
    let (racy, proved, others) = (count(true, false), count(false, true), count(false, false));
    println!("{racy} racy, {proved} safe ones proved, {others} not");
    let wrong: Vec<&String> =
        found.iter().filter(|one| one.1 == Truth::Race && one.2 == Ok(true)).map(|one| &one.0).collect();
    assert!(wrong.is_empty(), "racy and proved: {wrong:?}");
    assert!(!only.is_empty() || racy >= 3, "{racy} racy");
}
