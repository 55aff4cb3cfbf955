//! Texts that are no proofs: reading and checking them never panics.

use crate::programs::{one, proof};
use raddle_certify::statics::{ReadError, is_closed, read, write};
use raddle_testkit::random::Random;

const FIXTURES: &[&str] = &["mutex/conditional_lock_safe.c", "static-cells/loop_index_unknown_number_safe.c"];

#[test]
fn text_is_read_back() {
    for name in FIXTURES {
        let (program, _, analysis) = one(name);
        let proof = proof(&program, &analysis);
        let text = write(&proof);
        assert_eq!(read(&text), Ok(proof), "{name}");
    }
    assert!(matches!(read(""), Err(ReadError::Malformed(_))));
    assert!(matches!(read("{\"format\":\"raddle-witness\",\"version\":1}"), Err(ReadError::NotAProof)));
    assert_eq!(read("{\"format\":\"raddle-static-proof\",\"version\":9}"), Err(ReadError::Version(9)));
}

#[test]
fn garbage_is_refused() {
    let rounds = if std::env::var_os("RADDLE_SOAK").is_some() { 20_000 } else { 300 };
    for (seed, name) in FIXTURES.iter().enumerate() {
        let (program, models, analysis) = one(name);
        let text = write(&proof(&program, &analysis)).into_bytes();
        let mut random = Random::new(seed as u64);
        let mut readable = 0;
        for _ in 0..rounds {
            let mut bytes = text.clone();
            for _ in 0..random.between(1, 4) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] = random.pick(b"0123456789-[]{},:\"ntf"),
                    1 => {
                        bytes.remove(at);
                    }
                    2 => bytes.insert(at, random.pick(b"0123456789")),
                    // A number becomes another, so that many texts stay readable.
                    _ => {
                        let digit = bytes[at..].iter().position(u8::is_ascii_digit).map(|skip| at + skip);
                        if let Some(digit) = digit {
                            bytes[digit] = random.pick(b"0123456789");
                        }
                    }
                }
            }
            let Ok(text) = String::from_utf8(bytes) else { continue };
            if let Ok(proof) = read(&text) {
                readable += 1;
                let _ = is_closed(&program, &models, &proof);
            }
        }
        assert!(readable > rounds / 20, "only {readable} of {rounds} texts of {name} were readable");
    }
}
