//! The worked examples of section 2 of the 2006 paper, with the lockset after every step.

use raddle_event::{Addr, ObjectId, ThreadId, Trace};
use raddle_order::eraser::{self, Form};
use raddle_order::lockset::point::Point;
use raddle_order::{Closure, Locksets, epochs, lockset, lsa};
use raddle_testkit::traces::{Case, parse};
use std::collections::BTreeMap;

/// The toy example of section 2: the lock that protects `x` changes from `m2` to `m3`.
///
/// Each line: an event, then `LSW(x)` after it by the rules of Fig. 8; `*` is the set of all locks and threads.
const CHANGING_LOCK: &str = "
0 fork 1 2 3   | *
1 lock m1      | *
1 lock m2      | *
1 w x          | T1 m1 m2
1 unlock m1    | T1 m1 m2
1 unlock m2    | T1 m1 m2
2 lock m2      | T1 T2 m1 m2
2 lock m3      | T1 T2 m1 m2 m3
2 w x          | T2 m2 m3
2 unlock m2    | T2 m2 m3
2 unlock m3    | T2 m2 m3
3 lock m1      | T2 m2 m3
3 lock m3      | T2 T3 m1 m2 m3
3 w x          | T3 m1 m3
3 unlock m1    | T3 m1 m3
3 unlock m3    | T3 m1 m3
";

/// `IntBox`: `x` is the field of the box `o1`, which `T2` moves from `a` to `b` without touching it.
const SWAPPED_BOXES: &str = "
0 fork 1 2 3   | *
1 lock ma      | *
1 r a          | *
1 w x          | T1 ma
1 unlock ma    | T1 ma
2 lock ma      | T1 T2 ma
2 lock mb      | T1 T2 ma mb
2 r a          | T1 T2 ma mb
2 r b          | T1 T2 ma mb
2 w a          | T1 T2 ma mb
2 w b          | T1 T2 ma mb
2 unlock ma    | T1 T2 ma mb
2 unlock mb    | T1 T2 ma mb
3 lock mb      | T1 T2 T3 ma mb
3 r b          | T1 T2 T3 ma mb
3 w x          | T3 mb
3 unlock mb    | T3 mb
";

/// Section 2.1; `x` is `task.out`, every access a write as in Fig. 4, which does not tell reads from writes.
///
/// Where the paper's text says of step 2 (a) that `LH(T1)` is added, its result shows that `LH(T2)` is meant, as in its rule 3. The
/// join with `T3` in step 5, which the text leaves out, changes nothing by rule 6: `T4` has written since.
const TASK_QUEUE: &str = "
0 fork 1 2     | *
1 w x          | T1                       # 1 (a)
1 lock Q       | T1 Q                     # 1 (b)
1 unlock Q     | T1 Q
2 lock Q       | T1 T2 Q                  # 2 (a)
2 unlock Q     | T1 T2 Q
2 fork 3       | T1 T2 T3 Q               # 2 (b)
2 fork 4       | T1 T2 T3 T4 Q
3 lock T       | T1 T2 T3 T4 Q T          # 3 (a)
3 w x          | T3 T                     # 3 (b)
3 unlock T     | T3 T
4 lock T       | T3 T4 T                  # 4 (a)
4 w x          | T4 T                     # 4 (b)
4 unlock T     | T4 T
3 end          | T4 T
4 end          | T4 T
2 join 3       | T4 T
2 join 4       | T2 T4 T                  # 5 (a)
2 w x          | T2                       # 5 (b)
";

/// The same with the read of `print`: by Fig. 8 it sets `LSR(x, T2)` and leaves `LSW(x)` alone.
const TASK_QUEUE_READ: &str = "
0 fork 1       | *
0 w x          | T0
0 lock T       | T0 T
0 unlock T     | T0 T
1 lock T       | T0 T1 T
1 unlock T     | T0 T1 T
1 r x          | T0 T1 T
";

struct Example {
    case: Case,
    /// Expected set after the last event of each line.
    steps: Vec<(usize, String)>,
}

fn example(text: &str) -> Example {
    let mut steps = Vec::new();
    let mut events = String::new();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or("")) {
        if let Some((event, set)) = line.split_once('|') {
            events += event;
            events.push('\n');
            let count = parse(&events).expect("well-formed").trace.events.len();
            steps.push((count, set.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }
    Example { case: parse(&events).expect("well-formed"), steps }
}

/// A set as the examples write it: threads, then locks by name.
fn show(set: Option<Vec<Point>>, objects: &BTreeMap<String, ObjectId>) -> String {
    let Some(set) = set else { return "*".to_owned() };
    let (mut threads, mut locks) = (Vec::new(), Vec::new());
    for point in set {
        match point {
            Point::Thread(thread) => threads.push(thread.to_string()),
            Point::Lock(lock) => {
                let name = objects.iter().find(|(_, object)| **object == lock.object);
                locks.push(name.expect("named").0.clone());
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    locks.sort();
    threads.extend(locks);
    threads.join(" ")
}

fn x(case: &Case) -> Addr {
    Addr { object: case.objects["x"], offset: 0 }
}

/// Checks every step and that nothing races.
fn check_steps(text: &str) -> Trace {
    let Example { case, steps } = example(text);
    let mut locksets = Locksets::new();
    let mut observed = 0;
    for (count, expected) in steps {
        for event in &case.trace.events[observed..count] {
            assert_eq!(locksets.observe(event), []);
        }
        observed = count;
        assert_eq!(show(locksets.lsw(x(&case)), &case.objects), expected, "after event {}", count - 1);
    }
    assert_eq!(epochs::first_races(&case.trace), []);
    assert_eq!(Closure::of(&case.trace).races(), []);
    case.trace
}

#[test]
fn changing_lock() {
    check_steps(CHANGING_LOCK);
}

#[test]
fn swapped_boxes() {
    check_steps(SWAPPED_BOXES);
}

#[test]
fn task_queue() {
    check_steps(TASK_QUEUE);
}

#[test]
fn reads_have_sets_of_their_own() {
    check_steps(TASK_QUEUE_READ);
    let Example { case, .. } = example(TASK_QUEUE_READ);
    let mut locksets = Locksets::new();
    for event in &case.trace.events {
        locksets.observe(event);
    }
    let read_by = |thread| show(locksets.lsr(x(&case), ThreadId(thread)), &case.objects);
    assert_eq!(read_by(1), "T1");
    assert_eq!(read_by(0), "T0 T1 T", "no read since the write: as after the write");
}

/// Section 2: `std` reports the third access of the toy example, although it is ordered; `lsa` and we do not.
#[test]
fn eraser_fails_on_the_changing_lock() {
    let Example { case, .. } = example(CHANGING_LOCK);
    let third = case.trace.events.len() - 3;
    assert_eq!(eraser::warnings(&case.trace, Form::Plain).get(&x(&case)), Some(&third));
    assert_eq!(lsa::warnings(&case.trace), BTreeMap::new());
    assert_eq!(lockset::first_races(&case.trace), []);
}

/// The published tool does not refine at the first thread's accesses, so it takes one thread more to mislead it.
#[test]
fn eraser_with_states_fails_on_a_longer_chain() {
    let Example { case, .. } = example(CHANGING_LOCK);
    assert_eq!(eraser::warnings(&case.trace, Form::States), BTreeMap::new());
    let Example { case: longer, .. } = example(&format!(
        "0 fork 4 | *\n0 lock m1 |\n0 lock m2 |\n0 w x |\n0 unlock m1 |\n0 unlock m2 |\n{CHANGING_LOCK}"
    ));
    let last_access = longer.trace.events.len() - 3;
    assert_eq!(eraser::warnings(&longer.trace, Form::States).get(&x(&longer)), Some(&last_access));
    assert_eq!(lockset::first_races(&longer.trace), []);
}

/// Section 2: `lsa` reports the access of `T3` to the box that was handed over; so does `std`; we do not.
#[test]
fn lsa_fails_on_the_swapped_boxes() {
    let Example { case, .. } = example(SWAPPED_BOXES);
    let last_access = case.trace.events.len() - 2;
    assert_eq!(lsa::warnings(&case.trace).get(&x(&case)), Some(&last_access));
    assert_eq!(eraser::warnings(&case.trace, Form::Plain).get(&x(&case)), Some(&last_access));
    assert_eq!(lockset::first_races(&case.trace), []);
}

/// Section 4 models a volatile as a lock around each access. For C11 that invents order and hides a race.
#[test]
fn a_volatile_is_a_lock_but_an_atomic_is_not() {
    let atomic = "0 fork 1\n0 w x\n0 ld.acq f\n1 st.rel f\n1 r x\n";
    let volatile = "0 fork 1\n0 w x\n0 lock f\n0 r g\n0 unlock f\n1 lock f\n1 w g\n1 unlock f\n1 r x\n";
    let atomic = parse(atomic).expect("well-formed").trace;
    let volatile = parse(volatile).expect("well-formed").trace;
    assert_eq!(lockset::first_races(&atomic).iter().map(|race| race.event).collect::<Vec<_>>(), [5]);
    assert_eq!(lockset::first_races(&volatile), []);
}
