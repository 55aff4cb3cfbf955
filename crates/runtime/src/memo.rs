//! Transitions of cells that a thread has made in its present epoch, so that the next granule of an array takes the same one at once.
//!
//! What becomes of a cell depends on its content, the access, and the thread's epoch and clock. A transition without a race stays right
//! when the clock grows; a new epoch forgets all.

const ENTRIES: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Key {
    pub cell: u64,
    pub contexts: u64,
    pub context: u32,
    /// Whether it is a write.
    pub write: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Step {
    pub cell: u64,
    pub contexts: u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    key: Key,
    step: Step,
    generation: u64,
}

#[repr(C)]
pub struct Memo {
    entries: [Entry; ENTRIES],
    generation: u64,
}

impl Memo {
    #[inline]
    pub fn get(&self, key: &Key) -> Option<Step> {
        let entry = &self.entries[slot(key)];
        (entry.generation == self.generation && entry.key == *key).then_some(entry.step)
    }

    pub fn put(&mut self, key: Key, step: Step) {
        self.entries[slot(&key)] = Entry { key, step, generation: self.generation };
    }

    #[inline(always)]
    pub fn forget(&mut self) {
        self.generation += 1;
    }
}

fn slot(key: &Key) -> usize {
    let mixed = (key.cell ^ key.contexts.rotate_left(17) ^ u64::from(key.context) << 7)
        .wrapping_add(u64::from(key.write))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 48) as usize % ENTRIES
}
