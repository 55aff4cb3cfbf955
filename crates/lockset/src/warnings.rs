//! Warnings: pairs of accesses that may race, one per pair of source places, with their contexts inside.

use crate::pairs::Pairs;
use raddle_absint::accesses::Access;
use raddle_base::{SiteId, Span};
use raddle_ir::Program;
use raddle_ir::expand::Expanded;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Sites of the original program, the smaller first; a place that races with itself has both the same.
    pub first: SiteId,
    pub second: SiteId,
    /// Pairs of accesses (indices into the analysis' list): one per calling context and thread.
    pub contexts: Vec<(usize, usize)>,
    /// 1 is the most telling. Warnings that a weaker one covers come after all others.
    pub rank: u32,
    /// The warning that should be looked at first: if it is bogus, look at this one.
    pub covered_by: Option<usize>,
}

/// Contexts kept of one warning.
const CONTEXTS: usize = 64;

/// `ranks` has a rank and a covering pair for each warned pair.
pub(crate) fn group(
    program: &Program,
    expanded: &Expanded,
    accesses: &[Access],
    pairs: &Pairs,
    ranks: &[(usize, Option<usize>)],
) -> Vec<Warning> {
    let mut by_place: BTreeMap<(Place, Place), Warning> = BTreeMap::new();
    let mut place_of: Vec<(Place, Place)> = Vec::with_capacity(pairs.warned.len());
    let mut best: BTreeMap<(Place, Place), (usize, Option<usize>)> = BTreeMap::new();
    for (pair, rank) in pairs.warned.iter().zip(ranks) {
        let site = |index: usize| expanded.site_origin[accesses[index].site];
        let (a, b) = (
            (place(program, site(pair.first)), pair.first),
            (place(program, site(pair.second)), pair.second),
        );
        let ((low, x), (high, y)) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        place_of.push((low, high));
        let lowest = best.entry((low, high)).or_insert(*rank);
        *lowest = (*lowest).min(*rank);
        let warning = by_place.entry((low, high)).or_insert_with(|| Warning {
            first: site(x),
            second: site(y),
            contexts: Vec::new(),
            rank: 0,
            covered_by: None,
        });
        if warning.contexts.len() < CONTEXTS && !warning.contexts.contains(&(x, y)) {
            warning.contexts.push((x, y));
        }
    }
    let mut ordered: Vec<((Place, Place), Warning)> = by_place.into_iter().collect();
    ordered.sort_by_key(|(place, _)| (best[place].0, *place));
    let position: BTreeMap<(Place, Place), usize> =
        ordered.iter().enumerate().map(|(index, (place, _))| (*place, index)).collect();
    let mut warnings = Vec::with_capacity(ordered.len());
    for (index, (place, mut warning)) in ordered.into_iter().enumerate() {
        warning.rank = index as u32 + 1;
        warning.covered_by =
            best[&place].1.map(|pair| position[&place_of[pair]]).filter(|other| *other != index);
        warnings.push(warning);
    }
    warnings
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
