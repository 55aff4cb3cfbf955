//! The text form, the verifier and the hash on random programs.

mod generate;
mod hash;
mod round_trip;
mod verifier;

/// Cases in an ordinary run and in a soak.
fn count(ordinary: u64, soak: u64) -> u64 {
    if std::env::var_os("RADDLE_SOAK").is_some() { soak } else { ordinary }
}
