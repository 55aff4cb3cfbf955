//! Lists of words, each kept once: equal lists have equal numbers.

use crate::fast_hash::{FastHasher, FastMap};

#[derive(Default)]
pub(super) struct Lists {
    data: Vec<u64>,
    /// Start in `data` and length.
    ranges: Vec<(u64, u32)>,
    /// First list with a hash, and the next one with the same.
    heads: FastMap<u64, u32>,
    next: Vec<u32>,
}

impl Lists {
    pub(super) fn intern(&mut self, list: &[u64]) -> u32 {
        let hash = FastHasher::of(list);
        let head = self.heads.get(&hash).copied();
        let mut at = head;
        while let Some(id) = at {
            if self.get(id) == list {
                return id;
            }
            at = Some(self.next[id as usize]).filter(|next| *next != u32::MAX);
        }
        let id = u32::try_from(self.ranges.len()).expect("fewer than 2^32 lists");
        self.ranges.push((self.data.len() as u64, list.len() as u32));
        self.data.extend_from_slice(list);
        self.next.push(head.unwrap_or(u32::MAX));
        self.heads.insert(hash, id);
        id
    }

    pub(super) fn get(&self, id: u32) -> &[u64] {
        let (start, len) = self.ranges[id as usize];
        &self.data[start as usize..start as usize + len as usize]
    }
}
