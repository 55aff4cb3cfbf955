//! What is said to be held is held: programs run on the interpreter under random schedules, as they are and expanded, and before every
//! access the locks of globals that the facts name must be held, in that mode, with their histories behind them. Of a lock that the
//! program builds from a word no event tells; that two threads are said to hold it at once is noticed.
//!
//! `RADDLE_SOAK=1` runs all fixtures and more programs, `RADDLE_PROGRAM=seed` one.

use crate::{Solved, solve_all};
use raddle_absint::Roots;
use raddle_absint::specialise::{self, Budget};
use raddle_config::Config;
use raddle_event::{Addr, Choice, Event, EventKind, LockMode, ThreadId};
use raddle_facts::{ATOMIC_SECTION, HeldLock, LockMode as Mode, ObjectKind as FactKind, Root, Term};
use raddle_frontend::{Request, load};
use raddle_interp::{Interp, Options};
use raddle_ir::{Code, FunctionId, GlobalId, Program, SiteId, expand};
use raddle_libmodel::Models;
use raddle_machine::{Machine, ObjectKind, Status, TraceSink};
use raddle_testkit::programs::{Profile, batch, generate, prefix, slice};
use raddle_testkit::random::Random;
use raddle_testkit::soak;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Counts that show that something was looked at.
#[derive(Default)]
struct Tally {
    points: u64,
    holds: u64,
    histories: u64,
}

#[test]
fn held_in_random_programs() {
    let mut tally = Tally::default();
    let seeds: Vec<u64> = match std::env::var("RADDLE_PROGRAM") {
        Ok(seed) => vec![seed.parse().expect("a seed")],
        Err(_) => soak::seeds(120, 20_000).collect(),
    };
    // Locks that are destroyed in use are taken out of these facts later.
    let profile = Profile { destroyed: 0, ..Profile::default() };
    let folder = tempfile::tempdir().expect("a folder for C files");
    let mut done = 0;
    for chunk in seeds.chunks(120) {
        if soak::is_over() {
            break;
        }
        done += chunk.len() as u64;
        let samples: Vec<_> = chunk.iter().map(|seed| generate(*seed, &profile)).collect();
        let file = folder.path().join("programs.c");
        std::fs::write(&file, batch(&samples)).expect("writable");
        let whole = lowered(&file).expect("C");
        for (index, sample) in samples.iter().enumerate() {
            let program = slice(&whole, &prefix(index)).expect("it has a main");
            let models = Models::resolve(&program, &Config::default());
            if let Err(wrong) = both(&program, &models, sample.seed, &mut tally) {
                panic!("seed {}: {wrong}\n{}", sample.seed, sample.source.text());
            }
        }
    }
    soak::report("held locks of random programs", done, seeds.len() as u64, 0);
    if seeds.len() > 1 {
        let Tally { points, holds, histories } = tally;
        assert!(holds > 2_000 && histories > 20, "{points} points, {holds} holds, {histories} histories");
    }
}

#[test]
fn held_in_the_fixtures() {
    let mut tally = Tally::default();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = c_files(&root.join("../../tests/fixtures"));
    files.extend(c_files(&root.join("tests/locks")));
    let every = if soak::is_on() { 1 } else { 5 };
    for (number, file) in files.iter().enumerate().step_by(every) {
        let Ok(program) = lowered(file) else { continue };
        // That a handler's code runs when a thread exits is a gap of the analysis.
        let unwinds = program.function_by_symbol("__pthread_register_cancel").is_some();
        if unwinds || program.function_by_symbol("main").is_none() {
            continue;
        }
        let models = Models::resolve(&program, &Config::default());
        if let Err(wrong) = both(&program, &models, number as u64, &mut tally) {
            panic!("{}: {wrong}", file.display());
        }
    }
    let Tally { points, holds, histories } = tally;
    assert!(holds > 500 && histories > 10, "{points} points, {holds} holds, {histories} histories");
}

fn lowered(file: &Path) -> Result<Program, String> {
    let request = Request { inputs: vec![file.to_path_buf()], ..Request::default() };
    load(&request).map(|loaded| loaded.program).map_err(|error| error.to_string())
}

fn c_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(c_files(&path));
        } else if path.extension().is_some_and(|e| e == "c") {
            found.push(path);
        }
    }
    found
}

/// The program as it is, and expanded.
fn both(program: &Program, models: &Models, seed: u64, tally: &mut Tally) -> Result<(), String> {
    run(&solve_all(program.clone(), models.clone()), seed, tally)?;
    let starts: Vec<FunctionId> = Roots::of(program, Vec::new()).all().collect();
    let recipe = specialise::recipe(program, models, &starts, Budget::default());
    let expanded = expand::apply(program, &recipe).map_err(|error| format!("{error:?}"))?;
    if expanded.program.sites.len() > 20_000 {
        return Ok(());
    }
    let models = models.of_expanded(&expanded.function_origin);
    run(&solve_all(expanded.program, models), seed, tally).map_err(|wrong| format!("expanded: {wrong}"))
}

/// What must be held at a site, as far as globals go.
struct Claim {
    lock: Place,
    /// A word of the program's own.
    word: bool,
    exclusive: bool,
    history: Vec<Place>,
}

/// A global by its name, and the offset.
type Place = (String, u32);

/// A few random schedules.
fn run(s: &Solved, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let names = Names::new(&s.program);
    let reader = s.reader();
    let words: Vec<Place> = (s.locks.words.iter())
        .filter_map(|word| match s.points_to.objects[word.object].kind {
            FactKind::Global(global) => names.of(Term::root(Root::Global(global)).plus(word.offset)),
            _ => None,
        })
        .collect();
    let mut claims: HashMap<SiteId, Vec<Claim>> = HashMap::new();
    for function in s.program.functions.ids() {
        reader.for_each_site(&s.locks, function, |block, index, held| {
            let claim = |held: &HeldLock| {
                let history = held.history.iter().filter_map(|term| names.of(*term)).collect();
                let lock = names.of(held.lock)?;
                let word = words.contains(&lock);
                Some(Claim { lock, word, exclusive: held.mode == Mode::Exclusive, history })
            };
            let site = s.program.functions[function].blocks[block].site_of(index);
            claims.insert(site, held.iter().filter_map(claim).collect());
        });
    }
    let mut random = Random::new(seed);
    let (program, models) = (Arc::new(s.program.clone()), Arc::new(s.models.clone()));
    for _ in 0..3 {
        let options = Options { step_limit: 400, instruction_limit: 100_000, ..Options::default() };
        let Ok(mut machine) = Interp::new(program.clone(), models.clone(), options) else { return Ok(()) };
        let (threads, places) = (BTreeMap::new(), HashMap::new());
        let (owners, destroyed) = (BTreeMap::new(), BTreeSet::new());
        let mut watch = Watch { s, claims: &claims, threads, places, owners, destroyed, tally };
        let mut sink = TraceSink::default();
        let mut choices: Vec<Choice> = Vec::new();
        while machine.status() == Status::Running {
            choices.clear();
            machine.enabled(&mut choices);
            let choice = random.pick(&choices);
            machine.step(choice, &mut sink);
            for event in std::mem::take(&mut sink.trace.events) {
                watch.event(&machine, event)?;
            }
        }
    }
    Ok(())
}

#[derive(Default)]
struct Thread {
    held: Vec<(Option<Place>, Addr, LockMode)>,
    /// All acquisitions so far, in order.
    acquired: Vec<Option<Place>>,
    /// The call whose wait has ended, until the thread does something else.
    waited: Option<SiteId>,
}

struct Watch<'a> {
    s: &'a Solved,
    claims: &'a HashMap<SiteId, Vec<Claim>>,
    threads: BTreeMap<ThreadId, Thread>,
    places: HashMap<Addr, Option<Place>>,
    /// Who was said to hold a word, and has not written it since.
    owners: BTreeMap<Place, ThreadId>,
    /// And not initialised since.
    destroyed: BTreeSet<Place>,
    tally: &'a mut Tally,
}

impl Watch<'_> {
    fn event(&mut self, machine: &Interp, event: Event) -> Result<(), String> {
        // Arguments and results of `main` and of threads have a site of their own, behind the program's; the return from `main` flushes
        // streams, which is a gap and no access for the analysis.
        let inside = matches!(self.s.program.code_at(event.site), Some(Code::Inst(_)));
        if matches!(event.kind, EventKind::Access { .. } | EventKind::Atomic { .. }) && inside {
            self.check(event)?;
        }
        let address = match event.kind {
            EventKind::Acquire { lock, .. } | EventKind::SemWait { sem: lock } => Some(lock),
            EventKind::Atomic { loc, .. } => Some(loc.start()),
            EventKind::SyncInit { object } | EventKind::SyncDestroy { object } => Some(object),
            _ => None,
        };
        let place = address.and_then(|address| {
            self.places.entry(address).or_insert_with(|| named(machine, address)).clone()
        });
        if let EventKind::Atomic { op, .. } = event.kind
            && let Some(place) = &place
            && op.writes()
            && self.owners.get(place) == Some(&event.thread)
        {
            self.owners.remove(place);
        }
        match (&event.kind, &place) {
            (EventKind::SyncInit { .. }, Some(place)) => self.destroyed.remove(place),
            (EventKind::SyncDestroy { .. }, Some(place)) => self.destroyed.insert(place.clone()),
            _ => false,
        };
        let thread = self.threads.entry(event.thread).or_default();
        match event.kind {
            EventKind::WaitEnd { .. } => thread.waited = Some(event.site),
            _ if thread.waited.is_some_and(|site| site != event.site) => thread.waited = None,
            _ => {}
        }
        match event.kind {
            EventKind::Acquire { lock, mode } => {
                thread.held.push((place.clone(), lock, mode));
                thread.acquired.push(place);
            }
            EventKind::SemWait { sem } => thread.held.push((place, sem, LockMode::Exclusive)),
            EventKind::Release { lock, .. } | EventKind::SemPost { sem: lock } => {
                if let Some(at) = thread.held.iter().rposition(|(_, held, _)| *held == lock) {
                    thread.held.remove(at);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&mut self, event: Event) -> Result<(), String> {
        let nothing = Thread::default();
        let thread = self.threads.get(&event.thread).unwrap_or(&nothing);
        let line = self.s.program.sites[event.site].span.map_or(0, |span| span.line);
        let place = format!("line {line}, {:?} in {:?}", event.site, event.thread);
        let Some(claims) = self.claims.get(&event.site) else {
            return Err(format!("{place}: taken for dead code"));
        };
        self.tally.points += 1;
        // A wait reads its mutex once more when it has it back, and histories begin anew there; who writes to the mutex meanwhile makes
        // that it counts for nothing.
        let reads_again = thread.waited == Some(event.site);
        for claim in claims {
            let name = Some(&claim.lock);
            // To use it is undefined; one that another thread destroys in use is taken out of these facts later.
            if self.destroyed.contains(&claim.lock) {
                continue;
            }
            self.tally.holds += 1;
            if claim.word {
                let owner = *self.owners.entry(claim.lock.clone()).or_insert(event.thread);
                if owner != event.thread {
                    return Err(format!("{place}: {name:?} is held by {owner:?} too"));
                }
                continue;
            }
            let Some((.., mode)) = thread.held.iter().find(|(held, ..)| held.as_ref() == name) else {
                return Err(format!("{place}: {name:?} is not held"));
            };
            if claim.exclusive && *mode == LockMode::Shared {
                return Err(format!("{place}: {name:?} is held for reading only"));
            }
            if reads_again {
                continue;
            }
            let since = thread.acquired.iter().rposition(|lock| lock.as_ref() == name).map_or(0, |at| at + 1);
            for before in &claim.history {
                self.tally.histories += 1;
                // Taking a recursive lock again is no event.
                let still = thread.held.iter().any(|(held, ..)| held.as_ref() == Some(before));
                if !still && !thread.acquired[since..].iter().any(|lock| lock.as_ref() == Some(before)) {
                    return Err(format!("{place}: {before:?} was not acquired since {name:?}"));
                }
            }
        }
        Ok(())
    }
}

/// Globals whose names no other has.
struct Names(BTreeMap<GlobalId, String>);

impl Names {
    fn new(program: &Program) -> Names {
        let text = |id: GlobalId| {
            let global = &program.globals[id];
            program.text(global.name.unwrap_or(global.symbol)).to_owned()
        };
        let mut count: BTreeMap<String, u32> = BTreeMap::new();
        program.globals.ids().for_each(|id| *count.entry(text(id)).or_default() += 1);
        let all = program.globals.ids().map(|id| (id, text(id)));
        Names(all.filter(|(_, name)| count[name] == 1).collect())
    }

    fn of(&self, term: Term) -> Option<Place> {
        if term == ATOMIC_SECTION {
            return Some(("atomic section".to_owned(), 0));
        }
        let (Root::Global(global), None) = (term.root, term.index) else { return None };
        Some((self.0.get(&global)?.clone(), term.offset as u32))
    }
}

fn named(machine: &Interp, addr: Addr) -> Option<Place> {
    if addr == Addr::ATOMIC_SECTION {
        return Some(("atomic section".to_owned(), 0));
    }
    let info = machine.object_info(addr.object);
    (info.kind == ObjectKind::Global).then_some((info.name, addr.offset))
}
