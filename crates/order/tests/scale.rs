//! Work grows with what happens, not with the size of blocks, the amount of memory or the length of the past.

use raddle_base::{RmwOrder, SiteId, StoreOrder};
use raddle_event::{AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, ObjectId, ThreadId};
use raddle_order::{Epochs, FirstRace, Listing, Locksets, Pairs};

const LOCK: Addr = Addr { object: ObjectId(1), offset: 0 };

fn event(thread: u32, site: u32, kind: EventKind) -> Event {
    Event { thread: ThreadId(thread), site: SiteId(site), kind }
}

fn write(thread: u32, object: u32, offset: u32, len: u32) -> Event {
    let loc = Loc { object: ObjectId(object), offset, len };
    event(thread, thread, EventKind::Access { loc, kind: AccessKind::Write })
}

fn create(child: u32) -> Event {
    event(0, 0, EventKind::Create { child: ThreadId(child) })
}

fn locked(thread: u32, inside: Event) -> [Event; 3] {
    let mode = LockMode::Exclusive;
    [
        event(thread, 90, EventKind::Acquire { lock: LOCK, mode }),
        inside,
        event(thread, 91, EventKind::Release { lock: LOCK, mode }),
    ]
}

/// Three gigabytes, written whole a thousand times; then one byte inside races.
#[test]
fn whole_block_writes_do_not_cost_bytes() {
    const SIZE: u32 = 3_000_000_000;
    let (mut epochs, mut locksets, mut pairs) =
        (Epochs::new(), Locksets::new(), Pairs::new(Listing::OncePerSite));
    let mut events = vec![create(1)];
    events.extend((0..1_000).flat_map(|i| locked(i % 2, write(i % 2, 7, 0, SIZE))));
    for event in &events {
        assert_eq!(epochs.observe(event), []);
        assert_eq!(locksets.observe(event), []);
        assert_eq!(pairs.observe(event), []);
    }
    let last = write(0, 7, SIZE - 1, 1);
    let race = FirstRace { loc: Loc { object: ObjectId(7), offset: SIZE - 1, len: 1 }, event: events.len() };
    assert_eq!(epochs.observe(&last), [race]);
    assert_eq!(locksets.observe(&last), [race]);
    assert_eq!(pairs.observe(&last).len(), 1);
}

/// Section 7 of the paper: variables share their sets, and an acquisition visits sets, not variables.
#[test]
fn variables_share_locksets() {
    let mut locksets = Locksets::new();
    locksets.observe(&create(1));
    for object in 10..10_010 {
        locksets.observe(&write(0, object, 0, 4));
    }
    assert_eq!(locksets.distinct_sets(), 1);
    for i in 0..2_000 {
        for event in locked(i % 2, write(i % 2, 10 + i, 0, 4)) {
            assert_eq!(locksets.observe(&event), []);
        }
        assert!(locksets.distinct_sets() < 10, "{}", locksets.distinct_sets());
    }
}

/// Messages that were overwritten leave the sets, and so do barrier rounds that are over.
#[test]
fn dead_points_leave_the_sets() {
    let flag = Loc { object: ObjectId(8), offset: 0, len: 8 };
    let barrier = LOCK;
    let mut locksets = Locksets::new();
    locksets.observe(&create(1));
    locksets.observe(&write(0, 7, 0, 4));
    for round in 0..1_000 {
        for thread in 0..2 {
            let op = match round % 2 {
                0 => AtomicOp::Store(StoreOrder::Release),
                _ => AtomicOp::Rmw(RmwOrder::AcqRel),
            };
            locksets.observe(&event(thread, 0, EventKind::Atomic { loc: flag, op }));
            locksets.observe(&event(thread, 0, EventKind::BarrierArrive { barrier, round }));
        }
        for thread in 0..2 {
            locksets.observe(&event(thread, 0, EventKind::BarrierLeave { barrier, round }));
        }
    }
    let set = locksets.lsw(Addr { object: ObjectId(7), offset: 0 }).expect("was written");
    assert!(set.len() <= 4, "{set:?}");
    assert!(locksets.distinct_sets() < 10, "{}", locksets.distinct_sets());
}

/// A counter under a lock, many times, while the main thread knows nothing of it: the past does not slow down the present.
#[test]
fn a_long_past_is_not_searched() {
    for listing in [Listing::Every, Listing::OncePerSite] {
        let mut pairs = Pairs::new(listing);
        pairs.observe(&create(1));
        pairs.observe(&create(2));
        for i in 0..100_000 {
            let thread = 1 + i % 2;
            for event in locked(thread, write(thread, 7, 0, 4)) {
                assert_eq!(pairs.observe(&event), []);
            }
        }
        let found = pairs.observe(&write(0, 7, 0, 4));
        assert_eq!(found.len(), if listing == Listing::Every { 100_000 } else { 2 });
    }
}
