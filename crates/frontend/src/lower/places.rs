//! The expression behind an address: `counter`, `q->items[i].count`, `*p`.
//!
//! Best effort and for names only: an address is followed back through its arithmetic to a variable, to a register that a variable
//! names, or to a load, whose own place is continued by a dereference.

use inkwell::llvm_sys::LLVMOpcode;
use raddle_base::Symbol;
use raddle_ir::{DebugTypeId, Inst, Operand, Place, PlaceBase, PlaceId, PlaceStep, Ty};

use super::debug_types::pointee;
use super::function::FunctionLowerer;
use super::memory::{GepStep, gep_steps};
use super::module::GlobalRef;
use super::names::LoadedFrom;
use super::path::{Path, first_member_named};
use crate::llvm::{ConstKind, TypeKind, Value, ValueKind};

/// How much of memory an access means, which tells `s` from `s.first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// One scalar of so many bytes.
    Scalar(u64, Class),
    /// A block of bytes, of known length or not.
    Range(Option<u64>),
    /// The object that a call is given the address of, and the name of its type where the callee tells it.
    Object(Option<&'static str>),
}

/// What kind of scalar, to tell the members of a union apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Integer,
    Float,
    Pointer,
}

/// A path longer than this is cut off: it is no name any more.
const LONGEST_PATH: usize = 24;

/// Steps of address arithmetic that are followed back.
const LONGEST_CHAIN: usize = 256;

/// The type of the object that a synchronisation function is given, by the function's name.
pub(super) fn object_type(callee: &str) -> Option<&'static str> {
    const TYPES: [(&str, &str); 10] = [
        ("pthread_mutex_", "pthread_mutex_t"),
        ("pthread_rwlock_", "pthread_rwlock_t"),
        ("pthread_spin_", "pthread_spinlock_t"),
        ("pthread_cond_", "pthread_cond_t"),
        ("pthread_barrier_", "pthread_barrier_t"),
        ("pthread_once", "pthread_once_t"),
        ("sem_", "sem_t"),
        ("mtx_", "mtx_t"),
        ("cnd_", "cnd_t"),
        ("call_once", "once_flag"),
    ];
    TYPES.iter().find(|(prefix, _)| callee.starts_with(prefix)).map(|(_, name)| *name)
}

/// The end of an address computation, walked from the access back to where it starts.
struct Trace<'m> {
    root: Value<'m>,
    offset: i64,
    indices: Vec<(Value<'m>, i64)>,
    members: usize,
    /// The struct that the outermost computation goes into, by LLVM's name: for roots without a declared type.
    record: Option<String>,
}

impl<'m> FunctionLowerer<'_, 'm> {
    /// The place of an access at `pointer` plus `extra` bytes.
    pub(super) fn place(&mut self, pointer: Value<'m>, extra: i64, extent: Extent) -> PlaceId {
        let (place, _) = self.find_place(pointer, extra, extent, None);
        self.module.place(place)
    }

    /// The place that a call argument points to, if it has a name.
    pub(super) fn named_place(&mut self, pointer: Value<'m>, extent: Extent) -> Option<PlaceId> {
        let data = match pointer.kind() {
            ValueKind::Instruction | ValueKind::Argument | ValueKind::GlobalVariable | ValueKind::Alias => {
                true
            }
            ValueKind::Constant => matches!(pointer.const_kind(), ConstKind::Expression(_)),
            _ => false,
        };
        if !data || self.is_nameless(pointer) {
            return None;
        }
        let (place, _) = self.find_place(pointer, 0, extent, None);
        Some(self.module.place(place))
    }

    /// The place of a load; remembered, because what is loaded may be a pointer or an index.
    pub(super) fn load_place(&mut self, inst: Value<'m>, pointer: Value<'m>, extent: Extent) -> PlaceId {
        let bits = super::bit_fields::bits_read(inst);
        let (place, ty) = self.find_place(pointer, 0, extent, bits);
        let id = self.module.place(place.clone());
        self.loaded.insert(inst, LoadedFrom { place, ty });
        id
    }

    pub(super) fn store_place(&mut self, value: Value<'m>, pointer: Value<'m>, extent: Extent) -> PlaceId {
        let bits = super::bit_fields::bits_written(value);
        let (place, _) = self.find_place(pointer, 0, extent, bits);
        self.module.place(place)
    }

    /// A local's name from LLVM, for modules without debug information.
    pub(super) fn name_without_debug(&mut self, value: Value<'m>) -> Option<Symbol> {
        if self.value.subprogram(self.module.debug.context).is_some() {
            return None;
        }
        let name = value.name();
        let name = name.strip_suffix(".addr").unwrap_or(&name);
        (!name.is_empty()).then(|| self.module.symbol(name))
    }

    fn find_place(
        &mut self,
        pointer: Value<'m>,
        extra: i64,
        extent: Extent,
        bits: Option<(u32, u32)>,
    ) -> (Place, Option<DebugTypeId>) {
        let trace = self.trace(pointer);
        let (mut place, mut ty) = self.root_place(trace.root);
        if ty.is_none() {
            ty = trace.record.as_deref().and_then(|name| self.module.debug.types.record(name));
        }
        let mut terms = Vec::with_capacity(trace.indices.len());
        for (index, scale) in trace.indices {
            terms.push((self.index_step(index), scale));
        }
        let path =
            Path { offset: trace.offset.wrapping_add(extra), terms, members: trace.members, extent, bits };
        let through_pointer = place.steps.last() == Some(&PlaceStep::Deref);
        let reached = path.explain(&self.module.program, ty, through_pointer, &mut place.steps);
        if let (Extent::Object(Some(wanted)), Some(reached)) = (extent, reached)
            && let Some(steps) = first_member_named(&self.module.program, reached, wanted)
        {
            place.steps.extend(steps);
        }
        (place, reached)
    }

    fn trace(&self, pointer: Value<'m>) -> Trace<'m> {
        let whole = self.trace_from(pointer, false);
        let in_variable = self.is_variable(whole.root);
        if in_variable { whole } else { self.trace_from(pointer, true) }
    }

    /// Back through address arithmetic; with `stop_at_names`, only to the first register that a variable names.
    fn trace_from(&self, pointer: Value<'m>, stop_at_names: bool) -> Trace<'m> {
        let mut trace = Trace { root: pointer, offset: 0, indices: Vec::new(), members: 0, record: None };
        // In code that cannot be reached an address may be computed from itself.
        for _ in 0..LONGEST_CHAIN {
            let value = trace.root;
            if stop_at_names && self.named.contains_key(&value) {
                return trace;
            }
            let next = match (value.opcode(), value.const_kind()) {
                (Some(LLVMOpcode::LLVMGetElementPtr), _)
                | (_, ConstKind::Expression(LLVMOpcode::LLVMGetElementPtr)) => {
                    let Ok(steps) = gep_steps(self.module.types.layout, value) else { return trace };
                    if matches!(value.ty().kind(), TypeKind::Vector(_)) {
                        return trace;
                    }
                    for step in steps {
                        match step {
                            GepStep::Bytes(bytes) => trace.offset = trace.offset.wrapping_add(bytes),
                            GepStep::Index(index, scale) => trace.indices.push((index, scale)),
                        }
                    }
                    let source = value.gep_source_type();
                    if source.is_some_and(|ty| ty.kind() == TypeKind::Struct) && value.operand_count() > 2 {
                        trace.members += 1;
                    }
                    trace.record = source.and_then(|ty| ty.struct_name());
                    value.operand(0)
                }
                (Some(LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMFreeze), _)
                | (_, ConstKind::Expression(LLVMOpcode::LLVMBitCast)) => value.operand(0),
                (Some(LLVMOpcode::LLVMCall), _) => self.passed_through(value),
                _ => None,
            };
            match next {
                Some(next) if matches!(next.ty().kind(), TypeKind::Pointer(0)) => trace.root = next,
                _ => return trace,
            }
        }
        trace
    }

    /// The argument that an intrinsic returns as it is.
    fn passed_through(&self, call: Value<'m>) -> Option<Value<'m>> {
        let callee = call.called_value().filter(|callee| callee.kind() == ValueKind::Function)?;
        let name = callee.name();
        let passes = ["llvm.threadlocal.address", "llvm.ptr.annotation", "llvm.launder", "llvm.strip"];
        passes.iter().any(|prefix| name.starts_with(prefix)).then(|| call.operand(0)).flatten()
    }

    /// A global or a local in memory.
    fn is_variable(&self, value: Value<'m>) -> bool {
        self.homes.contains_key(&value)
            || value.opcode() == Some(LLVMOpcode::LLVMAlloca)
            || matches!(value.kind(), ValueKind::GlobalVariable | ValueKind::Alias)
    }

    /// Whether following this address back ends at something without a name: a string literal, an unnamed temporary.
    fn is_nameless(&mut self, pointer: Value<'m>) -> bool {
        let root = self.trace(pointer).root;
        if let Ok((GlobalRef::Variable(id) | GlobalRef::ThreadLocal(id), _)) = self.module.global_ref(root) {
            return self.module.program.globals[id].name.is_none();
        }
        match self.root_place(root).0.base {
            PlaceBase::Unnamed(_) => true,
            PlaceBase::Global(id) => self.module.program.globals[id].name.is_none(),
            _ => false,
        }
    }

    /// The object that a pointer points to, and its declared type.
    fn root_place(&mut self, root: Value<'m>) -> (Place, Option<DebugTypeId>) {
        if matches!(root.kind(), ValueKind::GlobalVariable | ValueKind::Alias)
            && let Ok((GlobalRef::Variable(id) | GlobalRef::ThreadLocal(id), _)) =
                self.module.global_ref(root)
        {
            let ty = self.module.program.globals[id].debug_type;
            return (Place { base: PlaceBase::Global(id), steps: Vec::new() }, ty);
        }
        if let Some(variable) = self.homes.get(&root) {
            return (Place { base: PlaceBase::Local(variable.name), steps: Vec::new() }, variable.ty);
        }
        if root.opcode() == Some(LLVMOpcode::LLVMAlloca)
            && let Some(name) = self.name_without_debug(root)
        {
            return (Place { base: PlaceBase::Local(name), steps: Vec::new() }, None);
        }
        let pointee_of =
            |this: &Self, ty: Option<DebugTypeId>| ty.and_then(|ty| pointee(&this.module.program, ty));
        if let (Some(variable), Some(reg)) = (self.named.get(&root).copied(), self.register_of(root)) {
            let base = PlaceBase::Value { name: variable.name, reg };
            return (Place { base, steps: vec![PlaceStep::Deref] }, pointee_of(self, variable.ty));
        }
        if let Some(from) = self.loaded.get(&root)
            && from.place.steps.len() < LONGEST_PATH
        {
            let (mut place, ty) = (from.place.clone(), from.ty);
            place.steps.push(PlaceStep::Deref);
            return (place, pointee_of(self, ty));
        }
        if let (Some(variable), Some(reg)) = (self.variable_of(root), self.register_of(root)) {
            let base = PlaceBase::Value { name: variable.name, reg };
            return (Place { base, steps: vec![PlaceStep::Deref] }, pointee_of(self, variable.ty));
        }
        let reg = match self.register_of(root) {
            Some(reg) => reg,
            None => self.register_for(root),
        };
        (Place { base: PlaceBase::Unnamed(reg), steps: vec![PlaceStep::Deref] }, None)
    }

    /// A register for a constant address (`*(int *)0x1000`), which a place without a name needs.
    fn register_for(&mut self, value: Value<'m>) -> raddle_ir::Reg {
        let a = self.scalar(value).unwrap_or(Operand::Undef);
        match a {
            Operand::Reg(reg) => reg,
            _ => {
                let dst = self.temporary(Ty::Ptr);
                self.emit(Inst::Copy { dst, ty: Ty::Ptr, a });
                dst
            }
        }
    }
}
