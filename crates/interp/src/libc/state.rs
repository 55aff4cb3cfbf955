//! What the library remembers between calls apart from the program's memory. Cheap to clone: the large parts are shared until
//! they change. It holds no address of the program, so that states which differ in addresses only are equal.

use super::random::Additive;
use crate::outside::FolderEntry;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LibState {
    /// State of `rand` and `random`.
    pub(super) random: Arc<Additive>,
    /// State of the `rand48` family: 48 bits.
    pub(super) random48: u64,
    /// Changes to the environment: `None` for a name that was removed.
    pub(super) environment: Arc<BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
    /// Where `getopt` is.
    pub(super) options: OptionPlace,
    /// Streams and descriptors, and the contents of files that the program wrote or read.
    pub(super) files: Arc<Files>,
    /// Connections that were accepted.
    pub(super) connections: u32,
    pub(super) pipe_signal: PipeSignal,
    /// Handlers by signal, where one was set: `SIG_DFL`, `SIG_IGN` or a function, whose address is the same in all states.
    pub(super) handlers: Arc<BTreeMap<i32, u64>>,
    /// What folders held when they were opened: a `DIR` names one by its number.
    pub(super) listings: Arc<Vec<Arc<Vec<FolderEntry>>>>,
}

/// What a descriptor stands for.
pub(crate) enum Behind<'a> {
    /// Standard output or error.
    Output,
    Input,
    File(&'a [u8]),
    /// `/dev/null`, or a socket.
    Device,
    Nothing,
}

impl LibState {
    pub(crate) fn behind(&self, descriptor: i32) -> Behind<'_> {
        match (descriptor, self.files.open.get(&descriptor).map(|file| &file.target)) {
            (1 | 2, _) => Behind::Output,
            (0, _) => Behind::Input,
            (_, Some(Target::File(path))) => Behind::File(path),
            (_, Some(Target::Null | Target::Socket { .. })) => Behind::Device,
            (_, Some(Target::Standard) | None) => Behind::Nothing,
        }
    }
}

/// What `SIGPIPE` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum PipeSignal {
    #[default]
    Ends,
    Ignored,
    /// There is a handler, or it is blocked.
    Unknown,
}

/// What `getopt` remembers besides its public variables: all of it positions in `argv`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct OptionPlace {
    pub(super) started: bool,
    /// Element and offset of the next option letter of a bundle (`-abc`).
    pub(super) letter: Option<(i32, u64)>,
    /// Elements passed over that are no options: from here,
    pub(super) first_other: i32,
    /// up to here.
    pub(super) last_other: i32,
}

/// The file system of the run (A-IO) and all that is open. Nothing outside is ever changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Files {
    /// Contents by path of what this run wrote, or found outside. `None`: removed.
    pub(super) contents: BTreeMap<Vec<u8>, Option<Arc<Vec<u8>>>>,
    /// The working folder is another one than at the start.
    pub(super) moved: bool,
    /// Streams and descriptors that were opened, where streams are told apart by more than their number.
    pub(super) lives: u32,
    /// By descriptor: 0, 1 and 2 are standard input, output and error and are in it only when they have state.
    pub(super) open: BTreeMap<i32, OpenFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OpenFile {
    pub(super) target: Target,
    /// Which of those that had this number it is, where that is counted.
    pub(super) life: u32,
    pub(super) offset: u64,
    pub(super) readable: bool,
    pub(super) writable: bool,
    pub(super) append: bool,
    pub(super) end_of_file: bool,
    pub(super) error: bool,
    /// Bytes given back by `ungetc`, last first.
    pub(super) pushed_back: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    Standard,
    File(Vec<u8>),
    /// `/dev/null`.
    Null,
    /// A socket with an unknown peer, and the threads that it has given bytes to.
    Socket {
        peer: Peer,
        readers: Vec<u32>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Peer {
    /// None: a stream that was not connected, by a call that waits for the connection.
    Missing,
    /// One, or none is needed; or it may come at any time, for the socket does not wait.
    Possible,
}

impl OpenFile {
    pub(super) fn new(target: Target) -> OpenFile {
        OpenFile {
            target,
            life: 0,
            offset: 0,
            readable: false,
            writable: false,
            append: false,
            end_of_file: false,
            error: false,
            pushed_back: Vec::new(),
        }
    }

    pub(super) fn is_standard(&self) -> bool {
        self.target == Target::Standard
    }
}
