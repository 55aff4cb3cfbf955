//! Whether a program is well formed: what every reader of the IR may rely on.
//!
//! Checked: ids lead somewhere, linker names are unique, sites are numbered in layout order, each register is assigned in one
//! place that dominates its uses, operand types fit, phis name exactly the predecessors, initialisers fit. Not checked: that a call
//! fits its callee (old C may disagree; that is a matter of running it). Code that cannot be reached is checked for form only.

mod function;
mod types;

pub(crate) use function::{Dominators, predecessors};

use crate::{DebugType, DebugTypeId, FunctionId, Global, PlaceBase, Program, SiteId, Symbol, SymbolRef};
use raddle_base::{Id, IdVec};
use std::collections::HashSet;
use std::fmt;

/// All that is wrong, in layout order.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut checker = Checker { program, errors: Vec::new(), function: None, site: None };
    checker.program();
    if checker.errors.is_empty() { Ok(()) } else { Err(checker.errors) }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// Name of the function concerned; empty for the program as a whole.
    pub function: String,
    pub site: Option<SiteId>,
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.function.is_empty() {
            write!(f, "function {}", self.function)?;
            if let Some(site) = self.site {
                write!(f, " {site}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for VerifyError {}

struct Checker<'p> {
    program: &'p Program,
    errors: Vec<VerifyError>,
    function: Option<FunctionId>,
    site: Option<SiteId>,
}

impl Checker<'_> {
    fn fail(&mut self, message: String) {
        let function =
            self.function.map(|id| self.program.text(self.program.functions[id].symbol).to_owned());
        self.errors.push(VerifyError { function: function.unwrap_or_default(), site: self.site, message });
    }

    fn exists<I: Id + fmt::Display, T>(&mut self, id: I, table: &IdVec<I, T>) {
        if table.get(id).is_none() {
            self.fail(format!("{id} does not exist"));
        }
    }

    fn optional_type(&mut self, ty: Option<DebugTypeId>) {
        if let Some(ty) = ty {
            self.exists(ty, &self.program.debug_types);
        }
    }

    fn span(&mut self, span: Option<crate::Span>) {
        if let Some(span) = span {
            self.exists(span.file, &self.program.files);
        }
    }

    fn program(&mut self) {
        let program = self.program;
        self.unique("global", program.globals.values().map(|g| g.symbol));
        self.unique("function", program.functions.values().map(|f| f.symbol));
        for (id, ty) in program.debug_types.iter() {
            self.debug_type(id, ty);
        }
        for place in program.places.values() {
            if let PlaceBase::Global(global) = place.base {
                self.exists(global, &program.globals);
            }
        }
        for global in program.globals.values() {
            self.global(global);
        }
        for function in program.constructors.iter().chain(&program.destructors) {
            self.exists(*function, &program.functions);
        }
        self.sites();
        for id in program.functions.ids() {
            self.function = Some(id);
            self.check_function(id);
            self.function = None;
        }
    }

    fn unique(&mut self, what: &str, symbols: impl Iterator<Item = Symbol>) {
        let mut seen = HashSet::new();
        for symbol in symbols {
            if !seen.insert(symbol) {
                self.fail(format!("two {what}s named {}", self.program.text(symbol)));
            }
        }
    }

    fn debug_type(&mut self, id: DebugTypeId, ty: &DebugType) {
        let types = &self.program.debug_types;
        match ty {
            DebugType::Pointer { to } => self.exists(*to, types),
            DebugType::Array { element, .. } => self.exists(*element, types),
            DebugType::Record { fields, .. } => fields.iter().for_each(|field| self.exists(field.ty, types)),
            DebugType::Typedef { .. } | DebugType::Qualified { .. } => self.alias_ends(id),
            DebugType::Scalar { .. } | DebugType::Function | DebugType::Void | DebugType::Unknown { .. } => {}
        }
    }

    /// `Program::strip` must come to an end.
    fn alias_ends(&mut self, start: DebugTypeId) {
        let types = &self.program.debug_types;
        let mut at = start;
        for _ in 0..=types.len() {
            match types.get(at) {
                Some(DebugType::Typedef { to, .. } | DebugType::Qualified { to, .. }) => at = *to,
                Some(_) => return,
                None => return self.fail(format!("{at} does not exist")),
            }
        }
        self.fail(format!("{start} is an alias of itself"));
    }

    fn global(&mut self, global: &Global) {
        let name = self.program.text(global.symbol);
        self.span(global.span);
        self.optional_type(global.debug_type);
        if !global.align.is_power_of_two() {
            self.fail(format!("global {name}: alignment {}", global.align));
        }
        let Some(init) = &global.init else { return };
        if init.data.len() as u64 > global.bytes {
            self.fail(format!("global {name}: {} bytes of data in {}", init.data.len(), global.bytes));
        }
        if init.open.iter().any(|range| range.is_empty() || range.end > global.bytes) {
            self.fail(format!("global {name}: open bytes that it does not have"));
        }
        let pointer = u64::from(self.program.data_model.pointer_bytes());
        for relocation in &init.relocations {
            if relocation.offset.checked_add(pointer).is_none_or(|end| end > global.bytes) {
                self.fail(format!("global {name}: an address at offset {}", relocation.offset));
            }
            match relocation.target {
                SymbolRef::Global(id) => self.exists(id, &self.program.globals),
                SymbolRef::Function(id) => self.exists(id, &self.program.functions),
                SymbolRef::Block(function, block) => match self.program.functions.get(function) {
                    Some(function) => self.exists(block, &function.blocks),
                    None => self.fail(format!("{function} does not exist")),
                },
            }
        }
    }

    fn sites(&mut self) {
        let mut next = 0u64;
        for (id, function) in self.program.functions.iter() {
            for block in function.blocks.values() {
                if u64::from(block.first_site.0) != next {
                    self.fail(format!("sites of {id} start at {}, not at @{next}", block.first_site));
                    return;
                }
                for _ in 0..=block.insts.len() {
                    match self.program.sites.get(SiteId(next as u32)) {
                        Some(info) if info.function == id => self.span(info.span),
                        Some(info) => {
                            self.fail(format!("@{next} of {id} is said to be of {}", info.function))
                        }
                        None => return self.fail(format!("@{next} does not exist")),
                    }
                    next += 1;
                }
            }
        }
        if next != self.program.sites.len() as u64 {
            self.fail(format!("{} sites, {next} of them in functions", self.program.sites.len()));
        }
    }
}
