//! `raddle explore --native`: the program itself as the machine of a search finds what the interpreter finds; what it cannot follow is
//! said, and nothing reaches outside.
//!
//! A slice in `cargo test`; `RADDLE_SOAK=1` takes all fixtures and many programs, `RADDLE_FIXTURE=part-of-a-path` some.

use crate::fixtures::{exception, is_chosen};
use crate::random::raddle;
use raddle_testkit::fixtures::{Truth, files, parse};
use raddle_testkit::programs::{Profile, Sample, branchy, generate, knotted};
use raddle_testkit::soak;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Kinds that both must agree about. The others are about memory and library calls, which the interpreter watches more closely.
const KINDS: [&str; 5] = ["data-race", "deadlock", "livelock", "abort", "assertion-failure"];

/// Reasons not to explore natively that are no fault.
const INTERPRETED: [&str; 8] = [
    "32-bit programs are interpreted only",
    "cannot be linked",
    "pthread_cancel",
    "opening a file for writing",
    "a socket",
    "a system call that may reach outside",
    "random numbers of the system",
    "threads are started before main",
];

/// Fixtures that the two machines are right to differ about.
const BY_MACHINE: &str = include_str!("by_machine.txt");

/// Kind and lines of each finding.
type Found = BTreeSet<(String, Vec<u64>)>;

#[test]
fn fixtures_are_explored_natively_with_the_same_findings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let chosen = files(&root).expect("tests/fixtures").into_iter().filter(|path| is_chosen(path));
    let all = soak::is_on() || std::env::var_os("RADDLE_FIXTURE").is_some();
    let chosen: Vec<_> = chosen.step_by(if all { 1 } else { 3 }).collect();
    let (compared, undecided) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let cases = Mutex::new(soak::cases("fixtures explored natively", chosen.iter()));
    let next = || cases.lock().expect("nobody panics").next();
    let complaints = Mutex::new(Vec::new());
    let work = || {
        while let Some(path) = next() {
            let text = std::fs::read_to_string(path).expect("it is readable");
            let fixture = parse(&text).expect("it is right");
            let file = path.to_str().expect("a plain name");
            // Of values from outside two are tried natively; how calls of the system go, and what the C library does with its own
            // memory, is seen by the interpreter only.
            let decided = file.contains("/descriptors/") || text.contains("__VERIFIER_nondet_int");
            let by_system = ["/library/", "/files/"].iter().any(|topic| file.contains(topic));
            let name = path.strip_prefix(&root).expect("a fixture").to_str().expect("a plain name");
            let differs = exception(BY_MACHINE, name).is_some();
            if decided || differs || (by_system && fixture.truth == Truth::Race) {
                continue;
            }
            let mut flags: Vec<String> =
                fixture.cflags.iter().map(|flag| format!("--cflag={flag}")).collect();
            // The processor decides whether an operation fails for no reason.
            if ["compare_exchange_weak", "mtx_trylock"].iter().any(|word| text.contains(word)) {
                flags.push("--no-spurious".to_owned());
            }
            match compare(file, &flags, BRIEFLY) {
                Compared::Same { .. } => {
                    compared.fetch_add(1, Ordering::Relaxed);
                }
                Compared::No => {
                    undecided.fetch_add(1, Ordering::Relaxed);
                }
                Compared::Different(why) => {
                    complaints.lock().expect("nobody panics").push(format!("{file}: {why}"));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let (complaints, compared) = (complaints.into_inner().expect("nobody panics"), compared.into_inner());
    cases.lock().expect("nobody panics").too_large(undecided.into_inner() as u64);
    println!("{compared} of {} fixtures compared", chosen.len());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(all || compared >= 12, "only {compared}");
}

#[test]
fn random_programs_are_explored_natively_with_the_same_findings() {
    let all: [&dyn Fn(u64) -> Sample; 3] = [&|seed| generate(seed, &Profile::default()), &branchy, &knotted];
    let (mut compared, mut racy, mut as_many) = (0, 0, 0);
    let mut cases = soak::cases_of_seeds("random programs explored natively", soak::seeds(4, 300));
    let mut undecided = BTreeSet::new();
    while let Some(seed) = cases.next() {
        for make in all {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("program.c");
            let text = make(seed).source.text();
            std::fs::write(&file, &text).expect("it can be written");
            match compare(file.to_str().expect("a plain name"), &[], BRIEFLY) {
                Compared::Same { found, same_count } => {
                    compared += 1;
                    racy += usize::from(found > 0);
                    as_many += usize::from(same_count);
                }
                Compared::No => {
                    undecided.insert(seed);
                }
                Compared::Different(why) => panic!("{seed}: {why}\n{text}"),
            }
        }
        cases.too_large(undecided.len() as u64);
    }
    println!("{compared} programs, {racy} with findings, as many executions in {as_many}");
    assert!((compared >= 5 && racy >= 1) || soak::is_over(), "{compared} compared, {racy} with findings");
}

/// What both searches say about a program.
enum Compared {
    Same {
        found: usize,
        same_count: bool,
    },
    /// One of them did not come to its end.
    No,
    Different(String),
}

/// Seconds for one of many programs, some of which have no end. The machine may have other work: then fewer are compared.
const BRIEFLY: &str = "8";

/// Seconds where the answer is known to be near, however busy the machine is.
const LONG: &str = "600";

fn compare(file: &str, flags: &[String], seconds: &str) -> Compared {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = ["--format", "json", "--time-limit", seconds, "--max-executions", "3000", file];
    let search = |native: &[&str]| {
        let mut arguments = [&["explore"], native, &limits[..]].concat();
        arguments.extend(flags.iter().map(String::as_str));
        let output = raddle(folder.path(), &arguments);
        serde_json::from_slice::<Value>(&output.stdout)
            .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let Ok(interpreted) = search(&[]) else { return Compared::No };
    if !reasons(&interpreted).is_empty() {
        return Compared::No;
    }
    let natively = match search(&["--native"]) {
        Ok(natively) => natively,
        Err(message) => return Compared::Different(message),
    };
    let open: Vec<String> = reasons(&natively)
        .into_iter()
        .filter(|reason| !reason.contains("explored natively, which"))
        .collect();
    if open.iter().any(|reason| reason.contains("limit") || INTERPRETED.iter().any(|no| reason.contains(no)))
    {
        return Compared::No;
    }
    let (expected, got) = (found(&interpreted), found(&natively));
    if natively["verdict"] == "safe" || !open.is_empty() || expected != got {
        return Compared::Different(format!("interpreted {expected:?}, natively {got:?}, {open:?}"));
    }
    let same_count = interpreted["stats"]["executions"] == natively["stats"]["executions"];
    Compared::Same { found: got.len(), same_count }
}

fn reasons(report: &Value) -> Vec<String> {
    let reasons = report["unknown_reasons"].as_array().expect("there is a list");
    reasons.iter().map(Value::to_string).collect()
}

fn found(report: &Value) -> Found {
    let lines = |finding: &Value| {
        let accesses = finding["accesses"].as_array().expect("there is a list");
        let mut lines: Vec<u64> = accesses.iter().filter_map(|access| access["line"].as_u64()).collect();
        lines.sort_unstable();
        lines
    };
    let findings = report["findings"].as_array().expect("there is a list");
    let kind = |finding: &Value| finding["kind"].as_str().unwrap_or_default().to_owned();
    let wanted = findings.iter().filter(|finding| KINDS.contains(&kind(finding).as_str()));
    // Threads that go round in a loop are reported where the search happened to leave them in it.
    let places = |finding: &Value| if kind(finding) == "livelock" { Vec::new() } else { lines(finding) };
    wanted.map(|finding| (kind(finding), places(finding))).collect()
}

/// Explores a program, in a folder of its own; verdict, reasons and findings as text.
fn explored(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("program.c"), text).expect("it can be written");
    let output = raddle(folder.path(), &["explore", "--native", "--time-limit", LONG, "program.c"]);
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    // Long lines are wrapped.
    (folder, text.split_whitespace().collect::<Vec<_>>().join(" "))
}

const WORKERS: &str = "
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *worker(void *argument);
int main(void)
{
    pthread_t a, b;
    void *result;
    pthread_create(&a, NULL, worker, (void *)1);
    pthread_create(&b, NULL, worker, (void *)2);
    pthread_join(a, &result);
    if ((long)result != 3) abort();
    pthread_join(b, &result);
    if ((long)result != 3) abort();
    return 0;
}
";

#[test]
fn threads_have_storage_of_their_own_which_every_execution_finds_anew() {
    let body = "
static _Thread_local int own = 1;
static int all;
static char *block;
static void *worker(void *argument)
{
    errno = (int)(long)argument;
    own++;
    pthread_mutex_lock(&m);
    if (block == NULL) block = calloc(1, 100);
    if (block[5]++ != all++) abort();
    printf(\"%d %s\\n\", all, strerror(ENOENT));
    pthread_mutex_unlock(&m);
    if (errno != (int)(long)argument) abort();
    return (void *)(long)(own + 1);
}
";
    let (_folder, text) = explored(&(WORKERS.to_owned() + body));
    assert!(text.contains("verdict: unknown") && text.contains(" 2 executions"), "{text}");
    assert!(!text.contains("abort"), "{text}");
}

#[test]
fn what_reaches_outside_is_not_done() {
    for (call, word) in [
        ("FILE *f = fopen(\"left\", \"w\"); fputs(\"x\", f); fclose(f);", "opening a file for writing"),
        ("unlink(\"program.c\");", "system call"),
        ("int ends[2]; if (pipe(ends)) return 0;", "a pipe"),
        ("if (fork() == 0) _exit(0);", "fork"),
    ] {
        let body = format!("static void *worker(void *argument) {{ {call} return (void *)3; }}");
        let (folder, text) = explored(&(WORKERS.to_owned() + &body));
        assert!(text.contains("verdict: unknown") && text.contains(word), "{call}: {text}");
        let files: Vec<_> = std::fs::read_dir(folder.path()).expect("it is there").flatten().collect();
        assert!(files.len() == 1 && folder.path().join("program.c").exists(), "{call}: {files:?}");
    }
}

#[test]
fn a_thread_that_waits_without_end_is_given_up() {
    let body = "
static volatile int never;
static void *worker(void *argument) { while (!never) usleep(1); return (void *)3; }
";
    let (_folder, text) = explored(&(WORKERS.to_owned() + body));
    assert!(text.contains("livelock"), "{text}");
}

#[test]
fn waiting_takes_as_many_executions_as_in_the_interpreter() {
    let queue = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/programs/explored/queue.c");
    match compare(queue.to_str().expect("a plain name"), &[], LONG) {
        Compared::Same { same_count, .. } => assert!(same_count, "a spurious wake-up was followed twice"),
        Compared::No => panic!("one of them did not come to its end"),
        Compared::Different(why) => panic!("{why}"),
    }
}

#[test]
fn a_crash_is_told_where_it_happens() {
    for (line, word) in [
        ("pthread_mutex_lock(&m);\n *pointer = 1;\n pthread_mutex_unlock(&m);", "null pointer dereference"),
        ("pthread_mutex_lock(&m);\n zero = 10 / zero;\n pthread_mutex_unlock(&m);", "division by zero"),
    ] {
        let body = format!(
            "static int *volatile pointer; static volatile int zero;\n\
             static void *worker(void *argument) {{ {line} return (void *)3; }}"
        );
        let text = WORKERS.to_owned() + &body;
        let at = 1 + text
            .lines()
            .position(|line| line.starts_with(" *p") || line.starts_with(" zero"))
            .expect("it is there");
        let (_folder, said) = explored(&text);
        assert!(said.contains(word) && said.contains(&format!("program.c:{at}:")), "{at}: {said}");
    }
    let deep = "
static int deeper(volatile int n) { volatile char room[1000]; room[0] = (char)n; return deeper(n + 1) + room[0]; }
static void *worker(void *argument) { return (void *)(long)deeper(0); }
";
    let (_folder, said) = explored(&(WORKERS.to_owned() + deep));
    assert!(said.contains("stack overflow"), "{said}");
}

#[test]
fn what_is_done_before_main_holds_in_every_execution() {
    let body = "
#include <semaphore.h>
static sem_t one;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int ready;
static void prepare(void) { ready++; }
__attribute__((constructor)) static void early(void)
{
    sem_init(&one, 0, 1);
    pthread_once(&once, prepare);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
}
static void *worker(void *argument)
{
    pthread_once(&once, prepare);
    sem_wait(&one);
    if (ready != 1) abort();
    sem_post(&one);
    return (void *)3;
}
";
    let (_folder, text) = explored(&(WORKERS.to_owned() + body));
    assert!(text.contains("verdict: unknown; deadlocks: unknown"), "{text}");
    assert!(!text.contains("abort") && text.contains("executions"), "{text}");
    let body = "
static void *early(void *argument) { return argument; }
__attribute__((constructor)) static void begin(void)
{
    pthread_t t;
    if (pthread_create(&t, NULL, early, NULL) == 0) pthread_join(t, NULL);
}
static void *worker(void *argument) { return (void *)3; }
";
    let (_folder, text) = explored(&(WORKERS.to_owned() + body));
    assert!(text.contains("threads are started before main"), "{text}");
}

#[test]
fn programs_in_cpp_are_explored() {
    let text = "
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
static std::mutex m;
static std::condition_variable c;
static bool ready;
static int ended;
static std::map<std::string, int> table{{\"a\", 1}};
struct Own {
    int value = 7;
    ~Own() { std::lock_guard<std::mutex> guard(m); ended++; if (value != 8) abort(); }
};
static thread_local Own own;
static void work(int number)
{
    own.value++;
    try {
        std::unique_lock<std::mutex> lock(m);
        if (number == 1) c.wait(lock, [] { return ready; });
        else { ready = true; c.notify_one(); }
        table[\"a\"]++;
        throw std::runtime_error(std::to_string(number));
    } catch (const std::exception &e) {
        if (e.what() != std::to_string(number)) abort();
    }
    ENDS
}
int main()
{
    std::thread one(work, 1), two(work, 2);
    one.join();
    two.join();
    std::cout << table[\"a\"];
    if (table[\"a\"] != 3 || ended != 2) abort();
    return 0;
}
";
    let folder = tempfile::tempdir().expect("a folder");
    for (ends, aborts) in [("", false), ("throw 5;", true)] {
        std::fs::write(folder.path().join("program.cpp"), text.replace("ENDS", ends))
            .expect("it can be written");
        let built = raddle(folder.path(), &["c++", "-O1", "-g", "-pthread", "program.cpp", "-o", "program"]);
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let output = raddle(folder.path(), &["explore", "--native", "--format", "concise", "./program"]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("executions") && !said.contains(" 0 executions"), "{said}");
        assert_eq!(said.contains("abort"), aborts, "{said}");
    }
}

#[test]
fn what_one_process_cannot_do_is_said() {
    for (main, word) in [
        (
            "for (int i = 0; i < 70; i++) { pthread_create(&t, NULL, worker, NULL); pthread_join(t, NULL); }",
            "more than 64 threads",
        ),
        (
            "pthread_attr_setstacksize(&a, 64 << 20); pthread_create(&t, &a, worker, NULL); pthread_join(t, NULL);",
            "a stack of more than 8 MiB",
        ),
        ("pthread_create(&t, NULL, number, NULL); pthread_join(t, NULL);", "the system's number of a thread"),
    ] {
        let text = format!(
            "#include <pthread.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n\
             static void *worker(void *argument) {{ return argument; }}\n\
             static void *number(void *argument) {{ return (void *)syscall(SYS_gettid); }}\n\
             int main(void) {{ pthread_t t; pthread_attr_t a; pthread_attr_init(&a); {main} return 0; }}\n"
        );
        let (_folder, said) = explored(&text);
        assert!(said.contains("verdict: unknown") && said.contains(word), "{said}");
    }
}

#[test]
fn searches_that_look_into_states_need_the_interpreter() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("program.c"), "int main(void) { return 0; }")
        .expect("it can be written");
    let output = raddle(folder.path(), &["explore", "--native", "--search", "stateful", "program.c"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("needs the interpreter"), "{said}");
}
