//! Objects and their parts in the programmer's words.

use crate::load::machine;
use raddle_event::{Event, EventKind};
use raddle_machine::{Machine, ObjectKind, Sink, StackSource, Status};
use std::collections::BTreeSet;

#[derive(Default)]
struct Accesses(Vec<Event>);

impl Sink for Accesses {
    fn event(&mut self, event: Event, _stack: &dyn StackSource) {
        if matches!(event.kind, EventKind::Access { .. } | EventKind::Atomic { .. }) {
            self.0.push(event);
        }
    }
}

fn names(source: &str) -> BTreeSet<String> {
    let mut interp = machine(source);
    let mut sink = Accesses::default();
    let mut choices = Vec::new();
    while interp.status() == Status::Running {
        interp.enabled(&mut choices);
        interp.step(choices[0], &mut sink);
    }
    sink.0
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Access { loc, .. } | EventKind::Atomic { loc, .. } => Some(interp.place_name(loc)),
            _ => None,
        })
        .collect()
}

#[test]
fn parts_of_globals_have_paths() {
    let found = names(
        "struct item { int id; struct { char tag; short count; } in; }; struct { struct item items[4]; unsigned a : 3, b : 5; } queue;
         union { int i; char c[4]; } u; int grid[2][3]; int plain; atomic_int at;
         int main(void) { queue.items[3].in.count = 1; queue.items[0].id = 2; queue.b = 1; u.i = 3; u.c[2] = 1; grid[1][2] = 4; plain = 1; at = 2;
           return 0; }",
    );
    for name in ["queue.items[3].in.count", "queue.items[0].id", "u.i", "u.c[2]", "grid[1][2]", "plain", "at"]
    {
        assert!(found.contains(name), "{name} is not in {found:?}");
    }
}

#[test]
fn heap_blocks_and_shared_locals_have_names() {
    let found = names(
        "struct node { int key; long value; }; struct node *keep; int *where;
         int main(void) { struct node *n = malloc(sizeof *n); n->value = 1; keep = n; int local = 2; where = &local; *where = 3;
           int *numbers = malloc(5 * sizeof *numbers); numbers[3] = 1; where = numbers; return 0; }",
    );
    for name in ["malloc(16).value", "local", "malloc(20)[3]", "keep", "where"] {
        assert!(found.contains(name), "{name} is not in {found:?}");
    }
}

#[test]
fn objects_say_what_they_are() {
    let mut interp = machine("int g; int main(void) { int *p = malloc(12); *p = 1; g = 2; return 0; }");
    let mut sink = Accesses::default();
    let mut choices = Vec::new();
    while interp.status() == Status::Running {
        interp.enabled(&mut choices);
        interp.step(choices[0], &mut sink);
    }
    let mut infos = Vec::new();
    for event in &sink.0 {
        if let EventKind::Access { loc, .. } = event.kind {
            infos.push(interp.object_info(loc.object));
        }
    }
    assert_eq!((infos[0].kind, infos[0].name.as_str(), infos[0].size), (ObjectKind::Heap, "malloc(12)", 12));
    let (_, site, _) = infos[0].allocated.clone().expect("allocated somewhere");
    assert_eq!(interp.program().sites[site].span.expect("a line").line, 1);
    assert_eq!((infos[1].kind, infos[1].name.as_str(), infos[1].size), (ObjectKind::Global, "g", 4));
    assert_eq!(infos[1].allocated, None);
}
