//! Threads and objects as words, with names chosen by the caller: colours while refining, numbers at the end.

use super::graph::{Graph, Node, Target, is_name, object_names, return_word, sync_inside};
use crate::machine::Interp;
use crate::memory::{Piece, Slot};
use crate::sync::{MutexKind, OnceState, RwlockKind, SyncObject};
use crate::thread::{Action, Leaving, Phase, Spurious, Stand, Thread, Until};
use raddle_base::StableHasher;
use raddle_event::{Addr, ThreadId};
use raddle_ir::Ty;
use raddle_machine::Status;
use std::collections::HashMap;
use std::hash::Hash;

/// What stands for a node.
pub(super) trait Renaming {
    fn node(&mut self, index: usize) -> u64;
    /// A dead object.
    fn ghost(&mut self, name: u64) -> u64;
}

pub(super) struct Colours<'a> {
    pub graph: &'a Graph,
    pub colours: &'a [u64],
}

impl Renaming for Colours<'_> {
    fn node(&mut self, index: usize) -> u64 {
        debug_assert!(index < self.graph.nodes.len());
        self.colours[index]
    }

    fn ghost(&mut self, _name: u64) -> u64 {
        0xDEAD
    }
}

/// Numbers in order of first mention.
pub(super) struct Numbers {
    numbers: Vec<Option<u32>>,
    order: Vec<usize>,
    taken_up: Vec<bool>,
    ghosts: HashMap<u64, u64>,
}

impl Numbers {
    pub fn new(graph: &Graph) -> Self {
        Self {
            numbers: vec![None; graph.nodes.len()],
            order: Vec::new(),
            taken_up: vec![false; graph.nodes.len()],
            ghosts: HashMap::new(),
        }
    }

    pub fn assign(&mut self, index: usize) -> u32 {
        let next = self.order.len() as u32;
        let number = *self.numbers[index].get_or_insert(next);
        if number == next {
            self.order.push(index);
        }
        number
    }

    pub fn number(&self, index: usize) -> Option<u32> {
        self.numbers[index]
    }

    /// Dead objects that something still refers to, with their numbers.
    pub fn ghosts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ghosts.iter().map(|(name, number)| (*name, *number))
    }

    pub fn assigned(&self) -> usize {
        self.order.len()
    }

    /// The node of this number.
    pub fn node(&self, number: usize) -> usize {
        self.order[number]
    }

    /// Whether the node is taken up for the first time.
    pub fn take_up(&mut self, index: usize) -> bool {
        !std::mem::replace(&mut self.taken_up[index], true)
    }
}

impl Renaming for Numbers {
    fn node(&mut self, index: usize) -> u64 {
        u64::from(self.assign(index))
    }

    fn ghost(&mut self, name: u64) -> u64 {
        let next = self.ghosts.len() as u64;
        *self.ghosts.entry(name).or_insert(next)
    }
}

/// What belongs to no thread and no object.
pub(super) fn world(interp: &Interp, hasher: &mut StableHasher) {
    let state = &interp.world.state;
    hasher.word(match state.status {
        Status::Running => 0,
        Status::Exited(code) => 1 | (code as u32 as u64) << 8,
        Status::Crashed => 2,
        Status::Deadlock => 3,
        Status::Livelock => 4,
        Status::Infeasible => 5,
        Status::Unsupported { .. } => 6,
        Status::Limit { .. } => 7,
    });
    state.libc.hash(hasher);
    state.channels.hash(hasher);
    hasher.word(state.time);
    hasher.word(state.input_taken as u64);
    state.at_exit.hash(hasher);
    for key in state.keys.iter() {
        hasher.word(key.destructor << 1 | u64::from(key.deleted));
    }
    state.library.keys().for_each(|key| hasher.bytes(key.as_bytes()));
}

pub(super) fn node(
    interp: &Interp,
    graph: &Graph,
    index: usize,
    names: &mut dyn Renaming,
    hasher: &mut StableHasher,
) {
    let mut encoder = Encoder { interp, graph, names, hasher };
    match graph.nodes[index] {
        Node::Object(slot) => encoder.object(slot),
        Node::Thread(id) => encoder.thread(id),
    }
}

struct Encoder<'a> {
    interp: &'a Interp,
    graph: &'a Graph,
    names: &'a mut dyn Renaming,
    hasher: &'a mut StableHasher,
}

impl Encoder<'_> {
    fn word(&mut self, word: u64) {
        self.hasher.word(word);
    }

    fn value(&mut self, value: u64) {
        match self.graph.target(self.interp, value) {
            Target::Node(index, offset) => {
                let name = self.names.node(index);
                self.word(1);
                self.word(name);
                self.word(offset);
            }
            Target::Ghost(name, offset) => {
                let name = self.names.ghost(name);
                self.word(2);
                self.word(name);
                self.word(offset);
            }
            Target::Number(number) => {
                self.word(3);
                self.word(number);
            }
        }
    }

    fn addr(&mut self, at: Addr) {
        match self.graph.sync_holder(at) {
            Some(index) => {
                let name = self.names.node(index);
                self.word(name);
            }
            None => self.word(u64::from(at.object.0)),
        }
        self.word(u64::from(at.offset));
    }

    fn object(&mut self, slot: Slot) {
        let interp = self.interp;
        let object = interp.memory.object(slot);
        self.word(object.kind as u64 | u64::from(object.constant) << 8 | u64::from(object.exposed) << 9);
        self.word(object.size);
        if object.exposed {
            self.word(interp.memory.address_of(slot));
        }
        let names = object_names(interp, slot);
        if names.is_empty() {
            self.hasher.bytes(&object.data);
        } else {
            let mut data = object.data.clone();
            let bytes = interp.memory.layout.pointer_bytes as usize;
            for (offset, _) in &names {
                data[*offset..*offset + bytes].fill(0);
            }
            self.hasher.bytes(&data);
            for (offset, value) in names {
                self.word(offset as u64);
                self.value(value);
            }
        }
        if !object.init.is_empty() {
            self.hasher.bytes(&object.init);
        }
        for (offset, state) in sync_inside(interp, slot) {
            if let Some(words) = sync_words(&state) {
                self.word(u64::from(offset));
                words.into_iter().for_each(|word| self.word(word));
                self.sync_threads(&state);
            }
        }
    }

    fn sync_threads(&mut self, state: &SyncObject) {
        // Who comes first does not matter: readers have no order, and a signal may wake any waiter.
        let mut names: Vec<u64> = sync_threads(state)
            .into_iter()
            .map(|id| self.graph.thread(id).map_or(u64::MAX, |index| self.names.node(index)))
            .collect();
        names.sort_unstable();
        names.into_iter().for_each(|name| self.word(name));
    }

    fn thread(&mut self, id: ThreadId) {
        let interp = self.interp;
        let thread: &Thread = &interp.threads[id];
        let life = interp.world.state.life(id);
        self.word(u64::from(life.ended) | u64::from(life.detached) << 1 | u64::from(life.joined) << 2);
        if life.exposed {
            self.word(0xE0 + (u64::from(id.0) << 8));
        }
        self.value(life.result);
        self.stand(thread);
        self.phase(&thread.phase);
        for depth in 0..thread.frames.len() {
            let frame = &thread.frames[depth];
            self.word(u64::from(frame.function.0) << 32 | u64::from(frame.pc));
            self.word(return_word(&frame.on_return));
            for (ty, value) in self.graph.registers(thread, depth) {
                if is_name(interp, ty, value) { self.value(value) } else { self.word(value) }
            }
            if let Some(varargs) = &frame.varargs {
                for &(value, ty) in &varargs.values {
                    if ty == Ty::Ptr {
                        self.value(value as u64);
                    } else {
                        self.word(value as u64);
                        self.word((value >> 64) as u64);
                    }
                }
                varargs.pieces.iter().for_each(|(_, piece, _)| self.piece(piece));
            }
        }
        for held in &thread.held {
            self.addr(held.lock);
            self.word(held.mode as u64);
        }
        let mut tls = thread.tls.clone();
        tls.sort_unstable();
        for (global, address) in tls {
            self.word(u64::from(global.0));
            self.value(address);
        }
        for &(key, value) in &thread.specific {
            self.word(u64::from(key));
            self.value(value);
        }
        self.value(thread.errno);
        self.word(thread.cleanups.len() as u64 | u64::from(thread.spurious) << 32);
        self.word(u64::from(thread.failures));
        for cleanup in &thread.cleanups {
            self.word(u64::from(cleanup.depth) << 32 | u64::from(cleanup.jump.map_or(0, |jump| jump + 1)));
        }
        if let Some(result) = thread.exiting {
            self.word(1);
            self.value(result);
        }
        match &thread.leaving {
            Leaving::No => self.word(0),
            Leaving::Process { code, handlers } => {
                self.word(1 | (*code as u32 as u64) << 8);
                handlers.iter().for_each(|handler| self.word(*handler));
            }
            Leaving::Thread { result, .. } => {
                self.word(2);
                self.value(*result);
            }
        }
    }

    fn stand(&mut self, thread: &Thread) {
        let Stand::Before { operation, action } = &thread.stand else { return self.word(0) };
        self.word(u64::from(operation.site.0) << 8 | (thread.stutter.detour() as u64) << 1 | 1);
        match action {
            Action::WaitEnd(wait) => {
                let until = match wait.until {
                    Until::Signalled => 0,
                    Until::TimedOut => 1,
                    Until::Spurious => 2,
                };
                self.word(2 | until << 4);
                self.addr(wait.cond);
                self.addr(wait.mutex);
                self.word(u64::from(self.interp.world.sync.is_woken(wait.cond, thread.id)));
            }
            Action::BarrierLeave { barrier, round, serial } => {
                let now = match self.interp.world.sync.get(*barrier) {
                    Some(SyncObject::Barrier(state)) => state.round,
                    _ => u32::MAX,
                };
                self.word(3 | u64::from(*serial) << 4 | u64::from(now.wrapping_sub(*round)) << 8);
                self.addr(*barrier);
            }
            Action::OnceEnd(at) => {
                self.word(4);
                self.addr(*at);
            }
            Action::Begin => self.word(5),
            Action::End => self.word(6),
            Action::Resume => self.word(7),
            Action::Atomic => self.word(8),
            Action::Fence => self.word(9),
            Action::Effect => self.word(10),
            Action::AtomicEnter => self.word(11),
            Action::AtomicLeave => self.word(12),
            Action::Exit(_) => self.word(13),
            Action::Decide => self.word(14),
            // Which one it is, its arguments and the channels say.
            Action::Channel(_) => self.word(15),
        }
    }

    fn phase(&mut self, phase: &Phase) {
        match phase {
            Phase::Start => self.word(1),
            Phase::Granted => self.word(2),
            Phase::Copied(piece) => {
                self.word(3);
                self.piece(piece);
            }
            Phase::CopiedGranted(piece) => {
                self.word(4);
                self.piece(piece);
            }
            Phase::ByValue(pieces) | Phase::ByValueGranted(pieces) => {
                self.word(5);
                pieces.iter().for_each(|piece| self.piece(piece));
            }
            Phase::Chosen(made) => {
                self.word(8);
                made.iter().for_each(|choice| self.word(u64::from(*choice)));
            }
            Phase::Decided(decided) => self.word(7 | u64::from(*decided == Spurious::Fails) << 8),
            Phase::Library(journal) | Phase::LibraryGranted(journal) => {
                self.word(6);
                journal.hash(self.hasher);
            }
        }
    }

    /// Copies in flight are hashed as numbers: addresses inside count as they are.
    fn piece(&mut self, piece: &Piece) {
        piece.hash(self.hasher);
    }
}

/// The state of a synchronisation object apart from the threads in it; `None` at rest, which is as if it had never been used.
fn sync_words(state: &SyncObject) -> Option<[u64; 2]> {
    match state {
        SyncObject::Mutex(mutex) => {
            let plain = mutex.kind == MutexKind::Normal && !mutex.robust;
            let word =
                1 | (mutex.kind as u64) << 8 | u64::from(mutex.robust) << 16 | (mutex.health as u64) << 17;
            (mutex.owner.is_some() || !plain).then_some([word, u64::from(mutex.depth)])
        }
        SyncObject::Rwlock(lock) => {
            let used = lock.writer.is_some()
                || !lock.readers.is_empty()
                || !lock.waiting.is_empty()
                || lock.kind != RwlockKind::default();
            let word = 2 | (lock.kind as u64) << 8 | (lock.waiting.len() as u64) << 16;
            used.then_some([word, u64::from(lock.writer.is_some())])
        }
        SyncObject::Cond(waiters) => {
            let signalled = waiters.iter().filter(|waiter| waiter.signalled).count() as u64;
            (!waiters.is_empty()).then_some([3, signalled])
        }
        SyncObject::Barrier(barrier) => {
            let word = 4 | u64::from(barrier.arrived) << 8 | u64::from(barrier.leaving) << 32;
            Some([word, u64::from(barrier.count)])
        }
        SyncObject::Semaphore { value: 0 } | SyncObject::Once(OnceState::Fresh) => None,
        SyncObject::Semaphore { value } => Some([5, *value]),
        SyncObject::Once(OnceState::Running(_)) => Some([6, 0]),
        SyncObject::Once(OnceState::Done) => Some([7, 0]),
        SyncObject::Destroyed => Some([8, 0]),
    }
}

/// The threads that a synchronisation object names.
pub(super) fn sync_threads(state: &SyncObject) -> Vec<ThreadId> {
    match state {
        SyncObject::Mutex(mutex) => mutex.owner.into_iter().collect(),
        SyncObject::Rwlock(lock) => {
            lock.writer.iter().chain(&lock.readers).chain(&lock.waiting).copied().collect()
        }
        SyncObject::Cond(waiters) => waiters.iter().map(|waiter| waiter.thread).collect(),
        SyncObject::Once(OnceState::Running(thread)) => vec![*thread],
        SyncObject::Once(_)
        | SyncObject::Barrier(_)
        | SyncObject::Semaphore { .. }
        | SyncObject::Destroyed => Vec::new(),
    }
}
