//! A whole program: globals, functions, debug types, places, source files.

use crate::{DebugType, DebugTypeId, Function, FunctionId, Place, PlaceId};
use raddle_base::{FileId, IdVec, Interner, SiteId, Span, Symbol};
use std::ops::Range;

raddle_base::define_id! {
    /// A global variable of the program.
    pub struct GlobalId, "g"
}

#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub data_model: DataModel,
    pub strings: Interner,
    pub files: IdVec<FileId, String>,
    pub debug_types: IdVec<DebugTypeId, DebugType>,
    pub places: IdVec<PlaceId, Place>,
    pub globals: IdVec<GlobalId, Global>,
    pub functions: IdVec<FunctionId, Function>,
    pub sites: IdVec<SiteId, SiteInfo>,
    /// Run before `main`, in order (`__attribute__((constructor))`).
    pub constructors: Vec<FunctionId>,
    pub destructors: Vec<FunctionId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataModel {
    Lp64,
    Ilp32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// The linker's name, unique in the program.
    pub symbol: Symbol,
    /// The programmer's name; string literals and compiler constants have none.
    pub name: Option<Symbol>,
    /// For a `static` inside a function: that function's name.
    pub owner: Option<Symbol>,
    pub span: Option<Span>,
    pub debug_type: Option<DebugTypeId>,
    pub bytes: u64,
    pub align: u32,
    pub thread_local: bool,
    pub constant: bool,
    /// Other files can name it: not `static`.
    pub exported: bool,
    /// `None`: declared only (`extern` without a definition).
    pub init: Option<Init>,
}

/// Initial bytes; the tail beyond `data` up to the global's size is zero. Relocations overwrite pointer-sized pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Init {
    pub data: Vec<u8>,
    pub relocations: Vec<Relocation>,
    /// Ranges whose bytes are not fixed: the padding of the constant that initialises an automatic object (C11 6.2.6.1p6).
    pub open: Vec<Range<u64>>,
}

impl Init {
    /// Whether some of these bytes are not fixed.
    pub fn is_open(&self, start: u64, end: u64) -> bool {
        self.open.iter().any(|range| range.start < end && start < range.end)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    pub offset: u64,
    pub target: SymbolRef,
    pub addend: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolRef {
    Global(GlobalId),
    Function(FunctionId),
    /// A block of a function (tables for computed goto).
    Block(FunctionId, crate::BlockId),
}

/// Where an instruction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteInfo {
    pub function: FunctionId,
    /// Line 0 in an unknown place is possible: phis, prologues.
    pub span: Option<Span>,
}

impl DataModel {
    pub fn pointer_bytes(self) -> u32 {
        match self {
            DataModel::Lp64 => 8,
            DataModel::Ilp32 => 4,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            DataModel::Lp64 => "LP64",
            DataModel::Ilp32 => "ILP32",
        }
    }
}

impl Program {
    pub fn new(data_model: DataModel) -> Self {
        Self {
            data_model,
            strings: Interner::default(),
            files: IdVec::new(),
            debug_types: IdVec::new(),
            places: IdVec::new(),
            globals: IdVec::new(),
            functions: IdVec::new(),
            sites: IdVec::new(),
            constructors: Vec::new(),
            destructors: Vec::new(),
        }
    }

    pub fn text(&self, symbol: Symbol) -> &str {
        self.strings.resolve(symbol)
    }

    pub fn function_by_symbol(&self, symbol: &str) -> Option<FunctionId> {
        let symbol = self.strings.lookup(symbol)?;
        self.functions.iter().find(|(_, f)| f.symbol == symbol).map(|(id, _)| id)
    }

    /// The type behind typedefs and qualifiers.
    pub fn strip(&self, mut ty: DebugTypeId) -> DebugTypeId {
        loop {
            match self.debug_types[ty] {
                DebugType::Typedef { to, .. } | DebugType::Qualified { to, .. } => ty = to,
                _ => return ty,
            }
        }
    }

    /// The path as C text: `q->items[i].count`.
    pub fn place_text(&self, place: PlaceId) -> String {
        crate::place_text::render(self, &self.places[place])
    }
}
