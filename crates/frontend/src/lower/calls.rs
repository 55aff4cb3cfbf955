//! Calls of functions, by name or through a pointer.

use raddle_ir::{CallArg, Callee, Inst, Ty};

use super::Lowered;
use super::function::FunctionLowerer;
use super::module::GlobalRef;
use super::places::Extent;
use crate::llvm::{Value, ValueKind};

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn call(&mut self, inst: Value<'m>) -> Lowered<()> {
        let called = inst.called_value().ok_or_else(|| "call of nothing".to_owned())?;
        if called.kind() == ValueKind::InlineAsm {
            return self.inline_asm(inst, called);
        }
        if called.kind() == ValueKind::Function && called.name().starts_with("llvm.") {
            return self.intrinsic(inst, &called.name());
        }
        let callee = match called.kind() {
            ValueKind::Function | ValueKind::Alias => match self.module.global_ref(called)? {
                (GlobalRef::Function(id), 0) => Callee::Direct(id),
                _ => Callee::Indirect(self.scalar(called)?),
            },
            ValueKind::IFunc => return Err("function chosen at load time (ifunc)".to_owned()),
            _ => Callee::Indirect(self.scalar(called)?),
        };
        let mut args = Vec::new();
        for (index, arg) in inst.args().into_iter().enumerate() {
            self.argument(inst, index as u32, arg, &mut args)?;
        }
        let dsts = match self.module.types.pieces(inst.ty())?.is_empty() {
            true => Vec::new(),
            false => self.slot(inst)?.regs(),
        };
        self.emit(Inst::Call { dsts, callee, args });
        Ok(())
    }

    fn argument(
        &mut self,
        call: Value<'m>,
        index: u32,
        arg: Value<'m>,
        args: &mut Vec<CallArg>,
    ) -> Lowered<()> {
        if arg.kind() == ValueKind::Metadata {
            return Err("metadata as an argument".to_owned());
        }
        let by_value = call.arg_type_attribute(index, "byval").map(|ty| {
            let align = call.arg_int_attribute(index, "align");
            let align = align.map_or(self.module.types.layout.alignment(ty), |align| align as u32);
            (self.module.types.layout.size(ty), align)
        });
        let pieces = self.module.types.pieces(arg.ty())?;
        let place = match pieces[..] {
            [piece] if piece.ty == Ty::Ptr => self.object_place(arg),
            _ => None,
        };
        for (piece, value) in pieces.iter().zip(self.pieces(arg)?) {
            args.push(CallArg { value, ty: piece.ty, by_value, place });
        }
        Ok(())
    }

    /// The expression of the object that a pointer points to, where it has one.
    fn object_place(&mut self, pointer: Value<'m>) -> Option<raddle_ir::PlaceId> {
        if pointer.kind() == ValueKind::Function {
            return None;
        }
        let located = self.locate(pointer, Extent::object());
        located.is_named().then(|| self.module.place(located.place))
    }

    pub(super) fn va_arg(&mut self, inst: Value<'m>) -> Lowered<()> {
        let list = self.input(inst, 0)?;
        let list = self.scalar(list)?;
        let ty = self.module.types.scalar(inst.ty())?;
        let dst = self.slot(inst)?.first;
        self.emit(Inst::VaArg { dst, ty, list });
        Ok(())
    }
}
