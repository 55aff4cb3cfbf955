//! Memory that has a variable, and what instructions do to it.

use crate::ground::{Ground, Spot, Touch};
use crate::names::Cell;
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_ir::{Inst, Operand, Ty};
use raddle_logic::Term;
use std::collections::{BTreeMap, BTreeSet};

/// More cells are not followed.
const MOST: usize = 48;

#[derive(Debug, Default)]
pub(super) struct Cells {
    pub(super) all: Vec<Cell>,
    /// By the instruction that accesses one exactly.
    exact: BTreeMap<Spot, Cell>,
    /// Cells that an instruction makes any value.
    blurred: BTreeMap<Spot, Vec<Cell>>,
    order: BTreeMap<Cell, Order>,
}

/// What is known of the values that atomic operations see.
#[derive(Clone, Debug, Default)]
struct Order {
    is_atomic: bool,
    /// Some access is weaker than seq_cst.
    is_weak: bool,
    tainted_by_any: bool,
    taints: BTreeSet<u128>,
}

impl Cells {
    pub(super) fn of(ground: &dyn Ground, spots: &[Spot]) -> Cells {
        let mut cells = Cells::default();
        let program = ground.program();
        let inst = |spot: &Spot| &program.functions[spot.function].blocks[spot.block].insts[spot.index];
        let mut all = BTreeSet::new();
        for spot in spots {
            if let Some(cell) = exact(ground, *spot, inst(spot)) {
                all.insert(cell);
                cells.exact.insert(*spot, cell);
            }
        }
        // What a call on a synchronisation object may touch changes though the facts know it as a read.
        for touch in spots.iter().flat_map(|spot| ground.touches(*spot)).filter(|touch| touch.operates) {
            all.retain(|cell| !touch.may_hit_cell(*cell));
        }
        cells.all = all.into_iter().take(MOST).collect();
        let kept = &cells.all;
        cells.exact.retain(|_, cell| kept.contains(cell));
        for spot in spots {
            let own = cells.exact.get(spot);
            let touches = ground.touches(*spot);
            let written = |cell: &&Cell| {
                Some(*cell) != own
                    && touches
                        .iter()
                        .any(|touch| touch.write && !touch.operates && touch.may_hit_cell(**cell))
            };
            let blurred: Vec<Cell> = cells.all.iter().filter(written).copied().collect();
            for cell in &blurred {
                blur(cells.order.entry(*cell).or_default(), inst(spot));
            }
            if !blurred.is_empty() {
                cells.blurred.insert(*spot, blurred);
            }
        }
        for (spot, cell) in &cells.exact {
            note(cells.order.entry(*cell).or_default(), inst(spot));
        }
        cells
    }

    pub(super) fn exact(&self, spot: Spot) -> Option<Cell> {
        self.exact.get(&spot).copied()
    }

    pub(super) fn blurred(&self, spot: Spot) -> &[Cell] {
        self.blurred.get(&spot).map_or(&[], Vec::as_slice)
    }

    /// The values that an acquiring read of the cell may see; `None`: any.
    pub(super) fn seen(&self, cell: Cell) -> Option<Vec<Term>> {
        let order = self.order.get(&cell)?;
        let atomics = self.order.values().filter(|order| order.is_atomic).count();
        if order.tainted_by_any || order.is_weak && atomics > 1 {
            return None;
        }
        let own = Term::from(cell.value());
        let taints = order.taints.iter().map(|value| Term::bits(*value, 8 * cell.bytes));
        Some(std::iter::once(own).chain(taints).collect())
    }
}

/// The cell that a load, a store or an atomic operation accesses, and nothing else.
fn exact(ground: &dyn Ground, spot: Spot, inst: &Inst) -> Option<Cell> {
    let (ty, is_memory) = match inst {
        Inst::Load { ty, .. } | Inst::Store { ty, .. } | Inst::Rmw { ty, .. } => (*ty, true),
        Inst::CmpXchg(exchange) => (exchange.ty, true),
        _ => (Ty::Ptr, false),
    };
    let program = ground.program();
    let bytes = ty.access_bytes(program.data_model.pointer_bytes());
    let is_whole = match ty {
        Ty::Int(bits) => u32::from(bits) == 8 * bytes,
        Ty::Ptr => true,
        Ty::Float(_) => false,
    };
    let touches = ground.touches(spot);
    let [touch] = &touches[..] else { return None };
    let [(object, at)] = touch.targets[..] else { return None };
    let fits = is_memory && bytes <= 16 && is_whole && at.is_exact() && touch.bytes == u64::from(bytes);
    let kind = ground.facts().points_to.objects[object].kind;
    let is_memory = match kind {
        ObjectKind::Global(global) => program.globals[global].init.is_some(),
        ObjectKind::Heap(_) | ObjectKind::Stack(_) => ground.is_one_object(object),
        ObjectKind::ThreadLocal(_)
        | ObjectKind::Parameter(..)
        | ObjectKind::Function(_)
        | ObjectKind::Library
        | ObjectKind::Outside(_)
        | ObjectKind::Unknown => false,
    };
    let shared = ground.facts().threads.shared[object];
    (fits && is_memory && shared).then_some(Cell { object, offset: at.low, bytes })
}

impl Touch {
    /// *May*: whether it touches one of so many bytes from there.
    pub(super) fn may_hit(&self, (object, from): (ObjectId, Offsets), bytes: u64) -> bool {
        let hits =
            |(target, at): &(ObjectId, Offsets)| *target == object && at.may_overlap(self.bytes, from, bytes);
        self.targets.iter().any(hits)
    }

    fn may_hit_cell(&self, cell: Cell) -> bool {
        self.may_hit((cell.object, Offsets::exact(cell.offset)), u64::from(cell.bytes))
    }
}

/// What an atomic operation that may be to the cell leaves of the order that its values give.
fn blur(order: &mut Order, inst: &Inst) {
    let mut exact = Order::default();
    note(&mut exact, inst);
    order.is_atomic |= exact.is_atomic;
    order.is_weak |= exact.is_weak;
    order.tainted_by_any |= exact.tainted_by_any || !exact.taints.is_empty();
}

fn note(order: &mut Order, inst: &Inst) {
    let wrote = |order: &mut Order, value: Operand, releases: bool| match value {
        _ if releases => {}
        Operand::Const(bits) => {
            order.taints.insert(bits);
        }
        Operand::Null => {
            order.taints.insert(0);
        }
        Operand::Reg(_) | Operand::Global(..) | Operand::Function(_) | Operand::Block(_) | Operand::Undef => {
            order.tainted_by_any = true;
        }
    };
    match inst {
        Inst::Load { atomic: Some(load), .. } => {
            order.is_atomic = true;
            order.is_weak |= *load != raddle_base::LoadOrder::SeqCst;
        }
        Inst::Store { atomic: Some(store), value, .. } => {
            order.is_atomic = true;
            order.is_weak |= *store != raddle_base::StoreOrder::SeqCst;
            wrote(order, *value, store.releases());
        }
        Inst::Rmw { order: rmw, op, value, .. } => {
            order.is_atomic = true;
            order.is_weak |= *rmw != raddle_base::RmwOrder::SeqCst;
            match op {
                raddle_ir::RmwOp::Xchg => wrote(order, *value, rmw.releases()),
                _ => order.tainted_by_any |= !rmw.releases(),
            }
        }
        Inst::CmpXchg(exchange) => {
            order.is_atomic = true;
            order.is_weak |= exchange.on_success != raddle_base::RmwOrder::SeqCst
                || exchange.on_failure != raddle_base::LoadOrder::SeqCst;
            wrote(order, exchange.new, exchange.on_success.releases());
        }
        _ => {}
    }
}
