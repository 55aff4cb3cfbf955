//! The search for races alone, in which critical sections commute: it finds a race exactly when the enumerator does, its
//! schedules show what it reports, and it needs few runs.

mod compared;
mod dense;

use compared::{enumerated, for_all, keys, limits, sections, seeds};
use raddle_base::{LoadOrder, StoreOrder};
use raddle_event::Event;
use raddle_explore::dpor::{Covers, Reduced, for_races, optimal};
use raddle_explore::enumerate::{Coverage, FoundRace, Goal, Limits};
use raddle_finding::Deadlocks;
use raddle_machine::{Machine, TraceSink, Visibility};
use raddle_testkit::script::{
    Act, Block, Cond, How, LockKind, Mode, Place, Profile, Script, ScriptMachine, Stmt, Value, generate,
};

fn search(script: &Script, goal: Goal) -> Reduced {
    for_races(&mut ScriptMachine::new(script), &limits(goal), Visibility::SyncOnly)
}

/// Whether the schedule leads a fresh machine to the race.
fn replays(script: &Script, race: &FoundRace) -> bool {
    let mut machine = ScriptMachine::new(script);
    machine.set_visibility(race.visibility.clone());
    let mut sink = TraceSink::default();
    let mut enabled = Vec::new();
    for choice in &race.schedule.choices {
        machine.enabled(&mut enabled);
        if !enabled.contains(choice) {
            return false;
        }
        machine.step(*choice, &mut sink);
    }
    let events = &sink.trace.events;
    let same = |a: &Event, b: &Event| (a.thread, a.site, a.kind) == (b.thread, b.site, b.kind);
    raddle_order::races(&sink.trace)
        .iter()
        .any(|pair| same(&events[pair.first], &race.first) && same(&events[pair.second], &race.second))
}

fn decides_the_same(script: &Script) -> Option<Result<(), String>> {
    let all = enumerated(script, Goal::FirstRace);
    if all.coverage == Coverage::Partial {
        return None;
    }
    let found = search(script, Goal::FirstRace).exploration;
    Some(if found.races.is_empty() != all.races.is_empty() {
        Err(format!("races {:?} enumerated, {:?} found", keys(&all), keys(&found)))
    } else if found.coverage != all.coverage {
        Err(format!("coverage {:?} enumerated, {:?} found", all.coverage, found.coverage))
    } else if !found.races.iter().all(|race| replays(script, race)) {
        Err("a schedule does not show its race".to_owned())
    } else {
        Ok(())
    })
}

/// Compared with the optimal search, which is compared with the enumerator elsewhere.
fn lists_the_same(script: &Script) -> Option<Result<(), String>> {
    let limits = limits(Goal::AllRaces);
    let all = optimal(&mut ScriptMachine::new(script), &limits, Visibility::SyncOnly).exploration;
    if all.coverage == Coverage::Partial {
        return None;
    }
    let found = search(script, Goal::AllRaces).exploration;
    Some(if keys(&found) != keys(&all) {
        Err(format!("races {:?} enumerated, {:?} found", keys(&all), keys(&found)))
    } else if !found.races.iter().all(|race| replays(script, race)) {
        Err("a schedule does not show its race".to_owned())
    } else {
        Ok(())
    })
}

#[test]
fn decides_like_the_enumerator() {
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("commuting", seeds(400, 120_000), generate, decides_the_same);
}

#[test]
fn decides_like_the_enumerator_on_sections() {
    for_all("commuting, sections", seeds(400, 300_000), sections, decides_the_same);
}

#[test]
fn lists_like_the_enumerator_on_sections() {
    for_all("commuting, sections, all races", seeds(300, 60_000), sections, lists_the_same);
}

#[test]
fn decides_like_the_enumerator_on_dense_scripts() {
    for_all("commuting, dense", seeds(150, 60_000), dense::dense_with_loops, decides_the_same);
}

fn place(var: u8) -> Place {
    Place { var, offset: 0, size: 4 }
}

fn section(lock: u8, body: Block) -> Block {
    let mut block = vec![Stmt::Act(Act::Lock { lock, mode: Mode::Exclusive, how: How::Block, result: 3 })];
    block.extend(body);
    block.push(Stmt::Act(Act::Unlock { lock }));
    block
}

fn add(var: u8) -> Block {
    vec![
        Stmt::Act(Act::Read { to: 0, place: place(var) }),
        Stmt::Act(Act::Write { place: place(var), value: Value::Next(0) }),
    ]
}

/// Main creates all threads and joins them.
fn joined(vars: u8, locks: usize, threads: Vec<Block>) -> Script {
    let numbers = 1..=threads.len() as u8;
    let main = numbers.clone().map(|thread| Stmt::Act(Act::Create { thread }));
    let main = main.chain(numbers.map(|thread| Stmt::Act(Act::Join { thread }))).collect();
    let threads = std::iter::once(main).chain(threads).collect();
    Script { vars, locks: vec![LockKind::Mutex; locks], threads, ..Script::default() }
}

fn complete(script: &Script) -> Reduced {
    let found = for_races(&mut ScriptMachine::new(script), &Limits::default(), Visibility::SyncOnly);
    assert_eq!((found.exploration.coverage, found.blocked), (Coverage::Complete, 0));
    assert_eq!((found.covers, found.exploration.deadlocks), (Covers::RacesOnly, Deadlocks::Unknown));
    found
}

#[test]
fn sections_that_do_not_meet_in_one_order() {
    for n in 1..=12 {
        let thread = |own| [section(0, add(own)), section(0, Block::new()), section(0, add(own))].concat();
        let script = joined(n, 1, (0..n).map(thread).collect());
        assert_eq!(complete(&script).exploration.runs.executions, 1);
    }
}

#[test]
fn sections_that_read_in_one_order() {
    let read = || section(0, vec![Stmt::Act(Act::Read { to: 0, place: place(0) })]);
    assert_eq!(complete(&joined(1, 1, vec![read(); 6])).exploration.runs.executions, 1);
}

#[test]
fn sections_that_write_in_every_order() {
    for (n, orders) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
        let script = joined(1, 1, vec![section(0, add(0)); n]);
        assert_eq!(complete(&script).exploration.runs.executions, orders);
    }
}

/// Listing 1 of the 2015 paper: whichever section comes first in the run at hand, the race on `y` outside of them is found at once.
#[test]
fn listing_1_both_ways() {
    for (main_first, main_part, task) in [
        (true, [add(1), section(0, add(0))].concat(), [section(0, add(0)), add(1)].concat()),
        (false, [section(0, add(0)), add(1)].concat(), [add(1), section(0, add(0))].concat()),
    ] {
        for body in [vec![], add(0)] {
            // With sections that meet, and with sections that do not.
            let empty = |block: &Block| -> Block {
                if body.is_empty() {
                    block.iter().filter(|s| !touches(s, 0)).cloned().collect()
                } else {
                    block.clone()
                }
            };
            let mut main = vec![Stmt::Act(Act::Create { thread: 1 })];
            main.extend(empty(&main_part));
            main.push(Stmt::Act(Act::Join { thread: 1 }));
            let script = Script {
                vars: 2,
                locks: vec![LockKind::Mutex],
                threads: vec![main, empty(&task)],
                ..Script::default()
            };
            let found = search(&script, Goal::FirstRace).exploration;
            assert!(!found.races.is_empty(), "main first: {main_first}");
            assert!(found.races.iter().all(|race| replays(&script, race)));
            if body.is_empty() {
                assert_eq!(found.runs.executions, 1);
            }
        }
    }
}

fn touches(stmt: &Stmt, var: u8) -> bool {
    matches!(stmt, Stmt::Act(Act::Read { place, .. } | Act::Write { place, .. }) if place.var == var)
}

/// The relaxed flag orders the sections in every run that reads it, so their lock orders the accesses, although the sections do not
/// meet: a race only for who forgets lock edges between ordered steps.
#[test]
fn sections_ordered_by_a_relaxed_flag_order() {
    let flag = Place { var: 1, offset: 0, size: 4 };
    let set = Act::AtomicStore { place: flag, value: Value::Const(1), order: StoreOrder::Relaxed };
    let look = Act::AtomicLoad { to: 0, place: flag, order: LoadOrder::Relaxed };
    let write = || Stmt::Act(Act::Write { place: place(0), value: Value::Const(1) });
    let first = [vec![write()], section(0, Block::new()), vec![Stmt::Act(set)]].concat();
    let then = [section(0, Block::new()), vec![write()]].concat();
    let second = vec![Stmt::Act(look), Stmt::If { cond: Cond::Is(0, 1), then, otherwise: Block::new() }];
    let script = joined(2, 1, vec![first, second]);
    assert!(complete(&script).exploration.races.is_empty());
}
