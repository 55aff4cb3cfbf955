//! Values for ranges of bytes: disjoint half-open segments, with gaps where there is none.
//!
//! A segment stays whole until an operation reaches into a part of it, so that a large block costs as much as a small one.

use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Clone, Debug)]
pub struct Ranges<V> {
    segments: BTreeMap<u64, Segment<V>>,
}

#[derive(Clone, Debug)]
struct Segment<V> {
    end: u64,
    value: V,
}

impl<V> Default for Ranges<V> {
    fn default() -> Self {
        Self { segments: BTreeMap::new() }
    }
}

impl<V: Clone> Ranges<V> {
    /// Segments that overlap `range`, cut to it, in order.
    pub fn overlapping(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, &V)> {
        let first = self.segment_at(range.start).unwrap_or(range.start);
        self.segments
            .range(first..range.end)
            .map(move |(&start, s)| (start.max(range.start)..s.end.min(range.end), &s.value))
    }

    /// The value of the segment that is exactly `range`.
    pub fn exactly(&mut self, range: &Range<u64>) -> Option<&mut V> {
        self.segments.get_mut(&range.start).filter(|s| s.end == range.end).map(|s| &mut s.value)
    }

    /// Gives all of `range` one value, in one segment.
    pub fn set(&mut self, range: Range<u64>, value: V) {
        if let Some(old) = self.exactly(&range) {
            *old = value;
            return;
        }
        self.clear(range.clone());
        if !range.is_empty() {
            self.segments.insert(range.start, Segment { end: range.end, value });
        }
    }

    /// Takes all values of `range` away.
    pub fn clear(&mut self, range: Range<u64>) {
        self.cut(range.start);
        self.cut(range.end);
        while let Some((&start, _)) = self.segments.range(range.clone()).next() {
            self.segments.remove(&start);
        }
    }

    /// Changes the value of every segment and gap in `range`.
    pub fn replace(&mut self, range: Range<u64>, mut change: impl FnMut(Option<&V>) -> Option<V>) {
        self.cut(range.start);
        self.cut(range.end);
        for piece in self.pieces(range) {
            let old = self.segments.remove(&piece.start);
            if let Some(value) = change(old.as_ref().map(|s| &s.value)) {
                self.segments.insert(piece.start, Segment { end: piece.end, value });
            }
        }
    }

    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.segments.values().map(|s| &s.value)
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.segments.values_mut().map(|s| &mut s.value)
    }

    /// The parts of `range` that no segment overlaps.
    pub fn gaps(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut gaps = Vec::new();
        let mut at = range.start;
        for (piece, _) in self.overlapping(range.clone()) {
            if at < piece.start {
                gaps.push(at..piece.start);
            }
            at = piece.end;
        }
        if at < range.end {
            gaps.push(at..range.end);
        }
        gaps
    }

    fn pieces(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut pieces = self.gaps(range.clone());
        pieces.extend(self.overlapping(range).map(|(piece, _)| piece));
        pieces.sort_by_key(|piece| piece.start);
        pieces
    }

    /// Where the segment that holds `at` and starts at or before it starts.
    fn segment_at(&self, at: u64) -> Option<u64> {
        let (&start, segment) = self.segments.range(..=at).next_back()?;
        (at < segment.end).then_some(start)
    }

    fn cut(&mut self, at: u64) {
        let Some(start) = self.segment_at(at).filter(|&start| start < at) else { return };
        let segment = self.segments.get_mut(&start).expect("found just now");
        let tail = Segment { end: segment.end, value: segment.value.clone() };
        segment.end = at;
        self.segments.insert(at, tail);
    }
}

impl<V: Clone + Default> Ranges<V> {
    /// Changes the value of every segment in `range`; gaps get the default value first.
    pub fn update(&mut self, range: Range<u64>, mut change: impl FnMut(&mut V)) {
        if let Some(value) = self.exactly(&range) {
            change(value);
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        for gap in self.gaps(range.clone()) {
            self.segments.insert(gap.start, Segment { end: gap.end, value: V::default() });
        }
        for (_, segment) in self.segments.range_mut(range) {
            change(&mut segment.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    fn bytes(ranges: &Ranges<u8>) -> Vec<u8> {
        let mut out = vec![0; 16];
        for (range, &value) in ranges.overlapping(0..16) {
            out[range.start as usize..range.end as usize].fill(value);
        }
        out
    }

    /// Every operation on all small ranges does what it would do to an array of bytes.
    #[test]
    fn operations_equal_those_on_an_array() {
        let mut seed = 7_u64;
        let mut pick = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % n
        };
        for _ in 0..200 {
            let mut ranges = Ranges::<u8>::default();
            let mut array = vec![0_u8; 16];
            for _ in 0..40 {
                let lo = pick(16);
                let hi = lo + pick(17 - lo);
                let part = lo as usize..hi as usize;
                let value = 1 + pick(200) as u8;
                match pick(4) {
                    0 => {
                        ranges.set(lo..hi, value);
                        array[part].fill(value);
                    }
                    1 => {
                        ranges.clear(lo..hi);
                        array[part].fill(0);
                    }
                    2 => {
                        ranges.update(lo..hi, |v| *v = v.wrapping_add(2) | 1);
                        array[part].iter_mut().for_each(|v| *v = v.wrapping_add(2) | 1);
                    }
                    _ => {
                        ranges.replace(lo..hi, |v| v.filter(|v| *v % 3 != 0).map(|v| v ^ 64));
                        array[part].iter_mut().for_each(|v| {
                            *v = if *v != 0 && *v % 3 != 0 { *v ^ 64 } else { 0 };
                        });
                    }
                }
                assert_eq!(bytes(&ranges), array);
                let gaps = ranges.gaps(0..16).into_iter().flatten().collect::<Vec<_>>();
                assert!(gaps.iter().all(|&at| array[at as usize] == 0));
            }
        }
    }

    #[test]
    fn a_block_stays_one_segment_until_something_reaches_into_it() {
        let mut ranges = Ranges::<u8>::default();
        ranges.set(0..1 << 30, 1);
        assert_eq!(ranges.values().count(), 1);
        ranges.update(8..12, |v| *v = 2);
        assert_eq!(ranges.values().count(), 3);
        ranges.set(0..1 << 30, 3);
        assert_eq!(ranges.values().count(), 1);
    }
}
