//! Source files, spans and the variables behind `llvm.dbg` calls.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use inkwell::llvm_sys::prelude::LLVMContextRef;
use raddle_base::{FileId, Span, Symbol};
use raddle_ir::{DebugTypeId, Program};

use super::debug_types::DebugTypes;
use super::module::SourceNames;
use crate::llvm::{Meta, MetaKind, Value};

/// A variable of the programmer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: Symbol,
    pub(super) ty: Option<DebugTypeId>,
}

pub(super) enum DebugCall<'m> {
    /// The variable lives in memory at this address.
    Declare(Value<'m>, Meta<'m>),
    /// The variable's value is this from here on.
    Value(Value<'m>, Meta<'m>),
    /// Labels, emptied locations, pieces of variables.
    Other,
}

pub(super) struct Debug<'m> {
    pub(super) context: LLVMContextRef,
    pub(super) types: DebugTypes<'m>,
    names: SourceNames,
    files: HashMap<Meta<'m>, FileId>,
    by_name: HashMap<String, FileId>,
    plain_expressions: HashMap<Meta<'m>, bool>,
    variables: HashMap<Meta<'m>, Option<Variable>>,
    primary: HashSet<String>,
}

impl<'m> Debug<'m> {
    pub(super) fn new(context: LLVMContextRef, names: SourceNames) -> Self {
        let primary = names.primary.iter().map(|path| names.shown(path, Path::new(""))).collect();
        Self {
            context,
            types: DebugTypes::default(),
            names,
            files: HashMap::new(),
            by_name: HashMap::new(),
            plain_expressions: HashMap::new(),
            variables: HashMap::new(),
            primary,
        }
    }

    pub(super) fn span(&mut self, program: &mut Program, inst: Value<'m>) -> Option<Span> {
        let (line, column, scope) = inst.debug_location(self.context)?.location()?;
        if line == 0 {
            return None;
        }
        let file = self.file(program, scope.scope_file()?)?;
        Some(Span { file, line, column })
    }

    pub(super) fn file(&mut self, program: &mut Program, node: Meta<'m>) -> Option<FileId> {
        if let Some(&id) = self.files.get(&node) {
            return Some(id);
        }
        let (name, directory) = node.file()?;
        let shown = self.names.shown(Path::new(&name), Path::new(&directory));
        let id = *self.by_name.entry(shown.clone()).or_insert_with(|| program.files.push(shown));
        self.files.insert(node, id);
        Some(id)
    }

    /// Whether a subprogram is written in the file that was compiled, and not in a header.
    pub(super) fn in_primary_file(&mut self, program: &mut Program, subprogram: Meta<'m>) -> bool {
        let Some(file) = subprogram.scope_file().and_then(|node| self.file(program, node)) else {
            return false;
        };
        let unit = subprogram.operand(5).and_then(|unit| unit.scope_file());
        let unit = unit.and_then(|node| self.file(program, node));
        // One file may go by two names (`a/../b.c`): only what looks like a header counts as one.
        let header = Path::new(&program.files[file]).extension().is_some_and(|extension| extension == "h");
        !header || unit == Some(file) || self.primary.contains(&program.files[file])
    }

    pub(super) fn call(&mut self, name: &str, call: Value<'m>) -> DebugCall<'m> {
        let args = call.args();
        let (Some(location), Some(variable), Some(expression)) = (args.first(), args.get(1), args.get(2))
        else {
            return DebugCall::Other;
        };
        let Some(value) = location.wrapped_value(self.context) else { return DebugCall::Other };
        let (Some(variable), Some(expression)) =
            (variable.as_metadata(self.context), expression.as_metadata(self.context))
        else {
            return DebugCall::Other;
        };
        if variable.kind() != MetaKind::LocalVariable
            || !self.is_plain(expression, *args.last().unwrap_or(&value))
        {
            return DebugCall::Other;
        }
        match name {
            "llvm.dbg.declare" => DebugCall::Declare(value, variable),
            "llvm.dbg.value" => DebugCall::Value(value, variable),
            _ => DebugCall::Other,
        }
    }

    pub(super) fn variable(&mut self, program: &mut Program, node: Meta<'m>) -> Option<Variable> {
        if let Some(known) = self.variables.get(&node) {
            return *known;
        }
        let variable = node.name().map(|name| Variable {
            name: program.strings.intern(&name),
            ty: node.operand(3).map(|ty| self.types.id(program, Some(ty))),
        });
        self.variables.insert(node, variable);
        variable
    }

    /// An expression without operations: the variable is the value itself.
    fn is_plain(&mut self, node: Meta<'m>, printed: Value<'m>) -> bool {
        *self.plain_expressions.entry(node).or_insert_with(|| printed.print().contains("!DIExpression()"))
    }
}

impl SourceNames {
    /// A file's name as the user would write it: relative to the working directory where it lies below it.
    pub(super) fn shown(&self, name: &Path, directory: &Path) -> String {
        let in_place = directory.as_os_str().is_empty() || directory == self.working_directory;
        let full = if in_place { name.to_owned() } else { directory.join(name) };
        let full = tidy(&full);
        let shown = full.strip_prefix(&self.working_directory).unwrap_or(&full);
        shown.to_string_lossy().into_owned()
    }
}

/// Without `.` parts and `x/..` pairs; symbolic links are not looked at.
fn tidy(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(result.components().next_back(), Some(Component::Normal(_))) => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}
