//! What is reachable from the globals, the library and the live threads, and what refers to what.

use crate::machine::Interp;
use crate::memory::{Slot, mix};
use crate::thread::{OnReturn, Thread};
use raddle_event::{Addr, ThreadId};
use raddle_ir::Ty;
use raddle_machine::ObjectKind;
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Object(Slot),
    Thread(ThreadId),
}

pub(super) struct Graph {
    pub nodes: Vec<Node>,
    index: HashMap<Node, usize>,
    /// Nodes whose identity is known without looking: globals, blocks of the library, exposed objects. With a colour of their own.
    pub fixed: Vec<(usize, u64)>,
    /// Slots of live objects by id, for synchronisation objects.
    by_id: HashMap<u32, usize>,
    /// Live registers of each frame of each thread.
    pub live: HashMap<(ThreadId, usize), std::sync::Arc<[crate::live::LiveSlot]>>,
}

/// What a value refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A node, and an offset into it.
    Node(usize, u64),
    /// A dead object, by a number that names it in this run, and the offset.
    Ghost(u64, u64),
    /// Not a reference, or one to a global: their addresses are the same in every run.
    Number(u64),
}

impl Graph {
    pub fn of(interp: &mut Interp) -> Self {
        let mut graph = Self {
            nodes: Vec::new(),
            index: HashMap::new(),
            fixed: Vec::new(),
            by_id: HashMap::new(),
            live: HashMap::new(),
        };
        for (index, thread) in interp.threads.iter().enumerate() {
            for (depth, frame) in thread.frames.iter().enumerate() {
                let function = &interp.image.program.functions[frame.function];
                let func = interp.image.func(frame.function);
                let mut live = interp.world.live.at(function, func, frame.function.0, frame.pc);
                for jump in thread.jumps(depth) {
                    let there = interp.world.live.at(function, func, frame.function.0, jump);
                    live = crate::live::both(&live, &there);
                }
                graph.live.insert((ThreadId(index as u32), depth), live);
            }
        }
        for ((_, global), &address) in interp.image.program.globals.iter().zip(&interp.image.globals) {
            if !global.constant {
                graph.fix(interp, address, mix(address, 0x61_0B_A1));
            }
        }
        for (number, (_, &address)) in interp.world.state.library.iter().enumerate() {
            graph.fix(interp, address, mix(number as u64 + 1, 0x11_B0_01));
        }
        for slot in interp.memory.exposed() {
            graph.fix(
                interp,
                interp.memory.address_of(slot),
                mix(interp.memory.address_of(slot), 0xE4_90_5E),
            );
        }
        for thread in interp.threads.iter() {
            if !interp.world.state.life(thread.id).ended {
                graph.node(Node::Thread(thread.id));
            }
        }
        let mut next = 0;
        while next < graph.nodes.len() {
            let node = graph.nodes[next];
            next += 1;
            match node {
                Node::Object(slot) => graph.follow_object(interp, slot),
                Node::Thread(id) => graph.follow_thread(interp, id),
            }
        }
        graph
    }

    fn fix(&mut self, interp: &Interp, address: u64, identity: u64) {
        if let Some((slot, _)) = interp.memory.owner(address) {
            let index = self.object(interp, slot);
            self.fixed.push((index, identity));
        }
    }

    fn node(&mut self, node: Node) -> usize {
        let count = self.nodes.len();
        let index = *self.index.entry(node).or_insert(count);
        if index == count {
            self.nodes.push(node);
        }
        index
    }

    fn object(&mut self, interp: &Interp, slot: Slot) -> usize {
        let index = self.node(Node::Object(slot));
        self.by_id.insert(interp.memory.object(slot).id.0, index);
        index
    }

    /// Makes sure that what the value refers to has a node.
    fn reach(&mut self, interp: &Interp, value: u64) {
        if let Some(thread) = thread_of(interp, value) {
            self.node(Node::Thread(thread));
        } else if let Some((slot, _)) = interp.memory.owner(value)
            && interp.memory.object(slot).kind != ObjectKind::Global
        {
            self.object(interp, slot);
        }
    }

    fn follow_object(&mut self, interp: &Interp, slot: Slot) {
        for value in object_names(interp, slot) {
            self.reach(interp, value.1);
        }
        for (_, state) in sync_inside(interp, slot) {
            for thread in super::encode::sync_threads(&state) {
                self.node(Node::Thread(thread));
            }
        }
    }

    fn follow_thread(&mut self, interp: &Interp, id: ThreadId) {
        let thread = &interp.threads[id];
        self.reach(interp, interp.world.state.life(id).result);
        self.reach(interp, thread.exiting.unwrap_or(0));
        for depth in 0..thread.frames.len() {
            for (ty, value) in self.registers(thread, depth) {
                if is_name(interp, ty, value) {
                    self.reach(interp, value);
                }
            }
            if let Some(varargs) = &thread.frames[depth].varargs {
                for &(value, ty) in &varargs.values {
                    if ty == Ty::Ptr {
                        self.reach(interp, value as u64);
                    }
                }
            }
        }
        for &(_, address) in &thread.tls {
            self.reach(interp, address);
        }
        for &(_, value) in &thread.specific {
            self.reach(interp, value);
        }
        if thread.errno != 0 {
            self.reach(interp, thread.errno);
        }
    }

    /// Types and values of the live registers of a frame; wide ones give two.
    pub fn registers(&self, thread: &Thread, depth: usize) -> Vec<(Ty, u64)> {
        let frame = &thread.frames[depth];
        let mut values = Vec::new();
        for slot in self.live[&(thread.id, depth)].iter() {
            let at = (frame.base + slot.slot) as usize;
            values.push((slot.ty, thread.regs[at]));
            if slot.ty.is_wide() {
                values.push((Ty::Int(128), thread.regs[at + 1]));
            }
        }
        values
    }

    pub fn target(&self, interp: &Interp, value: u64) -> Target {
        if let Some(thread) = thread_of(interp, value) {
            return match self.index.get(&Node::Thread(thread)) {
                Some(&index) => Target::Node(index, 0),
                None => Target::Number(value),
            };
        }
        if let Some((slot, offset)) = interp.memory.owner(value) {
            if interp.memory.object(slot).kind == ObjectKind::Global {
                return Target::Number(value);
            }
            return match self.index.get(&Node::Object(slot)) {
                Some(&index) => Target::Node(index, offset),
                None => Target::Number(value),
            };
        }
        let decoded = interp.memory.layout.decode(value);
        if decoded.class >= 4 || value < 4096 {
            return Target::Number(value);
        }
        let name = interp.memory.layout.encode(decoded.class, decoded.index, decoded.generation);
        Target::Ghost(name, decoded.offset)
    }

    pub fn thread(&self, id: ThreadId) -> Option<usize> {
        self.index.get(&Node::Thread(id)).copied()
    }

    /// The node of the object that holds a synchronisation object, if anything refers to it.
    pub fn sync_holder(&self, at: Addr) -> Option<usize> {
        self.by_id.get(&at.object.0).copied()
    }
}

/// Whether a register value stands for something: a pointer, or an integer that is a thread's handle.
pub(super) fn is_name(interp: &Interp, ty: Ty, value: u64) -> bool {
    match ty {
        Ty::Ptr => true,
        Ty::Int(bits) => bits == interp.image.pointer_bits && interp.memory.layout.is_thread_handle(value),
        Ty::Float(_) => false,
    }
}

fn thread_of(interp: &Interp, value: u64) -> Option<ThreadId> {
    interp.memory.layout.thread_at(value).filter(|id| (id.0 as usize) < interp.threads.len())
}

/// Offsets and values of the words of an object that hold names.
pub(super) fn object_names(interp: &Interp, slot: Slot) -> Vec<(usize, u64)> {
    let object = interp.memory.object(slot);
    let bytes = interp.memory.layout.pointer_bytes as usize;
    object
        .names
        .iter()
        .enumerate()
        .filter(|(_, named)| **named != 0)
        .map(|(word, _)| (word * bytes, interp.memory.pointer_at(slot, word * bytes)))
        .collect()
}

/// Synchronisation objects inside an object, by offset.
pub(super) fn sync_inside(interp: &Interp, slot: Slot) -> Vec<(u32, crate::sync::SyncObject)> {
    let object = interp.memory.object(slot);
    if !object.has_sync {
        return Vec::new();
    }
    let sync = &interp.world.sync;
    sync.inside(object.id)
        .into_iter()
        .filter_map(|at| sync.get(at).map(|state| (at.offset, state.clone())))
        .collect()
}

/// A frame's way of returning, as a number.
pub(super) fn return_word(on_return: &OnReturn) -> u64 {
    match on_return {
        OnReturn::Caller => 1,
        OnReturn::AtomicSection => 2,
        OnReturn::Once(at) => 3 | u64::from(at.offset) << 8,
        OnReturn::ThreadEnd => 4,
        OnReturn::MainEnd => 5,
        OnReturn::Constructor(index) => 6 | u64::from(*index) << 8,
        OnReturn::Leaving => 7,
        OnReturn::Nested => 8,
        OnReturn::Journal(_) => 9,
    }
}
