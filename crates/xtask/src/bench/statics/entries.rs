//! Entry points of code without `main`.
//!
//! A library: the functions that its public headers declare. Kernel code: functions whose address is in a structure (`file_operations`
//! and its like), is exported, is stored by the code (`INIT_WORK`, `timer_setup`) or handed to a function from elsewhere (`request_irq`),
//! and functions that other files can call and this one does not. A callback handed to a function of the same source, or in an array
//! of nothing but functions, is reached through its caller. Functions marked `__init` run once, before any of the others, and `__exit`
//! after all of them; both are left out.
//!
//! A caller from outside is taken to hold no lock, so a function that wants one held gives warnings that no execution has.

use super::inputs::{Input, Kind};
use raddle_ir::{Callee, DebugType, FunctionId, Global, Inst, Operand, Program, SymbolRef};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Linker names, sorted; none for a program.
pub(super) fn of(program: &Program, input: &Input, visible: &BTreeSet<String>, folder: &Path) -> Vec<String> {
    let found: BTreeSet<FunctionId> = match input.kind {
        Kind::Program => return Vec::new(),
        Kind::Library(headers) => declared_in(program, headers, folder),
        Kind::Driver => {
            let mut sources = Sources::default();
            let home = folder.join("src/linux");
            let mut found = handed_out(program);
            found.extend(not_called(program, visible));
            found.retain(|id| !sources.marks_once(program, *id, &home));
            found
        }
    };
    let defined = found.into_iter().filter(|id| program.functions[*id].is_defined());
    let mut names: Vec<String> =
        defined.map(|id| program.text(program.functions[id].symbol).to_owned()).collect();
    names.sort();
    names
}

fn declared_in(program: &Program, headers: &[&str], folder: &Path) -> BTreeSet<FunctionId> {
    let mut words = BTreeSet::new();
    for header in headers {
        let text = std::fs::read_to_string(folder.join(header)).unwrap_or_default();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        words.extend(text.split(|c| !is_word(c)).map(str::to_owned));
    }
    let functions = program.functions.iter().filter(|(_, function)| function.in_primary_file);
    functions
        .filter(|(_, function)| words.contains(program.text(function.symbol)))
        .map(|(id, _)| id)
        .collect()
}

fn handed_out(program: &Program) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::new();
    let tables = program.globals.values().filter(|global| {
        // What `module_exit` leaves behind.
        !is_function_array(program, global) && !program.text(global.symbol).starts_with("__exitcall_")
    });
    for global in tables {
        for relocation in global.init.iter().flat_map(|init| &init.relocations) {
            if let SymbolRef::Function(id) = relocation.target {
                found.insert(id);
            }
        }
    }
    for function in program.functions.values() {
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            match inst {
                Inst::Store { value: Operand::Function(id), .. } => {
                    found.insert(*id);
                }
                Inst::Call { callee: Callee::Direct(callee), args, .. }
                    if !program.functions[*callee].in_primary_file =>
                {
                    found.extend(args.iter().filter_map(|arg| match arg.value {
                        Operand::Function(id) => Some(id),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
    }
    found.retain(|id| program.functions[*id].in_primary_file);
    found
}

fn is_function_array(program: &Program, global: &Global) -> bool {
    let Some(ty) = global.debug_type else { return false };
    let DebugType::Array { element, .. } = program.debug_types[program.strip(ty)] else { return false };
    matches!(program.debug_types[program.strip(element)], DebugType::Pointer { .. })
}

fn not_called(program: &Program, visible: &BTreeSet<String>) -> BTreeSet<FunctionId> {
    let mut called = BTreeSet::new();
    for block in program.functions.values().flat_map(|function| function.blocks.values()) {
        called.extend(block.insts.iter().filter_map(|inst| match inst {
            Inst::Call { callee: Callee::Direct(callee), .. } => Some(*callee),
            _ => None,
        }));
    }
    let functions = program.functions.iter();
    functions
        .filter(|(id, function)| visible.contains(program.text(function.symbol)) && !called.contains(id))
        .map(|(id, _)| id)
        .collect()
}

/// Source texts, by path, as lines.
#[derive(Default)]
struct Sources(BTreeMap<String, Vec<String>>);

impl Sources {
    /// Whether the function's head carries `__init` or `__exit`: the word may stand on the line before its name.
    fn marks_once(&mut self, program: &Program, id: FunctionId, home: &Path) -> bool {
        let Some(span) = program.functions[id].span else { return false };
        let path = &program.files[span.file];
        let lines = self.0.entry(path.clone()).or_insert_with(|| {
            let text = std::fs::read_to_string(path).or_else(|_| std::fs::read_to_string(home.join(path)));
            text.unwrap_or_default().lines().map(str::to_owned).collect()
        });
        let line = span.line as usize;
        let head = lines.iter().take(line).skip(line.saturating_sub(2));
        head.flat_map(|line| line.split_whitespace()).any(|word| word == "__init" || word == "__exit")
    }
}
