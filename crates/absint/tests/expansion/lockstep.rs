//! Two programs run side by side under the same random schedule: the same choices, operations, events, output and end, sites mapped
//! back to the original.

use raddle_base::SiteId;
use raddle_event::{Event, EventKind, ObjectId, ThreadId};
use raddle_interp::{Interp, Options};
use raddle_ir::Program;
use raddle_ir::expand::Expanded;
use raddle_libmodel::Models;
use raddle_machine::{Machine, ObjectKind, Operation, Status, TraceSink};
use raddle_testkit::random::Random;
use std::collections::HashMap;
use std::sync::Arc;

pub struct Input {
    pub args: Vec<String>,
    pub stdin: Vec<u8>,
    pub steps: usize,
    /// A run that needs more is compared up to there.
    pub instructions: u64,
    pub locals: Locals,
}

/// Accesses to locals whose address never leaves their function are no events, and expansion can remove the code where it left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Locals {
    Compare,
    /// Only accesses to other objects, which are numbered by their first appearance.
    Ignore,
}

/// How a pair of runs ended.
pub struct Ran {
    pub status: Status,
    pub events: usize,
}

/// What differs, if anything does. The first choice is always taken for `seed` 0.
pub fn compare(
    program: &Program,
    models: &Models,
    expanded: &Expanded,
    input: &Input,
    seed: u64,
) -> Result<Ran, String> {
    let copied = models.of_expanded(&expanded.function_origin);
    let mut one = start(program, models, input)?;
    let mut two = start(&expanded.program, &copied, input)?;
    // The interpreter numbers bodies that it makes for library functions behind the program's own sites.
    let original = |site: SiteId| match expanded.site_origin.get(site) {
        Some(origin) => *origin,
        None if site == SiteId::NONE => site,
        None => SiteId(site.0 - expanded.site_origin.len() as u32 + program.sites.len() as u32),
    };
    let mut random = Random::new(seed);
    let (mut events, mut choices, mut others) = (0, Vec::new(), Vec::new());
    let mut numbers = (Numbers::new(input.locals), Numbers::new(input.locals));
    for step in 0.. {
        let status = mapped(two.status(), original);
        if one.status() != status || one.output() != two.output() {
            return Err(format!("step {step}: {:?} became {status:?}", one.status()));
        }
        if status != Status::Running || step == input.steps {
            return Ok(Ran { status, events });
        }
        choices.clear();
        others.clear();
        one.enabled(&mut choices);
        two.enabled(&mut others);
        if choices != others {
            return Err(format!("step {step}: the choices {choices:?} became {others:?}"));
        }
        for thread in (0..one.thread_count()).map(ThreadId) {
            let pending = two.pending(thread).map(|op| Operation { site: original(op.site), ..op });
            if one.pending(thread) != pending {
                return Err(format!("step {step}: {:?} became {pending:?}", one.pending(thread)));
            }
        }
        let pick = if seed == 0 { 0 } else { random.below(choices.len()) };
        let (mut first, mut second) = (TraceSink::default(), TraceSink::default());
        one.step(choices[pick], &mut first);
        two.step(choices[pick], &mut second);
        let second = second.trace.events.iter().map(|e| Event { site: original(e.site), ..*e }).collect();
        let first = numbers.0.seen(&one, first.trace.events);
        let second: Vec<Event> = numbers.1.seen(&two, second);
        if matches!((one.status(), two.status()), (Status::Limit { .. }, Status::Limit { .. })) {
            // An endless program: the expanded one need not stop at the same instruction.
            let both = first.iter().zip(&second).all(|(a, b)| a == b);
            let why = || format!("step {step}: other events before the limit");
            return both.then_some(Ran { status: one.status(), events }).ok_or_else(why);
        }
        if first != second {
            let both = first.iter().zip(&second).find(|(a, b)| a != b);
            return Err(format!("step {step}: other events, from {both:?} on"));
        }
        events += second.len();
    }
    unreachable!("the steps are counted out")
}

struct Numbers {
    locals: Locals,
    known: HashMap<ObjectId, ObjectId>,
}

impl Numbers {
    fn new(locals: Locals) -> Self {
        Numbers { locals, known: HashMap::new() }
    }

    fn seen(&mut self, machine: &Interp, mut events: Vec<Event>) -> Vec<Event> {
        if self.locals == Locals::Compare {
            return events;
        }
        events.retain_mut(|event| {
            let EventKind::Access { loc, .. } = &mut event.kind else { return true };
            let next = ObjectId(self.known.len() as u32);
            let is_local = machine.object_info(loc.object).kind == ObjectKind::Stack;
            if !is_local {
                loc.object = *self.known.entry(loc.object).or_insert(next);
            }
            !is_local
        });
        events
    }
}

fn start(program: &Program, models: &Models, input: &Input) -> Result<Interp, String> {
    let options = Options {
        args: std::iter::once("program".to_owned()).chain(input.args.iter().cloned()).collect(),
        stdin: input.stdin.clone(),
        segment_limit: input.instructions,
        instruction_limit: input.instructions,
        ..Options::default()
    };
    Interp::new(Arc::new(program.clone()), Arc::new(models.clone()), options).map_err(|e| e.to_string())
}

fn mapped(status: Status, original: impl Fn(SiteId) -> SiteId) -> Status {
    match status {
        Status::Unsupported { site, reason } => Status::Unsupported { site: original(site), reason },
        other => other,
    }
}
