//! Declared types, as far as memory from outside is made of them.

use super::pattern;
use crate::fast_hash::FastMap;
use raddle_base::Symbol;
use raddle_facts::Offsets;
use raddle_ir::{DebugType, DebugTypeId, FunctionId, Program, SymbolRef};

/// Nesting of types that is followed.
const MOST_NESTED: usize = 16;

/// Levels of pointers to pointers for which copies of a type are one.
const MOST_POINTERS: usize = 4;

/// Places of one type in another, before they are merged.
const MOST_PLACES: usize = 16;

pub(crate) struct Types {
    /// The first record of a name.
    records: FastMap<Symbol, DebugTypeId>,
    /// The first scalar of a size, characters apart from others.
    scalars: FastMap<(bool, u64), DebugTypeId>,
    /// The first pointer to a type.
    pointers: FastMap<DebugTypeId, DebugTypeId>,
    void: Option<DebugTypeId>,
    /// Functions that initialisers put into a field of a record.
    functions: FastMap<(DebugTypeId, u64), Vec<FunctionId>>,
}

impl Types {
    pub(crate) fn new(program: &Program) -> Types {
        let mut types = Types {
            records: FastMap::default(),
            scalars: FastMap::default(),
            pointers: FastMap::default(),
            void: None,
            functions: FastMap::default(),
        };
        for (id, ty) in program.debug_types.iter() {
            match ty {
                DebugType::Record { name: Some(name), .. } => {
                    types.records.entry(*name).or_insert(id);
                }
                DebugType::Scalar { bytes, .. } => {
                    types.scalars.entry((is_character(program, id), *bytes)).or_insert(id);
                }
                DebugType::Void => types.void = types.void.or(Some(id)),
                _ => {}
            }
        }
        // Each round makes one more level of pointers to pointers the same for all copies.
        for _ in 0..MOST_POINTERS {
            for (id, ty) in program.debug_types.iter() {
                if let DebugType::Pointer { to } = ty {
                    let to = types.canonical(program, *to);
                    types.pointers.entry(to).or_insert(id);
                }
            }
        }
        for global in program.globals.values() {
            let (Some(ty), Some(init)) = (global.debug_type, &global.init) else { continue };
            for relocation in &init.relocations {
                if let SymbolRef::Function(function) = relocation.target
                    && let Some((record, offset)) = innermost(program, ty, relocation.offset, 0)
                {
                    let record = types.canonical(program, record);
                    let known = types.functions.entry((record, offset)).or_default();
                    if !known.contains(&function) {
                        known.push(function);
                    }
                }
            }
        }
        types
    }

    /// One type for all copies of it, without typedefs and qualifiers: the first record of its name, the first pointer to its pointee, the
    /// first number of its size.
    pub(crate) fn canonical(&self, program: &Program, ty: DebugTypeId) -> DebugTypeId {
        let ty = program.strip(ty);
        match &program.debug_types[ty] {
            DebugType::Record { name: Some(name), .. } | DebugType::Unknown { name: Some(name) } => {
                self.records.get(name).copied().unwrap_or(ty)
            }
            DebugType::Void => self.void.unwrap_or(ty),
            DebugType::Scalar { bytes, .. } => {
                self.scalars.get(&(is_character(program, ty), *bytes)).copied().unwrap_or(ty)
            }
            DebugType::Pointer { to } => {
                let to = self.canonical(program, *to);
                self.pointers.get(&to).copied().unwrap_or(ty)
            }
            _ => ty,
        }
    }

    /// The type that memory from outside has when a pointer to this type points to it; `None`: it is unknown.
    pub(crate) fn outside(&self, program: &Program, ty: DebugTypeId) -> Option<DebugTypeId> {
        let ty = self.canonical(program, element(program, ty));
        match program.debug_types[ty] {
            DebugType::Void | DebugType::Unknown { .. } => self.void,
            _ => Some(ty),
        }
    }

    /// Types that can be pointed to inside a value of this type, with their places; not the type itself.
    pub(super) fn parts(&self, program: &Program, ty: DebugTypeId) -> Vec<(DebugTypeId, Offsets)> {
        let mut found = Vec::new();
        self.add_parts(program, ty, Offsets::exact(0), 0, &mut found);
        found.sort_unstable();
        found.dedup();
        let mut few = Vec::new();
        for same in found.chunk_by(|a, b| a.0 == b.0) {
            match same {
                [(ty, first), rest @ ..] if same.len() > MOST_PLACES => {
                    let all = rest.iter().fold(*first, |all, (_, at)| pattern::merged(all, *at));
                    few.push((*ty, all));
                }
                _ => few.extend_from_slice(same),
            }
        }
        few
    }

    fn add_parts(
        &self,
        program: &Program,
        ty: DebugTypeId,
        at: Offsets,
        depth: usize,
        found: &mut Vec<(DebugTypeId, Offsets)>,
    ) {
        if depth > MOST_NESTED {
            return;
        }
        match &program.debug_types[program.strip(ty)] {
            DebugType::Array { element: one, count } => {
                let Some(bytes) = size_of(program, *one, depth).filter(|bytes| *bytes > 0) else { return };
                let at = pattern::sum(at, elements(bytes, *count));
                if !matches!(program.debug_types[program.strip(*one)], DebugType::Array { .. }) {
                    found.extend(self.outside(program, *one).map(|ty| (ty, at)));
                }
                self.add_parts(program, *one, at, depth + 1, found);
            }
            DebugType::Record { fields, .. } => {
                for field in fields.iter().filter(|field| field.bit_width.is_none()) {
                    let at = pattern::sum(at, Offsets::exact((field.bit_offset / 8) as i64));
                    if !matches!(program.debug_types[program.strip(field.ty)], DebugType::Array { .. }) {
                        found.extend(self.outside(program, field.ty).map(|ty| (ty, at)));
                    }
                    self.add_parts(program, field.ty, at, depth + 1, found);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn untyped(&self) -> Option<DebugTypeId> {
        self.void
    }

    /// Functions that the program itself puts into this field.
    pub(super) fn functions_in(&self, record: DebugTypeId, offset: u64) -> &[FunctionId] {
        self.functions.get(&(record, offset)).map_or(&[], Vec::as_slice)
    }

    /// The pointee types of pointers in a value of this type.
    pub(crate) fn pointees(program: &Program, ty: DebugTypeId) -> Vec<DebugTypeId> {
        let mut fields = Vec::new();
        pointer_fields(program, ty, None, Offsets::exact(0), 0, &mut fields);
        fields.into_iter().map(|field| field.to).collect()
    }
}

/// A pointer inside a type.
pub(super) struct PointerField {
    pub at: Offsets,
    pub to: DebugTypeId,
    /// The innermost record and the offset in it.
    pub owner: Option<(DebugTypeId, u64)>,
}

pub(super) fn pointer_fields(
    program: &Program,
    ty: DebugTypeId,
    owner: Option<(DebugTypeId, u64)>,
    at: Offsets,
    depth: usize,
    found: &mut Vec<PointerField>,
) {
    if depth > MOST_NESTED {
        return;
    }
    let ty = program.strip(ty);
    match &program.debug_types[ty] {
        DebugType::Pointer { to } => found.push(PointerField { at, to: *to, owner }),
        DebugType::Array { element, count } => {
            let Some(bytes) = size_of(program, *element, depth).filter(|bytes| *bytes > 0) else { return };
            let at = pattern::sum(at, elements(bytes, *count));
            pointer_fields(program, *element, owner, at, depth + 1, found);
        }
        DebugType::Record { fields, .. } => {
            for field in fields.iter().filter(|field| field.bit_width.is_none()) {
                let offset = field.bit_offset / 8;
                let at = pattern::sum(at, Offsets::exact(offset as i64));
                pointer_fields(program, field.ty, Some((ty, offset)), at, depth + 1, found);
            }
        }
        DebugType::Scalar { .. }
        | DebugType::Typedef { .. }
        | DebugType::Qualified { .. }
        | DebugType::Function
        | DebugType::Void
        | DebugType::Unknown { .. } => {}
    }
}

/// `char` in any signedness: an lvalue of such a type may access any object (C11 6.5, paragraph 7).
pub(super) fn is_character(program: &Program, ty: DebugTypeId) -> bool {
    match &program.debug_types[program.strip(ty)] {
        DebugType::Scalar { name, bytes: 1 } => program.text(*name).contains("char"),
        _ => false,
    }
}

/// The type of the elements of an array, of arrays and so on; any other type itself.
fn element(program: &Program, ty: DebugTypeId) -> DebugTypeId {
    let mut ty = program.strip(ty);
    for _ in 0..MOST_NESTED {
        let DebugType::Array { element, .. } = program.debug_types[ty] else { break };
        ty = program.strip(element);
    }
    ty
}

/// Offsets of the elements of an array.
fn elements(bytes: u64, count: Option<u64>) -> Offsets {
    let last = count.and_then(|count| i64::try_from(count.saturating_sub(1).saturating_mul(bytes)).ok());
    pattern::normal(Offsets { anchor: 0, stride: bytes, low: 0, high: last.unwrap_or(i64::MAX) })
}

pub(super) fn size_of(program: &Program, ty: DebugTypeId, depth: usize) -> Option<u64> {
    if depth > MOST_NESTED {
        return None;
    }
    match &program.debug_types[program.strip(ty)] {
        DebugType::Scalar { bytes, .. } | DebugType::Record { bytes, .. } => Some(*bytes),
        DebugType::Pointer { .. } => Some(u64::from(program.data_model.pointer_bytes())),
        DebugType::Array { element, count } => size_of(program, *element, depth + 1)?.checked_mul((*count)?),
        _ => None,
    }
}

/// The offset with all array indices left open.
pub(super) fn by_type(program: &Program, ty: DebugTypeId, offset: u64, depth: usize) -> Offsets {
    let exact = Offsets::exact(offset as i64);
    if depth > MOST_NESTED {
        return exact;
    }
    match &program.debug_types[program.strip(ty)] {
        DebugType::Array { element, count } => match size_of(program, *element, depth) {
            Some(bytes) if bytes > 0 => {
                let inside = by_type(program, *element, offset % bytes, depth + 1);
                pattern::sum(elements(bytes, *count), inside)
            }
            _ => exact,
        },
        DebugType::Record { fields, .. } => {
            let field = fields.iter().find(|field| {
                let start = field.bit_offset / 8;
                let bytes = size_of(program, field.ty, depth).unwrap_or(u64::MAX);
                start <= offset && offset - start < bytes
            });
            match field {
                Some(field) => {
                    let start = field.bit_offset / 8;
                    let inside = by_type(program, field.ty, offset - start, depth + 1);
                    pattern::sum(Offsets::exact(start as i64), inside)
                }
                None => exact,
            }
        }
        _ => exact,
    }
}

/// The innermost record that has a field at this offset.
fn innermost(program: &Program, ty: DebugTypeId, offset: u64, depth: usize) -> Option<(DebugTypeId, u64)> {
    if depth > MOST_NESTED {
        return None;
    }
    let ty = program.strip(ty);
    match &program.debug_types[ty] {
        DebugType::Array { element, .. } => {
            let bytes = size_of(program, *element, depth).filter(|bytes| *bytes > 0)?;
            innermost(program, *element, offset % bytes, depth + 1)
        }
        DebugType::Record { fields, .. } => fields.iter().find_map(|field| {
            let start = field.bit_offset / 8;
            let bytes = size_of(program, field.ty, depth).unwrap_or(0);
            if start > offset || offset - start >= bytes {
                return None;
            }
            // In an array of pointers all elements count as its first.
            innermost(program, field.ty, offset - start, depth + 1).or(Some((ty, start)))
        }),
        _ => None,
    }
}
