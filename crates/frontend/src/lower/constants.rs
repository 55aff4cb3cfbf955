//! Constants as operands. What is more than bits or an address (a cast or sum of addresses) is computed where it is used.

use inkwell::llvm_sys::LLVMOpcode;
use raddle_ir::{BinOp, CastOp, Gep, Inst, Operand, Ty};

use super::Lowered;
use super::function::FunctionLowerer;
use super::module::GlobalRef;
use super::types::Piece;
use crate::llvm::{ConstKind, Layout, TypeKind, Value, ValueKind};

impl<'m> FunctionLowerer<'_, 'm> {
    /// A constant of a scalar type.
    pub(super) fn constant(&mut self, value: Value<'m>) -> Lowered<Operand> {
        match value.kind() {
            ValueKind::Function | ValueKind::GlobalVariable | ValueKind::Alias | ValueKind::IFunc => {
                self.global_address(value, 0)
            }
            ValueKind::Constant => match value.const_kind() {
                ConstKind::Int => value
                    .int_bits()
                    .map(Operand::Const)
                    .ok_or_else(|| "integer wider than 128 bits".to_owned()),
                ConstKind::Float => {
                    value.float_bits().map(Operand::Const).ok_or_else(|| "unknown float type".to_owned())
                }
                ConstKind::NullPointer => Ok(Operand::Null),
                ConstKind::Undef => Ok(Operand::Undef),
                ConstKind::BlockAddress => self.block_address(value),
                ConstKind::Expression(opcode) => self.constant_expression(value, opcode),
                ConstKind::Zero | ConstKind::Aggregate | ConstKind::Other => {
                    Err("constant of an unknown kind".to_owned())
                }
            },
            ValueKind::Other => Err("constant of an unknown kind".to_owned()),
            _ => Err("operand that is no value".to_owned()),
        }
    }

    /// The scalars of a constant of a vector or aggregate type, in the order of its pieces.
    pub(super) fn constant_pieces(&mut self, value: Value<'m>, out: &mut Vec<Operand>) -> Lowered<()> {
        let count = match value.ty().kind() {
            TypeKind::Struct => value.ty().fields().len() as u64,
            TypeKind::Array(count) => count,
            TypeKind::Vector(count) => u64::from(count),
            _ => {
                out.push(self.constant(value)?);
                return Ok(());
            }
        };
        match value.const_kind() {
            ConstKind::Zero => {
                let pieces = self.module.types.pieces(value.ty())?;
                out.extend(pieces.iter().map(|piece| zero(*piece)));
                Ok(())
            }
            ConstKind::Undef => {
                let pieces = self.module.types.pieces(value.ty())?;
                out.extend(pieces.iter().map(|_| Operand::Undef));
                Ok(())
            }
            ConstKind::Aggregate => {
                for index in 0..count as u32 {
                    let element =
                        value.element(index).ok_or_else(|| "constant without elements".to_owned())?;
                    self.constant_pieces(element, out)?;
                }
                Ok(())
            }
            _ => Err("constant expression of a vector or aggregate".to_owned()),
        }
    }

    fn global_address(&mut self, value: Value<'m>, bytes: i64) -> Lowered<Operand> {
        doubtful_address(value)?;
        let (global, more) = self.module.global_ref(value)?;
        let bytes = bytes + more;
        match global {
            GlobalRef::Variable(id) => Ok(Operand::Global(id, bytes)),
            GlobalRef::Function(id) => {
                let operand = self.module.take_address(id);
                Ok(self.add_bytes(operand, bytes))
            }
            GlobalRef::ThreadLocal(global) => {
                let dst = self.temporary(Ty::Ptr);
                self.emit(Inst::TlsAddr { dst, global });
                Ok(self.add_bytes(Operand::Reg(dst), bytes))
            }
        }
    }

    fn block_address(&mut self, value: Value<'m>) -> Lowered<Operand> {
        let (function, block) = value.block_address().ok_or_else(|| "label without a block".to_owned())?;
        if function != self.value {
            return Err("label of another function as a value".to_owned());
        }
        self.module.block_id(block).map(Operand::Block).ok_or_else(|| "label without a block".to_owned())
    }

    fn constant_expression(&mut self, value: Value<'m>, opcode: LLVMOpcode) -> Lowered<Operand> {
        let operand = |index| value.operand(index).ok_or_else(|| "constant without operands".to_owned());
        let cast = match opcode {
            LLVMOpcode::LLVMGetElementPtr => {
                let (base, bytes) = address_parts(self.module.types.layout, value)?;
                if base.is_global_value() {
                    return self.global_address(base, bytes);
                }
                let base = self.constant(base)?;
                return Ok(self.add_bytes(base, bytes));
            }
            LLVMOpcode::LLVMPtrToInt => CastOp::PtrToInt,
            LLVMOpcode::LLVMIntToPtr => CastOp::IntToPtr,
            LLVMOpcode::LLVMTrunc => CastOp::Trunc,
            LLVMOpcode::LLVMBitCast => CastOp::Bitcast,
            LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMMul | LLVMOpcode::LLVMXor => {
                let op = match opcode {
                    LLVMOpcode::LLVMAdd => BinOp::Add,
                    LLVMOpcode::LLVMSub => BinOp::Sub,
                    LLVMOpcode::LLVMMul => BinOp::Mul,
                    _ => BinOp::Xor,
                };
                let ty = self.module.types.scalar(value.ty())?;
                let (a, b) = (self.constant(operand(0)?)?, self.constant(operand(1)?)?);
                let dst = self.temporary(ty);
                self.emit(Inst::Bin { dst, op, ty, a, b });
                return Ok(Operand::Reg(dst));
            }
            other => return Err(format!("constant expression {other:?}")),
        };
        let from = self.module.types.scalar(operand(0)?.ty())?;
        let to = self.module.types.scalar(value.ty())?;
        let a = self.constant(operand(0)?)?;
        if cast == CastOp::Bitcast && from == to {
            return Ok(a);
        }
        let dst = self.temporary(to);
        self.emit(Inst::Cast { dst, op: cast, from, to, a });
        Ok(Operand::Reg(dst))
    }

    /// An address plus constant bytes; symbols absorb them.
    pub(super) fn add_bytes(&mut self, base: Operand, bytes: i64) -> Operand {
        match base {
            _ if bytes == 0 => base,
            Operand::Global(id, more) => Operand::Global(id, more.wrapping_add(bytes)),
            _ => {
                let dst = self.temporary(Ty::Ptr);
                self.emit(Inst::Gep(Box::new(Gep { dst, base, offset: bytes, indices: Vec::new() })));
                Operand::Reg(dst)
            }
        }
    }
}

/// A constant address as its symbol (or other innermost constant) and the bytes added to it.
pub(super) fn address_parts<'m>(layout: Layout<'m>, mut value: Value<'m>) -> Lowered<(Value<'m>, i64)> {
    let mut bytes = 0i64;
    while let ConstKind::Expression(opcode) = value.const_kind() {
        let operand = value.operand(0).ok_or_else(|| "constant without operands".to_owned())?;
        match opcode {
            LLVMOpcode::LLVMGetElementPtr => {
                bytes = bytes.wrapping_add(constant_offset(layout, value)?);
            }
            LLVMOpcode::LLVMBitCast if matches!(operand.ty().kind(), TypeKind::Pointer(0)) => {}
            _ => break,
        }
        value = operand;
    }
    Ok((value, bytes))
}

fn constant_offset<'m>(layout: Layout<'m>, gep: Value<'m>) -> Lowered<i64> {
    let mut bytes = 0i64;
    for step in super::memory::gep_steps(layout, gep)? {
        match step {
            super::memory::GepStep::Bytes(more) => bytes = bytes.wrapping_add(more),
            super::memory::GepStep::Index(..) => {
                return Err("address constant with a variable index".to_owned());
            }
        }
    }
    Ok(bytes)
}

fn zero(piece: Piece) -> Operand {
    if piece.ty == Ty::Ptr { Operand::Null } else { Operand::Const(0) }
}

/// Declarations whose address says nothing about an object of its own.
pub(super) fn doubtful_address(value: Value<'_>) -> Lowered<()> {
    if !value.is_declaration() {
        return Ok(());
    }
    let name = value.name();
    if value.may_be_absent() && raddle_libmodel::lookup(&name).is_none() {
        return Err(format!("the address of `{name}`, which is weak and may be undefined"));
    }
    if is_set_by_linker(&name) {
        return Err(format!("the address of `{name}`, which the linker sets to a place among other objects"));
    }
    Ok(())
}

/// Symbols of the default linker script, and those of sections whose names are C identifiers.
fn is_set_by_linker(name: &str) -> bool {
    const NAMES: [&str; 13] = [
        "__bss_start",
        "__data_start",
        "__executable_start",
        "__fini_array_end",
        "__fini_array_start",
        "__init_array_end",
        "__init_array_start",
        "_edata",
        "_end",
        "_etext",
        "edata",
        "end",
        "etext",
    ];
    name.starts_with("__start_") || name.starts_with("__stop_") || NAMES.contains(&name)
}
