//! The check calls of a function, read back after the optimiser has simplified the addresses they are given.

use std::collections::HashMap;

use crate::body::Body;
use crate::hooks::Hooks;
use crate::llvm::Value;
use crate::marks::Role;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Bytes(u64),
    Computed(Value),
    /// So many accesses of some bytes each, a stride apart.
    Walk {
        stride: Value,
        count: Value,
        bytes: u32,
    },
}

/// How a hook says what it checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Sized(u64),
    Bytes,
    Walk,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    pub(crate) role: Role,
    pub(crate) address: Value,
    pub(crate) size: Size,
    pub(crate) site: u32,
    pub(crate) call: Value,
    pub(crate) block: usize,
    /// The call's position in its block.
    pub(crate) position: usize,
}

/// All checks of a function, in the order of its code.
pub(crate) fn read(body: &Body, hooks: &HashMap<Value, (Role, Form)>) -> Vec<Check> {
    let mut checks = Vec::new();
    for (block, instructions) in body.instructions.iter().enumerate() {
        for (position, &call) in instructions.iter().enumerate() {
            let hook = call.direct_callee().and_then(|callee| hooks.get(&callee));
            // Merged calls may have a computed site; they stay as they are.
            if let Some((role, form)) = hook
                && let (Some(address), Some((size, site))) = (call.operand(0), size_and_site(call, *form))
            {
                checks.push(Check { role: *role, address, size, site, call, block, position });
            }
        }
    }
    checks
}

fn size_and_site(call: Value, form: Form) -> Option<(Size, u32)> {
    let number = |index: u32| call.operand(index)?.int_signed();
    let (size, site) = match form {
        Form::Sized(bytes) => (Size::Bytes(bytes), number(1)?),
        Form::Bytes => {
            let size = number(1).map_or(Size::Computed(call.operand(1)?), |bytes| Size::Bytes(bytes as u64));
            (size, number(2)?)
        }
        Form::Walk => {
            let (stride, count) = (call.operand(1)?, call.operand(2)?);
            (Size::Walk { stride, count, bytes: number(3)? as u32 }, number(4)?)
        }
    };
    Some((size, site as u32))
}

/// The hooks that check one range.
pub(crate) fn hooks_by_function(hooks: &Hooks) -> HashMap<Value, (Role, Form)> {
    let mut map = HashMap::from([
        (hooks.read_bytes, (Role::Read, Form::Bytes)),
        (hooks.write_bytes, (Role::Write, Form::Bytes)),
        (hooks.read_walk, (Role::Read, Form::Walk)),
        (hooks.write_walk, (Role::Write, Form::Walk)),
    ]);
    for bytes in crate::hooks::SIZES {
        for (role, write) in [(Role::Read, false), (Role::Write, true)] {
            map.extend(hooks.sized(write, bytes).map(|hook| (hook, (role, Form::Sized(bytes)))));
        }
    }
    map
}
