//! State of the library that threads share and that is no memory here (the environment, the seed of `drand48`, the locale, the inside
//! of a `FILE`), as a block of memory for the sake of conflicts: a call that uses it is an access to the block, of the kind that
//! `libmodel` declares.
//!
//! Nothing is done about state that no function of the program writes: nobody can race on it.

use super::stream::{STREAM_BYTES, STREAM_KEYS, Stream};
use super::{Host, Outcome};
use raddle_libmodel::memory::{Access, Base, Library, Reach, Touch};
use raddle_libmodel::{Effect, LibcFn, Meaning, Models, Variable, memory, variable};

/// What the functions of a program write.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedState {
    written: Vec<Library>,
}

/// Bytes of the block that stands for a piece of state.
const BLOCK: usize = 8;

/// Bytes of the smallest pointer.
const POINTER: usize = 4;

impl SharedState {
    pub(crate) fn of(models: &Models) -> SharedState {
        let mut written = Vec::new();
        for meaning in models.meanings.values() {
            let Meaning::Effect(Effect::Libc(function), _) = meaning else { continue };
            for touch in memory(*function).touches.iter().filter(|touch| touch.access == Access::Write) {
                if let Some(library) = state(touch).filter(|library| !written.contains(library)) {
                    written.push(library);
                }
            }
        }
        SharedState { written }
    }

    pub(crate) fn writes(&self, library: Library) -> bool {
        self.written.contains(&library)
    }

    /// The accesses of a call to such state.
    pub(crate) fn touch(&self, host: &mut dyn Host, function: LibcFn) -> Outcome<()> {
        for touch in &memory(function).touches {
            if let Some(address) = stream_variable(touch).and_then(|name| host.variable(name)) {
                host.read(address, &mut [0; POINTER])?;
            }
        }
        if self.written.is_empty() {
            return Ok(());
        }
        for touch in &memory(function).touches {
            let Some(library) = state(touch).filter(|library| self.written.contains(library)) else {
                continue;
            };
            let block = match (library, touch.region.base) {
                (Library::Stream, Base::Arg(arg)) => host.pointer(usize::from(arg.0)),
                (Library::Stream, _) if function.0 == "fflush" => {
                    if host.pointer(0) == 0 {
                        flush_all(host)?;
                    }
                    continue;
                }
                (Library::Stream, _) => host.library_block(standard_stream(function), &[0; STREAM_BYTES])?,
                (library, _) => host.library_block(library.state_name().unwrap_or("state"), &[0; BLOCK])?,
            };
            match touch.access {
                // `fflush(NULL)`.
                _ if block == 0 => {}
                Access::Write => host.write(block, &[0; BLOCK])?,
                Access::Read | Access::Update | Access::Free => host.read(block, &mut [0; BLOCK])?,
            }
        }
        Ok(())
    }
}

/// A flush of all streams takes the lock of each.
fn flush_all(host: &mut dyn Host) -> Outcome<()> {
    let mut all: Vec<i32> = host.state().files.open.keys().copied().filter(|fd| *fd > 2).collect();
    all.extend([0, 1, 2]);
    for descriptor in all {
        let block = Stream(descriptor).address(host)?;
        host.read(block, &mut [0; BLOCK])?;
    }
    Ok(())
}

/// The variable that holds the standard stream of a call which does not name one.
fn stream_variable(touch: &Touch) -> Option<&'static str> {
    match touch.region.base {
        Base::Variable(name) => matches!(variable(name), Some(Variable::Stream(_))).then_some(name),
        _ => None,
    }
}

/// The state that a touch is about.
fn state(touch: &Touch) -> Option<Library> {
    match touch.region.base {
        _ if touch.region.reach != Reach::Direct => None,
        _ if touch.is_stream() => Some(Library::Stream),
        Base::Library(library) => library.state_name().map(|_| library),
        _ => None,
    }
}

/// The stream that a function uses without naming it.
fn standard_stream(function: LibcFn) -> &'static str {
    let key = match function.0 {
        "scanf" | "vscanf" | "getchar" | "getchar_unlocked" | "gets" => 0,
        "perror" | "err" | "errx" | "warn" | "warnx" | "error" => 2,
        _ => 1,
    };
    STREAM_KEYS[key]
}
