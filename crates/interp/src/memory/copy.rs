//! Copies of many bytes that keep what is known of them: which are initialised, which words hold pointers.

use super::Memory;
use super::content::Named;
use super::object::WORD;
use super::space::At;

/// Bytes taken out of memory, to be put elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Piece {
    pub bytes: Vec<u8>,
    /// Per byte; empty: all initialised.
    initialised: Vec<bool>,
    /// Offsets of whole words that hold names.
    names: Vec<usize>,
}

impl Piece {
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes, initialised: Vec::new(), names: Vec::new() }
    }
}

impl Memory {
    /// Copies bytes out. Words that are only partly inside lose their name, so what they point to is exposed.
    pub fn take(&mut self, at: At, len: usize) -> Piece {
        let object = self.object(at.slot);
        let bytes = object.data[at.offset..at.offset + len].to_vec();
        let initialised = if object.init.is_empty() {
            Vec::new()
        } else {
            (at.offset..at.offset + len).map(|i| object.init[i / WORD] >> (i % WORD) & 1 == 1).collect()
        };
        let pointer_bytes = self.layout.pointer_bytes as usize;
        let mut names = Vec::new();
        for word in self.names_in(at, len) {
            if word >= at.offset && word + pointer_bytes <= at.offset + len {
                names.push(word - at.offset);
            } else {
                let value = self.pointer_at(at.slot, word);
                self.expose(value);
            }
        }
        Piece { bytes, initialised, names }
    }

    /// Writes bytes taken elsewhere.
    pub fn put(&mut self, at: At, piece: &Piece) {
        let len = piece.bytes.len();
        if len == 0 {
            return;
        }
        self.store_bytes(at, &piece.bytes, Named::Number);
        if !piece.initialised.is_empty() {
            let object = self.object_mut(at.slot);
            if object.init.is_empty() && piece.initialised.contains(&false) {
                object.init = vec![0xFF; object.data.len() / WORD];
            }
            if !object.init.is_empty() {
                for (i, &known) in piece.initialised.iter().enumerate() {
                    if !known {
                        let at = at.offset + i;
                        object.init[at / WORD] &= !(1 << (at % WORD));
                    }
                }
            }
        }
        if piece.names.is_empty() {
            return;
        }
        let before = self.content(at.slot, at.offset, len);
        let pointer_bytes = self.layout.pointer_bytes as usize;
        for &name in &piece.names {
            let offset = at.offset + name;
            if offset.is_multiple_of(pointer_bytes) {
                self.set_name(at.slot, offset);
            } else {
                let value = self.pointer_at(at.slot, offset);
                self.expose(value);
            }
        }
        let after = self.content(at.slot, at.offset, len);
        self.changed(at.slot, before, after);
    }
}
