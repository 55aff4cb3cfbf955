//! Rules of [`raddle_facts::values`] for memory facts: a cell holds a value at a point if the code before it in the block leaves it there.
//!
//! Asked backwards inside one block: the last instruction that may touch the cell decides, and without one the facts at the start of the block.
//! A call is looked through by the facts at the starts of the blocks from which the callee returns. What is never written needs no fact.
//! Facts at the start of a block must hold at the ends of all predecessors, those of an entry at all calls. All along, no other thread may write the cell
//! ([`super::quiet`]).

use super::Refusal;
use super::accesses::{self, Access, Kind};
use super::calls::{Call, Run, Way};
use super::code::{At, Code};
use super::initial;
use super::linear::{Atom, Linear};
use super::names::{self, Place};
use super::patterns::{gcd, sum};
use super::quiet;
use super::terms::number;
use super::value::{Value, Where};
use super::writes::Writes;
use raddle_base::Id;
use raddle_facts::{MemoryFact, ObjectId, ObjectKind, Offsets, Term};
use raddle_ir::{BlockId, FunctionId, Inst, Operand, Terminator, Ty};
use raddle_libmodel::Effect;
use raddle_libmodel::memory::{Extent, Fill, Life};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const RULE: &str = "memory";

/// Calls looked through, one inside the other.
const MOST_CALLS: usize = 12;

pub(crate) struct Memory<'c, 'a> {
    code: &'c Code<'a>,
    accesses: &'c [Access<'a>],
    pub writes: Writes,
    /// Per function, those that run it inside themselves, and itself.
    outer: RefCell<BTreeMap<FunctionId, Rc<BTreeSet<FunctionId>>>>,
}

/// A claim: these bytes hold this value, in the terms of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub cell: Linear,
    pub bytes: u8,
    pub value: Linear,
}

impl From<&MemoryFact> for Claim {
    fn from(fact: &MemoryFact) -> Claim {
        Claim { cell: Linear::of(fact.cell), bytes: fact.bytes, value: Linear::of(fact.value) }
    }
}

/// What an instruction does to a claim that is made right after it.
enum Touch {
    Nothing,
    /// Decided: it holds, or it does not follow.
    Decided(bool),
    /// It holds if this one holds right before.
    Instead(Claim),
}

impl<'c, 'a> Memory<'c, 'a> {
    pub fn new(code: &'c Code<'a>, accesses: &'c [Access<'a>]) -> Memory<'c, 'a> {
        Memory { code, accesses, writes: Writes::of(code, accesses), outer: RefCell::default() }
    }

    /// All facts at starts of blocks.
    pub fn check(&self) -> Result<(), Refusal> {
        let code = self.code;
        for function in code.program.functions.ids().filter(|function| code.is_run(*function)) {
            for block in code.reachable_blocks(function) {
                for fact in &code.facts.values.memory[function][block.index()] {
                    let at = At { function, block, index: 0 };
                    let claim = Claim::from(fact);
                    if block == BlockId(0) && !self.at_entry(function, &claim) {
                        return code.refuse_at(at, RULE, format!("{claim:?} does not hold at every entry"));
                    }
                    self.at_start(at, &claim)?;
                }
            }
        }
        Ok(())
    }

    fn at_start(&self, at: At, claim: &Claim) -> Result<(), Refusal> {
        let code = self.code;
        let body = &code.program.functions[at.function];
        let phis = &body.blocks[at.block].phis;
        let fresh = |form: &Linear| {
            form.registers().any(|(of, reg)| {
                of == at.function
                    && phis.iter().any(|phi| phi.dst == reg)
                    && !code.is_global(Term::reg(of, reg))
            })
        };
        for from in &code.flows[at.function].predecessors[at.block.index()] {
            let end = At { block: *from, index: body.blocks[*from].insts.len(), ..at };
            let open = code.reachable(at.function, *from);
            if open && (fresh(&claim.cell) || fresh(&claim.value) || !self.holds(end, claim, 0)) {
                return code.refuse_at(at, RULE, format!("{claim:?} does not hold at the end of {from}"));
            }
        }
        Ok(())
    }

    /// What a load gives, if its register's term says so and memory bears it out.
    pub fn loaded(&self, at: At, ptr: Operand, ty: Ty, said: Option<Term>) -> Option<Value> {
        let cell = self.code.value(at.function, ptr, Ty::Ptr, Where::Block(at.block)).form?;
        let value = Linear::of(said?);
        let bytes = self.scalar_bytes(ty)?;
        let claim = Claim { cell, bytes, value };
        let follows = self.holds(at, &claim, 0);
        follows.then(|| Value::of(claim.value))
    }

    /// Whether the cell is of a global that is never written, and this is what its initialiser says.
    fn is_never_written(&self, claim: &Claim, places: &[(ObjectId, Offsets)]) -> bool {
        self.initial(claim).as_ref() == Some(&claim.value)
            && self.writes.writers(self.accesses, places, u64::from(claim.bytes)).next().is_none()
    }

    /// What the initialiser of a global says of a cell.
    fn initial(&self, claim: &Claim) -> Option<Linear> {
        let ty = Ty::Int(claim.bytes.saturating_mul(8));
        match claim.cell.atoms[..] {
            [(Atom::Global(global), 1)] => initial::value(self.code, global, claim.cell.constant, ty),
            _ => None,
        }
    }

    fn scalar_bytes(&self, ty: Ty) -> Option<u8> {
        match ty {
            Ty::Ptr => Some(self.code.pointer_bytes() as u8),
            Ty::Int(bits @ (8 | 16 | 32 | 64)) => Some(bits / 8),
            Ty::Int(_) | Ty::Float(_) => None,
        }
    }

    /// *May*: where a cell can be; `None` if that is not known.
    fn places(&self, cell: &Linear) -> Option<Vec<(ObjectId, Offsets)>> {
        let code = self.code;
        let is_base = |(atom, factor): &&(Atom, i64)| {
            *factor == 1
                && match atom {
                    Atom::Global(_) => true,
                    Atom::Reg(of, reg) => code.program.functions[*of].regs[*reg].ty == Ty::Ptr,
                    Atom::Function(_) => false,
                }
        };
        let mut bases = cell.atoms.iter().filter(is_base);
        let (base, _) = bases.next().filter(|_| bases.next().is_none())?;
        let places = match base {
            Atom::Global(global) => {
                vec![(code.object(ObjectKind::Global(*global))?, Offsets::exact(0))]
            }
            Atom::Reg(of, reg) => code.set(*of, *reg).to_vec(),
            Atom::Function(_) => return None,
        };
        let rest = cell.atoms.iter().filter(|(atom, _)| atom != base);
        let stride = rest.fold(0, |stride, (_, factor)| gcd(stride, factor.unsigned_abs()));
        let by = match stride {
            0 => Offsets::exact(cell.constant),
            _ => Offsets { anchor: cell.constant, stride, low: i64::MIN, high: i64::MAX },
        };
        let moved: Vec<(ObjectId, Offsets)> =
            places.iter().map(|(object, at)| (*object, sum(*at, by))).collect();
        (!moved.is_empty()).then_some(moved)
    }

    /// Whether the claim holds right before a point, whatever other threads do.
    fn holds(&self, at: At, claim: &Claim, depth: usize) -> bool {
        let Some(places) = self.places(&claim.cell) else { return false };
        if self.is_never_written(claim, &places) {
            return true;
        }
        let is_shared = |object: &ObjectId| self.code.facts.threads.shared[*object];
        let shared: Vec<(ObjectId, Offsets)> =
            places.iter().filter(|(object, _)| is_shared(object)).copied().collect();
        let undisturbed = self
            .writes
            .writers(self.accesses, &shared, u64::from(claim.bytes))
            .all(|write| quiet::is_apart(self.code, at, write));
        undisturbed && self.left_by_block(at, claim, &places, depth)
    }

    fn left_by_block(&self, at: At, claim: &Claim, places: &[(ObjectId, Offsets)], depth: usize) -> bool {
        let body = &self.code.program.functions[at.function].blocks[at.block];
        for index in (0..at.index).rev() {
            let before = At { index, ..at };
            match self.touch(before, &body.insts[index], claim, places, depth) {
                Touch::Nothing => {}
                Touch::Decided(holds) => return holds,
                Touch::Instead(other) => return self.holds(before, &other, depth),
            }
        }
        let facts = &self.code.facts.values.memory[at.function][at.block.index()];
        facts.iter().any(|fact| Claim::from(fact) == *claim)
    }

    fn touch(
        &self,
        at: At,
        inst: &Inst,
        claim: &Claim,
        places: &[(ObjectId, Offsets)],
        depth: usize,
    ) -> Touch {
        // A register that the claim names gets its value here: what was known before spoke of another.
        let mut named = Vec::new();
        inst.each_dst(|dst| {
            let own = |form: &Linear| form.registers().any(|named| named == (at.function, dst));
            if own(&claim.cell) || own(&claim.value) {
                named.push(dst);
            }
        });
        if let Inst::Call { .. } = inst {
            return self.through_call(at, claim, places, !named.is_empty(), depth);
        }
        if !named.is_empty() {
            return Touch::Decided(false);
        }
        let mut touched = Vec::new();
        accesses::of_instruction(self.code, at, inst, &mut touched);
        for access in touched.iter().filter(|access| access.is_write()) {
            match self.written(at, inst, access, claim, places) {
                Touch::Nothing => {}
                decided => return decided,
            }
        }
        Touch::Nothing
    }

    /// A write of the same thread.
    fn written(
        &self,
        at: At,
        inst: &Inst,
        access: &Access<'_>,
        claim: &Claim,
        places: &[(ObjectId, Offsets)],
    ) -> Touch {
        let see =
            |operand: Operand, ty: Ty| self.code.value(at.function, operand, ty, Where::Block(at.block)).form;
        let distance = access
            .address
            .and_then(|address| see(address, Ty::Ptr))
            .and_then(|address| claim.cell.minus(&address).as_constant());
        let Some(distance) = distance.filter(|_| access.kind != Kind::Free) else {
            let bytes = u64::from(claim.bytes);
            let may = places.iter().any(|(object, offsets)| access.may_touch(*object, *offsets, bytes));
            return if may { Touch::Decided(false) } else { Touch::Nothing };
        };
        let end = distance.saturating_add(i64::from(claim.bytes));
        let behind = i64::try_from(access.bytes).is_ok_and(|bytes| distance >= bytes);
        if behind || end <= 0 {
            return Touch::Nothing;
        }
        let covers = |len: Operand, ty: Ty| {
            let len = see(len, ty).and_then(|len| len.as_constant());
            distance >= 0 && len.is_some_and(|len| end <= len)
        };
        let filled = |byte: Option<Linear>| {
            let byte = byte.and_then(|byte| byte.as_constant());
            let all = byte.map(|byte| (byte as u8 as u64).wrapping_mul(0x0101_0101_0101_0101) as i64);
            let bits = u32::from(claim.bytes) * 8;
            let value = all.map(|all| Linear::constant(super::terms::sign_extend(all, bits)));
            Touch::Decided(value.is_some_and(|value| value == claim.value))
        };
        let copied = |source: Operand| match see(source, Ty::Ptr) {
            Some(source) => {
                let cell = source.plus(&Linear::constant(distance));
                Touch::Instead(Claim { cell, ..claim.clone() })
            }
            None => Touch::Decided(false),
        };
        match inst {
            Inst::Store { ty, value, .. } => {
                let whole = distance == 0 && self.scalar_bytes(*ty) == Some(claim.bytes);
                Touch::Decided(whole && see(*value, *ty).is_some_and(|stored| stored == claim.value))
            }
            Inst::MemSet { byte, len, .. } if covers(*len, Ty::Int(64)) => filled(see(*byte, Ty::Int(8))),
            Inst::MemCopy { src, len, .. } if covers(*len, Ty::Int(64)) => copied(*src),
            Inst::Call { args, .. } => match (self.library_function(at), &args[..]) {
                (Some("memset"), [_, byte, len]) if covers(len.value, len.ty) => {
                    filled(see(byte.value, byte.ty))
                }
                (Some("bzero"), [_, len]) if covers(len.value, len.ty) => filled(Some(Linear::constant(0))),
                (Some("memcpy" | "memmove"), [_, src, len]) if covers(len.value, len.ty) => copied(src.value),
                _ => Touch::Decided(false),
            },
            _ => Touch::Decided(false),
        }
    }

    /// The library function that a call runs and nothing else.
    fn library_function(&self, at: At) -> Option<&'static str> {
        let call = self.code.calls.at(at.function, self.code.site(at))?;
        match (&call.runs[..], &call.effects[..], &call.unknown[..]) {
            ([], [(_, Effect::Libc(function))], []) => Some(function.0),
            _ => None,
        }
    }

    fn through_call(
        &self,
        at: At,
        claim: &Claim,
        places: &[(ObjectId, Offsets)],
        names_result: bool,
        depth: usize,
    ) -> Touch {
        let code = self.code;
        let Some(call) = code.calls.at(at.function, code.site(at)) else { return Touch::Decided(false) };
        let inst = &code.program.functions[at.function].blocks[at.block].insts[at.index];
        let bytes = u64::from(claim.bytes);
        let registers: BTreeSet<FunctionId> =
            claim.cell.registers().chain(claim.value.registers()).map(|(of, _)| of).collect();
        // Decides: it writes the cell, or gives registers that the claim names their values.
        let decides = |run: &Run| {
            (run.way.is_nested() || run.way == Way::Once)
                && (self.writes.may_write(run.function, places, bytes)
                    || registers
                        .iter()
                        .any(|of| *of != at.function && self.outer(*of).contains(&run.function)))
        };
        if names_result || call.runs.iter().any(decides) {
            return Touch::Decided(match (&call.runs[..], call.is_only_bodies()) {
                ([run], true) if matches!(run.way, Way::Call | Way::AtomicCall) => {
                    self.left_by_callee(at, run, claim, depth)
                }
                _ => names_result && self.made_zero(at, call, claim),
            });
        }
        let mut touched = Vec::new();
        accesses::of_instruction(code, at, inst, &mut touched);
        for access in touched.iter().filter(|access| access.is_write()) {
            match self.written(at, inst, access, claim, places) {
                Touch::Nothing => {}
                decided => return decided,
            }
        }
        Touch::Nothing
    }

    fn outer(&self, function: FunctionId) -> Rc<BTreeSet<FunctionId>> {
        if let Some(known) = self.outer.borrow().get(&function) {
            return Rc::clone(known);
        }
        let mut all = BTreeSet::from([function]);
        let mut work = vec![function];
        while let Some(next) = work.pop() {
            for (caller, _, run) in self.code.calls.runs_of(next) {
                if (run.way.is_nested() || run.way == Way::Once) && all.insert(caller) {
                    work.push(caller);
                }
            }
        }
        Rc::clone(self.outer.borrow_mut().entry(function).or_insert(Rc::new(all)))
    }

    /// The call is the only way to get here, and the callee leaves the claim behind wherever it returns.
    fn left_by_callee(&self, at: At, run: &Run, claim: &Claim, depth: usize) -> bool {
        let code = self.code;
        let body = &code.program.functions[run.function];
        let mut returns = false;
        for block in code.reachable_blocks(run.function) {
            if !matches!(body.blocks[block].terminator, Terminator::Ret { .. }) {
                continue;
            }
            returns = true;
            let end = At { function: run.function, block, index: body.blocks[block].insts.len() };
            let there = |form: &Linear| names::in_callee(code, at, run, block, form);
            let cells = there(&claim.cell);
            let values = there(&claim.value);
            let left = depth < MOST_CALLS
                && cells.iter().any(|cell| {
                    values.iter().any(|value| {
                        let inner = Claim { cell: cell.clone(), bytes: claim.bytes, value: value.clone() };
                        self.holds(end, &inner, depth + 1)
                    })
                });
            if !left {
                return false;
            }
        }
        returns
    }

    /// The call made the block that the cell is in, filled with zeros.
    fn made_zero(&self, at: At, call: &Call, claim: &Claim) -> bool {
        let code = self.code;
        let (dsts, args) = call.parts(code, at.function);
        let [(Atom::Reg(of, reg), 1)] = claim.cell.atoms[..] else { return false };
        if of != at.function || dsts.first() != Some(&reg) || claim.value != Linear::constant(0) {
            return false;
        }
        let ([], [(_, effect)], []) = (&call.runs[..], &call.effects[..], &call.unknown[..]) else {
            return false;
        };
        let Some(made) = effect.memory().allocates else { return false };
        let value = |arg: raddle_libmodel::Arg| {
            let arg = args.get(usize::from(arg.0))?;
            match arg.value {
                Operand::Reg(_) => {
                    code.value(at.function, arg.value, arg.ty, Where::Block(at.block)).as_constant()
                }
                constant => number(constant, arg.ty),
            }
        };
        let size = match made.size {
            Extent::Arg(arg) => value(arg),
            Extent::Product(a, b) => value(a).zip(value(b)).and_then(|(a, b)| a.checked_mul(b)),
            _ => None,
        };
        let start = claim.cell.constant;
        let end = start.checked_add(i64::from(claim.bytes));
        made.fill == Fill::Zero
            && made.life == Life::Handed
            && start >= 0
            && size.zip(end).is_some_and(|(size, end)| end <= size)
    }

    /// Whether a claim holds whenever the function is entered.
    fn at_entry(&self, function: FunctionId, claim: &Claim) -> bool {
        let code = self.code;
        let mut runs = code.calls.runs_of(function).peekable();
        if code.roots.all().any(|root| root == function) {
            let starts = code.roots.main == Some(function) || code.roots.constructors.contains(&function);
            let Some(places) = self.places(&claim.cell) else { return false };
            let bytes = u64::from(claim.bytes);
            let untouched =
                !code.roots.constructors.iter().any(|before| self.writes.may_write(*before, &places, bytes));
            let only_start = starts && runs.peek().is_none() && !code.roots.entries.contains(&function);
            let entry = At { function, block: BlockId(0), index: 0 };
            let quiet = self
                .writes
                .writers(self.accesses, &places, bytes)
                .all(|write| quiet::is_apart(code, entry, write));
            return only_start && untouched && quiet && self.initial(claim).as_ref() == Some(&claim.value);
        }
        let mut any = false;
        for (caller, call, run) in runs {
            any = true;
            let at = call.at(caller);
            let known = matches!(run.way, Way::Call | Way::AtomicCall | Way::Thread | Way::Once);
            let cell = names::in_caller(code, at, run, &claim.cell, Place::Cell(claim.bytes));
            let value = names::in_caller(code, at, run, &claim.value, Place::Value);
            let there = cell.zip(value).map(|(cell, value)| Claim { cell, bytes: claim.bytes, value });
            if !known || !there.is_some_and(|there| self.holds(at, &there, 0)) {
                return false;
            }
        }
        // A thread starts some time after its creation.
        let entry = At { function, block: BlockId(0), index: 0 };
        any && self.places(&claim.cell).is_some_and(|places| {
            let shared: Vec<(ObjectId, Offsets)> =
                places.into_iter().filter(|(object, _)| code.facts.threads.shared[*object]).collect();
            self.writes
                .writers(self.accesses, &shared, u64::from(claim.bytes))
                .all(|write| quiet::is_apart(code, entry, write))
        })
    }
}
