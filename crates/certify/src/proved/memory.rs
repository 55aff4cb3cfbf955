//! Instructions on shared memory (decision 23, "Cells", "Plain accesses", "Atomic ones").

use super::Model;
use super::cells::{Cell, Taints, exact};
use super::names::{THREAD_BITS, Variable, owner, thread};
use super::state::State;
use crate::statics::Spot;
use raddle_facts::Offsets;
use raddle_ir::{CmpXchg, FunctionId, Inst, Operand, RmwOp, Ty};
use raddle_logic::{Op, Term};

/// Which values the read of a cell may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Plain,
    Acquires,
    /// Any value at all.
    Free,
}

/// How a cell is written. Where a read-modify-write or a compare-exchange leaves the value as it was, it leaves the writer, too.
enum Way<'t> {
    Stores,
    Updates,
    ExchangesIf(&'t Term),
}

impl Model<'_, '_> {
    /// Runs an instruction, no call, that may touch shared memory. Every way in which it can go.
    pub fn access(&self, mut state: State, at: Spot, inst: &Inst) -> Vec<State> {
        let function = at.function;
        match inst {
            Inst::Load { dst, ty, ptr, atomic, .. } => {
                let how = match atomic {
                    None => How::Plain,
                    Some(order) if order.acquires() => How::Acquires,
                    Some(_) => How::Free,
                };
                let value = self.cell(at, *ptr, *ty).and_then(|cell| self.read(&mut state, cell, how));
                self.assign(&mut state, function, *dst, value);
            }
            Inst::Store { ty, value, ptr, .. } => {
                let cell = self.cell(at, *ptr, *ty);
                let value = self.stored(&state, function, *value, *ty);
                self.overwrite(&mut state, at, cell);
                if let Some(cell) = cell {
                    self.write(&mut state, cell, value, Way::Stores);
                }
            }
            Inst::Rmw { dst, op, ty, ptr, value, order, .. } => {
                let how = if order.acquires() { How::Acquires } else { How::Free };
                let cell = self.cell(at, *ptr, *ty);
                let old = cell.and_then(|cell| self.read(&mut state, cell, how));
                let old = old.or_else(|| self.width(*ty).map(|bits| self.any(bits)));
                let value = self.stored(&state, function, *value, *ty);
                let new = match (&old, value) {
                    (Some(old), Some(value)) if value.sort() == old.sort() => {
                        updated(*op, old.clone(), value)
                    }
                    _ => None,
                };
                self.overwrite(&mut state, at, cell);
                if let Some(cell) = cell {
                    self.write(&mut state, cell, new, Way::Updates);
                }
                self.assign(&mut state, function, *dst, old);
            }
            Inst::CmpXchg(exchange) => self.compare_exchange(&mut state, at, exchange),
            Inst::MemCopy { .. }
            | Inst::MemSet { .. }
            | Inst::VaStart { .. }
            | Inst::VaEnd { .. }
            | Inst::VaCopy { .. }
            | Inst::VaArg { .. }
            | Inst::Asm { .. } => {
                self.overwrite(&mut state, at, None);
                self.forget(&mut state, at, inst);
            }
            // These touch no memory by themselves; a call is not run here.
            Inst::Bin { .. }
            | Inst::FBin { .. }
            | Inst::FNeg { .. }
            | Inst::Icmp { .. }
            | Inst::Fcmp { .. }
            | Inst::Cast { .. }
            | Inst::Select { .. }
            | Inst::Copy { .. }
            | Inst::Alloca { .. }
            | Inst::TlsAddr { .. }
            | Inst::Fence { .. }
            | Inst::SignalFence
            | Inst::Gep(_)
            | Inst::Call { .. }
            | Inst::Intrinsic { .. }
            | Inst::StackSave { .. }
            | Inst::StackRestore { .. }
            | Inst::Unsupported { .. } => {
                self.overwrite(&mut state, at, None);
                self.forget(&mut state, at, inst);
            }
        }
        vec![state]
    }

    fn compare_exchange(&self, state: &mut State, at: Spot, exchange: &CmpXchg) {
        let CmpXchg { old, success, ty, ptr, expected, new, on_success, on_failure, weak, .. } = *exchange;
        let function = at.function;
        let cell = self.cell(at, ptr, ty);
        let (Some(expected), Some(new)) =
            (self.stored(state, function, expected, ty), self.stored(state, function, new, ty))
        else {
            self.overwrite(state, at, None);
            self.assign(state, function, old, None);
            self.assign(state, function, success, None);
            return;
        };
        let how = |acquires: bool| if acquires { How::Acquires } else { How::Free };
        let (on_success, on_failure) = (how(on_success.acquires()), how(on_failure.acquires()));
        // One value where both ways read alike.
        let both = cell.filter(|_| on_success == on_failure);
        let value = both.and_then(|cell| self.read(state, cell, on_success));
        let seen = value.unwrap_or_else(|| self.any(expected.width()));
        let may_read = |state: &State, how: How| match cell.filter(|_| both.is_none()) {
            Some(cell) => self.readable(state, cell, how, &seen),
            None => Term::truth(true),
        };
        let equal = seen.equals(&expected);
        let exchanged = if weak {
            let flag = self.any(1);
            state.require(Term::or([flag.is_nonzero().negated(), equal]));
            flag
        } else {
            equal.as_bit()
        };
        let done = exchanged.is_nonzero();
        let readable = Term::ite(&done, &may_read(state, on_success), &may_read(state, on_failure));
        state.require(readable);
        self.overwrite(state, at, cell);
        if let Some(cell) = cell {
            self.write(state, cell, Some(new), Way::ExchangesIf(&done));
        }
        self.assign(state, function, old, Some(seen));
        self.assign(state, function, success, Some(exchanged));
    }

    fn cell(&self, at: Spot, ptr: Operand, ty: Ty) -> Option<Cell> {
        // What the bits above mean is not said.
        if matches!(ty, Ty::Int(bits) if bits % 8 != 0) {
            return None;
        }
        exact(self.standing, at, ptr, ty.access_bytes(self.standing.code().pointer_bytes()))
    }

    /// A value of whole bytes.
    fn stored(&self, state: &State, function: FunctionId, value: Operand, ty: Ty) -> Option<Term> {
        let bits = ty.access_bytes(self.standing.code().pointer_bytes()) * 8;
        let value = self.operand(state, function, value, ty)?;
        (value.width() <= bits && bits <= 128).then(|| value.zero_extended_to(bits))
    }

    /// `None`: any.
    fn read(&self, state: &mut State, cell: Cell, how: How) -> Option<Term> {
        let memory = Variable::Memory(cell).term(cell.bits());
        let value = {
            let mut cells = self.cells.borrow_mut();
            let reading = cells.reading(self.standing, cell);
            match (how, &reading.taints) {
                _ if !reading.followed => return None,
                (How::Plain, _) => Some(state.now(&memory)),
                (How::Acquires, Taints::These(list)) if list.is_empty() => Some(state.now(&memory)),
                (How::Acquires, Taints::These(_)) => None,
                (How::Acquires, Taints::Any) | (How::Free, _) => return None,
            }
        };
        value.or_else(|| {
            let value = self.any(cell.bits());
            state.require(self.readable(state, cell, how, &value));
            Some(value)
        })
    }

    /// Whether a read of the cell may have the value.
    fn readable(&self, state: &State, cell: Cell, how: How, value: &Term) -> Term {
        let memory = state.now(&Variable::Memory(cell).term(cell.bits()));
        let mut cells = self.cells.borrow_mut();
        let reading = cells.reading(self.standing, cell);
        match (how, &reading.taints) {
            _ if !reading.followed => Term::truth(true),
            (How::Free, _) | (How::Acquires, Taints::Any) => Term::truth(true),
            (How::Plain, _) => value.equals(&memory),
            (How::Acquires, Taints::These(list)) => {
                let tainted = list.iter().map(|taint| value.equals(&Term::bits(*taint, cell.bits())));
                Term::or(tainted.chain([value.equals(&memory)]))
            }
        }
    }

    /// The thread writes the cell.
    fn write(&self, state: &mut State, cell: Cell, value: Option<Term>, way: Way<'_>) {
        let memory = Variable::Memory(cell).term(cell.bits());
        let writer = Variable::Writer(cell).term(THREAD_BITS);
        let value = value.filter(|value| value.sort() == memory.sort());
        let value = value.unwrap_or_else(|| self.any(cell.bits()));
        let (before, last) = (state.now(&memory), state.now(&writer));
        let (value, by) = match way {
            Way::Stores => (value, thread()),
            Way::Updates => {
                let by = Term::ite(&value.equals(&before), &last, &thread());
                (value, by)
            }
            Way::ExchangesIf(done) => {
                let value = Term::ite(done, &value, &before);
                let by = Term::ite(&value.equals(&before), &last, &thread());
                (value, by)
            }
        };
        state.set(&memory, value);
        state.set(&writer, by);
    }

    /// Every cell of the formulas that the instruction may write becomes any value, but for the one that it writes exactly.
    pub fn overwrite(&self, state: &mut State, at: Spot, exact: Option<Cell>) {
        for access in self.standing.touches(at).iter().filter(|one| one.is_write() || one.operates) {
            let hit =
                self.mentioned.cells.iter().filter(|cell| Some(**cell) != exact && cell.is_touched(access));
            for cell in hit {
                state.set(&Variable::Memory(*cell).term(cell.bits()), self.any(cell.bits()));
                state.set(&Variable::Writer(*cell).term(THREAD_BITS), self.any(THREAD_BITS));
            }
            // A lock that is written as if it were plain memory may be free afterwards, whoever holds it.
            for lock in self.mentioned.locks.iter().filter(|_| access.overwrites()) {
                let bytes = self.standing.lock_bytes((lock.object, lock.offset));
                if access.may_touch(lock.object, Offsets::exact(lock.offset), bytes) {
                    state.set(&owner(*lock), self.any(THREAD_BITS));
                }
            }
        }
    }
}

/// What a read-modify-write makes of an old value; `None`: any.
fn updated(op: RmwOp, old: Term, value: Term) -> Option<Term> {
    let both = |op: Op| Term::app(op, vec![old.clone(), value.clone()]);
    Some(match op {
        RmwOp::Xchg => value,
        RmwOp::Add => both(Op::Add),
        RmwOp::Sub => both(Op::Sub),
        RmwOp::And => both(Op::BvAnd),
        RmwOp::Nand => Term::app(Op::BvNot, vec![both(Op::BvAnd)]),
        RmwOp::Or => both(Op::BvOr),
        RmwOp::Xor => both(Op::BvXor),
        RmwOp::Max => Term::ite(&both(Op::Slt), &value, &old),
        RmwOp::Min => Term::ite(&both(Op::Slt), &old, &value),
        RmwOp::UMax => Term::ite(&both(Op::Ult), &value, &old),
        RmwOp::UMin => Term::ite(&both(Op::Ult), &old, &value),
        RmwOp::FAdd | RmwOp::FSub | RmwOp::FMax | RmwOp::FMin => return None,
    })
}
