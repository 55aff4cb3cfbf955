//! Random small multithreaded C programs by seed: about half of them have a race, most of those by one small mistake.
//!
//! A program is one to three idioms ([`idioms`]) in a frame of threads ([`threads`]), then sometimes damaged ([`mutate`]). Programs are
//! kept small enough for all their interleavings. One run of the compiler is dear, so [`batch`] writes many programs into one file
//! and [`slice`] cuts each out of the lowered whole again. [`shrink`] makes a failing one small.

mod branchy;
mod builder;
mod destroy;
mod guarded;
mod idioms;
mod mutate;
mod shrink;
mod slice;
mod source;
#[cfg(test)]
mod tests;
mod threads;

use crate::random::Random;
use builder::Builder;
use idioms::IDIOMS;
use mutate::Words;
use std::collections::BTreeSet;

pub use branchy::{branchy, knotted};
pub use guarded::guarded;
pub use shrink::shrink;
pub use slice::slice;
pub use source::{HEADER, Item, Node, Source};

/// A program and what is in it.
#[derive(Clone, Debug)]
pub struct Sample {
    pub seed: u64,
    pub source: Source,
    /// Idioms, kinds of locks, shapes of creation, mutations.
    pub tags: BTreeSet<&'static str>,
}

/// How often what is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Other weights than the idioms' own; a name may be any part of the idiom's.
    pub weights: Vec<(String, u32)>,
    /// How many percent of the programs are damaged.
    pub mutated: u32,
    /// How many percent destroy locks and the like.
    pub destroyed: u32,
    /// Statements that synchronise, over all threads, beyond which no further idiom is added.
    pub size: usize,
}

impl Default for Profile {
    fn default() -> Self {
        Self { weights: Vec::new(), mutated: 88, destroyed: 15, size: 9 }
    }
}

impl Profile {
    /// Weights written as `once=20,barrier=0`; `destroyed=60` is that percentage.
    pub fn with_weights(mut self, text: &str) -> Self {
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, weight) = part.split_once('=').unwrap_or((part, "100"));
            let weight = weight.parse().unwrap_or(0);
            match name {
                "destroyed" => self.destroyed = weight,
                _ => self.weights.push((name.to_owned(), weight)),
            }
        }
        self
    }

    fn weight(&self, idiom: &idioms::Idiom) -> u32 {
        let own = self.weights.iter().rev().find(|(name, _)| idiom.name.contains(name.as_str()));
        own.map_or(idiom.weight, |(_, weight)| *weight)
    }
}

/// The program of a seed, for ever the same.
pub fn generate(seed: u64, profile: &Profile) -> Sample {
    let mut b = Builder::new(seed);
    let total: u32 = IDIOMS.iter().map(|idiom| profile.weight(idiom)).sum();
    for round in 0..3 {
        if round > 0 && (b.synchronisations() * b.threads > profile.size || b.chance(40)) {
            break;
        }
        let mut at = b.random.below(total.max(1) as usize) as u32;
        for idiom in IDIOMS {
            let weight = profile.weight(idiom);
            if at < weight {
                b.tag(idiom.name);
                (idiom.add)(&mut b);
                break;
            }
            at -= weight;
        }
    }
    let mut random = Random::new(seed ^ 0x64_6573_7472_6F79);
    if random.chance(profile.destroyed) {
        destroy::add(&mut b, &mut random);
    }
    let words = Words { mutexes: b.mutexes.clone(), ints: b.ints.clone(), threads: b.threads };
    let mut tags = std::mem::take(&mut b.tags);
    let (source, frame_tags) = threads::assemble(b);
    tags.extend(frame_tags);
    let mut sample = Sample { seed, source, tags };
    let mut random = Random::new(seed ^ 0x6D75_7461_7465);
    if random.chance(profile.mutated) {
        let count = match random.below(10) {
            0..6 => 1,
            6..9 => 2,
            _ => 3,
        };
        let mut done = 0;
        for _ in 0..20 {
            if let Some(tag) = mutate::mutate(&mut sample.source, &mut random, &words) {
                sample.tags.insert(tag);
                done += 1;
            }
            if done == count {
                break;
            }
        }
    }
    sample
}

/// Many programs as one file: the names of the k-th start with [`prefix`]`(k)`.
pub fn batch(samples: &[Sample]) -> String {
    let mut text = HEADER.to_owned();
    for (index, sample) in samples.iter().enumerate() {
        sample.source.render(&prefix(index), &mut text);
    }
    text
}

/// What the names of a program in a [`batch`] start with.
pub fn prefix(index: usize) -> String {
    format!("p{index}_")
}
