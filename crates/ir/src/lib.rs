//! Raddle's own small program IR. It knows nothing of LLVM, and holds all that engines need: byte-accurate layout, the programmer's
//! names and types, source places, access paths.
//!
//! Shape: functions of basic blocks in SSA form over scalar registers. Vectors and first-class aggregates do not exist: the
//! lowering splits them into scalars, so a call may return several values. Pointers are opaque; all address arithmetic is in bytes.
//! Every instruction and terminator has a [`SiteId`], numbered through the program, with a source place and (for memory accesses) the
//! expression that the programmer wrote.

mod bases;
mod debug;
pub mod expand;
mod function;
mod hash;
mod inst;
mod parse;
mod place;
mod place_text;
mod print;
mod program;
mod site;
mod ty;
mod verify;
mod walk;
mod words;

pub use bases::{Base, Bases};
pub use debug::{DebugType, DebugTypeId, Field, RecordKind};
pub use function::{Block, BlockId, Function, FunctionId, Param, Phi, Reg, RegInfo};
pub use hash::program_hash;
pub use inst::{
    BinOp, CallArg, Callee, CastOp, CmpXchg, FBinOp, FcmpPred, Gep, IcmpPred, Inst, IntrinsicOp, MemKind,
    Operand, RmwOp, Terminator,
};
pub use parse::{ParseError, parse};
pub use place::{Place, PlaceBase, PlaceId, PlaceStep};
pub use print::print;
pub use program::{DataModel, Global, GlobalId, Init, Program, Relocation, SiteInfo, SymbolRef};
pub use raddle_base::{FileId, SiteId, Span, Symbol};
pub use site::Code;
pub use ty::{FloatTy, Ty};
pub use verify::{VerifyError, verify};
