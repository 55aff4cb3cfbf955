//! Access paths: from the way an address is computed and the declared types to the expression that the programmer wrote.

use inkwell::llvm_sys::LLVMOpcode;
use raddle_ir::{DebugType, DebugTypeId, Field, Place, PlaceBase, PlaceStep};

use super::bit_fields::{self, Bits};
use super::debug_types::{pointee, size};
use super::function::FunctionLowerer;
use super::memory::{GepIndex, GepStep, walk_gep};
use super::module::GlobalRef;
use super::names::LoadedFrom;
use crate::llvm::{ConstKind, Type, TypeKind, Value, ValueKind};

/// How much an access touches, to know how deep its name goes.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// `None`: an object as a whole, whatever its size.
    bytes: Option<u64>,
    class: Class,
    /// The bits of a bit-field inside the bytes.
    bits: Option<Bits>,
}

/// What kind of scalar an access is of, to choose among members of a union.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Integer,
    Float,
    Pointer,
    Bytes,
}

impl Extent {
    pub(super) fn object() -> Self {
        Self { bytes: None, class: Class::Bytes, bits: None }
    }

    pub(super) fn bytes(count: Option<u128>) -> Self {
        Self { bytes: count.map(|count| count as u64), class: Class::Bytes, bits: None }
    }

    pub(super) fn scalar<'m>(lowerer: &FunctionLowerer<'_, 'm>, ty: Type<'m>) -> Self {
        let class = match ty.kind() {
            TypeKind::Integer(_) => Class::Integer,
            TypeKind::Pointer(_) => Class::Pointer,
            TypeKind::Struct | TypeKind::Array(_) | TypeKind::Vector(_) => Class::Bytes,
            _ => Class::Float,
        };
        let bytes = lowerer.module.types.layout.bits(ty).div_ceil(8);
        Self { bytes: Some(bytes), class, bits: None }
    }

    pub(super) fn of_load<'m>(lowerer: &FunctionLowerer<'_, 'm>, load: Value<'m>) -> Self {
        Self { bits: bit_fields::of_load(load), ..Self::scalar(lowerer, load.ty()) }
    }

    pub(super) fn of_store<'m>(lowerer: &FunctionLowerer<'_, 'm>, _: Value<'m>, value: Value<'m>) -> Self {
        Self { bits: bit_fields::of_store(value), ..Self::scalar(lowerer, value.ty()) }
    }
}

/// A place with the declared type of what lies there.
pub(super) struct Located {
    pub(super) place: Place,
    ty: Option<DebugTypeId>,
}

impl Located {
    pub(super) fn as_loaded(&self) -> LoadedFrom {
        LoadedFrom { place: self.place.clone(), ty: self.ty }
    }

    pub(super) fn is_named(&self) -> bool {
        !matches!(self.place.base, PlaceBase::Unnamed(_))
    }
}

/// A step from the base to the address.
enum Step<'m> {
    Bytes(i64),
    Field(i64),
    Index(Value<'m>, i64),
}

/// A path while it is being walked: what lies at the present point, and bytes not yet explained.
struct Walk {
    place: Place,
    ty: Option<DebugTypeId>,
    offset: i64,
    /// The point is what a pointer points to: it may be an element of an array that no type tells of.
    pointed_to: bool,
}

/// Longer chains say nothing to a reader.
const LONGEST_PATH: usize = 12;

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn locate(&mut self, pointer: Value<'m>, extent: Extent) -> Located {
        let mut steps = Vec::new();
        let mut base = pointer;
        loop {
            let is_gep =
                base.opcode() == Some(LLVMOpcode::LLVMGetElementPtr) || base.const_kind_of_gep() == Some(());
            let mut own = Vec::new();
            if is_gep
                && walk_gep(self.module.types.layout, base, |step, index| own.push(explain(step, index)))
                    .is_ok()
            {
                own.reverse();
                steps.extend(own);
            } else if base.opcode() != Some(LLVMOpcode::LLVMBitCast) {
                break;
            }
            let Some(next) = base.operand(0) else { break };
            base = next;
        }
        steps.reverse();
        let mut walk = self.start(base);
        for step in steps {
            self.take(&mut walk, step);
        }
        self.settle(&mut walk, extent);
        if walk.place.steps.len() > LONGEST_PATH {
            let reg = self.register_of(pointer).unwrap_or(raddle_ir::Reg(0));
            return Located {
                place: Place { base: PlaceBase::Unnamed(reg), steps: vec![PlaceStep::Deref] },
                ty: walk.ty,
            };
        }
        Located { place: walk.place, ty: walk.ty }
    }

    pub(super) fn register_debug_type(&self, value: Value<'m>) -> Option<DebugTypeId> {
        self.register_of(value).and_then(|reg| self.register_type(reg))
    }

    /// Where a path begins.
    fn start(&mut self, base: Value<'m>) -> Walk {
        let object =
            |base, ty| Walk { place: Place { base, steps: Vec::new() }, ty, offset: 0, pointed_to: false };
        if let Ok((GlobalRef::Variable(id) | GlobalRef::ThreadLocal(id), bytes)) =
            self.module.global_ref(base)
        {
            let ty = self.module.program.globals[id].debug_type;
            return Walk { offset: bytes, ..object(PlaceBase::Global(id), ty) };
        }
        if base.opcode() == Some(LLVMOpcode::LLVMAlloca) {
            let reg = self.register_of(base).unwrap_or(raddle_ir::Reg(0));
            return match self.homes.get(&base) {
                Some(variable) => object(PlaceBase::Local(variable.name), variable.ty),
                None => object(PlaceBase::Unnamed(reg), None),
            };
        }
        if let Some(called) = base.called_value()
            && called.name().starts_with("llvm.threadlocal.address")
            && let Some(&variable) = base.args().first()
            && variable.kind() == ValueKind::GlobalVariable
        {
            return self.start(variable);
        }
        // A by-value parameter is an object of the callee, declared at its address.
        if base.kind() == ValueKind::Argument
            && let Some(variable) = self.homes.get(&base)
        {
            return object(PlaceBase::Local(variable.name), variable.ty);
        }
        let reg = self.register_of(base).unwrap_or(raddle_ir::Reg(0));
        if let Some(variable) = self.variable_of(base) {
            let ty = variable.ty.and_then(|ty| pointee(&self.module.program, ty));
            return follow(
                Place { base: PlaceBase::Value { name: variable.name, reg }, steps: Vec::new() },
                ty,
            );
        }
        if let Some(from) = self.loaded.get(&base).cloned() {
            let ty = from.ty.and_then(|ty| pointee(&self.module.program, ty));
            return follow(from.place, ty);
        }
        follow(Place { base: PlaceBase::Unnamed(reg), steps: Vec::new() }, None)
    }

    fn take(&mut self, walk: &mut Walk, step: Step<'m>) {
        match step {
            Step::Bytes(bytes) => walk.offset += bytes,
            Step::Field(bytes) => {
                self.enter_elements(walk);
                let field = (walk.offset == 0).then(|| self.exact_field(walk.ty, bytes)).flatten();
                walk.offset += bytes;
                if let Some(field) = field {
                    enter_field(walk, &field);
                }
            }
            Step::Index(index, scale) => self.index(walk, index, scale),
        }
    }

    /// The ordinary member that begins at this byte of a struct.
    fn exact_field(&self, ty: Option<DebugTypeId>, bytes: i64) -> Option<Field> {
        let program = &self.module.program;
        let DebugType::Record { fields, kind, .. } = &program.debug_types[program.strip(ty?)] else {
            return None;
        };
        if *kind == raddle_ir::RecordKind::Union {
            return None;
        }
        let found = fields.iter().find(|f| f.bit_width.is_none() && f.bit_offset as i64 == bytes * 8);
        found.cloned()
    }

    fn index(&mut self, walk: &mut Walk, index: Value<'m>, scale: i64) {
        // Down to the array whose elements are this large.
        for _ in 0..LONGEST_PATH {
            let Some(ty) = walk.ty else { break };
            let program = &self.module.program;
            if walk.pointed_to && size(program, ty) == Some(scale as u64) {
                break;
            }
            let element = match program.debug_types[program.strip(ty)] {
                DebugType::Array { element, .. } if size(program, element) == Some(scale as u64) => {
                    Some(element)
                }
                _ => None,
            };
            if element.is_some() {
                walk.ty = element;
                break;
            }
            if !self.descend(walk, Extent::object()) {
                walk.ty = None;
            }
        }
        let mut step = self.index_step(index);
        if scale != 0 && walk.offset % scale == 0 {
            let constant = walk.offset / scale;
            walk.offset = 0;
            if constant != 0 {
                step = PlaceStep::IndexAny;
            }
        }
        walk.place.steps.push(step);
        walk.pointed_to = false;
    }

    /// Constant offsets beyond a pointed-to element are indices: `p[2]`.
    fn enter_elements(&mut self, walk: &mut Walk) {
        let Some(ty) = walk.ty else { return };
        let Some(bytes) = size(&self.module.program, ty).filter(|bytes| *bytes > 0) else { return };
        if walk.pointed_to && walk.offset >= bytes as i64 {
            walk.place.steps.push(PlaceStep::Index(walk.offset as u64 / bytes));
            walk.offset %= bytes as i64;
            walk.pointed_to = false;
        }
    }

    /// Explains the remaining bytes and goes down to what the access is about.
    fn settle(&mut self, walk: &mut Walk, extent: Extent) {
        self.enter_elements(walk);
        for _ in 0..LONGEST_PATH {
            let Some(ty) = walk.ty else { break };
            let whole = size(&self.module.program, ty);
            let deep_enough = match extent.bytes {
                None => walk.offset == 0,
                Some(bytes) if extent.class == Class::Bytes => {
                    walk.offset == 0 && whole.is_some_and(|whole| whole <= bytes)
                }
                Some(_) => false,
            };
            if deep_enough || !self.descend(walk, extent) {
                break;
            }
        }
        if walk.offset != 0 {
            walk.place.steps.push(PlaceStep::Offset(walk.offset));
            walk.ty = None;
        }
    }

    /// One level down, to the member or element that holds the present offset.
    fn descend(&mut self, walk: &mut Walk, extent: Extent) -> bool {
        let program = &self.module.program;
        let Some(ty) = walk.ty else { return false };
        if walk.offset < 0 {
            return false;
        }
        match &program.debug_types[program.strip(ty)] {
            DebugType::Array { element, .. } => {
                let element = *element;
                let Some(bytes) = size(program, element).filter(|bytes| *bytes > 0) else { return false };
                walk.place.steps.push(PlaceStep::Index(walk.offset as u64 / bytes));
                walk.offset %= bytes as i64;
                walk.ty = Some(element);
                true
            }
            DebugType::Record { fields, .. } => {
                let fields = fields.clone();
                match self.member(&fields, walk.offset as u64, extent) {
                    Some(field) => {
                        enter_field(walk, &field);
                        true
                    }
                    None => false,
                }
            }
            _ => false,
        }
    }

    fn member(&self, fields: &[Field], offset: u64, extent: Extent) -> Option<Field> {
        let at = offset * 8;
        if let Some((first, _)) = extent.bits {
            let exact = |f: &&Field| f.bit_width.is_some() && f.bit_offset == at + u64::from(first);
            if let Some(field) = fields.iter().find(exact) {
                return Some(field.clone());
            }
        }
        let bits = |field: &Field| match field.bit_width {
            Some(width) => Some(u64::from(width)),
            None => size(&self.module.program, field.ty).map(|bytes| bytes * 8),
        };
        let holds = |field: &&Field| {
            let end = bits(field).map(|bits| field.bit_offset + bits.max(1));
            let width = extent.bytes.unwrap_or(1) * 8;
            match field.bit_width {
                Some(_) => field.bit_offset < at + width && end.is_some_and(|end| end > at),
                None => field.bit_offset <= at && end.is_none_or(|end| at < end),
            }
        };
        let candidates: Vec<&Field> = fields.iter().filter(holds).collect();
        let fits = |field: &&&Field| self.fits(field.ty, extent);
        candidates.iter().find(fits).or_else(|| candidates.first()).map(|field| (**field).clone())
    }

    /// Whether a member is of the size and kind of the access.
    fn fits(&self, ty: DebugTypeId, extent: Extent) -> bool {
        let program = &self.module.program;
        let same_size = extent.bytes.is_none() || size(program, ty) == extent.bytes;
        let class = match &program.debug_types[program.strip(ty)] {
            DebugType::Scalar { name, .. } => {
                let name = program.text(*name);
                if name.contains("float") || name.contains("double") { Class::Float } else { Class::Integer }
            }
            DebugType::Pointer { .. } => Class::Pointer,
            _ => Class::Bytes,
        };
        same_size && (class == extent.class || extent.class == Class::Bytes)
    }
}

fn explain<'m>(step: GepStep<'m>, index: GepIndex) -> Step<'m> {
    match step {
        GepStep::Bytes(bytes) if index == GepIndex::Field => Step::Field(bytes),
        GepStep::Bytes(bytes) => Step::Bytes(bytes),
        GepStep::Index(value, scale) => Step::Index(value, scale),
    }
}

fn follow(mut place: Place, ty: Option<DebugTypeId>) -> Walk {
    place.steps.push(PlaceStep::Deref);
    Walk { place, ty, offset: 0, pointed_to: true }
}

fn enter_field(walk: &mut Walk, field: &Field) {
    if let Some(name) = field.name {
        walk.place.steps.push(PlaceStep::Field(name));
    }
    walk.offset -= (field.bit_offset / 8) as i64;
    // A bit-field may begin behind the first byte of its unit.
    if field.bit_width.is_some() {
        walk.offset = 0;
    }
    walk.ty = Some(field.ty);
    walk.pointed_to = false;
}

impl<'m> Value<'m> {
    fn const_kind_of_gep(self) -> Option<()> {
        (self.const_kind() == ConstKind::Expression(LLVMOpcode::LLVMGetElementPtr)).then_some(())
    }
}
