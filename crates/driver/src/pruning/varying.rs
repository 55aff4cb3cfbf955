//! What depends on the order of threads: values, and with them branches and addresses, that may be others in another run from the same state.
//!
//! A value is *fixed* if it is computed from constants, from arguments that are, and from local memory whose address never leaves
//! its function and in which only fixed values are stored. Everything else *varies*: what is read from other memory, what the library
//! returns, and what is assigned differently on the sides of a branch whose condition varies, or in a loop that such a branch ends. A
//! thread whose branches go the same way in another run computes the same fixed values there; so it does behind a place where
//! sides have come together that were different.
//!
//! Addresses of objects are names here, not numbers: where a number is made of one it varies. Insensitive to calling contexts. Errs towards
//! varying.

use super::shape::Shape;
use super::{Calls, called_by_others, calls, start, taken};
use raddle_base::{Id, IdVec, SiteId};
use raddle_interp::{Merge, ReportedBranches};
use raddle_ir::{
    Base, Bases, Block, BlockId, Callee, CastOp, Function, FunctionId, IcmpPred, Inst, Operand, Program, Reg,
    Terminator,
};
use raddle_libmodel::{Effect, How, LibcFn, Meaning, Models, ThreadOp};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Varying {
    /// Sites that may access, lock or join something else another time.
    pub(super) sites: BTreeSet<SiteId>,
    pub(super) reported: ReportedBranches,
}

/// What is known of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Taint {
    varies: bool,
    /// May be made of the address of an object that is not a global.
    address: bool,
}

const UNKNOWN: Taint = Taint { varies: true, address: true };

impl Taint {
    fn and(self, other: Taint) -> Taint {
        Taint { varies: self.varies || other.varies, address: self.address || other.address }
    }
}

/// What a local in memory holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Content {
    value: Taint,
    /// Threads that were created.
    handles: bool,
}

struct Solver<'p> {
    program: &'p Program,
    models: &'p Models,
    shapes: &'p IdVec<FunctionId, Shape>,
    of: IdVec<FunctionId, Known>,
    address_taken: Vec<FunctionId>,
    changed: bool,
}

/// What is known of a function.
struct Known {
    regs: Vec<Taint>,
    result: Taint,
    /// Where the memory is that a register points to, if it is one object that its function names.
    bases: Bases,
    /// Locals whose address does not leave the function.
    private: BTreeMap<Reg, Content>,
    /// Blocks on the sides of branches that vary, and with those where they come together.
    inside: Vec<bool>,
    joins: Vec<bool>,
    varying_branches: BTreeMap<BlockId, Merge>,
}

pub(super) fn varying(program: &Program, models: &Models, shapes: &IdVec<FunctionId, Shape>) -> Varying {
    let mut solver = Solver {
        program,
        models,
        shapes,
        of: program.functions.values().map(|function| Known::new(models, function)).collect(),
        address_taken: taken(program),
        changed: true,
    };
    for function in called_by_others(program, models) {
        solver.arguments(function, |_| UNKNOWN);
    }
    while std::mem::take(&mut solver.changed) {
        for id in program.functions.ids() {
            for block in program.functions[id].blocks.ids() {
                solver.block(id, block);
            }
        }
    }
    solver.finish()
}

impl Known {
    fn new(models: &Models, function: &Function) -> Known {
        let bases = Bases::of(function);
        let insts = function.blocks.values().flat_map(|block| &block.insts);
        let mut locals: BTreeSet<Reg> = insts
            .filter_map(|inst| match inst {
                Inst::Alloca { dst, .. } => Some(*dst),
                _ => None,
            })
            .collect();
        for block in function.blocks.values() {
            each_leak(models, block, |operand| {
                if let Some(Base::Local(local)) = bases.of_operand(operand) {
                    locals.remove(&local);
                }
            });
        }
        Known {
            regs: vec![Taint::default(); function.regs.len()],
            result: Taint::default(),
            bases,
            private: locals.into_iter().map(|local| (local, Content::default())).collect(),
            inside: vec![false; function.blocks.len()],
            joins: vec![false; function.blocks.len()],
            varying_branches: BTreeMap::new(),
        }
    }

    fn taint(&self, operand: Operand) -> Taint {
        match operand {
            Operand::Reg(reg) => self.regs[reg.index()],
            _ => Taint::default(),
        }
    }

    fn varies(&self, operand: Operand) -> bool {
        self.taint(operand).varies
    }

    fn private_base(&self, operand: Operand) -> Option<Reg> {
        match self.bases.of_operand(operand) {
            Some(Base::Local(local)) if self.private.contains_key(&local) => Some(local),
            _ => None,
        }
    }
}

/// Operands whose value gets to where it is not followed any more.
fn each_leak(models: &Models, block: &Block, mut visit: impl FnMut(Operand)) {
    block.phis.iter().flat_map(|phi| &phi.incoming).for_each(|(_, operand)| visit(*operand));
    for inst in &block.insts {
        match inst {
            Inst::Load { .. }
            | Inst::Icmp { .. }
            | Inst::Gep(_)
            | Inst::Copy { .. }
            | Inst::MemCopy { .. }
            | Inst::MemSet { .. } => {}
            Inst::Store { value, .. } | Inst::Rmw { value, .. } => visit(*value),
            Inst::CmpXchg(exchange) => [exchange.expected, exchange.new].into_iter().for_each(&mut visit),
            Inst::Call { callee, args, .. } => {
                let effect = effect(models, *callee);
                for (position, arg) in args.iter().enumerate() {
                    if arg.by_value.is_none() && !effect.is_some_and(|effect| only_looks(effect, position)) {
                        visit(arg.value);
                    }
                }
            }
            _ => inst.each_operand(&mut visit),
        }
    }
    block.terminator.each_operand(visit);
}

fn effect(models: &Models, callee: Callee) -> Option<&Effect> {
    let Callee::Direct(callee) = callee else { return None };
    match models.meanings.get(callee) {
        Some(Meaning::Effect(effect, _)) => Some(effect),
        _ => None,
    }
}

/// Whether the call may read or write what the argument points to, and keeps no pointer.
fn only_looks(effect: &Effect, position: usize) -> bool {
    match effect {
        Effect::Lock { .. } | Effect::Unlock { .. } | Effect::Nothing { .. } => true,
        Effect::Libc(function) => !function.may_keep_pointers() && returns_numbers(*function),
        Effect::Thread(ThreadOp::Create { id, .. }, _) => usize::from(id.0) == position,
        Effect::Thread(ThreadOp::Join { .. }, _) => true,
        _ => false,
    }
}

/// A pointer that is handed back would be a second name.
fn returns_numbers(function: LibcFn) -> bool {
    matches!(function.0, "printf" | "puts" | "putchar" | "strlen" | "memcmp" | "strcmp" | "strncmp" | "free")
}

impl<'p> Solver<'p> {
    fn block(&mut self, id: FunctionId, at: BlockId) {
        let program = self.program;
        let block = &program.functions[id].blocks[at];
        self.branch(id, at, block);
        for phi in &block.phis {
            let known = &self.of[id];
            let mut taint = Taint { varies: known.joins[at.index()], address: false };
            for (_, operand) in &phi.incoming {
                taint = taint.and(known.taint(*operand));
            }
            self.assign(id, phi.dst, taint);
        }
        for inst in &block.insts {
            self.inst(id, at, inst);
        }
        if let Terminator::Ret { values } = &block.terminator {
            let result =
                values.iter().fold(self.of[id].result, |sum, value| sum.and(self.of[id].taint(*value)));
            self.returns(id, result);
        }
    }

    fn branch(&mut self, id: FunctionId, at: BlockId, block: &Block) {
        let shape = &self.shapes[id];
        let varies = match &block.terminator {
            Terminator::IndirectBr { .. } => true,
            Terminator::CondBr { cond, .. } => self.of[id].varies(*cond),
            Terminator::Switch { value, .. } => self.of[id].varies(*value),
            _ => false,
        };
        if !varies || !shape.is_branch(at) || self.of[id].varying_branches.contains_key(&at) {
            return;
        }
        let merge = shape.merge(at);
        let known = &mut self.of[id];
        for target in &shape.successors[at.index()] {
            for block in shape.side(*target, merge) {
                known.inside[block.index()] = true;
                known.joins[block.index()] = true;
            }
        }
        known.varying_branches.insert(at, merge);
        self.changed = true;
        match merge {
            Merge::Block(block) => self.of[id].joins[block.index()] = true,
            Merge::Return => self.returns(id, Taint { varies: true, ..self.of[id].result }),
        }
    }

    fn returns(&mut self, id: FunctionId, result: Taint) {
        let result = self.of[id].result.and(result);
        self.changed |= self.of[id].result != result;
        self.of[id].result = result;
    }

    fn assign(&mut self, id: FunctionId, reg: Reg, taint: Taint) {
        let old = &mut self.of[id].regs[reg.index()];
        let new = old.and(taint);
        self.changed |= *old != new;
        *old = new;
    }

    fn keep(&mut self, id: FunctionId, local: Reg, content: Content) {
        let old = self.of[id].private.get_mut(&local).expect("it is private");
        let new = Content { value: old.value.and(content.value), handles: old.handles || content.handles };
        self.changed |= *old != new;
        *old = new;
    }

    fn arguments(&mut self, function: FunctionId, taint: impl Fn(usize) -> Taint) {
        let program = self.program;
        for (position, param) in program.functions[function].params.iter().enumerate() {
            self.assign(function, param.reg, taint(position));
        }
    }

    fn inst(&mut self, id: FunctionId, at: BlockId, inst: &Inst) {
        let known = &self.of[id];
        let inside = known.inside[at.index()];
        let mut operands = Taint::default();
        inst.each_operand(|operand| operands = operands.and(known.taint(operand)));
        let result = match inst {
            Inst::Icmp { pred, .. } => {
                let numbers = !matches!(pred, IcmpPred::Eq | IcmpPred::Ne);
                Taint { varies: operands.varies || numbers && operands.address, address: false }
            }
            Inst::Cast { op: CastOp::PtrToInt, .. } => {
                Taint { varies: operands.varies || operands.address, ..operands }
            }
            Inst::Bin { .. }
            | Inst::FBin { .. }
            | Inst::FNeg { .. }
            | Inst::Fcmp { .. }
            | Inst::Cast { .. }
            | Inst::Select { .. }
            | Inst::Copy { .. }
            | Inst::Gep(_)
            | Inst::Intrinsic { .. } => operands,
            Inst::Alloca { .. } => Taint { varies: inside, address: true },
            Inst::TlsAddr { .. } => Taint { varies: false, address: true },
            Inst::StackSave { .. } => Taint::default(),
            Inst::Load { ptr, atomic: None, .. } => match known.bases.of_operand(*ptr) {
                Some(Base::Local(local)) if known.private.contains_key(&local) => {
                    let Content { value, handles } = known.private[&local];
                    Taint { varies: value.varies || handles || operands.varies, ..value }
                }
                Some(Base::Global(global)) if self.program.globals[global].constant => {
                    Taint { varies: operands.varies, address: false }
                }
                _ => UNKNOWN,
            },
            Inst::Call { .. } => self.call(id, inst, inside),
            _ => UNKNOWN,
        };
        let stored = match inst {
            Inst::Store { value, ptr, .. } => Some((*ptr, self.of[id].taint(*value))),
            Inst::MemSet { dst, .. } => Some((*dst, operands)),
            Inst::Rmw { ptr, .. } => Some((*ptr, UNKNOWN)),
            Inst::CmpXchg(exchange) => Some((exchange.ptr, UNKNOWN)),
            Inst::MemCopy { dst, src, .. } => {
                let known = &self.of[id];
                let copied = match known.bases.of_operand(*src) {
                    Some(Base::Local(local)) if known.private.contains_key(&local) => {
                        let Content { value, handles } = known.private[&local];
                        Taint { varies: value.varies || handles, ..value }
                    }
                    Some(Base::Global(global)) if self.program.globals[global].constant => Taint::default(),
                    _ => UNKNOWN,
                };
                Some((*dst, copied))
            }
            _ => None,
        };
        if let Some((ptr, mut value)) = stored
            && let Some(local) = self.of[id].private_base(ptr)
        {
            let beside = matches!(inst, Inst::Store { .. }) && self.of[id].varies(ptr);
            value.varies |= inside || beside || !matches!(inst, Inst::Store { .. }) && operands.varies;
            self.keep(id, local, Content { value, handles: false });
        }
        let mut results = Vec::new();
        inst.each_dst(|dst| results.push(dst));
        results.into_iter().for_each(|dst| self.assign(id, dst, result));
    }

    /// What the call returns.
    fn call(&mut self, id: FunctionId, inst: &Inst, inside: bool) -> Taint {
        let Inst::Call { callee, args, .. } = inst else { return UNKNOWN };
        let given: Vec<Taint> = args
            .iter()
            .map(|arg| match arg.by_value {
                Some(_) => Taint { varies: false, address: true },
                None => self.of[id].taint(arg.value),
            })
            .collect();
        let arg = |position: usize| given.get(position).copied().unwrap_or_default();
        let Callee::Direct(function) = callee else {
            for function in self.address_taken.clone() {
                self.arguments(function, arg);
            }
            return UNKNOWN;
        };
        let Some(effect) = effect(self.models, *callee) else {
            if !self.program.functions[*function].is_defined() {
                return UNKNOWN;
            }
            self.arguments(*function, arg);
            return self.of[*function].result;
        };
        for (position, given) in args.iter().enumerate() {
            let Some(local) = self.of[id].private_base(given.value).filter(|_| given.by_value.is_none())
            else {
                continue;
            };
            let creates = matches!(effect, Effect::Thread(ThreadOp::Create { id, .. }, _) if usize::from(id.0) == position);
            let kept = match creates && !inside && !arg(position).varies {
                true => Content { handles: true, ..Content::default() },
                false => Content { value: UNKNOWN, handles: false },
            };
            self.keep(id, local, kept);
        }
        if let Effect::Thread(op, _) = effect
            && start(op).is_some()
        {
            self.created(op, args.iter().map(|arg| arg.value).collect(), &given);
        }
        match effect {
            Effect::Nothing { .. }
            | Effect::Lock { how: How::Block, .. }
            | Effect::Unlock { .. }
            | Effect::SyncInit { .. }
            | Effect::Thread(ThreadOp::Create { .. }, _) => Taint::default(),
            Effect::Libc(LibcFn("malloc" | "calloc")) => Taint { varies: inside, address: true },
            _ => UNKNOWN,
        }
    }

    /// The argument of a thread that is created.
    fn created(&mut self, op: &ThreadOp, args: Vec<Operand>, given: &[Taint]) {
        let (ThreadOp::Create { function, argument, .. } | ThreadOp::CreateReturning { function, argument }) =
            op
        else {
            return;
        };
        let taint = given.get(usize::from(argument.0)).copied().unwrap_or(UNKNOWN);
        match args.get(usize::from(function.0)) {
            Some(Operand::Function(function)) => self.arguments(*function, |_| taint),
            _ => {
                for function in self.address_taken.clone() {
                    self.arguments(function, |_| UNKNOWN);
                }
            }
        }
    }

    fn finish(self) -> Varying {
        let mut found = Varying { sites: BTreeSet::new(), reported: ReportedBranches::default() };
        for (id, function) in self.program.functions.iter() {
            let known = &self.of[id];
            for (block, merge) in &known.varying_branches {
                found.reported.merges.insert(function.blocks[*block].terminator_site(), *merge);
            }
            for block in function.blocks.values() {
                for (index, inst) in block.insts.iter().enumerate() {
                    let site = block.site_of(index);
                    if let Inst::Call { callee: Callee::Indirect(callee), .. } = inst
                        && known.varies(*callee)
                    {
                        found.reported.calls.insert(site);
                    }
                    if self.is_elsewhere(function, known, inst) {
                        found.sites.insert(site);
                    }
                }
            }
        }
        found
    }

    /// Whether the instruction may be about other memory, locks or threads another time.
    fn is_elsewhere(&self, function: &Function, known: &Known, inst: &Inst) -> bool {
        let any = |operands: &[Operand]| operands.iter().any(|operand| known.varies(*operand));
        match inst {
            Inst::Load { ptr, .. } | Inst::Store { ptr, .. } | Inst::Rmw { ptr, .. } => any(&[*ptr]),
            Inst::CmpXchg(exchange) => any(&[exchange.ptr]),
            Inst::MemCopy { dst, src, len, .. } => any(&[*dst, *src, *len]),
            Inst::MemSet { dst, len, .. } => any(&[*dst, *len]),
            Inst::Call { callee: Callee::Indirect(_), .. } => true,
            Inst::Call { callee, args, .. } => {
                let values: Vec<Operand> = args.iter().map(|arg| arg.value).collect();
                match effect(self.models, *callee) {
                    None => args.iter().any(|arg| arg.by_value.is_some() && known.varies(arg.value)),
                    Some(Effect::Libc(_)) => true,
                    Some(Effect::Thread(ThreadOp::Join { thread, .. }, _)) => !values
                        .get(usize::from(thread.0))
                        .is_some_and(|handle| is_known_thread(function, known, *handle)),
                    Some(Effect::Thread(op, _)) if start(op).is_some() => {
                        matches!(calls(self.models, inst), Calls::Thread(None))
                            || values.first().is_some_and(|id| known.varies(*id))
                    }
                    Some(_) => any(&values),
                }
            }
            Inst::VaStart { .. } | Inst::VaCopy { .. } | Inst::VaArg { .. } | Inst::Asm { .. } => true,
            _ => false,
        }
    }
}

/// Whether the handle is one that a creation stored in local memory.
fn is_known_thread(function: &Function, known: &Known, handle: Operand) -> bool {
    let Operand::Reg(handle) = handle else { return false };
    let loaded = function.blocks.values().flat_map(|block| &block.insts).find_map(|inst| match inst {
        Inst::Load { dst, ptr, atomic: None, .. } if *dst == handle => Some(*ptr),
        _ => None,
    });
    let Some(ptr) = loaded else { return false };
    let content = known.private_base(ptr).map(|local| known.private[&local]);
    !known.varies(ptr) && content.is_some_and(|content| content.handles && !content.value.varies)
}
