//! `xtask soak`: every test of the workspace with `RADDLE_SOAK=1`, each in a process of its own with a share of the time, and the mutants.
//!
//! What is done is kept in `docs/benchmarks/soak.jsonl` and not done again at the same commit, or at one that the caller names: a table
//! that was written, or a change that concerns other parts. A property that does not come to its full count within its share
//! stops and says how far it came; a test that does not stop is killed, and the table says so. With less time than all shares together,
//! the long parts get less, each in proportion, and a later call with more time repeats those that were cut.

mod outcome;
mod parts;
mod shares;
mod table;

use outcome::{End, Outcome, Ran, State};
use parts::Part;
use raddle_testkit::soak::used;
use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub struct Request {
    /// Of the whole soak; shares shrink so that every part gets some of it.
    pub time: Duration,
    /// Parts at once.
    pub jobs: usize,
    /// Only parts whose name has one of these words; with none, all.
    pub only: Vec<String>,
    /// Only tests of these packages, without the mutants; with none, everything.
    pub packages: Vec<String>,
    /// Of cargo.
    pub profile: String,
    /// Parts that were done at one of these commits are done, too.
    pub accepted: Vec<String>,
    /// Print the parts with their shares, run nothing.
    pub list: bool,
    /// Write `docs/benchmarks/soak.md`.
    pub write: bool,
}

/// `Ok(false)`: something failed.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let folder = crate::tool::target(root).join("soak");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let commit = crate::tool::commit(root);
    let mut parts = parts::all(root, &request.packages, &request.profile)?;
    if !request.only.is_empty() {
        parts.retain(|part| request.only.iter().any(|word| part.name().contains(word.as_str())));
    }
    // The long ones last: they share the time that the others leave.
    parts.sort_by_key(|part| (part.is_long(), std::cmp::Reverse(part.share), part.name()));
    if request.list {
        parts.iter().for_each(|part| println!("{:6} s  {}", part.share.as_secs(), part.name()));
        let total: Duration = parts.iter().map(|part| part.share).sum();
        println!("{} parts, at most {:.1} hours of one core", parts.len(), total.as_secs_f64() / 3600.0);
        return Ok(true);
    }
    let state = Mutex::new(State::read(&root.join("docs/benchmarks/soak.jsonl"))?);
    let all: Vec<String> = parts.iter().map(Part::name).collect();
    let commits: Vec<&str> = request.accepted.iter().map(String::as_str).chain([commit.as_str()]).collect();
    let known = |part: &Part| {
        let state = state.lock();
        state.is_ok_and(|state| {
            state.done(&part.name(), &commits).is_some_and(|outcome| is_final(outcome, part))
        })
    };
    parts.retain(|part| !known(part));
    eprintln!("soak: {} of {} parts are left at {commit}", parts.len(), all.len());
    let end = Instant::now() + request.time;
    let queue = Mutex::new(Queue::new(parts, request.jobs.max(1)));
    let work = || -> Result<(), String> {
        loop {
            let next = queue.lock().map_err(|error| error.to_string())?.next(end - Instant::now().min(end));
            let Some((part, share)) = next else { return Ok(()) };
            if share < LEAST.min(part.share) {
                // Not recorded: the next call goes on here.
                continue;
            }
            let outcome = run_part(&part, share, &folder, &commit)?;
            eprintln!("soak: {}", outcome.line());
            state.lock().map_err(|error| error.to_string())?.add(outcome)?;
        }
    };
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..request.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let ended = |worker: std::thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|_| Err("a worker panicked".to_owned()))
        };
        workers.into_iter().map(ended).collect()
    });
    results.into_iter().collect::<Result<(), String>>()?;
    let state = state.into_inner().map_err(|error| error.to_string())?;
    let outcomes: Vec<&Outcome> = all.iter().filter_map(|name| state.done(name, &commits)).collect();
    let page = table::page(&outcomes, all.len());
    println!("{page}");
    if request.write {
        table::write(root, &page)?;
    }
    Ok(outcomes.len() == all.len() && outcomes.iter().all(|outcome| outcome.end == End::Passed))
}

/// Less time says nothing.
const LEAST: Duration = Duration::from_secs(10);

/// More time would not add to it.
fn is_final(outcome: &Outcome, part: &Part) -> bool {
    !table::is_cut(outcome) || outcome.share >= part.share.as_secs_f64()
}

/// The parts that have not begun.
struct Queue {
    parts: VecDeque<Part>,
    jobs: usize,
}

impl Queue {
    fn new(parts: Vec<Part>, jobs: usize) -> Queue {
        Queue { parts: parts.into(), jobs }
    }

    /// The next part with its share of the time that is left: all that it may have, or of a long one as much less as all long ones are to get.
    fn next(&mut self, left: Duration) -> Option<(Part, Duration)> {
        let waiting: Duration = self.parts.iter().filter(|part| part.is_long()).map(|part| part.share).sum();
        let part = self.parts.pop_front()?;
        let share = if part.is_long() {
            let scale = left.as_secs_f64() * self.jobs as f64 / waiting.as_secs_f64();
            part.share.mul_f64(scale.min(1.0))
        } else {
            part.share.min(left)
        };
        Some((part, share))
    }
}

/// Beyond its share, for the case at hand and the end of the test.
const GRACE: Duration = Duration::from_secs(120);

fn run_part(part: &Part, share: Duration, folder: &Path, commit: &str) -> Result<Outcome, String> {
    let log: PathBuf = folder.join(part.name().replace(['/', ':', ' '], "_") + ".log");
    let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let errors = file.try_clone().map_err(|error| error.to_string())?;
    let mut command = Command::new(&part.executable);
    command.args(&part.arguments).current_dir(&part.folder).envs(part.variables.iter().cloned());
    command.env("RADDLE_SOAK", "1").env("RADDLE_JOBS", "1");
    command.env("RADDLE_SOAK_SECONDS", share.as_secs().to_string());
    command.stdin(Stdio::null()).stdout(file).stderr(errors);
    let began = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", part.executable.display()))?;
    let end = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => break End::Passed,
            Some(_) => break End::Failed,
            None if used(child.id(), began.elapsed()) > share + GRACE => {
                let _ = child.kill();
                let _ = child.wait();
                break End::Killed;
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let said = std::fs::read(&log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let said = said.map_err(|error| format!("{}: {error}", log.display()))?;
    let ran = Ran { end, seconds: began.elapsed().as_secs_f64(), share: share.as_secs_f64() };
    Ok(Outcome::new(part.name(), commit.to_owned(), ran, &said))
}

#[cfg(test)]
mod tests {
    use super::{Part, Queue};
    use std::time::Duration;

    fn part(seconds: u64) -> Part {
        Part::new("group", "test", Duration::from_secs(seconds))
    }

    #[test]
    fn long_parts_share_what_the_others_leave() {
        let mut queue = Queue::new(vec![part(240), part(600), part(400)], 2);
        let seconds = |next: Option<(Part, Duration)>| next.map(|(_, share)| share.as_secs());
        assert_eq!(seconds(queue.next(Duration::from_secs(300))), Some(240));
        // 1,000 seconds are asked for, two jobs have 500.
        assert_eq!(seconds(queue.next(Duration::from_secs(250))), Some(300));
        // The one before ended early.
        assert_eq!(seconds(queue.next(Duration::from_secs(240))), Some(400));
        assert_eq!(seconds(queue.next(Duration::from_secs(240))), None);
    }
}
