//! Going back: a restored state is the state, and the same choices lead the same way again.

use crate::explore::{end, random_choice};
use crate::load::{machine, program};
use raddle_event::Choice;
use raddle_interp::Interp;
use raddle_machine::{IgnoreEvents, Machine, Status, TraceSink, Visibility};

pub const PROGRAMS: &[&str] = &[
    "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER;
     struct node { struct node *next; int v; } *head; int left = 4;
     void *t(void *a) { for (int i = 0; i < 2; i++) { struct node *n = malloc(sizeof *n); n->v = i + (int)(long)a;
         pthread_mutex_lock(&m); n->next = head; head = n; pthread_cond_signal(&c); pthread_mutex_unlock(&m); } return 0; }
     int main(void) { pthread_t a, b; int sum = 0; pthread_create(&a, 0, t, (void *)10);
       pthread_create(&b, 0, t, (void *)20); pthread_mutex_lock(&m);
       while (left) { while (!head) pthread_cond_wait(&c, &m); struct node *n = head; head = n->next; left--;
         sum += n->v; printf(\"%d \", n->v); free(n); }
       pthread_mutex_unlock(&m); pthread_join(a, 0); pthread_join(b, 0); return sum; }",
    "pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; sem_t s; pthread_barrier_t b; char text[700]; _Thread_local int mine;
     void *t(void *a) { char local[600]; memset(local, *(char *)a, sizeof local); mine = local[599];
       sem_wait(&s); memcpy(text + (mine == 'x'), local, 600); sem_post(&s); pthread_barrier_wait(&b);
       pthread_rwlock_rdlock(&l); mine += text[1]; pthread_rwlock_unlock(&l);
       pthread_rwlock_wrlock(&l); text[650] += mine; pthread_rwlock_unlock(&l); return (void *)(long)mine; }
     int main(void) { pthread_t a; void *r; sem_init(&s, 0, 1); pthread_barrier_init(&b, 0, 2);
       pthread_create(&a, 0, t, \"x\"); t(\"y\"); pthread_join(a, &r); printf(\"%ld %d\", (long)r, text[650]); return 0; }",
    "atomic_int turn; int *shared; pthread_key_t k; pthread_once_t o = PTHREAD_ONCE_INIT;
     void make(void) { shared = calloc(8, 4); pthread_key_create(&k, free); }
     int sum(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); int s = 0;
       while (n--) s += __builtin_va_arg(l, int); __builtin_va_end(l); return s; }
     int fib(int n) { int a[2]; a[0] = n < 2 ? n : fib(n - 1); a[1] = n < 2 ? 0 : fib(n - 2); return a[0] + a[1]; }
     void *t(void *a) { pthread_once(&o, make); pthread_setspecific(k, malloc(16)); int me = (int)(long)a;
       while (turn != me) ; shared[me] = fib(5) + sum(3, me, 2, 3); turn++; return 0; }
     int main(void) { pthread_t a, b; pthread_create(&a, 0, t, (void *)0); pthread_create(&b, 0, t, (void *)1);
       pthread_join(a, 0); pthread_join(b, 0); printf(\"%d %d\", shared[0], shared[1]); free(shared); return 0; }",
];

/// All of a state that can be asked for.
fn picture(interp: &mut Interp) -> String {
    let mut choices = Vec::new();
    interp.enabled(&mut choices);
    let pending: Vec<_> =
        (0..interp.thread_count()).map(|t| interp.pending(raddle_event::ThreadId(t))).collect();
    let locks: Vec<_> =
        (0..interp.thread_count()).map(|t| interp.held_locks(raddle_event::ThreadId(t))).collect();
    format!(
        "{:032x} {choices:?} {pending:?} {locks:?} {:?} {:?} {:?} {:?}",
        interp.fingerprint(),
        interp.status(),
        interp.problems(),
        interp.assumptions(),
        String::from_utf8_lossy(interp.output()),
    )
}

/// Runs up to `count` random steps; the choices taken and the events.
fn walk(interp: &mut Interp, count: usize, seed: &mut u64) -> (Vec<Choice>, TraceSink) {
    let (mut taken, mut sink, mut choices) = (Vec::new(), TraceSink::default(), Vec::new());
    while taken.len() < count && interp.status() == Status::Running {
        interp.enabled(&mut choices);
        let choice = random_choice(&choices, seed);
        interp.step(choice, &mut sink);
        taken.push(choice);
    }
    (taken, sink)
}

fn replay(interp: &mut Interp, taken: &[Choice]) -> TraceSink {
    let mut sink = TraceSink::default();
    for &choice in taken {
        interp.step(choice, &mut sink);
    }
    sink
}

fn visibilities() -> [Visibility; 2] {
    [Visibility::SyncOnly, Visibility::EveryAccess]
}

#[test]
fn restored_states_are_the_same_and_go_on_the_same_way() {
    let rounds = if std::env::var_os("RADDLE_SOAK").is_some() { 2000 } else { 40 };
    for source in PROGRAMS {
        for visibility in visibilities() {
            let mut interp = machine(source);
            interp.set_visibility(visibility);
            for seed in 0..rounds {
                let mut state = seed * 7919 + 1;
                interp.reset();
                nested(&mut interp, 4, &mut state);
            }
        }
    }
}

/// Walks, marks, walks on, comes back, walks the same again; with more of the same inside.
fn nested(interp: &mut Interp, depth: u32, seed: &mut u64) {
    walk(interp, 1 + (*seed >> 40) as usize % 12, seed);
    let before = picture(interp);
    let checkpoint = interp.checkpoint();
    let (taken, events) = walk(interp, 1 + (*seed >> 41) as usize % 25, seed);
    let after = picture(interp);
    interp.restore(&checkpoint);
    assert_eq!(picture(interp), before);
    if depth > 0 {
        nested(interp, depth - 1, seed);
        interp.restore(&checkpoint);
        assert_eq!(picture(interp), before);
    }
    let again = replay(interp, &taken);
    assert_eq!(again.trace, events.trace);
    assert_eq!(picture(interp), after);
    if (*seed >> 45) & 1 == 0 {
        interp.restore(&checkpoint);
    }
    interp.discard(checkpoint);
}

#[test]
fn a_discarded_checkpoint_leaves_the_earlier_one_whole() {
    for source in PROGRAMS {
        for seed in 0..20u64 {
            let mut state = seed * 104_729 + 5;
            let mut interp = machine(source);
            walk(&mut interp, seed as usize, &mut state);
            let before = picture(&mut interp);
            let outer = interp.checkpoint();
            for _ in 0..3 {
                walk(&mut interp, 4, &mut state);
                let inner = interp.checkpoint();
                walk(&mut interp, 5, &mut state);
                interp.discard(inner);
            }
            walk(&mut interp, 4, &mut state);
            interp.restore(&outer);
            assert_eq!(picture(&mut interp), before);
        }
    }
}

#[test]
fn two_machines_do_the_same() {
    for source in PROGRAMS {
        let program = program(source, raddle_ir::DataModel::Lp64);
        let mut one = crate::load::machine_for(program.clone(), raddle_interp::Options::default());
        let mut two = crate::load::machine_for(program, raddle_interp::Options::default());
        let (taken, events) = walk(&mut one, usize::MAX, &mut 99);
        assert_eq!(replay(&mut two, &taken).trace, events.trace);
        assert_eq!(end(&one), end(&two));
        let mut copy = two.clone();
        copy.reset();
        assert_eq!(replay(&mut copy, &taken).trace, events.trace);
    }
}

/// Counted, not measured: the bytes that the machine holds for the program and for going back.
#[test]
fn memory_does_not_grow_from_run_to_run() {
    let runs = if std::env::var_os("RADDLE_SOAK").is_some() { 1_000_000 } else { 3_000 };
    let mut interp = machine(PROGRAMS[0]);
    let mut state = 17;
    let mut first = 0;
    for run in 0..runs {
        interp.reset();
        let mut choices = Vec::new();
        while interp.status() == Status::Running {
            interp.enabled(&mut choices);
            let choice = random_choice(&choices, &mut state);
            interp.step(choice, &mut IgnoreEvents);
        }
        interp.reset();
        let now = interp.footprint();
        if run == 0 {
            first = now;
        }
        assert_eq!(now, first, "after run {run}");
    }
}

#[test]
fn memory_does_not_grow_inside_a_long_run() {
    let mut interp = machine(
        "void use(int *p) { *p += 1; }
         int main(void) { int n = 0; for (int i = 0; i < 300000; i++) { int x = i; use(&x); n += x; free(malloc(24)); }
           return n & 1; }",
    );
    let small = crate::explore::first_run(&mut interp);
    assert_eq!(small, "exit 0");
    let records = 300_000 * 2 * 64;
    assert!(interp.footprint() < records + (1 << 20), "{} bytes", interp.footprint());
}
