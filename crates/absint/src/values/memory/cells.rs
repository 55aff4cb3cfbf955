//! Cells of memory: an address as a term, and a width.

use crate::accesses::Objects;
use raddle_base::Id;
use raddle_facts::{ObjectId, ObjectKind, Offsets, PointsTo, Root, Term};
use raddle_ir::{Program, Ty};
use std::collections::HashMap;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cell {
    pub address: Term,
    pub bytes: u8,
}

/// Bytes that a scalar of this type has in memory; `None` for what terms do not say.
pub(crate) fn bytes(program: &Program, ty: Ty) -> Option<u8> {
    match ty {
        Ty::Ptr => Some(program.data_model.pointer_bytes() as u8),
        Ty::Int(bits) if bits % 8 == 0 && matches!(bits / 8, 1 | 2 | 4 | 8) => Some(bits / 8),
        Ty::Int(_) | Ty::Float(_) => None,
    }
}

/// *May*: where the cell can be; empty if that is not known.
pub(crate) fn objects_of(points_to: &PointsTo, objects: &Objects, cell: Cell) -> Vec<(ObjectId, Offsets)> {
    let address = cell.address;
    let base: Vec<(ObjectId, Offsets)> = match address.root {
        Root::Global(global) => {
            let object = objects.of(ObjectKind::Global(global));
            object.map(|object| (object, Offsets::exact(0))).into_iter().collect()
        }
        Root::Reg(function, reg) => match points_to.regs.get(function).and_then(|regs| regs.get(reg.index()))
        {
            Some(set) => points_to.targets_of(*set).to_vec(),
            None => Vec::new(),
        },
        Root::Zero | Root::Function(_) => Vec::new(),
    };
    base.into_iter().map(|(object, at)| (object, moved(at, address))).collect()
}

fn moved(at: Offsets, address: Term) -> Offsets {
    let shift = |bound: i64| match bound {
        i64::MIN | i64::MAX => bound,
        _ => bound.saturating_add(address.offset),
    };
    let anchor = at.anchor.wrapping_add(address.offset);
    match address.index {
        None => Offsets { anchor, stride: at.stride, low: shift(at.low), high: shift(at.high) },
        Some(index) => Offsets {
            anchor,
            stride: common(at.stride, index.scale.unsigned_abs()),
            low: i64::MIN,
            high: i64::MAX,
        },
    }
}

fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

/// Objects of cells, found once per cell.
#[derive(Default)]
pub(crate) struct Known {
    pub found: HashMap<Cell, Rc<[(ObjectId, Offsets)]>>,
}
