//! The interpreter as a [`Machine`].

use crate::code::{CallTarget, Code};
use crate::exec::{Calls, Cx};
use crate::image::{Callable, Image};
use crate::memory::Memory;
use crate::options::{Options, StartError};
use crate::reached::By;
use crate::sync::SyncObject;
use crate::thread::{Stand, Thread};
use crate::threads::Threads;
use crate::world::{State, Watch, World};
use crate::{fingerprint, handles, names, schedule, start};
use raddle_base::SiteId;
use raddle_event::{Addr, Choice, Loc, ObjectId, Problem, ThreadId};
use raddle_ir::{BlockId, FunctionId, GlobalId, Program};
use raddle_libmodel::{Effect, Models};
use raddle_machine::{
    Canonical, Machine, ObjectInfo, ObjectKind, Operation, Origin, Sink, StackSource, Status, ThreadInfo,
    Visibility,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A program under control of its caller. Clones share the compiled program.
#[derive(Clone)]
pub struct Interp {
    pub(crate) image: Arc<Image>,
    pub(crate) memory: Memory,
    pub(crate) world: World,
    pub(crate) threads: Threads,
    start: Option<Arc<Checkpoint>>,
    marks: usize,
    /// The choices open in the present state, if they are known.
    pub(crate) open: Option<Vec<Choice>>,
    /// Room for such a list.
    pub(crate) room: Vec<Choice>,
    /// Of runs that were undone.
    uncovered: BTreeSet<String>,
}

/// A state to come back to; see [`Machine::checkpoint`].
#[derive(Clone, Debug)]
pub struct Checkpoint {
    mark: usize,
    state: State,
    output: usize,
    problems: usize,
}

impl Interp {
    /// A run of the program, right before its first step.
    pub fn new(program: Arc<Program>, models: Arc<Models>, options: Options) -> Result<Self, StartError> {
        let start::Started { image, memory, world, main } = start::start(program, models, options)?;
        let mut interp = Self {
            image: Arc::new(image),
            memory,
            world,
            threads: Threads::default(),
            start: None,
            marks: 0,
            open: None,
            room: Vec::new(),
            uncovered: BTreeSet::new(),
        };
        interp.threads.push(main);
        let checkpoint = interp.checkpoint();
        interp.start = Some(Arc::new(checkpoint));
        Ok(interp)
    }

    /// Back to the start. All checkpoints become invalid.
    pub fn reset(&mut self) {
        if let Some(start) = self.start.clone() {
            self.restore(&start);
        }
    }

    /// Instructions executed since this machine was made, over all runs.
    pub fn instructions(&self) -> u64 {
        self.world.instructions
    }

    /// Why this run does not stand for all values that the environment could have chosen; empty when it does.
    pub fn incomplete_reasons(&self) -> &[String] {
        &self.world.state.incomplete
    }

    /// The same over all runs of this machine: going back does not forget it.
    pub fn uncovered(&self) -> BTreeSet<String> {
        self.uncovered.iter().chain(self.incomplete_reasons()).cloned().collect()
    }

    /// Sites of events, with the threads that made them, over all runs of all machines that this one was cloned from or to.
    pub fn reached_sites(&self) -> BTreeMap<SiteId, By> {
        self.image.reached.sites()
    }

    /// Blocks that were entered, likewise.
    pub fn reached_blocks(&self) -> BTreeSet<(FunctionId, BlockId)> {
        self.image.reached_blocks()
    }

    /// Bytes held for the program's memory and for going back. Does not grow from run to run.
    pub fn footprint(&self) -> u64 {
        self.memory.footprint() + (self.world.sync.log_len() * 64 + self.threads.footprint()) as u64
    }

    /// Where the global is, in every run of the program.
    pub fn address_of(&self, global: GlobalId) -> Option<Addr> {
        let (slot, offset) = self.memory.owner(*self.image.globals.get(global.0 as usize)?)?;
        Some(Addr { object: self.memory.object(slot).id, offset: u32::try_from(offset).ok()? })
    }

    /// Virtual time, in nanoseconds: it moves on when a thread sleeps or waits for some time.
    pub fn time(&self) -> u64 {
        self.world.state.time
    }

    /// The value of the semaphore there; `None` if there is none that was used or initialised.
    pub fn semaphore(&self, at: Addr) -> Option<u32> {
        match self.world.sync.get(at)? {
            SyncObject::Semaphore { value } => u32::try_from(*value).ok(),
            _ => None,
        }
    }

    pub fn program(&self) -> &Program {
        &self.image.program
    }

    /// The modelled function that the thread stands before calling.
    pub(crate) fn callee_of(&self, thread: &Thread) -> Option<FunctionId> {
        let frame = thread.frames.last()?;
        let func = self.image.func(frame.function);
        let Code::Call { desc } = func.code[frame.pc as usize] else { return None };
        match func.calls[desc as usize].callee {
            CallTarget::Direct(function) => Some(function),
            CallTarget::Indirect(slot) => {
                self.memory.layout.function_at(thread.regs[(frame.base + slot) as usize])
            }
        }
    }

    pub(crate) fn effect_of(&self, thread: &Thread) -> Option<&Effect> {
        match self.image.callable(self.callee_of(thread)?) {
            Callable::Effect(effect, _) => Some(effect),
            _ => None,
        }
    }

    /// The state changes.
    pub(crate) fn forget_open(&mut self) {
        if let Some(open) = self.open.take() {
            self.room = open;
        }
    }

    pub(crate) fn cx<'a>(&'a mut self, thread: ThreadId, sink: &'a mut dyn Sink) -> Cx<'a> {
        Cx {
            image: &self.image,
            memory: &mut self.memory,
            world: &mut self.world,
            thread: self.threads.get_mut(thread),
            sink,
        }
    }
}

impl Machine for Interp {
    type Checkpoint = Checkpoint;

    fn thread_count(&self) -> u32 {
        self.threads.len() as u32
    }

    fn status(&self) -> Status {
        self.world.state.status.clone()
    }

    fn pending(&self, thread: ThreadId) -> Option<Operation> {
        match &self.threads.get(thread)?.stand {
            Stand::Before { operation, .. } => Some(*operation),
            Stand::Ended => None,
        }
    }

    fn standpoint(&self, thread: ThreadId) -> u64 {
        self.threads[thread].stutter.local
    }

    fn enabled(&self, choices: &mut Vec<Choice>) {
        choices.clear();
        match &self.open {
            Some(open) => choices.extend_from_slice(open),
            None if self.world.state.status == Status::Running => schedule::enabled(self, choices),
            None => {}
        }
    }

    fn step(&mut self, choice: Choice, sink: &mut dyn Sink) {
        schedule::step(self, choice, sink);
    }

    fn checkpoint(&mut self) -> Checkpoint {
        let mark = self.memory.checkpoint();
        self.world.sync.checkpoint();
        self.threads.checkpoint();
        debug_assert_eq!(mark, self.marks);
        self.marks += 1;
        Checkpoint {
            mark,
            state: self.world.state.clone(),
            output: self.world.output.len(),
            problems: self.world.problems.len(),
        }
    }

    fn restore(&mut self, checkpoint: &Checkpoint) {
        assert!(checkpoint.mark < self.marks, "an earlier checkpoint was restored or this one discarded");
        self.forget_open();
        self.memory.restore(checkpoint.mark);
        self.world.sync.restore(checkpoint.mark);
        self.threads.restore(checkpoint.mark);
        self.marks = checkpoint.mark + 1;
        if !Arc::ptr_eq(&self.world.state.incomplete, &checkpoint.state.incomplete) {
            self.uncovered.extend(self.world.state.incomplete.iter().cloned());
        }
        self.world.state.clone_from(&checkpoint.state);
        self.world.output.truncate(checkpoint.output);
        self.world.problems.truncate(checkpoint.problems);
    }

    fn discard(&mut self, checkpoint: Checkpoint) {
        assert_eq!(checkpoint.mark + 1, self.marks, "only the latest checkpoint can be discarded");
        self.memory.discard(checkpoint.mark);
        self.world.sync.discard(checkpoint.mark);
        self.threads.discard(checkpoint.mark);
        self.marks = checkpoint.mark;
    }

    fn canonical(&mut self) -> Canonical {
        fingerprint::of(self)
    }

    fn problems(&self) -> &[Problem] {
        &self.world.problems
    }

    fn assumptions(&self) -> Vec<&'static str> {
        self.world.state.assumptions.to_vec()
    }

    fn output(&self) -> &[u8] {
        &self.world.output
    }

    /// Takes effect from the next step of each thread on; threads that stand before an access stay there.
    fn set_visibility(&mut self, visibility: Visibility) {
        self.world.watch = Watch::new(&visibility);
    }

    fn origin(&self, thread: ThreadId) -> Option<Origin> {
        let origin = &self.world.state.origins[thread.0 as usize];
        let (creator, ..) = origin.created.as_ref()?;
        let joined = || handles::are_only_joined(&self.image);
        self.image.ids_are_joined.get_or_init(joined).then_some(Origin {
            creator: *creator,
            function: origin.entry.0,
            argument: origin.argument,
            detached: self.world.state.life(thread).detached,
        })
    }

    fn thread_info(&self, thread: ThreadId) -> ThreadInfo {
        let origin = &self.world.state.origins[thread.0 as usize];
        ThreadInfo {
            entry: self.image.name(origin.entry).to_owned(),
            created: origin.created.as_ref().map(|(by, site, stack)| (*by, *site, stack.to_vec())),
        }
    }

    fn call_sites(&self, thread: ThreadId) -> Vec<raddle_base::SiteId> {
        let thread = &self.threads[thread];
        Calls { image: &self.image, frames: &thread.frames }.call_sites()
    }

    fn object_info(&self, object: ObjectId) -> ObjectInfo {
        let Some(record) = self.memory.records.get(object) else {
            return ObjectInfo {
                kind: ObjectKind::Library,
                name: "atomic section".to_owned(),
                size: 0,
                allocated: None,
            };
        };
        let allocated = match record.kind {
            ObjectKind::Global | ObjectKind::Function => None,
            _ => Some((record.thread, record.site, self.memory.records.stack_sites(record.stack).to_vec())),
        };
        ObjectInfo { kind: record.kind, name: names::object_name(self, record), size: record.size, allocated }
    }

    fn place_name(&self, loc: Loc) -> String {
        names::place_name(self, loc)
    }

    fn held_locks(&self, thread: ThreadId) -> Vec<Addr> {
        self.threads[thread].held.iter().map(|held| held.lock).collect()
    }
}
