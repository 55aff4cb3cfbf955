//! Calls of functions without body or model: nothing is done and 0 is returned. What is not tried by that is noted, and a listener that
//! asks for it gets to know what the call could use.

use super::{Cx, Halt};
use crate::code::CallDesc;
use crate::memory::{At, Slot};
use raddle_event::ThreadId;
use raddle_ir::{DebugType, DebugTypeId, FunctionId, Program, Ty};
use raddle_machine::{ForeignCall, ObjectKind};
use std::collections::BTreeSet;

/// What can be reached from some values.
#[derive(Default)]
struct Reach {
    /// Memory that can be written.
    memory: bool,
    function: bool,
    /// Something that threads synchronise by.
    sync: bool,
    threads: BTreeSet<ThreadId>,
}

impl Cx<'_> {
    pub(super) fn foreign_call(&mut self, function: FunctionId, desc: &CallDesc) -> Result<(), Halt> {
        self.assume("A-EXTERN");
        let given = self.given(desc);
        let reach = self.reach(&given);
        let name = self.image.name(function);
        if reach.memory || reach.function {
            let what = if reach.function { "a function" } else { "memory of the program" };
            let text = format!(
                "`{name}` has no body and was given {what}{}: only that it does nothing was tried",
                self.line()
            );
            self.world.state.not_covered(&text);
        }
        if desc.result_is_used {
            self.world.state.not_covered(&format!("only 0 was tried as the result of `{name}`"));
        }
        let lasts = |value: &u64| match self.memory.owner(*value) {
            Some((slot, _)) => self.memory.object(slot).kind != ObjectKind::Stack,
            None => self.memory.layout.is_thread_handle(*value),
        };
        let new: Vec<u64> = given
            .iter()
            .copied()
            .filter(lasts)
            .filter(|value| !self.world.state.handed_out.contains(value))
            .collect();
        if !new.is_empty() {
            self.world.state.lasting_mut().handed_out.extend(new);
        }
        if self.sink.wants_foreign_calls() {
            let mut roots = given;
            roots.extend(&self.world.state.handed_out);
            if !self.world.state.handed_out.is_empty() {
                let exported = self.image.program.globals.iter().filter(|(_, global)| global.exported);
                roots.extend(exported.map(|(id, _)| self.image.globals[id.0 as usize]));
            }
            let Reach { memory, sync, threads, .. } = self.reach(&roots);
            let (thread, site) = (self.thread.id, self.site());
            let threads = threads.into_iter().collect();
            self.sink.foreign_call(ForeignCall { thread, site, memory, sync, threads });
        }
        self.return_value(0);
        Ok(())
    }

    /// ` at file:line` of the call, where it is known.
    fn line(&self) -> String {
        let program = &self.image.program;
        let span = program.sites.get(self.site()).and_then(|info| info.span);
        let file = span.and_then(|span| program.files.get(span.file));
        span.zip(file).map_or_else(String::new, |(span, file)| format!(" at {file}:{}", span.line))
    }

    /// Arguments that may be addresses or ids, and those in structs passed by value.
    fn given(&mut self, desc: &CallDesc) -> Vec<u64> {
        let mut given = Vec::new();
        for arg in &desc.args {
            let value = self.value(arg.slot);
            match arg.by_value {
                Some((bytes, _)) => {
                    if let Some(at) = self.memory.find(value, bytes) {
                        let words = self.memory.names_in(at, bytes as usize);
                        given.extend(words.iter().map(|word| self.memory.pointer_at(at.slot, *word)));
                    }
                }
                None if arg.ty == Ty::Ptr
                    || u32::from(self.image.bits(arg.ty)) >= self.memory.layout.pointer_bytes * 8 =>
                {
                    given.push(value);
                }
                None => {}
            }
        }
        given
    }

    fn reach(&self, roots: &[u64]) -> Reach {
        let mut reach = Reach::default();
        let mut seen: BTreeSet<(u8, u32)> = BTreeSet::new();
        let mut work = roots.to_vec();
        while let Some(value) = work.pop() {
            if let Some(thread) = self.memory.layout.thread_at(value) {
                reach.threads.insert(thread);
            } else if self.memory.layout.function_at(value).is_some() {
                reach.function = true;
            } else if let Some((slot, _)) = self.memory.owner(value)
                && seen.insert((slot.class, slot.index))
            {
                self.look_into(slot, &mut reach, &mut work);
            }
        }
        reach
    }

    fn look_into(&self, slot: Slot, reach: &mut Reach, work: &mut Vec<u64>) {
        let object = self.memory.object(slot);
        if object.kind == ObjectKind::Library {
            return;
        }
        let ty = self.memory.records.get(object.id).and_then(|record| record.ty);
        reach.memory |= !object.constant;
        reach.sync |= object.has_sync || ty.is_some_and(|ty| synchronises(&self.image.program, ty, 0));
        if object.size > 0 {
            let words = self.memory.names_in(At { slot, offset: 0 }, object.size as usize);
            work.extend(words.iter().map(|word| self.memory.pointer_at(slot, *word)));
        }
    }
}

/// Nesting of types that is looked into; what is deeper may be anything.
const DEEPEST: u32 = 16;

/// Whether threads may synchronise by something in a variable of this type.
fn synchronises(program: &Program, ty: DebugTypeId, depth: u32) -> bool {
    let named = |name| {
        let name = program.text(name);
        let plain = ["pthread_t", "pthread_attr_t"].contains(&name);
        name.starts_with("pthread_") && !plain || ["sem_t", "mtx_t", "cnd_t", "once_flag"].contains(&name)
    };
    if depth > DEEPEST {
        return true;
    }
    let inside = |ty: DebugTypeId| synchronises(program, ty, depth + 1);
    match &program.debug_types[ty] {
        DebugType::Scalar { .. } | DebugType::Pointer { .. } | DebugType::Function | DebugType::Void => false,
        DebugType::Unknown { name } => name.is_some_and(named),
        DebugType::Array { element, .. } => inside(*element),
        DebugType::Typedef { name, to } => named(*name) || inside(*to),
        DebugType::Qualified { qualifier, to } => program.text(*qualifier) == "_Atomic" || inside(*to),
        DebugType::Record { name, fields, .. } => {
            name.is_some_and(named) || fields.iter().any(|field| inside(field.ty))
        }
    }
}
