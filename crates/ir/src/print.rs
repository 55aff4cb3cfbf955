//! A whole program as text that people can read and [`crate::parse`] reads back to an equal program.
//!
//! Site numbers are not printed: they follow from the layout, as [`crate::verify`] demands. The same walk, with other names for
//! ids, feeds [`crate::program_hash`].

mod insts;

use crate::words::Word;
use crate::{
    Block, BlockId, DebugType, DebugTypeId, FileId, Function, FunctionId, Global, GlobalId, Operand, Phi,
    Place, PlaceBase, PlaceId, PlaceStep, Program, Reg, Span, Symbol, SymbolRef, Ty,
};
use std::fmt::Write;

/// The first words of every text.
pub(crate) const HEADER: &str = "raddle-ir 1";

/// The text form of a program.
pub fn print(program: &Program) -> String {
    let mut p = Printer::new(program, ById);
    let _ = writeln!(p.out, "{HEADER}\nmodel {}", program.data_model.word());
    for (id, path) in program.files.iter() {
        let _ = writeln!(p.out, "file {id} {}", quoted(path));
    }
    for (id, ty) in program.debug_types.iter() {
        let _ = write!(p.out, "type {id} = ");
        p.debug_type(ty);
        p.out.push('\n');
    }
    for (id, place) in program.places.iter() {
        let _ = write!(p.out, "place {id} = ");
        p.place(place);
        p.out.push('\n');
    }
    for (id, global) in program.globals.iter() {
        let _ = write!(p.out, "global {id} ");
        p.global(global);
        p.out.push('\n');
    }
    for (word, list) in [("constructors", &program.constructors), ("destructors", &program.destructors)] {
        if !list.is_empty() {
            let _ = write!(p.out, "{word} ");
            p.list(list, |p, id| p.function_ref(*id));
            p.out.push('\n');
        }
    }
    for (id, function) in program.functions.iter() {
        let _ = write!(p.out, "\nfunction {id} ");
        p.function(function);
    }
    p.out
}

/// How ids are written down.
pub(crate) trait Naming {
    fn global(&mut self, program: &Program, id: GlobalId) -> String;
    fn function(&mut self, program: &Program, id: FunctionId) -> String;
    fn place(&mut self, program: &Program, id: PlaceId) -> String;
    fn debug_type(&mut self, program: &Program, id: DebugTypeId) -> String;
    fn file(&mut self, program: &Program, id: FileId) -> String;
    fn reg(&mut self, reg: Reg) -> String;
    /// The registers of a function in the order in which they are listed.
    fn order(&mut self, function: &Function) -> Vec<Reg>;
}

struct ById;

impl Naming for ById {
    fn global(&mut self, _: &Program, id: GlobalId) -> String {
        id.to_string()
    }
    fn function(&mut self, _: &Program, id: FunctionId) -> String {
        id.to_string()
    }
    fn place(&mut self, _: &Program, id: PlaceId) -> String {
        id.to_string()
    }
    fn debug_type(&mut self, _: &Program, id: DebugTypeId) -> String {
        id.to_string()
    }
    fn file(&mut self, _: &Program, id: FileId) -> String {
        id.to_string()
    }
    fn reg(&mut self, reg: Reg) -> String {
        reg.to_string()
    }
    fn order(&mut self, function: &Function) -> Vec<Reg> {
        function.regs.ids().collect()
    }
}

pub(crate) struct Printer<'p, N> {
    program: &'p Program,
    pub(crate) names: N,
    pub(crate) out: String,
}

impl<'p, N: Naming> Printer<'p, N> {
    pub(crate) fn new(program: &'p Program, names: N) -> Self {
        Self { program, names, out: String::new() }
    }

    fn word(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn symbol(&mut self, symbol: Symbol) {
        let text = quoted(self.program.text(symbol));
        self.word(&text);
    }

    fn optional_symbol(&mut self, key: &str, symbol: Option<Symbol>) {
        if let Some(symbol) = symbol {
            let _ = write!(self.out, " {key} ");
            self.symbol(symbol);
        }
    }

    fn optional_type(&mut self, ty: Option<DebugTypeId>) {
        if let Some(ty) = ty {
            self.word(" type ");
            self.type_ref(ty);
        }
    }

    fn type_ref(&mut self, ty: DebugTypeId) {
        let text = self.names.debug_type(self.program, ty);
        self.word(&text);
    }

    fn global_ref(&mut self, id: GlobalId) {
        let text = self.names.global(self.program, id);
        self.word(&text);
    }

    fn function_ref(&mut self, id: FunctionId) {
        let text = self.names.function(self.program, id);
        self.word(&text);
    }

    fn place_ref(&mut self, id: PlaceId) {
        let text = self.names.place(self.program, id);
        self.word(&text);
    }

    fn block_ref(&mut self, id: BlockId) {
        let _ = write!(self.out, "{id}");
    }

    fn reg(&mut self, reg: Reg) {
        let text = self.names.reg(reg);
        self.word(&text);
    }

    fn span(&mut self, span: Option<Span>) {
        if let Some(span) = span {
            let file = self.names.file(self.program, span.file);
            let _ = write!(self.out, " at {file}:{}:{}", span.line, span.column);
        }
    }

    /// `(a, b, c)`
    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.word("(");
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.word(", ");
            }
            each(self, item);
        }
        self.word(")");
    }

    fn ty(&mut self, ty: Ty) {
        match ty {
            Ty::Int(bits) => {
                let _ = write!(self.out, "i{bits}");
            }
            Ty::Float(float) => self.word(float.word()),
            Ty::Ptr => self.word("ptr"),
        }
    }

    fn operand(&mut self, operand: Operand) {
        match operand {
            Operand::Reg(reg) => self.reg(reg),
            Operand::Const(bits) => {
                let _ = write!(self.out, "{bits}");
            }
            Operand::Global(global, offset) => {
                self.global_ref(global);
                self.offset(offset);
            }
            Operand::Function(function) => self.function_ref(function),
            Operand::Block(block) => self.block_ref(block),
            Operand::Null => self.word("null"),
            Operand::Undef => self.word("undef"),
        }
    }

    fn offset(&mut self, offset: i64) {
        if offset != 0 {
            let _ = write!(self.out, "{offset:+}");
        }
    }

    pub(crate) fn debug_type(&mut self, ty: &DebugType) {
        match ty {
            DebugType::Scalar { name, bytes } => {
                self.word("scalar ");
                self.symbol(*name);
                let _ = write!(self.out, " {bytes}");
            }
            DebugType::Pointer { to } => {
                self.word("pointer ");
                self.type_ref(*to);
            }
            DebugType::Array { element, count } => {
                self.word("array ");
                self.type_ref(*element);
                match count {
                    Some(count) => {
                        let _ = write!(self.out, " {count}");
                    }
                    None => self.word(" ?"),
                }
            }
            DebugType::Record { kind, name, bytes, fields } => {
                self.word(kind.word());
                let _ = write!(self.out, " {bytes}");
                self.optional_symbol("name", *name);
                self.word(" ");
                self.list(fields, |p, field| {
                    let _ = write!(p.out, "{} ", field.bit_offset);
                    p.type_ref(field.ty);
                    if let Some(width) = field.bit_width {
                        let _ = write!(p.out, " : {width}");
                    }
                    p.optional_symbol("name", field.name);
                });
            }
            DebugType::Typedef { name, to } => {
                self.word("typedef ");
                self.symbol(*name);
                self.word(" ");
                self.type_ref(*to);
            }
            DebugType::Qualified { qualifier, to } => {
                self.word("qualified ");
                self.symbol(*qualifier);
                self.word(" ");
                self.type_ref(*to);
            }
            DebugType::Function => self.word("function"),
            DebugType::Void => self.word("void"),
            DebugType::Unknown { name } => {
                self.word("unknown");
                self.optional_symbol("name", *name);
            }
        }
    }

    pub(crate) fn place(&mut self, place: &Place) {
        match &place.base {
            PlaceBase::Global(global) => self.global_ref(*global),
            PlaceBase::Local(name) => {
                self.word("local ");
                self.symbol(*name);
            }
            PlaceBase::Value { name, reg } => {
                self.word("value ");
                self.symbol(*name);
                self.word(" ");
                self.reg(*reg);
            }
            PlaceBase::Unnamed(reg) => {
                self.word("unnamed ");
                self.reg(*reg);
            }
        }
        for step in &place.steps {
            match step {
                PlaceStep::Deref => self.word(" *"),
                PlaceStep::Field(name) => {
                    self.word(" .");
                    self.symbol(*name);
                }
                PlaceStep::Index(index) => {
                    let _ = write!(self.out, " [{index}]");
                }
                PlaceStep::IndexBy(name) => {
                    self.word(" [");
                    self.symbol(*name);
                    self.word("]");
                }
                PlaceStep::IndexAny => self.word(" [?]"),
                PlaceStep::Offset(bytes) => {
                    let _ = write!(self.out, " {bytes:+}");
                }
            }
        }
    }

    pub(crate) fn global(&mut self, global: &Global) {
        self.symbol(global.symbol);
        self.optional_symbol("name", global.name);
        self.optional_symbol("owner", global.owner);
        self.optional_type(global.debug_type);
        let _ = write!(self.out, " bytes {} align {}", global.bytes, global.align);
        if global.thread_local {
            self.word(" thread_local");
        }
        if global.constant {
            self.word(" constant");
        }
        if global.exported {
            self.word(" exported");
        }
        if let Some(init) = &global.init {
            self.word(" init \"");
            for byte in &init.data {
                let _ = write!(self.out, "{byte:02x}");
            }
            self.word("\" ");
            self.list(&init.relocations, |p, relocation| {
                let _ = write!(p.out, "{} ", relocation.offset);
                match relocation.target {
                    SymbolRef::Global(id) => p.global_ref(id),
                    SymbolRef::Function(id) => p.function_ref(id),
                    SymbolRef::Block(function, block) => {
                        p.function_ref(function);
                        p.word(" ");
                        p.block_ref(block);
                    }
                }
                p.offset(relocation.addend);
            });
            if !init.open.is_empty() {
                self.word(" open ");
                self.list(&init.open, |p, range| {
                    let _ = write!(p.out, "{} {}", range.start, range.end);
                });
            }
        }
        self.span(global.span);
    }

    pub(crate) fn function(&mut self, function: &Function) {
        self.symbol(function.symbol);
        self.word(" name ");
        self.symbol(function.name);
        self.word(" returns ");
        self.list(&function.returns, |p, ty| p.ty(*ty));
        for (word, holds) in [
            ("primary", function.in_primary_file),
            ("copy", function.library_copy),
            ("exported", function.exported),
            ("variadic", function.variadic),
            ("address_taken", function.address_taken),
            ("noreturn", function.noreturn),
        ] {
            if holds {
                self.word(" ");
                self.word(word);
            }
        }
        self.span(function.span);
        self.word(" {\n  params ");
        self.list(&function.params, |p, param| {
            p.reg(param.reg);
            p.by_value(param.by_value);
            p.optional_type(param.debug_type);
        });
        self.word("\n");
        for (id, block) in function.blocks.iter() {
            let _ = writeln!(self.out, "{id}:");
            self.block(block);
        }
        for reg in self.names.order(function) {
            let Some(info) = function.regs.get(reg) else { continue };
            self.word("  reg ");
            self.reg(reg);
            self.word(" ");
            self.ty(info.ty);
            self.optional_symbol("name", info.name);
            self.optional_type(info.debug_type);
            self.word("\n");
        }
        self.word("}\n");
    }

    fn by_value(&mut self, by_value: Option<(u64, u32)>) {
        if let Some((bytes, align)) = by_value {
            let _ = write!(self.out, " by_value {bytes} {align}");
        }
    }

    fn block(&mut self, block: &Block) {
        for Phi { dst, incoming } in &block.phis {
            self.word("  ");
            self.reg(*dst);
            self.word(" = phi ");
            self.list(incoming, |p, (from, value)| {
                p.block_ref(*from);
                p.word(": ");
                p.operand(*value);
            });
            self.word("\n");
        }
        for (index, inst) in block.insts.iter().enumerate() {
            self.word("  ");
            self.inst(inst);
            self.site(block, index);
        }
        self.word("  ");
        self.terminator(&block.terminator);
        self.site(block, block.insts.len());
    }

    fn site(&mut self, block: &Block, index: usize) {
        let info = block.first_site.0.checked_add(index as u32).map(crate::SiteId);
        self.span(info.and_then(|site| self.program.sites.get(site)).and_then(|info| info.span));
        self.word("\n");
    }
}

/// A string literal of the text form.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
