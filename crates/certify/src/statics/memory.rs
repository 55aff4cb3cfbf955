//! Memory facts.

use super::Refusal;
use super::code::{At, Code};
use super::value::Value;
use raddle_ir::{Operand, Ty};

pub(crate) struct Memory;

impl Memory {
    pub fn of(code: &Code<'_>) -> Result<Memory, Refusal> {
        if code.facts.values.memory.values().flatten().any(|facts| !facts.is_empty()) {
            return code.refuse(raddle_base::SiteId::NONE, "memory", "memory facts are not checked");
        }
        Ok(Memory)
    }

    pub fn loaded(&self, _: &Code<'_>, _: At, _: Operand, _: Ty) -> Result<Option<Value>, Refusal> {
        Ok(None)
    }
}
