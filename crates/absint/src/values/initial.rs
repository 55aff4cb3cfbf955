//! What a global holds before anything ran.

use super::interval::int_bits;
use super::terms::wrap;
use raddle_facts::{Root, Term};
use raddle_ir::{GlobalId, Program, SymbolRef, Ty};

/// The value that a load of this type finds at this offset of the initialiser; `None` if it is not a term, or not known here
/// (declared only, out of bounds, half a relocation).
pub(crate) fn initial_value(program: &Program, global: GlobalId, offset: i64, ty: Ty) -> Option<Term> {
    let global = &program.globals[global];
    let init = global.init.as_ref()?;
    let pointer_bytes = program.data_model.pointer_bytes();
    let bytes = match ty {
        Ty::Ptr => pointer_bytes,
        Ty::Int(bits) if int_bits(ty).is_some() && bits % 8 == 0 => u32::from(bits) / 8,
        _ => return None,
    };
    let start = u64::try_from(offset).ok()?;
    let end = start.checked_add(u64::from(bytes))?;
    if end > global.bytes || init.is_open(start, end) {
        return None;
    }
    let at = init.relocations.iter().find(|r| r.offset < end && start < r.offset + u64::from(pointer_bytes));
    if let Some(relocation) = at {
        if relocation.offset != start || bytes != pointer_bytes {
            return None;
        }
        return match relocation.target {
            SymbolRef::Global(target) if !program.globals[target].thread_local => {
                Some(Term::root(Root::Global(target)).plus(relocation.addend))
            }
            SymbolRef::Function(target) => Some(Term::root(Root::Function(target)).plus(relocation.addend)),
            SymbolRef::Global(_) | SymbolRef::Block(..) => None,
        };
    }
    let mut value: u64 = 0;
    for byte in (start..end).rev() {
        value = value << 8 | u64::from(init.data.get(byte as usize).copied().unwrap_or(0));
    }
    Some(Term::constant(wrap(value as i64, bytes * 8)))
}

/// Whether these bytes of a global, the same for all threads, are zero before anything ran.
pub fn starts_at_zero(program: &Program, global: GlobalId, offset: i64, bytes: u64) -> bool {
    let global = &program.globals[global];
    let (Ok(start), Some(init)) = (u64::try_from(offset), &global.init) else { return false };
    let end = start.saturating_add(bytes);
    let covered = |at: u64| at >= start && at < end;
    let word = u64::from(program.data_model.pointer_bytes());
    !global.thread_local
        && end <= global.bytes
        && !init.is_open(start, end)
        && init.data.iter().enumerate().all(|(at, byte)| *byte == 0 || !covered(at as u64))
        && init.relocations.iter().all(|place| place.offset >= end || place.offset + word <= start)
}
