//! From which functions of the program something can be reached by calls: once over the code, then up the calls.

use std::collections::{HashMap, HashSet};

use crate::llvm::{Module, Value};

/// What an instruction says about the function that it is in.
pub(crate) enum Effect {
    Nothing,
    Here,
    /// What the called function says.
    Of(Value),
}

/// Functions with a body (the one that runs) in which, and in all that they call, no instruction has an effect.
pub(crate) fn without(module: &Module, effect: impl Fn(Value) -> Effect) -> HashSet<Value> {
    let mut callers: HashMap<Value, Vec<Value>> = HashMap::new();
    let mut without: HashSet<Value> = HashSet::new();
    let mut queue = Vec::new();
    for function in module.functions() {
        if !function.is_exact() {
            continue;
        }
        without.insert(function);
        for inst in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            match effect(inst) {
                Effect::Nothing => {}
                Effect::Here => {
                    queue.push(function);
                    break;
                }
                Effect::Of(callee) => callers.entry(callee).or_default().push(function),
            }
        }
    }
    while let Some(function) = queue.pop() {
        if without.remove(&function) {
            queue.extend(callers.remove(&function).unwrap_or_default());
        }
    }
    without
}
