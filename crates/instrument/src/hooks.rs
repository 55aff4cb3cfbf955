//! The functions of the runtime that instrumented code calls.
//!
//! Checks and the shadow stack are declared to touch only memory that the program cannot see: the optimiser may move the program's
//! own accesses across them and drop those, but keeps every check, and keeps it on its side of any call that may synchronise.
//! Atomics and fences are declared without that: they touch all memory.

use crate::llvm::{Module, Type, Value};

pub(crate) const PREFIX: &str = "__raddle_";

/// What the runtime's own version of a library function is called.
pub(crate) const WRAPPED: &str = "__raddle_w_";

/// The name of a hook without its prefix; `None` for other functions, wrapped library functions among them.
pub(crate) fn hook_name(name: &str) -> Option<&str> {
    if name.starts_with(WRAPPED) { None } else { name.strip_prefix(PREFIX) }
}

/// The name that a library function has in the library.
pub(crate) fn library_name(name: &str) -> &str {
    name.strip_prefix(WRAPPED).unwrap_or(name)
}

pub(crate) struct Hooks {
    reads: [Value; 5],
    writes: [Value; 5],
    pub(crate) read_bytes: Value,
    pub(crate) write_bytes: Value,
    pub(crate) read_walk: Value,
    pub(crate) write_walk: Value,
    pub(crate) enter: Value,
    pub(crate) exit: Value,
    pub(crate) again: Value,
    pub(crate) call: Value,
    pub(crate) atomic_enter: Value,
    pub(crate) atomic_leave: Value,
    pub(crate) fence: Value,
    /// Around loops that wait for a condition.
    pub(crate) loop_begin: Value,
    pub(crate) loop_end: Value,
}

/// Sizes with a check of their own.
pub(crate) const SIZES: [u64; 5] = [1, 2, 4, 8, 16];
/// `memory(inaccessiblemem: readwrite)` as LLVM 19 encodes it: two bits for each kind of memory, the second kind.
const INACCESSIBLE: u64 = 3 << 2;

impl Hooks {
    pub(crate) fn declare(module: &Module) -> Hooks {
        let (void, pointer) = (module.void(), module.pointer());
        let (i32, i64) = (module.int(32), module.int(64));
        let check = |name: &str, result: Type, parameters: &[Type]| {
            let function = module.declare(&format!("{PREFIX}{name}"), result, parameters);
            for attribute in ["nounwind", "willreturn"] {
                module.set_attribute(function, None, attribute, 0);
            }
            module.set_attribute(function, None, "memory", INACCESSIBLE);
            for (index, parameter) in parameters.iter().enumerate() {
                if parameter.is_pointer() {
                    module.set_attribute(function, Some(index as u32), "nocapture", 0);
                }
            }
            function
        };
        let barrier = |name: &str, result: Type, parameters: &[Type]| {
            let function = module.declare(&format!("{PREFIX}{name}"), result, parameters);
            module.set_attribute(function, None, "nounwind", 0);
            function
        };
        let sized = |kind: &str| SIZES.map(|size| check(&format!("{kind}{size}"), void, &[pointer, i32]));
        Hooks {
            reads: sized("read"),
            writes: sized("write"),
            read_bytes: check("read_n", void, &[pointer, i64, i32]),
            write_bytes: check("write_n", void, &[pointer, i64, i32]),
            read_walk: check("read_walk", void, &[pointer, i64, i64, i32, i32]),
            write_walk: check("write_walk", void, &[pointer, i64, i64, i32, i32]),
            enter: check("enter", pointer, &[i32]),
            exit: check("exit", void, &[pointer]),
            again: check("again", void, &[pointer]),
            call: check("call", void, &[i32]),
            atomic_enter: barrier("atomic_enter", pointer, &[pointer, i32, i32, i32, i32, i32]),
            atomic_leave: barrier("atomic_leave", void, &[pointer, i32]),
            fence: barrier("fence", void, &[i32, i32]),
            loop_begin: check("loop_begin", void, &[pointer, pointer, i32]),
            loop_end: check("loop_end", void, &[i32]),
        }
    }

    /// Which argument of a hook is a site.
    pub(crate) fn site_position(&self, hook: Value) -> Option<u32> {
        let at = |position: u32, hooks: &[Value]| hooks.contains(&hook).then_some(position);
        at(1, &self.reads)
            .or(at(1, &self.writes))
            .or(at(2, &[self.read_bytes, self.write_bytes, self.loop_begin]))
            .or(at(4, &[self.read_walk, self.write_walk]))
            .or(at(0, &[self.enter, self.call, self.loop_end]))
            .or(at(5, &[self.atomic_enter]))
            .or(at(1, &[self.fence]))
    }

    /// The check for so many bytes, if there is a special one.
    pub(crate) fn sized(&self, write: bool, bytes: u64) -> Option<Value> {
        let index = SIZES.iter().position(|size| *size == bytes)?;
        Some(if write { self.writes[index] } else { self.reads[index] })
    }
}
