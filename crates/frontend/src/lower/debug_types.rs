//! Debug types of the compiler as debug types of the program.
//!
//! Types refer to each other in cycles (a list node to itself): a type gets its id first and is described from a work list.

use std::collections::HashMap;

use raddle_ir::{DebugType, DebugTypeId, Field, Program, RecordKind};

use crate::llvm::{Meta, MetaKind};

mod tag {
    pub(super) const ARRAY: u16 = 0x01;
    pub(super) const CLASS: u16 = 0x02;
    pub(super) const ENUMERATION: u16 = 0x04;
    pub(super) const MEMBER: u16 = 0x0d;
    pub(super) const POINTER: u16 = 0x0f;
    pub(super) const REFERENCE: u16 = 0x10;
    pub(super) const STRUCTURE: u16 = 0x13;
    pub(super) const TYPEDEF: u16 = 0x16;
    pub(super) const UNION: u16 = 0x17;
    pub(super) const INHERITANCE: u16 = 0x1c;
    pub(super) const CONST: u16 = 0x26;
    pub(super) const VOLATILE: u16 = 0x35;
    pub(super) const RESTRICT: u16 = 0x37;
    pub(super) const RVALUE_REFERENCE: u16 = 0x42;
    pub(super) const ATOMIC: u16 = 0x47;
}

#[derive(Default)]
pub(super) struct DebugTypes<'m> {
    ids: HashMap<Meta<'m>, DebugTypeId>,
    void: Option<DebugTypeId>,
    /// Records by `struct tag` or `union tag` as LLVM's type names spell them: `struct.item`.
    records: HashMap<String, DebugTypeId>,
    waiting: Vec<(Meta<'m>, DebugTypeId)>,
}

impl<'m> DebugTypes<'m> {
    /// The program's type for a node; `None` is `void`.
    pub(super) fn id(&mut self, program: &mut Program, node: Option<Meta<'m>>) -> DebugTypeId {
        let id = self.reserve(program, node);
        while let Some((node, id)) = self.waiting.pop() {
            let described = self.describe(program, node);
            program.debug_types[id] = described;
        }
        id
    }

    /// The record that an LLVM struct type stands for, by its name.
    pub(super) fn record(&self, struct_name: &str) -> Option<DebugTypeId> {
        let exact = self.records.get(struct_name);
        exact.or_else(|| self.records.get(without_number(struct_name)?)).copied()
    }

    fn reserve(&mut self, program: &mut Program, node: Option<Meta<'m>>) -> DebugTypeId {
        let Some(node) = node else {
            return *self.void.get_or_insert_with(|| program.debug_types.push(DebugType::Void));
        };
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = program.debug_types.push(DebugType::Unknown { name: None });
        self.ids.insert(node, id);
        self.waiting.push((node, id));
        id
    }

    fn describe(&mut self, program: &mut Program, node: Meta<'m>) -> DebugType {
        let name = node.name();
        let symbol = name.as_deref().map(|name| program.strings.intern(name));
        match node.kind() {
            MetaKind::BasicType => match symbol {
                Some(name) => DebugType::Scalar { name, bytes: node.size_in_bits().div_ceil(8) },
                None => DebugType::Unknown { name: None },
            },
            MetaKind::DerivedType => {
                let to = self.reserve(program, node.operand(3));
                match node.tag() {
                    tag::POINTER | tag::REFERENCE | tag::RVALUE_REFERENCE => DebugType::Pointer { to },
                    tag::TYPEDEF => match symbol {
                        Some(name) => DebugType::Typedef { name, to },
                        None => DebugType::Unknown { name: None },
                    },
                    other => match qualifier(other) {
                        Some(word) => DebugType::Qualified { qualifier: program.strings.intern(word), to },
                        None => DebugType::Unknown { name: symbol },
                    },
                }
            }
            MetaKind::CompositeType => self.composite(program, node, name.as_deref()),
            MetaKind::SubroutineType => DebugType::Function,
            _ => DebugType::Unknown { name: symbol },
        }
    }

    fn composite(&mut self, program: &mut Program, node: Meta<'m>, name: Option<&str>) -> DebugType {
        let symbol = name.map(|name| program.strings.intern(name));
        match node.tag() {
            tag::ARRAY => {
                let element = self.reserve(program, node.operand(3));
                self.array(program, node, element)
            }
            tag::ENUMERATION => DebugType::Scalar {
                name: symbol.unwrap_or_else(|| program.strings.intern("enum")),
                bytes: node.size_in_bits().div_ceil(8),
            },
            tag @ (tag::STRUCTURE | tag::UNION | tag::CLASS) => {
                let kind = match tag {
                    tag::STRUCTURE => RecordKind::Struct,
                    tag::UNION => RecordKind::Union,
                    _ => RecordKind::Class,
                };
                let Some(elements) = node.operand(4) else {
                    return DebugType::Unknown { name: symbol };
                };
                let fields = self.fields(program, elements);
                if let (Some(name), Some(&id)) = (name, self.ids.get(&node)) {
                    let word = if kind == RecordKind::Union { "union" } else { "struct" };
                    self.records.entry(format!("{word}.{name}")).or_insert(id);
                }
                DebugType::Record { kind, name: symbol, bytes: node.size_in_bits().div_ceil(8), fields }
            }
            _ => DebugType::Unknown { name: symbol },
        }
    }

    fn fields(&mut self, program: &mut Program, elements: Meta<'m>) -> Vec<Field> {
        let count = elements.operands().len();
        let members = (0..count).filter_map(|index| elements.operand(index));
        members
            .filter(|member| {
                member.kind() == MetaKind::DerivedType
                    && matches!(member.tag(), tag::MEMBER | tag::INHERITANCE)
            })
            .map(|member| Field {
                name: member.name().map(|name| program.strings.intern(&name)),
                ty: self.reserve(program, member.operand(3)),
                bit_offset: member.offset_in_bits(),
                bit_width: member.is_bit_field().then(|| member.size_in_bits() as u32),
            })
            .collect()
    }

    /// One array type for each dimension, the last one innermost.
    fn array(&mut self, program: &mut Program, node: Meta<'m>, element: DebugTypeId) -> DebugType {
        let mut counts: Vec<Option<u64>> = Vec::new();
        if let Some(ranges) = node.operand(4) {
            for range in (0..ranges.operands().len()).filter_map(|index| ranges.operand(index)) {
                let count = range.operand_value(0).and_then(|count| count.int_signed());
                counts.push(count.and_then(|count| u64::try_from(count).ok()));
            }
        }
        let outermost = if counts.is_empty() { None } else { counts.remove(0) };
        let mut element = element;
        for count in counts.into_iter().rev() {
            element = program.debug_types.push(DebugType::Array { element, count });
        }
        DebugType::Array { element, count: outermost }
    }
}

/// Bytes of a type, where they are known.
pub(super) fn size(program: &Program, ty: DebugTypeId) -> Option<u64> {
    match program.debug_types[program.strip(ty)] {
        DebugType::Scalar { bytes, .. } | DebugType::Record { bytes, .. } => Some(bytes),
        DebugType::Pointer { .. } => Some(u64::from(program.data_model.pointer_bytes())),
        DebugType::Array { element, count } => Some(size(program, element)? * count?),
        _ => None,
    }
}

/// What a pointer type points to.
pub(super) fn pointee(program: &Program, ty: DebugTypeId) -> Option<DebugTypeId> {
    match program.debug_types[program.strip(ty)] {
        DebugType::Pointer { to } => Some(to),
        _ => None,
    }
}

/// `struct.item` for `struct.item.3`, which the linker makes of a second type of that name.
fn without_number(name: &str) -> Option<&str> {
    let (stem, number) = name.rsplit_once('.')?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(stem)
}

fn qualifier(tag: u16) -> Option<&'static str> {
    Some(match tag {
        tag::CONST => "const",
        tag::VOLATILE => "volatile",
        tag::RESTRICT => "restrict",
        tag::ATOMIC => "_Atomic",
        _ => return None,
    })
}
