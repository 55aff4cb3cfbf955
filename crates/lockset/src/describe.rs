//! Names of what the analysis speaks of, as the programmer wrote them: threads, locks, variables, callers.

use crate::Analysis;
use raddle_absint::accesses::{Access, Kind};
use raddle_absint::terms::term_of;
use raddle_base::{SiteId, Span};
use raddle_facts::{ATOMIC_SECTION, HeldLock, ObjectId, ObjectKind, Offsets, Root, Start, Term, ThreadId};
use raddle_finding::Frame;
use raddle_ir::{FunctionId, Program};
use raddle_libmodel::Effect;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Texts for lock terms, made once.
pub struct LockNames {
    by_term: HashMap<Term, String>,
}

impl Analysis {
    /// The original function behind a function of the expanded program, by its name in the source.
    pub fn function_name(&self, function: FunctionId) -> &str {
        let program = &self.expanded.program;
        program.text(program.functions[function].name)
    }

    /// The name of a thread and the site of the original program that creates it.
    pub fn thread(&self, thread: ThreadId) -> (String, Option<SiteId>) {
        let facts = &self.facts.threads.threads[thread];
        let name = self.function_name(facts.entry).to_owned();
        match facts.start {
            Start::Main => (name, None),
            Start::Client => (format!("a client of {name}"), None),
            Start::Created(site) => (name, Some(self.expanded.site_origin[site])),
            Start::Once(site) => (format!("{name}, run once"), Some(self.expanded.site_origin[site])),
            Start::Handler(SiteId::NONE) => (format!("{name}, run at exit"), None),
            Start::Handler(site) => (format!("{name}, run later"), Some(self.expanded.site_origin[site])),
        }
    }

    /// Call sites of the original program, innermost first, up to the first place with more than one way in.
    pub fn callers(&self, access: &Access) -> Vec<SiteId> {
        let mut callers = Vec::new();
        let mut function = access.function;
        while let [(caller, position)] = self.calls.to[function].as_slice() {
            let call = &self.calls.from[*caller][*position];
            let nested = call.runs.iter().any(|(target, way)| *target == function && way.is_nested());
            if !nested || callers.len() > 30 {
                break;
            }
            callers.push(self.expanded.site_origin[call.site]);
            function = *caller;
        }
        callers
    }

    /// What two accesses of a pair have in common, as the programmer writes it.
    pub fn variable(&self, first: usize, second: usize) -> String {
        self.variable_of(first, second, &self.common_objects(first, second))
    }

    fn variable_of(&self, first: usize, second: usize, common: &[ObjectId]) -> String {
        let texts = [first, second].map(|index| self.expression(&self.accesses[index]));
        let named = common.iter().find_map(|object| {
            let name = self.global_name(*object)?;
            texts.iter().find(|text| identifier(text) == name)
        });
        named.unwrap_or(&texts[0]).clone()
    }

    /// The objects that both accesses may touch, where the variable's own name does not tell.
    pub fn memory(&self, first: usize, second: usize) -> String {
        const SHOWN: usize = 3;
        let objects = self.common_objects(first, second);
        let names: BTreeSet<String> = objects.iter().map(|object| self.object(*object)).collect();
        let variable = self.variable_of(first, second, &objects);
        if names.iter().any(|name| name == identifier(&variable)) {
            return String::new();
        }
        let more = names.len().saturating_sub(SHOWN);
        let mut shown: Vec<String> = names.into_iter().take(SHOWN).collect();
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        shown.join(", ")
    }

    fn common_objects(&self, first: usize, second: usize) -> Vec<ObjectId> {
        let points_to = &self.facts.points_to;
        let (a, b) = (&self.accesses[first], &self.accesses[second]);
        let touched = a.targets(points_to).iter();
        let mut objects: Vec<ObjectId> = touched
            .filter(|(object, at)| {
                self.facts.threads.shared[*object] && b.may_touch(points_to, *object, *at, a.bytes)
            })
            .map(|(object, _)| *object)
            .collect();
        objects.dedup();
        objects
    }

    fn global_name(&self, object: ObjectId) -> Option<&str> {
        let program = &self.expanded.program;
        match self.facts.points_to.objects[object].kind {
            ObjectKind::Global(global) => program.globals[global].name.map(|name| program.text(name)),
            _ => None,
        }
    }

    /// Variables with conflicting accesses in two threads of which every pair is ruled out. Sorted.
    pub fn free_variables(&self) -> Vec<String> {
        let points_to = &self.facts.points_to;
        let mut warned: BTreeMap<ObjectId, Vec<(Offsets, u64)>> = BTreeMap::new();
        for (object, at, bytes) in &self.pairs.racing {
            warned.entry(*object).or_default().push((*at, *bytes));
        }
        let mut shared: BTreeMap<ObjectId, Vec<Offsets>> = BTreeMap::new();
        for (object, offsets) in &self.pairs.shared {
            shared.entry(*object).or_default().push(*offsets);
        }
        let mut names: BTreeMap<String, bool> = BTreeMap::new();
        // Many accesses have the same targets.
        let mut known: HashMap<(*const (ObjectId, Offsets), u64), Option<bool>> = HashMap::new();
        for access in self.accesses.iter().filter(|access| access.is_write()) {
            let targets = access.targets(points_to);
            let racing = *known.entry((targets.as_ptr(), access.bytes)).or_insert_with(|| {
                let contested = targets
                    .iter()
                    .filter(|(object, at)| shared.get(object).is_some_and(|all| all.contains(at)));
                contested
                    .map(|(object, at)| {
                        warned.get(object).is_some_and(|list| {
                            list.iter().any(|(other, bytes)| at.may_overlap(access.bytes, *other, *bytes))
                        })
                    })
                    .reduce(|a, b| a || b)
            });
            if let Some(racing) = racing {
                *names.entry(self.expression(access)).or_default() |= racing;
            }
        }
        names.into_iter().filter(|(name, racing)| !racing && !name.is_empty()).map(|(name, _)| name).collect()
    }

    /// A place of the original program.
    pub fn frame(program: &Program, site: SiteId) -> Frame {
        let info = &program.sites[site];
        let function = program.text(program.functions[info.function].name).to_owned();
        match info.span.filter(|span| span.line > 0) {
            Some(Span { file, line, column, .. }) => {
                Frame { file: program.files.get(file).cloned().unwrap_or_default(), line, column, function }
            }
            None => Frame { file: String::new(), line: 0, column: 0, function },
        }
    }

    /// The expression of an access, or the object it touches.
    pub fn expression(&self, access: &Access) -> String {
        let program = &self.expanded.program;
        let text = access.place.map(|place| program.place_text(place)).unwrap_or_default();
        if !text.is_empty() {
            return text;
        }
        let first = access.targets(&self.facts.points_to).first().map(|(object, _)| *object);
        first.map(|object| self.object(object)).unwrap_or_default()
    }

    /// An object, as a person would call it.
    pub fn object(&self, object: ObjectId) -> String {
        let program = &self.expanded.program;
        let made = |site: SiteId| {
            let span = program.sites[site].span.filter(|span| span.line > 0);
            span.map_or_else(String::new, |span| format!(" of line {}", span.line))
        };
        match self.facts.points_to.objects[object].kind {
            ObjectKind::Global(global) | ObjectKind::ThreadLocal(global) => {
                let global = &program.globals[global];
                global.name.map_or_else(|| "a constant".to_owned(), |name| program.text(name).to_owned())
            }
            ObjectKind::Stack(site) => {
                let named = match program.code_at(site) {
                    Some(raddle_ir::Code::Inst(raddle_ir::Inst::Alloca { name: Some(name), .. })) => {
                        Some(program.text(*name).to_owned())
                    }
                    _ => None,
                };
                named.unwrap_or_else(|| format!("a local{}", made(site)))
            }
            ObjectKind::Parameter(function, _) => format!("a parameter of {}", self.function_name(function)),
            ObjectKind::Heap(site) => format!("the block{}", made(site)),
            ObjectKind::Function(function) => self.function_name(function).to_owned(),
            ObjectKind::Library => "memory of the C library".to_owned(),
            ObjectKind::Outside(_) => "memory that a client passes".to_owned(),
            ObjectKind::Unknown => "unknown memory".to_owned(),
        }
    }

    pub fn action(access: &Access) -> &'static str {
        match access.kind {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Free => "free",
        }
    }

    /// What must be held at an access: unconditional locks only.
    pub fn held(&self, access: usize) -> impl Iterator<Item = &HeldLock> {
        self.states[access].locks.iter().filter(|held| held.guard.is_none())
    }

    pub fn lock_names(&self) -> LockNames {
        let program = &self.expanded.program;
        let mut by_term = HashMap::new();
        for (function, list) in self.calls.from.iter() {
            for call in list {
                let (_, args) = call.parts(program, function);
                for effect in &call.effects {
                    let lock = match effect {
                        Effect::Lock { lock, .. } => *lock,
                        Effect::Sem(raddle_libmodel::SemOp::Wait { sem, .. }, _) => *sem,
                        _ => continue,
                    };
                    if let Some(arg) = args.get(usize::from(lock.0))
                        && let Some(place) = arg.place
                    {
                        let term = term_of(&self.facts.values, function, arg.value);
                        by_term.entry(term).or_insert_with(|| program.place_text(place));
                    }
                }
            }
        }
        LockNames { by_term }
    }

    pub fn lock_name(&self, names: &LockNames, lock: Term) -> String {
        if lock == ATOMIC_SECTION {
            return "the atomic section".to_owned();
        }
        if let Some(text) = names.by_term.get(&lock) {
            return text.clone();
        }
        let program = &self.expanded.program;
        match lock.root {
            Root::Global(global) => {
                let name = program.globals[global].name.map_or("a lock", |name| program.text(name));
                if lock.offset == 0 { name.to_owned() } else { format!("{name} at byte {}", lock.offset) }
            }
            _ => "a lock".to_owned(),
        }
    }
}

/// The word that an expression starts with.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}
