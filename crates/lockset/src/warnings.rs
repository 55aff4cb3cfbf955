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

pub(crate) fn group(program: &Program, expanded: &Expanded, accesses: &[Access], pairs: &Pairs) -> Vec<Warning> {
    let mut by_place: BTreeMap<(Place, Place), Warning> = BTreeMap::new();
    for pair in &pairs.warned {
        let site = |index: usize| expanded.site_origin[accesses[index].site];
        let (a, b) = ((place(program, site(pair.first)), pair.first), (place(program, site(pair.second)), pair.second));
        let ((low, x), (high, y)) = if a.0 <= b.0 { (a, b) } else { (b, a) };
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
    let mut warnings: Vec<Warning> = by_place.into_values().collect();
    for (index, warning) in warnings.iter_mut().enumerate() {
        warning.rank = index as u32 + 1;
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
