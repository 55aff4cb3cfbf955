//! Memory that no other thread can reach: constants, and objects whose address never leaves the function.
//!
//! An object is a local in memory, a copy passed by value, or fresh from `malloc`. Its address leaves when it is stored, returned,
//! turned into a number, or passed to a call that may keep it. Whether a parameter of a defined function is kept is found for
//! all functions at once, starting from "none is" and taking back; of functions without a body only a few are known not to keep theirs.

use std::collections::{HashMap, HashSet};

use inkwell::llvm_sys::LLVMOpcode;

use crate::hooks::{hook_name, library_name};
use crate::llvm::{Module, Value};

/// Which parameters of defined functions stay within the call.
pub(crate) struct Captures {
    kept: HashSet<(Value, u32)>,
}

pub(crate) struct Locals<'a> {
    captures: &'a Captures,
    private: HashMap<Value, bool>,
}

/// Library functions that neither keep nor return the pointers they are given.
const FORGETFUL: [&str; 31] = [
    "free",
    "strlen",
    "strnlen",
    "strcmp",
    "strncmp",
    "memcmp",
    "bcmp",
    "puts",
    "printf",
    "fprintf",
    "snprintf",
    "sprintf",
    "vsnprintf",
    "vfprintf",
    "vprintf",
    "perror",
    "atoi",
    "atol",
    "atof",
    "fputs",
    "fwrite",
    "fread",
    "read",
    "write",
    "gettimeofday",
    "clock_gettime",
    "nanosleep",
    "_ZdlPv",
    "_ZdlPvm",
    "_ZdaPv",
    "time",
];

const FRESH: [&str; 4] = ["malloc", "calloc", "_Znwm", "_Znam"];

impl Captures {
    pub(crate) fn find(module: &Module) -> Captures {
        let mut captures = Captures { kept: HashSet::new() };
        let functions = module.functions();
        for &function in &functions {
            if !function.is_exact() {
                let forgetful = FORGETFUL.contains(&library_name(&function.name()));
                for index in 0..function.parameters().len() as u32 {
                    if !forgetful && !function.function_has(Some(index), "nocapture") {
                        captures.kept.insert((function, index));
                    }
                }
            }
        }
        let mut depending: HashMap<(Value, u32), Vec<(Value, u32)>> = HashMap::new();
        let mut queue: Vec<(Value, u32)> = Vec::new();
        for &function in functions.iter().filter(|function| function.is_exact()) {
            for (index, parameter) in function.parameters().into_iter().enumerate() {
                if !parameter.ty().is_pointer() {
                    continue;
                }
                let key = (function, index as u32);
                match passed_on(parameter) {
                    Some(further) => {
                        for callee in further {
                            depending.entry(callee).or_default().push(key);
                        }
                    }
                    None => queue.push(key),
                }
            }
        }
        queue.extend(captures.kept.iter().copied());
        while let Some(key) = queue.pop() {
            captures.kept.insert(key);
            queue.extend(depending.remove(&key).unwrap_or_default());
        }
        captures
    }

    /// Whether an address may be known elsewhere after what is done with it here.
    fn leaves(&self, object: Value) -> bool {
        passed_on(object).is_none_or(|further| further.iter().any(|callee| self.kept.contains(callee)))
    }
}

/// The parameters that an address is passed to; `None` if it may become known elsewhere without that.
fn passed_on(object: Value) -> Option<Vec<(Value, u32)>> {
    let mut further = Vec::new();
    let mut seen = HashSet::from([object]);
    let mut queue = vec![object];
    while let Some(address) = queue.pop() {
        for user in address.users() {
            match use_of(address, user, &mut further) {
                Use::Harmless => {}
                Use::Leaves => return None,
                Use::Address => {
                    if seen.insert(user) {
                        queue.push(user);
                    }
                }
            }
        }
    }
    Some(further)
}

fn use_of(address: Value, user: Value, further: &mut Vec<(Value, u32)>) -> Use {
    match user.opcode() {
        Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMICmp) => Use::Harmless,
        Some(LLVMOpcode::LLVMStore) if user.operand(0) != Some(address) => Use::Harmless,
        Some(LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg) => {
            let as_value = (1..user.operand_count()).any(|index| user.operand(index) == Some(address));
            if as_value { Use::Leaves } else { Use::Harmless }
        }
        Some(
            LLVMOpcode::LLVMGetElementPtr
            | LLVMOpcode::LLVMBitCast
            | LLVMOpcode::LLVMPHI
            | LLVMOpcode::LLVMSelect,
        ) => Use::Address,
        Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) => passed(address, user, further),
        _ => Use::Leaves,
    }
}

fn passed(address: Value, call: Value, further: &mut Vec<(Value, u32)>) -> Use {
    let Some(callee) = call.direct_callee() else { return Use::Leaves };
    let name = callee.name();
    if let Some(intrinsic) = name.strip_prefix("llvm.") {
        return match intrinsic.split('.').next().unwrap_or_default() {
            "lifetime" | "dbg" | "memcpy" | "memmove" | "memset" | "va_start" | "va_end" | "assume"
            | "prefetch" | "invariant" => Use::Harmless,
            "launder" | "strip" | "ptr" | "threadlocal" => Use::Address,
            _ => Use::Leaves,
        };
    }
    if hook_name(&name).is_some() {
        return Use::Harmless;
    }
    for (index, argument) in call.arguments().into_iter().enumerate() {
        if argument != address || call.call_type_attribute(index as u32, "byval").is_some() {
            continue;
        }
        let variadic = index >= callee.parameters().len();
        let forgets_rest = FORGETFUL.contains(&library_name(&name)) && callee.is_declaration();
        if variadic && !forgets_rest {
            return Use::Leaves;
        }
        further.push((callee, index as u32));
    }
    Use::Harmless
}

enum Use {
    Harmless,
    /// The result is an address in the same object, or may be.
    Address,
    Leaves,
}

impl<'a> Locals<'a> {
    pub(crate) fn new(captures: &'a Captures) -> Self {
        Self { captures, private: HashMap::new() }
    }

    /// Whether no other thread can write what this address points to, or none can access it at all.
    pub(crate) fn needs_no_check(&mut self, address: Value) -> bool {
        let mut roots = Vec::new();
        origins(address, &mut roots, &mut HashSet::new())
            && roots.into_iter().all(|root| self.is_private(root))
    }

    fn is_private(&mut self, root: Value) -> bool {
        if let Some(known) = self.private.get(&root) {
            return *known;
        }
        let private = root.is_constant_variable() || (is_fresh(root) && !self.captures.leaves(root));
        self.private.insert(root, private);
        private
    }
}

/// Whether a value is the address of an object that begins here.
fn is_fresh(root: Value) -> bool {
    if root.is_argument() {
        let function = root.argument_function();
        let position = function.parameters().iter().position(|parameter| *parameter == root);
        return position.is_some_and(|index| function.function_has(Some(index as u32), "byval"));
    }
    root.is(LLVMOpcode::LLVMAlloca)
        || root.direct_callee().is_some_and(|callee| FRESH.contains(&library_name(&callee.name())))
}

/// Collects what an address may be derived from; false where that is not known.
fn origins(address: Value, roots: &mut Vec<Value>, seen: &mut HashSet<Value>) -> bool {
    if !seen.insert(address) {
        return true;
    }
    if seen.len() > 32 {
        return false;
    }
    let through = |index: u32, roots: &mut Vec<Value>, seen: &mut HashSet<Value>| match address.operand(index)
    {
        Some(operand) => origins(operand, roots, seen),
        None => false,
    };
    match address.opcode().or(address.constant_opcode()) {
        Some(LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMBitCast) => through(0, roots, seen),
        Some(LLVMOpcode::LLVMSelect) => through(1, roots, seen) && through(2, roots, seen),
        Some(LLVMOpcode::LLVMPHI) => {
            address.incoming().into_iter().all(|(_, value)| origins(value, roots, seen))
        }
        _ => {
            roots.push(address);
            true
        }
    }
}
