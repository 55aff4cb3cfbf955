//! Variadic arguments in memory, laid out so that the code clang makes for `va_arg` finds them.
//!
//! x86-64: the register save areas are declared used up, so every argument is read from the overflow area, in slots of 8 bytes (16
//! for what is aligned so). i386: arguments in slots of 4 bytes. A struct of two floats in one register (8 bytes) is not told apart from
//! two floats passed alone.

use super::{Cx, Halt};
use crate::memory::{Name, Named};
use raddle_event::AccessKind;
use raddle_ir::{FloatTy, Ty};

impl Cx<'_> {
    pub(super) fn va_start(&mut self, list: u64) -> Result<(), Halt> {
        let area = self.vararg_area()?;
        let lp64 = self.memory.layout.pointer_bytes == 8;
        let at = self.writable(list, if lp64 { 24 } else { 4 })?;
        self.let_through(at, if lp64 { 24 } else { 4 }, AccessKind::Write)?;
        if lp64 {
            let mut head = [0u8; 8];
            head[..4].copy_from_slice(&48u32.to_le_bytes());
            head[4..].copy_from_slice(&176u32.to_le_bytes());
            self.memory.store_bytes(at, &head, Named::Number);
            for offset in [8, 16] {
                let field = self.resolve(list + offset, 8)?;
                self.memory.store::<8>(field, area, Named::Name);
            }
        } else {
            self.memory.store::<4>(at, area, Named::Name);
        }
        Ok(())
    }

    pub(super) fn va_copy(&mut self, to: u64, from: u64) -> Result<(), Halt> {
        let bytes = if self.memory.layout.pointer_bytes == 8 { 24 } else { 4 };
        self.copy_bytes(to, from, bytes)
    }

    pub(super) fn va_arg(&mut self, list: u64, ty: Ty) -> Result<u128, Halt> {
        let pointer_bytes = self.memory.layout.pointer_bytes as usize;
        let cursor = if pointer_bytes == 8 { list + 8 } else { list };
        let at = self.writable(cursor, pointer_bytes as u64)?;
        let position = self.memory.pointer_at(at.slot, at.offset);
        let (align, bytes) = self.vararg_shape(ty);
        let start = position.next_multiple_of(align);
        let len = ty.access_bytes(pointer_bytes as u32) as usize;
        let from = self.readable(start, len as u64)?;
        let value = self.take_value(from, len, super::access::Taking::Pointer);
        let next = start + bytes;
        self.memory.store_bytes(at, &next.to_le_bytes()[..pointer_bytes], Named::Name);
        Ok(super::wide::keep(value, self.image.bits(ty)))
    }

    /// Alignment and slot size of an argument.
    fn vararg_shape(&self, ty: Ty) -> (u64, u64) {
        let pointer_bytes = self.memory.layout.pointer_bytes;
        let bytes = u64::from(ty.access_bytes(pointer_bytes));
        match (pointer_bytes, ty) {
            (8, Ty::Float(FloatTy::F80 | FloatTy::F128)) => (16, 16),
            (8, Ty::Int(bits)) if bits > 64 => (16, 16),
            (8, _) => (8, 8),
            (_, Ty::Float(FloatTy::F80)) => (4, 12),
            _ => (4, bytes.next_multiple_of(4)),
        }
    }

    /// A fresh local object with the variadic arguments of the innermost frame.
    fn vararg_area(&mut self) -> Result<u64, Halt> {
        let varargs = self.thread.top().varargs.clone().unwrap_or_default();
        let word = u64::from(self.memory.layout.pointer_bytes);
        let mut places = Vec::new();
        let mut end = 0u64;
        for (index, &(_, ty)) in varargs.values.iter().enumerate() {
            let piece = varargs.pieces.iter().find(|(at, _, _)| *at == index);
            let (align, bytes) = match piece {
                Some((_, piece, align)) => {
                    (u64::from(*align).clamp(word, 16), (piece.bytes.len() as u64).next_multiple_of(word))
                }
                None => self.vararg_shape(ty),
            };
            end = end.next_multiple_of(align);
            places.push(end);
            end += bytes;
        }
        let area = self.local(end.max(word), 16, Name::Local(None), None, false)?;
        for (index, &(value, ty)) in varargs.values.iter().enumerate() {
            let address = area + places[index];
            if let Some((_, piece, _)) = varargs.pieces.iter().find(|(at, _, _)| *at == index) {
                if !piece.bytes.is_empty() {
                    let at = self.resolve(address, piece.bytes.len() as u64)?;
                    self.memory.put(at, piece);
                }
                continue;
            }
            let len = ty.access_bytes(word as u32) as usize;
            let (_, slot_bytes) = self.vararg_shape(ty);
            let at = self.resolve(address, slot_bytes)?;
            let named = match ty {
                Ty::Ptr => Named::Name,
                Ty::Int(bits) if u64::from(bits) == 8 * word => self.naming(value as u64),
                _ => Named::Number,
            };
            if named == Named::Name {
                self.memory.store_bytes(at, &value.to_le_bytes()[..len], named);
            } else {
                let mut bytes = [0u8; 16];
                bytes[..len].copy_from_slice(&value.to_le_bytes()[..len]);
                self.memory.store_bytes(at, &bytes[..slot_bytes as usize], named);
            }
        }
        Ok(area)
    }
}
