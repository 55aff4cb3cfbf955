//! Visited states of a search: vectors of numbers of one width, in one array, each found by its hash.
//!
//! Not in the 2015 paper, which leaves this to FDR3. Invariant: equal vectors have equal numbers, given in order of first insertion, so a
//! search that inserts in a fixed order numbers its states in a fixed order. Which way it errs: neither; hashes only say where to look,
//! and vectors are compared in full.

/// A numbered set of vectors.
pub(crate) struct Visited {
    width: usize,
    data: Vec<u32>,
    /// Open addressing; number plus one, 0 where free. The length is a power of two.
    slots: Vec<u32>,
    len: usize,
}

impl Visited {
    pub(crate) fn new(width: usize) -> Self {
        Self { width, data: Vec::new(), slots: vec![0; 64], len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, number: usize) -> &[u32] {
        &self.data[number * self.width..][..self.width]
    }

    /// Whether the vector is new; it gets the next number then.
    pub(crate) fn insert(&mut self, vector: &[u32]) -> bool {
        debug_assert_eq!(vector.len(), self.width);
        if (self.len + 1) * 3 > self.slots.len() * 2 {
            self.grow();
        }
        let slot = self.find(vector);
        if self.slots[slot] != 0 {
            return false;
        }
        self.data.extend_from_slice(vector);
        self.len += 1;
        self.slots[slot] = u32::try_from(self.len).expect("fewer than 2^32 states");
        true
    }

    /// The slot of the vector, or the free one where it belongs.
    fn find(&self, vector: &[u32]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(vector) as usize & mask;
        while self.slots[slot] != 0 && self.get(self.slots[slot] as usize - 1) != vector {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        let mask = self.slots.len() - 1;
        for number in 0..self.len {
            let mut slot = hash(self.get(number)) as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = number as u32 + 1;
        }
    }
}

fn hash(vector: &[u32]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64;
    for &word in vector {
        hash = (hash.rotate_left(5) ^ u64::from(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::Visited;

    #[test]
    fn numbers_in_order_of_insertion() {
        let mut visited = Visited::new(2);
        for round in 0..2 {
            for i in 0..1000 {
                assert_eq!(visited.insert(&[i % 7, i]), round == 0);
            }
        }
        assert_eq!(visited.len(), 1000);
        assert_eq!(visited.get(999), [999 % 7, 999]);
    }
}
