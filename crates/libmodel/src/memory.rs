//! Which memory of the program a library call reads and writes, which pointers it returns, what flows where, and which functions of
//! the program it calls: one [`MemoryEffect`] per library function, and one for every other [`Effect`].
//!
//! The standards are the truth (C11, POSIX.1-2017), and the Linux manual pages for what they leave to the system: an entry covers what
//! the function may do when it succeeds. What the interpreter does is inside it, which tests of `interp` check; what
//! ThreadSanitizer and DRD see of real calls is inside it, which `cli/tests/library` checks. State of the C library that calls share
//! ([`Library`]) is memory wherever POSIX (XSH 2.9.1) does not ask for thread safety, except for functions that glibc documents
//! as MT-Safe (A-MTSAFE).
//!
//! Everything here is *may*: a call touches no more than this, and need not touch all of it. Null pointers are touched by nobody and
//! may be returned by everybody. A call on a synchronisation object is an atomic read of it.

mod build;
mod ctype;
mod effects;
mod math;
mod process;
mod pthread_attributes;
mod stdio;
mod stdlib;
mod string;
mod time;
mod unistd;

pub(crate) use math::is_of_numbers;

use crate::{Arg, LibcFn};
use raddle_ir::DataModel;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a call of this function does to memory. Every function that a row of the table names has an entry.
pub fn memory(function: LibcFn) -> &'static MemoryEffect {
    static INDEX: LazyLock<HashMap<&'static str, MemoryEffect>> =
        LazyLock::new(|| entries().into_iter().collect());
    INDEX.get(function.0).unwrap_or_else(|| panic!("no memory effect of `{}`", function.0))
}

/// All entries by name of the library function, family by family.
pub fn entries() -> Vec<(&'static str, MemoryEffect)> {
    [
        stdlib::entries(),
        string::entries(),
        stdio::entries(),
        time::entries(),
        unistd::entries(),
        math::entries(),
        ctype::entries(),
        process::entries(),
        pthread_attributes::entries(),
    ]
    .concat()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryEffect {
    pub touches: Vec<Touch>,
    /// The one heap block that a call may make.
    pub allocates: Option<Block>,
    /// Pointers that the call may return; empty when it returns none.
    pub returns: Vec<Value>,
    /// What bytes written may hold besides numbers. A write that is not named here stores no pointer.
    pub stores: Vec<Store>,
    pub calls: Vec<Callback>,
    pub ending: Ending,
    /// Why every call is a gap: the interpreter refuses it whatever the arguments are.
    pub gap: Option<&'static str>,
    /// Calls that are a gap unless the argument is known to be harmless, and why.
    pub gap_if: Option<(Doubt, &'static str)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// The argument may be another pointer than null.
    NotNull(Arg),
    /// The format that the argument points to may have the conversion `%p`.
    HasPointerConversion(Arg),
    /// The flags of a map may not be those of fresh memory.
    MapsMemoryInUse(Arg),
    /// Advice on memory may take its contents away.
    LosesContents(Arg),
}

impl Doubt {
    pub fn arg(self) -> Arg {
        match self {
            Doubt::NotNull(arg)
            | Doubt::HasPointerConversion(arg)
            | Doubt::MapsMemoryInUse(arg)
            | Doubt::LosesContents(arg) => arg,
        }
    }
}

/// Whether a map with these flags of Linux is memory that nobody else has: anonymous, or a private copy of a file, and at an address of
/// the system's choice (not `MAP_FIXED`, `MAP_FIXED_NOREPLACE`).
pub fn maps_fresh_memory(flags: i64) -> bool {
    let (shared, anonymous) = (flags & 0x01 != 0, flags & 0x20 != 0);
    !maps_at_fixed_address(flags) && (anonymous || !shared)
}

/// Whether a map with these flags is put where the caller says.
pub fn maps_at_fixed_address(flags: i64) -> bool {
    flags & 0x10_0010 != 0
}

/// Whether this advice leaves the contents of memory alone: normal, random, sequential, will need.
pub fn keeps_contents(advice: i64) -> bool {
    (0..=3).contains(&advice)
}

/// Whether a format may have the conversion `%p`.
pub fn has_pointer_conversion(format: &[u8]) -> bool {
    let mut conversions = format.split(|byte| *byte == b'%').skip(1);
    conversions.any(|rest| {
        let modifiers =
            |byte: &&u8| !matches!(byte, b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'*' | b'.' | b'$');
        rest.iter().find(modifiers) == Some(&b'p')
    })
}

impl MemoryEffect {
    /// Whether the program gets a block that the call makes, with what the call wrote there.
    pub fn hands_out_block(&self) -> bool {
        self.allocates.is_some_and(|block| block.life == Life::Handed)
    }
}

/// Bytes that a call may read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Touch {
    pub region: Region,
    pub access: Access,
    /// Bytes from the start of the region to the first byte touched.
    pub from: u32,
    /// Bytes from there on.
    pub extent: Extent,
    pub atomicity: Atomicity,
}

/// A `FILE`.
const STREAM: Extent = Extent::Fixed { lp64: 216, ilp32: 148 };

impl Touch {
    /// Whether it is about a `FILE`.
    pub fn is_stream(&self) -> bool {
        self.extent == STREAM
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    Read,
    Write,
    /// Reads and writes in one atomic step.
    Update,
    /// A write to the whole block, which then is gone.
    Free,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atomicity {
    Plain,
    /// The order is in the [`crate::AtomicCall`].
    Atomic,
    /// Of an operation on a synchronisation object: atomic, and orders nothing by itself.
    Operation,
    /// Of the initialisation or destruction of a synchronisation object: not atomic, and all the same no overwriting of its bytes.
    Life,
}

impl Atomicity {
    /// Whether it is of a call on a synchronisation object.
    pub fn operates(self) -> bool {
        matches!(self, Atomicity::Operation | Atomicity::Life)
    }
}

/// Where memory is: a base, and whether it is that memory or what pointers in it point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    pub base: Base,
    pub reach: Reach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// What this argument points to.
    Arg(Arg),
    /// What any pointer among the variadic arguments from this position on points to.
    VarArgs(Arg),
    /// The values behind a `va_list`: on LP64 what the pointer 8 bytes into the argument's structure points to, on ILP32 what the
    /// argument itself points to.
    VaList(Arg),
    /// The block of [`MemoryEffect::allocates`].
    Fresh,
    /// An object of the library that all threads share.
    Library(Library),
    /// A public variable of the library (`optarg`): the program's global of that name if it declares one, else a hidden one.
    Variable(&'static str),
    /// This thread's `errno`. Accesses to it are never events.
    Errno,
    /// The cell with the result of the thread that this argument names; `None`: of the calling thread.
    ThreadResult(Option<Arg>),
    /// This thread's cell of the key that this argument names.
    Specific(Arg),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// The memory itself.
    Direct,
    /// What the pointer at its start points to.
    Behind,
    /// What any pointer in it points to.
    BehindAny,
    /// What any pointer in what any pointer in it points to points to: the buffers of a `struct msghdr`.
    BehindTwice,
}

/// Objects of the library that live as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Library {
    /// Where `strtok` remembers its place: holds a pointer.
    StrtokPlace,
    /// The `struct tm` of `localtime`.
    BrokenDownTime,
    /// The buffer of `asctime`.
    TimeText,
    /// What a `FILE *` points to. A call that takes the lock of the stream counts as a read, one that does not (`putc_unlocked`) as a
    /// write: so two calls conflict unless both take the lock.
    Stream,
    /// The environment and its strings; holds the strings that `putenv` was given.
    Environment,
    /// Constant strings: messages, names of locales.
    Text,
    /// Holds a pointer to a [`Library::CharacterTable`].
    CharacterTablePointer,
    CharacterTable,
    /// Named semaphores.
    Semaphore,
    /// The state of `drand48` and its family.
    Random48,
    /// The locale of the process, and the string that `setlocale` returns.
    Locale,
    /// The name that `getlogin` returns.
    LoginName,
    /// The `struct hostent` of `gethostbyname`, and what it points to: pointers to itself.
    HostEntry,
    /// Holds the string that `openlog` was given.
    LogName,
    /// All bytes that have left the memory, in files, pipes and sockets. Calls exchange them in no order: touches are atomic.
    Written,
}

/// How many bytes from a pointer on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    Fixed {
        lp64: u32,
        ilp32: u32,
    },
    /// The value of the argument.
    Arg(Arg),
    Product(Arg, Arg),
    /// The value of the argument times that many bytes.
    Times(Arg, u32),
    /// The value of the argument times that many pointers.
    TimesWords(Arg, u32),
    /// The value of the argument, rounded up to pages.
    Pages(Arg),
    /// Up to the terminator and with it.
    CString,
    /// The same, and no more than the value of the argument.
    CStringUpTo(Arg),
    /// As many bytes as the string that this argument points to has, with its terminator.
    StringOf(Arg),
    /// Up to the end of the object.
    ToEnd,
}

/// A heap block made by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    pub size: Extent,
    pub fill: Fill,
    pub life: Life,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    Zero,
    Uninitialised,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Life {
    /// The program gets it.
    Handed,
    /// Gone when the call returns (the buffer of `qsort`).
    Inside,
}

/// A value, as far as pointers in it are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// The argument itself.
    Arg(Arg),
    /// A pointer to some byte of the memory of this region, its end included.
    Into(Region),
    /// The bytes of that memory, pointers among them.
    ContentOf(Region),
    /// Bytes from outside of the memory: input, files, pipes. A pointer among them is one that the program wrote there before: it is in
    /// [`Library::Written`].
    Outside,
    /// The handle of the thread that the call makes.
    NewThread,
    /// The handle of the calling thread.
    ThisThread,
}

/// `value` may be in the memory of `to` afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    pub to: Region,
    pub value: Value,
}

impl Store {
    /// A new block that points into itself; what is given to the program points to its start.
    pub fn points_inside(&self) -> bool {
        self.value == Value::Into(self.to) && self.to == Base::Fresh.into()
    }
}

/// A function of the program that the library calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    pub function: Arg,
    /// Its arguments, in order.
    pub passes: Vec<Value>,
    pub when: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// Before the call returns, any number of times, in the calling thread.
    Now,
    /// When the process exits, in the thread that makes it.
    ProcessExit,
    /// When a thread ends, in that thread.
    ThreadExit,
    /// In a new thread.
    NewThread,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ending {
    #[default]
    Returns,
    /// The call may be the end of the process, with exit handlers.
    MayExit,
    /// Always.
    Exits,
    /// The end of the process, without exit handlers.
    Aborts,
    /// The end of the calling thread.
    EndsThread,
}

impl Extent {
    /// The number of bytes where it does not depend on the call.
    pub fn bytes(self, model: DataModel) -> Option<u64> {
        match (self, model) {
            (Extent::Fixed { lp64, .. }, DataModel::Lp64) => Some(u64::from(lp64)),
            (Extent::Fixed { ilp32, .. }, DataModel::Ilp32) => Some(u64::from(ilp32)),
            _ => None,
        }
    }
}

impl Library {
    /// Whether several objects go by this name.
    pub fn is_many(self) -> bool {
        match self {
            Library::StrtokPlace
            | Library::BrokenDownTime
            | Library::TimeText
            | Library::Random48
            | Library::Locale
            | Library::LoginName
            | Library::LogName => false,
            Library::Stream
            | Library::Environment
            | Library::Text
            | Library::CharacterTablePointer
            | Library::CharacterTable
            | Library::Semaphore
            | Library::HostEntry
            | Library::Written => true,
        }
    }

    /// The name of state that is memory for the sake of conflicts only: the interpreter keeps its value elsewhere.
    pub fn state_name(self) -> Option<&'static str> {
        match self {
            Library::Environment => Some("environment"),
            Library::Random48 => Some("state of drand48"),
            Library::Locale => Some("locale"),
            Library::LoginName => Some("name of getlogin"),
            Library::StrtokPlace
            | Library::HostEntry
            | Library::BrokenDownTime
            | Library::TimeText
            | Library::Stream
            | Library::Text
            | Library::CharacterTablePointer
            | Library::CharacterTable
            | Library::Semaphore
            | Library::LogName
            | Library::Written => None,
        }
    }

    /// What pointers in it point to from the start.
    pub fn points_to(self) -> Option<Library> {
        (self == Library::CharacterTablePointer).then_some(Library::CharacterTable)
    }
}

impl From<Base> for Region {
    fn from(base: Base) -> Region {
        Region { base, reach: Reach::Direct }
    }
}

impl From<Arg> for Region {
    fn from(arg: Arg) -> Region {
        Base::Arg(arg).into()
    }
}

impl From<Library> for Region {
    fn from(library: Library) -> Region {
        Base::Library(library).into()
    }
}
