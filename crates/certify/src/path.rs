//! From an offset in a global to the member there: `accounts[1].lock`.

use raddle_base::Symbol;
use raddle_ir::{DebugType, DebugTypeId, Program};
use std::fmt::Write;

/// Types that are one thing to the programmer, whatever they are made of.
const WHOLE: [&str; 16] = [
    "pthread_mutex_t",
    "pthread_rwlock_t",
    "pthread_spinlock_t",
    "pthread_cond_t",
    "pthread_barrier_t",
    "pthread_once_t",
    "sem_t",
    "mtx_t",
    "cnd_t",
    "once_flag",
    "spinlock_t",
    "raw_spinlock_t",
    "rwlock_t",
    "mutex",
    "semaphore",
    "rw_semaphore",
];

/// The path from an object of this type to the member at `offset`; descends no further than a member called `last`.
pub(crate) fn member(program: &Program, ty: DebugTypeId, offset: u64, last: Option<Symbol>) -> String {
    let mut path = String::new();
    let (mut ty, mut offset) = (ty, offset);
    loop {
        if is_whole(program, ty) {
            return path;
        }
        match &program.debug_types[program.strip(ty)] {
            DebugType::Array { element, .. } => {
                let Some(size) = size(program, *element).filter(|size| *size > 0) else { return path };
                let _ = write!(path, "[{}]", offset / size);
                offset %= size;
                ty = *element;
            }
            DebugType::Record { fields, .. } => {
                let found = fields
                    .iter()
                    .filter(|field| field.bit_offset / 8 <= offset)
                    .max_by_key(|field| field.bit_offset);
                let Some(field) = found else { return path };
                if let Some(name) = field.name {
                    let _ = write!(path, ".{}", program.text(name));
                }
                offset -= field.bit_offset / 8;
                ty = field.ty;
                if field.name.is_some() && field.name == last {
                    return path;
                }
            }
            _ => return path,
        }
    }
}

/// Looks through typedefs one by one: `pthread_mutex_t` is a typedef of a union.
fn is_whole(program: &Program, mut ty: DebugTypeId) -> bool {
    loop {
        let (name, to) = match &program.debug_types[ty] {
            DebugType::Typedef { name, to } => (Some(*name), *to),
            DebugType::Qualified { to, .. } => (None, *to),
            DebugType::Record { name, .. } => {
                return name.is_some_and(|name| WHOLE.contains(&program.text(name)));
            }
            _ => return false,
        };
        if name.is_some_and(|name| WHOLE.contains(&program.text(name))) {
            return true;
        }
        ty = to;
    }
}

fn size(program: &Program, ty: DebugTypeId) -> Option<u64> {
    match &program.debug_types[program.strip(ty)] {
        DebugType::Scalar { bytes, .. } | DebugType::Record { bytes, .. } => Some(*bytes),
        DebugType::Pointer { .. } => Some(u64::from(program.data_model.pointer_bytes())),
        DebugType::Array { element, count } => size(program, *element)?.checked_mul((*count)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::member;
    use raddle_ir::{DebugTypeId, parse};

    #[test]
    fn members_by_offset() {
        let program = parse(
            r#"raddle-ir 1
model LP64
type t0 = scalar "int" 4
type t1 = union 40 (0 t4 name "__data", 0 t0 name "__align")
type t2 = typedef "pthread_mutex_t" t1
type t3 = struct 48 name "account" (0 t2 name "lock", 320 t0 name "balance")
type t4 = struct 40 name "__pthread_mutex_s" (0 t0 name "__lock", 32 t0 name "__count")
type t5 = array t3 2
type t6 = struct 8 name "own" (0 t0 name "word")
type t7 = struct 104 (0 t5 name "all", 768 t6 name "guard")
"#,
        )
        .unwrap();
        let at = |ty, offset, last: Option<&str>| {
            member(&program, DebugTypeId(ty), offset, last.and_then(|name| program.strings.lookup(name)))
        };
        assert_eq!(at(2, 0, None), "");
        assert_eq!(at(3, 0, None), ".lock");
        assert_eq!(at(3, 40, None), ".balance");
        assert_eq!(at(5, 48, None), "[1].lock");
        assert_eq!(at(7, 48, None), ".all[1].lock");
        assert_eq!(at(7, 96, None), ".guard.word");
        assert_eq!(at(7, 96, Some("guard")), ".guard");
    }
}
