//! Streams at the end of the process.

use super::super::Refusal;
use super::super::accesses::Access;
use super::super::code::Code;
use super::super::library::Part;
use super::RULE;
use raddle_facts::{GateKind, ObjectId, ObjectKind, Offsets, Start, ThreadId};
use raddle_ir::{FunctionId, Terminator};
use raddle_libmodel::memory::Library;

/// No thread uses a stream without its lock when `main` may return, which flushes all of them.
pub(super) fn check(code: &Code<'_>, accesses: &[Access<'_>]) -> Result<(), Refusal> {
    let returns = |main: &FunctionId| {
        let body = &code.program.functions[*main];
        code.reachable_blocks(*main)
            .any(|block| matches!(body.blocks[block].terminator, Terminator::Ret { .. }))
    };
    let Some(main) = code.roots.main.filter(returns) else { return Ok(()) };
    let order = &code.facts.order;
    let is_over = |thread: &ThreadId| {
        let passed = &order.functions[main].at_exit.passed;
        code.facts.threads.threads[*thread].start == Start::Main
            || passed.iter().any(|gate| order.gates[*gate].kind == GateKind::Exited(*thread))
    };
    let part = Part::Static(Library::Stream).offsets();
    let is_stream = |(object, at): &(ObjectId, Offsets)| {
        code.kind(*object) == ObjectKind::Library && at.may_overlap(1, part, 1)
    };
    for access in accesses.iter().filter(|access| access.is_write() && access.targets.iter().any(is_stream)) {
        if !code.facts.threads.runs[access.at.function].iter().all(is_over) {
            let text = "the end of the process may flush the stream at the same time";
            return code.refuse(access.site, RULE, text);
        }
    }
    Ok(())
}
