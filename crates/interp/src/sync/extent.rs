//! How many bytes a synchronisation object has: what its type says where the debug information names it, else what it has in glibc, else the
//! least that any has. A lock of the program's own (`raddle.toml`) has no type of its own: its address may be that of what it protects.

use super::LEAST;
use super::birth::Expected;
use crate::exec::Cx;
use crate::names::type_bytes;
use raddle_ir::{DebugType, DebugTypeId, Program, RecordKind};

/// Names of types, pthread's, C11's and the kernel's. A structure of the kernel has its tag, the others are typedefs.
const NAMES: [&str; 17] = [
    "pthread_mutex_t",
    "pthread_cond_t",
    "pthread_rwlock_t",
    "pthread_barrier_t",
    "pthread_spinlock_t",
    "pthread_once_t",
    "sem_t",
    "mtx_t",
    "cnd_t",
    "once_flag",
    "spinlock_t",
    "raw_spinlock_t",
    "rwlock_t",
    "mutex",
    "rw_semaphore",
    "semaphore",
    "completion",
];

/// Nesting of types that is looked into.
const DEEPEST: u32 = 32;

impl Cx<'_> {
    /// Bytes of the object at this address.
    pub(super) fn extent(&self, address: u64, expected: Expected) -> u32 {
        let Some(at) = self.memory.find(address, 1) else { return LEAST };
        let object = self.memory.object(at.slot);
        let room = object.size.saturating_sub(at.offset as u64);
        let known = expected.bytes(self.memory.layout.pointer_bytes == 8) as u64;
        let ty = self.memory.records.get(object.id).and_then(|record| record.ty);
        let named = ty.and_then(|ty| {
            let program = &self.image.program;
            // A heap block is an array of what its pointer points to.
            let whole = type_bytes(program, ty).max(1);
            named_at(program, ty, at.offset as u64 % whole, 0)
        });
        let bytes = named.unwrap_or(known).max(u64::from(LEAST)).min(room);
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}

/// The size of the outermost synchronisation object that starts at this offset of a type.
fn named_at(program: &Program, ty: DebugTypeId, offset: u64, depth: u32) -> Option<u64> {
    if depth > DEEPEST {
        return None;
    }
    let is_one = |name| offset == 0 && NAMES.contains(&program.text(name));
    match &program.debug_types[ty] {
        DebugType::Typedef { name, .. } if is_one(*name) => Some(type_bytes(program, ty)),
        DebugType::Record { name: Some(name), bytes, .. } if is_one(*name) => Some(*bytes),
        DebugType::Typedef { to, .. } | DebugType::Qualified { to, .. } => {
            named_at(program, *to, offset, depth + 1)
        }
        DebugType::Array { element, .. } => {
            let bytes = type_bytes(program, *element);
            if bytes == 0 { None } else { named_at(program, *element, offset % bytes, depth + 1) }
        }
        DebugType::Record { kind, fields, .. } => {
            let holding = fields.iter().filter(|field| {
                let start = field.bit_offset / 8;
                field.bit_width.is_none()
                    && start <= offset
                    && offset < start + type_bytes(program, field.ty).max(1)
            });
            let mut inside = holding
                .filter_map(|field| named_at(program, field.ty, offset - field.bit_offset / 8, depth + 1));
            // Members of a union may be objects of several kinds; the longest errs towards `unknown`.
            match kind {
                RecordKind::Union => inside.max(),
                RecordKind::Struct | RecordKind::Class => inside.next(),
            }
        }
        _ => None,
    }
    .filter(|bytes| *bytes > 0)
}
