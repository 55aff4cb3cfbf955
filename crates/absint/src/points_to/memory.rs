//! Memory: what is stored where in an object.
//!
//! A *cell* collects what is stored at some offsets in some width, a *view* what a load there may read: the contents of all cells
//! that may overlap it. A *link* carries cells over to another region, shifted: memory copies. Regions are the memory of objects and of
//! copies on their way. A region with many cells or views maps further ones to wider patterns.
//!
//! A value that is read in another width than it was written, or at another start, keeps its objects and loses offsets. An
//! address is not forged by overwriting some of its bytes with a number.

use super::fast_hash::FastMap;
use super::graph::Node;
use super::pattern;
use super::sets::{LOSE, Pattern, SAME};
use super::solver::Solver;
use raddle_facts::Offsets;

/// Beyond this many cells (or views) of a region new ones are widened.
const MOST_CELLS: usize = 48;
const MOST_VIEWS: usize = 192;

/// The width of the only cell of a flat region: the widest value there is.
pub(super) const WIDEST: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Region(pub u32);

#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub at: Offsets,
    pub bytes: u32,
    pub node: Node,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    /// Where the copied bytes start, and how many there are.
    pub from: Offsets,
    pub len: u64,
    /// Added to the offset of a cell.
    pub by: Offsets,
    pub to: Region,
    /// Only starts of copied bytes count at the other end: between these.
    pub within: Option<(i64, i64)>,
}

#[derive(Default)]
pub(super) struct RegionData {
    pub cells: Vec<Slot>,
    pub views: Vec<Slot>,
    links: Vec<Link>,
    pub flat: bool,
    /// Contents from outside that are made at the first look.
    pub lazy: Option<u32>,
}

#[derive(Default)]
pub(super) struct Memory {
    pub(super) regions: Vec<RegionData>,
    of_object: Vec<Option<Region>>,
    cells: FastMap<(Region, Pattern, u32), Node>,
    views: FastMap<(Region, Pattern, u32), Node>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Cell,
    View,
}

impl Memory {
    pub(super) fn region(&mut self) -> Region {
        self.regions.push(RegionData::default());
        Region(self.regions.len() as u32 - 1)
    }

    pub(super) fn of_object(&mut self, object: u32) -> Region {
        let index = object as usize;
        if self.of_object.len() <= index {
            self.of_object.resize(index + 1, None);
        }
        match self.of_object[index] {
            Some(region) => region,
            None => {
                let region = self.region();
                self.of_object[index] = Some(region);
                region
            }
        }
    }

    pub(super) fn region_if_any(&self, object: u32) -> Option<&RegionData> {
        let region = self.of_object.get(object as usize).copied().flatten()?;
        Some(&self.regions[region.0 as usize])
    }

    fn data(&mut self, region: Region) -> &mut RegionData {
        &mut self.regions[region.0 as usize]
    }
}

impl Solver<'_> {
    /// The node that collects what is stored at these offsets.
    pub(super) fn cell(&mut self, region: Region, at: Offsets, bytes: u32) -> Node {
        self.slot(region, at, bytes, Side::Cell)
    }

    /// The node of what a load from these offsets may read.
    pub(super) fn view(&mut self, region: Region, at: Offsets, bytes: u32) -> Node {
        self.look(region);
        self.slot(region, at, bytes, Side::View)
    }

    fn slot(&mut self, region: Region, at: Offsets, bytes: u32, side: Side) -> Node {
        let data = self.memory.data(region);
        let (at, bytes) = if data.flat { (Offsets::ANY, WIDEST) } else { (at, bytes) };
        let pattern = self.sets.pattern(at);
        if let Some(node) = self.slot_index(side).get(&(region, pattern, bytes)) {
            return *node;
        }
        let data = self.memory.data(region);
        let (slots, most) = match side {
            Side::Cell => (&data.cells, MOST_CELLS),
            Side::View => (&data.views, MOST_VIEWS),
        };
        let mut at = at;
        if slots.len() >= most {
            let same = || slots.iter().filter(|slot| slot.bytes == bytes);
            if let Some(wide) = same().find(|slot| pattern::contains(slot.at, at)) {
                return wide.node;
            }
            let all = same().map(|slot| slot.at).chain([at]);
            at = pattern::merged_unbounded(all).expect("one at least");
        }
        let pattern = self.sets.pattern(at);
        if let Some(node) = self.slot_index(side).get(&(region, pattern, bytes)) {
            return *node;
        }
        let node = self.graph.node();
        let slot = Slot { at, bytes, node };
        self.slot_index(side).insert((region, pattern, bytes), node);
        match side {
            Side::Cell => self.new_cell(region, slot),
            Side::View => {
                self.memory.data(region).views.push(slot);
                for cell in self.memory.data(region).cells.clone() {
                    self.connect(cell, slot);
                }
            }
        }
        node
    }

    fn slot_index(&mut self, side: Side) -> &mut FastMap<(Region, Pattern, u32), Node> {
        match side {
            Side::Cell => &mut self.memory.cells,
            Side::View => &mut self.memory.views,
        }
    }

    fn new_cell(&mut self, region: Region, cell: Slot) {
        self.memory.data(region).cells.push(cell);
        for view in self.memory.data(region).views.clone() {
            self.connect(cell, view);
        }
        for link in self.memory.data(region).links.clone() {
            self.carry(cell, link);
        }
    }

    fn connect(&mut self, cell: Slot, view: Slot) {
        if !cell.at.may_overlap(u64::from(cell.bytes), view.at, u64::from(view.bytes)) {
            return;
        }
        let whole = cell.bytes == view.bytes && pattern::reads_whole(cell.at, view.at);
        let shift = if whole { SAME } else { LOSE };
        self.graph.edge(&mut self.sets, cell.node, view.node, shift);
    }

    pub(super) fn link(&mut self, region: Region, link: Link) {
        self.look(region);
        let data = self.memory.data(region);
        if data.links.contains(&link) {
            return;
        }
        data.links.push(link);
        for cell in data.cells.clone() {
            self.carry(cell, link);
        }
    }

    fn carry(&mut self, cell: Slot, link: Link) {
        if !cell.at.may_overlap(u64::from(cell.bytes), link.from, link.len) {
            return;
        }
        let mut at = pattern::sum(cell.at, link.by);
        if let Some((low, high)) = link.within {
            let Some(inside) = pattern::clip(at, low.saturating_sub(i64::from(cell.bytes) - 1), high) else {
                return;
            };
            at = inside;
        }
        let target = self.cell(link.to, at, cell.bytes);
        self.graph.edge(&mut self.sets, cell.node, target, SAME);
    }

    /// Before anything is read: contents that come from outside are made.
    fn look(&mut self, region: Region) {
        if let Some(object) = self.memory.data(region).lazy.take() {
            self.fill_from_outside(region, object);
        }
    }
}
