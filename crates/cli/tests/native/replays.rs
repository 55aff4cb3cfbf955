//! `raddle replay` on the program itself: what the search has found, the program does whenever it is run under the schedule; what does
//! not follow a schedule is said, and nothing hangs.
//!
//! A slice in `cargo test`, a few runs each; `RADDLE_SOAK=1` takes all fixtures a hundred times, `RADDLE_FIXTURE=part-of-a-path` some.

use crate::fixtures::is_chosen;
use crate::random::raddle;
use raddle_testkit::fixtures::{files, parse};
use raddle_testkit::programs::{Profile, Sample, branchy, generate, knotted};
use raddle_testkit::soak;
use serde_json::Value;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Reasons to replay on the interpreter only that are no fault.
const INTERPRETED: [&str; 3] =
    ["32-bit programs are interpreted only", "a native run does not show", "cannot be linked"];

#[test]
fn fixtures_are_reproduced_every_time() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let chosen = files(&root).expect("tests/fixtures").into_iter().filter(|path| is_chosen(path));
    let all = soak::is_on() || std::env::var_os("RADDLE_FIXTURE").is_some();
    let chosen: Vec<_> = chosen.step_by(if all { 1 } else { 3 }).collect();
    let times = if soak::is_on() { "100" } else { "3" };
    let replayed = AtomicUsize::new(0);
    let cases = Mutex::new(soak::cases("races of fixtures replay natively, 100 times", chosen.iter()));
    let next = || cases.lock().expect("nobody panics").next();
    let complaints = Mutex::new(Vec::new());
    let work = || {
        while let Some(path) = next() {
            let fixture =
                parse(&std::fs::read_to_string(path).expect("it is readable")).expect("it is right");
            let folder = tempfile::tempdir().expect("a folder");
            let file = path.to_str().expect("a plain name");
            let mut arguments = vec!["check", "-q", "--time-limit", "20", file];
            let flags: Vec<String> = fixture.cflags.iter().map(|flag| format!("--cflag={flag}")).collect();
            arguments.extend(flags.iter().map(String::as_str));
            if !fixture.args.is_empty() {
                arguments.push("--");
                arguments.extend(fixture.args.iter().map(String::as_str));
            }
            raddle(folder.path(), &arguments);
            let outcomes = replay_all(folder.path(), times);
            let natively = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            replayed.fetch_add(natively, Ordering::Relaxed);
            let found = outcomes.into_iter().filter_map(Result::err);
            let found = found.filter(|why| !INTERPRETED.iter().any(|reason| why.contains(reason)));
            let mut complaints = complaints.lock().expect("nobody panics");
            complaints.extend(found.map(|why| format!("{file}: {why}")));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let complaints = complaints.into_inner().expect("nobody panics");
    let replayed = replayed.into_inner();
    println!("{replayed} schedules of {} fixtures, {times} runs each", chosen.len());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(replayed >= 8 || std::env::var_os("RADDLE_FIXTURE").is_some(), "only {replayed}");
}

#[test]
fn random_programs_are_reproduced() {
    let all: [&dyn Fn(u64) -> Sample; 3] = [&|seed| generate(seed, &Profile::default()), &branchy, &knotted];
    let mut replayed = 0;
    for seed in soak::cases_of_seeds("races of random programs replay natively", soak::seeds(4, 300)) {
        for make in all {
            let folder = tempfile::tempdir().expect("a folder");
            let text = make(seed).source.text();
            std::fs::write(folder.path().join("program.c"), &text).expect("it can be written");
            let limits = ["--time-limit", "5", "--max-executions", "2000"];
            raddle(folder.path(), &[&["explore", "-q", "program.c"], &limits[..]].concat());
            for outcome in replay_all(folder.path(), "2") {
                match outcome {
                    Ok(()) => replayed += 1,
                    Err(why) if INTERPRETED.iter().any(|reason| why.contains(reason)) => {}
                    Err(why) => panic!("{seed}: {why}\n{text}"),
                }
            }
        }
    }
    println!("{replayed} schedules");
    assert!(replayed >= 3, "only {replayed}");
}

/// Replays every witness of the folder. `Err`: not each time, or not natively, and why.
fn replay_all(folder: &Path, times: &str) -> Vec<Result<(), String>> {
    witnesses(folder).iter().map(|file| replay(folder, file, &["--times", times])).collect()
}

fn witnesses(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder.join("raddle-witness")) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "sched"));
    files.sort();
    files.iter().map(|file| file.to_str().expect("a plain name").to_owned()).collect()
}

fn replay(folder: &Path, witness: &str, flags: &[&str]) -> Result<(), String> {
    let output = raddle(folder, &[&["replay", "--format", "json", witness], flags].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|_| said.clone())?;
    let natively = &report["findings"][0]["natively"];
    match (natively["reproduced"].as_u64(), natively["runs"].as_u64()) {
        (Some(reproduced), Some(runs)) if reproduced == runs => Ok(()),
        (Some(reproduced), _) => Err(format!("{reproduced} times only: {said}")),
        _ => Err(format!("{} {said}", report["unknown_reasons"])),
    }
}

fn only_witness(folder: &Path) -> String {
    witnesses(folder).into_iter().next().expect("there is one")
}

/// A race that the search finds; natively the environment decides what else happens.
const WAYS: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static volatile int never;
static void *worker(void *arg)
{
    const char *way = getenv("WAY");
    if (way && way[0] == 'o') {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    if (way && way[0] == 's')
        while (!never)
            ;
    if (way && way[0] == 'p')
        pause();
    if (way && way[0] == 'c')
        abort();
    if (way && way[0] == 'e')
        _exit(3);
    shared++;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"#;

#[test]
fn what_leaves_the_schedule_is_said_and_nothing_hangs() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ways.c"), WAYS).expect("it can be written");
    raddle(folder.path(), &["check", "-q", "ways.c"]);
    let witness = only_witness(folder.path());
    assert_eq!(replay(folder.path(), &witness, &["--times", "3"]), Ok(()));
    let began = Instant::now();
    for (way, words) in [
        ("other", &["diverged natively: step", "pthread_mutex_lock of m at", "ways.c:12"][..]),
        ("spin", &["diverged natively", "nothing happened for too long"]),
        ("pause", &["diverged natively", "nothing happened for too long"]),
        ("crash", &["diverged natively"]),
        ("exit", &["diverged natively"]),
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_raddle"))
            .current_dir(folder.path())
            .args(["replay", "--patience", "1", &witness])
            .env("WAY", way)
            .output()
            .expect("raddle starts");
        let report = String::from_utf8_lossy(&output.stdout);
        for word in words {
            assert!(report.contains(word), "{way}: no `{word}` in\n{report}");
        }
        assert_eq!(output.status.code(), Some(3), "{way}");
    }
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

/// A witness that shows this, and the program by itself and as `raddle cc -O2` makes it: what a replay says, and its exit code.
fn replayed_with(
    folder: &Path,
    name: &str,
    source: &str,
    shows: &str,
    way: &str,
) -> Vec<(String, Option<i32>)> {
    let (file, program) = (format!("{name}.c"), format!("./{name}"));
    std::fs::write(folder.join(&file), source).expect("it can be written");
    raddle(folder, &["check", "-q", &file]);
    raddle(folder, &["cc", "-O2", "-g", "-pthread", &file, "-o", &program]);
    let is_it = |file: &String| {
        std::fs::read_to_string(file).is_ok_and(|text| text.contains(&format!("shows: {shows}\n")))
    };
    let witness = witnesses(folder).into_iter().find(is_it).expect("it was found");
    let run = |inputs: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_raddle"))
            .current_dir(folder)
            .args(["replay", "--format", "concise", &witness])
            .args(inputs)
            .env("WAY", way)
            .env("TMPDIR", folder)
            .output()
            .expect("raddle starts");
        let said = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&said).into_owned(), output.status.code())
    };
    vec![run(&[]), run(&[&program])]
}

/// The variable of the claim races by default; with a way set it does not, and another one on the same line still does.
const TWO_ON_A_LINE: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static int shared, other, apart[2];
static void *worker(void *arg)
{
    int *p = getenv("WAY") && getenv("WAY")[0] ? &apart[arg != NULL] : &shared;
    *p += 1, other += 1;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, apart);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"#;

#[test]
fn a_race_of_others_on_the_line_is_not_it() {
    for (way, words) in [("", "reproduced natively, 1 of 1"), ("apart", "not reproduced natively")] {
        let folder = tempfile::tempdir().expect("a folder");
        for (said, _) in replayed_with(folder.path(), "line", TWO_ON_A_LINE, "data-race shared", way) {
            assert!(said.contains(words), "{way}: {said}");
        }
    }
}

/// Fails at the second assertion by default, at the first with a way set.
const TWO_ASSERTIONS: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x;
static void *worker(void *arg)
{
    atomic_store(&x, 1);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, worker, NULL);
    int seen = atomic_load(&x);
    if (getenv("WAY") && getenv("WAY")[0])
        assert(seen != 1);
    assert(seen != 1);
    pthread_join(a, NULL);
    return 0;
}
"#;

#[test]
fn another_assertion_is_not_it() {
    for (way, words) in [("", "reproduced natively, 1 of 1"), ("other", "not reproduced natively")] {
        let folder = tempfile::tempdir().expect("a folder");
        for (said, _) in replayed_with(folder.path(), "two", TWO_ASSERTIONS, "assertion-failure", way) {
            assert!(said.contains(words), "{way}: {said}");
        }
    }
}

/// With a way set the process only starts the program again.
const STARTS_ITSELF: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static int shared;
static void *worker(void *arg)
{
    shared++;
    return arg;
}
int main(void)
{
    if (getenv("WAY") && getenv("WAY")[0])
        return system("WAY= /proc/$PPID/exe");
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"#;

#[test]
fn a_schedule_is_for_one_process() {
    // A folder with a comma: the runtime's options are separated by commas.
    for (way, words) in [("", "reproduced natively, 1 of 1"), ("again", "diverged natively")] {
        let folder = tempfile::Builder::new().prefix("a,schedule=b").tempdir().expect("a folder");
        for (said, _) in replayed_with(folder.path(), "starts", STARTS_ITSELF, "data-race shared", way) {
            assert!(said.contains(words), "{way}: {said}");
        }
    }
}

/// Two threads are about to end the process, and each may be the one that does.
const BOTH_END: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static int shared;
static void *worker(void *arg)
{
    shared++;
    if (shared == 7)
        exit(3);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    shared = 6;
    return 0;
}
"#;

#[test]
fn threads_that_end_the_process_wait_for_their_turn() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ends.c"), BOTH_END).expect("it can be written");
    raddle(folder.path(), &["check", "-q", "ends.c"]);
    let outcomes = replay_all(folder.path(), "3");
    assert!(outcomes.len() >= 2 && outcomes.iter().all(Result::is_ok), "{outcomes:?}");
}

/// Scopes that are left early, and functions that clang knows: the code of these differs with the level of optimisation.
const SCOPES: &str = r#"
#include <pthread.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char text[8];
static void *worker(void *arg)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        int done = text[i] == 'x';
        pthread_mutex_unlock(&m);
        if (done)
            return arg;
    }
    memset(text, 'x', sizeof text);
    return arg;
}
int main(int argc, char **argv)
{
    if (argc > 5)
        return 1;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

#[test]
fn a_program_of_the_same_sources_follows() {
    let folder = tempfile::tempdir().expect("a folder");
    for (said, code) in replayed_with(folder.path(), "scopes", SCOPES, "data-race text", "") {
        assert!(said.contains("reproduced natively, 1 of 1"), "{said}");
        assert_eq!(code, Some(1));
    }
}

#[test]
fn the_program_itself_can_be_given() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ways.c"), WAYS).expect("it can be written");
    raddle(folder.path(), &["check", "-q", "ways.c"]);
    let witness = only_witness(folder.path());
    for (level, program) in [("-O0", "./plain"), ("-O2", "./optimised")] {
        raddle(folder.path(), &["cc", level, "-g", "-pthread", "ways.c", "-o", program]);
        assert_eq!(replay(folder.path(), &witness, &[program, "--times", "5"]), Ok(()), "{program}");
    }
    // A program of other sources is another program.
    std::fs::write(folder.path().join("other.c"), WAYS.replace("shared++", "shared--")).expect("it can be");
    raddle(folder.path(), &["cc", "-pthread", "other.c", "-o", "./other"]);
    let output = raddle(folder.path(), &["replay", &witness, "./other"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("another program"));
}

#[test]
fn a_debugger_stops_with_both_threads_there() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ways.c"), WAYS).expect("it can be written");
    raddle(folder.path(), &["check", "-q", "ways.c"]);
    let witness = only_witness(folder.path());
    for (flag, breakpoint, frame) in
        [("--gdb", "hit Breakpoint", "in worker ("), ("--lldb", "stop reason = breakpoint", "`worker")]
    {
        let output = raddle(folder.path(), &["replay", flag, &witness]);
        let (said, shown) =
            (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        if said.contains("is not installed") {
            assert_eq!(output.status.code(), Some(2));
            continue;
        }
        assert!(shown.contains(breakpoint), "{shown}\n{said}");
        let frames = shown.lines().filter(|line| line.contains(frame) && line.contains(" at ways.c:24"));
        assert_eq!(frames.count(), 2, "{shown}\n{said}");
    }
}

const OWN_LOCKS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
struct lock {
    atomic_int taken;
    int owner;
};
static struct lock l = {0, -1};
static int counter, other;
static void my_enter(struct lock *k)
{
    while (atomic_exchange(&k->taken, 1))
        continue;
    k->owner = 1;
}
static int my_try(struct lock *k)
{
    return !atomic_exchange(&k->taken, 1);
}
static void my_leave(struct lock *k)
{
    k->owner = -1;
    atomic_store(&k->taken, 0);
}
static void *waits(void *arg)
{
    my_enter(&l);
    counter++;
    my_leave(&l);
    other++;
    return arg;
}
static void *tries(void *arg)
{
    if (my_try(&l)) {
        counter++;
        my_leave(&l);
    } else {
        other++;
    }
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, waits, NULL);
    pthread_create(&b, NULL, tries, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"#;

const OWN_LOCKS_TOML: &str = r#"
[[lock]]
acquire = "my_enter"
release = "my_leave"
try = "my_try"
try_success = "non-zero"
argument = 0
"#;

#[test]
fn lock_functions_of_the_program_are_one_operation() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("own.c"), OWN_LOCKS).expect("it can be written");
    std::fs::write(folder.path().join("raddle.toml"), OWN_LOCKS_TOML).expect("it can be written");
    raddle(folder.path(), &["cc", "-O2", "-g", "-pthread", "own.c", "-o", "./own"]);
    let explored = |native: &[&str]| {
        let output = raddle(folder.path(), &[&["explore", "--format", "json", "own.c"], native].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        let variables: Vec<String> = (report["findings"].as_array().expect("findings").iter())
            .map(|finding| finding["variable"].to_string())
            .collect();
        (variables, report["stats"]["executions"].as_u64())
    };
    let interpreted = explored(&[]);
    assert_eq!(interpreted.0, [r#""other""#]);
    assert_eq!(explored(&["--native"]), interpreted);
    for inputs in [&["--times", "3"][..], &["--times", "3", "./own"]] {
        for witness in witnesses(folder.path()) {
            assert_eq!(replay(folder.path(), &witness, inputs), Ok(()), "{witness} {inputs:?}");
        }
    }
}

#[test]
fn schedules_of_native_exploration_are_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for name in ["queue_race.c", "deadlock.c", "message_relaxed.c"] {
        let file = examples.join(name);
        raddle(folder.path(), &["explore", "--native", "-q", file.to_str().expect("a plain name")]);
    }
    let outcomes = replay_all(folder.path(), "3");
    assert_eq!(outcomes, [const { Ok(()) }; 4]);
    let witness = only_witness(folder.path());
    let text = std::fs::read_to_string(&witness).expect("it is readable");
    assert!(text.contains("\nmachine: native\n"), "{text}");
    let output = raddle(folder.path(), &["certify", &witness]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
}
