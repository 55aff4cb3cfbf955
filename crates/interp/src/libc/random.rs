//! Random numbers: glibc's own generators, so that a seeded program sees the same sequence as natively.
//!
//! `rand` and `random` are the additive feedback generator of degree 31 (`TYPE_3` in glibc's `random_r.c`), shared by all threads under
//! glibc's internal lock: calling them is no race and orders nothing. `rand_r` and `erand48` keep their state in the program's memory.
//! Sources of real randomness give the same sequence in every run (A-INPUT).

use super::values::{double, int};
use super::{Family, Host, Outcome};
use std::sync::Arc;

pub(super) const FUNCTIONS: Family = &[
    ("rand", |h| Ok(int(next_random(h) as i32))),
    ("srand", srand),
    ("rand_r", rand_r),
    ("drand48", |h| Ok(fraction(next48(h)))),
    ("lrand48", |h| Ok(u128::from(next48(h) >> 17))),
    ("mrand48", mrand48),
    ("srand48", srand48),
    ("erand48", erand48),
    ("arc4random", |h| Ok(u128::from(random_word(h)))),
    ("arc4random_uniform", arc4random_uniform),
    ("arc4random_buf", getrandom),
    ("getrandom", getrandom),
];

/// The ring of the additive generator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Additive {
    ring: [u32; DEGREE],
    front: u8,
}

const DEGREE: usize = 31;
const SEPARATION: usize = 3;

impl Additive {
    fn seeded(seed: u32) -> Additive {
        let mut ring = [0u32; DEGREE];
        ring[0] = if seed == 0 { 1 } else { seed };
        for index in 1..DEGREE {
            // 16807 · x mod 2^31 - 1 on signed words, by Schrage's method.
            let previous = i64::from(ring[index - 1] as i32);
            let word = 16807 * (previous % 127_773) - 2836 * (previous / 127_773);
            ring[index] = if word < 0 { word + 0x7fff_ffff } else { word } as u32;
        }
        let mut generator = Additive { ring, front: SEPARATION as u8 };
        for _ in 0..10 * DEGREE {
            generator.next();
        }
        generator
    }

    fn next(&mut self) -> u32 {
        let front = usize::from(self.front);
        let rear = (front + DEGREE - SEPARATION) % DEGREE;
        self.ring[front] = self.ring[front].wrapping_add(self.ring[rear]);
        self.front = ((front + 1) % DEGREE) as u8;
        self.ring[front] >> 1
    }
}

impl Default for Additive {
    fn default() -> Self {
        Additive::seeded(1)
    }
}

fn next_random(host: &mut dyn Host) -> u32 {
    Arc::make_mut(&mut host.state().random).next()
}

/// 32 bits.
fn random_word(host: &mut dyn Host) -> u32 {
    next_random(host) << 16 ^ next_random(host)
}

fn srand(host: &mut dyn Host) -> Outcome<u128> {
    let seed = host.int(0) as u32;
    host.state().random = Arc::new(Additive::seeded(seed));
    Ok(0)
}

fn rand_r(host: &mut dyn Host) -> Outcome<u128> {
    let seed = host.pointer(0);
    let mut state = host.read_int(seed)? as u32;
    let mut piece = |modulus: u32| {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        (state / 65_536) % modulus
    };
    let (first, second, third) = (piece(2048), piece(1024), piece(1024));
    host.write_int(seed, state as i32)?;
    Ok(u128::from((first << 10 ^ second) << 10 ^ third))
}

const MASK48: u64 = (1 << 48) - 1;

fn step48(state: u64) -> u64 {
    state.wrapping_mul(0x5_deec_e66d).wrapping_add(0xb) & MASK48
}

fn next48(host: &mut dyn Host) -> u64 {
    let state = host.state();
    state.random48 = step48(state.random48);
    state.random48
}

fn fraction(state: u64) -> u128 {
    double(state as f64 / (1u64 << 48) as f64)
}

fn mrand48(host: &mut dyn Host) -> Outcome<u128> {
    let value = (next48(host) >> 16) as i32;
    Ok(host.word(i64::from(value)))
}

fn srand48(host: &mut dyn Host) -> Outcome<u128> {
    let seed = u64::from(host.long(0) as u32);
    host.state().random48 = seed << 16 | 0x330e;
    Ok(0)
}

fn erand48(host: &mut dyn Host) -> Outcome<u128> {
    let address = host.pointer(0);
    let mut bytes = [0; 8];
    host.read(address, &mut bytes[..6])?;
    let state = step48(u64::from_le_bytes(bytes));
    host.write(address, &state.to_le_bytes()[..6])?;
    Ok(fraction(state))
}

fn arc4random_uniform(host: &mut dyn Host) -> Outcome<u128> {
    let bound = host.int(0) as u32;
    Ok(u128::from(if bound == 0 { 0 } else { random_word(host) % bound }))
}

fn getrandom(host: &mut dyn Host) -> Outcome<u128> {
    let (buffer, len) = (host.pointer(0), host.size(1).min(1 << 20));
    let bytes: Vec<u8> = (0..len).map(|_| next_random(host) as u8).collect();
    host.write_bytes(buffer, &bytes)?;
    Ok(u128::from(len))
}
