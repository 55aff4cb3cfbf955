//! Which site an instruction of the inlined program stands at.
//!
//! `frontend` marked instructions of the program as written; inlining copies marks. Where a pass made an instruction anew (SROA
//! splits copies of structs), the source place finds the mark again. An instruction that came from an inlined call gets a site of
//! its own: the original one and the call it was inlined at, so that reports show the stack of the program as written.

use std::collections::{BTreeMap, HashMap};

use raddle_base::SiteId;
use raddle_frontend::SITE_KIND;
use raddle_ir::Program;
use raddle_runtime::sites::{Checks, Reads};

use crate::Keep;
use crate::llvm::{Location, Module, Scope, Value};

/// What an instruction does at its site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Role {
    Read,
    Write,
    Call,
}

/// A site beyond those of the program: one of them, inlined at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inlined {
    pub(crate) site: SiteId,
    pub(crate) at: u32,
}

/// All sites that instrumented code uses.
#[derive(Debug, Default)]
pub(crate) struct UsedSites {
    /// Sites of the program proper.
    pub(crate) plain: std::collections::BTreeSet<u32>,
    /// Further ones, numbered on from the program's sites.
    pub(crate) inlined: Vec<Inlined>,
    /// What becomes of what is read there.
    pub(crate) reads: BTreeMap<u32, Reads>,
    pub(crate) checks: Checks,
}

type Place = (Scope, u32, u32);

pub(crate) struct Marks {
    kind: u32,
    keep: Keep,
    /// First site of each function, by symbol and by its debug node.
    functions: HashMap<String, u32>,
    scopes: HashMap<Scope, u32>,
    /// Marks by source place, for instructions that lost theirs.
    places: BTreeMap<(Place, Role), u32>,
    /// Calls by source place and the callee's debug node.
    calls: HashMap<(Place, Scope), u32>,
    derived: HashMap<(u32, u32), u32>,
    program_sites: u32,
    used: UsedSites,
}

impl Marks {
    /// Reads the marks before any pass has run. Debug nodes stay valid as long as the module.
    pub(crate) fn collect(module: &Module, program: &Program, keep: Keep) -> Marks {
        let checks = match keep {
            Keep::All => Checks::All,
            Keep::Sites(_) => Checks::Unproved,
        };
        let mut marks = Marks {
            kind: module.metadata_kind(SITE_KIND),
            keep,
            functions: HashMap::new(),
            scopes: HashMap::new(),
            places: BTreeMap::new(),
            calls: HashMap::new(),
            derived: HashMap::new(),
            program_sites: program.sites.len() as u32,
            used: UsedSites { checks, ..UsedSites::default() },
        };
        for (_, function) in program.functions.iter() {
            if let Some((_, block)) = function.blocks.iter().next() {
                marks.functions.insert(program.text(function.symbol).to_owned(), block.first_site.0);
            }
        }
        for function in module.functions() {
            let first = marks.functions.get(&function.name()).copied();
            if let (Some(scope), Some(first)) = (function.subprogram(), first) {
                marks.scopes.insert(scope, first);
            }
            for inst in function.blocks().into_iter().flat_map(|block| block.instructions()) {
                marks.note(module, inst);
            }
        }
        marks
    }

    fn note(&mut self, module: &Module, inst: Value) {
        let Some(site) = module.number(inst, self.kind) else { return };
        let Some(place) = inst.location().and_then(|location| place(module, location)) else { return };
        if inst.is_call() {
            if let Some(scope) = inst.direct_callee().and_then(Value::subprogram) {
                self.calls.entry((place, scope)).or_insert(site);
            }
            // Memory intrinsics are calls too.
            for role in [Role::Call, Role::Read, Role::Write] {
                self.places.entry((place, role)).or_insert(site);
            }
            return;
        }
        let role = if inst.is(inkwell::llvm_sys::LLVMOpcode::LLVMLoad) { Role::Read } else { Role::Write };
        self.places.entry((place, role)).or_insert(site);
    }

    /// What is read at a site has this use, too.
    pub(crate) fn reads(&mut self, site: u32, reads: Reads) {
        let known = self.used.reads.entry(site).or_default();
        *known = reads.max(*known);
    }

    /// What was noted of a site.
    pub(crate) fn reads_of(&self, site: u32) -> Reads {
        self.used.reads.get(&site).copied().unwrap_or_default()
    }

    pub(crate) fn into_used(self) -> UsedSites {
        self.used
    }

    /// The site of a function's first instruction.
    pub(crate) fn function(&mut self, function: Value) -> u32 {
        let site = self.functions.get(&function.name()).copied().unwrap_or(0);
        self.used.plain.insert(site);
        site
    }

    /// Whether accesses at the program's site of this instruction are to be checked.
    pub(crate) fn keeps(&self, module: &Module, inst: Value, role: Role) -> bool {
        match &self.keep {
            Keep::All => true,
            Keep::Sites(sites) => {
                self.original(module, inst, role).is_none_or(|site| sites.contains(&SiteId(site)))
            }
        }
    }

    /// The site of an instruction, with what it was inlined at.
    pub(crate) fn site(&mut self, module: &Module, inst: Value, role: Role) -> u32 {
        let original = self.original(module, inst, role);
        let location = inst.location();
        let site = original.unwrap_or_else(|| self.first_of(module, location, inst));
        self.used.plain.insert(site);
        match location.and_then(Location::inlined_at).and_then(|at| {
            let callee = location.and_then(|location| location.function(module))?;
            self.call_at(module, at, callee)
        }) {
            Some(at) => self.derive(site, at),
            None => site,
        }
    }

    fn original(&self, module: &Module, inst: Value, role: Role) -> Option<u32> {
        if let Some(site) = module.number(inst, self.kind) {
            return Some(site);
        }
        let place = place(module, inst.location()?)?;
        self.places.get(&(place, role)).copied()
    }

    fn first_of(&self, module: &Module, location: Option<Location>, inst: Value) -> u32 {
        let scope = location.and_then(|location| location.function(module));
        scope
            .and_then(|scope| self.scopes.get(&scope).copied())
            .or_else(|| {
                let function = inst.block()?.function();
                self.functions.get(&function.name()).copied()
            })
            .unwrap_or(0)
    }

    /// The site of the call that `callee` was inlined at.
    fn call_at(&mut self, module: &Module, location: Location, callee: Scope) -> Option<u32> {
        let place = place(module, location)?;
        let known = self.calls.get(&(place, callee)).copied();
        let site = known.or_else(|| self.places.get(&(place, Role::Call)).copied())?;
        self.used.plain.insert(site);
        let around = location.function(module)?;
        match location.inlined_at().and_then(|at| self.call_at(module, at, around)) {
            Some(at) => Some(self.derive(site, at)),
            None => Some(site),
        }
    }

    fn derive(&mut self, site: u32, at: u32) -> u32 {
        let next = self.program_sites + self.used.inlined.len() as u32;
        let id = *self.derived.entry((site, at)).or_insert(next);
        if id == next {
            self.used.inlined.push(Inlined { site: SiteId(site), at });
        }
        id
    }
}

fn place(module: &Module, location: Location) -> Option<Place> {
    Some((location.function(module)?, location.line(), location.column()))
}
