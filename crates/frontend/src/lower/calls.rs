//! Calls: direct, by pointer, through aliases, with types that do not match the callee's (K&R, implicit declarations).

use inkwell::llvm_sys::LLVMOpcode;
use raddle_ir::{CallArg, Callee, FunctionId, Inst, Operand, Reg, Ty};

use super::Lowered;
use super::constants::address_parts;
use super::function::FunctionLowerer;
use super::module::GlobalRef;
use super::places::Extent;
use super::types::Piece;
use crate::llvm::{TypeKind, Value, ValueKind};

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn call(&mut self, inst: Value<'m>) -> Lowered<()> {
        let callee = inst.called_value().ok_or_else(|| "call of nothing".to_owned())?;
        match callee.kind() {
            ValueKind::InlineAsm => return self.inline_asm(inst, callee),
            ValueKind::Function if callee.name().starts_with("llvm.") => {
                return self.intrinsic(inst, &callee.name());
            }
            _ => {}
        }
        match self.direct_callee(callee)? {
            Some(function) => self.direct_call(inst, function),
            None => {
                let target = self.scalar(callee)?;
                let args = self.call_args(inst, None)?;
                let dsts = self.slot(inst).map(|slot| slot.regs()).unwrap_or_default();
                self.emit(Inst::Call { dsts, callee: Callee::Indirect(target), args });
                Ok(())
            }
        }
    }

    fn direct_callee(&mut self, callee: Value<'m>) -> Lowered<Option<FunctionId>> {
        let (base, bytes) = match callee.kind() {
            ValueKind::Instruction | ValueKind::Argument => return Ok(None),
            _ => address_parts(self.module.types.layout, callee)?,
        };
        if !base.is_global_value() {
            return Ok(None);
        }
        match self.module.global_ref(base)? {
            (GlobalRef::Function(id), more) if bytes + more == 0 => Ok(Some(id)),
            _ => Ok(None),
        }
    }

    fn direct_call(&mut self, inst: Value<'m>, function: FunctionId) -> Lowered<()> {
        if let Some(reason) = self.module.refused.get(&function) {
            return Err(reason.clone());
        }
        let callee = Callee::Direct(function);
        let args = self.call_args(inst, Some(function))?;
        let slot = self.slot(inst).ok();
        let wanted = self.module.types.pieces(inst.ty())?;
        let returned = self.module.program.functions[function].returns.clone();
        let defined = self.is_defined(function);
        if !defined && self.cuts_pointer(inst, function) {
            return Err("a pointer from a library function without a declaration, cut to an `int`".to_owned());
        }
        let same = wanted.len() <= returned.len()
            && wanted.iter().zip(&returned).all(|(wanted, returned)| wanted.ty == *returned);
        let dsts: Vec<Reg> = slot.map(|slot| slot.regs()).unwrap_or_default();
        if same || !defined {
            self.emit(Inst::Call { dsts, callee, args });
            return Ok(());
        }
        // The caller believes in other result types than the callee has: take what comes and reinterpret it.
        let raw: Vec<Reg> = returned.iter().map(|ty| self.temporary(*ty)).collect();
        self.emit(Inst::Call { dsts: raw.clone(), callee, args });
        for (index, (&dst, wanted)) in dsts.iter().zip(wanted.iter()).enumerate() {
            let a = match (raw.get(index), returned.get(index)) {
                (Some(&reg), Some(&ty)) => self.convert(Operand::Reg(reg), ty, wanted.ty),
                _ => Operand::Undef,
            };
            self.emit(Inst::Copy { dst, ty: wanted.ty, a });
        }
        Ok(())
    }

    /// Whether the `int` of a library function that was never declared is used as a pointer: its upper half is lost.
    fn cuts_pointer(&self, inst: Value<'m>, function: FunctionId) -> bool {
        let program = &self.module.program;
        let callee = &program.functions[function];
        let implicit = callee.variadic && callee.params.is_empty();
        implicit
            && self.module.pointer_bytes() == 8
            && raddle_libmodel::lookup(program.text(callee.symbol)).is_some()
            && inst.ty().kind() == TypeKind::Integer(32)
            && inst.users().filter(|user| is_extension(*user)).any(|wide| wide.users().any(is_pointer_cast))
    }

    fn is_defined(&self, function: FunctionId) -> bool {
        let symbol = self.module.program.functions[function].symbol;
        self.module.defined.contains(&symbol)
    }

    /// Arguments in the callee's shape where the callee is known and has a body; as passed otherwise.
    fn call_args(&mut self, inst: Value<'m>, function: Option<FunctionId>) -> Lowered<Vec<CallArg>> {
        let callee_name = function.map(|id| {
            let symbol = self.module.program.functions[id].symbol;
            self.module.program.text(symbol).to_owned()
        });
        let fixed = inst.called_type().map_or(0, |ty| ty.param_types().len());
        let mut args = Vec::new();
        for (index, value) in inst.args().into_iter().enumerate() {
            if value.kind() == ValueKind::Metadata {
                continue;
            }
            let by_value = self.by_value(inst, index as u32);
            let place = self.arg_place(value, callee_name.as_deref());
            let pieces = self.module.types.pieces(value.ty())?;
            let operands = self.pieces(value)?;
            let is_vector = matches!(value.ty().kind(), TypeKind::Vector(_));
            if index >= fixed && is_vector && pieces.len() > 1 {
                // One argument in memory, not one for each lane.
                let packed = self.pack(&operands, &pieces)?;
                let total: u32 = pieces.iter().map(|piece| self.bits(piece.ty)).sum();
                args.push(CallArg { value: packed, ty: Ty::Int(total as u8), by_value: None, place: None });
                continue;
            }
            for (piece, value) in pieces.iter().zip(operands) {
                args.push(CallArg { value, ty: piece.ty, by_value, place });
            }
        }
        if let Some(function) = function {
            self.fit_args(function, &mut args);
        }
        Ok(args)
    }

    fn fit_args(&mut self, id: FunctionId, args: &mut Vec<CallArg>) {
        if !self.is_defined(id) {
            return;
        }
        let function = &self.module.program.functions[id];
        let variadic = function.variadic;
        let params: Vec<Piece> = function
            .params
            .iter()
            .map(|param| Piece {
                ty: function.regs.get(param.reg).map_or(Ty::Ptr, |info| info.ty),
                offset: 0,
            })
            .collect();
        let params = if params.is_empty() { params } else { self.param_types(id, params) };
        for (arg, param) in args.iter_mut().zip(&params) {
            if arg.ty != param.ty {
                arg.value = self.convert(arg.value, arg.ty, param.ty);
                arg.ty = param.ty;
                arg.place = None;
            }
        }
        if args.len() > params.len() && !variadic {
            args.truncate(params.len());
        }
        for param in params.iter().skip(args.len()) {
            args.push(CallArg { value: Operand::Undef, ty: param.ty, by_value: None, place: None });
        }
    }

    /// The registers of the function being lowered are with the lowerer: a recursive call asks there.
    fn param_types(&self, id: FunctionId, declared: Vec<Piece>) -> Vec<Piece> {
        if id != self.function_id() {
            return declared;
        }
        let function = &self.module.program.functions[id];
        function.params.iter().map(|param| Piece { ty: self.register_type(param.reg), offset: 0 }).collect()
    }

    fn by_value(&self, inst: Value<'m>, index: u32) -> Option<(u64, u32)> {
        let ty = inst.arg_type_attribute(index, "byval")?;
        let layout = self.module.types.layout;
        let align = inst.arg_int_attribute(index, "align").map_or(layout.alignment(ty), |align| align as u32);
        Some((layout.size(ty), align))
    }

    fn arg_place(&mut self, value: Value<'m>, callee: Option<&str>) -> Option<raddle_ir::PlaceId> {
        let is_pointer = matches!(value.ty().kind(), TypeKind::Pointer(0));
        if !is_pointer {
            return None;
        }
        self.named_place(value, Extent::Object(callee.and_then(super::places::object_type)))
    }
}

fn is_extension(value: Value<'_>) -> bool {
    matches!(value.opcode(), Some(LLVMOpcode::LLVMSExt | LLVMOpcode::LLVMZExt))
}

fn is_pointer_cast(value: Value<'_>) -> bool {
    value.opcode() == Some(LLVMOpcode::LLVMIntToPtr)
}
