//! Every address that a run touches lies in what the facts say about the operand that it came from.

use crate::{Solved, programs, soak, solve};
use raddle_absint::accesses::{self, Access};
use raddle_absint::calls::Calls;
use raddle_base::SiteId;
use raddle_event::{AccessKind, Event, EventKind, Loc};
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_interp::{Interp, Options};
use raddle_ir::{Code, Inst, Operand};
use raddle_libmodel::{Effect, Meaning, ThreadOp};
use raddle_machine::{Machine, ObjectInfo, ObjectKind as Real, Status, TraceSink};
use raddle_testkit::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Accesses seen, and those that the facts do not allow.
fn check(solved: &Solved, options: &Options, seeds: u64) -> (usize, BTreeSet<String>) {
    let calls = Calls::new(&solved.program, &solved.models, &solved.values, &solved.facts);
    let accesses = accesses::collect(&solved.program, &calls, &solved.values, &solved.facts);
    let mut by_site: BTreeMap<SiteId, Vec<&Access>> = BTreeMap::new();
    for access in &accesses {
        by_site.entry(access.site).or_default().push(access);
    }
    let (program, models) = (Arc::new(solved.program.clone()), Arc::new(solved.models.clone()));
    let (mut seen, mut wrong) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..seeds {
        let Ok(mut machine) = Interp::new(program.clone(), models.clone(), options.clone()) else { break };
        let mut random = Random::new(seed);
        let mut choices = Vec::new();
        let mut events = 0;
        for _ in 0..3000 {
            // An endless loop of plain accesses has thousands of them in a step.
            if machine.status() != Status::Running || events > 300_000 {
                break;
            }
            choices.clear();
            machine.enabled(&mut choices);
            let pick = if seed == 0 { 0 } else { random.below(choices.len()) };
            let mut sink = TraceSink::default();
            machine.step(choices[pick], &mut sink);
            events += sink.trace.events.len();
            for event in &sink.trace.events {
                let Some((loc, write)) = touched(event) else { continue };
                // What happens before and after `main` has no site; its return flushes streams, which is a gap and no access.
                if !matches!(solved.program.code_at(event.site), Some(Code::Inst(_))) {
                    continue;
                }
                if seen.insert((event.site, loc)) {
                    let info = machine.object_info(loc.object);
                    // The blocks that stand for pipes carry order, not data of the program (A-DESCRIPTOR).
                    if info.kind == Real::Library && matches!(event.kind, EventKind::Atomic { .. }) {
                        continue;
                    }
                    // No other thread gets to know of this block.
                    if info.name == "the buffer of qsort" {
                        continue;
                    }
                    if !explained(solved, &by_site, event.site, write, &info, loc) {
                        wrong.insert(describe(solved, event.site, &info, loc));
                    }
                }
            }
        }
    }
    (seen.len(), wrong)
}

fn touched(event: &Event) -> Option<(Loc, bool)> {
    match event.kind {
        EventKind::Access { loc, kind } => Some((loc, kind == AccessKind::Write)),
        EventKind::Atomic { loc, op } => Some((loc, op.writes())),
        _ => None,
    }
}

fn explained(
    solved: &Solved,
    by_site: &BTreeMap<SiteId, Vec<&Access>>,
    site: SiteId,
    write: bool,
    info: &ObjectInfo,
    loc: Loc,
) -> bool {
    let function = solved.program.sites[site].function;
    let operand = match solved.program.code_at(site) {
        Some(Code::Inst(Inst::Load { ptr, .. } | Inst::Store { ptr, .. } | Inst::Rmw { ptr, .. })) => *ptr,
        Some(Code::Inst(Inst::CmpXchg(x))) => x.ptr,
        // Pieces of a copy: any offset from the start on.
        Some(Code::Inst(Inst::MemCopy { dst, src, .. })) => {
            let operand = if write { *dst } else { *src };
            return targets(solved, function, operand)
                .iter()
                .any(|(object, at)| is(solved, *object, info) && at.low <= i64::from(loc.offset));
        }
        Some(Code::Inst(Inst::MemSet { dst, .. })) => {
            return targets(solved, function, *dst)
                .iter()
                .any(|(object, at)| is(solved, *object, info) && at.low <= i64::from(loc.offset));
        }
        _ => {
            // Library calls and the rest: by the accesses that stand on the same facts.
            return by_site.get(&site).into_iter().flatten().any(|access| {
                access
                    .targets(&solved.facts)
                    .iter()
                    .any(|(object, at)| is(solved, *object, info) && starts_before(*at, loc, info))
            });
        }
    };
    targets(solved, function, operand)
        .iter()
        .any(|(object, at)| is(solved, *object, info) && has(*at, i64::from(loc.offset), info))
        || info.name == "a local object"
            && targets(solved, function, operand).iter().any(|(object, _)| is(solved, *object, info))
}

/// Offsets in the library's memory are those of the facts, not of the run.
fn starts_before(at: Offsets, loc: Loc, info: &ObjectInfo) -> bool {
    info.kind == Real::Library || at.low <= i64::from(loc.offset)
}

fn has(at: Offsets, offset: i64, info: &ObjectInfo) -> bool {
    if info.kind == Real::Library {
        return true;
    }
    let inside = at.low <= offset && offset <= at.high;
    inside
        && match i64::try_from(at.stride) {
            Ok(0) => offset == at.anchor,
            Ok(stride) => (offset - at.anchor).rem_euclid(stride) == 0,
            Err(_) => true,
        }
}

fn targets(solved: &Solved, function: raddle_ir::FunctionId, operand: Operand) -> Vec<(ObjectId, Offsets)> {
    let of_kind = |kind: ObjectKind, offset: i64| {
        let found = solved.facts.objects.iter().find(|(_, object)| object.kind == kind);
        found.map(|(id, _)| vec![(id, Offsets::exact(offset))]).unwrap_or_default()
    };
    match operand {
        Operand::Reg(reg) => solved.facts.targets_of(solved.facts.regs[function][reg.0 as usize]).to_vec(),
        Operand::Global(global, offset) => of_kind(ObjectKind::Global(global), offset),
        Operand::Function(target) => of_kind(ObjectKind::Function(target), 0),
        Operand::Const(_) | Operand::Block(_) | Operand::Null | Operand::Undef => Vec::new(),
    }
}

/// Whether an object of the run is one of those that the abstract object stands for.
fn is(solved: &Solved, object: ObjectId, info: &ObjectInfo) -> bool {
    let allocated = info.allocated.as_ref().map(|(_, site, _)| *site);
    let abstract_object = &solved.facts.objects[object];
    let fits = abstract_object.bytes.is_none_or(|bytes| bytes == info.size);
    let named = |global: raddle_ir::GlobalId| {
        let global = &solved.program.globals[global];
        [Some(global.symbol), global.name].into_iter().flatten().any(|n| solved.program.text(n) == info.name)
    };
    match (abstract_object.kind, info.kind) {
        (ObjectKind::Global(global), Real::Global) => named(global) && fits,
        (ObjectKind::ThreadLocal(global), Real::ThreadLocal) => named(global) && fits,
        // Locals that stay private share one block of the frame.
        (ObjectKind::Stack(_), Real::Stack) if info.name == "a local object" => true,
        (ObjectKind::Stack(site), Real::Stack) => allocated == Some(site) && fits,
        (ObjectKind::Parameter(..), Real::Stack) => true,
        (ObjectKind::Heap(site), Real::Heap) => allocated == Some(site) && fits,
        (ObjectKind::Library, Real::Library | Real::ThreadLocal | Real::Global | Real::Stack) => true,
        _ => false,
    }
}

fn describe(solved: &Solved, site: SiteId, info: &ObjectInfo, loc: Loc) -> String {
    let place = &solved.program.sites[site];
    let function = solved.program.text(solved.program.functions[place.function].name);
    let line = place.span.map_or(0, |span| span.line);
    format!("{function}:{line} ({site}) touches {:?} {} + {}", info.kind, info.name, loc.offset)
}

#[test]
fn runs_touch_only_what_is_pointed_to() {
    let seeds = if soak() { 40 } else { 3 };
    let (mut accesses, mut wrong) = (0, Vec::new());
    // An access through an address made of numbers is a gap.
    for (path, fixture, program) in programs().iter().filter(|(path, ..)| !is_in(path, "addresses")) {
        let solved = solve(program.clone(), Vec::new());
        // A clean-up handler that runs when its thread exits is a gap.
        if solved.models.meanings.values().any(is_cleanup) && solved.models.meanings.values().any(is_exit) {
            continue;
        }
        let options = Options {
            args: std::iter::once("program".to_owned()).chain(fixture.args.clone()).collect(),
            stdin: fixture.stdin.clone().into_bytes(),
            ..Options::default()
        };
        let (seen, broken) = check(&solved, &options, seeds);
        accesses += seen;
        wrong.extend(broken.into_iter().map(|text| format!("{}: {text}", path.display())));
    }
    assert!(wrong.is_empty(), "{} of {accesses}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(accesses > 500, "only {accesses} accesses");
}

fn is_cleanup(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Effect(Effect::Thread(ThreadOp::CleanupRegister, _), _))
}

fn is_exit(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Effect(Effect::Thread(ThreadOp::Exit { .. }, _), _))
}

fn is_in(path: &Path, folder: &str) -> bool {
    path.parent().is_some_and(|parent| parent.ends_with(folder))
}

#[test]
fn a_missing_target_is_noticed() {
    let source = "#include <stdlib.h>
        int g[4];
        int main(void) {
            int *p = malloc(8);
            int **q = malloc(sizeof *q);
            *q = p;
            (*q)[1] = 3;
            g[2] = 1;
            int *r = &g[p[1] - 3];
            *r = 4;
            return 0;
        }";
    let solved = solve(crate::compile(source), Vec::new());
    assert!(check(&solved, &Options::default(), 1).1.is_empty());
    for set in 1..solved.facts.sets.len() {
        let mut broken = Solved { facts: solved.facts.clone(), ..solve(crate::compile(source), Vec::new()) };
        let id = raddle_facts::SetId(set as u32);
        broken.facts.sets[id].clear();
        let used = |set: raddle_facts::SetId| {
            solved.program.functions.iter().any(|(f, function)| {
                function.blocks.values().flat_map(|b| &b.insts).any(|inst| match inst {
                    Inst::Load { ptr: Operand::Reg(reg), .. }
                    | Inst::Store { ptr: Operand::Reg(reg), .. } => {
                        solved.facts.regs[f][reg.0 as usize] == set
                    }
                    _ => false,
                })
            })
        };
        if used(id) {
            assert!(!check(&broken, &Options::default(), 1).1.is_empty(), "{id} is needed");
        }
    }
}
