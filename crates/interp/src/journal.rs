//! What a library function has done so far, so that it can stop in the middle and be run again.
//!
//! Where accesses are visible, another thread may run between two accesses of one library call. The call then ends early, and
//! is started again later: everything in its journal is answered from there without happening twice.

use crate::libc::LibState;
use crate::memory::Piece;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Journal {
    pub done: Vec<Done>,
    /// The library's own state when the call began.
    pub library: LibState,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Done {
    Unit,
    Value(u128),
    Missing,
    Bytes(Vec<u8>),
    Piece(Piece),
}
