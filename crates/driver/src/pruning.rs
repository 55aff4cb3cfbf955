//! What the static analysis tells the explorer's pruning: which accesses may race at all, and what a thread can still come to.

use raddle_explore::pdp::{Ahead, Oracle, Untaken};
use raddle_ir::SiteId;
use raddle_lockset::Places;

/// The static analysis as an oracle. An answer that used it rests on the assumptions of the static analysis, too.
pub struct StaticOracle<'a> {
    places: Places<'a>,
}

impl<'a> StaticOracle<'a> {
    pub fn new(places: Places<'a>) -> Self {
        Self { places }
    }
}

impl Oracle for StaticOracle<'_> {
    fn may_race(&self, a: SiteId, b: SiteId) -> bool {
        self.places.may_race(a, b)
    }

    fn untaken(&self, _: SiteId, _: u32) -> Option<Untaken> {
        None
    }

    fn ahead(&self, stack: &[SiteId]) -> Option<Ahead> {
        let reached = self.places.ahead(stack)?;
        Some(Ahead { sites: reached.sites.into_iter().collect(), creates_threads: reached.creates_threads })
    }

    fn reports_branches(&self) -> bool {
        false
    }
}
