//! LLVM module to `ir::Program`, one file for each family of constructs.
//!
//! Nothing is guessed: a construct without an exact meaning in the IR becomes `Inst::Unsupported` (or a terminator) with its
//! place and results, and lowering goes on. Vectors and first-class aggregates are split into scalar pieces; every LLVM value
//! owns as many registers as its type has pieces, numbered before the bodies are read, so the order of blocks does not matter.

mod arithmetic;
mod asm;
mod atomics;
mod bit_fields;
mod calls;
mod constants;
mod control;
mod debug;
mod debug_types;
mod draft;
mod function;
mod initializers;
mod intrinsics;
mod memory;
mod module;
mod names;
mod path;
mod places;
mod startup;
mod types;
mod unwinding;
mod vectors;

pub(crate) use module::{SourceNames, lower, lower_with_origins};

/// Why a construct was refused; becomes the reason of an `Unsupported`.
type Lowered<T> = Result<T, String>;
