//! Runs of C programs: every access event of a modelled call is declared, and so is every pointer that it returns or stores at the start
//! of an argument's memory, as far as probes can show it.

use crate::events::Watcher;
use crate::probes::probe;
use raddle_config::Config;
use raddle_frontend::{Request, load};
use raddle_interp::{Interp, Options};
use raddle_ir::{DataModel, Program};
use raddle_libmodel::memory::{Access, MemoryEffect};
use raddle_libmodel::{Effect, Models};
use raddle_machine::{IgnoreEvents, Machine, OpKind, Sink, Status};
use raddle_testkit::fixtures::files;
use raddle_testkit::random::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Not probed: a block without a byte, which no load can show; and a string that must not be made variable.
const NOT_PROBED: [&str; 2] = ["vacuous/block_of_no_bytes_unknown.c", "library/putenv_constant_safe.c"];

#[derive(Default)]
struct Outcome {
    complaints: Vec<String>,
    /// Accesses seen, by function.
    seen: BTreeMap<String, u64>,
}

#[test]
fn events_of_calls_are_declared() {
    let mut programs = data("");
    programs.extend(folder("../../tests/native"));
    let fixtures = folder("../../tests/fixtures");
    assert!(fixtures.len() > 300, "only {} fixtures", fixtures.len());
    let step = if std::env::var_os("RADDLE_SOAK").is_some() { 1 } else { 5 };
    programs.extend(
        fixtures.into_iter().filter(|path| !NOT_PROBED.iter().any(|file| path.ends_with(file))).step_by(step),
    );
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Outcome::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let worker = || {
                while let Some(path) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for model in models(path) {
                        let outcome = examine(path, model, &|effect| effect.memory().into_owned());
                        let mut total = total.lock().expect("no program panics");
                        total.complaints.extend(outcome.complaints);
                        for (name, count) in outcome.seen {
                            *total.seen.entry(name).or_default() += count;
                        }
                    }
                }
            };
            // Deep recursion of a program is recursion of the interpreter in callbacks.
            std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, worker).expect("a thread");
        }
    });
    let total = total.into_inner().expect("no program panics");
    assert!(total.complaints.is_empty(), "{}", total.complaints.join("\n"));
    let functions = total.seen.len();
    assert!(functions > 150, "accesses of only {functions} functions were seen: {:?}", total.seen.keys());
}

/// The check can fail: what is taken out of the table is missed.
#[test]
fn an_undeclared_event_is_noticed() {
    let library =
        ["strlen", "memcpy", "strtol", "qsort", "fgets", "getline", "strtok", "asctime", "read", "realloc"];
    for name in library {
        missed("library_calls.c", name);
    }
    for name in [
        "pthread_create",
        "pthread_join",
        "thrd_join",
        "pthread_key_create",
        "pthread_setcancelstate",
        "pthread_mutex_init",
        "sem_getvalue",
        "sem_open",
        "nanosleep",
        "__atomic_load",
        "__atomic_exchange",
        "__atomic_compare_exchange",
    ] {
        missed("synchronisation_calls.c", name);
    }
}

/// Without any one of the touches of `name`, the program is found to do something undeclared; and without what it returns.
fn missed(program: &str, name: &str) {
    let path = &data(program)[0];
    let whole = raddle_libmodel::lookup(name).expect("a row").effect;
    let memory = whole.memory().into_owned();
    let complains = |poorer: &MemoryEffect| {
        let declared = |effect: &Effect| {
            if *effect == whole { poorer.clone() } else { effect.memory().into_owned() }
        };
        let complaints = examine(path, DataModel::Lp64, &declared).complaints;
        assert!(complaints.iter().all(|line| line.contains(&format!(": {name}: "))), "{complaints:?}");
        !complaints.is_empty()
    };
    assert!(complains(&MemoryEffect { touches: Vec::new(), ..memory.clone() }), "{name} without touches");
    // What is left of the time is written after a signal only, which never comes.
    if name != "nanosleep" && memory.touches.iter().any(|touch| touch.access == Access::Write) {
        let touches = memory.touches.iter().copied().filter(|touch| touch.access != Access::Write).collect();
        assert!(complains(&MemoryEffect { touches, ..memory.clone() }), "{name} without writes");
    }
    let returns_address = !memory.returns.is_empty() && matches!(whole, Effect::Libc(_));
    if returns_address {
        assert!(complains(&MemoryEffect { returns: Vec::new(), ..memory }), "{name} without a result");
    }
}

fn folder(path: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let all = files(&root).expect("a readable folder");
    all.into_iter().filter(|path| path.extension().is_some_and(|e| e == "c")).collect()
}

/// Programs of this test, by name.
fn data(name: &str) -> Vec<PathBuf> {
    let found: Vec<PathBuf> = folder("tests/data").into_iter().filter(|path| path.ends_with(name)).collect();
    if name.is_empty() { folder("tests/data") } else { found }
}

fn header(text: &str, key: &str) -> String {
    let start = format!("//@ {key}:");
    text.lines().find_map(|line| line.strip_prefix(&start)).map_or("", str::trim).to_owned()
}

fn models(path: &Path) -> Vec<DataModel> {
    let text = std::fs::read_to_string(path).expect("a readable program");
    if header(&text, "data-model") == "ILP32" { vec![DataModel::Ilp32] } else { vec![DataModel::Lp64] }
}

fn examine(path: &Path, model: DataModel, declared: &dyn Fn(&Effect) -> MemoryEffect) -> Outcome {
    let text = std::fs::read_to_string(path).expect("a readable program");
    let config = match header(&text, "config").as_str() {
        "" => Config::default(),
        name => Config::load(path.with_file_name(name)).expect("a good configuration"),
    };
    let request = Request {
        inputs: vec![path.to_path_buf()],
        cflags: header(&text, "cflags").split_whitespace().map(str::to_owned).collect(),
        data_model: Some(model),
        ..Request::default()
    };
    let Ok(loaded) = load(&request) else {
        return Outcome {
            complaints: vec![format!("{} does not load", path.display())],
            ..Outcome::default()
        };
    };
    let models = Models::resolve(&loaded.program, &config);
    let options = Options {
        args: std::iter::once("program".to_owned())
            .chain(header(&text, "args").split_whitespace().map(str::to_owned))
            .collect(),
        stdin: format!("{}\n", header(&text, "stdin")).into_bytes(),
        step_limit: 5000,
        instruction_limit: 5_000_000,
        ..Options::default()
    };
    let probed = probe(loaded.program.clone(), &models, declared);
    let mut watcher = Watcher::new(&probed);
    let (status, output) = run(&probed.program, &models, &options, Listening::Watched(&mut watcher));
    let mut complaints: Vec<String> =
        watcher.complaints.iter().map(|line| format!("{}: {line}", path.display())).collect();
    let plain = run(&loaded.program, &models, &options, Listening::Not);
    // A run that fails by itself may fail in a probe before; limits are met elsewhere.
    if matches!(plain.0, Status::Exited(_)) && (&plain.0, &plain.1) != (&status, &output) {
        complaints.push(format!(
            "{}: ends as {status:?} with probes and as {:?} without",
            path.display(),
            plain.0
        ));
    }
    Outcome { complaints, seen: watcher.seen }
}

enum Listening<'w, 'p> {
    Watched(&'w mut Watcher<'p>),
    Not,
}

/// One schedule, the same for the same program.
fn run(
    program: &Program,
    models: &Models,
    options: &Options,
    mut listening: Listening<'_, '_>,
) -> (Status, Vec<u8>) {
    let mut machine = Interp::new(Arc::new(program.clone()), Arc::new(models.clone()), options.clone())
        .expect("the program has a main function");
    let mut random = Random::new(1);
    let mut choices = Vec::new();
    while machine.status() == Status::Running {
        choices.clear();
        machine.enabled(&mut choices);
        let mut choice = random.pick(&choices);
        // Library calls go as they would here.
        if matches!(machine.pending(choice.thread).map(|next| next.kind), Some(OpKind::Choose { .. })) {
            choice.variant = 0;
        }
        match &mut listening {
            Listening::Watched(watcher) => {
                machine.step(choice, *watcher as &mut dyn Sink);
                watcher.settle(&machine);
            }
            Listening::Not => machine.step(choice, &mut IgnoreEvents),
        }
    }
    (machine.status(), machine.output().to_vec())
}
