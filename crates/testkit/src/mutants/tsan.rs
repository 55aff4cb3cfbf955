//! Native runs of a mutant under ThreadSanitizer, and under AddressSanitizer where it reports something.
//!
//! ThreadSanitizer does not know fences, functions that are locks by a configuration alone, functions that are atomic by their name, the order
//! that `poll` and its like and the end of a pipe give (A-DESCRIPTOR), robust mutexes whose owner ended, and that a barrier may be destroyed
//! after its round; texts with these are not run, whatever else is in them. That it reports nothing means nothing.

use super::Mutant;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What the runs showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// Why they mean nothing.
    NotRun(&'static str),
    Quiet,
    /// The first report.
    Race(String),
}

pub(super) struct Sanitizer {
    /// The object file of `noise.c`.
    noise: PathBuf,
    runs: u32,
}

const CLANG: &str = "clang-19";

/// Functions that `noise.c` stands before.
const WRAPPED: [&str; 31] = [
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "pthread_spin_lock",
    "pthread_spin_unlock",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "sem_post",
    "sem_wait",
    "pthread_join",
    "pthread_create",
    "mtx_init",
    "mtx_lock",
    "mtx_trylock",
    "mtx_timedlock",
    "mtx_unlock",
    "mtx_destroy",
    "cnd_init",
    "cnd_signal",
    "cnd_broadcast",
    "cnd_wait",
    "cnd_timedwait",
    "cnd_destroy",
    "call_once",
    "thrd_create",
    "thrd_join",
    "thrd_detach",
    "thrd_exit",
];

impl Sanitizer {
    pub(super) fn new(folder: &Path, runs: u32) -> Result<Sanitizer, String> {
        let (source, noise) = (folder.join("noise.c"), folder.join("noise.o"));
        std::fs::write(&source, include_str!("noise.c")).map_err(|error| error.to_string())?;
        let output = Command::new(CLANG).args(["-O1", "-c", "-o"]).arg(&noise).arg(&source).output();
        let output = output.map_err(|error| format!("{CLANG}: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(Sanitizer { noise, runs })
    }

    /// The mutant stands in `folder` as `mutant.c`.
    pub(super) fn run(&self, mutant: &Mutant<'_>, folder: &Path) -> Runs {
        if mutant.original.is_32_bit {
            return Runs::NotRun("32-bit");
        }
        if mutant.original.config.is_some() {
            return Runs::NotRun("locks by configuration");
        }
        if ["_fence", "__sync_synchronize"].iter().any(|word| mutant.text.contains(word)) {
            return Runs::NotRun("fences");
        }
        if mutant.text.contains("__VERIFIER_atomic") {
            return Runs::NotRun("atomic by name");
        }
        if ["poll(", "select(", "epoll_wait("].iter().any(|call| mutant.text.contains(call)) {
            return Runs::NotRun("order by readiness");
        }
        let has = |words: [&str; 2]| words.iter().all(|word| mutant.text.contains(word));
        if has(["pipe(", "close("]) {
            return Runs::NotRun("order by the end of a stream");
        }
        // It takes the end of a wait for a use, which glibc's pthread_barrier_destroy waits for.
        if has(["PTHREAD_BARRIER_SERIAL_THREAD", "pthread_barrier_destroy"]) {
            return Runs::NotRun("barriers destroyed after their round");
        }
        if mutant.text.contains("PTHREAD_MUTEX_ROBUST") {
            return Runs::NotRun("robust mutexes");
        }
        let wraps = WRAPPED.map(|name| format!("-Wl,--wrap={name}"));
        let extra = ["-fsanitize=thread".to_owned(), self.noise.display().to_string()];
        let program = folder.join("tsan");
        if !compile(mutant, folder, &program, extra.into_iter().chain(wraps)) {
            return Runs::NotRun("not linked");
        }
        // Threads that are there before `noise.c` forks would be missing in its children.
        let (processes, runs) =
            if mutant.text.contains("preinit_array") { (self.runs, 0) } else { (1, self.runs) };
        let log = folder.join("tsan.txt");
        for _ in 0..processes {
            let mut command = native(&program, mutant, folder);
            command.env("TSAN_OPTIONS", TSAN_OPTIONS).env("RADDLE_RUNS", runs.to_string());
            limited(&mut command, &log, LIMIT * runs.max(1));
            let text = std::fs::read(&log).map(|text| String::from_utf8_lossy(&text).into_owned());
            let text = text.unwrap_or_default();
            if let Some(at) = text.find("WARNING: ThreadSanitizer: data race") {
                return Runs::Race(text[at..].to_owned());
            }
        }
        Runs::Quiet
    }

    /// What AddressSanitizer and the checks for undefined behaviour say: such a program is outside of what an answer promises.
    pub(super) fn undefined_behaviour(&self, mutant: &Mutant<'_>, folder: &Path) -> Option<String> {
        let program = folder.join("asan");
        let flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"].map(str::to_owned);
        if !compile(mutant, folder, &program, flags) {
            return None;
        }
        (0..5).find_map(|_| {
            let log = folder.join("asan.txt");
            let mut command = native(&program, mutant, folder);
            command.env("ASAN_OPTIONS", "detect_leaks=0:hard_rss_limit_mb=2500");
            limited(&mut command, &log, LIMIT);
            let text = std::fs::read(&log).map(|text| String::from_utf8_lossy(&text).into_owned()).ok()?;
            text.lines()
                .find(|line| line.contains("ERROR: AddressSanitizer") || line.contains("runtime error:"))
                .map(str::to_owned)
        })
    }
}

/// Of one run.
const LIMIT: Duration = Duration::from_secs(3);

const TSAN_OPTIONS: &str = "halt_on_error=1:exitcode=66:report_thread_leaks=0:report_mutex_bugs=0:report_signal_unsafe=0:\
    report_destroy_locked=0:detect_deadlocks=0:hard_rss_limit_mb=2500:atexit_sleep_ms=100";

pub(super) fn is_c(mutant: &Mutant<'_>, folder: &Path) -> bool {
    let width = if mutant.original.is_32_bit { "-m32" } else { "-m64" };
    let mut command = clang(mutant, folder);
    command.args(["-fsyntax-only", width]);
    command.status().is_ok_and(|status| status.success())
}

fn clang(mutant: &Mutant<'_>, folder: &Path) -> Command {
    let mut command = Command::new(CLANG);
    command
        .args(&mutant.cflags)
        .arg("-w")
        .arg("-I")
        .arg(&mutant.original.folder)
        .arg(folder.join("mutant.c"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn compile(
    mutant: &Mutant<'_>,
    folder: &Path,
    program: &Path,
    flags: impl IntoIterator<Item = String>,
) -> bool {
    let mut command = clang(mutant, folder);
    command.args(["-g", "-O1", "-pthread"]).args(flags).arg("-o").arg(program);
    command.status().is_ok_and(|status| status.success())
}

fn native(program: &Path, mutant: &Mutant<'_>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(&mutant.original.args).current_dir(folder);
    let input = File::open(folder.join("stdin.txt"));
    command.stdin(input.map_or_else(|_| Stdio::null(), Stdio::from));
    command
}

/// Runs it with both outputs in `log`, at most this long; `None`: it was killed.
pub(super) fn limited(command: &mut Command, log: &Path, limit: Duration) -> Option<ExitStatus> {
    let file = File::create(log).ok()?;
    let mut child = command.stdout(Stdio::null()).stderr(file).spawn().ok()?;
    let began = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if began.elapsed() < limit => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}
