//! What a library function sees of the machine. Every byte that it reads or writes through here is an access of the calling thread
//! and reported as such, so a racing `strcpy` is a race.

use super::state::LibState;
use crate::channels::Channels;
use crate::outside::{FolderEntry, Links};
use crate::sync::Passing;
use raddle_event::ProblemKind;
use raddle_ir::{DataModel, Ty};
use std::sync::Arc;

/// The call ends the segment: the machine has recorded why (problem, unsupported, limit) and stops this thread or run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop;

pub type Outcome<T> = Result<T, Stop>;

/// One call in progress.
pub trait Host {
    fn data_model(&self) -> DataModel;

    /// Number of arguments at this call, variadic ones included.
    fn arg_count(&self) -> usize;
    /// Bits of an argument, zero-extended; 0 when there are fewer (K&R calls).
    fn arg(&self, index: usize) -> u128;
    /// Type at the call site; `None` when there are fewer.
    fn arg_type(&self, index: usize) -> Option<Ty>;
    /// Where the result goes: its type, `None` when unused.
    fn result_type(&self) -> Option<Ty>;
    /// Whether the program does anything with the result.
    fn result_is_used(&self) -> bool;
    /// Whether it does anything with a pointer that is returned but load and store there.
    fn result_is_kept(&self) -> bool;
    /// Whether the program cannot write to the object at this address.
    fn is_constant(&self, address: u64) -> bool;
    /// Whether the program can get at the environment without calling the library.
    fn environment_is_memory(&self) -> bool;

    /// Reads `buffer.len()` bytes: a read access.
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Outcome<()>;
    /// Writes: a write access.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Outcome<()>;
    /// Reads a stored pointer as a pointer, so that the object it names is not exposed: a read access of the pointer's width.
    fn read_pointer(&mut self, address: u64) -> Outcome<u64>;
    /// Stores a pointer that stays a pointer: a write access of the pointer's width.
    fn write_pointer(&mut self, address: u64, pointer: u64) -> Outcome<()>;
    /// The number of this address becomes visible to the program (`%p`).
    fn expose(&mut self, pointer: u64);
    /// Copies inside the machine so that stored pointers stay pointers; one read and one write access. Ranges may overlap.
    fn copy(&mut self, to: u64, from: u64, len: u64) -> Outcome<()>;
    fn fill(&mut self, address: u64, byte: u8, len: u64) -> Outcome<()>;
    /// Length of the zero-terminated string, terminator not counted; reads the bytes up to and including it, at most `limit`.
    fn string_length(&mut self, address: u64, limit: u64) -> Outcome<u64>;

    /// A fresh heap block; alignment at least 16. `zeroed` as for `calloc`. `what` names it in reports: `malloc(40)`.
    fn allocate(&mut self, bytes: u64, align: u64, zeroed: Zeroed, what: &str) -> Outcome<u64>;
    /// A write access to the whole block, then it is gone. Null is fine. Double and invalid frees are problems.
    fn free(&mut self, address: u64) -> Outcome<()>;
    /// Size of the live heap block that starts at this address.
    fn block_size(&mut self, address: u64) -> Option<u64>;
    /// A block that lives as long as the process and is private to the library (`getenv` results, `stdin`, `localtime`
    /// buffers), found again by key; accesses by the program are ordinary accesses.
    fn library_block(&mut self, key: &str, initial: &[u8]) -> Outcome<u64>;

    fn set_errno(&mut self, value: i32);
    /// Whether the program calls functions that use a `FILE` without its lock.
    fn streams_are_memory(&self) -> bool {
        false
    }
    /// Address of this thread's `errno`.
    fn errno_address(&mut self) -> Outcome<u64>;

    /// Bytes for a file descriptor: 1 and 2 are captured output.
    fn output(&mut self, descriptor: i32, bytes: &[u8]);
    /// Takes up to `limit` bytes of standard input.
    fn take_input(&mut self, limit: usize) -> Vec<u8>;
    /// Virtual time in nanoseconds; advances by itself with every question and by sleeping.
    fn now(&mut self) -> u64;
    fn sleep(&mut self, nanoseconds: u64);
    /// What the library remembers apart from memory: `rand`, open files, `setenv`. Shared by all threads; part of the machine's
    /// state, so saved, restored and hashed with it. Starts as `LibState::default()`; using it is no access of the program.
    fn state(&mut self) -> &mut LibState;
    /// The address of the program's declaration of a variable of the library (`optind`), if it has one; what such variables hold at
    /// the start is in `libmodel::variable`.
    fn variable(&mut self, name: &str) -> Option<u64>;
    /// The environment that the process started with.
    fn environment(&self, name: &str) -> Option<String>;

    /// Pipes, socket pairs and eventfds; what changes them does so in a visible operation.
    fn channels(&mut self) -> &mut Channels;
    /// Whether the call is such an operation.
    fn is_operation(&self) -> bool;
    /// Whether the descriptor is an end of one.
    fn is_channel(&mut self, descriptor: i32) -> bool {
        self.channels().is_open(descriptor)
    }
    /// The calling thread gives, or takes, places of a direction: from the first, so many.
    fn pass(&mut self, stream: usize, places: (u32, u32), passing: Passing) -> Outcome<()>;
    fn thread_number(&self) -> u32;
    fn thread_count(&self) -> u32;

    /// The environment chooses one of so many ways for the call to go on; 0 is the plain one. What the call did before it is done again.
    fn choose(&mut self, variants: u32) -> Outcome<u32>;
    /// Calls of this thread that went another way than they would here and now.
    fn failures(&mut self) -> &mut u32;
    /// The bytes of a regular file that exists outside, the same in every execution.
    fn outside(&mut self, path: &[u8]) -> Option<Arc<Vec<u8>>>;
    /// What is in a folder that exists outside, sorted.
    fn outside_folder(&mut self, path: &[u8]) -> Option<Arc<Vec<FolderEntry>>>;
    /// Where a path leads outside.
    fn outside_link(&mut self, path: &[u8], links: Links) -> Option<Arc<Vec<u8>>>;

    /// The answer now rests on this numbered assumption.
    fn assume(&mut self, id: &'static str);
    /// A problem of the program that ends the run (crash, abort, failed assertion).
    fn fail(&mut self, kind: ProblemKind, detail: String) -> Stop;
    /// Not understood: the run ends as unsupported.
    fn unsupported(&mut self, reason: String) -> Stop;
    /// A bound of the model is reached: the run ends, and what follows is not covered.
    fn limit(&mut self, reason: &str) -> Stop;

    /// Calls back into the program (`qsort`, `bsearch`, `atexit` handlers) and returns its result bits. Runs to completion without a
    /// scheduling point; a callback that synchronises is unsupported.
    fn call_back(&mut self, function: u64, args: &[(u128, Ty)]) -> Outcome<u128>;
    /// Ends the process.
    fn exit(&mut self, code: i32) -> Stop;
    /// A signal ends the process: no handlers run.
    fn killed(&mut self, signal: i32) -> Stop;
    fn at_exit(&mut self, function: u64);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zeroed {
    Yes,
    No,
}
