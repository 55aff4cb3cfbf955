//! Cells of shared memory (decision 23, "Cells" and "Weak memory"): which bytes are a variable, which values a load of them can have.
//!
//! Errs to any value. Stricter than a list of instructions: a cell that a call on a synchronisation object may touch is not followed, since
//! the facts know such a call as a read and it does change the bytes; nor is a variable that is only declared.

use crate::statics::{Access, Kind, Spot, Standing};
use raddle_base::{LoadOrder, RmwOrder, StoreOrder};
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_ir::{Inst, Operand, RmwOp, Ty};
use raddle_libmodel::{AtomicCall, Effect, KernelOrder};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub object: ObjectId,
    pub offset: i64,
    pub bytes: u32,
}

/// What a load of a cell can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// Not: any value.
    pub followed: bool,
    pub taints: Taints,
}

/// *May*: values of atomic writes that give no order to who reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Taints {
    These(BTreeSet<u128>),
    Any,
}

impl Cell {
    pub fn bits(self) -> u32 {
        self.bytes * 8
    }

    /// Whether it stands for memory of one concrete object that threads share.
    pub fn is_of(self, standing: &Standing<'_>) -> bool {
        let code = standing.code();
        let inside = |size: u64| {
            let end =
                u64::try_from(self.offset).ok().and_then(|start| start.checked_add(u64::from(self.bytes)));
            end.is_some_and(|end| end <= size)
        };
        (1..=16).contains(&self.bytes)
            && code.facts.points_to.objects.get(self.object).is_some()
            && code.facts.threads.shared[self.object]
            && standing.is_one_object(self.object)
            && match code.kind(self.object) {
                ObjectKind::Global(global) => inside(code.program.globals[global].bytes),
                _ => inside(u64::MAX),
            }
    }

    pub fn is_touched(self, access: &Access<'_>) -> bool {
        access.may_touch(self.object, Offsets::exact(self.offset), u64::from(self.bytes))
    }

    /// The initialiser's value; `None`: any.
    pub fn start(self, standing: &Standing<'_>) -> Option<u128> {
        let code = standing.code();
        let ObjectKind::Global(global) = code.kind(self.object) else { return None };
        let init = code.program.globals[global].init.as_ref()?;
        let start = u64::try_from(self.offset).ok()?;
        let end = start.checked_add(u64::from(self.bytes))?;
        let word = u64::from(code.pointer_bytes());
        let relocated =
            init.relocations.iter().any(|one| one.offset < end && start < one.offset.saturating_add(word));
        if relocated || init.is_open(start, end) {
            return None;
        }
        let byte = |at: u64| usize::try_from(at).ok().and_then(|at| init.data.get(at)).copied().unwrap_or(0);
        Some((start..end).rev().fold(0, |number, at| number << 8 | u128::from(byte(at))))
    }
}

/// The cell that an instruction accesses: its address points to that one place and nowhere else.
pub(super) fn exact(standing: &Standing<'_>, at: Spot, ptr: Operand, bytes: u32) -> Option<Cell> {
    let [(object, place)] = standing.pointees(at.function, ptr)[..] else { return None };
    let cell = Cell { object, offset: place.low, bytes };
    (place.is_exact() && cell.is_of(standing)).then_some(cell)
}

/// How all accesses of the program use cells.
pub(super) struct Cells {
    atomic: BTreeSet<Cell>,
    /// An atomic access weaker than seq_cst is reachable.
    pub weak: bool,
    known: BTreeMap<Cell, Reading>,
}

impl Cells {
    pub fn of(standing: &Standing<'_>) -> Cells {
        let mut cells = Cells { atomic: BTreeSet::new(), weak: false, known: BTreeMap::new() };
        for access in standing.accesses().iter().filter(|one| one.atomic.is_some() && !one.operates) {
            cells.weak |= !is_seq_cst(standing, access);
            for (object, place) in access.targets.iter() {
                let bytes = u32::try_from(access.bytes).unwrap_or(u32::MAX);
                let cell = Cell { object: *object, offset: place.low, bytes };
                if place.is_exact() && cell.is_of(standing) {
                    cells.atomic.insert(cell);
                }
            }
        }
        cells
    }

    pub fn reading(&mut self, standing: &Standing<'_>, cell: Cell) -> &Reading {
        let several = self.atomic.len() > 1;
        self.known.entry(cell).or_insert_with(|| reading(standing, cell, several))
    }
}

fn reading(standing: &Standing<'_>, cell: Cell, several: bool) -> Reading {
    let mut followed = match standing.kind(cell.object) {
        ObjectKind::Global(global) => standing.program().globals[global].init.is_some(),
        _ => true,
    };
    let mut taints = Taints::These(BTreeSet::new());
    for access in standing.accesses().iter().filter(|access| cell.is_touched(access)) {
        if access.operates {
            followed = false;
            continue;
        }
        let Some(atomic) = access.atomic else { continue };
        if several && !is_seq_cst(standing, access) {
            followed = false;
        }
        if access.kind != Kind::Read && !atomic.release {
            match (&mut taints, written(standing, access, cell)) {
                (Taints::These(list), Some(value)) => drop(list.insert(value)),
                (taints, _) => *taints = Taints::Any,
            }
        }
    }
    Reading { followed, taints }
}

/// The constant that an atomic write of exactly this cell writes.
fn written(standing: &Standing<'_>, access: &Access<'_>, cell: Cell) -> Option<u128> {
    let code = standing.code();
    let constant = |value: Operand, ty: Ty| match (value, ty) {
        (Operand::Null, _) => Some(0),
        (Operand::Const(bits), Ty::Int(_) | Ty::Ptr) => Some(bits),
        (Operand::Reg(_), Ty::Int(bits)) if u32::from(bits) == cell.bits() => {
            let number = code.term(access.at.function, value, ty)?.as_constant()?;
            Some(number as i128 as u128)
        }
        _ => None,
    };
    let (ptr, value) = match instruction(standing, access.at)? {
        Inst::Store { ty, value, ptr, .. } => (*ptr, constant(*value, *ty)?),
        Inst::Rmw { op: RmwOp::Xchg, ty, ptr, value, .. } => (*ptr, constant(*value, *ty)?),
        Inst::CmpXchg(x) => (x.ptr, constant(x.new, x.ty)?),
        _ => return None,
    };
    let bytes = u32::try_from(access.bytes).ok()?;
    let mask = u128::MAX >> (128 - cell.bits());
    (exact(standing, access.at, ptr, bytes) == Some(cell)).then_some(value & mask)
}

fn instruction<'s>(standing: &'s Standing<'_>, at: Spot) -> Option<&'s Inst> {
    standing.program().functions[at.function].blocks[at.block].insts.get(at.index)
}

/// *Must*.
fn is_seq_cst(standing: &Standing<'_>, access: &Access<'_>) -> bool {
    match instruction(standing, access.at) {
        Some(Inst::Load { atomic: Some(order), .. }) => *order == LoadOrder::SeqCst,
        Some(Inst::Store { atomic: Some(order), .. }) => *order == StoreOrder::SeqCst,
        Some(Inst::Rmw { order, .. }) => *order == RmwOrder::SeqCst,
        Some(Inst::CmpXchg(x)) => x.on_success == RmwOrder::SeqCst && x.on_failure == LoadOrder::SeqCst,
        Some(Inst::Call { .. }) => standing.call(access.at).is_some_and(|call| {
            call.effects.iter().all(|(_, effect)| {
                let order = match effect {
                    Effect::Atomic(AtomicCall::Kernel { order, .. }) => Some(*order),
                    _ => None,
                };
                order == Some(KernelOrder::SeqCst)
            })
        }),
        _ => false,
    }
}
