//! A panic inside a part becomes a reason for `unknown`.

use raddle_finding::UnknownReason;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a part; what it panics with comes back as a bug of ours. The values it worked on must not be used afterwards.
pub(crate) fn guarded<T>(part: &str, work: impl FnOnce() -> T) -> Result<T, UnknownReason> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        crate::bug(&format!("internal error in {part} ({message})"))
    })
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_becomes_a_reason() {
        assert_eq!(guarded("test", || 7), Ok(7));
        let reason = guarded("test", || -> u32 { panic!("index {} too large", 3) }).unwrap_err();
        assert_eq!(
            reason.text,
            "internal error in test (index 3 too large): this is a bug in Raddle, please report it"
        );
    }
}
