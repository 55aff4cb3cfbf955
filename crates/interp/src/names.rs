//! What programmers call objects and their parts: `queue.items[3].count`.

use crate::machine::Interp;
use crate::memory::{Name, Record};
use raddle_event::{Addr, Loc};
use raddle_ir::{DebugType, DebugTypeId, Field, Program, RecordKind};
use raddle_machine::ObjectKind;

pub(crate) fn object_name(interp: &Interp, record: &Record) -> String {
    let program = interp.program();
    match record.name {
        Name::Global(id) => {
            let global = &program.globals[id];
            program.text(global.name.unwrap_or(global.symbol)).to_owned()
        }
        Name::Local(Some(name)) => program.text(name).to_owned(),
        Name::Local(None) => "a local object".to_owned(),
        Name::Label(label) => interp.memory.records.label_text(label).to_owned(),
    }
}

pub(crate) fn place_name(interp: &Interp, loc: Loc) -> String {
    if loc.start() == Addr::ATOMIC_SECTION {
        return "atomic section".to_owned();
    }
    let Some(record) = interp.memory.records.get(loc.object) else { return String::new() };
    let mut text = object_name(interp, record);
    let program = interp.program();
    let (offset, len) = (u64::from(loc.offset), u64::from(loc.len));
    let Some(ty) = record.ty else {
        if offset > 0 || len < record.size && record.kind == ObjectKind::Heap {
            text.push_str(&format!("+{offset}"));
        }
        return text;
    };
    let (mut offset, heap) = (offset, record.kind == ObjectKind::Heap);
    if heap {
        // A heap block is an array of what its pointer points to.
        let element = type_bytes(program, ty);
        if element > 0 && record.size > element {
            text.push_str(&format!("[{}]", offset / element));
            offset %= element;
        }
    }
    path(program, ty, offset, len, &mut text);
    text
}

/// Walks from a type down to the part that the bytes cover.
fn path(program: &Program, ty: DebugTypeId, offset: u64, len: u64, text: &mut String) {
    let ty = program.strip(ty);
    match &program.debug_types[ty] {
        DebugType::Array { element, .. } => {
            let bytes = type_bytes(program, *element);
            if bytes == 0 || len > bytes {
                return;
            }
            text.push_str(&format!("[{}]", offset / bytes));
            path(program, *element, offset % bytes, len, text);
        }
        DebugType::Record { kind, bytes, fields, .. } => {
            let whole = len >= *bytes && offset == 0 && fields.len() != 1;
            if whole && *kind != RecordKind::Union {
                return;
            }
            let (start, end) = (offset * 8, (offset + len) * 8);
            let inside: Vec<_> = fields
                .iter()
                .filter(|field| {
                    let width = match field.bit_width {
                        Some(bits) => u64::from(bits),
                        None => type_bytes(program, field.ty).max(1) * 8,
                    };
                    field.bit_offset < end && field.bit_offset + width > start
                })
                .collect();
            let chosen = match (kind, &inside[..]) {
                (_, [only]) => only,
                // The first member with a part just as large as the access says it best.
                (RecordKind::Union, [first, ..]) => {
                    let fits =
                        |field: &&&Field| is_part(program, field.ty, offset - field.bit_offset / 8, len);
                    match inside.iter().filter(|f| f.bit_offset / 8 <= offset).find(fits) {
                        Some(member) => member,
                        None if whole => return,
                        None => first,
                    }
                }
                // An access of several bit-fields, or of a part of the struct: name the first of them.
                (_, [first, ..]) if first.bit_width.is_some() => first,
                _ => return,
            };
            if let Some(name) = chosen.name {
                text.push('.');
                text.push_str(program.text(name));
            }
            if chosen.bit_width.is_none() {
                path(program, chosen.ty, (start - chosen.bit_offset.min(start)) / 8, len, text);
            }
        }
        _ => {}
    }
}

/// Whether a scalar of exactly this size lies at this offset.
fn is_part(program: &Program, ty: DebugTypeId, offset: u64, len: u64) -> bool {
    match &program.debug_types[program.strip(ty)] {
        DebugType::Array { element, .. } => {
            let bytes = type_bytes(program, *element);
            bytes > 0 && offset < type_bytes(program, ty) && is_part(program, *element, offset % bytes, len)
        }
        DebugType::Record { fields, .. } => fields.iter().any(|field| {
            let start = field.bit_offset / 8;
            field.bit_width.is_none() && start <= offset && is_part(program, field.ty, offset - start, len)
        }),
        _ => offset == 0 && type_bytes(program, ty) == len,
    }
}

pub(crate) fn type_bytes(program: &Program, ty: DebugTypeId) -> u64 {
    match &program.debug_types[program.strip(ty)] {
        DebugType::Scalar { bytes, .. } | DebugType::Record { bytes, .. } => *bytes,
        DebugType::Pointer { .. } => u64::from(program.data_model.pointer_bytes()),
        DebugType::Array { element, count } => type_bytes(program, *element) * count.unwrap_or(0),
        _ => 0,
    }
}
