//! Reads that may stand for one that decides: a trace has one read of some bytes for all that a thread makes without synchronising in between,
//! in whatever function.
//!
//! A variable whose address nobody takes is read by its name only. Where one of these reads decides, so may all. Any other read may be of the
//! same bytes as any read through a pointer, or in a function that is given one. Errs towards `Decides`: who can come after whom without
//! synchronisation is not asked. A library that was loaded besides has its own table; variables that it reads of the program are not seen here.

use std::collections::{HashMap, HashSet};

use inkwell::llvm_sys::LLVMOpcode;
use raddle_runtime::sites::Reads;

use crate::deciding;
use crate::hooks::{hook_name, library_name};
use crate::llvm::{Module, Value};
use crate::locals::{Captures, Locals};
use crate::marks::Marks;

/// Memory whose reads may decide.
pub(crate) struct Merged {
    /// Variables that are read by their names only, and whether some read of each decides.
    named: HashMap<Value, Reads>,
    /// All other memory.
    other: Reads,
}

/// Functions that read nothing that they are given, as far as a trace has it.
const SYNCHRONISING: [&str; 5] = ["pthread_", "sem_", "mtx_", "cnd_", "thrd_"];
const READING_NOTHING: [&str; 5] = ["free", "malloc", "calloc", "realloc", "exit"];

impl Merged {
    /// Before the first check is there.
    pub(crate) fn find(module: &Module, functions: &[Value], captures: &Captures, marks: &Marks) -> Self {
        let mut merged = Self { named: HashMap::new(), other: Reads::Passes };
        let mut taken = HashSet::new();
        for &function in functions {
            let mut locals = Locals::new(captures);
            for inst in function.blocks().into_iter().flat_map(|block| block.instructions()) {
                let Some(address) = merged.address(inst) else { continue };
                let decides = inst.is(LLVMOpcode::LLVMAtomicCmpXchg)
                    || deciding::reads(module, inst, &mut locals, marks) == Reads::Decides;
                match variable(address) {
                    Some(variable) if !taken.contains(&variable) => {
                        if !merged.named.contains_key(&variable) && is_taken(variable) {
                            taken.insert(variable);
                            merged.decides(None, decides);
                        } else {
                            merged.decides(Some(variable), decides);
                        }
                    }
                    _ => merged.decides(None, decides),
                }
            }
        }
        merged
    }

    /// What a read of this memory may stand for.
    pub(crate) fn reads(&self, address: Value) -> Reads {
        variable(address).and_then(|variable| self.named.get(&variable)).copied().unwrap_or(self.other)
    }

    fn decides(&mut self, variable: Option<Value>, decides: bool) {
        let reads = match variable {
            Some(variable) => self.named.entry(variable).or_insert(Reads::Passes),
            None => &mut self.other,
        };
        if decides {
            *reads = Reads::Decides;
        }
    }

    /// What the instruction reads, if it is one that a trace has reads of. Takes note of calls that may read what they are given.
    fn address(&mut self, inst: Value) -> Option<Value> {
        match inst.opcode()? {
            LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => {
                inst.operand(0)
            }
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => {
                if may_read(inst) {
                    self.other = Reads::Decides;
                }
                None
            }
            _ => None,
        }
    }
}

/// Whether a function without a body is given an address.
fn may_read(call: Value) -> bool {
    let callee = call.direct_callee();
    let name = callee.map(Value::name).unwrap_or_default();
    let known = library_name(&name);
    let reads_nothing = name.starts_with("llvm.")
        || hook_name(&name).is_some()
        || READING_NOTHING.contains(&known)
        || SYNCHRONISING.iter().any(|prefix| known.starts_with(prefix))
        || callee.is_some_and(|callee| !callee.is_declaration());
    !reads_nothing && call.arguments().into_iter().any(|argument| argument.ty().is_pointer())
}

/// The variable that an address is in, where it is named there.
fn variable(address: Value) -> Option<Value> {
    match address.opcode().or(address.constant_opcode()) {
        Some(LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMBitCast) => variable(address.operand(0)?),
        _ => address.is_global_variable().then_some(address),
    }
}

/// Whether the address of a variable is used for anything but accesses there.
fn is_taken(address: Value) -> bool {
    address.users().into_iter().any(|user| {
        let is_operand = |index: u32| user.operand(index) == Some(address);
        match user.opcode().or(user.constant_opcode()) {
            Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMICmp) => false,
            Some(LLVMOpcode::LLVMStore) => is_operand(0),
            Some(LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg) => {
                (1..user.operand_count()).any(is_operand)
            }
            Some(LLVMOpcode::LLVMGetElementPtr) => !is_operand(0) || is_taken(user),
            Some(LLVMOpcode::LLVMBitCast) => is_taken(user),
            Some(LLVMOpcode::LLVMCall) => {
                let name = user.direct_callee().map(Value::name).unwrap_or_default();
                let kind = name.strip_prefix("llvm.").and_then(|name| name.split('.').next());
                !matches!(kind, Some("memcpy" | "memmove" | "memset" | "prefetch"))
            }
            _ => true,
        }
    })
}
