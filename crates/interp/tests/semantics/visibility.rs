//! Plain accesses as visible operations.

use crate::explore::ends_of;
use crate::load::machine;
use raddle_event::{AccessKind, Event, EventKind, Loc, ThreadId};
use raddle_machine::{Machine, OpKind, Sink, StackSource, Status, Visibility};

fn all_ends(source: &str, visibility: Visibility) -> Vec<String> {
    let mut interp = machine(source);
    interp.set_visibility(visibility);
    ends_of(&mut interp).into_iter().collect()
}

const LOST_UPDATE: &str = "int x; void *t(void *a) { x++; return 0; }
     int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); x++; pthread_join(a, 0); return x; }";

#[test]
fn a_switch_between_two_accesses_loses_an_update() {
    assert_eq!(all_ends(LOST_UPDATE, Visibility::SyncOnly), ["exit 2"]);
    assert_eq!(all_ends(LOST_UPDATE, Visibility::EveryAccess), ["exit 1", "exit 2"]);
    let program = machine(LOST_UPDATE);
    let sites: Vec<_> = program.program().sites.ids().collect();
    assert_eq!(all_ends(LOST_UPDATE, Visibility::Sites(sites)), ["exit 1", "exit 2"]);
    assert_eq!(all_ends(LOST_UPDATE, Visibility::Sites(Vec::new())), ["exit 2"]);
}

#[test]
fn copies_and_library_calls_can_be_interrupted() {
    let copy = "struct s { long a, b; } x, y; void *t(void *p) { x.a = 1; x.b = 1; y.a = 5; return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); y = x; long r = y.a * 2 + y.b; pthread_join(a, 0); return r; }";
    assert_eq!(all_ends(copy, Visibility::EveryAccess), ["exit 0", "exit 10", "exit 11", "exit 2", "exit 3"]);
    let string = "char x[4] = \"ab\"; void *t(void *p) { x[0] = 'c'; return 0; }
         int main(void) { pthread_t a; char y[4]; pthread_create(&a, 0, t, 0); strcpy(y, x); printf(\"%s\", x);
           pthread_join(a, 0); return y[0]; }";
    let ends = all_ends(string, Visibility::EveryAccess);
    assert_eq!(ends, ["exit 97 ab", "exit 97 cb", "exit 99 cb"]);
}

#[test]
fn callbacks_can_be_interrupted() {
    let source = "int keys[3] = {3, 1, 2}; int limit;
         int cmp(const void *a, const void *b) { return limit ? *(int *)b - *(int *)a : *(int *)a - *(int *)b; }
         void *t(void *p) { limit = 1; return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); int k[2] = {1, 2}; qsort(k, 2, sizeof(int), cmp); 
           pthread_join(a, 0); return k[0]; }";
    assert_eq!(all_ends(source, Visibility::EveryAccess), ["exit 1", "exit 2"]);
    assert_eq!(all_ends(source, Visibility::SyncOnly), ["exit 1"]);
}

#[test]
fn private_locals_are_not_visible() {
    let mut interp = machine(
        "int main(void) { int a[3] = {1, 2, 3}; int s = 0; for (int i = 0; i < 3; i++) s += a[i]; return s; }",
    );
    interp.set_visibility(Visibility::EveryAccess);
    let mut choices = Vec::new();
    let mut steps = 0;
    while interp.status() == Status::Running {
        interp.enabled(&mut choices);
        interp.step(choices[0], &mut raddle_machine::IgnoreEvents);
        steps += 1;
    }
    assert_eq!((interp.status(), steps), (Status::Exited(6), 2));
}

/// Every access that happens was announced: the event of a step equals the operation pending before it.
#[test]
fn what_is_announced_happens() {
    struct First(Option<(Loc, AccessKind)>);
    impl Sink for First {
        fn event(&mut self, event: Event, _stack: &dyn StackSource) {
            if let EventKind::Access { loc, kind } = event.kind {
                self.0.get_or_insert((loc, kind));
            }
        }
    }
    let mut accesses = 0;
    for source in crate::checkpoints::PROGRAMS {
        let mut interp = machine(source);
        interp.set_visibility(Visibility::EveryAccess);
        let (mut choices, mut state) = (Vec::new(), 5);
        while interp.status() == Status::Running {
            interp.enabled(&mut choices);
            let choice = crate::explore::random_choice(&choices, &mut state);
            let pending = interp.pending(ThreadId(choice.thread.0)).expect("enabled threads stand").kind;
            let mut sink = First(None);
            interp.step(choice, &mut sink);
            if let OpKind::Access { loc, kind } = pending {
                accesses += 1;
                assert_eq!(sink.0, Some((loc, kind)));
            }
        }
    }
    assert!(accesses > 50, "{accesses}");
}
