//! Operand and result types of single instructions.

use super::Checker;
use crate::{Callee, CastOp, FloatTy, Function, Inst, Operand, PlaceId, Reg, Terminator, Ty};
use raddle_base::Id;

impl Checker<'_> {
    pub(super) fn check_inst(&mut self, function: &Function, inst: &Inst) {
        match inst {
            Inst::Bin { dst, ty, a, b, .. } => {
                self.int(*ty);
                self.result(function, *dst, *ty);
                self.both(function, *a, *b, *ty);
            }
            Inst::FBin { dst, ty, a, b, .. } => {
                self.float(*ty);
                self.result(function, *dst, *ty);
                self.both(function, *a, *b, *ty);
            }
            Inst::FNeg { dst, ty, a } => {
                self.float(*ty);
                self.result(function, *dst, *ty);
                self.operand(function, *a, *ty);
            }
            Inst::Icmp { dst, ty, a, b, .. } => {
                if matches!(ty, Ty::Float(_)) {
                    self.fail("an integer comparison of floats".to_owned());
                }
                self.result(function, *dst, Ty::Int(1));
                self.both(function, *a, *b, *ty);
            }
            Inst::Fcmp { dst, ty, a, b, .. } => {
                self.float(*ty);
                self.result(function, *dst, Ty::Int(1));
                self.both(function, *a, *b, *ty);
            }
            Inst::Cast { dst, op, from, to, a } => {
                self.cast(*op, *from, *to);
                self.result(function, *dst, *to);
                self.operand(function, *a, *from);
            }
            Inst::Select { dst, ty, cond, a, b } => {
                self.result(function, *dst, *ty);
                self.operand(function, *cond, Ty::Int(1));
                self.both(function, *a, *b, *ty);
            }
            Inst::Copy { dst, ty, a } => {
                self.result(function, *dst, *ty);
                self.operand(function, *a, *ty);
            }
            Inst::Alloca { dst, bytes, align, debug_type, .. } => {
                self.result(function, *dst, Ty::Ptr);
                self.any_int(function, *bytes);
                self.optional_type(*debug_type);
                if !align.is_power_of_two() {
                    self.fail(format!("alignment {align}"));
                }
            }
            Inst::TlsAddr { dst, global } => {
                self.result(function, *dst, Ty::Ptr);
                match self.program.globals.get(*global) {
                    Some(info) if info.thread_local => {}
                    Some(_) => self.fail(format!("{global} is not thread-local")),
                    None => self.fail(format!("{global} does not exist")),
                }
            }
            Inst::Load { dst, ty, ptr, place, .. } => {
                self.result(function, *dst, *ty);
                self.operand(function, *ptr, Ty::Ptr);
                self.place(*place);
            }
            Inst::Store { ty, value, ptr, place, .. } => {
                self.operand(function, *value, *ty);
                self.operand(function, *ptr, Ty::Ptr);
                self.place(*place);
            }
            Inst::Rmw { dst, ty, ptr, value, place, .. } => {
                self.result(function, *dst, *ty);
                self.operand(function, *ptr, Ty::Ptr);
                self.operand(function, *value, *ty);
                self.place(*place);
            }
            Inst::CmpXchg(x) => {
                self.result(function, x.old, x.ty);
                self.result(function, x.success, Ty::Int(1));
                self.operand(function, x.ptr, Ty::Ptr);
                self.both(function, x.expected, x.new, x.ty);
                self.place(x.place);
            }
            Inst::Fence { .. } | Inst::SignalFence | Inst::Unsupported { .. } => {}
            Inst::Gep(gep) => {
                self.result(function, gep.dst, Ty::Ptr);
                self.operand(function, gep.base, Ty::Ptr);
                for (index, ty, _) in &gep.indices {
                    self.int(*ty);
                    self.operand(function, *index, *ty);
                }
            }
            Inst::MemCopy { dst, src, len, dst_place, src_place, .. } => {
                self.both(function, *dst, *src, Ty::Ptr);
                self.any_int(function, *len);
                self.place(*dst_place);
                self.place(*src_place);
            }
            Inst::MemSet { dst, byte, len, place } => {
                self.operand(function, *dst, Ty::Ptr);
                self.operand(function, *byte, Ty::Int(8));
                self.any_int(function, *len);
                self.place(*place);
            }
            Inst::Call { callee, args, .. } => {
                match callee {
                    Callee::Direct(callee) => self.exists(*callee, &self.program.functions),
                    Callee::Indirect(target) => self.operand(function, *target, Ty::Ptr),
                }
                for arg in args {
                    self.operand(function, arg.value, arg.ty);
                    if let Some(place) = arg.place {
                        self.place(place);
                    }
                }
            }
            Inst::Intrinsic { args, .. } => args.iter().for_each(|arg| self.known(function, *arg)),
            Inst::VaStart { list } | Inst::VaEnd { list } | Inst::VaArg { list, .. } => {
                self.operand(function, *list, Ty::Ptr);
            }
            Inst::VaCopy { dst, src } => self.both(function, *dst, *src, Ty::Ptr),
            Inst::StackSave { dst } => self.result(function, *dst, Ty::Ptr),
            Inst::StackRestore { mark } => self.operand(function, *mark, Ty::Ptr),
            Inst::Asm { writes, reads, .. } => {
                for (target, _) in writes {
                    self.operand(function, *target, Ty::Ptr);
                }
                reads.iter().for_each(|read| self.known(function, *read));
            }
        }
    }

    pub(super) fn check_terminator(&mut self, function: &Function, terminator: &Terminator) {
        match terminator {
            Terminator::CondBr { cond, .. } => self.operand(function, *cond, Ty::Int(1)),
            Terminator::Switch { value, ty, cases, .. } => {
                self.int(*ty);
                self.operand(function, *value, *ty);
                for (case, _) in cases {
                    self.operand(function, Operand::Const(*case), *ty);
                }
            }
            Terminator::IndirectBr { target, .. } => self.operand(function, *target, Ty::Ptr),
            Terminator::Ret { values } => {
                if values.len() != function.returns.len() {
                    self.fail(format!("returns {} values of {}", values.len(), function.returns.len()));
                }
                for (value, ty) in values.iter().zip(&function.returns) {
                    self.operand(function, *value, *ty);
                }
            }
            Terminator::Br(_) | Terminator::Unreachable | Terminator::Unsupported { .. } => {}
        }
    }

    /// Addresses of globals and functions may stand for integers: the constant form of a cast.
    pub(super) fn operand(&mut self, function: &Function, operand: Operand, ty: Ty) {
        self.known(function, operand);
        match (operand, ty) {
            (Operand::Reg(reg), _) => {
                if let Some(info) = function.regs.get(reg).filter(|info| info.ty != ty) {
                    self.fail(format!("{reg} has type {:?}, {ty:?} is expected", info.ty));
                }
            }
            (Operand::Const(bits), _) => {
                let width = match ty {
                    Ty::Int(bits) => u32::from(bits),
                    Ty::Float(float) => float.access_bytes() * 8,
                    Ty::Ptr => self.program.data_model.pointer_bytes() * 8,
                };
                if width < 128 && bits >> width != 0 {
                    self.fail(format!("the constant {bits} does not fit {ty:?}"));
                }
            }
            (
                Operand::Global(..) | Operand::Function(_) | Operand::Block(_) | Operand::Null,
                Ty::Float(_),
            ) => {
                self.fail(format!("an address as {ty:?}"));
            }
            _ => {}
        }
    }

    fn known(&mut self, function: &Function, operand: Operand) {
        match operand {
            Operand::Reg(reg) => self.exists(reg, &function.regs),
            Operand::Global(global, _) => match self.program.globals.get(global) {
                Some(info) if info.thread_local => self.fail(format!("{global} is thread-local")),
                Some(_) => {}
                None => self.fail(format!("{global} does not exist")),
            },
            Operand::Function(callee) => self.exists(callee, &self.program.functions),
            Operand::Block(block) => self.exists(block, &function.blocks),
            Operand::Const(_) | Operand::Null | Operand::Undef => {}
        }
    }

    fn both(&mut self, function: &Function, a: Operand, b: Operand, ty: Ty) {
        self.operand(function, a, ty);
        self.operand(function, b, ty);
    }

    fn any_int(&mut self, function: &Function, operand: Operand) {
        self.known(function, operand);
        if let Operand::Reg(reg) = operand
            && let Some(info) = function.regs.get(reg)
            && !matches!(info.ty, Ty::Int(_))
        {
            self.fail(format!("{reg} has type {:?}, an integer is expected", info.ty));
        }
    }

    fn result(&mut self, function: &Function, reg: Reg, ty: Ty) {
        match function.regs.get(reg) {
            Some(info) if info.ty == ty => {}
            Some(info) => self.fail(format!("{reg} has type {:?}, its value {ty:?}", info.ty)),
            None => self.fail(format!("%{} does not exist", reg.index())),
        }
    }

    fn place(&mut self, place: PlaceId) {
        self.exists(place, &self.program.places);
    }

    fn int(&mut self, ty: Ty) {
        if !matches!(ty, Ty::Int(1..=128)) {
            self.fail(format!("{ty:?} where an integer type is expected"));
        }
    }

    fn float(&mut self, ty: Ty) {
        if !matches!(ty, Ty::Float(_)) {
            self.fail(format!("{ty:?} where a float type is expected"));
        }
    }

    fn cast(&mut self, op: CastOp, from: Ty, to: Ty) {
        let fine = match (op, from, to) {
            (CastOp::Trunc, Ty::Int(a), Ty::Int(b)) => a > b,
            (CastOp::ZExt | CastOp::SExt, Ty::Int(a), Ty::Int(b)) => a < b,
            (CastOp::FpTrunc, Ty::Float(a), Ty::Float(b)) => precision(a) > precision(b),
            (CastOp::FpExt, Ty::Float(a), Ty::Float(b)) => precision(a) < precision(b),
            (CastOp::FpToUi | CastOp::FpToSi, Ty::Float(_), Ty::Int(_)) => true,
            (CastOp::UiToFp | CastOp::SiToFp, Ty::Int(_), Ty::Float(_)) => true,
            (CastOp::PtrToInt, Ty::Ptr, Ty::Int(_)) | (CastOp::IntToPtr, Ty::Int(_), Ty::Ptr) => true,
            (CastOp::Bitcast, ..) => self.bits(from) == self.bits(to),
            _ => false,
        };
        if !fine {
            self.fail(format!("a cast {op:?} from {from:?} to {to:?}"));
        }
    }

    fn bits(&self, ty: Ty) -> u32 {
        match ty {
            Ty::Int(bits) => u32::from(bits),
            Ty::Float(float) => float.access_bytes() * 8,
            Ty::Ptr => self.program.data_model.pointer_bytes() * 8,
        }
    }
}

fn precision(float: FloatTy) -> u32 {
    match float {
        FloatTy::BF16 => 8,
        FloatTy::F16 => 11,
        FloatTy::F32 => 24,
        FloatTy::F64 => 53,
        FloatTy::F80 => 64,
        FloatTy::F128 => 113,
    }
}
