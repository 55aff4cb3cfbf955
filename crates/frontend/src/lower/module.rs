//! The whole module: declares every function and global, then fills in initialisers and bodies.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use inkwell::llvm_sys::LLVMOpcode;
use raddle_base::{IdVec, SiteId, Symbol};
use raddle_ir::{
    BlockId, DataModel, DebugType, DebugTypeId, Function, FunctionId, Global, GlobalId, Operand, Param,
    Place, PlaceId, Program, Reg, RegInfo, Ty,
};

use super::Lowered;
use super::debug::Debug;
use super::function::{lower_body, refuse_body};
use super::initializers::{Deferred, lower_deferred_initializers, lower_initializers};
use super::startup::Startup;
use super::types::Types;
use super::unwinding::may_unwind;
use crate::llvm::{Block, Module, Type, Value, ValueKind};

/// How source files are named in the program, and what else the bitcode does not say.
#[derive(Default)]
pub(crate) struct SourceNames {
    pub(crate) working_directory: PathBuf,
    /// Files that were compiled under another name than debug information gives them: the source of a preprocessed file.
    pub(crate) primary: Vec<PathBuf>,
    /// Functions whose body the source has and the bitcode has not.
    pub(crate) withheld: BTreeSet<String>,
}

/// Lowers a module whose locals have been promoted. Cannot fail: what is not understood is in the program as `Unsupported`.
pub(crate) fn lower(
    module: &Module<'_>,
    data_model: DataModel,
    names: SourceNames,
) -> (Program, Vec<String>) {
    let lowered = lower_with(module, data_model, names, None);
    (lowered.program, lowered.warnings)
}

/// Like [`lower`], and says at which site each LLVM instruction is that does something to memory or calls.
pub(crate) fn lower_with_origins<'m>(
    module: &'m Module<'_>,
    data_model: DataModel,
    names: SourceNames,
) -> (Program, Vec<String>, Vec<(Value<'m>, SiteId)>) {
    let lowered = lower_with(module, data_model, names, Some(Vec::new()));
    (lowered.program, lowered.warnings, lowered.origins.unwrap_or_default())
}

fn lower_with<'m>(
    module: &'m Module<'_>,
    data_model: DataModel,
    names: SourceNames,
    origins: Option<Vec<(Value<'m>, SiteId)>>,
) -> ModuleLowerer<'m> {
    let withheld = names.withheld.clone();
    let mut lowerer = ModuleLowerer {
        program: Program::new(data_model),
        types: Types::new(module.layout()),
        debug: Debug::new(module.context(), names),
        functions: HashMap::new(),
        globals: HashMap::new(),
        defined: HashSet::new(),
        blocks: HashMap::new(),
        places: HashMap::new(),
        refused: HashMap::new(),
        deferred: Vec::new(),
        warnings: Vec::new(),
        may_unwind: may_unwind(module),
        const_volatile: HashSet::new(),
        const_volatile_escapes: false,
        origins,
    };
    let globals: Vec<Value<'_>> =
        module.globals().filter(|global| !global.name().starts_with("llvm.")).collect();
    for &global in &globals {
        lowerer.declare_global(global);
    }
    lowerer.find_const_volatile(&globals);
    let functions: Vec<Value<'_>> =
        module.functions().filter(|function| !function.name().starts_with("llvm.")).collect();
    for &function in &functions {
        lowerer.declare_function(function);
    }
    lower_initializers(&mut lowerer, &globals);
    let startup = Startup::find(&mut lowerer, module, &globals, &functions);
    // In one pass, because sites are numbered in the order of functions.
    for &function in &functions {
        if !function.is_declaration() {
            lower_body(&mut lowerer, function);
        } else if withheld.contains(&function.name()) {
            let id = lowerer.functions[&function];
            let reason = "an inline function whose body the compiler withholds (`noinline`)";
            refuse_body(&mut lowerer, id, reason);
        }
    }
    startup.lower(&mut lowerer);
    lower_deferred_initializers(&mut lowerer);
    lowerer.refuse_assembly(&module.assembly());
    lowerer
}

pub(super) struct ModuleLowerer<'m> {
    pub(super) program: Program,
    pub(super) types: Types<'m>,
    pub(super) debug: Debug<'m>,
    pub(super) functions: HashMap<Value<'m>, FunctionId>,
    pub(super) globals: HashMap<Value<'m>, GlobalId>,
    /// Functions with a body.
    pub(super) defined: HashSet<Symbol>,
    /// Blocks whose address is taken in data.
    blocks: HashMap<Block<'m>, BlockId>,
    places: HashMap<Place, PlaceId>,
    /// Functions whose signature cannot be expressed, with the reason.
    pub(super) refused: HashMap<FunctionId, String>,
    /// Initial values that are not plain bytes or addresses: computed before `main`.
    pub(super) deferred: Vec<Deferred<'m>>,
    pub(super) warnings: Vec<String>,
    pub(super) may_unwind: bool,
    /// Objects that are `const volatile`, or have such a part.
    pub(super) const_volatile: HashSet<Value<'m>>,
    /// Whether the address of one of them goes further than a read of it.
    pub(super) const_volatile_escapes: bool,
    pub(super) origins: Option<Vec<(Value<'m>, SiteId)>>,
}

/// What a global value of LLVM is in the program.
#[derive(Clone, Copy)]
pub(super) enum GlobalRef {
    Variable(GlobalId),
    ThreadLocal(GlobalId),
    Function(FunctionId),
}

impl<'m> ModuleLowerer<'m> {
    pub(super) fn symbol(&mut self, text: &str) -> Symbol {
        self.program.strings.intern(text)
    }

    pub(super) fn place(&mut self, place: Place) -> PlaceId {
        if let Some(&id) = self.places.get(&place) {
            return id;
        }
        let id = self.program.places.push(place.clone());
        self.places.insert(place, id);
        id
    }

    pub(super) fn pointer_bytes(&self) -> u32 {
        self.program.data_model.pointer_bytes()
    }

    /// The integer type of a pointer's width.
    pub(super) fn address_type(&self) -> Ty {
        Ty::Int((self.pointer_bytes() * 8) as u8)
    }

    /// The function or variable behind a global value and its aliases, with the bytes that an alias adds.
    pub(super) fn global_ref(&self, value: Value<'m>) -> Lowered<(GlobalRef, i64)> {
        match value.kind() {
            ValueKind::Function => match self.functions.get(&value) {
                Some(&id) => Ok((GlobalRef::Function(id), 0)),
                None => Err(format!("address of {}", value.name())),
            },
            ValueKind::GlobalVariable => match self.globals.get(&value) {
                Some(&id) if value.is_thread_local() => Ok((GlobalRef::ThreadLocal(id), 0)),
                Some(&id) => Ok((GlobalRef::Variable(id), 0)),
                None => Err(format!("address of {}", value.name())),
            },
            ValueKind::Alias => {
                let aliasee = value.aliasee().ok_or_else(|| "alias of nothing".to_owned())?;
                let (base, bytes) = super::constants::address_parts(self.types.layout, aliasee)?;
                let (global, more) = self.global_ref(base)?;
                Ok((global, bytes + more))
            }
            ValueKind::IFunc => Err("function chosen at load time (ifunc)".to_owned()),
            _ => Err("address that is not a symbol".to_owned()),
        }
    }

    pub(super) fn take_address(&mut self, function: FunctionId) -> Operand {
        self.program.functions[function].address_taken = true;
        Operand::Function(function)
    }

    /// A function of the library that the lowering itself calls, without arguments and results.
    pub(super) fn library_function(&mut self, name: &str) -> FunctionId {
        if let Some(id) = self.program.function_by_symbol(name) {
            return id;
        }
        let symbol = self.symbol(name);
        self.program.functions.push(Function {
            symbol,
            name: symbol,
            span: None,
            in_primary_file: false,
            library_copy: false,
            exported: true,
            params: Vec::new(),
            variadic: false,
            returns: Vec::new(),
            address_taken: false,
            noreturn: name == "abort",
            regs: IdVec::new(),
            blocks: IdVec::new(),
        })
    }

    /// Blocks keep LLVM's order, so a block's id is its position.
    pub(super) fn block_id(&mut self, block: Block<'m>) -> Option<BlockId> {
        if !self.blocks.contains_key(&block) {
            for (index, other) in block.parent().blocks().enumerate() {
                self.blocks.insert(other, BlockId(index as u32));
            }
        }
        self.blocks.get(&block).copied()
    }

    /// Assembly outside of functions may make one variable out of two, or change them before `main`: there is nothing to say of a program
    /// in which it names one.
    fn refuse_assembly(&mut self, text: &str) {
        let is_in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
        let words: HashSet<&str> = text.split(|c| !is_in_name(c)).collect();
        let mut named = self.program.globals.values().map(|global| self.program.text(global.symbol));
        let Some(name) = named.find(|name| words.contains(name)) else { return };
        let reason = format!("assembly outside of functions names the variable `{name}`");
        let function = self.declare_own("raddle.assembly");
        refuse_body(self, function, &reason);
        self.program.constructors.insert(0, function);
    }

    fn declare_global(&mut self, value: Value<'m>) {
        let name = value.name();
        let symbol = self.symbol(if value.is_declaration() { library_name(&name) } else { &name });
        if value.is_declaration()
            && let Some((id, _)) = self.program.globals.iter().find(|(_, global)| global.symbol == symbol)
        {
            self.globals.insert(value, id);
            return;
        }
        let (mut name, mut owner, mut span, mut debug_type) = (None, None, None, None);
        if let Some(node) = value.global_variable_debug(self.debug.context) {
            name = node.name().map(|text| self.symbol(&text));
            owner = node.variable_scope().and_then(function_around).map(|text| self.symbol(&text));
            let file = node.variable_file().and_then(|file| self.debug.file(&mut self.program, file));
            let line = node.variable_line();
            span = file.map(|file| raddle_base::Span { file, line, column: 0 });
            debug_type = node.operand(3).map(|ty| self.debug.types.id(&mut self.program, Some(ty)));
        } else if !is_private_name(&value.name()) {
            name = Some(symbol);
        }
        let ty = value.global_type();
        let bytes = ty.map_or(0, |ty| self.types.layout.size(ty));
        let natural = ty.map_or(1, |ty| self.types.layout.alignment(ty));
        let id = self.program.globals.push(Global {
            symbol,
            name,
            owner,
            span,
            debug_type,
            bytes,
            align: value.global_alignment().max(natural).max(1),
            thread_local: value.is_thread_local(),
            constant: value.is_constant_global(),
            exported: !value.is_local(),
            init: None,
        });
        self.globals.insert(value, id);
    }

    fn find_const_volatile(&mut self, globals: &[Value<'m>]) {
        let constants = globals.iter().copied().filter(|global| global.is_constant_global());
        let found = constants.filter(|global| {
            let ty = self.globals.get(global).and_then(|id| self.program.globals[*id].debug_type);
            // Without debug information a volatile access tells.
            ty.map_or_else(|| global.users().any(Value::is_volatile), |ty| self.has_volatile_part(ty))
        });
        self.const_volatile = found.collect();
        let reads = |user: Value<'_>| user.opcode() == Some(LLVMOpcode::LLVMLoad);
        self.const_volatile_escapes = self.const_volatile.iter().any(|global| !global.users().all(reads));
    }

    /// Whether an object of this type, or a part of it, is volatile; not what it points to.
    fn has_volatile_part(&self, ty: DebugTypeId) -> bool {
        match &self.program.debug_types[ty] {
            DebugType::Qualified { qualifier, to } => {
                self.program.text(*qualifier) == "volatile" || self.has_volatile_part(*to)
            }
            DebugType::Typedef { to, .. } => self.has_volatile_part(*to),
            DebugType::Array { element, .. } => self.has_volatile_part(*element),
            DebugType::Record { fields, .. } => fields.iter().any(|field| self.has_volatile_part(field.ty)),
            _ => false,
        }
    }

    fn declare_function(&mut self, value: Value<'m>) {
        let symbol = self.symbol(&value.name());
        let mut name = symbol;
        let (mut span, mut in_primary_file, mut library_copy) = (None, false, false);
        if let Some(node) = value.subprogram(self.debug.context) {
            if let Some(text) = node.name() {
                name = self.symbol(&text);
            }
            let file = node.scope_file().and_then(|file| self.debug.file(&mut self.program, file));
            span = file.map(|file| raddle_base::Span { file, line: node.subprogram_line(), column: 0 });
            in_primary_file = self.debug.in_primary_file(&mut self.program, node);
            let header = file.is_some_and(|file| is_system_header(&self.program.files[file]));
            library_copy = header && value.is_inline_definition();
        }
        let ty = value.global_type();
        let mut regs = IdVec::new();
        let signature = self.params(value, &mut regs).and_then(|params| {
            let returns = match ty.and_then(Type::return_type) {
                Some(ty) => self.types.pieces(ty)?.iter().map(|piece| piece.ty).collect(),
                None => Vec::new(),
            };
            Ok((params, returns))
        });
        let id = self.program.functions.push(Function {
            symbol,
            name,
            span: if value.is_declaration() { None } else { span },
            in_primary_file,
            library_copy,
            exported: !value.is_local(),
            params: Vec::new(),
            variadic: ty.is_some_and(Type::is_variadic),
            returns: Vec::new(),
            address_taken: false,
            noreturn: value.function_has_attribute("noreturn"),
            regs,
            blocks: IdVec::new(),
        });
        match signature {
            Ok((params, returns)) => {
                let function = &mut self.program.functions[id];
                (function.params, function.returns) = (params, returns);
            }
            Err(reason) => {
                self.program.functions[id].regs = IdVec::new();
                self.refused.insert(id, reason);
            }
        }
        if !value.is_declaration() {
            self.defined.insert(symbol);
        }
        self.functions.insert(value, id);
    }

    fn params(&mut self, value: Value<'m>, regs: &mut IdVec<Reg, RegInfo>) -> Lowered<Vec<Param>> {
        let mut params = Vec::new();
        for (index, param) in value.params().into_iter().enumerate() {
            let index = index as u32;
            let by_value = value.param_type_attribute(index, "byval").map(|ty| {
                let align = value.param_int_attribute(index, "align");
                let align = align.map_or(self.types.layout.alignment(ty), |align| align as u32);
                (self.types.layout.size(ty), align)
            });
            for piece in self.types.pieces(param.ty())?.iter() {
                let reg = regs.push(RegInfo { ty: piece.ty, name: None, debug_type: None });
                params.push(Param { reg, by_value, debug_type: None::<DebugTypeId> });
            }
        }
        Ok(params)
    }
}

/// The name that POSIX has for a variable of the C library, of which glibc has two or three.
fn library_name(name: &str) -> &str {
    match name {
        "__environ" | "_environ" => "environ",
        "__timezone" => "timezone",
        "__daylight" => "daylight",
        "__tzname" => "tzname",
        "__signgam" => "signgam",
        "__progname" => "program_invocation_short_name",
        "__progname_full" => "program_invocation_name",
        other => other,
    }
}

/// Names that the compiler invents for constants: `.str.3`, `__const.main.table`, `switch.table`.
fn is_private_name(name: &str) -> bool {
    name.is_empty() || name.starts_with('.') || name.starts_with("__const.") || name.starts_with("__func__.")
}

/// By where compilers look for headers of their own and of the C library.
fn is_system_header(file: &str) -> bool {
    ["/usr/include/", "/lib/clang/", "/lib/gcc/"].iter().any(|folder| file.contains(folder))
}

/// The function that a scope lies in, for a `static` variable inside it.
fn function_around(scope: crate::llvm::Meta<'_>) -> Option<String> {
    let mut scope = Some(scope);
    for _ in 0..64 {
        let node = scope?;
        match node.kind() {
            crate::llvm::MetaKind::Subprogram => return node.name(),
            crate::llvm::MetaKind::LexicalBlock => scope = node.operand(1),
            _ => return None,
        }
    }
    None
}
