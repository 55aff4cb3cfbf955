//! The rules of `raddle_facts::points_to`, checked instruction by instruction on a finished solution. Written apart from the solver; where
//! a rule of the solver is finer (integers that are looked at), only what is certain is asked for.

use crate::{Solved, compile, programs, solve};
use raddle_base::{Id, SiteId};
use raddle_facts::{Cell, ObjectId, ObjectKind, Offsets, SetId};
use raddle_ir::{
    BinOp, CallArg, Callee, CastOp, Function, FunctionId, Inst, Operand, Reg, SymbolRef, Terminator, Ty,
};
use raddle_libmodel::Meaning;
use std::collections::{BTreeSet, HashMap};

type Set = Vec<(ObjectId, Offsets)>;

struct Checker<'s> {
    solved: &'s Solved,
    objects: HashMap<ObjectKind, ObjectId>,
    pointer_bytes: u32,
    asked: usize,
    wrong: Vec<String>,
}

fn check(solved: &Solved) -> (usize, Vec<String>) {
    let objects = solved.facts.objects.iter().map(|(id, object)| (object.kind, id)).collect();
    let pointer_bytes = solved.program.data_model.pointer_bytes();
    let mut checker = Checker { solved, objects, pointer_bytes, asked: 0, wrong: Vec::new() };
    checker.initialisers();
    for id in checker.called() {
        checker.function(id);
    }
    (checker.asked, checker.wrong)
}

fn members_in(whole: Offsets, part: Offsets) -> bool {
    if whole == part {
        return true;
    }
    whole.stride != 0
        && whole.low <= part.low
        && part.high <= whole.high
        && part.stride.is_multiple_of(whole.stride)
        && (part.anchor.wrapping_sub(whole.anchor)).rem_euclid(whole.stride as i64) == 0
}

fn includes(whole: &[(ObjectId, Offsets)], part: &[(ObjectId, Offsets)]) -> bool {
    part.iter().all(|(object, at)| whole.iter().any(|(o, w)| o == object && members_in(*w, *at)))
}

fn lost(set: &[(ObjectId, Offsets)]) -> Set {
    set.iter().map(|(object, _)| (*object, Offsets::ANY)).collect()
}

impl Checker<'_> {
    fn set(&self, id: SetId) -> &[(ObjectId, Offsets)] {
        self.solved.facts.targets_of(id)
    }

    fn reg(&self, function: FunctionId, reg: Reg) -> Set {
        self.set(self.solved.facts.regs[function][reg.index()]).to_vec()
    }

    fn operand(&self, function: FunctionId, operand: Operand) -> Set {
        let exact = |kind: ObjectKind, offset: i64| match self.objects.get(&kind) {
            Some(object) => vec![(*object, Offsets::exact(offset))],
            None => Vec::new(),
        };
        match operand {
            Operand::Reg(reg) => self.reg(function, reg),
            Operand::Global(global, offset) => exact(ObjectKind::Global(global), offset),
            Operand::Function(target) => exact(ObjectKind::Function(target), 0),
            Operand::Const(_) | Operand::Block(_) | Operand::Null | Operand::Undef => Vec::new(),
        }
    }

    fn ask(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.asked += 1;
        if !holds {
            self.wrong.push(what());
        }
    }

    /// Parts of the library and of unknown memory lose offsets inside their part only.
    fn ask_included(&mut self, whole: &[(ObjectId, Offsets)], part: &[(ObjectId, Offsets)], what: &str) {
        let parted = |object: ObjectId| {
            matches!(self.solved.facts.objects[object].kind, ObjectKind::Library | ObjectKind::Unknown)
        };
        let strict: Set = part.iter().copied().filter(|(o, _)| !parted(*o)).collect();
        let loose = part.iter().filter(|(o, _)| parted(*o)).all(|(o, _)| whole.iter().any(|(w, _)| w == o));
        let holds = includes(whole, &strict) && loose;
        self.ask(holds, || format!("{what}: {part:?} is not in {whole:?}"));
    }

    /// Functions that roots and targets reach.
    fn called(&self) -> BTreeSet<FunctionId> {
        let mut found: BTreeSet<FunctionId> = self.solved.roots.all().collect();
        let mut work: Vec<FunctionId> = found.iter().copied().collect();
        while let Some(id) = work.pop() {
            if !self.runs(id) {
                continue;
            }
            for (block_id, block) in self.solved.program.functions[id].blocks.iter() {
                if !self.solved.values.is_reachable(id, block_id) {
                    continue;
                }
                for (index, inst) in block.insts.iter().enumerate() {
                    let Inst::Call { callee, .. } = inst else { continue };
                    let direct = match callee {
                        Callee::Direct(target) => Some(*target),
                        Callee::Indirect(_) => None,
                    };
                    let told = self.solved.facts.targets.get(&block.site_of(index)).into_iter().flatten();
                    for target in told.copied().chain(direct) {
                        if found.insert(target) {
                            work.push(target);
                        }
                    }
                }
            }
        }
        found.into_iter().filter(|id| self.runs(*id)).collect()
    }

    fn runs(&self, id: FunctionId) -> bool {
        matches!(self.solved.models.meanings[id], Meaning::Body | Meaning::AtomicBody)
    }

    fn initialisers(&mut self) {
        for (id, global) in self.solved.program.globals.iter() {
            let kind = match global.thread_local {
                true => ObjectKind::ThreadLocal(id),
                false => ObjectKind::Global(id),
            };
            let (Some(object), Some(init)) = (self.objects.get(&kind).copied(), &global.init) else {
                continue;
            };
            for relocation in &init.relocations {
                let target = match relocation.target {
                    SymbolRef::Global(target) => Operand::Global(target, relocation.addend),
                    SymbolRef::Function(target) => Operand::Function(target),
                    SymbolRef::Block(..) => continue,
                };
                let value = self.operand(FunctionId(0), target);
                let thread_local = matches!(relocation.target,
                    SymbolRef::Global(g) if self.solved.program.globals[g].thread_local);
                self.ask(!value.is_empty() || thread_local, || format!("{kind:?} has no target"));
                self.stored(
                    object,
                    Offsets::exact(relocation.offset as i64),
                    self.pointer_bytes,
                    &value,
                    "init",
                );
            }
        }
    }

    /// Some cell covers the written bytes and holds the value.
    fn stored(
        &mut self,
        object: ObjectId,
        at: Offsets,
        bytes: u32,
        value: &[(ObjectId, Offsets)],
        what: &str,
    ) {
        if value.is_empty() || self.is_parted(object) {
            return;
        }
        let covers = |cell: &Cell| cell.bytes >= bytes && members_in(cell.at, at);
        let holds = self.solved.facts.contents[object]
            .iter()
            .any(|cell| covers(cell) && includes(self.set(cell.holds), value));
        self.ask(holds, || format!("{what}: no cell at {at:?} of {object} holds {value:?}"));
    }

    fn is_parted(&self, object: ObjectId) -> bool {
        matches!(self.solved.facts.objects[object].kind, ObjectKind::Library | ObjectKind::Unknown)
    }

    fn function(&mut self, id: FunctionId) {
        let function = &self.solved.program.functions[id];
        for (block_id, block) in function.blocks.iter() {
            if !self.solved.values.is_reachable(id, block_id) {
                continue;
            }
            for phi in &block.phis {
                let whole = self.reg(id, phi.dst);
                for (from, operand) in &phi.incoming {
                    if self.solved.values.is_reachable(id, *from) && carries(function, phi.dst) {
                        let part = self.operand(id, *operand);
                        self.ask_included(&whole, &part, "phi");
                    }
                }
            }
            for (index, inst) in block.insts.iter().enumerate() {
                self.instruction(id, block.site_of(index), inst);
            }
            if let Terminator::Ret { values } = &block.terminator {
                for (value, set) in values.iter().zip(self.solved.facts.returns[id].clone()) {
                    let (whole, part) = (self.set(set).to_vec(), self.operand(id, *value));
                    self.ask_included(&whole, &part, "return");
                }
            }
        }
    }

    fn instruction(&mut self, id: FunctionId, site: SiteId, inst: &Inst) {
        let function = &self.solved.program.functions[id];
        let what = format!("{} {site}", self.solved.program.text(function.name));
        match inst {
            Inst::Copy { dst, a, .. } => {
                let (whole, part) = (self.reg(id, *dst), self.operand(id, *a));
                if carries(function, *dst) {
                    self.ask_included(&whole, &part, &what);
                }
            }
            Inst::Select { dst, a, b, .. } if carries(function, *dst) => {
                let whole = self.reg(id, *dst);
                for operand in [a, b] {
                    let part = self.operand(id, *operand);
                    self.ask_included(&whole, &part, &what);
                }
            }
            Inst::Cast {
                dst,
                op: CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast | CastOp::ZExt,
                a,
                ..
            } if carries(function, *dst) => {
                let (whole, part) = (self.reg(id, *dst), self.operand(id, *a));
                if is_wide(function, *dst) {
                    self.ask_included(&whole, &part, &what);
                }
            }
            Inst::Bin { dst, op, a, b, .. } if is_wide(function, *dst) => {
                let whole = self.reg(id, *dst);
                match (op, b) {
                    (BinOp::Add, Operand::Const(number)) => {
                        let shifted: Set = self
                            .operand(id, *a)
                            .into_iter()
                            .filter(|(_, at)| at.is_exact())
                            .map(|(o, at)| (o, Offsets::exact(at.anchor.wrapping_add(*number as i64))))
                            .collect();
                        self.ask_included(&whole, &shifted, &what);
                    }
                    (BinOp::Sub, Operand::Const(_)) => self.ask_objects(id, *dst, &[*a], &what),
                    (BinOp::Sub, _) => self.ask_objects(id, *dst, &[*a, *b], &what),
                    // The distance of two elements is a number.
                    (BinOp::SDiv, Operand::Const(2..)) if is_difference(function, *a) => {}
                    (BinOp::Add, _) if matches!(a, Operand::Const(_)) => {}
                    // A register with one known number counts as a constant.
                    _ => self.ask_objects(id, *dst, &[*a], &what),
                }
            }
            Inst::Gep(gep) => {
                let whole = self.reg(id, gep.dst);
                let part = self.operand(id, gep.base);
                if gep.indices.is_empty() {
                    let shifted: Set = part
                        .into_iter()
                        .filter(|(_, at)| at.is_exact())
                        .map(|(o, at)| (o, Offsets::exact(at.anchor.wrapping_add(gep.offset))))
                        .collect();
                    self.ask_included(&whole, &shifted, &what);
                } else {
                    self.ask_objects(id, gep.dst, &[gep.base], &what);
                }
            }
            Inst::Alloca { dst, .. } => {
                let whole = self.reg(id, *dst);
                let object = self.objects.get(&ObjectKind::Stack(site)).copied();
                let points = object.is_some_and(|o| whole.contains(&(o, Offsets::exact(0))));
                self.ask(points, || format!("{what}: a local has no object"));
            }
            Inst::Load { dst, ty, ptr, .. } => self.load(id, *dst, *ty, *ptr, &what),
            Inst::CmpXchg(x) => {
                self.load(id, x.old, x.ty, x.ptr, &what);
                self.store(id, x.ty, x.ptr, x.new, &what);
            }
            Inst::Store { ty, value, ptr, .. } => self.store(id, *ty, *ptr, *value, &what),
            Inst::MemCopy { dst, src, .. } => {
                let (to, from) = (self.operand(id, *dst), self.operand(id, *src));
                self.copied(&to, &from, &what);
            }
            Inst::Call { dsts, callee, args } => self.call(id, site, dsts, *callee, args, &what),
            _ => {}
        }
    }

    /// Whatever the operands point into, the result may point into.
    fn ask_objects(&mut self, id: FunctionId, dst: Reg, operands: &[Operand], what: &str) {
        let whole = self.reg(id, dst);
        for operand in operands {
            let part = self.operand(id, *operand);
            let objects = part.iter().all(|(o, _)| whole.iter().any(|(w, _)| w == o));
            self.ask(objects, || format!("{what}: objects are lost"));
        }
    }

    fn load(&mut self, id: FunctionId, dst: Reg, ty: Ty, ptr: Operand, what: &str) {
        let bytes = ty.access_bytes(self.pointer_bytes);
        let whole = self.reg(id, dst);
        for (object, at) in self.operand(id, ptr) {
            for cell in self.solved.facts.contents[object].clone() {
                if self.is_parted(object) || !cell.at.may_overlap(u64::from(cell.bytes), at, u64::from(bytes))
                {
                    continue;
                }
                let definite = cell.at.is_exact() && at.is_exact();
                let asked = definite && ty != Ty::Int(1) || ty == Ty::Ptr && cell.bytes >= self.pointer_bytes;
                if !asked {
                    continue;
                }
                let held = self.set(cell.holds).to_vec();
                let same = cell.bytes == bytes && (!definite || cell.at == at);
                let part = if same { held } else { lost(&held) };
                self.ask_included(&whole, &part, what);
            }
        }
    }

    fn store(&mut self, id: FunctionId, ty: Ty, ptr: Operand, value: Operand, what: &str) {
        if ty != Ty::Ptr && !matches!(ty, Ty::Int(bits) if bits > 1) {
            return;
        }
        let value = self.operand(id, value);
        for (object, at) in self.operand(id, ptr) {
            self.stored(object, at, ty.access_bytes(self.pointer_bytes), &value, what);
        }
    }

    /// Every pointer in the source is somewhere in the target.
    fn copied(&mut self, to: &[(ObjectId, Offsets)], from: &[(ObjectId, Offsets)], what: &str) {
        for (target, _) in to {
            for (source, start) in from {
                for cell in self.solved.facts.contents[*source].clone() {
                    let inside = cell.at.is_exact() && start.is_exact() && cell.at.anchor == start.anchor;
                    if !inside || self.is_parted(*target) || self.is_parted(*source) {
                        continue;
                    }
                    let held = self.set(cell.holds).to_vec();
                    let arrived = self.solved.facts.contents[*target]
                        .iter()
                        .any(|other| other.bytes >= cell.bytes && includes(self.set(other.holds), &held));
                    self.ask(arrived, || format!("{what}: {held:?} is not copied"));
                }
            }
        }
    }

    fn call(
        &mut self,
        id: FunctionId,
        site: SiteId,
        dsts: &[Reg],
        callee: Callee,
        args: &[CallArg],
        what: &str,
    ) {
        let told = self.solved.facts.targets.get(&site).cloned().unwrap_or_default();
        let targets = match callee {
            Callee::Direct(target) => vec![target],
            Callee::Indirect(pointer) => {
                let mut pointed = Vec::new();
                for (object, _) in self.operand(id, pointer) {
                    if let ObjectKind::Function(target) = self.solved.facts.objects[object].kind {
                        self.ask(told.contains(&target), || format!("{what}: {target} is no target"));
                        pointed.push(target);
                    }
                }
                pointed
            }
        };
        for target in targets {
            if !self.runs(target) {
                continue;
            }
            let function = &self.solved.program.functions[target];
            for (param, arg) in function.params.iter().zip(args) {
                let (whole, part) = (self.reg(target, param.reg), self.operand(id, arg.value));
                if param.by_value.is_some() || arg.by_value.is_some() {
                    self.copied(&whole, &part, what);
                } else if carries(function, param.reg) {
                    self.ask_included(&whole, &part, what);
                }
            }
            for (dst, set) in dsts.iter().zip(self.solved.facts.returns[target].clone()) {
                let (whole, part) = (self.reg(id, *dst), self.set(set).to_vec());
                self.ask_included(&whole, &part, what);
            }
        }
    }
}

fn carries(function: &Function, reg: Reg) -> bool {
    matches!(function.regs[reg].ty, Ty::Ptr) || matches!(function.regs[reg].ty, Ty::Int(bits) if bits > 1)
}

fn is_wide(function: &Function, reg: Reg) -> bool {
    matches!(function.regs[reg].ty, Ty::Ptr) || matches!(function.regs[reg].ty, Ty::Int(bits) if bits >= 64)
}

/// Whether an operand is the difference of two addresses.
fn is_difference(function: &Function, operand: Operand) -> bool {
    let insts = || function.blocks.values().flat_map(|block| &block.insts);
    let was_pointer = |operand: Operand| match operand {
        Operand::Global(..) => true,
        Operand::Reg(reg) => {
            insts().any(|inst| matches!(inst, Inst::Cast { dst, op: CastOp::PtrToInt, .. } if *dst == reg))
        }
        _ => false,
    };
    insts().any(|inst| match inst {
        Inst::Bin { dst, op: BinOp::Sub, a, b, .. } => {
            operand == Operand::Reg(*dst) && was_pointer(*a) && was_pointer(*b)
        }
        _ => false,
    })
}

#[test]
fn solutions_are_closed() {
    let (mut asked, mut wrong) = (0, Vec::new());
    for (path, _, program) in programs() {
        let solved = solve(program.clone(), Vec::new());
        let (seen, broken) = check(&solved);
        asked += seen;
        wrong.extend(broken.into_iter().map(|text| format!("{}: {text}", path.display())));
    }
    assert!(wrong.is_empty(), "{} of {asked}:\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
    assert!(asked > 1_000, "only {asked} rules");
}

#[test]
fn a_hole_in_a_solution_is_noticed() {
    let source = "int a, b, *p, **q;
        static int *other(int *x) { return x == &a ? &b : x; }
        int *(*f)(int *) = other;
        int main(void) {
            q = &p;
            *q = f(&a);
            int *r = *q;
            *r = 1;
            return 0;
        }";
    let solved = solve(compile(source), Vec::new());
    let (asked, wrong) = check(&solved);
    assert!(wrong.is_empty() && asked > 10, "{wrong:?}");
    for index in 1..solved.facts.sets.len() {
        let mut broken = solve(compile(source), Vec::new());
        let (object, _) = broken.facts.sets[SetId(index as u32)].pop().expect("only the first set is empty");
        // `argv` is not written by the program.
        if broken.facts.objects[object].kind == ObjectKind::Library {
            continue;
        }
        assert!(
            !check(&broken).1.is_empty(),
            "set {index} {:?} is needed",
            solved.facts.sets.as_slice()[index]
        );
    }
    let mut broken = solve(compile(source), Vec::new());
    broken.facts.targets.clear();
    assert!(!check(&broken).1.is_empty());
}
