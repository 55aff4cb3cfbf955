//! Results of functions that do nothing else. Where a standard leaves the result open, the static analysis must take the branch that one
//! value would make dead. Where the table says that a standard fixes it, native runs in several environments may refute that.

use raddle_libmodel::{Answer, Effect, rows};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

/// Calls of all functions whose result is open and that do nothing else.
const CALLS: &[(&str, &str)] = &[
    ("pthread_setconcurrency", "pthread_setconcurrency(1)"),
    ("pthread_getconcurrency", "pthread_getconcurrency()"),
    ("pthread_setschedprio", "pthread_setschedprio(pthread_self(), 0)"),
    ("pthread_atfork", "pthread_atfork(0, 0, 0)"),
    ("sem_close", "sem_close(&semaphore)"),
    ("srcu_read_lock", "srcu_read_lock(&semaphore)"),
    ("fsync", "fsync(1)"),
    ("fdatasync", "fdatasync(1)"),
    ("fchmod", "fchmod(1, 0600)"),
    ("fchown", "fchown(1, 0, 0)"),
    ("posix_fadvise", "posix_fadvise(1, 0, 0, 0)"),
    ("flock", "flock(1, 8)"),
    ("lockf", "lockf(1, 3, 0)"),
    ("umask", "umask(022)"),
    ("mprotect", "mprotect(0, 0, 0)"),
    ("madvise", "madvise(0, 0, 0)"),
    ("posix_madvise", "posix_madvise(0, 0, 0)"),
    ("mlock", "mlock(0, 0)"),
    ("munlock", "munlock(0, 0)"),
    ("mlockall", "mlockall(1)"),
    ("munlockall", "munlockall()"),
    ("sched_get_priority_max", "sched_get_priority_max(1)"),
    ("sched_get_priority_min", "sched_get_priority_min(1)"),
    ("nice", "nice(0)"),
    ("setpriority", "setpriority(0, 0, 0)"),
    ("setuid", "setuid(0)"),
    ("setgid", "setgid(0)"),
    ("seteuid", "seteuid(0)"),
    ("setegid", "setegid(0)"),
    ("setpgid", "setpgid(0, 0)"),
    ("mallopt", "mallopt(1, 1)"),
    ("malloc_trim", "malloc_trim(0)"),
    ("setlogmask", "setlogmask(0)"),
    ("signal", "(long)signal(1, (__sighandler_t)1)"),
    ("bsd_signal", "(long)bsd_signal(1, (__sighandler_t)1)"),
    ("sysv_signal", "(long)sysv_signal(1, (__sighandler_t)1)"),
    ("__sysv_signal", "(long)__sysv_signal(1, (__sighandler_t)1)"),
    ("siginterrupt", "siginterrupt(1, 1)"),
    ("alarm", "alarm(0)"),
    ("ualarm", "ualarm(0, 0)"),
    // These touch memory, too; their results were taken for 0 once.
    ("chmod", "chmod(\"/nowhere\", 0)"),
    ("setvbuf", "setvbuf(stdout, 0, 2, 0)"),
    ("textdomain", "(long)textdomain(0)"),
    ("bindtextdomain", "(long)bindtextdomain(\"a\", 0)"),
    ("setrlimit", "setrlimit(0, 0)"),
    ("pthread_setname_np", "pthread_setname_np(pthread_self(), \"a\")"),
    ("pthread_setschedparam", "pthread_setschedparam(pthread_self(), 0, 0)"),
    ("sem_unlink", "sem_unlink(\"/a\")"),
];

#[test]
fn open_results_have_a_case() {
    let open: BTreeSet<&str> = rows()
        .filter(|row| matches!(row.effect, Effect::Nothing { result: Answer::Open(_) }))
        .map(|row| row.name)
        .collect();
    let tried: BTreeSet<&str> = CALLS.iter().map(|(name, _)| *name).collect();
    let missing: Vec<_> = open.difference(&tried).collect();
    assert!(missing.is_empty(), "add a call of {missing:?}");
}

#[test]
fn open_results_keep_both_branches() {
    let mut text = "#define _GNU_SOURCE\n#include <libintl.h>\n#include <malloc.h>\n#include <pthread.h>\n\
                    #include <sched.h>\n#include <semaphore.h>\n#include <signal.h>\n#include <stdio.h>\n\
                    #include <stdlib.h>\n#include <sys/file.h>\n#include <sys/mman.h>\n#include <sys/resource.h>\n\
                    #include <sys/stat.h>\n#include <syslog.h>\n#include <unistd.h>\n#include <fcntl.h>\n\
                    static sem_t semaphore;\nint srcu_read_lock(void *);\n\
                    __sighandler_t bsd_signal(int, __sighandler_t);\n__sighandler_t __sysv_signal(int, __sighandler_t);\n"
        .to_owned();
    for (number, (name, _)) in CALLS.iter().enumerate() {
        writeln!(text, "static int is_{number}, not_{number}; /* {name} */").expect("a string");
    }
    text.push_str("static void *worker(void *unused) {\n");
    for (number, (name, call)) in CALLS.iter().enumerate() {
        let explored = if *name == "mallopt" { 1 } else { 0 };
        writeln!(text, "if ({call} == {explored}) is_{number}++; else not_{number}++;").expect("a string");
    }
    text.push_str(
        "return unused;\n}\nint main(void) {\npthread_t a, b;\npthread_create(&a, 0, worker, 0);\n\
         pthread_create(&b, 0, worker, 0);\npthread_join(a, 0);\npthread_join(b, 0);\nreturn 0;\n}\n",
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("results.c"), &text).expect("writable");
    let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["static", "--format", "json", "--cflags", "-w", "results.c"])
        .current_dir(folder.path())
        .output()
        .expect("raddle runs");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let variables: BTreeSet<&str> = report["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter_map(|finding| finding["variable"].as_str())
        .collect();
    let dead: Vec<&str> = CALLS
        .iter()
        .enumerate()
        .filter(|(number, _)| {
            let (is, not) = (format!("is_{number}"), format!("not_{number}"));
            !variables.contains(is.as_str()) || !variables.contains(not.as_str())
        })
        .map(|(_, (name, _))| *name)
        .collect();
    assert!(dead.is_empty(), "one branch is dead for the analysis: {dead:?}");
}

/// What `fixed_result` says, by name; a second return of `setjmp` needs `longjmp`.
#[test]
fn fixed_results_hold_in_several_environments() {
    let text = "#include <fenv.h>\n#include <setjmp.h>\nstatic jmp_buf one; static sigjmp_buf two;\n\
                int main(void) { return fegetround() != 0 || setjmp(one) != 0 || _setjmp(one) != 0 \
                || sigsetjmp(two, 0) != 0 || sigsetjmp(two, 1) != 0; }\n";
    let folder = tempfile::tempdir().expect("a folder");
    let (source, built) = (folder.path().join("fixed.c"), folder.path().join("fixed"));
    std::fs::write(&source, text).expect("writable");
    let compiled = Command::new("clang-19").arg(&source).arg("-o").arg(&built).arg("-lm").status();
    assert!(compiled.expect("clang-19 runs").success());
    let program = built.to_str().expect("a plain name");
    for environment in [
        vec!["env", "-i", program],
        vec!["env", "LC_ALL=de_DE.UTF-8", "MALLOC_PERTURB_=165", program],
        vec!["nice", "-n", "5", program],
        vec!["sh", "-c", "ulimit -s 256; exec \"$0\"", program],
    ] {
        let status = Command::new(environment[0]).args(&environment[1..]).status().expect("it runs");
        assert!(status.success(), "{environment:?}");
    }
}
