//! The reader of traces takes bytes from anywhere: whole files give what was written, damaged ones a prefix or an error with its place,
//! and none a panic or an endless wait.

use raddle_event::{EventKind, ThreadId};
use raddle_native::trace::{Gap, Recorded, TraceError, USUAL_LIMIT, read};
use raddle_runtime::trace::{
    CHUNK_HEADER, Chunk, Draft, HEADER_UNIT, Kind, MOST_BYTES, State, encode, new_header, write_chunk,
};
use std::path::PathBuf;
use std::time::Instant;

const TEXT: &str = r#"{"path":"/nowhere/program","hash":"00","arguments":["a","b"]}"#;
const LIMIT: usize = 100_000;

/// Numbers that look like chance, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// Kind and code, sequence number, site, address, further numbers.
type Line = (Kind, u8, u64, u32, u64, Vec<u64>);

/// A thread's log in the making.
#[derive(Default)]
struct Log {
    chunks: Vec<Vec<u8>>,
}

impl Log {
    fn add(&mut self, entries: &[Line]) {
        let (mut state, mut bytes) = (State::NEW, Vec::new());
        for (kind, code, sequence, site, address, more) in entries {
            let mut out = [0; MOST_BYTES + 64];
            let (kind, text) = ((*kind, *code), if *kind == Kind::Module { &b"/lib/x"[..] } else { &[] });
            let draft = Draft { kind, sequence: *sequence, site: *site, address: *address, more, text };
            let length = encode(&mut state, &mut out, &draft);
            bytes.extend_from_slice(&out[..length]);
        }
        self.chunks.push(bytes);
    }
}

fn file(logs: &[Log]) -> Vec<u8> {
    let mut bytes = new_header(TEXT);
    bytes[16] = 7;
    for round in 0..logs.iter().map(|log| log.chunks.len()).max().unwrap_or(0) {
        for (thread, log) in logs.iter().enumerate() {
            let Some(content) = log.chunks.get(round) else { continue };
            let length = (CHUNK_HEADER + content.len()).next_multiple_of(HEADER_UNIT);
            let mut chunk = vec![0; length];
            let head =
                Chunk { thread: thread as u32, number: round as u32, bytes: length, used: content.len() };
            write_chunk(chunk.first_chunk_mut().unwrap(), head);
            chunk[CHUNK_HEADER..CHUNK_HEADER + content.len()].copy_from_slice(content);
            bytes.extend(chunk);
        }
    }
    bytes
}

fn read_bytes(bytes: &[u8]) -> Result<Recorded, TraceError> {
    read_limited(bytes, LIMIT)
}

fn read_limited(bytes: &[u8], limit: usize) -> Result<Recorded, TraceError> {
    // Of this process, since a soak runs each test in one of its own; and of this thread.
    let name = format!("{}-{:?}.trace", std::process::id(), std::thread::current().id());
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    let read = read(&path, limit);
    std::fs::remove_file(&path).unwrap();
    read
}

/// Two threads with a bit of everything.
fn sample(random: &mut Random) -> Vec<Log> {
    let kinds = [
        (Kind::Read, 7, 3),
        (Kind::Write, 7, 3),
        (Kind::Load, 1, 1),
        (Kind::Store, 1, 1),
        (Kind::Modify, 6, 1),
        (Kind::Fence, 1, 0),
        (Kind::Acquire, 2, 0),
        (Kind::Release, 2, 0),
        (Kind::WaitBegin, 1, 1),
        (Kind::WaitEnd, 3, 0),
        (Kind::Signal, 1, 0),
        (Kind::Arrive, 1, 1),
        (Kind::Depart, 1, 1),
        (Kind::Post, 1, 0),
        (Kind::Init, 1, 1),
        (Kind::Create, 1, 1),
        (Kind::Join, 1, 1),
        (Kind::Begin, 1, 4),
        (Kind::End, 1, 0),
        (Kind::Alloc, 1, 1),
        (Kind::Free, 1, 0),
        (Kind::Map, 1, 1),
        (Kind::Unmap, 1, 1),
        (Kind::Module, 1, 2),
        (Kind::Race, 1, 1),
        (Kind::LoopBegin, 1, 1),
        (Kind::LoopEnd, 1, 0),
        (Kind::WriteAmong, 1, 1),
        (Kind::Exit, 1, 0),
    ];
    let mut sequence = 1;
    let mut logs = vec![Log::default(), Log::default()];
    for _ in 0..1 + random.below(3) {
        for log in &mut logs {
            let entries: Vec<_> = (0..random.below(40))
                .map(|_| {
                    sequence += random.below(3);
                    let (kind, codes, numbers) = random.pick(&kinds);
                    let mut code = random.below(codes) as u8;
                    let plain = matches!(kind, Kind::Read | Kind::Write);
                    let count = match code {
                        0..5 if plain => 0,
                        5 if plain => 1,
                        _ => numbers,
                    };
                    if kind == Kind::Fence {
                        code = 5;
                    }
                    let address = 0x5000_0000 + random.below(64) * 4;
                    let more = (0..count).map(|_| 1 + random.below(12)).collect();
                    (kind, code, sequence, random.below(500) as u32, address, more)
                })
                .collect();
            log.add(&entries);
        }
    }
    logs
}

#[test]
fn threads_are_merged_by_sequence() {
    let mut logs = vec![Log::default(), Log::default()];
    let begin = |sequence, stack| (Kind::Begin, 0, sequence, u32::MAX, 0, vec![stack, 0x1000, 0, 0]);
    logs[0].add(&[
        begin(1, 0x10000),
        (Kind::Create, 0, 2, 5, 0, vec![1]),
        (Kind::Alloc, 0, 3, 6, 0x9000, vec![16]),
        (Kind::Acquire, 0, 4, 7, 0x9000, vec![]),
        (Kind::Write, 2, 5, 8, 0x9008, vec![]),
        (Kind::Release, 0, 5, 9, 0x9000, vec![]),
        (Kind::Write, 5, 9, 10, 0x9000, vec![16]),
        (Kind::Free, 0, 9, 10, 0x9000, vec![]),
    ]);
    logs[1].add(&[
        begin(6, 0x20000),
        (Kind::Acquire, 0, 7, 7, 0x9000, vec![]),
        (Kind::Read, 6, 8, 8, 0x9008, vec![4, 2, 4]),
        (Kind::Release, 0, 8, 9, 0x9000, vec![]),
    ]);
    logs[0].add(&[(Kind::Alloc, 0, 10, 6, 0x9000, vec![8]), (Kind::Write, 3, 11, 8, 0x9000, vec![])]);
    let recorded = read_bytes(&file(&logs)).unwrap();
    let found: Vec<String> =
        recorded.trace.events.iter().map(|event| format!("{} {:?}", event.thread, event.kind)).collect();
    assert_eq!(found, include_str!("traces/merged.txt").lines().collect::<Vec<_>>());
    assert!(recorded.gaps.is_empty() && recorded.process == 7 && recorded.program.arguments == ["a", "b"]);
    assert_eq!(recorded.shared().len(), 1);
}

#[test]
fn bytes_that_took_effect_among_atomics_come_once() {
    let mut log = Log::default();
    log.add(&[
        (Kind::Write, 3, 3, 1, 0x8000, vec![]),
        (Kind::WriteAmong, 0, 4, 1, 0x8004, vec![0b0110]),
        (Kind::Post, 0, 5, 1, 0x7000, vec![]),
    ]);
    let recorded = read_bytes(&file(&[log])).unwrap();
    let ranges: Vec<(u32, u32)> = recorded
        .trace
        .events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Access { loc, .. } => Some((loc.offset, loc.len)),
            _ => None,
        })
        .collect();
    let start = ranges[0].0;
    assert_eq!(ranges, [(start, 5), (start + 7, 1), (start + 5, 2)]);
}

/// A write that is logged between an atomic store and a load, and that comes after the load and after another write, which ended the atomics.
#[test]
fn a_write_after_the_end_of_the_atomics_stands_there() {
    let mut logs = vec![Log::default(), Log::default(), Log::default()];
    logs[0].add(&[(Kind::Store, 3, 1, 1, 0x8000, vec![4]), (Kind::Post, 0, 7, 1, 0x7000, vec![])]);
    logs[1].add(&[(Kind::Write, 2, 2, 2, 0x8000, vec![]), (Kind::End, 0, 8, 2, 0, vec![])]);
    logs[2].add(&[
        (Kind::Load, 2, 3, 3, 0x8000, vec![4]),
        (Kind::Write, 2, 4, 3, 0x8000, vec![]),
        (Kind::WriteAmong, 0, 5, 3, 0x8000, vec![0b1111]),
        (Kind::Post, 0, 6, 3, 0x7000, vec![]),
    ]);
    let recorded = read_bytes(&file(&logs)).unwrap();
    let found: Vec<(u32, bool)> = recorded
        .trace
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Atomic { .. } | EventKind::Access { .. }))
        .map(|event| (event.thread.0, matches!(event.kind, EventKind::Access { .. })))
        .collect();
    let late = [(1, true); 4];
    assert_eq!(found[..3], [(0, false), (2, false), (2, true)]);
    assert_eq!(found[3..], late);
}

#[test]
fn a_wait_loop_knows_whether_it_waited() {
    let mut log = Log::default();
    let enter = |sequence| (Kind::LoopBegin, 0, sequence, 3, 0x7000, vec![0x7040]);
    log.add(&[
        enter(1),
        (Kind::LoopEnd, 0, 2, 3, 0, vec![]),
        enter(3),
        (Kind::WaitBegin, 0, 4, 3, 0x7000, vec![0x7040]),
        (Kind::WaitEnd, 1, 5, 3, 0x7000, vec![]),
        (Kind::LoopEnd, 0, 6, 3, 0, vec![]),
        // Left by a jump from an outer one.
        (Kind::LoopBegin, 0, 7, 9, 0, vec![0]),
        enter(8),
        (Kind::LoopEnd, 0, 9, 9, 0, vec![]),
        (Kind::LoopEnd, 0, 10, 3, 0, vec![]),
    ]);
    let recorded = read_bytes(&file(&[log])).unwrap();
    let found: Vec<(usize, Option<usize>, u32, bool)> =
        recorded.wait_loops.iter().map(|one| (one.begin, one.end, one.waits, one.cond.is_some())).collect();
    assert_eq!(
        found,
        [(0, Some(0), 0, true), (0, Some(2), 1, true), (2, Some(2), 0, false), (2, None, 0, true)]
    );
}

#[test]
fn what_is_lost_ends_the_trace() {
    let mut logs = vec![Log::default(), Log::default()];
    logs[0].add(&[(Kind::Post, 0, 1, 0, 0x7000, vec![]), (Kind::Post, 0, 4, 0, 0x7000, vec![])]);
    logs[1].add(&[(Kind::Write, 2, 3, 0, 0x7004, vec![]), (Kind::Wait, 0, 3, 0, 0x7000, vec![])]);
    let mut bytes = file(&logs);
    bytes[24] = 3;
    let recorded = read_bytes(&bytes).unwrap();
    assert_eq!(recorded.gaps, [Gap::NoRoom]);
    assert_eq!(recorded.trace.events.len(), 2);
    assert_eq!(recorded.trace.events[1].thread, ThreadId(1));
    let limited = read_limited(&file(&logs), 3).unwrap();
    assert_eq!((limited.trace.events.len(), &limited.gaps[..]), (3, &[Gap::Limit][..]));
}

#[test]
fn any_bytes_give_a_value_or_an_error() {
    let soak = std::env::var_os("RADDLE_SOAK").is_some();
    let mut random = Random(17);
    let (mut read, mut refused, mut cut) = (0, 0, 0);
    let (before, mut longest) = (memory(), 0.0_f64);
    for _ in 0..if soak { 100_000 } else { 1_500 } {
        let whole = file(&sample(&mut random));
        let mut bytes = whole.clone();
        match random.below(4) {
            0 => bytes.truncate(random.below(bytes.len() as u64) as usize),
            1 => {
                // Entries only, so that the frame still holds.
                for _ in 0..1 + random.below(4) {
                    let at = HEADER_UNIT + CHUNK_HEADER + random.below(200) as usize;
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = random.pick(&[0, 1, 0x7f, 0x80, 0xff, random.0 as u8]);
                    }
                }
            }
            2 => {
                for _ in 0..1 + random.below(8) {
                    let at = random.below(bytes.len() as u64) as usize;
                    bytes[at] = random.below(256) as u8;
                }
            }
            _ => {}
        }
        let began = Instant::now();
        let found = read_limited(&bytes, USUAL_LIMIT);
        longest = longest.max(began.elapsed().as_secs_f64());
        match found {
            Ok(recorded) => {
                read += 1;
                cut += usize::from(!recorded.gaps.is_empty());
                if recorded.trace.events.len() <= LIMIT {
                    let _ = recorded.shared();
                }
            }
            Err(error) => {
                refused += 1;
                assert!(error.offset <= bytes.len() as u64 && bytes != whole, "{error}");
            }
        }
    }
    let grown = memory() - before;
    println!("the longest took {longest:.3} s, the largest {grown} KiB");
    assert!(grown < 150_000 && longest < 5.0, "{grown} KiB, {longest} s");
    // All three outcomes must have been tested.
    assert!(read > 300 && refused > 100 && cut > 50, "{read} read, {refused} refused, {cut} with gaps");
}

/// Numbers that no run has: each file has a few of 2 to the 40 and more, and costs what a file of its size may cost.
#[test]
fn damaged_numbers_cost_little() {
    const HUGE: u64 = 1 << 46;
    let entry = |kind, code, address, more: &[u64]| (kind, code, 1, 7, address, more.to_vec());
    let cases: [(&str, Vec<Line>); 5] = [
        ("walk", vec![entry(Kind::Read, 6, 0x5000_0000, &[4096, HUGE >> 12, 4])]),
        ("range", vec![entry(Kind::Write, 5, 0x5000_0000, &[1 << 62])]),
        ("walk of ranges", vec![entry(Kind::Read, 6, 0x5000_0000, &[1 << 30, 1 << 30, 1 << 29])]),
        ("maps", (0..2_000).map(|i| entry(Kind::Map, 0, 0x5000_0000 + i, &[HUGE])).collect()),
        (
            "blocks",
            (0..4_000)
                .map(|i| match i % 2 {
                    0 => entry(Kind::Alloc, 0, 0x5000_0000, &[HUGE]),
                    _ => entry(Kind::Free, 0, 0x5000_0000, &[]),
                })
                .collect(),
        ),
    ];
    for (name, entries) in cases {
        let mut log = Log::default();
        log.add(&entries);
        let bytes = file(&[log]);
        let (before, began) = (memory(), Instant::now());
        let recorded = read_limited(&bytes, USUAL_LIMIT).unwrap();
        let (seconds, grown) = (began.elapsed().as_secs_f64(), memory() - before);
        println!(
            "{name}: {} bytes, {} events, {seconds:.3} s, {grown} KiB",
            bytes.len(),
            recorded.trace.events.len()
        );
        assert!(recorded.gaps.contains(&Gap::Limit), "{name}: {:?}", recorded.gaps);
        assert!(grown < 150_000, "{name}: {grown} KiB");
        // The machine may have other work.
        assert!(seconds < 5.0, "{name}: {seconds} s");
    }
}

/// The most that this process has had, in KiB.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn foreign_files_are_named() {
    let reason = |bytes: &[u8]| read_bytes(bytes).unwrap_err().to_string();
    assert!(reason(b"").contains("is no trace of `raddle record`"));
    assert!(reason(b"\x7fELF and so on").contains("is no trace"));
    let whole = file(&sample(&mut Random(3)));
    let mut newer = whole.clone();
    newer[8] = 99;
    assert!(reason(&newer).contains("byte 8: the trace has version 99"));
    let mut damaged = whole.clone();
    damaged[70] ^= 1;
    assert!(reason(&damaged).contains("byte 64: the header is damaged"));
    let mut torn = whole.clone();
    torn[HEADER_UNIT + 1] ^= 0xff;
    assert!(reason(&torn).contains(&format!("byte {HEADER_UNIT}: here should be a chunk")));
    assert!(
        read(std::path::Path::new("/"), 1).is_err() && read(std::path::Path::new("/nowhere"), 1).is_err()
    );
}
