//! Any run of the interpreter can be followed by the program itself: random schedules of fixtures and of random programs, to their ends.
//!
//! A slice in `cargo test`, all with `RADDLE_SOAK=1`.

use super::program;
use super::steps::{self, Walk};
use crate::Subject;
use crate::load::{Loaded, load};
use raddle_base::SiteId;
use raddle_certify::Witness;
use raddle_event::{Choice, ProblemKind, Schedule};
use raddle_interp::Interp;
use raddle_machine::{IgnoreEvents, Machine, OpKind, Status, Visibility};
use raddle_native::{Checks, Claim, Plan, ReplayRequest, Replayed, replay};
use raddle_testkit::fixtures::{files, parse};
use raddle_testkit::programs::{Profile, branchy, generate, knotted};
use raddle_testkit::random::Random;
use raddle_testkit::soak;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Longer runs say nothing new.
const LONGEST: usize = 400;

/// The real program has empty functions where the interpreter has the kernel's locks.
const STUB: &str = "kernel/inline_stub_safe.c";

fn is_soak() -> bool {
    std::env::var_os("RADDLE_SOAK").is_some()
}

#[test]
fn fixtures_follow_random_schedules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let all = files(&root).expect("tests/fixtures");
    let mut followed = 0;
    let chosen = all.iter().enumerate().filter(|(index, _)| is_soak() || index % 25 == 7);
    for (index, path) in chosen.filter(|(_, path)| !path.ends_with(STUB)) {
        let fixture = parse(&std::fs::read_to_string(path).expect("it is readable")).expect("it is right");
        let subject =
            Subject { inputs: vec![path.clone()], cflags: fixture.cflags.clone(), ..Subject::default() };
        followed += follow(&subject, index as u64);
    }
    println!("{followed} schedules");
    assert!(followed >= 20, "only {followed}");
}

#[test]
fn random_programs_follow_random_schedules() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut followed = 0;
    for seed in soak::cases_of_seeds("programs follow the schedules of the interpreter", soak::seeds(4, 300))
    {
        let samples = [generate(seed, &Profile::default()), branchy(seed), knotted(seed)];
        for (kind, sample) in samples.iter().enumerate() {
            let file = folder.path().join(format!("program{seed}_{kind}.c"));
            std::fs::write(&file, sample.source.text()).expect("it can be written");
            followed += follow(&Subject { inputs: vec![file], ..Subject::default() }, seed);
        }
    }
    println!("{followed} schedules");
    assert!(followed >= 20 || soak::named_seeds().is_some(), "only {followed}");
}

/// Which way the thread goes depends on what lies in `ids[0]`. Found by the test above, in a program that gives one argument twice.
const READS_WHAT_NOBODY_WROTE: &str = "
#include <pthread.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void init(void) {}
static void *worker(void *id) {
  if (*(int *)id == 0)
    pthread_once(&once, init);
  return 0;
}
int main(void) {
  int ids[2];
  pthread_t thread;
  ids[1] = 0;
  pthread_create(&thread, 0, worker, &ids[0]);
  pthread_join(thread, 0);
  return ids[1];
}
";

#[test]
fn what_was_never_written_is_left_to_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = READS_WHAT_NOBODY_WROTE.replace("ids[1] = 0", "ids[0] = ids[1] = 0");
    let left = [READS_WHAT_NOBODY_WROTE, &written].map(|text| {
        let file = folder.path().join("program.c");
        std::fs::write(&file, text).expect("it can be written");
        let subject = Subject { inputs: vec![file], ..Subject::default() };
        let loaded = load(&subject, &Arc::default()).expect("it can be loaded");
        let visibility = Visibility::SyncOnly;
        let (schedule, _) = walk(&loaded, &visibility, &mut Random::new(0)).expect("it ends");
        let Walk { uncontrolled, .. } =
            steps::plan(&loaded, &Witness { schedule, visibility }).expect("a plan");
        follow(&subject, 0);
        uncontrolled.is_some()
    });
    assert_eq!(left, [true, false]);
}

/// The first instruction of all is a call of a function that is no operation itself, as calls into libraries are.
const ATOMIC_BY_NAME: &str = "
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_t threads[2];
static int x;
static void __VERIFIER_atomic_step(void) { x++; }
static void *worker(void *id) {
  __VERIFIER_atomic_step();
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return id;
}
static void spawn(int k) { pthread_create(&threads[k], 0, worker, 0); }
int main(void) {
  spawn(0);
  spawn(1);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return 0;
}
";

#[test]
fn sections_are_steps_wherever_the_program_begins() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("program.c");
    std::fs::write(&file, ATOMIC_BY_NAME).expect("it can be written");
    let subject = Subject { inputs: vec![file], ..Subject::default() };
    let followed: usize = (0..4).map(|seed| follow(&subject, seed)).sum();
    assert_eq!(followed, 12);
}

/// How many random schedules the program has followed; panics at one that it has not.
fn follow(subject: &Subject, seed: u64) -> usize {
    // Some fixtures are for 32 bits only, or no program.
    let Ok(loaded) = load(subject, &std::sync::Arc::default()) else { return 0 };
    // Kernel functions cannot be linked.
    let Ok(Ok(program)) = program(subject, &loaded) else { return 0 };
    let mut followed = 0;
    for (round, visibility) in
        [Visibility::SyncOnly, Visibility::SyncOnly, Visibility::EveryAccess].into_iter().enumerate()
    {
        let mut random = Random::new(seed * 3 + round as u64);
        let Some((schedule, status)) = walk(&loaded, &visibility, &mut random) else { continue };
        let Walk { plan, uncontrolled } = match steps::plan(&loaded, &Witness { schedule, visibility }) {
            Err(reason) if reason.contains("a native run does not show") => continue,
            walk => walk.expect("it can be walked again"),
        };
        let request = request_for(program.path().to_owned(), plan);
        let replayed = replay(&request, &AtomicBool::new(false)).expect("it starts");
        match (&status, &replayed) {
            (Status::Deadlock, Some(Replayed::Reproduced(_))) => {}
            (Status::Exited(_), Some(Replayed::NotReproduced(_))) => {}
            _ if uncontrolled.is_some() => continue,
            _ => {
                let text = std::fs::read_to_string(&subject.inputs[0]).unwrap_or_default();
                panic!("{:?}, round {round}: {status:?}, natively {replayed:?}\n{text}", subject.inputs)
            }
        }
        followed += 1;
    }
    followed
}

fn request_for(program: PathBuf, plan: Plan) -> ReplayRequest {
    ReplayRequest {
        program,
        arguments: Vec::new(),
        stdin: None,
        env: Vec::new(),
        plan: Plan { patience: Some(Duration::from_secs(20)), ..plan },
        claim: Claim::Problem(ProblemKind::Deadlock, SiteId(0)),
        checks: Checks::Every,
        origins: None,
        time: Duration::from_secs(120),
    }
}

/// A run by chance to an end that a real process comes to as well.
fn walk(loaded: &Loaded, visibility: &Visibility, random: &mut Random) -> Option<(Schedule, Status)> {
    let (program, models) = (Arc::clone(&loaded.program), Arc::clone(&loaded.models));
    let mut interp = Interp::new(program, models, loaded.options.clone()).ok()?;
    interp.set_visibility(visibility.clone());
    let own = steps::own_choices(loaded);
    let mut choices: Vec<Choice> = Vec::new();
    let mut enabled = Vec::new();
    while interp.status() == Status::Running && choices.len() < LONGEST {
        interp.enabled(&mut enabled);
        // The processor fails for no reason nowhere, and no call of the system fails here.
        enabled.retain(|choice| {
            let next = interp.pending(choice.thread).map(|operation| (operation.kind, operation.site.0));
            let own_choice = matches!(next, Some((OpKind::Choose { .. }, site)) if own.contains(&site));
            choice.variant == 0 || !own_choice
        });
        let choice = enabled[random.below(enabled.len())];
        interp.step(choice, &mut IgnoreEvents);
        choices.push(choice);
    }
    let status = interp.status();
    let comes_to = matches!(status, Status::Exited(_) | Status::Deadlock) && interp.problems().is_empty()
        || status == Status::Deadlock
            && interp.problems().iter().all(|problem| problem.kind == ProblemKind::Deadlock);
    comes_to.then_some((Schedule { choices }, status))
}
