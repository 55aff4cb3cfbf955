//! Functions, blocks and registers.

use crate::{DebugTypeId, Inst, Operand, Terminator, Ty};
use raddle_base::{IdVec, SiteId, Span, Symbol};

raddle_base::define_id! {
    /// A function of the program, defined or only declared.
    pub struct FunctionId, "f"
}

raddle_base::define_id! {
    /// A basic block of a function.
    pub struct BlockId, "b"
}

raddle_base::define_id! {
    /// A register of a function, assigned in exactly one place.
    pub struct Reg, "%"
}

#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The linker's name, unique in the program.
    pub symbol: Symbol,
    /// The programmer's name (differs for `static` functions of linked files and for C++).
    pub name: Symbol,
    /// Where it is defined, if it is; the file may be a header.
    pub span: Option<Span>,
    /// Whether `span` is in the primary source file of its compilation (and not in a header).
    pub in_primary_file: bool,
    /// The body is a copy that a header of the system gives of a library function (`atoi` of glibc under optimisation).
    pub library_copy: bool,
    /// Other files can name it.
    pub exported: bool,
    pub params: Vec<Param>,
    pub variadic: bool,
    /// Types of the values returned (several where the lowering split an aggregate).
    pub returns: Vec<Ty>,
    pub address_taken: bool,
    pub noreturn: bool,
    pub regs: IdVec<Reg, RegInfo>,
    /// Empty for a declaration; block 0 is the entry.
    pub blocks: IdVec<BlockId, Block>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    pub reg: Reg,
    /// The argument is a struct passed by value: the caller's bytes are copied to a fresh object of this size and alignment.
    pub by_value: Option<(u64, u32)>,
    /// Declared type, where debug information has it.
    pub debug_type: Option<DebugTypeId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegInfo {
    pub ty: Ty,
    /// The local variable or parameter whose value this is, where debug information says so.
    pub name: Option<Symbol>,
    pub debug_type: Option<DebugTypeId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub phis: Vec<Phi>,
    /// Site ids of `insts`, then of the terminator, are consecutive from here.
    pub first_site: SiteId,
    pub insts: Vec<Inst>,
    pub terminator: Terminator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phi {
    pub dst: Reg,
    /// One entry per predecessor block.
    pub incoming: Vec<(BlockId, Operand)>,
}

impl Function {
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }
}

impl Block {
    pub fn site_of(&self, index: usize) -> SiteId {
        SiteId(self.first_site.0 + index as u32)
    }

    pub fn terminator_site(&self) -> SiteId {
        self.site_of(self.insts.len())
    }
}
