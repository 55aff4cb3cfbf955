//! What runs before `main` and after it: constructors and destructors, by attribute or by section.
//!
//! The order is that of the loader and of GNU ld's default script: `.preinit_array`; `_init`; `.init_array.N` by number, then
//! `.init_array`; at the end `.fini_array` and `.fini_array.N` from behind, then `_fini`. `__attribute__((constructor(N)))` is an entry of
//! `.init_array.N`, and without a number of `.init_array`; whether it comes before entries that are there as data is up to the compiler. What
//! is not understood becomes a function that is `Unsupported`, run in its place.

use raddle_ir::{FunctionId, Terminator};

use super::draft::{Draft, finish};
use super::module::{GlobalRef, ModuleLowerer};
use crate::llvm::{ConstKind, Module, TypeKind, Value, ValueKind};

/// Functions to run, in order, and why others cannot be.
#[derive(Default)]
pub(super) struct Startup {
    before: Side,
    after: Side,
}

#[derive(Default)]
struct Side {
    functions: Vec<FunctionId>,
    refused: Vec<String>,
}

/// Behind all that have a number.
const LAST: u64 = u64::MAX;
/// The number that clang writes for a constructor without one.
const NO_NUMBER: u128 = 65535;

impl Startup {
    pub(super) fn find<'m>(
        lowerer: &mut ModuleLowerer<'m>,
        module: &'m Module<'_>,
        globals: &[Value<'m>],
        functions: &[Value<'m>],
    ) -> Self {
        let mut startup = Startup::default();
        startup.before.functions = lowerer.array(globals, ".preinit_array", &mut startup.before.refused);
        startup.before.functions.extend(lowerer.defined_function("_init"));
        for (side, section, attribute) in [
            (&mut startup.before, ".init_array", "llvm.global_ctors"),
            (&mut startup.after, ".fini_array", "llvm.global_dtors"),
        ] {
            let mut entries = lowerer.numbered_arrays(globals, section, &mut side.refused);
            let attributes = lowerer.attribute_list(module, attribute, &mut side.refused);
            let mixed = |number: u64| {
                entries.iter().any(|(n, _)| *n == number) && attributes.iter().any(|(n, _)| *n == number)
            };
            if entries.iter().any(|(number, _)| mixed(*number)) {
                side.refused.push(format!("the order of data in `{section}` and attributes"));
            }
            entries.extend(attributes);
            entries.sort_by_key(|(number, _)| *number);
            side.functions.extend(entries.into_iter().map(|(_, function)| function));
        }
        startup.after.functions.reverse();
        startup.after.functions.extend(lowerer.defined_function("_fini"));
        startup.refuse(module, globals, functions);
        startup
    }

    /// Ways to have code run at the start or at the end that are not followed.
    fn refuse<'m>(&mut self, module: &'m Module<'_>, globals: &[Value<'m>], functions: &[Value<'m>]) {
        for value in globals.iter().chain(functions).filter(|value| !value.is_declaration()) {
            let section = value.section();
            let (side, name) = match section.split('.').nth(1).unwrap_or_default() {
                name @ ("init" | "ctors") => (&mut self.before, name),
                name @ ("fini" | "dtors") => (&mut self.after, name),
                _ => continue,
            };
            side.refused.push(format!("`{}` in the section `.{name}`", value.name()));
        }
        let assembly = module.assembly();
        for (side, names) in [
            (&mut self.before, [".init", ".ctors", ".preinit_array"]),
            (&mut self.after, [".fini", ".dtors", ".fini_array"]),
        ] {
            if names.iter().any(|name| assembly.contains(name)) {
                side.refused.push("a section for start or end in assembly".to_owned());
            }
        }
    }

    /// After all bodies, because sites are numbered in the order of functions.
    pub(super) fn lower(mut self, lowerer: &mut ModuleLowerer<'_>) {
        self.before.lower(lowerer, "raddle.startup");
        self.after.lower(lowerer, "raddle.end");
        lowerer.program.constructors = self.before.functions;
        lowerer.program.destructors = self.after.functions;
    }
}

impl Side {
    fn lower(&mut self, lowerer: &mut ModuleLowerer<'_>, name: &str) {
        if self.refused.is_empty() {
            return;
        }
        let id = lowerer.declare_own(name);
        let reason = lowerer.symbol(&self.refused.join("; "));
        let terminator = Some((Terminator::Unsupported { reason }, None));
        let blocks = finish(vec![Draft { terminator, ..Draft::default() }], id, &mut lowerer.program.sites);
        lowerer.program.functions[id].blocks = blocks;
        self.functions.insert(0, id);
    }
}

impl<'m> ModuleLowerer<'m> {
    fn defined_function(&self, name: &str) -> Option<FunctionId> {
        self.program.function_by_symbol(name).filter(|id| self.has_body(*id))
    }

    fn has_body(&self, function: FunctionId) -> bool {
        self.defined.contains(&self.program.functions[function].symbol)
    }

    /// The functions in the variables of one section, in order.
    fn array(&mut self, globals: &[Value<'m>], section: &str, refused: &mut Vec<String>) -> Vec<FunctionId> {
        let mut functions = Vec::new();
        for &global in globals.iter().filter(|global| global.section() == section) {
            if let Some(list) = global.initializer() {
                self.entries(list, section, &mut functions, refused);
            }
        }
        functions
    }

    /// The functions in a section and in those with a number behind its name, with their numbers.
    fn numbered_arrays(
        &mut self,
        globals: &[Value<'m>],
        section: &str,
        refused: &mut Vec<String>,
    ) -> Vec<(u64, FunctionId)> {
        let mut entries = Vec::new();
        for &global in globals {
            let name = global.section();
            let (Some(rest), Some(list)) = (name.strip_prefix(section), global.initializer()) else {
                continue;
            };
            let number = match rest.strip_prefix('.') {
                None if rest.is_empty() => Some(LAST),
                None => None,
                Some(digits) => digits.parse::<u32>().ok().map(u64::from),
            };
            let Some(number) = number else {
                refused.push(format!("the section `{name}`"));
                continue;
            };
            let mut functions = Vec::new();
            self.entries(list, section, &mut functions, refused);
            entries.extend(functions.into_iter().map(|function| (number, function)));
        }
        entries
    }

    /// The functions in a pointer, or in an array or structure of them.
    fn entries(
        &mut self,
        list: Value<'m>,
        section: &str,
        functions: &mut Vec<FunctionId>,
        refused: &mut Vec<String>,
    ) {
        let count = match list.ty().kind() {
            TypeKind::Array(count) => count as u32,
            TypeKind::Struct if list.const_kind() == ConstKind::Aggregate => list.ty().fields().len() as u32,
            _ => {
                match self.entry(list) {
                    Some(function) => functions.push(function),
                    None => refused.push(format!("an entry of `{section}` that is not a function")),
                }
                return;
            }
        };
        for element in (0..count).filter_map(|index| list.element(index)) {
            self.entries(element, section, functions, refused);
        }
    }

    /// The function with a body that a constant is the address of.
    fn entry(&self, value: Value<'m>) -> Option<FunctionId> {
        if !matches!(value.kind(), ValueKind::Function | ValueKind::Alias) {
            return None;
        }
        match self.global_ref(value) {
            Ok((GlobalRef::Function(id), 0)) if self.has_body(id) => Some(id),
            _ => None,
        }
    }

    /// `llvm.global_ctors` and its twin: functions with their numbers.
    fn attribute_list(
        &mut self,
        module: &'m Module<'_>,
        name: &str,
        refused: &mut Vec<String>,
    ) -> Vec<(u64, FunctionId)> {
        let list = module.globals().find(|global| global.name() == name);
        let Some(list) = list.and_then(|list| list.initializer()) else { return Vec::new() };
        let TypeKind::Array(count) = list.ty().kind() else { return Vec::new() };
        let mut entries = Vec::new();
        for entry in (0..count as u32).filter_map(|index| list.element(index)) {
            let number = match entry.element(0).and_then(|number| number.int_bits()) {
                Some(number) if number < NO_NUMBER => number as u64,
                _ => LAST,
            };
            match entry.element(1).and_then(|function| self.entry(function)) {
                Some(function) => entries.push((number, function)),
                None => refused.push(format!("an entry of `{name}` that is not a function")),
            }
        }
        entries
    }
}
