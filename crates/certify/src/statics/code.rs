//! The expanded program beside the facts about it, with what every rule looks up.

use super::Refusal;
use super::calls::Calls;
use super::flow::Flow;
use super::sizes;
use super::terms::constant_in;
use raddle_base::{Id, IdVec, SiteId};
use raddle_facts::{Facts, ObjectId, ObjectKind, Offsets, SetId, Start, StaticProof};
use raddle_ir::expand::{self, Expanded};
use raddle_ir::{BlockId, Callee, FunctionId, Inst, Operand, Program, Reg, Ty, program_hash, verify};
use raddle_libmodel::memory::{Base, Extent, Region, Value};
use raddle_libmodel::{Arg, Meaning, MemoryEffect, Models};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

/// Made by [`Code::new`] only, which has checked that every id in the facts leads somewhere.
pub(crate) struct Code<'a> {
    /// Expanded: all facts speak of this one.
    pub program: Program,
    pub models: Models,
    pub proof: &'a StaticProof,
    pub facts: &'a Facts,
    pub roots: Roots,
    pub flows: IdVec<FunctionId, Flow>,
    pub calls: Calls,
    site_origin: IdVec<SiteId, SiteId>,
    objects: HashMap<ObjectKind, ObjectId>,
    outside: OnceCell<BTreeSet<FunctionId>>,
    pub(super) foreign_memory_is_used: OnceCell<bool>,
}

/// Where execution starts, in the expanded program (originals keep their ids).
pub(crate) struct Roots {
    pub main: Option<FunctionId>,
    /// Run before `main`, on its thread.
    pub constructors: Vec<FunctionId>,
    pub destructors: Vec<FunctionId>,
    pub entries: Vec<FunctionId>,
}

/// A point of the expanded program: right before the instruction (or the terminator) at `index` of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    pub function: FunctionId,
    pub block: BlockId,
    pub index: usize,
}

impl<'a> Code<'a> {
    pub fn new(program: &Program, models: &Models, proof: &'a StaticProof) -> Result<Code<'a>, Refusal> {
        let no = |rule, text: String| Refusal { place: None, rule, text };
        if proof.data_model != program.data_model.name() {
            return Err(no("data model", format!("the proof is for {}", proof.data_model)));
        }
        if u128::from_str_radix(&proof.program, 16) != Ok(program_hash(program)) {
            return Err(no("program", "the proof is about another program".to_owned()));
        }
        if models.meanings.len() != program.functions.len() {
            return Err(no("program", "the models are about another program".to_owned()));
        }
        if let Err(errors) = verify(program) {
            let first = errors.first().map_or(String::new(), ToString::to_string);
            return Err(no("program", format!("the program is malformed: {first}")));
        }
        check_arguments(program, models, proof)?;
        check_endings(models, proof)?;
        let expanded =
            expand::apply(program, &proof.recipe).map_err(|error| no("expansion", error.to_string()))?;
        let Expanded { program: expanded, site_origin, function_origin, .. } = expanded;
        let models = models.of_expanded(&function_origin);
        let roots = Roots::of(&expanded, proof)?;
        sizes::check(&expanded, proof)?;
        let facts = &proof.facts;
        let mut objects = HashMap::new();
        for (id, object) in facts.points_to.objects.iter() {
            if objects.insert(object.kind, id).is_some() {
                return Err(no("objects", format!("{:?} is there twice", object.kind)));
            }
        }
        let flows = expanded.functions.iter().map(|(id, f)| Flow::of(id, f, &facts.values)).collect();
        let mut code = Code {
            program: expanded,
            models,
            proof,
            facts,
            roots,
            flows,
            calls: Calls::default(),
            site_origin,
            objects,
            outside: OnceCell::new(),
            foreign_memory_is_used: OnceCell::new(),
        };
        code.calls = Calls::of(&code)?;
        Ok(code)
    }

    pub fn refuse<T>(&self, site: SiteId, rule: &'static str, text: impl Into<String>) -> Result<T, Refusal> {
        Err(Refusal { place: self.site_origin.get(site).copied(), rule, text: text.into() })
    }

    /// The site of the original program that this one is a copy of.
    pub fn origin(&self, site: SiteId) -> SiteId {
        self.site_origin[site]
    }

    /// A refusal that belongs to a point.
    pub fn refuse_at<T>(&self, at: At, rule: &'static str, text: impl Into<String>) -> Result<T, Refusal> {
        self.refuse(self.site(at), rule, text)
    }

    pub fn site(&self, at: At) -> SiteId {
        self.program.functions[at.function].blocks[at.block].site_of(at.index)
    }

    pub fn pointer_bytes(&self) -> u32 {
        self.program.data_model.pointer_bytes()
    }

    /// The object of a kind; `None`: the facts do not have it, so nothing may point there.
    pub fn object(&self, kind: ObjectKind) -> Option<ObjectId> {
        self.objects.get(&kind).copied()
    }

    pub fn kind(&self, object: ObjectId) -> ObjectKind {
        self.facts.points_to.objects[object].kind
    }

    pub fn global_kind(&self, global: raddle_ir::GlobalId) -> ObjectKind {
        if self.program.globals[global].thread_local {
            ObjectKind::ThreadLocal(global)
        } else {
            ObjectKind::Global(global)
        }
    }

    /// Whether clients of an open program can name the variable, and may have written it before they call (A-ENTRY).
    pub fn is_set_by_clients(&self, global: raddle_ir::GlobalId) -> bool {
        let variable = &self.program.globals[global];
        !self.roots.entries.is_empty() && variable.exported && !variable.constant
    }

    /// Whether some thread may run the function.
    pub fn is_run(&self, function: FunctionId) -> bool {
        !self.facts.threads.runs[function].is_empty()
    }

    pub fn reachable(&self, function: FunctionId, block: BlockId) -> bool {
        self.is_run(function) && self.facts.values.is_reachable(function, block)
    }

    /// Blocks that the facts call reachable.
    pub fn reachable_blocks(&self, function: FunctionId) -> impl Iterator<Item = BlockId> + '_ {
        let blocks = self.program.functions[function].blocks.ids();
        blocks.filter(move |block| self.reachable(function, *block))
    }

    /// Every instruction of a reachable block.
    pub fn each_instruction(
        &self,
        mut visit: impl FnMut(At, &Inst) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        for (function, body) in self.program.functions.iter() {
            for block in self.reachable_blocks(function) {
                for (index, inst) in body.blocks[block].insts.iter().enumerate() {
                    visit(At { function, block, index }, inst)?;
                }
            }
        }
        Ok(())
    }

    /// The function that a call names itself; `None` for a call through a pointer.
    pub fn direct_callee(&self, at: At) -> Option<FunctionId> {
        match self.program.functions[at.function].blocks[at.block].insts.get(at.index) {
            Some(Inst::Call { callee: Callee::Direct(target), .. }) => Some(*target),
            _ => None,
        }
    }

    /// The size of the objects that the instruction at a site makes, where it is one constant.
    pub fn made_bytes(&self, site: SiteId) -> Option<u64> {
        let function = self.program.sites.get(site)?.function;
        let constant = |operand: Operand, ty: Ty| {
            constant_in(&self.facts.values, function, operand, ty)
                .and_then(|number| u64::try_from(number).ok())
        };
        match self.program.code_at(site)? {
            raddle_ir::Code::Inst(Inst::Alloca { bytes, .. }) => constant(*bytes, Ty::Int(64)),
            raddle_ir::Code::Inst(Inst::Call { args, .. }) => {
                let call = self.calls.at(function, site)?;
                let (_, effect) = call.effects.first().filter(|_| call.effects.len() == 1)?;
                let size = effect.memory().allocates?.size;
                let value =
                    |arg: Arg| args.get(usize::from(arg.0)).and_then(|arg| constant(arg.value, arg.ty));
                let word = u64::from(self.pointer_bytes());
                match size {
                    Extent::Fixed { .. } => size.bytes(self.program.data_model),
                    Extent::Arg(arg) => value(arg),
                    Extent::Product(a, b) => value(a)?.checked_mul(value(b)?),
                    Extent::Times(arg, bytes) => value(arg)?.checked_mul(u64::from(bytes)),
                    Extent::TimesWords(arg, words) => value(arg)?.checked_mul(u64::from(words) * word),
                    Extent::Pages(arg) => value(arg)?.checked_next_multiple_of(4096),
                    Extent::CString | Extent::CStringUpTo(_) | Extent::StringOf(_) | Extent::ToEnd => None,
                }
            }
            _ => None,
        }
    }

    /// The targets that the facts give a register.
    pub fn set(&self, function: FunctionId, reg: Reg) -> &'a [(ObjectId, Offsets)] {
        self.targets(self.facts.points_to.regs[function][reg.index()])
    }

    pub fn targets(&self, set: SetId) -> &'a [(ObjectId, Offsets)] {
        self.facts.points_to.targets_of(set)
    }

    /// Where an operand may point, by the facts; constants by themselves.
    pub fn pointees(&self, function: FunctionId, operand: Operand) -> Vec<(ObjectId, Offsets)> {
        let single = |kind: ObjectKind, offset: i64| {
            self.object(kind).map(|object| (object, Offsets::exact(offset))).into_iter().collect()
        };
        match operand {
            Operand::Reg(reg) => self.set(function, reg).to_vec(),
            Operand::Global(global, offset) => single(self.global_kind(global), offset),
            Operand::Function(target) => single(ObjectKind::Function(target), 0),
            Operand::Const(_) | Operand::Block(_) | Operand::Null | Operand::Undef => Vec::new(),
        }
    }
}

impl Roots {
    fn of(program: &Program, proof: &StaticProof) -> Result<Roots, Refusal> {
        let no = |text: &str| Err(Refusal { place: None, rule: "roots", text: text.to_owned() });
        let main = program.function_by_symbol("main").filter(|main| program.functions[*main].is_defined());
        let defined = |f: &FunctionId| program.functions.get(*f).is_some_and(|f| f.is_defined());
        if !proof.entries.iter().chain(&program.constructors).chain(&program.destructors).all(defined) {
            return no("an entry, constructor or destructor has no body");
        }
        if main.is_none() && proof.entries.is_empty() {
            return no("there is neither a `main` nor an entry: nothing runs");
        }
        Ok(Roots {
            main,
            constructors: program.constructors.clone(),
            destructors: program.destructors.clone(),
            entries: proof.entries.clone(),
        })
    }

    pub fn all(&self) -> impl Iterator<Item = FunctionId> + '_ {
        let inside = self.constructors.iter().chain(&self.main).chain(&self.destructors);
        inside.chain(&self.entries).copied()
    }
}

impl Code<'_> {
    /// Whether something else than calls and creations of the program may run the function.
    pub fn is_called_from_outside(&self, function: FunctionId) -> bool {
        self.outside.get_or_init(|| self.called_from_outside()).contains(&function)
    }

    fn called_from_outside(&self) -> BTreeSet<FunctionId> {
        let mut found: BTreeSet<FunctionId> = self.roots.all().collect();
        for thread in self.facts.threads.threads.values() {
            if !matches!(thread.start, Start::Created(_) | Start::Once(_)) {
                found.insert(thread.entry);
            }
        }
        if let Some(unknown) = self.object(ObjectKind::Unknown) {
            for cell in &self.facts.points_to.contents[unknown] {
                found.extend(self.targets(cell.holds).iter().filter_map(
                    |(object, _)| match self.kind(*object) {
                        ObjectKind::Function(function) => Some(function),
                        _ => None,
                    },
                ));
            }
        }
        found
    }
}

/// A function's address given to a library function may become that of a copy only if the library does nothing but call it.
fn check_arguments(program: &Program, models: &Models, proof: &StaticProof) -> Result<(), Refusal> {
    for (site, argument) in proof.recipe.replaced_arguments() {
        let callee = match program.code_at(site) {
            Some(raddle_ir::Code::Inst(Inst::Call { callee: raddle_ir::Callee::Direct(callee), .. })) => {
                *callee
            }
            _ => {
                return Err(Refusal {
                    place: None,
                    rule: "expansion",
                    text: format!("{site} is no direct call"),
                });
            }
        };
        let only_called = match &models.meanings[callee] {
            Meaning::Effect(effect, _) => only_calls(&effect.memory(), argument),
            _ => false,
        };
        if !only_called {
            let text = format!("argument {argument} may be looked at by the function that is called");
            return Err(Refusal { place: Some(site), rule: "expansion", text });
        }
    }
    Ok(())
}

/// What is said never to return must be what is run: `expand` has looked at bodies.
fn check_endings(models: &Models, proof: &StaticProof) -> Result<(), Refusal> {
    let is_body = |function: &FunctionId| models.meanings.get(*function).is_some_and(|m| m.is_body());
    match proof.recipe.never_return.iter().find(|function| !is_body(function)) {
        Some(function) => {
            let text = format!("{function} is said never to return, and its body is not what is run");
            Err(Refusal { place: None, rule: "expansion", text })
        }
        None => Ok(()),
    }
}

fn only_calls(memory: &MemoryEffect, argument: u32) -> bool {
    let is = |arg: Arg| u32::from(arg.0) == argument;
    let names = |region: Region| match region.base {
        Base::Arg(arg) | Base::VarArgs(arg) | Base::VaList(arg) | Base::Specific(arg) => {
            is(arg) || matches!(region.base, Base::VarArgs(_))
        }
        Base::ThreadResult(arg) => arg.is_some_and(is),
        Base::Fresh | Base::Library(_) | Base::Variable(_) | Base::Errno => false,
    };
    let says = |value: Value| match value {
        Value::Arg(arg) => is(arg),
        Value::Into(region) | Value::ContentOf(region) => names(region),
        Value::Outside | Value::NewThread | Value::ThisThread => false,
    };
    memory.calls.iter().any(|callback| is(callback.function))
        && !memory.calls.iter().flat_map(|callback| &callback.passes).any(|value| says(*value))
        && !memory.touches.iter().any(|touch| names(touch.region))
        && !memory.stores.iter().any(|store| names(store.to) || says(store.value))
        && !memory.returns.iter().any(|value| says(*value))
}
