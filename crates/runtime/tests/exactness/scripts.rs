//! Random scripts: threads that touch a few bytes and synchronise in every way there is, without ever waiting for each other for ever.

pub type Op = [u32; 4];

// As in script.c. The write of each kind of plain access follows the read.
const READ: u32 = 0;
const READ_N: u32 = 2;
const READ_WALK: u32 = 4;
const ATOMIC: u32 = 6;
const FENCE: u32 = 7;
const LOCK: u32 = 8;
const UNLOCK: u32 = 9;
const TRYLOCK: u32 = 10;
const RDLOCK: u32 = 11;
const WRLOCK: u32 = 12;
const RWUNLOCK: u32 = 13;
const SPIN: u32 = 14;
const SPINUNLOCK: u32 = 15;
const POST: u32 = 16;
const TRYWAIT: u32 = 17;
const BARRIER: u32 = 18;
const ONCE: u32 = 19;
const CONDWAIT: u32 = 20;
const CREATE: u32 = 21;
const JOIN: u32 = 22;
const RELEASE: u32 = 23;
const ACQUIRE: u32 = 24;
const NEWSEM: u32 = 25;
const YIELD: u32 = 26;
const MTX: u32 = 27;
const MTXUNLOCK: u32 = 28;
const PAIR: u32 = 29;

/// The operations of each thread; thread 0 starts the others, which may start more.
pub fn random(seed: u64) -> Vec<Vec<Op>> {
    let mut rng = Random::new(seed);
    let threads = 2 + rng.below(4) as usize;
    // How much memory, how many objects, and what is liked differ from script to script.
    let taste = Taste {
        bytes: [4, 8, 16, 48][rng.below(4) as usize],
        objects: 1 + rng.below(3),
        atomics: rng.below(3),
        plain: 1 + rng.below(4),
        guarded: rng.below(3) > 0,
    };
    let rounds = if rng.below(3) == 0 { 1 + rng.below(3) } else { 0 };
    let mut scripts: Vec<Vec<Op>> = vec![Vec::new(); threads];
    for child in 1..threads as u32 {
        // Most are made by the first thread at the start, some by another one later.
        let maker = if rng.below(4) == 0 { rng.below(child) } else { 0 };
        let place = if maker == 0 { 0 } else { rng.below(scripts[maker as usize].len() as u32 + 1) };
        let place = if maker == 0 && rng.below(4) == 0 { scripts[0].len() as u32 } else { place };
        scripts[maker as usize].insert(place as usize, [CREATE, child, 0, 0]);
        if rng.below(3) == 0 {
            scripts[maker as usize].push([JOIN, child, 0, 0]);
        }
    }
    for (number, script) in scripts.iter_mut().enumerate() {
        let steps = rng.below(12);
        let joins = std::mem::take(script);
        for op in joins {
            let before = if op[0] == CREATE { rng.below(2) } else { rng.below(6) };
            for _ in 0..before {
                taste.piece(&mut rng, script, 0);
            }
            script.push(op);
        }
        for _ in 0..steps {
            taste.piece(&mut rng, script, 0);
        }
        if number < 2 && threads > 1 {
            for _ in 0..rounds {
                script.push([BARRIER, 0, 0, 0]);
                for _ in 0..rng.below(4) {
                    taste.piece(&mut rng, script, 0);
                }
            }
        }
    }
    // A barrier for the first two threads must not stand before the first thread joins the second.
    let joins_second = |op: &Op| op[0] == JOIN && op[1] == 1;
    if scripts[0].iter().any(joins_second) || rounds > 0 && !creates_early(&scripts) {
        for script in &mut scripts {
            script.retain(|op| op[0] != BARRIER);
        }
    }
    if rng.below(3) == 0 {
        let _ = pair_up(&mut rng, &mut scripts);
    }
    scripts
}

/// An even number of threads meets at a barrier for two, each once: any two of them. Only where no thread waits for another in another
/// way; `None` where there is no place outside of all locks after the last creation.
fn pair_up(rng: &mut Random, scripts: &mut [Vec<Op>]) -> Option<()> {
    let waits = |op: &Op| op[0] == JOIN || op[0] == BARRIER;
    if scripts.iter().flatten().any(waits) {
        return None;
    }
    let mut places = Vec::new();
    for script in scripts.iter() {
        let first = script.iter().rposition(|op| op[0] == CREATE).map_or(0, |at| at + 1);
        let mut depth = 0_i32;
        let mut open = Vec::new();
        for at in 0..=script.len() {
            if at >= first && depth == 0 {
                open.push(at);
            }
            depth += match script.get(at).map(|op| op[0]) {
                Some(LOCK | RDLOCK | WRLOCK | SPIN | MTX) => 1,
                Some(UNLOCK | RWUNLOCK | SPINUNLOCK | MTXUNLOCK) => -1,
                _ => 0,
            };
        }
        places.push(*open.get(rng.below(open.len() as u32) as usize)?);
    }
    let count = places.len() / 2 * 2;
    for (script, place) in scripts.iter_mut().zip(places).take(count) {
        script.insert(place, [PAIR, 0, 0, 0]);
    }
    Some(())
}

fn creates_early(scripts: &[Vec<Op>]) -> bool {
    let barrier = scripts[0].iter().position(|op| op[0] == BARRIER).unwrap_or(usize::MAX);
    scripts[0].iter().position(|op| op[0] == CREATE && op[1] == 1).is_some_and(|at| at < barrier)
        && scripts.iter().flatten().filter(|op| op[0] == JOIN).count() == 0
}

struct Taste {
    bytes: u32,
    objects: u32,
    atomics: u32,
    plain: u32,
    /// Plain accesses are made under a lock.
    guarded: bool,
}

impl Taste {
    fn piece(&self, rng: &mut Random, out: &mut Vec<Op>, depth: u32) {
        if self.guarded && depth == 0 && rng.below(20) > 0 {
            out.push([LOCK, 0, 0, 0]);
            for _ in 0..rng.below(4) {
                self.piece(rng, out, 1);
            }
            out.push([UNLOCK, 0, 0, 0]);
            return;
        }
        if rng.below(4) < self.plain {
            return self.plain(rng, out);
        }
        if rng.below(4) < self.atomics {
            return self.atomic(rng, out);
        }
        let object = rng.below(self.objects);
        // Locks are taken in one order only: mutexes outside, others inside, and never two of a kind.
        match rng.below(13) {
            0..=2 if depth == 0 => {
                self.section(rng, out, [LOCK, object, 0, 0], [UNLOCK, object, 0, 0], depth + 1)
            }
            3 if depth < 2 => {
                self.section(rng, out, [RDLOCK, object, 0, 0], [RWUNLOCK, object, 0, 0], depth + 2)
            }
            4 if depth < 2 => {
                self.section(rng, out, [WRLOCK, object, 0, 0], [RWUNLOCK, object, 0, 0], depth + 2)
            }
            5 => self.section(rng, out, [SPIN, object, 0, 0], [SPINUNLOCK, object, 0, 0], 9),
            6 if depth == 0 => self.section(rng, out, [MTX, 0, 0, 0], [MTXUNLOCK, 0, 0, 0], 9),
            7 if depth == 0 => out.push([TRYLOCK, object, 4 * rng.below(self.bytes / 4), rng.below(2)]),
            8 => out.push([if rng.below(2) == 0 { POST } else { TRYWAIT }, object, 0, 0]),
            9 => out.push([ONCE, object, 0, 0]),
            10 if depth == 0 => {
                out.push([LOCK, object, 0, 0]);
                self.plain(rng, out);
                out.push([CONDWAIT, object, 0, 0]);
                self.plain(rng, out);
                out.push([UNLOCK, object, 0, 0]);
            }
            11 => out.push([[RELEASE, ACQUIRE][rng.below(2) as usize], object, 0, 0]),
            12 => out.push([if rng.below(8) == 0 { NEWSEM } else { YIELD }, object, 0, 0]),
            _ => self.plain(rng, out),
        }
    }

    fn section(&self, rng: &mut Random, out: &mut Vec<Op>, open: Op, close: Op, depth: u32) {
        out.push(open);
        for _ in 0..rng.below(4) {
            if depth < 9 && rng.below(4) == 0 {
                self.piece(rng, out, depth);
            } else {
                self.plain(rng, out);
            }
        }
        out.push(close);
    }

    fn plain(&self, rng: &mut Random, out: &mut Vec<Op>) {
        let write = rng.below(2);
        let size = [4, 4, 4, 8, 1, 2, 1, 16][rng.below(8) as usize].min(self.bytes);
        let aligned = if rng.below(8) == 0 { 1 } else { size };
        let at = rng.below((self.bytes - size) / aligned + 1) * aligned;
        match rng.below(12) {
            0 => {
                let bytes = 1 + rng.below(self.bytes - at);
                out.push([READ_N + write, at, bytes, 0]);
            }
            1 if self.bytes >= 16 => {
                let size = [1, 2, 4, 8][rng.below(4) as usize];
                let stride = [1, 2, 3, 4, 5, 8][rng.below(6) as usize];
                let most = (self.bytes - size) / stride + 1;
                let count = 1 + rng.below(most.min(12));
                let reach = (count - 1) * stride;
                let first = rng.below(self.bytes - size - reach + 1);
                match rng.below(3) {
                    0 => {
                        out.push([READ_WALK + write, first + reach, size | count << 8, stride.wrapping_neg()])
                    }
                    _ => out.push([READ_WALK + write, first, size | count << 8, stride]),
                }
            }
            _ => out.push([READ + write, at, size, 0]),
        }
    }

    fn atomic(&self, rng: &mut Random, out: &mut Vec<Op>) {
        if rng.below(6) == 0 {
            return out.push([FENCE, [2, 3, 4, 5][rng.below(4) as usize], 0, 0]);
        }
        let size = [4, 4, 8, 1, 2][rng.below(5) as usize].min(self.bytes);
        let aligned = if rng.below(10) == 0 { 1 } else { size };
        let at = rng.below((self.bytes - size) / aligned + 1) * aligned;
        let kind = rng.below(4);
        let order = match kind {
            0 => [0, 2, 5][rng.below(3) as usize],
            1 => [0, 3, 5][rng.below(3) as usize],
            _ => [0, 2, 3, 4, 5][rng.below(5) as usize],
        };
        let failure = [0, 2, 5][rng.below(3) as usize];
        out.push([ATOMIC, at, size, kind | order << 8 | failure << 16]);
    }
}

/// SplitMix64: a seed names the same script for ever.
struct Random {
    state: u64,
}

impl Random {
    fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(bound)) as u32
    }
}
