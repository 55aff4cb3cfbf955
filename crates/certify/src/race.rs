//! Confirms a race: replay once to find two unordered accesses at the claimed sites, replay again to take down what stood around them.

use crate::detector::{find_race, touched};
use crate::doubt;
use crate::names::{Direction, Names};
use crate::replay::{Collector, Scene, Witness, Witnessing, run};
use crate::{ConfirmedRace, Refusal};
use raddle_base::SiteId;
use raddle_event::{Addr, Loc};
use raddle_finding::AccessReport;
use raddle_ir::{PlaceBase, PlaceStep, Program};
use raddle_libmodel::Models;
use raddle_machine::{Machine, ObjectKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

/// `fresh` makes the machine in its start state; `models`: what functions of the program mean to it, where it does not run them all.
pub(crate) fn confirm<M: Machine>(
    program: &Program,
    models: Option<&Models>,
    fresh: impl Fn() -> Result<M, Refusal>,
    witness: &Witness,
    sites: (SiteId, SiteId),
    stop: &AtomicBool,
) -> Result<ConfirmedRace, Refusal> {
    let mut collector = Collector::new(sites);
    run(&mut fresh()?, witness, &mut collector, stop)?;
    let Some((first, second)) = find_race(&collector.events, sites, stop)? else {
        return Err(Refusal::NoRace);
    };

    let positions = vec![collector.positions[first], collector.positions[second]];
    let mut machine = fresh()?;
    let mut witnessing = Witnessing::new(positions);
    run(&mut machine, witness, &mut witnessing, stop)?;
    let [a, b] = &witnessing.scenes[..] else { return Err(Refusal::NotDeterministic) };
    if a.event != collector.events[first] || b.event != collector.events[second] {
        return Err(Refusal::NotDeterministic);
    }

    let names = Names { program, machine: &machine };
    let locks = names.sync_objects(a.held.iter().chain(&b.held).map(|held| (held.lock, held.site)));
    Ok(ConfirmedRace {
        sites: (a.event.site, b.event.site),
        variable: variable(&names, a, b),
        accesses: [access(&names, a, &locks), access(&names, b, &locks)],
        assumptions: machine.assumptions(),
        detail: object(&names, a),
        doubt: models.map_or_else(BTreeSet::new, |models| {
            doubt::find(program, models, &machine, &collector, (first, second))
        }),
        witness: witness.clone(),
    })
}

fn loc(scene: &Scene) -> Loc {
    touched(&scene.event).expect("only accesses are collected as ends of a race").loc
}

fn direction(scene: &Scene) -> Direction {
    let writes = touched(&scene.event).is_some_and(|access| access.writes);
    if writes { Direction::Write } else { Direction::Read }
}

fn access<M: Machine>(names: &Names<'_, M>, scene: &Scene, locks: &BTreeMap<Addr, String>) -> AccessReport {
    let event = &scene.event;
    let direction = direction(scene);
    let action = match direction {
        Direction::Write if names.callee(event.site) == Some("free") => "free",
        Direction::Write => "write",
        Direction::Read => "read",
    };
    AccessReport {
        at: names.frame(event.site),
        thread: names.thread(event.thread),
        action: action.to_owned(),
        atomic: touched(event).is_some_and(|access| access.atomic),
        expression: names.expression(event.site, direction),
        locks: names.locks(&scene.held, locks),
        stack: names.frames(&scene.stack),
    }
}

/// The better of the two expressions: one that starts at a global and follows no pointer, else the object's own name if it has
/// one, else the longer path.
fn variable<M: Machine>(names: &Names<'_, M>, a: &Scene, b: &Scene) -> String {
    let places = [a, b].map(|scene| names.place(scene.event.site, direction(scene)));
    let texts = places.map(|place| place.map(|place| names.place_text(place)).unwrap_or_default());
    let direct = |place: Option<raddle_ir::PlaceId>| {
        place.and_then(|place| names.program.places.get(place)).is_some_and(|place| {
            matches!(place.base, PlaceBase::Global(_))
                && !place.steps.iter().any(|step| matches!(step, PlaceStep::Deref | PlaceStep::Offset(_)))
        })
    };
    for (place, text) in places.iter().zip(&texts) {
        if direct(*place) && !text.is_empty() {
            return text.clone();
        }
    }
    let shared = overlap(loc(a), loc(b));
    let own = names.machine.place_name(shared);
    let kind = names.machine.object_info(shared.object).kind;
    let named = matches!(kind, ObjectKind::Global | ObjectKind::ThreadLocal) && !own.is_empty();
    let longest = texts.iter().max_by_key(|text| text.len()).filter(|text| !text.is_empty());
    match longest {
        Some(text) if !named => text.clone(),
        _ => own,
    }
}

fn overlap(a: Loc, b: Loc) -> Loc {
    let start = a.offset.max(b.offset);
    let end = (u64::from(a.offset) + u64::from(a.len)).min(u64::from(b.offset) + u64::from(b.len));
    Loc { object: a.object, offset: start, len: (end.saturating_sub(u64::from(start))) as u32 }
}

/// `malloc(40), allocated by T0 (main) at q.c:12`; empty for globals.
fn object<M: Machine>(names: &Names<'_, M>, scene: &Scene) -> String {
    let info = names.machine.object_info(loc(scene).object);
    let Some((thread, site, _)) = info.allocated else { return String::new() };
    let frame = names.frame(site);
    let what = match info.kind {
        ObjectKind::Stack => format!("local variable {}", info.name),
        _ => info.name,
    };
    format!(
        "{what}, {} bytes, allocated by {} at {}:{}",
        info.size,
        names.thread(thread).name,
        frame.file,
        frame.line
    )
}
