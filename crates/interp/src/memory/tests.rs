//! Random work on memory against whole copies taken at the checkpoints, and the hash of content against one computed from scratch.

use super::object::word_hash;
use super::{Birth, Fill, Memory, Name, Named, StackId, WORD};
use raddle_base::SiteId;
use raddle_event::ThreadId;
use raddle_ir::DataModel;
use raddle_machine::ObjectKind;

struct Random {
    state: u64,
    /// Some objects are locals, which have other names in hashes.
    locals: bool,
}

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % limit
    }
}

/// All that can be seen of memory, and the addresses that come next.
fn picture(memory: &Memory) -> String {
    let mut text = format!("{:x} {} {} ", memory.version, memory.records.len(), memory.live_bytes);
    for (class, table) in memory.tables.iter().enumerate() {
        for (index, object) in table.iter().enumerate().filter(|(_, object)| object.live) {
            let names: Vec<usize> =
                object.names.iter().enumerate().filter(|(_, n)| **n != 0).map(|(i, _)| i).collect();
            let known: Vec<bool> = (0..object.size as usize).map(|at| object.is_initialised(at, 1)).collect();
            text.push_str(&format!(
                "{class}/{index}/{} {:?} {:?} {names:?} {known:?} {:x} {} {}; ",
                object.generation, object.id, object.data, object.hash, object.exposed, object.has_sync
            ));
        }
    }
    let mut next = memory.clone();
    for size in [8, 3000] {
        text.push_str(&format!(
            "{:?} ",
            next.allocate(birth(size, &mut Random { state: 1, locals: false })).ok()
        ));
    }
    text
}

fn birth(size: u64, random: &mut Random) -> Birth {
    let stack = random.locals && random.below(4) == 0;
    Birth {
        kind: if stack { ObjectKind::Stack } else { ObjectKind::Heap },
        name: Name::Local(None),
        size,
        align: 8,
        fill: if random.below(2) == 0 { Fill::Zero } else { Fill::Uninitialised },
        quiet: stack && random.below(2) == 0,
        constant: false,
        thread: ThreadId::MAIN,
        site: SiteId::NONE,
        stack: StackId::EMPTY,
        ty: None,
        canon: stack.then(|| random.below(1 << 40) << 16),
    }
}

fn work(memory: &mut Memory, live: &mut Vec<u64>, random: &mut Random) {
    let pointer_bytes = u64::from(memory.layout.pointer_bytes);
    let pick = |live: &[u64], random: &mut Random| {
        live.get(random.below(live.len().max(1) as u64) as usize).copied()
    };
    match random.below(10) {
        0 | 1 => {
            let size = [1, 8, 24, 100, 512, 513, 2000, 5000][random.below(8) as usize];
            live.push(memory.allocate(birth(size, random)).expect("there is room"));
        }
        2 if live.len() > 3 => {
            let address = live.swap_remove(random.below(live.len() as u64) as usize);
            let (slot, _) = memory.owner(address).expect("it lives");
            memory.release(slot);
        }
        3 => {
            if let (Some(to), Some(from)) = (pick(live, random), pick(live, random)) {
                let len = 1 + random.below(40);
                let (a, b) = (random.below(9), random.below(9));
                if let (Some(to), Some(from)) = (memory.find(to + a, len), memory.find(from + b, len)) {
                    let piece = memory.take(from, len as usize);
                    memory.put(to, &piece);
                }
            }
        }
        4 => {
            if let (Some(at), Some(value)) = (pick(live, random), pick(live, random)) {
                let offset = random.below(6) * if random.below(4) == 0 { 3 } else { pointer_bytes };
                if let Some(at) = memory.find(at + offset, pointer_bytes) {
                    memory.store_bytes(at, &value.to_le_bytes()[..pointer_bytes as usize], Named::Name);
                }
            }
        }
        5 => {
            if let Some(address) = pick(live, random) {
                memory.expose(address);
                let (slot, _) = memory.owner(address).expect("it lives");
                memory.note_sync(slot);
                memory.identify(slot);
            }
        }
        6 => {
            if let Some(address) = pick(live, random) {
                let (offset, len) = (random.below(700), 1 + random.below(700));
                if let Some(at) = memory.find(address + offset, len) {
                    memory.fill(at, len as usize, random.below(3) as u8);
                }
            }
        }
        _ => {
            if let Some(address) = pick(live, random) {
                let (offset, value) = (random.below(64), random.below(4));
                if let Some(at) = memory.find(address + offset, 4) {
                    memory.store::<4>(at, value, Named::Number);
                }
            }
        }
    }
}

fn walk(model: DataModel, seed: u64) {
    let mut random = Random { state: seed, locals: true };
    let mut memory = Memory::new(model, 1 << 30);
    let mut live = Vec::new();
    let mut marks: Vec<(usize, String, Vec<u64>)> = Vec::new();
    for _ in 0..250 {
        match random.below(14) {
            0 => {
                let seen = picture(&memory);
                let mark = memory.checkpoint();
                marks.push((mark, seen, live.clone()));
            }
            1 if !marks.is_empty() => {
                let index = random.below(marks.len() as u64) as usize;
                marks.truncate(index + 1);
                let (mark, seen, then) = &marks[index];
                memory.restore(*mark);
                live.clone_from(then);
                assert_eq!(picture(&memory), *seen, "seed {seed}");
            }
            2 => {
                if let Some((mark, _, _)) = marks.pop() {
                    let seen = picture(&memory);
                    memory.discard(mark);
                    assert_eq!(picture(&memory), seen, "seed {seed}");
                }
            }
            _ => work(&mut memory, &mut live, &mut random),
        }
    }
    if marks.is_empty() {
        assert_eq!(memory.log.bytes(), 0);
    }
}

#[test]
fn going_back_brings_back_everything() {
    let seeds = if std::env::var_os("RADDLE_SOAK").is_some() { 10_000 } else { 40 };
    for seed in 0..seeds {
        walk(DataModel::Lp64, seed);
        walk(DataModel::Ilp32, seed);
    }
}

#[test]
fn the_hash_follows_the_content() {
    for seed in 0..200 {
        let mut random = Random { state: seed + 77, locals: false };
        let mut memory = Memory::new(DataModel::Lp64, 1 << 30);
        let mut live = Vec::new();
        for _ in 0..120 {
            work(&mut memory, &mut live, &mut random);
        }
        for &address in &live {
            let (slot, _) = memory.owner(address).expect("it lives");
            let object = memory.object(slot);
            let fresh = if object.init.is_empty() { 0 } else { super::object::FILL };
            let fresh = u64::from_le_bytes([fresh; 8]);
            if object.data.is_empty() {
                continue;
            }
            let words = object.data.len() / WORD;
            let content = memory.content(slot, 0, object.data.len());
            let sum = |value: u64| {
                (0..words).fold(0u64, |sum, i| sum.wrapping_add(word_hash(object.canon, i, value)))
            };
            let from_zero = content.wrapping_sub(sum(0));
            let from_fill = content.wrapping_sub(sum(fresh));
            assert!(object.hash == from_zero || object.hash == from_fill, "seed {seed}");
        }
    }
}
