//! Mutants of real C texts: a fixture, an example or a program of `bench/programs` with one to three small changes.
//!
//! What mutants have that random programs ([`crate::programs`]) lack is everything that frontend and library models decide: initialisers,
//! qualifiers, types, library calls. So the truth cannot come from an engine of Raddle; [`judge`] asks ThreadSanitizer.
//!
//! A mutant is named by its seed and is the same as long as the file that it comes from is. A text need not compile.

mod edits;
mod judge;
mod originals;
mod shape;
mod tokens;
mod tsan;

pub use judge::{Contradiction, Judge, Judgement, Options, Replay, Verdict};
pub use originals::{Original, originals};

use crate::random::Random;
use edits::{Edit, KINDS};
use shape::Shape;

#[derive(Clone, Debug)]
pub struct Mutant<'a> {
    pub seed: u64,
    pub original: &'a Original,
    /// What was done to it, in order.
    pub kinds: Vec<&'static str>,
    pub text: String,
    /// Flags of the compiler, those of the original included.
    pub cflags: Vec<String>,
}

/// The mutant of a seed. The originals are not empty.
pub fn mutant(originals: &[Original], seed: u64) -> Mutant<'_> {
    let original = chosen(originals, seed);
    let mut random = Random::new(seed ^ name_hash(&original.name));
    let mut cflags = original.cflags.clone();
    if !original.variants.is_empty() {
        cflags.extend(original.variants[random.below(original.variants.len())].iter().cloned());
    }
    let mut text = original.text.clone();
    let mut kinds = Vec::new();
    let mut needs_headers = false;
    let wanted = [1, 1, 1, 2, 2, 3][random.below(6)];
    // A text offers at least a statement to most kinds.
    for _ in 0..40 {
        let (name, make) = KINDS[random.below(KINDS.len())];
        let edit = make(&Shape::of(&text), &mut random);
        if let Some(edit) = edit {
            needs_headers |= edit.needs_headers;
            let changed = applied(&text, edit);
            if changed != text {
                text = changed;
                kinds.push(name);
            }
        }
        if kinds.len() == wanted {
            break;
        }
    }
    if needs_headers {
        text.insert_str(0, edits::HEADERS);
    }
    Mutant { seed, original, kinds, text, cflags }
}

/// By the highest number that name and seed give together, so that a new file changes few mutants.
fn chosen(originals: &[Original], seed: u64) -> &Original {
    let rank = |original: &&Original| Random::new(seed.rotate_left(32) ^ name_hash(&original.name)).word();
    originals.iter().max_by_key(rank).expect("there are originals")
}

/// FNV-1a.
fn name_hash(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn applied(text: &str, edit: Edit) -> String {
    let mut changes = edit.changes;
    changes.sort_by_key(|(at, _)| (at.start, at.end));
    let mut new = String::new();
    let mut done = 0;
    for (at, replacement) in changes {
        if at.start < done {
            continue;
        }
        new.push_str(&text[done..at.start]);
        new.push_str(&replacement);
        done = at.end;
    }
    new.push_str(&text[done..]);
    new
}

#[cfg(test)]
mod tests {
    use super::edits::KINDS;
    use super::{mutant, originals};
    use std::collections::BTreeMap;
    use std::path::Path;

    /// Every kind occurs, the same seed is the same mutant, and nearly every mutant differs from its original.
    #[test]
    fn mutants_are_of_all_kinds() {
        let originals =
            originals(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).expect("it is readable");
        let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
        let mut unchanged = 0;
        for seed in 0..1_000 {
            let first = mutant(&originals, seed);
            assert_eq!(first.text, mutant(&originals, seed).text);
            unchanged += u32::from(first.text == first.original.text);
            for kind in first.kinds {
                *kinds.entry(kind).or_default() += 1;
            }
        }
        assert!(unchanged < 10, "{unchanged} of 1000 are the original");
        let missing: Vec<&str> =
            KINDS.iter().map(|(name, _)| *name).filter(|name| !kinds.contains_key(name)).collect();
        assert!(missing.is_empty(), "{missing:?} never occur: {kinds:?}");
    }

    /// A new file takes its share of the seeds; the others keep their mutants.
    #[test]
    fn a_new_file_changes_few_mutants() {
        let all = originals(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).expect("it is readable");
        let fewer = &all[1..];
        let changed = (0..500).filter(|seed| mutant(&all, *seed).text != mutant(fewer, *seed).text).count();
        assert!(changed < 10, "{changed}");
    }
}
