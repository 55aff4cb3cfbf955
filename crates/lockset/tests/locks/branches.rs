//! What the sides of branches do, by the comments in `branches.c`.

use crate::{Solved, program, solved};
use raddle_facts::{ObjectKind, Offsets, Released, Root, Side, SideLocks};
use raddle_lockset::branches::Branches;
use std::collections::BTreeMap;

#[test]
fn sides_of_a_program() {
    let s = solved(&program("branches.c"));
    let text = std::fs::read_to_string(program("branches.c")).expect("the program");
    let wanted: BTreeMap<u32, String> = text
        .lines()
        .enumerate()
        .filter_map(|(at, line)| {
            let (_, sides) = line.split_once("// sides: ")?;
            Some((at as u32 + 1, sides.trim().to_owned()))
        })
        .collect();
    let reader = s.reader();
    let mut branches = Branches::new(&s.program, &s.points_to, &reader, &s.locks, &s.accesses);
    let mut found: BTreeMap<u32, String> = BTreeMap::new();
    for function in s.program.functions.ids() {
        for (site, branch) in branches.of(function).branches {
            let line = s.program.sites[site].span.expect("a line").line;
            let sides: Vec<String> =
                branch.sides.iter().map(|side| describe(&s, side, branch.merge.is_some())).collect();
            found.insert(line, sides.join(" | "));
        }
    }
    // `rand() ? &x : &y`.
    found.retain(|line, _| !text.lines().nth(*line as usize - 1).expect("a line").contains("rand()"));
    let report: Vec<String> = wanted
        .iter()
        .filter(|(line, wanted)| found.get(line) != Some(wanted))
        .map(|(line, wanted)| format!("{line}: wanted `{wanted}`, found `{:?}`", found.get(line)))
        .collect();
    assert!(report.is_empty(), "\n{}", report.join("\n"));
    assert_eq!(wanted.len(), found.len());
}

fn describe(s: &Solved, side: &Side, merges: bool) -> String {
    let mut words: Vec<String> = side
        .accesses
        .iter()
        .map(|access| {
            let kind = if access.write { "w" } else { "r" };
            let name = match access.targets[..] {
                [(object, at)] => place(s, object, at),
                _ => "?".to_owned(),
            };
            format!("{kind}:{name}{}", locks(s, &access.locks))
        })
        .collect();
    if merges {
        words.push(format!("={}", locks(s, &side.at_merge)));
    }
    let f = side.flags;
    let flags = [
        (f.creates_thread, "creates"),
        (f.waits, "waits"),
        (f.unknown_call, "unknown"),
        (f.indirect_access, "indirect"),
        (f.leaves, "leaves"),
        (f.incomplete, "incomplete"),
    ];
    words.extend(flags.iter().filter(|(set, _)| *set).map(|(_, name)| (*name).to_owned()));
    words.join(" ")
}

fn place(s: &Solved, object: raddle_facts::ObjectId, at: Offsets) -> String {
    match s.points_to.objects[object].kind {
        ObjectKind::Global(global) if at == Offsets::exact(0) => {
            s.program.text(s.program.globals[global].symbol).to_owned()
        }
        _ => "?".to_owned(),
    }
}

fn locks(s: &Solved, locks: &SideLocks) -> String {
    let mut text = String::new();
    let mut names: Vec<&str> = locks
        .acquired
        .iter()
        .map(|(lock, _)| match lock.root {
            Root::Global(global) => s.program.text(s.program.globals[global].symbol),
            _ => "?",
        })
        .collect();
    names.sort();
    names.iter().for_each(|name| text += &format!("+{name}"));
    match &locks.released {
        Released::Anything => text += "-?",
        Released::These(list) => {
            for (object, at) in list {
                text += &format!("-{}", place(s, *object, *at));
            }
        }
    }
    text
}
