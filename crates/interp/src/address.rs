//! Addresses: integers whose bits name a size class, a generation and a slot, so that decoding is shift and mask.
//!
//! The address space is cut into eight regions. Region 1 holds what is not memory (functions, blocks, thread handles); the others
//! belong to four size classes. A slot is four times as large as its guard, and an object starts one guard into its slot: a
//! pointer that runs over either end still names its object. Generations start at 1, so small integers never decode.
//! ILP32 has generations for small objects only; there a use after free of a large block is seen until its slot is taken again.

use raddle_event::ThreadId;
use raddle_ir::{BlockId, DataModel, FunctionId};

pub(crate) const CLASSES: usize = 4;

#[derive(Clone, Debug)]
pub(crate) struct Layout {
    regions: [Region; 9],
    top_shift: u32,
    classes: [Region; CLASSES],
    special: Special,
    pub pointer_bytes: u32,
    /// Keeps the bits of a pointer.
    pub mask: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Region {
    pub class: u8,
    base: u64,
    shift: u32,
    offset_mask: u64,
    start: u64,
    index_bits: u32,
    index_mask: u64,
    generation_mask: u32,
}

#[derive(Clone, Copy, Debug)]
struct Special {
    functions: u64,
    blocks: u64,
    threads: u64,
    end: u64,
}

/// Where an address points, whether or not anything lives there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub class: u8,
    pub index: u32,
    pub generation: u32,
    /// Relative to the start of the object; negative values wrap.
    pub offset: u64,
}

/// A region that holds no memory.
const NOWHERE: u8 = 7;

impl Layout {
    pub fn new(model: DataModel) -> Self {
        match model {
            DataModel::Lp64 => Self::build(
                44,
                [(0, 12, 22, 10), (2, 18, 19, 8), (4, 26, 13, 6), (6, 38, 5, 2)],
                [0, 1 << 40, 2 << 40, 3 << 40],
                8,
            ),
            DataModel::Ilp32 => Self::build(
                29,
                [(0, 9, 17, 3), (2, 14, 16, 0), (4, 20, 10, 0), (6, 26, 4, 0)],
                [0, 1 << 27, 1 << 28, 3 << 27],
                4,
            ),
        }
    }

    /// Classes as (first region, bits of a slot, bits of the index, bits of the generation).
    fn build(
        top_shift: u32,
        classes: [(u64, u32, u32, u32); 4],
        special: [u64; 4],
        pointer_bytes: u32,
    ) -> Self {
        let nowhere = Region { class: NOWHERE, ..Region::default() };
        let mut layout = Self {
            regions: [nowhere; 9],
            top_shift,
            classes: [nowhere; CLASSES],
            special: Special {
                functions: (1 << top_shift) + special[0],
                blocks: (1 << top_shift) + special[1],
                threads: (1 << top_shift) + special[2],
                end: (1 << top_shift) + special[3],
            },
            pointer_bytes,
            mask: if pointer_bytes == 4 { u64::from(u32::MAX) } else { u64::MAX },
        };
        for (class, (first, shift, index_bits, generation_bits)) in classes.into_iter().enumerate() {
            let region = Region {
                class: class as u8,
                base: first << top_shift,
                shift,
                offset_mask: (1 << shift) - 1,
                start: 1 << (shift - 2),
                index_bits,
                index_mask: (1 << index_bits) - 1,
                generation_mask: (1 << generation_bits) - 1,
            };
            layout.classes[class] = region;
            layout.regions[first as usize] = region;
            if first > 0 {
                layout.regions[first as usize + 1] = region;
            }
        }
        layout
    }

    #[inline(always)]
    pub fn decode(&self, address: u64) -> Decoded {
        let region = &self.regions[(address >> self.top_shift).min(8) as usize];
        let relative = address.wrapping_sub(region.base);
        let field = relative >> region.shift;
        Decoded {
            class: region.class,
            index: (field & region.index_mask) as u32,
            generation: (field >> region.index_bits) as u32,
            offset: (relative & region.offset_mask).wrapping_sub(region.start),
        }
    }

    pub fn encode(&self, class: u8, index: u32, generation: u32) -> u64 {
        let region = &self.classes[class as usize];
        let field = (u64::from(generation) << region.index_bits) | u64::from(index);
        region.base + (field << region.shift) + region.start
    }

    /// The smallest class that can hold an object of this size and alignment.
    pub fn class_for(&self, bytes: u64, align: u64) -> Option<u8> {
        self.classes.iter().find(|r| bytes <= 2 * r.start && align <= r.start).map(|r| r.class)
    }

    pub fn slots(&self, class: u8) -> u32 {
        self.classes[class as usize].index_mask as u32 + 1
    }

    pub fn first_generation(&self, class: u8) -> u32 {
        u32::from(self.classes[class as usize].generation_mask != 0)
    }

    pub fn next_generation(&self, class: u8, generation: u32) -> u32 {
        let mask = self.classes[class as usize].generation_mask;
        match generation.wrapping_add(1) & mask {
            0 if mask != 0 => 1,
            next => next,
        }
    }

    pub fn function_address(&self, function: FunctionId) -> u64 {
        self.special.functions + (u64::from(function.0) + 1) * 16
    }

    pub fn function_at(&self, address: u64) -> Option<FunctionId> {
        let relative = address.checked_sub(self.special.functions + 16)?;
        (address < self.special.blocks && relative % 16 == 0).then_some(FunctionId((relative / 16) as u32))
    }

    /// `ordinal` counts the blocks of the whole program.
    pub fn block_address(&self, ordinal: u32) -> u64 {
        self.special.blocks + u64::from(ordinal)
    }

    pub fn block_at(&self, address: u64, first_ordinal: u32) -> Option<BlockId> {
        let ordinal = address.checked_sub(self.special.blocks)?;
        let block = ordinal.checked_sub(u64::from(first_ordinal))?;
        (address < self.special.threads).then_some(BlockId(u32::try_from(block).ok()?))
    }

    pub fn thread_handle(&self, thread: ThreadId) -> u64 {
        self.special.threads + (u64::from(thread.0) + 1) * 64
    }

    pub fn is_thread_handle(&self, value: u64) -> bool {
        self.thread_at(value).is_some()
    }

    pub fn thread_at(&self, value: u64) -> Option<ThreadId> {
        if value < self.special.threads || value >= self.special.end {
            return None;
        }
        let relative = (value - self.special.threads).checked_sub(64)?;
        (relative % 64 == 0).then_some(ThreadId((relative / 64) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoded, Layout};
    use raddle_event::ThreadId;
    use raddle_ir::{DataModel, FunctionId};

    #[test]
    fn encode_and_decode_agree_in_every_class() {
        for model in [DataModel::Lp64, DataModel::Ilp32] {
            let layout = Layout::new(model);
            for class in 0..4u8 {
                for index in [1, layout.slots(class) - 1] {
                    let mut generation = layout.first_generation(class);
                    for _ in 0..3 {
                        let address = layout.encode(class, index, generation);
                        assert_eq!(address & layout.mask, address);
                        for delta in [0u64, 5, u64::MAX] {
                            let decoded = layout.decode(address.wrapping_add(delta));
                            assert_eq!(decoded, Decoded { class, index, generation, offset: delta });
                        }
                        generation = layout.next_generation(class, generation);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_memory_decodes_to_nothing() {
        for model in [DataModel::Lp64, DataModel::Ilp32] {
            let layout = Layout::new(model);
            for address in
                [layout.function_address(FunctionId(7)), layout.thread_handle(ThreadId(3)), u64::MAX]
            {
                assert!(layout.decode(address).class >= 4);
            }
            assert_eq!(layout.function_at(layout.function_address(FunctionId(7))), Some(FunctionId(7)));
            assert_eq!(layout.thread_at(layout.thread_handle(ThreadId(3))), Some(ThreadId(3)));
            for small in [0, 1, 8, 4095, 1 << 20] {
                let decoded = layout.decode(small);
                assert!(
                    decoded.class >= 4
                        || decoded.generation == 0 && layout.first_generation(decoded.class) == 1
                );
            }
        }
    }
}
