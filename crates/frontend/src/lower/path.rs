//! From a declared type, a byte offset and array indices to the steps a person would write: `.items[i].count`.
//!
//! Offsets decide, not LLVM's field numbers: bit-fields share one, unions have none, and the compiler folds constants.

use std::cmp::Reverse;

use raddle_ir::{DebugType, DebugTypeId, Field, PlaceStep, Program, RecordKind};

use super::debug_types::size;
use super::places::{Class, Extent};

/// What is left to explain of an address below a place.
pub(super) struct Path {
    pub(super) offset: i64,
    /// Computed indices: the step that names each, and the bytes that one of it stands for.
    pub(super) terms: Vec<(PlaceStep, i64)>,
    /// Struct members that the address computation names, so many at least are steps even at offset 0.
    pub(super) members: usize,
    pub(super) extent: Extent,
    /// Bits of the accessed unit that the program looks at: which bit-field is meant.
    pub(super) bits: Option<(u32, u32)>,
}

impl Path {
    /// Appends steps below an object of type `ty`; gives the type of what is reached. `through_pointer`: the object is one that a
    /// pointer points to, so it may be an element of an array.
    pub(super) fn explain(
        mut self,
        program: &Program,
        ty: Option<DebugTypeId>,
        through_pointer: bool,
        steps: &mut Vec<PlaceStep>,
    ) -> Option<DebugTypeId> {
        let mut ty = ty;
        if through_pointer {
            self.element_of_pointer(program, ty, steps)?;
        }
        loop {
            let Some(current) = ty.map(|ty| program.strip(ty)) else {
                return self.unexplained(steps, ty);
            };
            match &program.debug_types[current] {
                DebugType::Array { element, .. } => {
                    if !self.goes_deeper() && !self.is_part(program, current, *element) {
                        return ty;
                    }
                    let Some(stride) = size(program, *element).filter(|stride| *stride > 0) else {
                        return self.unexplained(steps, None);
                    };
                    let (index, rest) = match usize::try_from(self.offset) {
                        Ok(offset) => (offset as u64 / stride, offset as u64 % stride),
                        Err(_) => return self.unexplained(steps, None),
                    };
                    steps.push(match self.take_term(stride as i64) {
                        Some(step) if index == 0 => step,
                        Some(_) => PlaceStep::IndexAny,
                        None => PlaceStep::Index(index),
                    });
                    self.offset = rest as i64;
                    ty = Some(*element);
                }
                DebugType::Record { kind, fields, .. } => {
                    let chosen = self.choose(program, *kind, fields);
                    let part = chosen.is_some_and(|field| self.is_part(program, current, field.ty));
                    if !self.goes_deeper() && !part {
                        return ty;
                    }
                    let Some(field) = chosen else {
                        return self.unexplained(steps, ty);
                    };
                    self.members = self.members.saturating_sub(1);
                    if let Some(name) = field.name {
                        steps.push(PlaceStep::Field(name));
                    }
                    if field.bit_width.is_some() {
                        return Some(field.ty);
                    }
                    self.offset -= (field.bit_offset / 8) as i64;
                    ty = Some(field.ty);
                }
                _ => return self.unexplained(steps, ty),
            }
        }
    }

    /// `p[i]`, `p[3]`: steps over whole objects behind a pointer.
    fn element_of_pointer(
        &mut self,
        program: &Program,
        ty: Option<DebugTypeId>,
        steps: &mut Vec<PlaceStep>,
    ) -> Option<()> {
        let stride = ty.and_then(|ty| size(program, ty)).filter(|stride| *stride > 0);
        let Some(stride) = stride.map(|stride| stride as i64) else { return Some(()) };
        let (index, rest) = (self.offset.div_euclid(stride), self.offset.rem_euclid(stride));
        match self.take_term(stride) {
            Some(step) => {
                steps.push(if index == 0 { step } else { PlaceStep::IndexAny });
                self.offset = rest;
            }
            None if index > 0 => {
                steps.push(PlaceStep::Index(index as u64));
                self.offset = rest;
            }
            None if index < 0 => {
                steps.push(PlaceStep::Offset(self.offset));
                return None;
            }
            None => {}
        }
        Some(())
    }

    fn take_term(&mut self, stride: i64) -> Option<PlaceStep> {
        let position = self.terms.iter().position(|(_, scale)| *scale == stride)?;
        Some(self.terms.remove(position).0)
    }

    fn goes_deeper(&self) -> bool {
        let scalar = matches!(self.extent, Extent::Scalar(..));
        self.offset != 0 || !self.terms.is_empty() || self.members > 0 || scalar
    }

    /// Whether a block of bytes is too short for the whole and fits into the part: `a[0] = b[0]` copies one element.
    fn is_part(&self, program: &Program, whole: DebugTypeId, part: DebugTypeId) -> bool {
        let Extent::Range(Some(bytes)) = self.extent else { return false };
        size(program, whole).is_some_and(|size| size > bytes) && size(program, part) == Some(bytes)
    }

    /// The member that an access of this extent at this offset is in.
    fn choose<'a>(&self, program: &Program, kind: RecordKind, fields: &'a [Field]) -> Option<&'a Field> {
        let start = u64::try_from(self.offset).ok()? * 8;
        if let Some(field) = self.bit_field(fields, start) {
            return Some(field);
        }
        let bytes = match self.extent {
            Extent::Scalar(bytes, _) if self.terms.is_empty() => bytes,
            _ => 0,
        };
        let candidates = fields.iter().filter(|field| {
            let end = match size(program, field.ty) {
                Some(size) => field.bit_offset + size * 8,
                // A flexible array member reaches to the end of the object, a class that is only declared to the next member.
                None => u64::MAX,
            };
            field.bit_width.is_none() && field.bit_offset <= start && start + bytes * 8 <= end && start < end
        });
        if kind != RecordKind::Union {
            return candidates.min_by_key(|field| Reverse(field.bit_offset));
        }
        // Of several views of a union the one with a scalar of exactly this size and kind, else of this size, else the first.
        let all: Vec<&Field> = candidates.collect();
        let Extent::Scalar(bytes, class) = self.extent else { return all.first().copied() };
        let leaf = |field: &&&Field| leaf(program, field.ty, start - field.bit_offset);
        let same_size = |field: &&&Field| leaf(field).is_some_and(|(size, _)| size == bytes);
        let same_kind = |field: &&&Field| leaf(field) == Some((bytes, class));
        all.iter().find(same_kind).or_else(|| all.iter().find(same_size)).or(all.first()).copied()
    }

    fn bit_field<'a>(&self, fields: &'a [Field], start: u64) -> Option<&'a Field> {
        let Extent::Scalar(bytes, _) = self.extent else { return None };
        let (low, width) = self.bits.unwrap_or((0, (bytes * 8) as u32));
        let (low, high) = (start + u64::from(low), start + u64::from(low) + u64::from(width));
        let overlaps = |field: &&Field| {
            let width = u64::from(field.bit_width.unwrap_or(0));
            field.bit_offset < high && low < field.bit_offset + width
        };
        let plain_here = fields.iter().any(|field| field.bit_width.is_none() && field.bit_offset == start);
        if plain_here && self.bits.is_none() {
            return None;
        }
        fields.iter().find(|field| field.bit_width.is_some() && overlaps(field))
    }

    fn unexplained(self, steps: &mut Vec<PlaceStep>, ty: Option<DebugTypeId>) -> Option<DebugTypeId> {
        if !self.terms.is_empty() {
            steps.push(PlaceStep::IndexAny);
            return None;
        }
        if self.offset != 0 {
            steps.push(PlaceStep::Offset(self.offset));
            return None;
        }
        ty
    }
}

/// The steps from an object down to a first member (of a first member …) whose type has this name.
pub(super) fn first_member_named(program: &Program, ty: DebugTypeId, wanted: &str) -> Option<Vec<PlaceStep>> {
    let (mut ty, mut steps) = (ty, Vec::new());
    for _ in 0..16 {
        let mut outer = ty;
        while let DebugType::Typedef { name, to } = program.debug_types[outer] {
            if program.text(name) == wanted {
                return Some(steps);
            }
            outer = to;
        }
        match &program.debug_types[program.strip(ty)] {
            DebugType::Record { fields, .. } => {
                let first = fields.iter().find(|field| field.bit_offset == 0 && field.bit_width.is_none())?;
                steps.extend(first.name.map(PlaceStep::Field));
                ty = first.ty;
            }
            DebugType::Array { element, .. } => {
                steps.push(PlaceStep::Index(0));
                ty = *element;
            }
            _ => return None,
        }
    }
    None
}

/// Size and kind of the scalar at a bit offset of a type.
fn leaf(program: &Program, ty: DebugTypeId, offset: u64) -> Option<(u64, Class)> {
    let (mut ty, mut offset) = (ty, offset);
    for _ in 0..16 {
        match &program.debug_types[program.strip(ty)] {
            DebugType::Record { fields, .. } => {
                let field = fields.iter().find(|field| {
                    let bits = size(program, field.ty).unwrap_or(0) * 8;
                    field.bit_offset <= offset && offset < field.bit_offset + bits
                })?;
                offset -= field.bit_offset;
                ty = field.ty;
            }
            DebugType::Array { element, .. } => {
                let bits = size(program, *element).filter(|bytes| *bytes > 0)? * 8;
                offset %= bits;
                ty = *element;
            }
            leaf => {
                let class = match leaf {
                    DebugType::Pointer { .. } => Class::Pointer,
                    DebugType::Scalar { name, .. } if is_float(program.text(*name)) => Class::Float,
                    _ => Class::Integer,
                };
                return (offset == 0).then(|| size(program, ty)).flatten().map(|bytes| (bytes, class));
            }
        }
    }
    None
}

fn is_float(name: &str) -> bool {
    ["float", "double", "_Float", "__float"].iter().any(|word| name.contains(word))
}
