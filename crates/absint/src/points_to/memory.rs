//! Memory: what is stored where in an object.
//!
//! A *cell* collects what is stored at some offsets in some width, a *view* what a load there may read: the contents of all cells
//! that may overlap it. A *link* carries cells over to another region, shifted: memory copies. Regions are the memory of objects and of
//! copies on their way. A region with many cells or views maps further ones to wider patterns.
//!
//! A value that is read in another width than it was written, or at another start, keeps its objects and loses offsets. An
//! address is not forged by overwriting some of its bytes with a number.
//!
//! Where offsets are imprecise, every load overlaps every pointer of an object, and lengths and characters would point everywhere.
//! So an access has a [`Class`], and a value is read as another class only if the program means it: the overlap is definite (both
//! offsets exact, or the same stride), or the value is moved and never looked at.

use super::graph::Node;
use super::pattern;
use super::sets::{LOSE, Pattern, SAME};
use super::solver::Solver;
use crate::fast_hash::{FastMap, FastSet};
use raddle_facts::Offsets;

/// Beyond this many cells (or views) of a region new ones are widened: large structures of large programs have some hundred
/// pointers, copies that shift an array onto itself make cells without end.
const MOST_SLOTS: usize = 1024;
const MOST_CARRIED: usize = 128;

/// The width of the only cell of a flat region: the widest value there is.
pub(super) const WIDEST: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Region(pub u32);

/// How wide an access is and what the value is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Width {
    pub bytes: u32,
    pub class: Class,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Class {
    /// Of pointer type, or of a type that is not known.
    Address,
    /// An integer that is loaded and stored again, and not looked at in between: part of a copy. Of those narrower than a pointer
    /// only where the address goes through memory piece by piece.
    Moved,
    /// Any other integer.
    Number,
    /// Put there by a function without body or model: whatever is read there may be it.
    Raw,
}

impl Width {
    pub(super) fn address(bytes: u32) -> Width {
        Width { bytes, class: Class::Address }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub at: Offsets,
    pub width: Width,
    pub node: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// One pattern for all cells, or views, of a width.
    merged_cells: Vec<(Width, Offsets)>,
    merged_views: Vec<(Width, Offsets)>,
    pub flat: bool,
    /// What is carried here keeps its offsets, however many there are: it only passes through.
    exact: bool,
    /// The size of each object that it is the memory of, where it is one constant: copies end there.
    pub bytes: Option<i64>,
    /// Contents from outside that are made at the first look.
    pub lazy: Option<u32>,
}

#[derive(Default)]
pub(super) struct Memory {
    pub(super) regions: Vec<RegionData>,
    of_object: Vec<Option<Region>>,
    cells: FastMap<(Region, Pattern, Width), Node>,
    views: FastMap<(Region, Pattern, Width), Node>,
    linked: FastSet<(Region, Link)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Cell,
    View,
}

impl RegionData {
    fn add(&mut self, side: Side, slot: Slot) {
        let (slots, merged) = match side {
            Side::Cell => (&mut self.cells, &mut self.merged_cells),
            Side::View => (&mut self.views, &mut self.merged_views),
        };
        slots.push(slot);
        match merged.iter_mut().find(|(width, _)| *width == slot.width) {
            Some((_, all)) => *all = pattern::merged(*all, slot.at),
            None => merged.push((slot.width, slot.at)),
        }
    }

    /// One pattern that includes this one and all slots of the width, without bounds.
    fn widened(&self, side: Side, width: Width, at: Offsets) -> Offsets {
        let merged = match side {
            Side::Cell => &self.merged_cells,
            Side::View => &self.merged_views,
        };
        let known = merged.iter().find(|(other, _)| *other == width);
        pattern::without_bounds(known.map_or(at, |(_, all)| pattern::merged(*all, at)))
    }
}

impl Memory {
    pub(super) fn region(&mut self) -> Region {
        self.regions.push(RegionData::default());
        Region(self.regions.len() as u32 - 1)
    }

    pub(super) fn exact_region(&mut self) -> Region {
        let region = self.region();
        self.data(region).exact = true;
        region
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
    pub(super) fn cell(&mut self, region: Region, at: Offsets, width: Width) -> Node {
        self.slot(region, at, width, Side::Cell)
    }

    /// The node of what a load from these offsets may read.
    pub(super) fn view(&mut self, region: Region, at: Offsets, width: Width) -> Node {
        self.slot(region, at, width, Side::View)
    }

    fn slot(&mut self, region: Region, at: Offsets, width: Width, side: Side) -> Node {
        self.look(region);
        let data = self.memory.data(region);
        let (at, width) = if data.flat { (Offsets::ANY, Width::address(WIDEST)) } else { (at, width) };
        let pattern = self.sets.pattern(at);
        if let Some(node) = self.slot_index(side).get(&(region, pattern, width)) {
            return *node;
        }
        let data = self.memory.data(region);
        let slots = match side {
            Side::Cell => &data.cells,
            Side::View => &data.views,
        };
        let mut at = at;
        if slots.len() >= MOST_SLOTS {
            let same = || slots.iter().filter(|slot| slot.width == width);
            if let Some(wide) = same().find(|slot| pattern::contains(slot.at, at)) {
                return wide.node;
            }
            at = data.widened(side, width, at);
        }
        let pattern = self.sets.pattern(at);
        if let Some(node) = self.slot_index(side).get(&(region, pattern, width)) {
            return *node;
        }
        let node = self.graph.node();
        let slot = Slot { at, width, node };
        self.slot_index(side).insert((region, pattern, width), node);
        match side {
            Side::Cell => self.new_cell(region, slot),
            Side::View => {
                self.memory.data(region).add(side, slot);
                for cell in self.memory.data(region).cells.clone() {
                    self.connect(cell, slot);
                }
            }
        }
        node
    }

    fn slot_index(&mut self, side: Side) -> &mut FastMap<(Region, Pattern, Width), Node> {
        match side {
            Side::Cell => &mut self.memory.cells,
            Side::View => &mut self.memory.views,
        }
    }

    fn new_cell(&mut self, region: Region, cell: Slot) {
        self.memory.data(region).add(Side::Cell, cell);
        for view in self.memory.data(region).views.clone() {
            self.connect(cell, view);
        }
        for link in self.memory.data(region).links.clone() {
            self.carry(cell, link);
        }
    }

    fn connect(&mut self, cell: Slot, view: Slot) {
        if !self.is_read_by(cell, view) {
            return;
        }
        let whole = cell.width.bytes == view.width.bytes && pattern::reads_whole(cell.at, view.at);
        let shift = if whole { SAME } else { LOSE };
        self.graph.edge(&mut self.sets, cell.node, view.node, shift);
    }

    fn is_read_by(&self, cell: Slot, view: Slot) -> bool {
        let (written, read) = (u64::from(cell.width.bytes), u64::from(view.width.bytes));
        if !cell.at.may_overlap(written, view.at, read) {
            return false;
        }
        let is_whole = |slot: Slot| slot.width.bytes >= self.pointer_bytes;
        let is_copied = |slot: Slot| is_whole(slot) || slot.width.class == Class::Moved;
        if cell.at.stride == view.at.stride && cell.at.stride != 1 || cell.width.class == Class::Raw {
            return true;
        }
        match view.width.class {
            Class::Number => {
                is_whole(view) && cell.width.class == Class::Number && cell.width.bytes == view.width.bytes
            }
            Class::Address | Class::Moved | Class::Raw => is_copied(cell) && is_copied(view),
        }
    }

    pub(super) fn link(&mut self, region: Region, link: Link) {
        self.look(region);
        if !self.memory.linked.insert((region, link)) {
            return;
        }
        let data = self.memory.data(region);
        data.links.push(link);
        for cell in data.cells.clone() {
            self.carry(cell, link);
        }
    }

    fn carry(&mut self, cell: Slot, link: Link) {
        if !cell.at.may_overlap(u64::from(cell.width.bytes), link.from, link.len) {
            return;
        }
        let mut at = pattern::sum(cell.at, link.by);
        if let Some((low, high)) = link.within {
            let Some(inside) = pattern::clip(at, low.saturating_sub(i64::from(cell.width.bytes) - 1), high)
            else {
                return;
            };
            at = inside;
        }
        if let Some(bytes) = self.memory.data(link.to).bytes {
            let Some(inside) = pattern::clip(at, 1 - i64::from(cell.width.bytes), bytes - 1) else { return };
            at = inside;
        }
        let to = self.memory.data(link.to);
        if to.cells.len() >= MOST_CARRIED && !to.exact {
            at = to.widened(Side::Cell, cell.width, at);
        }
        let target = self.cell(link.to, at, cell.width);
        self.graph.edge(&mut self.sets, cell.node, target, SAME);
    }

    /// Before anything is read or written: contents that come from outside are made.
    fn look(&mut self, region: Region) {
        if let Some(object) = self.memory.data(region).lazy.take() {
            self.fill_from_outside(region, object);
        }
    }
}
