//! One program out of a lowered file that holds many: what its `main` reaches, renumbered, under its own names.
//!
//! Ids are given in the order in which things are met from `main` on, so the slice of a batch and the slice of the program compiled
//! alone are the same but for line numbers.

use raddle_base::{FileId, Id, IdVec, SiteId, Span, Symbol};
use raddle_ir::{
    Block, Callee, DebugType, DebugTypeId, Field, Function, FunctionId, Global, GlobalId, Init, Inst,
    Operand, Param, Phi, Place, PlaceBase, PlaceId, PlaceStep, Program, RegInfo, Relocation, SiteInfo,
    SymbolRef, Terminator,
};
use std::collections::HashMap;
use std::hash::Hash;

/// The program whose names start with the prefix, which they lose; `None` if it has no `main`.
pub fn slice(program: &Program, prefix: &str) -> Option<Program> {
    let main = program.function_by_symbol(&format!("{prefix}main"))?;
    let mut slicer = Slicer {
        old: program,
        prefix,
        new: Program::new(program.data_model),
        symbols: HashMap::new(),
        files: HashMap::new(),
        types: Renumbered::default(),
        places: Renumbered::default(),
        globals: Renumbered::default(),
        functions: Renumbered::default(),
    };
    slicer.functions.number(main);
    slicer.run();
    Some(slicer.new)
}

struct Slicer<'p> {
    old: &'p Program,
    prefix: &'p str,
    new: Program,
    symbols: HashMap<Symbol, Symbol>,
    files: HashMap<FileId, FileId>,
    types: Renumbered<DebugTypeId>,
    places: Renumbered<PlaceId>,
    globals: Renumbered<GlobalId>,
    functions: Renumbered<FunctionId>,
}

/// New numbers in the order of asking.
struct Renumbered<I> {
    numbers: HashMap<I, I>,
    order: Vec<I>,
}

impl<I> Default for Renumbered<I> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), order: Vec::new() }
    }
}

impl<I: Id + Hash> Renumbered<I> {
    fn number(&mut self, old: I) -> I {
        let order = &mut self.order;
        *self.numbers.entry(old).or_insert_with(|| {
            order.push(old);
            I::from_index(order.len() - 1)
        })
    }
}

impl Slicer<'_> {
    fn run(&mut self) {
        let old = self.old;
        loop {
            let (functions, globals) = (self.new.functions.len(), self.new.globals.len());
            let (places, types) = (self.new.places.len(), self.new.debug_types.len());
            if let Some(id) = self.functions.order.get(functions).copied() {
                let function = self.function(&old.functions[id], FunctionId::from_index(functions));
                self.new.functions.push(function);
            } else if let Some(id) = self.globals.order.get(globals).copied() {
                let global = self.global(&old.globals[id]);
                self.new.globals.push(global);
            } else if let Some(id) = self.places.order.get(places).copied() {
                let place = self.place(&old.places[id]);
                self.new.places.push(place);
            } else if let Some(id) = self.types.order.get(types).copied() {
                let ty = self.debug_type(&old.debug_types[id]);
                self.new.debug_types.push(ty);
            } else {
                return;
            }
        }
    }

    fn symbol(&mut self, old: Symbol) -> Symbol {
        let (program, prefix, strings) = (self.old, self.prefix, &mut self.new.strings);
        *self.symbols.entry(old).or_insert_with(|| {
            let text = program.text(old);
            strings.intern(text.strip_prefix(prefix).unwrap_or(text))
        })
    }

    fn optional_symbol(&mut self, old: Option<Symbol>) -> Option<Symbol> {
        old.map(|symbol| self.symbol(symbol))
    }

    fn optional_type(&mut self, old: Option<DebugTypeId>) -> Option<DebugTypeId> {
        old.map(|ty| self.types.number(ty))
    }

    fn span(&mut self, old: Option<Span>) -> Option<Span> {
        old.map(|span| {
            let (program, files) = (self.old, &mut self.new.files);
            let file =
                *self.files.entry(span.file).or_insert_with(|| files.push(program.files[span.file].clone()));
            Span { file, ..span }
        })
    }

    fn debug_type(&mut self, old: &DebugType) -> DebugType {
        match old {
            DebugType::Scalar { name, bytes } => {
                DebugType::Scalar { name: self.symbol(*name), bytes: *bytes }
            }
            DebugType::Pointer { to } => DebugType::Pointer { to: self.types.number(*to) },
            DebugType::Array { element, count } => {
                DebugType::Array { element: self.types.number(*element), count: *count }
            }
            DebugType::Record { kind, name, bytes, fields } => DebugType::Record {
                kind: *kind,
                name: self.optional_symbol(*name),
                bytes: *bytes,
                fields: fields
                    .iter()
                    .map(|field| Field {
                        name: self.optional_symbol(field.name),
                        ty: self.types.number(field.ty),
                        ..*field
                    })
                    .collect(),
            },
            DebugType::Typedef { name, to } => {
                DebugType::Typedef { name: self.symbol(*name), to: self.types.number(*to) }
            }
            DebugType::Qualified { qualifier, to } => {
                DebugType::Qualified { qualifier: self.symbol(*qualifier), to: self.types.number(*to) }
            }
            DebugType::Function => DebugType::Function,
            DebugType::Void => DebugType::Void,
            DebugType::Unknown { name } => DebugType::Unknown { name: self.optional_symbol(*name) },
        }
    }

    fn place(&mut self, old: &Place) -> Place {
        let base = match old.base {
            PlaceBase::Global(global) => PlaceBase::Global(self.globals.number(global)),
            PlaceBase::Local(name) => PlaceBase::Local(self.symbol(name)),
            PlaceBase::Value { name, reg } => PlaceBase::Value { name: self.symbol(name), reg },
            PlaceBase::Unnamed(reg) => PlaceBase::Unnamed(reg),
        };
        let steps = old
            .steps
            .iter()
            .map(|step| match step {
                PlaceStep::Field(name) => PlaceStep::Field(self.symbol(*name)),
                PlaceStep::IndexBy(name) => PlaceStep::IndexBy(self.symbol(*name)),
                other => other.clone(),
            })
            .collect();
        Place { base, steps }
    }

    fn global(&mut self, old: &Global) -> Global {
        Global {
            symbol: self.symbol(old.symbol),
            name: self.optional_symbol(old.name),
            owner: self.optional_symbol(old.owner),
            span: self.span(old.span),
            debug_type: self.optional_type(old.debug_type),
            init: old.init.as_ref().map(|init| Init {
                data: init.data.clone(),
                relocations: init
                    .relocations
                    .iter()
                    .map(|relocation| Relocation { target: self.target(relocation.target), ..*relocation })
                    .collect(),
                open: init.open.clone(),
            }),
            ..*old
        }
    }

    fn target(&mut self, old: SymbolRef) -> SymbolRef {
        match old {
            SymbolRef::Global(id) => SymbolRef::Global(self.globals.number(id)),
            SymbolRef::Function(id) => SymbolRef::Function(self.functions.number(id)),
            SymbolRef::Block(id, block) => SymbolRef::Block(self.functions.number(id), block),
        }
    }

    fn function(&mut self, old: &Function, id: FunctionId) -> Function {
        let params = old
            .params
            .iter()
            .map(|param| Param { debug_type: self.optional_type(param.debug_type), ..param.clone() })
            .collect();
        let regs = old
            .regs
            .values()
            .map(|reg| RegInfo {
                ty: reg.ty,
                name: self.optional_symbol(reg.name),
                debug_type: self.optional_type(reg.debug_type),
            })
            .collect();
        let blocks: IdVec<_, Block> = old.blocks.values().map(|block| self.block(block, id)).collect();
        Function {
            symbol: self.symbol(old.symbol),
            name: self.symbol(old.name),
            span: self.span(old.span),
            params,
            returns: old.returns.clone(),
            regs,
            blocks,
            // Of a library function another program of the file may have taken it.
            address_taken: old.address_taken && old.is_defined(),
            ..*old
        }
    }

    fn block(&mut self, old: &Block, function: FunctionId) -> Block {
        let first_site = SiteId::from_index(self.new.sites.len());
        for index in 0..=old.insts.len() {
            let span = self.span(self.old.sites[old.site_of(index)].span);
            self.new.sites.push(SiteInfo { function, span });
        }
        let phis = old
            .phis
            .iter()
            .map(|phi| Phi {
                dst: phi.dst,
                incoming: phi.incoming.iter().map(|(from, value)| (*from, self.operand(*value))).collect(),
            })
            .collect();
        let insts = old.insts.iter().map(|inst| self.inst(inst)).collect();
        Block { phis, first_site, insts, terminator: self.terminator(&old.terminator) }
    }

    fn operand(&mut self, old: Operand) -> Operand {
        match old {
            Operand::Global(id, offset) => Operand::Global(self.globals.number(id), offset),
            Operand::Function(id) => Operand::Function(self.functions.number(id)),
            Operand::Reg(_) | Operand::Const(_) | Operand::Block(_) | Operand::Null | Operand::Undef => old,
        }
    }

    fn terminator(&mut self, old: &Terminator) -> Terminator {
        let mut new = old.clone();
        match &mut new {
            Terminator::CondBr { cond: value, .. }
            | Terminator::Switch { value, .. }
            | Terminator::IndirectBr { target: value, .. } => *value = self.operand(*value),
            Terminator::Ret { values } => values.iter_mut().for_each(|value| *value = self.operand(*value)),
            Terminator::Unsupported { reason } => *reason = self.symbol(*reason),
            Terminator::Br(_) | Terminator::Unreachable => {}
        }
        new
    }

    fn inst(&mut self, old: &Inst) -> Inst {
        let mut new = old.clone();
        match &mut new {
            Inst::Bin { a, b, .. }
            | Inst::FBin { a, b, .. }
            | Inst::Icmp { a, b, .. }
            | Inst::Fcmp { a, b, .. } => self.operands([a, b]),
            Inst::FNeg { a, .. } | Inst::Cast { a, .. } | Inst::Copy { a, .. } => self.operands([a]),
            Inst::Select { cond, a, b, .. } => self.operands([cond, a, b]),
            Inst::Alloca { bytes, name, debug_type, .. } => {
                self.operands([bytes]);
                *name = self.optional_symbol(*name);
                *debug_type = self.optional_type(*debug_type);
            }
            Inst::TlsAddr { global, .. } => *global = self.globals.number(*global),
            Inst::Load { ptr, place, .. } => {
                self.operands([ptr]);
                *place = self.places.number(*place);
            }
            Inst::Store { value, ptr, place, .. } | Inst::Rmw { ptr, value, place, .. } => {
                self.operands([ptr, value]);
                *place = self.places.number(*place);
            }
            Inst::CmpXchg(exchange) => {
                self.operands([&mut exchange.ptr, &mut exchange.expected, &mut exchange.new]);
                exchange.place = self.places.number(exchange.place);
            }
            Inst::Gep(gep) => {
                self.operands([&mut gep.base]);
                self.operands(gep.indices.iter_mut().map(|(index, ..)| index));
            }
            Inst::MemCopy { dst, src, len, dst_place, src_place, .. } => {
                self.operands([dst, src, len]);
                *dst_place = self.places.number(*dst_place);
                *src_place = self.places.number(*src_place);
            }
            Inst::MemSet { dst, byte, len, place } => {
                self.operands([dst, byte, len]);
                *place = self.places.number(*place);
            }
            Inst::Call { callee, args, .. } => {
                match callee {
                    Callee::Direct(function) => *function = self.functions.number(*function),
                    Callee::Indirect(target) => *target = self.operand(*target),
                }
                for arg in args {
                    arg.value = self.operand(arg.value);
                    arg.place = arg.place.map(|place| self.places.number(place));
                }
            }
            Inst::Intrinsic { args, .. } => self.operands(args),
            Inst::VaStart { list } | Inst::VaEnd { list } | Inst::VaArg { list, .. } => self.operands([list]),
            Inst::VaCopy { dst, src } => self.operands([dst, src]),
            Inst::StackRestore { mark } => self.operands([mark]),
            Inst::Asm { text, writes, reads, .. } => {
                *text = self.symbol(*text);
                self.operands(writes.iter_mut().map(|(target, _)| target));
                self.operands(reads);
            }
            Inst::Unsupported { reason, .. } => *reason = self.symbol(*reason),
            Inst::Fence { .. } | Inst::SignalFence | Inst::StackSave { .. } => {}
        }
        new
    }

    fn operands<'o>(&mut self, operands: impl IntoIterator<Item = &'o mut Operand>) {
        for operand in operands {
            *operand = self.operand(*operand);
        }
    }
}
