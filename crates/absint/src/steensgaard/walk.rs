//! The program as assignments between classes.

use super::Partitions;
use super::classes::{Class, Classes};
use crate::Roots;
use crate::points_to::{LibraryPart, Types};
use raddle_base::Id;
use raddle_facts::{ObjectKind, Values};
use raddle_ir::{
    Callee, CastOp, DebugType, DebugTypeId, FunctionId, Global, GlobalId, Inst, Operand, Program, Reg,
    SiteId, SymbolRef, Terminator, Ty,
};
use raddle_libmodel::{Effect, Meaning, Models};
use std::collections::HashMap;

pub(super) struct Walk<'p> {
    pub program: &'p Program,
    pub models: &'p Models,
    values: &'p Values,
    roots: &'p Roots,
    types: Types,
    pub classes: Classes,
    registers: Vec<Vec<Option<Class>>>,
    returns: Vec<Vec<Class>>,
    objects: HashMap<(ObjectKind, u32), Class>,
    pub locks: Vec<Class>,
    pending_types: Vec<DebugTypeId>,
    /// A function without body or model may be called.
    calls_unknown: bool,
}

impl<'p> Walk<'p> {
    pub(super) fn new(
        program: &'p Program,
        models: &'p Models,
        values: &'p Values,
        roots: &'p Roots,
    ) -> Walk<'p> {
        Walk {
            program,
            models,
            values,
            roots,
            types: Types::new(program),
            classes: Classes::default(),
            registers: program.functions.values().map(|f| vec![None; f.regs.len()]).collect(),
            returns: vec![Vec::new(); program.functions.len()],
            objects: HashMap::new(),
            locks: Vec::new(),
            pending_types: Vec::new(),
            calls_unknown: false,
        }
    }

    pub(super) fn run(&mut self) {
        for id in self.program.functions.ids() {
            for index in 0..self.program.functions[id].returns.len() {
                self.returned(id, index);
            }
        }
        for id in self.program.globals.ids() {
            self.global(id);
        }
        for id in self.program.functions.ids() {
            self.function(id);
        }
        self.start();
        if !self.roots.entries.is_empty() {
            self.set_by_clients();
        }
        while let Some(ty) = self.pending_types.pop() {
            self.fill(ty);
        }
        self.meet_clients();
        self.meet_unknown_functions();
    }

    /// Functions without body or model may put what they were given anywhere where they can reach it: into variables that they can
    /// name, and into the arguments of the functions that they were given.
    fn meet_unknown_functions(&mut self) {
        if !self.calls_unknown {
            return;
        }
        let unknown = self.object(ObjectKind::Unknown);
        let program = self.program;
        let is_theirs = |global: &Global| {
            let is_own = raddle_libmodel::variable(program.text(global.symbol)).is_none();
            is_own && (global.exported || global.init.is_none())
        };
        for (id, _) in program.globals.iter().filter(|(_, global)| is_theirs(global)) {
            let object = self.global_object(id);
            self.classes.join(unknown, object);
        }
        let mut count = 0;
        while count != self.classes.joined() {
            count = self.classes.joined();
            let signature = self.classes.signature(unknown, 0, 0);
            for variable in signature.params.iter().chain(&signature.returns) {
                self.points(*variable, unknown);
            }
        }
    }

    /// Clients may put pointers to memory of theirs into variables that they can name.
    fn set_by_clients(&mut self) {
        for (id, global) in self.program.globals.iter().filter(|(_, global)| global.exported) {
            let object = self.global_object(id);
            for to in global.debug_type.map_or(Vec::new(), |ty| Types::pointees(self.program, ty)) {
                let outside = self.outside(to);
                self.points(object, outside);
            }
        }
    }

    /// Clients may pass any part of their memory, of variables that they can name, and of what entries return or unknown functions got.
    fn meet_clients(&mut self) {
        let is_open = !self.roots.entries.is_empty();
        let is_theirs = |kind: ObjectKind| match kind {
            ObjectKind::Outside(_) => true,
            ObjectKind::Unknown => is_open,
            ObjectKind::Global(global) => is_open && self.program.globals[global].exported,
            _ => false,
        };
        let known = self.objects.iter().filter(|((kind, _), _)| is_theirs(*kind));
        let mut theirs: Vec<Class> = known.map(|(_, class)| *class).collect();
        for entry in &self.roots.entries {
            let returns = self.returns[entry.index()].clone();
            theirs.extend(returns.into_iter().map(|returned| self.classes.pointee(returned)));
        }
        let Some(first) = theirs.first().copied() else { return };
        theirs.into_iter().for_each(|class| self.classes.join(first, class));
        if is_open {
            self.points(first, first);
        }
    }

    pub(super) fn finish(mut self) -> Partitions {
        let mut objects: Vec<(ObjectKind, Class)> =
            self.objects.iter().map(|((kind, _), class)| (*kind, *class)).collect();
        objects.sort_unstable();
        Partitions::number(&mut self.classes, &self.registers, &objects, &self.locks)
    }

    fn start(&mut self) {
        let inside = self.roots.constructors.iter().chain(&self.roots.main).chain(&self.roots.destructors);
        for root in inside {
            for param in &self.program.functions[*root].params {
                let (register, arguments) = (self.reg(*root, param.reg), self.part(LibraryPart::Arguments));
                self.points(register, arguments);
                self.points(arguments, arguments);
            }
        }
        for entry in &self.roots.entries {
            for param in &self.program.functions[*entry].params {
                let register = self.reg(*entry, param.reg);
                match param.debug_type.map(|ty| self.program.strip(ty)) {
                    Some(ty) => match self.program.debug_types[ty] {
                        DebugType::Pointer { to } => {
                            let outside = self.outside(to);
                            self.points(register, outside);
                        }
                        _ if param.by_value.is_some() => {
                            let memory = self.classes.pointee(register);
                            for to in Types::pointees(self.program, ty) {
                                let outside = self.outside(to);
                                self.points(memory, outside);
                            }
                        }
                        _ => {}
                    },
                    None => {
                        let unknown = self.object(ObjectKind::Unknown);
                        self.points(register, unknown);
                    }
                }
            }
        }
    }

    fn points(&mut self, from: Class, to: Class) {
        let pointee = self.classes.pointee(from);
        self.classes.join(pointee, to);
    }

    pub(super) fn reg(&mut self, function: FunctionId, reg: Reg) -> Class {
        let slot = &mut self.registers[function.index()][reg.index()];
        match slot {
            Some(class) => *class,
            None => {
                let class = self.classes.class();
                *slot = Some(class);
                class
            }
        }
    }

    fn returned(&mut self, function: FunctionId, index: usize) -> Class {
        while self.returns[function.index()].len() <= index {
            let class = self.classes.class();
            self.returns[function.index()].push(class);
        }
        self.returns[function.index()][index]
    }

    pub(super) fn object(&mut self, kind: ObjectKind) -> Class {
        self.object_part(kind, 0)
    }

    fn object_part(&mut self, kind: ObjectKind, part: u32) -> Class {
        if let Some(class) = self.objects.get(&(kind, part)) {
            return *class;
        }
        let class = self.classes.class();
        self.objects.insert((kind, part), class);
        match kind {
            ObjectKind::Unknown => self.points(class, class),
            ObjectKind::Outside(ty) => self.pending_types.push(ty),
            ObjectKind::Function(function) => self.take_address(function, class),
            _ => {}
        }
        class
    }

    /// What a function without a body returns.
    pub(super) fn unknown_of(&mut self, function: FunctionId) -> Class {
        self.object_part(ObjectKind::Unknown, 1 + function.0)
    }

    pub(super) fn part(&mut self, part: LibraryPart) -> Class {
        // Large numbers: the parts of the library are few.
        let index = u32::try_from(part.start() >> 32).unwrap_or(u32::MAX);
        self.object_part(ObjectKind::Library, index)
    }

    pub(super) fn global_object(&mut self, global: GlobalId) -> Class {
        let kind = match self.program.globals[global].thread_local {
            true => ObjectKind::ThreadLocal(global),
            false => ObjectKind::Global(global),
        };
        self.object(kind)
    }

    /// Memory from outside of a type.
    fn outside(&mut self, ty: DebugTypeId) -> Class {
        match self.types.outside(self.program, ty) {
            Some(ty) => self.object(ObjectKind::Outside(ty)),
            None => self.object(ObjectKind::Unknown),
        }
    }

    fn fill(&mut self, ty: DebugTypeId) {
        let object = self.object(ObjectKind::Outside(ty));
        let mut inside = Types::pointees(self.program, ty);
        inside.extend(self.types.untyped());
        for to in inside {
            let outside = self.outside(to);
            self.points(object, outside);
        }
    }

    fn take_address(&mut self, function: FunctionId, class: Class) {
        let declared = &self.program.functions[function];
        let count = declared.params.len().max(MOST_LIBRARY_ARGUMENTS);
        let signature = self.classes.signature(class, count, declared.returns.len().max(1));
        match &self.models.meanings[function] {
            Meaning::Body | Meaning::AtomicBody => {
                for (param, passed) in declared.params.iter().zip(&signature.params) {
                    let reg = self.reg(function, param.reg);
                    self.classes.assign(reg, *passed);
                }
                for passed in signature.params.iter().skip(declared.params.len()) {
                    self.pass_variadic(function, *passed);
                }
                for (index, result) in signature.returns.iter().enumerate() {
                    let returned = self.returned(function, index);
                    self.classes.assign(*result, returned);
                }
            }
            meaning => {
                // Anything may be returned, and be anywhere.
                let all = match meaning {
                    Meaning::Unknown => {
                        self.calls_unknown = true;
                        self.object(ObjectKind::Unknown)
                    }
                    _ => self.unknown_of(function),
                };
                for variable in signature.params.iter().chain(&signature.returns) {
                    self.points(*variable, all);
                }
            }
        }
    }

    fn variadic_area(&mut self, function: FunctionId) -> Class {
        self.object(ObjectKind::Parameter(function, self.program.functions[function].params.len() as u32))
    }

    fn pass_variadic(&mut self, function: FunctionId, passed: Class) {
        if self.program.functions[function].variadic {
            let area = self.variadic_area(function);
            self.classes.assign(area, passed);
        }
    }

    pub(super) fn operand(&mut self, function: FunctionId, operand: Operand) -> Option<Class> {
        let object = match operand {
            Operand::Reg(reg) => return Some(self.reg(function, reg)),
            Operand::Global(global, _) => self.global_object(global),
            Operand::Function(target) => self.object(ObjectKind::Function(target)),
            Operand::Const(_) | Operand::Block(_) | Operand::Null | Operand::Undef => return None,
        };
        let class = self.classes.class();
        self.points(class, object);
        Some(class)
    }

    fn global(&mut self, id: GlobalId) {
        let global = &self.program.globals[id];
        match &global.init {
            Some(init) => {
                for relocation in &init.relocations {
                    let target = match relocation.target {
                        SymbolRef::Global(target) => self.global_object(target),
                        SymbolRef::Function(target) => self.object(ObjectKind::Function(target)),
                        SymbolRef::Block(..) => continue,
                    };
                    let object = self.global_object(id);
                    self.points(object, target);
                }
            }
            None => {
                let object = self.global_object(id);
                let arguments = self.part(LibraryPart::Arguments);
                if raddle_libmodel::variable(self.program.text(global.symbol)).is_some() {
                    self.points(object, arguments);
                    return;
                }
                match global.debug_type {
                    Some(ty) => {
                        for to in Types::pointees(self.program, ty) {
                            let outside = self.outside(to);
                            self.points(object, outside);
                        }
                    }
                    None => {
                        let unknown = self.object(ObjectKind::Unknown);
                        self.points(object, unknown);
                    }
                }
            }
        }
    }

    fn function(&mut self, id: FunctionId) {
        let function = &self.program.functions[id];
        if matches!(self.models.meanings[id], Meaning::Effect(..) | Meaning::Unknown) {
            return;
        }
        for (index, param) in function.params.iter().enumerate() {
            if param.by_value.is_some() {
                let (register, copy) =
                    (self.reg(id, param.reg), self.object(ObjectKind::Parameter(id, index as u32)));
                self.points(register, copy);
            }
        }
        for (block_id, block) in function.blocks.iter() {
            if !self.values.is_reachable(id, block_id) {
                continue;
            }
            for phi in &block.phis {
                let dst = self.reg(id, phi.dst);
                for (_, from) in &phi.incoming {
                    self.flow(id, dst, *from);
                }
            }
            for (index, inst) in block.insts.iter().enumerate() {
                self.instruction(id, block.site_of(index), inst);
            }
            if let Terminator::Ret { values } = &block.terminator {
                for (index, value) in values.iter().enumerate() {
                    let returned = self.returned(id, index);
                    self.flow(id, returned, *value);
                }
            }
        }
        if !self.roots.entries.is_empty() {
            self.declared(id);
        }
    }

    /// Variables of an open program may point to memory from outside of their declared type.
    fn declared(&mut self, id: FunctionId) {
        for (reg, info) in self.program.functions[id].regs.iter() {
            let Some(ty) = info.debug_type.map(|ty| self.program.strip(ty)) else { continue };
            if let DebugType::Pointer { to } = self.program.debug_types[ty]
                && matches!(self.program.debug_types[self.program.strip(to)], DebugType::Record { .. })
            {
                let (register, outside) = (self.reg(id, reg), self.outside(to));
                self.points(register, outside);
            }
        }
    }

    fn flow(&mut self, f: FunctionId, dst: Class, from: Operand) {
        if let Some(from) = self.operand(f, from) {
            self.classes.assign(dst, from);
        }
    }

    fn instruction(&mut self, f: FunctionId, site: SiteId, inst: &Inst) {
        match inst {
            Inst::Bin { dst, a, b, .. } | Inst::Select { dst, a, b, .. } => {
                let dst = self.reg(f, *dst);
                self.flow(f, dst, *a);
                self.flow(f, dst, *b);
            }
            Inst::Cast { op: CastOp::FpToSi | CastOp::FpToUi | CastOp::SiToFp | CastOp::UiToFp, .. } => {}
            Inst::Cast { dst, a, .. } | Inst::Copy { dst, a, .. } => {
                let dst = self.reg(f, *dst);
                self.flow(f, dst, *a);
            }
            Inst::Alloca { dst, .. } => {
                let (dst, object) = (self.reg(f, *dst), self.object(ObjectKind::Stack(site)));
                self.points(dst, object);
            }
            Inst::TlsAddr { dst, global } => {
                let (dst, object) = (self.reg(f, *dst), self.object(ObjectKind::ThreadLocal(*global)));
                self.points(dst, object);
            }
            Inst::Load { dst, ptr, .. } => self.load(f, *dst, *ptr),
            Inst::Store { value, ptr, .. } => self.store(f, *ptr, *value),
            Inst::Rmw { dst, ptr, value, .. } => {
                self.load(f, *dst, *ptr);
                self.store(f, *ptr, *value);
            }
            Inst::CmpXchg(x) => {
                self.load(f, x.old, x.ptr);
                self.store(f, x.ptr, x.new);
            }
            Inst::Gep(gep) => {
                let dst = self.reg(f, gep.dst);
                self.flow(f, dst, gep.base);
                if !matches!(gep.base, Operand::Reg(_) | Operand::Global(..) | Operand::Function(_)) {
                    gep.indices.iter().for_each(|(index, ..)| self.flow(f, dst, *index));
                }
            }
            Inst::MemCopy { dst, src, .. } | Inst::VaCopy { dst, src } => {
                if let (Some(to), Some(from)) = (self.operand(f, *dst), self.operand(f, *src)) {
                    self.copy(to, from);
                }
            }
            Inst::Call { dsts, callee, args } => {
                let results: Vec<Class> = dsts.iter().map(|dst| self.reg(f, *dst)).collect();
                let args: Vec<Passed> = args
                    .iter()
                    .map(|arg| Passed {
                        class: self.operand(f, arg.value).unwrap_or_else(|| self.classes.class()),
                        by_value: arg.by_value.is_some(),
                    })
                    .collect();
                match callee {
                    Callee::Direct(target) => self.call(site, *target, &args, &results),
                    Callee::Indirect(pointer) => {
                        if let Some(pointer) = self.operand(f, *pointer) {
                            self.call_through(pointer, &args, &results);
                        }
                    }
                }
            }
            Inst::Intrinsic { dsts, args, .. } => {
                if let Some(dst) = dsts.first() {
                    let dst = self.reg(f, *dst);
                    args.iter().for_each(|arg| self.flow(f, dst, *arg));
                }
            }
            Inst::VaStart { list } => {
                if let Some(list) = self.operand(f, *list) {
                    let area = self.variadic_area(f);
                    let list = self.classes.pointee(list);
                    self.points(list, area);
                }
            }
            Inst::VaArg { dst, list, .. } => {
                if let Some(list) = self.operand(f, *list) {
                    let dst = self.reg(f, *dst);
                    let list = self.classes.pointee(list);
                    let area = self.classes.pointee(list);
                    self.classes.assign(dst, area);
                }
            }
            Inst::Asm { dsts, writes, reads, .. } => {
                let (out, unknown) = (self.classes.class(), self.object(ObjectKind::Unknown));
                self.points(out, unknown);
                reads.iter().for_each(|read| self.flow(f, out, *read));
                for dst in dsts {
                    let dst = self.reg(f, *dst);
                    self.classes.assign(dst, out);
                }
                for (target, _) in writes {
                    if let Some(target) = self.operand(f, *target) {
                        let memory = self.classes.pointee(target);
                        self.classes.assign(memory, out);
                    }
                }
            }
            Inst::Unsupported { dsts, .. } => {
                for dst in dsts {
                    let (dst, unknown) = (self.reg(f, *dst), self.object(ObjectKind::Unknown));
                    self.points(dst, unknown);
                }
            }
            Inst::FBin { .. }
            | Inst::FNeg { .. }
            | Inst::Icmp { .. }
            | Inst::Fcmp { .. }
            | Inst::Fence { .. }
            | Inst::SignalFence
            | Inst::MemSet { .. }
            | Inst::VaEnd { .. }
            | Inst::StackSave { .. }
            | Inst::StackRestore { .. } => {}
        }
    }

    fn load(&mut self, f: FunctionId, dst: Reg, ptr: Operand) {
        if self.program.functions[f].regs[dst].ty == Ty::Int(1) {
            return;
        }
        if let Some(pointer) = self.operand(f, ptr) {
            let (dst, memory) = (self.reg(f, dst), self.classes.pointee(pointer));
            self.classes.assign(dst, memory);
        }
    }

    fn store(&mut self, f: FunctionId, ptr: Operand, value: Operand) {
        if let (Some(pointer), Some(value)) = (self.operand(f, ptr), self.operand(f, value)) {
            let memory = self.classes.pointee(pointer);
            self.classes.assign(memory, value);
        }
    }

    /// The contents of what both point to.
    fn copy(&mut self, to: Class, from: Class) {
        let (to, from) = (self.classes.pointee(to), self.classes.pointee(from));
        self.classes.assign(to, from);
    }

    pub(super) fn call(&mut self, site: SiteId, target: FunctionId, args: &[Passed], results: &[Class]) {
        match &self.models.meanings[target] {
            Meaning::Body | Meaning::AtomicBody => {
                let function = &self.program.functions[target];
                for (index, arg) in args.iter().enumerate() {
                    match function.params.get(index) {
                        Some(param) if param.by_value.is_some() || arg.by_value => {
                            let (register, copy) = (
                                self.reg(target, param.reg),
                                self.object(ObjectKind::Parameter(target, index as u32)),
                            );
                            self.points(register, copy);
                            self.copy(register, arg.class);
                        }
                        Some(param) => {
                            let register = self.reg(target, param.reg);
                            self.classes.assign(register, arg.class);
                        }
                        None if arg.by_value && function.variadic => {
                            let area = self.variadic_area(target);
                            let memory = self.classes.pointee(arg.class);
                            self.classes.assign(area, memory);
                        }
                        None => self.pass_variadic(target, arg.class),
                    }
                }
                for (index, result) in results.iter().enumerate() {
                    let returned = self.returned(target, index);
                    self.classes.assign(*result, returned);
                }
            }
            Meaning::Unknown => {
                self.calls_unknown = true;
                let unknown = self.object(ObjectKind::Unknown);
                for class in results.iter().copied().chain(args.iter().map(|arg| arg.class)) {
                    self.points(class, unknown);
                }
            }
            Meaning::Effect(Effect::Unsupported { .. }, _) => {
                let unknown = self.unknown_of(target);
                for result in results {
                    self.points(*result, unknown);
                }
                for arg in args.iter().filter(|_| !self.roots.entries.is_empty()) {
                    self.points(arg.class, unknown);
                }
            }
            Meaning::Effect(effect, _) => self.library_call(site, effect, args, results),
        }
    }

    pub(super) fn call_through(&mut self, pointer: Class, args: &[Passed], results: &[Class]) {
        let functions = self.classes.pointee(pointer);
        let signature = self.classes.signature(functions, args.len(), results.len());
        for (arg, param) in args.iter().zip(&signature.params) {
            self.classes.assign(*param, arg.class);
        }
        for (result, returned) in results.iter().zip(&signature.returns) {
            self.classes.assign(*result, *returned);
        }
    }
}

/// Library functions with more arguments are not called through pointers.
const MOST_LIBRARY_ARGUMENTS: usize = 6;

#[derive(Clone, Copy)]
pub(super) struct Passed {
    pub class: Class,
    pub by_value: bool,
}
