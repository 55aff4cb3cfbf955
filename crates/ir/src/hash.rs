//! The hash that names a program in witnesses and certificates.
//!
//! By meaning, source lines included: ids of globals, functions, places, types, strings and registers do not enter it, nor does
//! the folder of a source file (its own name does). Globals and functions are taken in the order of their linker names.

use crate::print::{Naming, Printer, quoted};
use crate::words::Word;
use crate::{DebugType, DebugTypeId, FileId, Function, FunctionId, GlobalId, PlaceId, Program, Reg};
use raddle_base::{IdVec, StableHasher};
use std::collections::HashMap;
use std::rc::Rc;

pub fn program_hash(program: &Program) -> u128 {
    let types = Rc::new(type_hashes(program));
    let mut hasher = StableHasher::new();
    hasher.bytes(program.data_model.word().as_bytes());

    let mut globals: Vec<_> = program.globals.values().collect();
    globals.sort_by_key(|global| program.text(global.symbol));
    hasher.word(globals.len() as u64);
    for global in globals {
        let mut printer = Printer::new(program, ByMeaning::new(&types));
        printer.global(global);
        hasher.bytes(printer.out.as_bytes());
    }

    let mut functions: Vec<_> = program.functions.values().collect();
    functions.sort_by_key(|function| program.text(function.symbol));
    hasher.word(functions.len() as u64);
    for function in functions {
        let mut printer = Printer::new(program, ByMeaning::new(&types));
        printer.function(function);
        hasher.bytes(printer.out.as_bytes());
    }

    for list in [&program.constructors, &program.destructors] {
        hasher.word(list.len() as u64);
        for id in list {
            hasher.bytes(program.text(program.functions[*id].symbol).as_bytes());
        }
    }
    hasher.finish128()
}

/// Names by content; registers are numbered by first appearance in one function.
struct ByMeaning {
    types: Rc<IdVec<DebugTypeId, u128>>,
    regs: HashMap<Reg, usize>,
}

impl ByMeaning {
    fn new(types: &Rc<IdVec<DebugTypeId, u128>>) -> Self {
        Self { types: Rc::clone(types), regs: HashMap::new() }
    }
}

impl Naming for ByMeaning {
    fn global(&mut self, program: &Program, id: GlobalId) -> String {
        quoted(program.text(program.globals[id].symbol))
    }

    fn function(&mut self, program: &Program, id: FunctionId) -> String {
        quoted(program.text(program.functions[id].symbol))
    }

    fn place(&mut self, program: &Program, id: PlaceId) -> String {
        let inner = ByMeaning { types: Rc::clone(&self.types), regs: std::mem::take(&mut self.regs) };
        let mut printer = Printer::new(program, inner);
        printer.place(&program.places[id]);
        self.regs = printer.names.regs;
        printer.out
    }

    fn debug_type(&mut self, _: &Program, id: DebugTypeId) -> String {
        format!("{:032x}", self.types[id])
    }

    fn file(&mut self, program: &Program, id: FileId) -> String {
        let path = &program.files[id];
        quoted(path.rsplit(['/', '\\']).next().unwrap_or(path))
    }

    fn reg(&mut self, reg: Reg) -> String {
        let next = self.regs.len();
        format!("%{}", self.regs.entry(reg).or_insert(next))
    }

    /// Only registers that appear: one that no instruction names has no meaning.
    fn order(&mut self, _: &Function) -> Vec<Reg> {
        let mut regs: Vec<_> = self.regs.iter().map(|(reg, number)| (*number, *reg)).collect();
        regs.sort_unstable();
        regs.into_iter().map(|(_, reg)| reg).collect()
    }
}

/// Types can be cyclic: each round hashes a type with its neighbours' hashes of the round before.
fn type_hashes(program: &Program) -> IdVec<DebugTypeId, u128> {
    const ROUNDS: usize = 6;
    let mut hashes: IdVec<DebugTypeId, u128> = program.debug_types.ids().map(|_| 0).collect();
    for _ in 0..ROUNDS {
        let shared = Rc::new(hashes);
        hashes = program.debug_types.values().map(|ty| hash_type(program, &shared, ty)).collect();
    }
    hashes
}

fn hash_type(program: &Program, hashes: &Rc<IdVec<DebugTypeId, u128>>, ty: &DebugType) -> u128 {
    let mut printer = Printer::new(program, ByMeaning::new(hashes));
    printer.debug_type(ty);
    let mut hasher = StableHasher::new();
    hasher.bytes(printer.out.as_bytes());
    hasher.finish128()
}
