//! Which reads decide: whether the value that an instruction reads may reach a branch, an address, or an argument of what is not an instruction.
//!
//! Prediction (Carril and Tichy, SEPS 2015, section 3; `raddle_predict::reordering`) may let other reads see another value than the recorded one.
//! Values are followed backwards from where they decide, through registers, arguments and results of functions that are called by name. A value
//! that is stored ends there: who reads it back is a read of its own, if the memory is one whose accesses are events. Those of a
//! function's own locals may not be, so what is stored by an address of one decides.
//!
//! Which way it errs: towards deciding. Reads in library functions, compare-exchanges, results of functions that are called by address and
//! arguments of anything without a body all decide. So does what a lock, a barrier or a channel tells a thread by its result; that is no
//! read, and [`Deciding::asks`] says whether some thread may take its way by it.

use raddle_base::SiteId;
use raddle_ir::{BinOp, Block, Callee, Function, FunctionId, Inst, Operand, Program, Reg, Terminator};
use raddle_libmodel::Models;
use std::collections::{BTreeMap, BTreeSet};

/// A register of a function.
type Value = (FunctionId, Reg);

pub(super) struct Deciding<'a> {
    program: &'a Program,
    values: BTreeSet<Value>,
    locals: BTreeMap<FunctionId, BTreeSet<Reg>>,
}

/// Where values come from.
struct Flow<'a> {
    program: &'a Program,
    models: &'a Models,
    /// What a value is computed from.
    sources: BTreeMap<Value, Vec<Value>>,
    /// What functions return, by function: their operands of each result.
    returned: BTreeMap<FunctionId, Vec<Vec<Value>>>,
    decide: Vec<Value>,
    /// Registers with addresses of a function's own locals.
    locals: BTreeMap<FunctionId, BTreeSet<Reg>>,
}

impl<'a> Deciding<'a> {
    pub(super) fn of(program: &'a Program, models: &'a Models) -> Self {
        let mut flow = Flow {
            program,
            models,
            sources: BTreeMap::new(),
            returned: BTreeMap::new(),
            decide: Vec::new(),
            locals: program.functions.iter().map(|(id, one)| (id, addresses_of_locals(one))).collect(),
        };
        for (id, function) in program.functions.iter() {
            for block in function.blocks.values() {
                flow.returns(id, function, block);
            }
        }
        for (id, function) in program.functions.iter() {
            for block in function.blocks.values() {
                flow.block(id, block);
            }
        }
        let mut values: BTreeSet<Value> = BTreeSet::new();
        let mut queue = flow.decide;
        while let Some(value) = queue.pop() {
            if values.insert(value) {
                queue.extend(flow.sources.get(&value).into_iter().flatten());
            }
        }
        Self { program, values, locals: flow.locals }
    }

    /// Of these sites of events, those whose reads may decide.
    pub(super) fn among(&self, sites: impl Iterator<Item = SiteId>) -> BTreeSet<SiteId> {
        sites.collect::<BTreeSet<SiteId>>().into_iter().filter(|site| self.decides(*site)).collect()
    }

    fn decides(&self, site: SiteId) -> bool {
        match self.at(site) {
            Some((function, Inst::Load { dst, .. } | Inst::Rmw { dst, .. })) => {
                self.values.contains(&(function, *dst))
            }
            Some((function, Inst::MemCopy { dst, .. })) => is_one_of(&self.locals[&function], *dst),
            Some((_, Inst::Store { .. } | Inst::MemSet { .. })) => false,
            _ => true,
        }
    }

    /// Whether a thread may take its way by the result of the call there.
    pub(super) fn asks(&self, site: SiteId) -> bool {
        match self.at(site) {
            Some((function, Inst::Call { dsts, .. })) => {
                dsts.iter().any(|dst| self.values.contains(&(function, *dst)))
            }
            _ => true,
        }
    }

    fn at(&self, site: SiteId) -> Option<(FunctionId, &Inst)> {
        let function = self.program.sites.get(site)?.function;
        match self.program.code_at(site)? {
            raddle_ir::Code::Inst(inst) => Some((function, inst)),
            raddle_ir::Code::Terminator(_) => None,
        }
    }
}

impl Flow<'_> {
    /// The results of the function in this block.
    fn returns(&mut self, id: FunctionId, function: &Function, block: &Block) {
        let Terminator::Ret { values } = &block.terminator else { return };
        let results = self.returned.entry(id).or_default();
        results.resize(results.len().max(function.returns.len()).max(values.len()), Vec::new());
        for (result, value) in results.iter_mut().zip(values) {
            if let Operand::Reg(reg) = value {
                result.push((id, *reg));
            }
        }
        // Whoever calls it is not known.
        if function.address_taken || self.program.text(function.symbol) == "main" {
            values.iter().for_each(|value| self.decides(id, *value));
        }
    }

    fn block(&mut self, id: FunctionId, block: &Block) {
        for phi in &block.phis {
            phi.incoming.iter().for_each(|(_, value)| self.passes(id, *value, phi.dst));
        }
        for inst in &block.insts {
            self.inst(id, inst);
        }
        match &block.terminator {
            Terminator::Ret { .. } => {}
            terminator => terminator.each_operand(|value| self.decides(id, value)),
        }
    }

    fn inst(&mut self, id: FunctionId, inst: &Inst) {
        match inst {
            Inst::Bin { dst, op, a, b, .. } => {
                if matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem) {
                    self.decides(id, *b);
                }
                self.passes(id, *a, *dst);
                self.passes(id, *b, *dst);
            }
            Inst::FBin { .. }
            | Inst::FNeg { .. }
            | Inst::Icmp { .. }
            | Inst::Fcmp { .. }
            | Inst::Cast { .. }
            | Inst::Select { .. }
            | Inst::Copy { .. }
            | Inst::Gep(_)
            | Inst::Intrinsic { .. } => {
                let mut dsts = Vec::new();
                inst.each_dst(|dst| dsts.push(dst));
                inst.each_operand(|value| dsts.iter().for_each(|dst| self.passes(id, value, *dst)));
            }
            Inst::Store { value, ptr, .. } | Inst::Rmw { value, ptr, .. } => {
                self.decides(id, *ptr);
                if is_one_of(&self.locals[&id], *ptr) {
                    self.decides(id, *value);
                }
            }
            Inst::MemSet { dst, byte, len, .. } => {
                self.decides(id, *dst);
                self.decides(id, *len);
                if is_one_of(&self.locals[&id], *dst) {
                    self.decides(id, *byte);
                }
            }
            Inst::Call { dsts, callee: Callee::Direct(callee), args } if self.runs(*callee) => {
                let params = &self.program.functions[*callee].params;
                for (index, arg) in args.iter().enumerate() {
                    match params.get(index).filter(|param| param.by_value.is_none()) {
                        Some(param) if arg.by_value.is_none() => {
                            self.pass((*callee, param.reg), id, arg.value)
                        }
                        _ => self.decides(id, arg.value),
                    }
                }
                let results = self.returned.get(callee).cloned().unwrap_or_default();
                for (dst, result) in dsts.iter().zip(results) {
                    self.sources.entry((id, *dst)).or_default().extend(result);
                }
            }
            _ => inst.each_operand(|value| self.decides(id, value)),
        }
    }

    /// Whether a call of the function runs its body.
    fn runs(&self, function: FunctionId) -> bool {
        self.program.functions[function].is_defined()
            && self.models.meanings.get(function).is_some_and(|meaning| meaning.is_body())
    }

    fn passes(&mut self, id: FunctionId, value: Operand, dst: Reg) {
        self.pass((id, dst), id, value);
    }

    fn pass(&mut self, to: Value, id: FunctionId, value: Operand) {
        if let Operand::Reg(reg) = value {
            self.sources.entry(to).or_default().push((id, reg));
        }
    }

    fn decides(&mut self, id: FunctionId, value: Operand) {
        if let Operand::Reg(reg) = value {
            self.decide.push((id, reg));
        }
    }
}

/// Registers that may hold the address of a local of this function.
fn addresses_of_locals(function: &Function) -> BTreeSet<Reg> {
    let mut own = BTreeSet::new();
    loop {
        let before = own.len();
        for block in function.blocks.values() {
            for phi in &block.phis {
                if phi.incoming.iter().any(|(_, value)| is_one_of(&own, *value)) {
                    own.insert(phi.dst);
                }
            }
            for inst in &block.insts {
                let derives = match inst {
                    Inst::Alloca { .. } => true,
                    // What comes out of memory, or from elsewhere, has left the function.
                    Inst::Load { .. } | Inst::Call { .. } => false,
                    _ => {
                        let mut derives = false;
                        inst.each_operand(|value| derives |= is_one_of(&own, value));
                        derives
                    }
                };
                if derives {
                    inst.each_dst(|dst| _ = own.insert(dst));
                }
            }
        }
        if own.len() == before {
            return own;
        }
    }
}

fn is_one_of(registers: &BTreeSet<Reg>, value: Operand) -> bool {
    matches!(value, Operand::Reg(reg) if registers.contains(&reg))
}
