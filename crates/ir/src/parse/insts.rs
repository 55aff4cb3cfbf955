//! Instructions, terminators, operands and machine types.

use super::lexer::Token;
use super::{Parsed, Parser};
use crate::words::Word;
use crate::{
    BinOp, BlockId, CallArg, Callee, CastOp, CmpXchg, FBinOp, FloatTy, FunctionId, Gep, GlobalId, Inst,
    MemKind, Operand, PlaceId, Reg, Terminator, Ty,
};

impl Parser {
    /// `%1, %2 =`, or nothing.
    pub(super) fn dsts(&mut self) -> Parsed<Vec<Reg>> {
        let mut dsts = Vec::new();
        if !matches!(self.peek(), Some(Token::Reg(_))) {
            return Ok(dsts);
        }
        dsts.push(self.reg()?);
        while self.accept(',') {
            dsts.push(self.reg()?);
        }
        self.expect('=')?;
        Ok(dsts)
    }

    pub(super) fn inst(&mut self, dsts: Vec<Reg>) -> Parsed<Inst> {
        let start = self.next;
        let word = self.word("an instruction")?;
        match word.as_str() {
            "call" => {
                let callee = Callee::Direct(FunctionId(self.id("f")?));
                return Ok(Inst::Call { dsts, callee, args: self.list(Self::call_arg)? });
            }
            "call_indirect" => {
                let callee = Callee::Indirect(self.operand()?);
                return Ok(Inst::Call { dsts, callee, args: self.list(Self::call_arg)? });
            }
            "intrinsic" => {
                let op = self.choice("an intrinsic")?;
                let ty = self.ty()?;
                return Ok(Inst::Intrinsic { dsts, op, ty, args: self.list(Self::operand)? });
            }
            "asm" => {
                let text = self.symbol()?;
                self.expect_word("writes")?;
                let writes = self.list(|p| {
                    let target = p.operand()?;
                    p.expect_word("bytes")?;
                    Ok((target, p.number("a size")?))
                })?;
                self.expect_word("reads")?;
                return Ok(Inst::Asm { dsts, text, writes, reads: self.list(Self::operand)? });
            }
            "unsupported" => return Ok(Inst::Unsupported { dsts, reason: self.symbol()? }),
            _ => {}
        }
        let inst = match dsts[..] {
            [] => self.effect(&word)?,
            [dst] => self.value(dst, &word)?,
            [old, success] if word == "cmpxchg" => Some(self.cmpxchg(old, success)?),
            _ => None,
        };
        match inst {
            Some(inst) => Ok(inst),
            None => {
                self.next = start;
                self.error(&format!("an instruction with {} result(s)", dsts.len()))
            }
        }
    }

    fn effect(&mut self, word: &str) -> Parsed<Option<Inst>> {
        if let Some(kind) = MemKind::of_word(word) {
            let (dst, src, len) = self.three()?;
            let dst_place = self.place_ref()?;
            self.expect_word("from")?;
            let src_place = PlaceId(self.id("p")?);
            return Ok(Some(Inst::MemCopy { kind, dst, src, len, dst_place, src_place }));
        }
        Ok(Some(match word {
            "store" => {
                let volatile = self.accept_word("volatile");
                let atomic = self.atomic()?;
                let ty = self.ty()?;
                let (value, ptr) = self.two()?;
                Inst::Store { ty, value, ptr, atomic, volatile, place: self.place_ref()? }
            }
            "fence" => Inst::Fence { order: self.choice("a fence's order")? },
            "signal_fence" => Inst::SignalFence,
            "memset" => {
                let (dst, byte, len) = self.three()?;
                Inst::MemSet { dst, byte, len, place: self.place_ref()? }
            }
            "va_start" => Inst::VaStart { list: self.operand()? },
            "va_end" => Inst::VaEnd { list: self.operand()? },
            "va_copy" => {
                let (dst, src) = self.two()?;
                Inst::VaCopy { dst, src }
            }
            "stack_restore" => Inst::StackRestore { mark: self.operand()? },
            _ => return Ok(None),
        }))
    }

    fn value(&mut self, dst: Reg, word: &str) -> Parsed<Option<Inst>> {
        if let Some(op) = BinOp::of_word(word) {
            let ty = self.ty()?;
            let (a, b) = self.two()?;
            return Ok(Some(Inst::Bin { dst, op, ty, a, b }));
        }
        if let Some(op) = FBinOp::of_word(word) {
            let ty = self.ty()?;
            let (a, b) = self.two()?;
            return Ok(Some(Inst::FBin { dst, op, ty, a, b }));
        }
        if let Some(op) = CastOp::of_word(word) {
            let from = self.ty()?;
            let a = self.operand()?;
            self.expect_word("to")?;
            return Ok(Some(Inst::Cast { dst, op, from, to: self.ty()?, a }));
        }
        Ok(Some(match word {
            "fneg" => Inst::FNeg { dst, ty: self.ty()?, a: self.operand()? },
            "copy" => Inst::Copy { dst, ty: self.ty()?, a: self.operand()? },
            "select" => {
                let ty = self.ty()?;
                let (cond, a, b) = self.three()?;
                Inst::Select { dst, ty, cond, a, b }
            }
            "icmp" => {
                let pred = self.choice("a comparison")?;
                let ty = self.ty()?;
                let (a, b) = self.two()?;
                Inst::Icmp { dst, pred, ty, a, b }
            }
            "fcmp" => {
                let pred = self.choice("a comparison")?;
                let ty = self.ty()?;
                let (a, b) = self.two()?;
                Inst::Fcmp { dst, pred, ty, a, b }
            }
            "alloca" => {
                let bytes = self.operand()?;
                self.expect_word("align")?;
                let align = self.number("an alignment")?;
                let name = self.optional_symbol("name")?;
                Inst::Alloca { dst, bytes, align, name, debug_type: self.optional_type()? }
            }
            "tls_addr" => Inst::TlsAddr { dst, global: GlobalId(self.id("g")?) },
            "load" => {
                let volatile = self.accept_word("volatile");
                let atomic = self.atomic()?;
                let ty = self.ty()?;
                let ptr = self.operand()?;
                Inst::Load { dst, ty, ptr, atomic, volatile, place: self.place_ref()? }
            }
            "rmw" => {
                let op = self.choice("an operation")?;
                let order = self.choice("a memory order")?;
                let ty = self.ty()?;
                let (ptr, value) = self.two()?;
                Inst::Rmw { dst, op, ty, ptr, value, order, place: self.place_ref()? }
            }
            "gep" => {
                let base = self.operand()?;
                self.expect_word("offset")?;
                let offset = self.signed()?;
                let indices = self.list(|p| {
                    let ty = p.ty()?;
                    let index = p.operand()?;
                    p.expect('*')?;
                    Ok((index, ty, p.signed()?))
                })?;
                Inst::Gep(Box::new(Gep { dst, base, offset, indices }))
            }
            "va_arg" => Inst::VaArg { dst, ty: self.ty()?, list: self.operand()? },
            "stack_save" => Inst::StackSave { dst },
            _ => return Ok(None),
        }))
    }

    fn cmpxchg(&mut self, old: Reg, success: Reg) -> Parsed<Inst> {
        let weak = self.accept_word("weak");
        let on_success = self.choice("a memory order")?;
        let on_failure = self.choice("a memory order of a load")?;
        let ty = self.ty()?;
        let (ptr, expected, new) = self.three()?;
        let place = self.place_ref()?;
        Ok(Inst::CmpXchg(Box::new(CmpXchg {
            old,
            success,
            ty,
            ptr,
            expected,
            new,
            on_success,
            on_failure,
            weak,
            place,
        })))
    }

    /// `None` when the next word starts no terminator.
    pub(super) fn terminator(&mut self) -> Parsed<Option<Terminator>> {
        let terminator = if self.accept_word("br") {
            Terminator::Br(self.block_ref()?)
        } else if self.accept_word("cond_br") {
            let cond = self.operand()?;
            self.expect(',')?;
            let then = self.block_ref()?;
            self.expect(',')?;
            Terminator::CondBr { cond, then, other: self.block_ref()? }
        } else if self.accept_word("switch") {
            let ty = self.ty()?;
            let value = self.operand()?;
            let cases = self.list(|p| {
                let value = p.number("a case value")?;
                p.expect(':')?;
                Ok((value, p.block_ref()?))
            })?;
            self.expect_word("default")?;
            Terminator::Switch { value, ty, cases, default: self.block_ref()? }
        } else if self.accept_word("indirect_br") {
            Terminator::IndirectBr { target: self.operand()?, targets: self.list(Self::block_ref)? }
        } else if self.accept_word("ret") {
            Terminator::Ret { values: self.list(Self::operand)? }
        } else if self.accept_word("unreachable") {
            Terminator::Unreachable
        } else if self.accept_word("stop") {
            Terminator::Unsupported { reason: self.symbol()? }
        } else {
            return Ok(None);
        };
        Ok(Some(terminator))
    }

    fn atomic<T: Word>(&mut self) -> Parsed<Option<T>> {
        if self.accept_word("atomic") { self.choice("a memory order").map(Some) } else { Ok(None) }
    }

    fn call_arg(&mut self) -> Parsed<CallArg> {
        let ty = self.ty()?;
        let value = self.operand()?;
        let by_value = self.by_value()?;
        let place = if self.accept_word("place") { Some(PlaceId(self.id("p")?)) } else { None };
        Ok(CallArg { value, ty, by_value, place })
    }

    fn place_ref(&mut self) -> Parsed<PlaceId> {
        self.expect_word("place")?;
        self.id("p").map(PlaceId)
    }

    fn block_ref(&mut self) -> Parsed<BlockId> {
        self.id("b").map(BlockId)
    }

    fn two(&mut self) -> Parsed<(Operand, Operand)> {
        let a = self.operand()?;
        self.expect(',')?;
        Ok((a, self.operand()?))
    }

    fn three(&mut self) -> Parsed<(Operand, Operand, Operand)> {
        let (a, b) = self.two()?;
        self.expect(',')?;
        Ok((a, b, self.operand()?))
    }

    pub(super) fn operand(&mut self) -> Parsed<Operand> {
        match self.peek() {
            Some(Token::Reg(_)) => return self.reg().map(Operand::Reg),
            Some(Token::Number(_)) => return self.number("a constant").map(Operand::Const),
            _ => {}
        }
        if self.accept_word("null") {
            Ok(Operand::Null)
        } else if self.accept_word("undef") {
            Ok(Operand::Undef)
        } else if let Some(global) = self.id_if_next("g") {
            Ok(Operand::Global(GlobalId(global), self.offset()?))
        } else if let Some(function) = self.id_if_next("f") {
            Ok(Operand::Function(FunctionId(function)))
        } else if let Some(block) = self.id_if_next("b") {
            Ok(Operand::Block(BlockId(block)))
        } else {
            self.error("an operand")
        }
    }

    pub(super) fn ty(&mut self) -> Parsed<Ty> {
        if self.accept_word("ptr") {
            return Ok(Ty::Ptr);
        }
        if let Ok(float) = self.choice::<FloatTy>("") {
            return Ok(Ty::Float(float));
        }
        let before = self.next;
        match self.id_if_next("i") {
            Some(bits @ 1..=128) => Ok(Ty::Int(bits as u8)),
            _ => {
                self.next = before;
                self.error("a type (`i32`, `ptr`, `f64`, …)")
            }
        }
    }
}
