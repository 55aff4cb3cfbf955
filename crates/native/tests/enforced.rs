//! Orders of recorded events, written by hand, on real programs: what is wanted is seen with its stacks, what does not fit is said.
//!
//! `RADDLE_CASE=part-of-a-name` runs some.

use raddle_event::ThreadId;
use raddle_finding::{Finding, RecordedEvent};
use raddle_ir::Program;
use raddle_native::cc::{self, Advice, Driver, OwnLock, Prune};
use raddle_native::enforce::{EnforceRequest, Enforced, Status, Target, Wanted};
use raddle_native::trace::{self, Detail, Recorded, read};
use raddle_native::{Afterwards, Around, End, Keep, RecordRequest, RunRequest, record};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;

struct Nothing;

impl Advice for Nothing {
    fn keep(&self, _: &Program, _: Prune) -> Option<Keep> {
        Some(Keep::All)
    }

    fn own_locks(&self) -> &[OwnLock] {
        &[]
    }
}

/// A program, its trace and the trace in words.
struct Case {
    recorded: Recorded,
    lines: Vec<RecordedEvent>,
    target: Target,
    _folder: TempDir,
}

impl Case {
    fn scenario(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/predict/scenarios");
        Self::of(&folder.join(format!("{name}.c")))
    }

    /// Recorded until it has the events of this order: sleeps make one course of a run likely, not certain.
    fn with(name: &str, order: &str) -> Self {
        let mut why = String::new();
        for _ in 0..10 {
            let case = Self::scenario(name);
            match case.order(order) {
                Ok(_) => return case,
                Err(error) => why = error,
            }
        }
        panic!("{name}: {why}");
    }

    fn own(name: &str) -> Self {
        Self::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/enforced/{name}.c")))
    }

    fn of(source: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program");
        let words = ["-O1", "-g", "-pthread", "--raddle-no-prune", "-o"].map(Into::into);
        let files = [program.clone().into(), source.into()];
        let built = cc::cc(Driver::C, words.into_iter().chain(files).collect(), &Nothing);
        assert_eq!(built.expect("it can be built"), 0);
        let trace = folder.path().join("trace");
        let time = Some(Duration::from_secs(5));
        let run = RunRequest {
            program: program.into(),
            arguments: Vec::new(),
            stdin: None,
            time,
            around: Around::default(),
            options: String::new(),
        };
        // What may deadlock does so now and then.
        let exits = || {
            let ran = record(&RecordRequest { run: run.clone(), trace: trace.clone() }).expect("it runs");
            matches!(ran.end, End::Exited(_))
        };
        assert!((0..5).any(|_| exits()), "{} does not end", source.display());
        let recorded = read(&trace, 100_000).expect("a trace");
        let (recording, _) = trace::tell(&trace, None, 100_000, Detail::Events).expect("a trace");
        let target = Target::of(&recorded, None).expect("the same program");
        Self { recorded, lines: recording.lines, target, _folder: folder }
    }

    /// `1>13`: the events of thread 1 up to and with its next synchronisation at line 13. `1<13`: up to before its next event there.
    /// `3$`: all that are left.
    /// After a bar what is wanted: `race 1@13 2@26`, by the next events of threads, `deadlock 1@14 2@25`, by their next synchronisation.
    fn order(&self, text: &str) -> Result<(Vec<usize>, Wanted), String> {
        let (order, wanted) = text.split_once('|').expect("an order and what it is for");
        let mut rest: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, event) in self.recorded.trace.events.iter().enumerate() {
            rest.entry(event.thread.0).or_default().push(at);
        }
        let mut chosen = Vec::new();
        let mut next = |word: &str, split: char, chosen: &mut Vec<usize>| -> Result<usize, String> {
            if let Some(thread) = word.strip_suffix('$') {
                let own = rest.remove(&thread.parse().expect("a number")).expect("the thread has events");
                chosen.extend(&own);
                return Ok(own[0]);
            }
            let (thread, line) = word.split_once(split).expect("a thread and a line");
            let [thread, line] = [thread, line].map(|text| text.parse::<u32>().expect("a number"));
            let own = rest.get_mut(&thread).expect("the thread has events");
            let is_it = |event: usize| {
                let synchronises = !matches!(self.lines[event].kind, "read" | "write" | "alloc");
                self.lines[event].at.as_ref().is_some_and(|at| at.line == line)
                    && (split == '<' || synchronises)
            };
            let found = own.iter().position(|event| is_it(*event));
            let found = found.ok_or_else(|| format!("thread {thread} does not come to line {line}"))?;
            chosen.extend(own.drain(..found));
            Ok(if split == '<' { own[0] } else { own.remove(0) })
        };
        for word in order.split_whitespace() {
            let split = if word.contains('>') { '>' } else { '<' };
            let event = next(word, split, &mut chosen)?;
            chosen.extend((split == '>').then_some(event));
        }
        let (kind, ends) = wanted.trim().split_once(' ').expect("what is wanted");
        let split = if kind == "race" { '<' } else { '>' };
        let ends = ends.replace('@', &split.to_string());
        let ends =
            ends.split(' ').map(|word| next(word, split, &mut chosen)).collect::<Result<Vec<_>, _>>()?;
        let wanted = match (kind, &ends[..]) {
            ("race", [one, other]) => Wanted::Race([*one, *other]),
            _ => Wanted::Deadlock(ends),
        };
        Ok((chosen, wanted))
    }

    fn enforce(&self, text: &str) -> Enforced {
        self.enforce_with(text, |_| ())
    }

    fn enforce_with(&self, text: &str, change: impl FnOnce(&mut EnforceRequest)) -> Enforced {
        let (order, wanted) = self.order(text).expect("it was recorded");
        self.enforce_order(&order, &wanted, change)
    }

    fn enforce_order(
        &self,
        order: &[usize],
        wanted: &Wanted,
        change: impl FnOnce(&mut EnforceRequest),
    ) -> Enforced {
        let mut request = EnforceRequest {
            arguments: Vec::new(),
            stdin: None,
            env: Vec::new(),
            around: Around::default(),
            plan: self.target.plan(&self.recorded, order, wanted).expect("it can be planned"),
            afterwards: Afterwards::GoesOn,
            time: Duration::from_secs(60),
            patience: Some(Duration::from_secs(20)),
            trace: None,
        };
        change(&mut request);
        let enforced = self.target.enforce(&request, &AtomicBool::new(false)).expect("it can be run");
        enforced.expect("nobody interrupts it")
    }
}

/// Line and function of each end, and how deep the stacks are known.
fn ends(finding: &Finding) -> Vec<(u32, String)> {
    let mut ends: Vec<_> =
        finding.accesses.iter().map(|access| (access.at.line, access.at.function.clone())).collect();
    ends.sort();
    ends
}

/// Which of the races is at these lines.
fn race_at(enforced: &Enforced, lines: [u32; 2]) -> Option<&Finding> {
    enforced.races.iter().find(|race| ends(race).iter().map(|end| end.0).eq(lines))
}

/// Scenario, order, and what is to be seen.
const SCENARIOS: [(&str, &str); 12] = [
    ("commute_write_write", "0>34 2<26 1<13 | race 1@13 2@26"),
    ("rwlock_order", "0>33 2<25 1<12 | race 1@12 2@25"),
    ("barrier_missing_round", "0>34 1>14 2>23 1<16 2<25 | race 1@16 2@25"),
    ("handover_refill", "0>43 1>15 2<32 1<20 | race 1@20 2@32"),
    ("broadcast_winner", "0>42 1>15 1>15 2>28 2>28 0>44 0>46 0>47 2<34 1<17 | race 1@17 2@34"),
    ("semaphore_two_permits", "0>33 2<23 1<14 | race 1@14 2@23"),
    ("trylock_ignored", "0>34 1<14 2<24 | race 1@14 2@24"),
    ("cycle_two", "0>36 1>13 2>24 | deadlock 1@14 2@25"),
    ("cycle_five", "0>35 0>35 0>35 0>35 0>35 1>22 2>22 3>22 4>22 5>22 | deadlock 1@23 2@23 3@23 4@23 5@23"),
    ("join_under_lock", "0>21 0>23 1<12 | deadlock 1@12 0@24"),
    ("wait_lost_signal", "0>34 2>26 1>14 1>14 | deadlock 1@14"),
    ("cycle_semaphores", "0>38 1>13 2>24 | deadlock 1@14 2@25"),
];

#[test]
fn errors_of_scenarios_are_reproduced() {
    let wanted = std::env::var("RADDLE_CASE").unwrap_or_default();
    for (name, order) in SCENARIOS.into_iter().filter(|(name, _)| name.contains(&wanted)) {
        let case = Case::with(name, order);
        for _ in 0..3 {
            let enforced = case.enforce(order);
            println!("{name}: {:.3} s", enforced.seconds);
            assert_eq!(enforced.status, Status::Followed, "{name}: {enforced:#?}");
            assert!(enforced.reproduced, "{name}: {enforced:#?}");
            let mut lines: Vec<u32> = order
                .split('@')
                .skip(1)
                .map(|word| word.split(' ').next().unwrap().parse().unwrap())
                .collect();
            lines.sort_unstable();
            if order.contains("| race") {
                let race = race_at(&enforced, [lines[0], lines[1]]);
                let race = race.unwrap_or_else(|| panic!("{name}: {enforced:#?}"));
                assert!(race.accesses.iter().all(|access| access.thread.name.contains('(')), "{race:#?}");
                assert!(race.accesses.iter().all(|access| !access.thread.created.is_empty()), "{race:#?}");
                assert_eq!(enforced.deadlock, None);
                assert!(matches!(enforced.end, End::Exited(_)));
            } else {
                let deadlock = enforced.deadlock.as_ref().expect("it is reproduced");
                let found: Vec<u32> = ends(deadlock).into_iter().map(|end| end.0).collect();
                assert!(lines.iter().all(|line| found.contains(line)), "{name}: {deadlock:#?}");
                let holds = deadlock.accesses.iter().filter(|access| !access.locks.is_empty()).count();
                match name {
                    "wait_lost_signal" | "cycle_semaphores" => assert_eq!(holds, 0),
                    // The worker has none yet.
                    "join_under_lock" => assert_eq!((holds, found.len()), (1, 2), "{deadlock:#?}"),
                    _ => assert_eq!((holds, found.len()), (lines.len(), lines.len()), "{deadlock:#?}"),
                }
            }
        }
    }
}

/// The program goes on after what is wanted, and whatever else races in this run is reported; or it ends at once.
#[test]
fn all_races_of_the_run_are_reported() {
    let order = "0>28 1<12 2<19 | race 1@12 2@19";
    let case = Case::with("race_behind_race", order);
    let enforced = case.enforce(order);
    assert!(enforced.reproduced && race_at(&enforced, [12, 19]).is_some(), "{enforced:#?}");
    assert!(race_at(&enforced, [11, 20]).is_some(), "{enforced:#?}");
    let ended = case.enforce_with(order, |request| request.afterwards = Afterwards::Ends);
    assert!(ended.reproduced && race_at(&ended, [12, 19]).is_some(), "{ended:#?}");
    assert_eq!(race_at(&ended, [11, 20]), None, "{ended:#?}");
}

/// Every run can be made again: the order in which its events were recorded is followed to its end. All scenarios under `RADDLE_SOAK=1`.
#[test]
fn recorded_orders_are_followed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/predict/scenarios");
    let entries = std::fs::read_dir(folder).expect("scenarios").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "c")).collect();
    files.sort();
    // Waits of the system, and order through descriptors.
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/descriptors");
    let step = if std::env::var_os("RADDLE_SOAK").is_some() { 1 } else { 4 };
    let mut files: Vec<PathBuf> = files.into_iter().step_by(step).collect();
    files.extend(["poll_hand_over_safe", "eventfd_safe"].map(|name| fixtures.join(format!("{name}.c"))));
    let wanted = std::env::var("RADDLE_CASE").unwrap_or_default();
    files.retain(|file| file.to_string_lossy().contains(&wanted));
    let mut seconds = 0.0;
    for file in &files {
        let case = Case::of(file);
        let order: Vec<usize> = (0..case.recorded.trace.events.len()).collect();
        let enforced = case.enforce_order(&order, &Wanted::Deadlock(Vec::new()), |_| ());
        assert_eq!(enforced.status, Status::Followed, "{}: {enforced:#?}", file.display());
        assert!(enforced.gaps.is_empty() && matches!(enforced.end, End::Exited(_)), "{enforced:#?}");
        seconds += enforced.seconds;
    }
    println!("{} programs, {seconds:.3} s", files.len());
}

/// What leaves no event passes: locks taken again, tries of semaphores and joins that fail, atomics that are no news, sleeps.
#[test]
fn what_the_trace_lacks_passes() {
    let case = Case::own("silent");
    let enforced = case.enforce("0>75 2>54 3$ 2<59 1<27 | race 1@27 2@59");
    assert_eq!(enforced.status, Status::Followed, "{enforced:#?}");
    assert!(enforced.reproduced && race_at(&enforced, [27, 59]).is_some(), "{enforced:#?}");
}

/// A loop that waits for what the order has not: said in time.
#[test]
fn a_loop_that_passes_for_ever_is_a_divergence() {
    let case = Case::own("silent");
    let order = "0>75 2<59 1<27 | race 1@27 2@59";
    let enforced = case.enforce_with(order, |request| request.patience = Some(Duration::from_secs(1)));
    let Status::Diverged { why, .. } = &enforced.status else { panic!("{enforced:#?}") };
    assert!(why.contains("pthread_tryjoin_np") && why.contains("nothing happened for too long"), "{why}");
}

/// Two threads block each other; main would wait for input for ever.
#[test]
fn a_deadlock_of_some_threads_is_seen_while_others_go_on() {
    let case = Case::own("server");
    for main in ["", "read"] {
        let enforced = case.enforce_with("0>48 1>17 2>29 | deadlock 1@18 2@30", |request| {
            request.arguments = vec![main.to_owned()];
        });
        println!("{main}: {:.3} s", enforced.seconds);
        assert!(enforced.reproduced, "{enforced:#?}");
        let deadlock = enforced.deadlock.expect("it is reproduced");
        assert_eq!(ends(&deadlock), [(18, "first".to_owned()), (30, "second".to_owned())]);
        let held: Vec<(&str, u32)> = deadlock
            .accesses
            .iter()
            .map(|access| (access.locks[0].name.as_str(), access.locks[0].acquired[0].line))
            .collect();
        assert_eq!(held, [("a", 17), ("b", 29)], "{deadlock:#?}");
        // Long before the patience is over.
        assert!(enforced.seconds < 8.0, "{}", enforced.seconds);
    }
}

/// Threads are numbered as they are created in the enforced order.
#[test]
fn threads_may_be_created_in_another_order() {
    let case = Case::own("makers");
    let enforced = case.enforce("0>33 2>21 1>21 3<10 4<10 | race 3@10 4@10");
    assert_eq!(enforced.status, Status::Followed, "{enforced:#?}");
    assert!(enforced.reproduced, "{enforced:#?}");
}

/// The atomics of a hand-over by flags come in their order, however often they were made.
#[test]
fn atomics_keep_their_order() {
    let case = Case::own("flags");
    let enforced = case.enforce("0>39 1<15 2<26 | race 1@15 2@26");
    assert_eq!(enforced.status, Status::Followed, "{enforced:#?}");
    assert!(enforced.reproduced, "{enforced:#?}");
}

/// The same lock at once in two threads, a thread that was not created, an event that is not there.
#[test]
fn what_cannot_be_followed_is_said() {
    let case = Case::scenario("cycle_two");
    let enforced = case.enforce("0>36 1>13 1>14 2>24 | deadlock 2@25");
    let Status::Diverged { step, why, .. } = &enforced.status else { panic!("{enforced:#?}") };
    assert!(*step == 7 && !enforced.reproduced, "{enforced:#?}");
    assert!(
        why.contains("step 8 of 8 is T2: pthread_mutex_lock of b at ")
            && why.contains("not possible in this way now"),
        "{why}"
    );
    let thread = |thread| self::first(&case.recorded, thread);
    let plan = |order: &[usize]| case.target.plan(&case.recorded, order, &Wanted::Deadlock(Vec::new()));
    assert!(plan(&[thread(1)]).is_err_and(|why| why.contains("T1 is not created before it")));
    assert!(plan(&[usize::MAX]).is_err_and(|why| why.contains("is not in the trace")));
}

fn first(recorded: &Recorded, thread: u32) -> usize {
    let found = recorded.trace.events.iter().position(|event| event.thread == ThreadId(thread));
    found.expect("it has events")
}

/// What a trace says of reads that decide and of those that only pass on what they read.
#[test]
fn reads_that_decide_are_known() {
    for (name, reads) in [
        ("commute_value_unused", [("read", 24, false), ("write", 14, false)]),
        ("commute_branch", [("read", 24, true), ("write", 14, false)]),
    ] {
        let case = Case::scenario(name);
        let deciding = case.target.deciding(&case.recorded).expect("no libraries");
        for (kind, line, decides) in reads {
            let at =
                |one: &RecordedEvent| one.kind == kind && one.at.as_ref().is_some_and(|at| at.line == line);
            let event = case.lines.iter().position(at).unwrap_or_else(|| panic!("{name}: {kind} {line}"));
            assert_eq!(deciding.contains(&case.recorded.trace.events[event].site), decides, "{name} {line}");
        }
    }
    let case = Case::scenario("handover_refill");
    let updating = case.target.updating();
    let at = |line| {
        case.lines
            .iter()
            .position(|one| one.kind == "write" && one.at.as_ref().is_some_and(|at| at.line == line))
    };
    for (line, updates) in [(18, true), (12, false)] {
        let event = at(line).expect("the program comes there");
        assert_eq!(updating.contains(&case.recorded.trace.events[event].site), updates, "{line}");
    }
}

#[test]
fn another_program_is_refused() {
    let case = Case::scenario("cycle_two");
    let other = Target::of(&case.recorded, Some(&PathBuf::from("/bin/true")));
    assert!(other.is_err_and(|error| error.to_string().contains("is not the program that was recorded")));
}
