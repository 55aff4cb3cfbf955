//! What the numbers of sites mean in one process: the tables of its program and of its instrumented libraries.

use raddle_finding::Frame;
use raddle_instrument::sites::{Site, Sites};
use std::rc::Rc;

/// Tables with the first number of each.
#[derive(Clone, Default)]
pub(crate) struct Places {
    tables: Vec<(u32, Rc<Sites>)>,
}

impl Places {
    pub(crate) fn add(&mut self, first: u32, table: Rc<Sites>) {
        self.tables.push((first, table));
    }

    /// The site and the calls that it was inlined at, innermost first.
    pub(crate) fn sites(&self, id: u32) -> Vec<Site<'_>> {
        let owner = self.tables.iter().filter(|(first, _)| *first <= id).max_by_key(|(first, _)| *first);
        owner.map(|(first, sites)| sites.frames(id - first)).unwrap_or_default()
    }
}

pub(crate) fn frame(site: &Site<'_>) -> Frame {
    Frame {
        file: site.file.to_owned(),
        line: site.line,
        column: site.column,
        function: site.function.to_owned(),
    }
}
