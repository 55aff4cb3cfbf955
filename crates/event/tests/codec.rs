//! Schedules and traces survive both codecs; damaged files give errors, not panics.

use raddle_base::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder};
use raddle_event::{
    AccessKind, Addr, AtomicOp, Choice, Event, EventKind, Loc, LockMode, ObjectId, Schedule, ThreadId, Trace,
    WakeReason,
};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Mostly small, sometimes extreme.
    fn word(&mut self) -> u32 {
        match self.below(8) {
            0 => u32::MAX,
            1 => self.next() as u32,
            _ => self.below(40) as u32,
        }
    }
}

fn count(ordinary: u64, soak: u64) -> u64 {
    if std::env::var_os("RADDLE_SOAK").is_some() { soak } else { ordinary }
}

fn schedule(random: &mut Random) -> Schedule {
    let mut choices = Vec::new();
    for _ in 0..random.below(60) {
        let choice =
            Choice { thread: ThreadId(random.word()), variant: random.pick(&[0, 0, 0, 1, 2, u32::MAX]) };
        for _ in 0..random.pick(&[1, 1, 2, 3, 40]) {
            choices.push(choice);
        }
    }
    Schedule { choices }
}

fn event(random: &mut Random) -> Event {
    let addr = Addr { object: ObjectId(random.word()), offset: random.word() };
    let loc = Loc { object: ObjectId(random.word()), offset: random.word(), len: random.word() };
    let child = ThreadId(random.word());
    let mode = random.pick(&[LockMode::Exclusive, LockMode::Shared]);
    let kind = match random.below(31) {
        0 => EventKind::Begin,
        1 => EventKind::End,
        2 => EventKind::Create { child },
        3 => EventKind::Join { child },
        4 => EventKind::Detach { child },
        5 => EventKind::Access { loc, kind: random.pick(&[AccessKind::Read, AccessKind::Write]) },
        6 => {
            let op = random.pick(&[
                AtomicOp::Load(LoadOrder::Relaxed),
                AtomicOp::Load(LoadOrder::Acquire),
                AtomicOp::Load(LoadOrder::SeqCst),
                AtomicOp::Store(StoreOrder::Relaxed),
                AtomicOp::Store(StoreOrder::Release),
                AtomicOp::Store(StoreOrder::SeqCst),
                AtomicOp::Rmw(RmwOrder::Relaxed),
                AtomicOp::Rmw(RmwOrder::Acquire),
                AtomicOp::Rmw(RmwOrder::Release),
                AtomicOp::Rmw(RmwOrder::AcqRel),
                AtomicOp::Rmw(RmwOrder::SeqCst),
            ]);
            EventKind::Atomic { loc, op }
        }
        7 => EventKind::Fence {
            order: random.pick(&[
                FenceOrder::Acquire,
                FenceOrder::Release,
                FenceOrder::AcqRel,
                FenceOrder::SeqCst,
            ]),
        },
        8 => EventKind::Acquire { lock: addr, mode },
        9 => EventKind::Release { lock: addr, mode },
        10 => EventKind::AcquireFailed { lock: addr },
        11 => EventKind::WaitBegin { cond: addr },
        12 => EventKind::WaitEnd {
            cond: addr,
            reason: random.pick(&[WakeReason::Signalled, WakeReason::Spurious, WakeReason::TimedOut]),
        },
        13 => EventKind::Signal { cond: addr, woken: None },
        14 => EventKind::Signal { cond: addr, woken: Some(child) },
        15 => EventKind::Broadcast { cond: addr },
        16 => EventKind::BarrierArrive { barrier: addr, round: random.word() },
        17 => EventKind::BarrierLeave { barrier: addr, round: random.word() },
        18 => EventKind::SemPost { sem: addr },
        19 => EventKind::SemWait { sem: addr },
        20 => EventKind::OnceBegin { once: addr },
        21 => EventKind::OnceEnd { once: addr },
        22 => EventKind::OncePass { once: addr },
        23 => EventKind::SyncInit { object: addr },
        24 => EventKind::SyncDestroy { object: addr },
        25 => EventKind::Alloc { object: addr.object },
        26 => EventKind::Free { object: addr.object },
        27 => EventKind::BranchBegin { taken: random.word() },
        28 => EventKind::BranchEnd,
        29 => EventKind::Choose { value: random.next() },
        _ => EventKind::Exit,
    };
    Event { thread: ThreadId(random.word()), site: SiteId(random.word()), kind }
}

fn trace(random: &mut Random) -> Trace {
    let length = random.below(80);
    Trace { events: (0..length).map(|_| event(random)).collect() }
}

#[test]
fn schedules_survive() {
    for seed in 0..count(2_000, 200_000) {
        let schedule = schedule(&mut Random(seed));
        let text = schedule.to_text();
        assert_eq!(Schedule::parse(&text).as_ref(), Ok(&schedule), "seed {seed}\n{text}");
        assert!(text.lines().all(|line| line.len() <= 100));
    }
}

#[test]
fn schedule_text_is_as_documented() {
    let t = |thread, variant| Choice { thread: ThreadId(thread), variant };
    let schedule = Schedule { choices: vec![t(1, 0), t(1, 0), t(1, 0), t(2, 0), t(1, 1), t(0, 2), t(0, 2)] };
    assert_eq!(schedule.to_text(), "raddle-schedule 1\nT1*3 T2 T1/1 T0/2*2\n");
    assert_eq!(Schedule::default().to_text(), "raddle-schedule 1\n");
}

#[test]
fn broken_schedules_say_why() {
    for (text, message) in [
        ("", "line 1: does not start with `raddle-schedule 1`"),
        ("raddle-schedule 9\nT1", "line 1: version not known: `raddle-schedule 9`"),
        ("raddle-schedule 1\nT1\nT2 X", "line 3: `X` is no choice like `T1*3` or `T1/1`"),
        ("raddle-schedule 1\nT1*0", "line 2: `T1*0` is no choice like `T1*3` or `T1/1`"),
        ("raddle-schedule 1\nT1/+1", "line 2: `T1/+1` is no choice like `T1*3` or `T1/1`"),
        ("raddle-schedule 1\nT1*4000000000", "line 2: `T1*4000000000` is no choice like `T1*3` or `T1/1`"),
        ("raddle-schedule 1\nT1*67108864 T1", "line 2: more than 67108864 choices"),
    ] {
        assert_eq!(Schedule::parse(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn traces_survive_both_forms() {
    for seed in 0..count(2_000, 200_000) {
        let trace = trace(&mut Random(seed));
        assert_eq!(Trace::parse(&trace.to_text()).as_ref(), Ok(&trace), "seed {seed}\n{}", trace.to_text());
        assert_eq!(Trace::from_bytes(&trace.to_bytes()).as_ref(), Ok(&trace), "seed {seed}");
    }
}

#[test]
fn damaged_files_never_panic() {
    let (mut read, mut refused) = (0, 0);
    for seed in 0..count(6_000, 600_000) {
        let mut random = Random(seed ^ 0xDA);
        let bytes = match random.below(3) {
            0 => schedule(&mut random).to_text().into_bytes(),
            1 => trace(&mut random).to_text().into_bytes(),
            _ => trace(&mut random).to_bytes(),
        };
        let bytes = damage(&mut random, bytes);
        let text = String::from_utf8_lossy(&bytes);
        for fine in
            [Schedule::parse(&text).is_ok(), Trace::parse(&text).is_ok(), Trace::from_bytes(&bytes).is_ok()]
        {
            *(if fine { &mut read } else { &mut refused }) += 1;
        }
    }
    assert!(read > 0 && refused > 0);
}

#[test]
fn a_trace_cut_anywhere_is_refused() {
    let trace = (0..).map(|seed| trace(&mut Random(seed))).find(|t| t.events.len() > 20).unwrap();
    let bytes = trace.to_bytes();
    for end in 0..bytes.len() {
        assert!(Trace::from_bytes(&bytes[..end]).is_err(), "{end}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(Trace::from_bytes(&longer).is_err());
    let mut newer = bytes;
    newer[8] = 2;
    assert_eq!(Trace::from_bytes(&newer).unwrap_err().to_string(), "byte 8: version 2 is not known");
}

fn damage(random: &mut Random, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..1 + random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes.truncate(at),
            1 => bytes[at] = random.next() as u8,
            2 => bytes.insert(at, random.pick(b"*/T@ -9\n\xFF")),
            _ => {
                bytes.remove(at);
            }
        }
    }
    bytes
}
