//! Which variable of the programmer a value belongs to, and what an index is called.

use inkwell::llvm_sys::LLVMOpcode;
use raddle_base::Symbol;
use raddle_ir::{DebugType, DebugTypeId, Place, PlaceBase, PlaceStep};

use super::debug::Variable;
use super::debug_types::pointee;
use super::function::FunctionLowerer;
use crate::llvm::Value;

/// Where a loaded value came from, with the declared type of that place.
#[derive(Clone)]
pub(super) struct LoadedFrom {
    pub(super) place: Place,
    pub(super) ty: Option<DebugTypeId>,
}

/// An index text longer than this says less than `[...]`.
const LONGEST_INDEX: usize = 32;

impl<'m> FunctionLowerer<'_, 'm> {
    /// Whether `a` says what it points to and `b` does not: a `void *` parameter is soon given to a typed variable.
    pub(super) fn tells_more(&self, a: Variable, b: Variable) -> bool {
        self.points_to_known(a.ty) && !self.points_to_known(b.ty)
    }

    fn points_to_known(&self, ty: Option<DebugTypeId>) -> bool {
        let program = &self.module.program;
        let target = ty.and_then(|ty| pointee(program, ty)).map(|ty| program.strip(ty));
        target.is_some_and(|target| {
            !matches!(program.debug_types[target], DebugType::Void | DebugType::Unknown { .. })
        })
    }

    /// The variable that a register holds at this point.
    pub(super) fn variable_of(&self, value: Value<'m>) -> Option<Variable> {
        self.named.get(&value).copied().or_else(|| {
            self.register_name(value).map(|name| Variable { name, ty: self.register_debug_type(value) })
        })
    }

    pub(super) fn index_step(&mut self, index: Value<'m>) -> PlaceStep {
        match self.index_name(index) {
            Some(name) => PlaceStep::IndexBy(name),
            None => PlaceStep::IndexAny,
        }
    }

    fn index_name(&mut self, mut index: Value<'m>) -> Option<Symbol> {
        while let Some(LLVMOpcode::LLVMSExt | LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMTrunc) = index.opcode() {
            if let Some(variable) = self.named.get(&index) {
                return Some(variable.name);
            }
            index = index.operand(0)?;
        }
        if let Some(variable) = self.variable_of(index) {
            return Some(variable.name);
        }
        let from = self.loaded.get(&index)?.place.clone();
        if matches!(from.base, PlaceBase::Unnamed(_)) {
            return None;
        }
        let id = self.module.place(from);
        let text = self.module.program.place_text(id);
        (text.len() <= LONGEST_INDEX).then(|| self.module.symbol(&text))
    }
}
