//! Registers that differ from instance to instance of a thread.

use super::super::Refusal;
use super::super::accesses::Access;
use super::super::code::Code;
use super::super::memory::Memory;

pub(super) fn check(code: &Code<'_>, _: &[Access<'_>], _: &Memory<'_, '_>) -> Result<(), Refusal> {
    if code.facts.threads.distinct.is_empty() {
        Ok(())
    } else {
        super::refuse(code, "distinct registers are not checked")
    }
}
