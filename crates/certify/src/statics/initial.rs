//! What a global holds at first, and for ever if it is never written: its initialiser. Clients may set those that they can name.

use super::code::{At, Code};
use super::linear::{Atom, Linear};
use super::terms::sign_extend;
use super::value::Where;
use raddle_ir::{GlobalId, Operand, SymbolRef, Ty};

/// The value of a load from a constant global.
pub(crate) fn loaded(code: &Code<'_>, at: At, ptr: Operand, ty: Ty) -> Option<Linear> {
    let address = code.value(at.function, ptr, Ty::Ptr, Where::Block(at.block)).form?;
    match address.atoms[..] {
        [(Atom::Global(global), 1)] if code.program.globals[global].constant => {
            value(code, global, address.constant, ty)
        }
        _ => None,
    }
}

/// What the initialiser has at an offset; `None` where no expression says it.
pub(crate) fn value(code: &Code<'_>, global: GlobalId, offset: i64, ty: Ty) -> Option<Linear> {
    if code.is_set_by_clients(global) {
        return None;
    }
    let global = &code.program.globals[global];
    let init = global.init.as_ref()?;
    let word = u64::from(code.pointer_bytes());
    let bytes = match ty {
        Ty::Ptr => word,
        Ty::Int(bits) if bits <= 64 && bits % 8 == 0 => u64::from(bits) / 8,
        _ => return None,
    };
    let start = u64::try_from(offset).ok()?;
    let end = start.checked_add(bytes).filter(|end| *end <= global.bytes)?;
    if init.is_open(start, end) {
        return None;
    }
    let mut inside =
        init.relocations.iter().filter(|r| r.offset < end && start < r.offset.saturating_add(word));
    if let Some(relocation) = inside.next() {
        if relocation.offset != start || bytes != word || inside.next().is_some() {
            return None;
        }
        let atom = match relocation.target {
            SymbolRef::Global(target) if !code.program.globals[target].thread_local => Atom::Global(target),
            SymbolRef::Function(target) => Atom::Function(target),
            SymbolRef::Global(_) | SymbolRef::Block(..) => return None,
        };
        return Some(Linear::atom(atom).plus(&Linear::constant(relocation.addend)));
    }
    let byte = |at: u64| usize::try_from(at).ok().and_then(|at| init.data.get(at)).copied().unwrap_or(0);
    let number = (start..end).rev().fold(0_u64, |number, at| number << 8 | u64::from(byte(at)));
    Some(Linear::constant(sign_extend(number as i64, bytes as u32 * 8)))
}

/// Whether these bytes of a global, the same for all threads, are zero at first.
pub(crate) fn is_zero(code: &Code<'_>, global: GlobalId, offset: i64, bytes: u64) -> bool {
    let global = &code.program.globals[global];
    let (Ok(start), Some(init)) = (u64::try_from(offset), &global.init) else { return false };
    let end = start.saturating_add(bytes);
    let word = u64::from(code.pointer_bytes());
    !global.thread_local
        && end <= global.bytes
        && !init.is_open(start, end)
        && (start..end)
            .all(|at| usize::try_from(at).is_ok_and(|at| init.data.get(at).is_none_or(|byte| *byte == 0)))
        && init.relocations.iter().all(|place| place.offset >= end || place.offset + word <= start)
}

/// Bytes up to the first zero from an offset on, and this one.
pub(crate) fn string_bytes(code: &Code<'_>, global: GlobalId, offset: i64) -> Option<u64> {
    let global = &code.program.globals[global];
    let init = global.init.as_ref().filter(|init| init.relocations.is_empty() && init.open.is_empty())?;
    let start = u64::try_from(offset).ok()?;
    // Bytes beyond the data are zero.
    let byte = |at: u64| usize::try_from(at).ok().and_then(|at| init.data.get(at)).copied().unwrap_or(0);
    let end = (start..global.bytes).find(|at| byte(*at) == 0)?;
    Some(end - start + 1)
}
