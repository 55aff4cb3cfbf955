//! Loads and stores of scalars, with the maps of initialised bytes and of words that hold pointers kept up.
//!
//! A word *holds a name* when a whole pointer (or thread handle) was stored there. Reading such a word as a number, or tearing
//! it, exposes the object: from then on its address counts as a number in fingerprints.

use super::Memory;
use super::object::{Object, WORD, word_hash};
use super::space::{At, Slot};

/// What a stored value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Number,
    /// A pointer or thread handle.
    Name,
}

impl Memory {
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, at: At, value: u64, named: Named) {
        self.touch(at.slot, at.offset, N);
        let object = &mut self.tables[at.slot.class as usize & 7][at.slot.index as usize];
        let index = at.offset / WORD;
        if named == Named::Name || at.offset % WORD + N > WORD || has_names(object, index, self.name_shift) {
            return self.store_bytes(at, &value.to_le_bytes()[..N], named);
        }
        let old = object.word(index);
        object.data[at.offset..at.offset + N].copy_from_slice(&value.to_le_bytes()[..N]);
        let new = object.word(index);
        if old != new {
            let delta = word_hash(object.canon, index, new).wrapping_sub(word_hash(object.canon, index, old));
            object.hash = object.hash.wrapping_add(delta);
            self.version = self.version.wrapping_add(delta);
        }
        object.set_initialised(at.offset, N);
    }

    /// Any number of bytes; a `Name` is exactly one pointer.
    #[inline(never)]
    pub fn store_bytes(&mut self, at: At, bytes: &[u8], named: Named) {
        self.change(at, bytes.len(), named, |data| data.copy_from_slice(bytes));
    }

    pub fn fill(&mut self, at: At, len: usize, byte: u8) {
        self.change(at, len, Named::Number, |data| data.fill(byte));
    }

    /// The bytes of the object at this address that are not marked count as uninitialised. Only before the first step.
    pub fn leave_open(&mut self, address: u64, known: &[bool]) {
        let Some(at) = self.find(address, known.len() as u64).filter(|_| known.contains(&false)) else {
            return;
        };
        let object = self.object_mut(at.slot);
        if object.init.is_empty() {
            object.init = vec![0xFF; object.data.len() / WORD];
        }
        for (index, _) in known.iter().enumerate().filter(|(_, known)| !**known) {
            object.init[index / WORD] &= !(1 << (index % WORD));
        }
    }

    /// What these bytes of an object that began uninitialised hold is open from now on.
    pub fn forget(&mut self, at: At, len: usize) {
        self.touch(at.slot, at.offset, len);
        let object = self.object_mut(at.slot);
        for byte in at.offset..at.offset + len {
            object.init[byte / WORD] &= !(1 << (byte % WORD));
        }
    }

    fn change(&mut self, at: At, len: usize, named: Named, write: impl FnOnce(&mut [u8])) {
        if len == 0 {
            return;
        }
        self.touch(at.slot, at.offset, len);
        self.forget_names(at, len);
        let before = self.content(at.slot, at.offset, len);
        let object = self.object_mut(at.slot);
        write(&mut object.data[at.offset..at.offset + len]);
        object.set_initialised(at.offset, len);
        let mut after_hash = None;
        if named == Named::Name {
            let pointer_bytes = self.layout.pointer_bytes as usize;
            let value = self.pointer_at(at.slot, at.offset);
            if at.offset.is_multiple_of(pointer_bytes) {
                self.set_name(at.slot, at.offset);
            } else {
                self.expose(value);
            }
            after_hash = Some(self.content(at.slot, at.offset, len));
        }
        let after = after_hash.unwrap_or_else(|| self.content(at.slot, at.offset, len));
        self.changed(at.slot, before, after);
    }

    pub(super) fn changed(&mut self, slot: Slot, before: u64, after: u64) {
        let delta = after.wrapping_sub(before);
        let object = self.object_mut(slot);
        object.hash = object.hash.wrapping_add(delta);
        self.version = self.version.wrapping_add(delta);
    }

    /// The named words that overlap these bytes lose their mark; those only partly covered are torn, so what they name is exposed.
    /// The content hash of the words is adjusted here, so that `content` before and after a change speaks of numbers alone.
    pub(super) fn forget_names(&mut self, at: At, len: usize) {
        if self.object(at.slot).names.is_empty() {
            return;
        }
        let pointer_bytes = self.layout.pointer_bytes as usize;
        let (first, last) = (at.offset / pointer_bytes, (at.offset + len - 1) / pointer_bytes);
        if self.object(at.slot).names[first..=last].iter().all(|&n| n == 0) {
            return;
        }
        let before = self.content(at.slot, at.offset, len);
        for word in first..=last {
            if self.object(at.slot).names[word] != 0 {
                let start = word * pointer_bytes;
                if start < at.offset || start + pointer_bytes > at.offset + len {
                    let value = self.pointer_at(at.slot, start);
                    self.expose(value);
                }
                self.object_mut(at.slot).names[word] = 0;
            }
        }
        let after = self.content(at.slot, at.offset, len);
        self.changed(at.slot, before, after);
    }

    pub(super) fn set_name(&mut self, slot: Slot, offset: usize) {
        let (shift, value) = (self.name_shift, self.pointer_at(slot, offset));
        if value == 0 {
            return;
        }
        let object = self.object_mut(slot);
        if object.names.is_empty() {
            object.names = vec![0; object.data.len() >> shift];
        }
        object.names[offset >> shift] = 1;
    }

    pub fn pointer_at(&self, slot: Slot, offset: usize) -> u64 {
        let object = self.object(slot);
        if self.name_shift == 3 { object.value::<8>(offset) } else { object.value::<4>(offset) }
    }

    /// Offsets of the named words that overlap these bytes.
    pub fn names_in(&self, at: At, len: usize) -> Vec<usize> {
        let object = self.object(at.slot);
        if object.names.is_empty() || len == 0 {
            return Vec::new();
        }
        let shift = self.name_shift;
        (at.offset >> shift..=(at.offset + len - 1) >> shift)
            .filter(|&word| object.names[word] != 0)
            .map(|word| word << shift)
            .collect()
    }

    /// Hash of the words that overlap these bytes.
    pub(super) fn content(&self, slot: Slot, offset: usize, len: usize) -> u64 {
        let object = self.object(slot);
        let (first, last) = (offset / WORD, (offset + len - 1) / WORD);
        let mut sum = 0u64;
        if object.names.is_empty() {
            for index in first..=last {
                sum = sum.wrapping_add(word_hash(object.canon, index, object.word(index)));
            }
        } else {
            for index in first..=last {
                sum = sum.wrapping_add(word_hash(object.canon, index, self.canonical_word(slot, index)));
            }
        }
        sum
    }

    fn canonical_word(&self, slot: Slot, index: usize) -> u64 {
        let object = self.object(slot);
        let value = object.word(index);
        if self.name_shift == 3 {
            return if object.names[index] != 0 { self.canonical_pointer(value) } else { value };
        }
        let half = |word: usize, value: u64| {
            if object.names[word] != 0 { self.canonical_pointer(value) } else { value }
        };
        let low = half(2 * index, value & 0xFFFF_FFFF);
        let high = half(2 * index + 1, value >> 32);
        low ^ high.rotate_left(32)
    }

    /// A number that stands for a pointer in hashes of one run: locals by their place in the stack, all else by address.
    /// A local keeps its name after its death, until its slot is taken again.
    pub fn canonical_pointer(&self, value: u64) -> u64 {
        let decoded = self.layout.decode(value);
        match self.tables[decoded.class as usize & 7].get(decoded.index as usize) {
            Some(object) if object.generation == decoded.generation && object.canon != 0 => {
                object.canon.wrapping_add(decoded.offset)
            }
            _ => value,
        }
    }
}

#[inline(always)]
fn has_names(object: &Object, index: usize, shift: u32) -> bool {
    !object.names.is_empty()
        && if shift == 3 {
            object.names[index] != 0
        } else {
            object.names[2 * index] | object.names[2 * index + 1] != 0
        }
}
