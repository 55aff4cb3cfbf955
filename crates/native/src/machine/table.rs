//! What the numbers of sites in a running program mean to the other engines: code that was inlined has numbers of its own.

use raddle_base::SiteId;
use raddle_instrument::sites::Sites;

pub(super) struct Table {
    sites: Sites,
    /// The program's own number of each site, by number.
    originals: Vec<SiteId>,
}

impl Table {
    pub(super) fn new(sites: Sites) -> Self {
        let most = sites.iter().map(|site| site.id as usize + 1).max().unwrap_or(0);
        let mut originals = vec![SiteId::NONE; most];
        for site in sites.iter() {
            originals[site.id as usize] = SiteId(site.original);
        }
        Self { sites, originals }
    }

    pub(super) fn original(&self, site: u32) -> SiteId {
        self.originals.get(site as usize).copied().unwrap_or(SiteId::NONE)
    }

    /// Numbers in the running program of these sites, which are sorted.
    pub(super) fn copies(&self, of: &[SiteId]) -> Vec<u32> {
        let wanted = |(_, original): &(usize, &SiteId)| of.binary_search(original).is_ok();
        self.originals.iter().enumerate().filter(wanted).map(|(site, _)| site as u32).collect()
    }

    /// Calls outwards from a site: those it was inlined at, then the ones given.
    pub(super) fn calls(&self, site: u32, stack: &[u32]) -> Vec<SiteId> {
        let inlined = self.sites.frames(site).into_iter().skip(1);
        let outer = stack.iter().flat_map(|call| self.sites.frames(*call));
        inlined.chain(outer).map(|site| SiteId(site.original)).collect()
    }

    /// The function that a site is in, as it was compiled.
    pub(super) fn function(&self, site: u32) -> String {
        let outermost = self.sites.frames(site).pop();
        outermost.map(|site| site.function.to_owned()).unwrap_or_default()
    }
}
