//! Facts about order and locks, and the pairs that they exclude: what the engine calls safe is accepted, wrong facts are refused, and no
//! program that races is ever accepted. `RADDLE_FIXTURE=part-of-a-path` looks at some fixtures.

use raddle_certify::statics::{check, excludes_races, is_closed};
use raddle_config::Config;
use raddle_facts::{
    Gate, GateId, GateKind, HeldLock, LocalOrder, LockMode, ObjectKind, Released, Root, StaticProof, Term,
};
use raddle_frontend::{Request, load};
use raddle_ir::{DataModel, Program, program_hash};
use raddle_libmodel::Models;
use raddle_lockset::{Analysis, Options, analyse};
use raddle_testkit::fixtures::{DataModels, Fixture, Truth, files, parse};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fixtures that the engine calls safe and whose proof is refused, each with the reason.
const REFUSED: &[(&str, &str)] = &[];

#[test]
fn safe_programs_are_accepted_and_racy_ones_never() {
    let root = root();
    let only = std::env::var("RADDLE_FIXTURE").unwrap_or_default();
    let files: Vec<PathBuf> = files(&root)
        .expect("tests/fixtures is readable")
        .into_iter()
        .filter(|path| path.to_string_lossy().contains(&only))
        .collect();
    let next = AtomicUsize::new(0);
    let (safe, racy) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let work = || {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
            let (fixture, programs) = programs(path);
            for (model, program, models) in programs {
                let analysis = analysed(&program, &models);
                let verdict = excludes_races(&program, &models, &proof(&program, &analysis));
                let said = verdict.map_err(|refusal| {
                    let span = refusal.place.and_then(|site| program.sites[site].span);
                    format!("{name} ({}) line {}: {refusal}", model.name(), span.map_or(0, |span| span.line))
                });
                match fixture.truth {
                    Truth::Race => {
                        // Races behind something that the analysis does not follow: the whole check names it.
                        let whole = || {
                            check(&program, &models, &proof(&program, &analysis))
                                .map_err(|why| why.to_string())
                        };
                        let said = said.and_then(|_| whole().map(|_| ()));
                        racy.lock().expect("no panic").push((name.clone(), said));
                    }
                    _ if analysis.is_safe() => safe.lock().expect("no panic").push((name.clone(), said)),
                    _ => {}
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let safe = safe.into_inner().expect("no panic");
    let racy = racy.into_inner().expect("no panic");
    let accepted: Vec<&String> = racy.iter().filter(|(_, said)| said.is_ok()).map(|(name, _)| name).collect();
    assert!(accepted.is_empty(), "racy programs whose proof is accepted: {accepted:?}");
    let mut refusals: Vec<&String> = safe.iter().filter_map(|(_, said)| said.as_ref().err()).collect();
    refusals.sort();
    refusals.iter().for_each(|refusal| println!("{refusal}"));
    println!("{} safe, {} of them refused; {} racy", safe.len(), refusals.len(), racy.len());
    let refused: BTreeSet<&str> =
        safe.iter().filter(|(_, said)| said.is_err()).map(|(name, _)| name.as_str()).collect();
    let known: BTreeSet<&str> = REFUSED.iter().map(|(name, _)| *name).collect();
    if only.is_empty() {
        assert!(safe.len() >= 200 && racy.len() >= 100, "{} safe, {} racy", safe.len(), racy.len());
        assert_eq!(refused, known, "refused against known to be refused");
    }
}

/// Neither the engine nor the checker calls them safe.
#[test]
fn racy_programs_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/racy_order");
    for path in files(&folder).expect("the folder is readable") {
        let request = Request { inputs: vec![path.clone()], ..Request::default() };
        let program = load(&request).unwrap_or_else(|error| panic!("{}: {error}", path.display())).program;
        let models = Models::resolve(&program, &Config::default());
        let analysis = analysed(&program, &models);
        let verdict = excludes_races(&program, &models, &proof(&program, &analysis));
        println!("{}: {} warnings, {verdict:?}", path.display(), analysis.warnings.len());
        assert!(verdict.is_err(), "{} is accepted", path.display());
        assert!(!analysis.is_safe(), "the engine calls {} safe", path.display());
    }
}

/// A wrong fact, made from a right one.
struct Change {
    name: &'static str,
    fixture: &'static str,
    /// All proofs with one fact changed.
    make: fn(&StaticProof) -> Vec<StaticProof>,
}

const CHANGES: &[Change] = &[
    Change { name: "add a held lock", fixture: "mutex/conditional_lock_safe.c", make: add_held },
    Change {
        name: "add a passed gate",
        fixture: "static-order/join_all_in_a_helper_safe.c",
        make: add_passed,
    },
    Change {
        name: "drop an opened gate",
        fixture: "static-order/join_all_in_a_helper_safe.c",
        make: drop_opened,
    },
    Change { name: "drop an opener", fixture: "semaphore/handoff_safe.c", make: drop_opener },
    Change { name: "widen at_start", fixture: "semaphore/handoff_safe.c", make: widen_start },
    Change { name: "clear many", fixture: "static-locks/locked_unknown_number_safe.c", make: clear_many },
    Change {
        name: "hold for reading as for writing",
        fixture: "static-locks/rwlock_in_object_safe.c",
        make: exclusive,
    },
    Change { name: "drop a condition", fixture: "static-locks/error_return_safe.c", make: drop_guard },
    Change {
        name: "forget a release",
        fixture: "static-locks/released_in_callee_safe.c",
        make: forget_release,
    },
    Change { name: "another round", fixture: "barrier/phases_safe.c", make: another_round },
    Change { name: "another count", fixture: "barrier/phases_safe.c", make: another_count },
    Change { name: "a semaphore is a lock", fixture: "semaphore/handoff_safe.c", make: semaphore_lock },
    Change { name: "add a handle", fixture: "static-order/one_thread_per_round_safe.c", make: add_handle },
    Change { name: "bring a gate", fixture: "semaphore/handoff_safe.c", make: bring },
    Change { name: "remove a history", fixture: "static-history/in_calls_safe.c", make: remove_history },
    Change { name: "add to a history", fixture: "static-history/in_calls_safe.c", make: add_history },
];

#[test]
fn wrong_facts_are_refused() {
    let mut missed = Vec::new();
    for Change { name, fixture, make } in CHANGES {
        let (_, mut list) = programs(&root().join(fixture));
        let (_, program, models) = list.remove(0);
        let good = proof(&program, &analysed(&program, &models));
        assert_eq!(excludes_races(&program, &models, &good), Ok(()), "{fixture}");
        let changed = make(&good);
        let refused = changed
            .iter()
            .filter(|bad| {
                excludes_races(&program, &models, bad).is_err() || is_closed(&program, &models, bad).is_err()
            })
            .count();
        println!("{name}: {refused} of {} refused", changed.len());
        missed.extend((refused == 0).then_some((name, fixture)));
    }
    assert!(missed.is_empty(), "never refused: {missed:?}");
}

fn add_held(good: &StaticProof) -> Vec<StaticProof> {
    let mut locks: Vec<Term> = Vec::new();
    for function in good.facts.locks.functions.values() {
        locks.extend(function.blocks.iter().flat_map(|block| block.held.iter().map(|held| held.lock)));
    }
    let mut made = Vec::new();
    if let Some(lock) = locks.first() {
        for (id, function) in good.facts.locks.functions.iter() {
            for block in 0..function.blocks.len() {
                let mut bad = good.clone();
                let held = &mut bad.facts.locks.functions.get_mut(id).expect("a function").blocks[block].held;
                if held.iter().all(|held| held.lock != *lock) {
                    held.push(HeldLock {
                        lock: *lock,
                        mode: LockMode::Exclusive,
                        depth: 1,
                        guard: None,
                        history: Vec::new(),
                    });
                    made.push(bad);
                }
            }
        }
    }
    made
}

fn gates(good: &StaticProof) -> Vec<GateId> {
    good.facts.order.gates.ids().collect()
}

fn add_passed(good: &StaticProof) -> Vec<StaticProof> {
    let mut made = Vec::new();
    for gate in gates(good) {
        for (id, function) in good.facts.order.functions.iter() {
            for block in 0..function.blocks.len() {
                let mut bad = good.clone();
                let function = bad.facts.order.functions.get_mut(id).expect("a function");
                if !function.blocks[block].passed.contains(&gate) {
                    function.blocks[block].passed.push(gate);
                    made.push(bad);
                }
            }
        }
    }
    made
}

fn drop_opened(good: &StaticProof) -> Vec<StaticProof> {
    let mut made = Vec::new();
    for (id, function) in good.facts.order.functions.iter() {
        for block in (0..function.blocks.len()).filter(|block| !function.blocks[*block].opened.is_empty()) {
            let mut bad = good.clone();
            bad.facts.order.functions.get_mut(id).expect("a function").blocks[block].opened.pop();
            made.push(bad);
        }
    }
    made
}

fn drop_opener(good: &StaticProof) -> Vec<StaticProof> {
    let with = good.facts.order.gates.iter().filter(|(_, gate)| !gate.openers.is_empty());
    with.map(|(id, _)| {
        let mut bad = good.clone();
        bad.facts.order.gates.get_mut(id).expect("a gate").openers.pop();
        bad
    })
    .collect()
}

fn widen_start(good: &StaticProof) -> Vec<StaticProof> {
    let mut made = Vec::new();
    for gate in gates(good) {
        for (thread, passed) in good.facts.order.at_start.iter() {
            if !passed.contains(&gate) {
                let mut bad = good.clone();
                bad.facts.order.at_start.get_mut(thread).expect("a thread").push(gate);
                made.push(bad);
            }
        }
    }
    made
}

fn clear_many(good: &StaticProof) -> Vec<StaticProof> {
    let many = good.facts.threads.threads.iter().filter(|(_, thread)| thread.many);
    many.map(|(id, _)| {
        let mut bad = good.clone();
        bad.facts.threads.threads.get_mut(id).expect("a thread").many = false;
        bad
    })
    .collect()
}

fn exclusive(good: &StaticProof) -> Vec<StaticProof> {
    with_held(good, |held| std::mem::replace(&mut held.mode, LockMode::Exclusive) == LockMode::Shared)
}

fn drop_guard(good: &StaticProof) -> Vec<StaticProof> {
    with_held(good, |held| held.guard.take().is_some())
}

fn forget_release(good: &StaticProof) -> Vec<StaticProof> {
    let mut made = Vec::new();
    for id in good.facts.locks.functions.ids() {
        let mut bad = good.clone();
        let exit = &mut bad.facts.locks.functions.get_mut(id).expect("a function").at_exit;
        if std::mem::take(&mut exit.released) != Released::default() {
            made.push(bad);
        }
    }
    made
}

/// Changes the facts about order at the start of each block.
fn with_order(good: &StaticProof, change: impl Fn(&mut LocalOrder) -> bool) -> Vec<StaticProof> {
    let mut made = Vec::new();
    for (id, function) in good.facts.order.functions.iter() {
        for block in 0..function.blocks.len() {
            let mut bad = good.clone();
            let facts = bad.facts.order.functions.get_mut(id).expect("a function");
            if change(&mut facts.blocks[block]) {
                made.push(bad);
            }
        }
    }
    made
}

fn another_round(good: &StaticProof) -> Vec<StaticProof> {
    with_order(good, |state| {
        state.rounds.iter_mut().for_each(|rounds| {
            rounds.at_least += 1;
            rounds.at_most = rounds.at_most.saturating_add(1);
        });
        !state.rounds.is_empty()
    })
}

fn another_count(good: &StaticProof) -> Vec<StaticProof> {
    let mut made = vec![good.clone(), good.clone()];
    made[0].facts.order.barriers[0].count += 1;
    made[1].facts.order.barriers[0].members.pop();
    made
}

fn semaphore_lock(good: &StaticProof) -> Vec<StaticProof> {
    let globals = good.facts.points_to.objects.iter();
    globals
        .filter(|(_, object)| matches!(object.kind, ObjectKind::Global(_)))
        .map(|(object, _)| {
            let mut bad = good.clone();
            bad.facts.locks.semaphores.push((object, 0));
            bad
        })
        .collect()
}

fn add_handle(good: &StaticProof) -> Vec<StaticProof> {
    let states = good.facts.order.functions.values().flat_map(|function| &function.blocks);
    let cells: BTreeSet<Term> =
        states.flat_map(|state| state.handles.iter().map(|(cell, _)| *cell)).collect();
    let mut made = Vec::new();
    for cell in cells {
        for thread in good.facts.threads.threads.ids() {
            made.extend(with_order(good, |state| {
                let known = state.handles.contains(&(cell, thread));
                state.handles.retain(|(other, _)| *other != cell);
                state.handles.push((cell, thread));
                state.handles.sort_unstable();
                !known
            }));
        }
    }
    made
}

fn bring(good: &StaticProof) -> Vec<StaticProof> {
    let mut made = Vec::new();
    for gate in gates(good) {
        for brought in gates(good).into_iter().filter(|brought| *brought != gate) {
            let mut bad = good.clone();
            let brings = &mut bad.facts.order.gates.get_mut(gate).expect("a gate").brings;
            if !brings.contains(&brought) {
                brings.push(brought);
                made.push(bad);
            }
        }
    }
    made
}

/// A semaphore that is destroyed while it is waited for orders nothing, whoever says so.
#[test]
fn a_gate_of_a_destroyed_semaphore_is_refused() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/statics/refused/destroyed_semaphore.c");
    let program = load(&Request { inputs: vec![path], ..Request::default() }).expect("a program").program;
    let models = Models::resolve(&program, &Config::default());
    let mut bad = proof(&program, &analysed(&program, &models));
    let openers: Vec<_> = bad.facts.threads.threads.ids().collect();
    for id in program.globals.ids() {
        let kind = GateKind::Semaphore(Term::root(Root::Global(id)));
        bad.facts.order.gates.push(Gate { kind, openers: openers.clone(), brings: Vec::new() });
    }
    let opened: Vec<GateId> = bad.facts.order.gates.ids().collect();
    for (_, facts) in bad.facts.order.functions.iter_mut() {
        for state in facts.blocks.iter_mut().chain([&mut facts.entry, &mut facts.at_exit]) {
            state.opened.clone_from(&opened);
        }
    }
    let refusal = excludes_races(&program, &models, &bad).expect_err("it is gone");
    assert_eq!(refusal.rule, "renewed", "{refusal}");
}

/// One lock changed that is held at an entry, at the start of a block or at an exit.
fn with_held(good: &StaticProof, change: impl Fn(&mut HeldLock) -> bool) -> Vec<StaticProof> {
    fn held(proof: &mut StaticProof) -> impl Iterator<Item = &mut HeldLock> {
        proof.facts.locks.functions.iter_mut().flat_map(|(_, function)| {
            let inside = function.blocks.iter_mut().chain([&mut function.at_exit]);
            function.entry.iter_mut().chain(inside.flat_map(|state| &mut state.held))
        })
    }
    let mut made = Vec::new();
    for place in 0..held(&mut good.clone()).count() {
        let mut bad = good.clone();
        if held(&mut bad).nth(place).is_some_and(&change) {
            made.push(bad);
        }
    }
    made
}

/// Also what was acquired since the entry, which makes the histories of locks held before.
fn remove_history(good: &StaticProof) -> Vec<StaticProof> {
    let mut made = with_held(good, |held| !std::mem::take(&mut held.history).is_empty());
    for (id, _) in good.facts.locks.functions.iter().filter(|(_, f)| !f.at_exit.acquired.is_empty()) {
        let mut bad = good.clone();
        bad.facts.locks.functions.get_mut(id).expect("a function").at_exit.acquired.clear();
        made.push(bad);
    }
    made
}

fn add_history(good: &StaticProof) -> Vec<StaticProof> {
    with_held(good, |held| {
        held.history.push(held.lock.plus(1 << 20));
        true
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn analysed(program: &Program, models: &Models) -> Analysis {
    analyse(program, models, &Options::default()).expect("the engine's own recipe")
}

fn proof(program: &Program, analysis: &Analysis) -> StaticProof {
    StaticProof {
        program: format!("{:032x}", program_hash(program)),
        data_model: program.data_model.name().to_owned(),
        entries: Vec::new(),
        assumptions: analysis.assumptions.iter().map(|id| (*id).to_owned()).collect(),
        recipe: analysis.recipe.clone(),
        facts: analysis.facts.clone(),
    }
}

fn programs(path: &Path) -> (Fixture, Vec<(DataModel, Program, Models)>) {
    let text = std::fs::read_to_string(path).expect("a fixture is readable");
    let fixture = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let wanted: &[DataModel] = match fixture.data_models {
        DataModels::Lp64 => &[DataModel::Lp64],
        DataModels::Ilp32 => &[DataModel::Ilp32],
        DataModels::Both => &[DataModel::Lp64, DataModel::Ilp32],
    };
    let config = fixture.config.as_ref().map_or_else(Config::default, |name| {
        let text = std::fs::read_to_string(path.with_file_name(name)).expect("a configuration is readable");
        Config::parse(&text).expect("a configuration")
    });
    let load_for = |model: &DataModel| {
        let request = Request {
            inputs: vec![path.to_path_buf()],
            cflags: fixture.cflags.clone(),
            data_model: Some(*model),
            ..Request::default()
        };
        let program = load(&request).unwrap_or_else(|error| panic!("{}: {error}", path.display())).program;
        let models = Models::resolve(&program, &config);
        (*model, program, models)
    };
    let list = wanted.iter().map(load_for).collect();
    (fixture, list)
}
