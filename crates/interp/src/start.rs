//! The state before the first step: globals in memory, arguments and environment, the main thread before its beginning.

use crate::image::{Callable, Image};
use crate::libc::{LibState, STREAM_BYTES, STREAM_KEYS};
use crate::live::LiveCache;
use crate::memory::{At, Birth, Fill, Full, Memory, Name, Named, StackId};
use crate::options::{Options, StartError};
use crate::padding;
use crate::sync::{SHARED, SyncTable, uses_shared_state};
use crate::thread::{Action, Stand, Thread};
use crate::thunks::{self, Thunked};
use crate::world::{Lasting, Operating, State, Watch, World};
use raddle_base::SiteId;
use raddle_event::ThreadId;
use raddle_ir::{FunctionId, Global, Init, Program, SymbolRef, Ty};
use raddle_libmodel::{Models, Variable};
use raddle_machine::{ObjectKind, OpKind, Operation};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) struct Started {
    pub image: Image,
    pub memory: Memory,
    pub world: World,
    pub main: Thread,
}

pub(crate) fn start(
    program: Arc<Program>,
    models: Arc<Models>,
    options: Options,
) -> Result<Started, StartError> {
    let Thunked { program, models, thunks } = thunks::add(program, models);
    let main = program
        .function_by_symbol("main")
        .filter(|&main| program.functions[main].is_defined())
        .ok_or(StartError::NoMain)?;
    let mut memory = Memory::new(program.data_model, options.memory_limit);
    let globals = globals(&mut memory, &program).map_err(|Full| StartError::TooLarge)?;
    let image = Image::new(program.clone(), models, thunks, main, &memory, globals, &options);
    for (id, global) in program.globals.iter() {
        if !global.thread_local {
            initialise(&mut memory, &image, image.globals[id.0 as usize], global);
        }
    }
    padding::mark(&mut memory, &program, &image.globals);
    let main_args = main_args(&mut memory, &program, main, &options).map_err(|Full| StartError::TooLarge)?;
    let library = library_variables(&mut memory, &image, &options).map_err(|Full| StartError::TooLarge)?;
    let mut thread = Thread::new(ThreadId::MAIN);
    let operation = Operation { site: SiteId::NONE, kind: OpKind::Begin };
    thread.stand = Stand::Before { operation, action: Action::Begin };
    thread.stutter.local = 1;
    let undefined = undefined_variables(&program);
    let lasting = Lasting {
        origins: Vec::new(),
        at_exit: Vec::new(),
        keys: Vec::new(),
        library: Arc::new(library),
        assumptions: if undefined.is_empty() { Vec::new() } else { vec!["A-EXTERN"] },
        incomplete: Arc::new(undefined),
        handed_out: Vec::new(),
        libc: LibState::default(),
        channels: Arc::default(),
    };
    let state = State::new(main, lasting);
    let world = World {
        state,
        output: Vec::new(),
        problems: Vec::new(),
        sync: SyncTable::default(),
        options: Arc::new(options),
        watch: Watch::Nothing,
        spawned: Vec::new(),
        live: LiveCache::default(),
        nested_result: 0,
        operating: Operating::No,
        main_args: Arc::new(main_args),
        instructions: 0,
    };
    Ok(Started { image, memory, world, main: thread })
}

/// Makes an object for every global, in order; thread-locals get address 0.
fn globals(memory: &mut Memory, program: &Program) -> Result<Vec<u64>, Full> {
    program
        .globals
        .iter()
        .map(|(id, global)| {
            if global.thread_local {
                return Ok(0);
            }
            memory.allocate(Birth {
                kind: ObjectKind::Global,
                name: Name::Global(id),
                size: global.bytes,
                align: u64::from(global.align),
                fill: match &global.init {
                    Some(init) if !init.open.is_empty() => Fill::Uninitialised,
                    _ => Fill::Zero,
                },
                quiet: global.constant,
                constant: global.constant,
                ..library_birth(global.bytes, Name::Global(id), global.debug_type)
            })
        })
        .collect()
}

fn library_birth(size: u64, name: Name, ty: Option<raddle_ir::DebugTypeId>) -> Birth {
    Birth {
        kind: ObjectKind::Library,
        name,
        size,
        align: 16,
        fill: Fill::Zero,
        quiet: false,
        constant: false,
        thread: ThreadId::MAIN,
        site: SiteId::NONE,
        stack: StackId::EMPTY,
        ty,
        canon: None,
    }
}

/// Writes the initial bytes and addresses of a global (or of a thread's copy of one).
pub(crate) fn initialise(memory: &mut Memory, image: &Image, address: u64, global: &Global) {
    let Some(Init { data, relocations, open }) = &global.init else { return };
    let len = data.len().min(global.bytes as usize);
    let is_zero = open.is_empty() && data.iter().all(|&byte| byte == 0);
    if !is_zero && let Some(at) = memory.find(address, global.bytes) {
        // Open bytes are zero, as compilers leave them, and count as not written.
        let mut bytes = data[..len].to_vec();
        bytes.resize(if open.is_empty() { len } else { global.bytes as usize }, 0);
        memory.store_bytes(at, &bytes, Named::Number);
        for range in open {
            let at = At { offset: at.offset + range.start as usize, ..at };
            memory.forget(at, (range.end - range.start) as usize);
        }
    }
    let pointer_bytes = memory.layout.pointer_bytes as usize;
    let blocks = &image.first_blocks;
    for relocation in relocations {
        let target = match relocation.target {
            SymbolRef::Global(id) => image.globals[id.0 as usize],
            SymbolRef::Function(id) => memory.layout.function_address(id),
            SymbolRef::Block(function, block) => {
                memory.layout.block_address(blocks[function.0 as usize] + block.0)
            }
        };
        let value = target.wrapping_add(relocation.addend as u64) & memory.layout.mask;
        if let Some(at) = memory.find(address.wrapping_add(relocation.offset), pointer_bytes as u64) {
            memory.store_bytes(at, &value.to_le_bytes()[..pointer_bytes], Named::Name);
        }
    }
}

/// Variables of other files, which start as zero here: the answer does not cover what they might hold.
fn undefined_variables(program: &Program) -> Vec<String> {
    let undefined = program.globals.values().filter(|global| {
        global.init.is_none() && raddle_libmodel::variable(program.text(global.symbol)).is_none()
    });
    undefined
        .map(|global| {
            format!("`{}` is declared and never defined: taken as zero", program.text(global.symbol))
        })
        .collect()
}

/// Gives the library's variables that the program declares what they hold at the start; the blocks made for that, by key.
fn library_variables(
    memory: &mut Memory,
    image: &Image,
    options: &Options,
) -> Result<BTreeMap<String, u64>, Full> {
    let mut blocks = BTreeMap::new();
    let program = &image.program;
    for (id, global) in program.globals.iter() {
        let Some(variable) = raddle_libmodel::variable(program.text(global.symbol)) else { continue };
        if global.init.is_some() || global.thread_local {
            continue;
        }
        let address = image.globals[id.0 as usize];
        let (value, bytes, named) = match variable {
            Variable::Stream(descriptor) => {
                let key = STREAM_KEYS[usize::from(descriptor)];
                let label = memory.records.label(key);
                let block = memory.allocate(library_birth(STREAM_BYTES as u64, label, None))?;
                blocks.insert(key.to_owned(), block);
                (block, memory.layout.pointer_bytes, Named::Name)
            }
            Variable::Int(value) => (value as u64, 4, Named::Number),
            Variable::Long(value) => (value as u64, memory.layout.pointer_bytes, Named::Number),
            Variable::NullPointer => (0, memory.layout.pointer_bytes, Named::Name),
            Variable::Environment => {
                let env: Vec<String> =
                    options.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
                (string_array(memory, "environ", &env)?, memory.layout.pointer_bytes, Named::Name)
            }
            Variable::ProgramName => {
                let name = options.args.first().cloned().unwrap_or_default();
                (string(memory, "program name", &name)?, memory.layout.pointer_bytes, Named::Name)
            }
        };
        if let Some(at) = memory.find(address, u64::from(bytes)) {
            memory.store_bytes(at, &value.to_le_bytes()[..bytes as usize], named);
        }
    }
    // It is the same whoever comes first.
    let shares = |function| matches!(image.callable(function), Callable::Effect(effect, _) if uses_shared_state(effect));
    if program.functions.ids().any(shares) {
        let label = memory.records.label(SHARED);
        blocks.insert(SHARED.to_owned(), memory.allocate(library_birth(1, label, None))?);
    }
    Ok(blocks)
}

/// `argc`, `argv`, `envp`, if `main` or a constructor asks for them.
fn main_args(
    memory: &mut Memory,
    program: &Program,
    main: FunctionId,
    options: &Options,
) -> Result<Vec<(u128, Ty)>, Full> {
    let mut takers = program.constructors.iter().chain([&main]);
    if takers.all(|&function| program.functions[function].params.is_empty()) {
        return Ok(Vec::new());
    }
    let argv = string_array(memory, "argv", &options.args)?;
    let env: Vec<String> = options.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let envp = string_array(memory, "envp", &env)?;
    Ok(vec![
        (options.args.len() as u128, Ty::Int(32)),
        (u128::from(argv), Ty::Ptr),
        (u128::from(envp), Ty::Ptr),
    ])
}

fn string_array(memory: &mut Memory, name: &str, strings: &[String]) -> Result<u64, Full> {
    let pointer_bytes = memory.layout.pointer_bytes as usize;
    let label = memory.records.label(name);
    let array = memory.allocate(library_birth(((strings.len() + 1) * pointer_bytes) as u64, label, None))?;
    for (index, text) in strings.iter().enumerate() {
        let address = string(memory, &format!("{name}[{index}]"), text)?;
        if let Some(at) = memory.find(array + (index * pointer_bytes) as u64, pointer_bytes as u64) {
            memory.store_bytes(at, &address.to_le_bytes()[..pointer_bytes], Named::Name);
        }
    }
    Ok(array)
}

fn string(memory: &mut Memory, name: &str, text: &str) -> Result<u64, Full> {
    let label = memory.records.label(name);
    let address = memory.allocate(library_birth(text.len() as u64 + 1, label, None))?;
    if let Some(at) = memory.find(address, text.len() as u64 + 1)
        && !text.is_empty()
    {
        memory.store_bytes(at, text.as_bytes(), Named::Number);
    }
    Ok(address)
}
