//! Warnings: pairs of accesses that may race, one per pair of source places, with their contexts inside.

use crate::pairs::Pair;
use crate::relation::{Listed, Relation};
use raddle_absint::accesses::Access;
use raddle_base::{SiteId, Span};
use raddle_ir::Program;
use raddle_ir::expand::Expanded;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Sites of the original program, the smaller first; a place that races with itself has both the same.
    pub first: SiteId,
    pub second: SiteId,
    /// Pairs of accesses (indices into the analysis' list), the first ones: one per calling context.
    pub contexts: Vec<(usize, usize)>,
    /// 1 is the most telling. Warnings that a weaker one covers come after all others.
    pub rank: u32,
    /// All its pairs are covered by weaker ones.
    pub covered: bool,
    /// The warning that should be looked at first: if it is bogus, look at this one.
    pub covered_by: Option<usize>,
}

/// Whether warnings are all there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    Complete,
    /// There are more pairs of source places than are listed; they were counted.
    Counted,
    /// There are more, nobody knows how many.
    Uncounted,
}

/// Contexts kept of one warning.
const CONTEXTS: usize = 64;

/// Pairs of places that are kept at most; the others are only counted.
const PLACES: usize = 20_000;

/// Warnings before they are ranked.
pub(crate) struct Unranked {
    listed: Listed<Place>,
    /// All pairs of accesses in the list, in the order of their places.
    pub pairs: Vec<Pair>,
}

/// What may race, by source place.
pub(crate) fn list(
    program: &Program,
    expanded: &Expanded,
    accesses: &[Access],
    relation: &Relation,
) -> Unranked {
    let of = |index: usize| place(program, expanded.site_origin[accesses[index].site]);
    let listed = relation.list(of, PLACES, CONTEXTS);
    let pairs = listed.pairs.values().flatten().copied().collect();
    Unranked { listed, pairs }
}

impl Unranked {
    pub fn places(&self) -> u64 {
        self.listed.places
    }

    pub fn listing(&self) -> Listing {
        match self.listed.counted {
            false => Listing::Uncounted,
            true if self.listed.places > self.listed.pairs.len() as u64 => Listing::Counted,
            true => Listing::Complete,
        }
    }

    /// `ranks` has a rank and a covering pair for each pair.
    pub fn rank(
        &self,
        program: &Program,
        expanded: &Expanded,
        accesses: &[Access],
        ranks: &[(usize, Option<usize>)],
    ) -> Vec<Warning> {
        let site = |index: usize| expanded.site_origin[accesses[index].site];
        let mut ordered: Vec<((usize, Option<usize>), usize, Warning)> = Vec::new();
        // Per pair, the position of its places.
        let mut home: Vec<usize> = Vec::with_capacity(self.pairs.len());
        for (at, ((low, _), pairs)) in self.listed.pairs.iter().enumerate() {
            let best = ranks[home.len()..home.len() + pairs.len()].iter().min().copied().unwrap_or_default();
            home.extend(pairs.iter().map(|_| at));
            let contexts: Vec<(usize, usize)> = pairs
                .iter()
                .map(|pair| match place(program, site(pair.first)) == *low {
                    true => (pair.first, pair.second),
                    false => (pair.second, pair.first),
                })
                .collect();
            let (first, second) = (site(contexts[0].0), site(contexts[0].1));
            ordered.push((
                best,
                at,
                Warning { first, second, contexts, rank: 0, covered: best.0 > 0, covered_by: None },
            ));
        }
        ordered.sort_by_key(|(best, at, _)| (best.0, *at));
        let mut position = vec![0; ordered.len()];
        for (index, (_, at, _)) in ordered.iter().enumerate() {
            position[*at] = index;
        }
        let mut warnings = Vec::with_capacity(ordered.len());
        for (index, (best, _, mut warning)) in ordered.into_iter().enumerate() {
            warning.rank = index as u32 + 1;
            warning.covered_by = best.1.map(|pair| position[home[pair]]).filter(|other| *other != index);
            warnings.push(warning);
        }
        warnings
    }
}

/// Source place; instructions without one are told apart by their site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    At(u32, u32, u32),
    Site(SiteId),
}

fn place(program: &Program, site: SiteId) -> Place {
    match program.sites[site].span {
        Some(Span { file, line, column, .. }) if line > 0 => Place::At(file.0, line, column),
        _ => Place::Site(site),
    }
}
