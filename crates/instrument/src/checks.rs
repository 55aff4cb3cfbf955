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
pub(crate) fn read(body: &Body, hooks: &HashMap<Value, (Role, Option<u64>)>) -> Vec<Check> {
    let mut checks = Vec::new();
    for (block, instructions) in body.instructions.iter().enumerate() {
        for (position, &call) in instructions.iter().enumerate() {
            let Some(&(role, bytes)) = call.direct_callee().and_then(|callee| hooks.get(&callee)) else {
                continue;
            };
            let site = call.operand(if bytes.is_some() { 1 } else { 2 }).and_then(Value::int_signed);
            let size = match bytes {
                Some(bytes) => Some(Size::Bytes(bytes)),
                None => call.operand(1).map(|bytes| match bytes.int_signed() {
                    Some(bytes) => Size::Bytes(bytes as u64),
                    None => Size::Computed(bytes),
                }),
            };
            // Merged calls may have a computed site; they stay as they are.
            let (Some(address), Some(size), Some(site)) = (call.operand(0), size, site) else { continue };
            checks.push(Check { role, address, size, site: site as u32, call, block, position });
        }
    }
    checks
}

/// The hooks that check one range.
pub(crate) fn hooks_by_function(hooks: &Hooks) -> HashMap<Value, (Role, Option<u64>)> {
    let mut map =
        HashMap::from([(hooks.read_bytes, (Role::Read, None)), (hooks.write_bytes, (Role::Write, None))]);
    for bytes in crate::hooks::SIZES {
        for (role, write) in [(Role::Read, false), (Role::Write, true)] {
            map.extend(hooks.sized(write, bytes).map(|hook| (hook, (role, Some(bytes)))));
        }
    }
    map
}
