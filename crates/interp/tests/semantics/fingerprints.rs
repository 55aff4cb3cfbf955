//! Fingerprints: the same for states that differ by names only, different for states that differ at all.

use crate::explore::random_choice;
use crate::load::machine;
use raddle_event::{Choice, ThreadId};
use raddle_interp::Interp;
use raddle_machine::{IgnoreEvents, LockHow, Machine, OpKind, Status};
use std::collections::{BTreeMap, BTreeSet};

/// Fingerprints of all states in which the run has stopped at a place where every thread but main has ended.
fn join_states(interp: &mut Interp) -> BTreeSet<u128> {
    fn explore(interp: &mut Interp, found: &mut BTreeSet<u128>) {
        let waiting = (1..interp.thread_count()).all(|t| interp.pending(ThreadId(t)).is_none());
        let joins = matches!(
            interp.pending(ThreadId::MAIN).map(|op| op.kind),
            Some(OpKind::Join { child: ThreadId(1), how: LockHow::Block })
        );
        if interp.thread_count() == 3 && waiting && joins {
            found.insert(interp.fingerprint());
            return;
        }
        let mut choices = Vec::new();
        interp.enabled(&mut choices);
        let checkpoint = interp.checkpoint();
        for choice in choices {
            interp.step(choice, &mut IgnoreEvents);
            explore(interp, found);
            interp.restore(&checkpoint);
        }
        interp.discard(checkpoint);
    }
    let mut found = BTreeSet::new();
    explore(interp, &mut found);
    found
}

fn two_threads(body: &str, globals: &str) -> String {
    format!(
        "{globals} void *t(void *a) {{ int me = (int)(long)a; {body} return 0; }}
         int main(void) {{ pthread_t a, b; pthread_create(&a, 0, t, (void *)0); pthread_create(&b, 0, t, (void *)1);
           pthread_join(a, 0); pthread_join(b, 0); return 0; }}"
    )
}

#[test]
fn the_order_of_allocations_does_not_count() {
    let source = two_threads(
        "sem_wait(&s); sem_post(&s); p[me] = malloc(8 + 8 * me); *(int *)p[me] = me; sem_wait(&s); sem_post(&s);",
        "sem_t s = {{1}}; void *p[2];",
    )
    .replace("pthread_t a, b;", "pthread_t a, b; sem_init(&s, 0, 1);");
    assert_eq!(join_states(&mut machine(&source)).len(), 1);
}

#[test]
fn an_address_that_was_looked_at_counts() {
    let source = two_threads(
        "sem_wait(&s); sem_post(&s); p[me] = malloc(8); q[me] = (unsigned long)p[me]; sem_wait(&s); sem_post(&s);",
        "sem_t s; void *p[2]; unsigned long q[2];",
    )
    .replace("pthread_t a, b;", "pthread_t a, b; sem_init(&s, 0, 1);");
    assert_eq!(join_states(&mut machine(&source)).len(), 2);
}

#[test]
fn what_is_reached_through_a_number_counts() {
    let source = two_threads(
        "sem_wait(&s); if (!q) { int *p = malloc(4); q = (unsigned long)p; } *(int *)q = me; sem_post(&s);",
        "sem_t s; unsigned long q;",
    )
    .replace("pthread_t a, b;", "pthread_t a, b; sem_init(&s, 0, 1);");
    assert_eq!(join_states(&mut machine(&source)).len(), 2);
}

#[test]
fn differences_of_pointers_into_one_block_do_not_count() {
    let source = two_threads(
        "sem_wait(&s); sem_post(&s); char *c = malloc(8); p[me] = c; q[me] = (c + 5) - c; sem_wait(&s); sem_post(&s);",
        "sem_t s; void *p[2]; unsigned long q[2];",
    )
    .replace("pthread_t a, b;", "pthread_t a, b; sem_init(&s, 0, 1);");
    assert_eq!(join_states(&mut machine(&source)).len(), 1);
}

#[test]
fn leaked_blocks_do_not_count() {
    let source = two_threads(
        "sem_wait(&s); if (first == 0) { first = 1; malloc(40); } sem_post(&s);",
        "sem_t s; int first;",
    )
    .replace("pthread_t a, b;", "pthread_t a, b; sem_init(&s, 0, 1);");
    assert_eq!(join_states(&mut machine(&source)).len(), 1);
}

/// Creates two threads that do the same in one order or the other; the states in which both stand in the middle.
fn symmetric(source: &str) -> usize {
    let mut interp = machine(source);
    let mut found = BTreeSet::new();
    for order in [[1, 2], [2, 1]] {
        interp.reset();
        let mut choices = Vec::new();
        while interp.thread_count() < 3 {
            interp.enabled(&mut choices);
            interp.step(choices[0], &mut IgnoreEvents);
        }
        for (thread, steps) in [(order[0], 3), (order[1], 1)] {
            for _ in 0..steps {
                interp.step(Choice { thread: ThreadId(thread), variant: 0 }, &mut IgnoreEvents);
            }
        }
        found.insert(interp.fingerprint());
    }
    found.len()
}

#[test]
fn the_numbering_of_threads_does_not_count() {
    let program = |argument: &str, extra: &str| {
        format!(
            "atomic_int n; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_t ids[2];
             void *t(void *a) {{ pthread_mutex_lock(&m); n++; n++; pthread_mutex_unlock(&m); {extra} return a; }}
             int main(void) {{ pthread_t a, b; pthread_create(&a, 0, t, {argument}); pthread_create(&b, 0, t, 0);
               pthread_exit(0); }}"
        )
    };
    assert_eq!(symmetric(&program("0", "")), 1);
    assert_eq!(symmetric(&program("(void *)5", "")), 2);
    // The handles are kept: the first one made is told from the second.
    let kept = "atomic_int n; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_t ids[2];
         void *t(void *a) { pthread_mutex_lock(&m); n++; n++; pthread_mutex_unlock(&m); return a; }
         int main(void) { pthread_create(&ids[0], 0, t, 0); pthread_create(&ids[1], 0, t, 0); pthread_exit(0); }";
    assert_eq!(symmetric(kept), 2);
}

#[test]
fn every_reachable_byte_counts() {
    let source = "struct node { struct node *next; unsigned char b[12]; } *list; char big[1000]; _Thread_local short mine; atomic_int stop;
         int main(int argc, char **argv) { for (int i = 0; i < 3; i++) { struct node *n = calloc(1, sizeof *n); n->next = list; list = n; }
           mine = 1; int where = argc > 1 ? atoi(argv[1]) : -1;
           struct node *n = list; for (int i = 0; n; n = n->next) for (int k = 0; k < 12; k++) if (i++ == where) n->b[k] ^= 1;
           if (where >= 36 && where < 1036) big[where - 36] = 1;
           if (where == 1036) mine = 2; if (where == 1037) errno = 3;
           where = 0; n = 0; stop = 1; return stop; }";
    let program = crate::load::program(source, raddle_ir::DataModel::Lp64);
    let mut seen = BTreeMap::new();
    for place in (-1..1038).filter(|place| *place < 60 || place % 37 == 0 || *place > 1034) {
        let options = raddle_interp::Options {
            args: vec!["p".to_owned(), format!("{place:05}")],
            ..raddle_interp::Options::default()
        };
        let mut interp = crate::load::machine_for(program.clone(), options);
        let mut choices = Vec::new();
        while !matches!(interp.pending(ThreadId::MAIN).map(|op| op.kind), Some(OpKind::Atomic { .. })) {
            interp.enabled(&mut choices);
            interp.step(choices[0], &mut IgnoreEvents);
        }
        // The argument string itself is reachable from the start of the process only.
        if let Some(other) = seen.insert(interp.fingerprint(), place) {
            panic!("changes at {other} and {place} look the same");
        }
    }
}

#[test]
fn equal_fingerprints_have_equal_futures() {
    // A slow twin: on random walks, states with the same fingerprint have the same set of ends.
    for source in crate::checkpoints::PROGRAMS {
        let mut interp = machine(source);
        let mut pending: BTreeMap<u128, String> = BTreeMap::new();
        for seed in 0..60u64 {
            let mut state = seed + 1;
            interp.reset();
            let mut choices = Vec::new();
            while interp.status() == Status::Running {
                interp.enabled(&mut choices);
                let mut places: Vec<String> = (0..interp.thread_count())
                    .filter_map(|t| interp.pending(ThreadId(t)).map(|op| format!("{}", op.site)))
                    .collect();
                places.sort();
                let picture = places.join(" ");
                let known = pending.entry(interp.fingerprint()).or_insert_with(|| picture.clone());
                assert_eq!(*known, picture);
                let choice = random_choice(&choices, &mut state);
                interp.step(choice, &mut IgnoreEvents);
            }
        }
    }
}
