//! Items: files, types, places, globals, functions and their blocks.

use super::lexer::Token;
use super::{Parsed, Parser};
use crate::{
    Block, BlockId, DebugType, DebugTypeId, Field, Function, FunctionId, Global, GlobalId, Init, Param, Phi,
    Place, PlaceBase, PlaceStep, Reg, RegInfo, Relocation, SiteId, SymbolRef,
};
use raddle_base::{Id, IdVec};

impl Parser {
    pub(super) fn program(&mut self) -> Parsed<()> {
        self.expect_word("raddle")?;
        self.expect('-')?;
        self.expect_word("ir")?;
        let version: u32 = self.number("a version")?;
        if version != 1 {
            self.next -= 1;
            return self.error("version 1");
        }
        self.expect_word("model")?;
        self.program.data_model = self.choice("LP64 or ILP32")?;
        while self.peek().is_some() {
            self.item()?;
        }
        Ok(())
    }

    fn item(&mut self) -> Parsed<()> {
        if self.accept_word("file") {
            self.defined_id("file", self.program.files.len())?;
            let path = self.text()?;
            self.program.files.push(path);
        } else if self.accept_word("type") {
            self.defined_id("t", self.program.debug_types.len())?;
            self.expect('=')?;
            let ty = self.debug_type()?;
            self.program.debug_types.push(ty);
        } else if self.accept_word("place") {
            self.defined_id("p", self.program.places.len())?;
            self.expect('=')?;
            let place = self.place()?;
            self.program.places.push(place);
        } else if self.accept_word("global") {
            self.defined_id("g", self.program.globals.len())?;
            let global = self.global()?;
            self.program.globals.push(global);
        } else if self.accept_word("constructors") {
            self.program.constructors = self.list(|p| p.id("f").map(FunctionId))?;
        } else if self.accept_word("destructors") {
            self.program.destructors = self.list(|p| p.id("f").map(FunctionId))?;
        } else if self.accept_word("function") {
            self.defined_id("f", self.program.functions.len())?;
            let function = self.function()?;
            self.program.functions.push(function);
        } else {
            return self
                .error("`file`, `type`, `place`, `global`, `constructors`, `destructors` or `function`");
        }
        Ok(())
    }

    fn type_ref(&mut self) -> Parsed<DebugTypeId> {
        self.id("t").map(DebugTypeId)
    }

    pub(super) fn optional_type(&mut self) -> Parsed<Option<DebugTypeId>> {
        if self.accept_word("type") { self.type_ref().map(Some) } else { Ok(None) }
    }

    fn debug_type(&mut self) -> Parsed<DebugType> {
        if let Ok(kind) = self.choice("") {
            let bytes = self.number("a size")?;
            let name = self.optional_symbol("name")?;
            let fields = self.list(Self::field)?;
            return Ok(DebugType::Record { kind, name, bytes, fields });
        }
        let word = self.word("a kind of type")?;
        Ok(match word.as_str() {
            "scalar" => DebugType::Scalar { name: self.symbol()?, bytes: self.number("a size")? },
            "pointer" => DebugType::Pointer { to: self.type_ref()? },
            "array" => {
                let element = self.type_ref()?;
                let count = if self.accept('?') { None } else { Some(self.number("a count or `?`")?) };
                DebugType::Array { element, count }
            }
            "typedef" => DebugType::Typedef { name: self.symbol()?, to: self.type_ref()? },
            "qualified" => DebugType::Qualified { qualifier: self.symbol()?, to: self.type_ref()? },
            "function" => DebugType::Function,
            "void" => DebugType::Void,
            "unknown" => DebugType::Unknown { name: self.optional_symbol("name")? },
            _ => {
                self.next -= 1;
                return self.error("a kind of type");
            }
        })
    }

    fn field(&mut self) -> Parsed<Field> {
        let bit_offset = self.number("a bit offset")?;
        let ty = self.type_ref()?;
        let bit_width = if self.accept(':') { Some(self.number("a width")?) } else { None };
        let name = self.optional_symbol("name")?;
        Ok(Field { name, ty, bit_offset, bit_width })
    }

    fn place(&mut self) -> Parsed<Place> {
        let base = if self.accept_word("local") {
            PlaceBase::Local(self.symbol()?)
        } else if self.accept_word("value") {
            PlaceBase::Value { name: self.symbol()?, reg: self.reg()? }
        } else if self.accept_word("unnamed") {
            PlaceBase::Unnamed(self.reg()?)
        } else {
            PlaceBase::Global(GlobalId(self.id("g")?))
        };
        let mut steps = Vec::new();
        loop {
            if self.accept('*') {
                steps.push(PlaceStep::Deref);
            } else if self.accept('.') {
                steps.push(PlaceStep::Field(self.symbol()?));
            } else if self.accept('[') {
                steps.push(match self.peek() {
                    Some(Token::Punct('?')) => {
                        self.next += 1;
                        PlaceStep::IndexAny
                    }
                    Some(Token::Text(_)) => PlaceStep::IndexBy(self.symbol()?),
                    _ => PlaceStep::Index(self.number("an index")?),
                });
                self.expect(']')?;
            } else if self.is_punct('+') || self.is_punct('-') {
                steps.push(PlaceStep::Offset(self.signed()?));
            } else {
                return Ok(Place { base, steps });
            }
        }
    }

    fn global(&mut self) -> Parsed<Global> {
        let symbol = self.symbol()?;
        let name = self.optional_symbol("name")?;
        let owner = self.optional_symbol("owner")?;
        let debug_type = self.optional_type()?;
        self.expect_word("bytes")?;
        let bytes = self.number("a size")?;
        self.expect_word("align")?;
        let align = self.number("an alignment")?;
        let thread_local = self.accept_word("thread_local");
        let constant = self.accept_word("constant");
        let exported = self.accept_word("exported");
        let init = if self.accept_word("init") { Some(self.init()?) } else { None };
        let span = self.span()?;
        Ok(Global {
            symbol,
            name,
            owner,
            span,
            debug_type,
            bytes,
            align,
            thread_local,
            constant,
            exported,
            init,
        })
    }

    fn init(&mut self) -> Parsed<Init> {
        let before = self.next;
        let hex = self.text()?;
        let nibbles: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
        let Some(nibbles) = nibbles.filter(|n| n.len() % 2 == 0) else {
            self.next = before;
            return self.error("bytes in hexadecimal");
        };
        let data = nibbles.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        let relocations = self.list(|p| {
            let offset = p.number("an offset")?;
            let target = if let Some(id) = p.id_if_next("g") {
                SymbolRef::Global(GlobalId(id))
            } else {
                let function = FunctionId(p.id("f")?);
                match p.id_if_next("b") {
                    Some(block) => SymbolRef::Block(function, BlockId(block)),
                    None => SymbolRef::Function(function),
                }
            };
            Ok(Relocation { offset, target, addend: p.offset()? })
        })?;
        let open = match self.accept_word("open") {
            true => self.list(|p| Ok(p.number("an offset")?..p.number("an offset")?))?,
            false => Vec::new(),
        };
        Ok(Init { data, relocations, open })
    }

    fn function(&mut self) -> Parsed<Function> {
        let id = FunctionId::from_index(self.program.functions.len());
        let symbol = self.symbol()?;
        self.expect_word("name")?;
        let name = self.symbol()?;
        self.expect_word("returns")?;
        let returns = self.list(Self::ty)?;
        let in_primary_file = self.accept_word("primary");
        let library_copy = self.accept_word("copy");
        let exported = self.accept_word("exported");
        let variadic = self.accept_word("variadic");
        let address_taken = self.accept_word("address_taken");
        let noreturn = self.accept_word("noreturn");
        let span = self.span()?;
        self.expect('{')?;
        self.expect_word("params")?;
        let params = self
            .list(|p| Ok(Param { reg: p.reg()?, by_value: p.by_value()?, debug_type: p.optional_type()? }))?;
        let mut blocks = IdVec::new();
        while !matches!(self.peek(), Some(Token::Word(word)) if word == "reg") && !self.is_punct('}') {
            self.defined_id("b", blocks.len())?;
            self.expect(':')?;
            blocks.push(self.block(id)?);
        }
        let mut regs: IdVec<Reg, RegInfo> = IdVec::new();
        while self.accept_word("reg") {
            if self.reg()?.index() != regs.len() {
                self.next -= 1;
                return self.error(&format!("`%{}`", regs.len()));
            }
            regs.push(RegInfo {
                ty: self.ty()?,
                name: self.optional_symbol("name")?,
                debug_type: self.optional_type()?,
            });
        }
        self.expect('}')?;
        Ok(Function {
            symbol,
            name,
            span,
            in_primary_file,
            library_copy,
            exported,
            params,
            variadic,
            returns,
            address_taken,
            noreturn,
            regs,
            blocks,
        })
    }

    pub(super) fn by_value(&mut self) -> Parsed<Option<(u64, u32)>> {
        if self.accept_word("by_value") {
            Ok(Some((self.number("a size")?, self.number("an alignment")?)))
        } else {
            Ok(None)
        }
    }

    fn block(&mut self, function: FunctionId) -> Parsed<Block> {
        let first_site = SiteId::from_index(self.program.sites.len());
        let mut phis = Vec::new();
        let mut insts = Vec::new();
        loop {
            if let Some(terminator) = self.terminator()? {
                self.end_of_site(function)?;
                return Ok(Block { phis, first_site, insts, terminator });
            }
            let dsts = self.dsts()?;
            if insts.is_empty() && dsts.len() == 1 && self.accept_word("phi") {
                let incoming = self.list(|p| {
                    let from = BlockId(p.id("b")?);
                    p.expect(':')?;
                    Ok((from, p.operand()?))
                })?;
                phis.push(Phi { dst: dsts[0], incoming });
            } else {
                insts.push(self.inst(dsts)?);
                self.end_of_site(function)?;
            }
        }
    }
}
