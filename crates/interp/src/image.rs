//! A program made ready to run: compiled functions, addresses of globals. Shared by all runs.

use crate::code::Func;
use crate::compile::{self, Looks, Surroundings};
use crate::keys;
use crate::libc::SharedState;
use crate::memory::Memory;
use crate::options::Options;
use crate::reached::Reached;
use crate::sync::numbers_are_seen;
use crate::thread::Frame;
use crate::values::{self, Values};
use raddle_base::SiteId;
use raddle_ir::{BlockId, FunctionId, Program, Ty};
use raddle_libmodel::{Effect, LibcFn, Meaning, Models, uses_environ};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

pub(crate) struct Image {
    pub program: Arc<Program>,
    pub models: Arc<Models>,
    funcs: Vec<Option<Func>>,
    /// What is entered in place of a function without a body of its own to run.
    thunks: BTreeMap<FunctionId, FunctionId>,
    pub globals: Vec<u64>,
    /// What calls for values of the environment try.
    pub values: BTreeMap<SiteId, Values>,
    pub main: FunctionId,
    pub pointer_bits: u8,
    pub shared: SharedState,
    /// Whether the program uses `environ`, or the third parameter of `main`.
    pub environment_is_memory: bool,
    /// Whether the program can see numbers of descriptors.
    pub numbers_are_seen: bool,
    /// Number of each function's block 0 among all blocks.
    pub first_blocks: Vec<u32>,
    /// Whether the ids of threads are used for joining only, once somebody wants to know.
    pub ids_are_joined: OnceLock<bool>,
    /// Whether the numbers of keys only name them, once somebody wants to know.
    keys_are_names: OnceLock<bool>,
    pub reached: Reached,
}

/// What calling a function means here.
pub(crate) enum Callable<'a> {
    Body,
    AtomicBody,
    Effect(&'a raddle_libmodel::Effect, &'a [&'static str]),
    Unknown,
}

impl Image {
    pub fn new(
        program: Arc<Program>,
        models: Arc<Models>,
        thunks: BTreeMap<FunctionId, FunctionId>,
        main: FunctionId,
        memory: &Memory,
        globals: Vec<u64>,
        options: &Options,
    ) -> Self {
        let around = Surroundings {
            program: &program,
            models: &models,
            layout: &memory.layout,
            globals: &globals,
            branches: &options.branches,
            looks: &Looks::of(&program, &models),
        };
        let first_blocks = first_blocks(&program);
        let funcs: Vec<Option<Func>> = program
            .functions
            .iter()
            .map(|(id, function)| {
                function
                    .is_defined()
                    .then(|| compile::function(&around, id, function, first_blocks[id.0 as usize]))
            })
            .collect();
        let values = values::of_calls(&program, &models, &*options.values);
        let shared = SharedState::of(&models);
        let numbers_are_seen = numbers_are_seen(&models);
        let environment_is_memory = uses_environ(&program);
        let pointer_bits = memory.layout.pointer_bytes as u8 * 8;
        let reached = Reached::new(program.sites.len(), &funcs);
        Self {
            program,
            models,
            funcs,
            thunks,
            globals,
            values,
            main,
            pointer_bits,
            shared,
            environment_is_memory,
            numbers_are_seen,
            first_blocks,
            ids_are_joined: OnceLock::new(),
            keys_are_names: OnceLock::new(),
            reached,
        }
    }

    pub fn keys_are_names(&self) -> bool {
        *self.keys_are_names.get_or_init(|| keys::are_only_handed_on(self))
    }

    /// Whether the program calls `sem_unlink`.
    pub fn removes_semaphores(&self) -> bool {
        let removes =
            |meaning: &Meaning| matches!(meaning, Meaning::Effect(Effect::Libc(LibcFn("sem_unlink")), _));
        self.models.meanings.values().any(removes)
    }

    pub fn func(&self, function: FunctionId) -> &Func {
        self.funcs[function.0 as usize].as_ref().expect("only functions with a body are entered")
    }

    pub fn reached_blocks(&self) -> BTreeSet<(FunctionId, BlockId)> {
        self.reached.blocks(&self.funcs)
    }

    pub fn has_body(&self, function: FunctionId) -> bool {
        self.funcs[function.0 as usize].is_some()
    }

    /// The function to enter when this one is called back by the library or the system.
    pub fn entry(&self, function: FunctionId) -> Option<FunctionId> {
        match self.thunks.get(&function) {
            Some(&thunk) => Some(thunk),
            None => self.has_body(function).then_some(function),
        }
    }

    pub fn site(&self, frame: &Frame) -> SiteId {
        self.func(frame.function).sites[frame.pc as usize]
    }

    pub fn callable(&self, function: FunctionId) -> Callable<'_> {
        match self.models.meanings.get(function) {
            Some(Meaning::Effect(effect, assumptions)) => Callable::Effect(effect, assumptions),
            Some(Meaning::AtomicBody) if self.has_body(function) => Callable::AtomicBody,
            _ if self.has_body(function) => Callable::Body,
            _ => Callable::Unknown,
        }
    }

    pub fn name(&self, function: FunctionId) -> &str {
        self.program.text(self.program.functions[function].name)
    }

    pub fn bits(&self, ty: Ty) -> u8 {
        match ty {
            Ty::Int(bits) => bits,
            Ty::Ptr => self.pointer_bits,
            Ty::Float(float) => (float.access_bytes() * 8) as u8,
        }
    }
}

fn first_blocks(program: &Program) -> Vec<u32> {
    let mut next = 0;
    program
        .functions
        .values()
        .map(|function| {
            let first = next;
            next += function.blocks.len() as u32;
            first
        })
        .collect()
}
