//! Places in the programmer's source files.

crate::define_id! {
    /// A source file, resolved by the program that holds it.
    pub struct FileId, "file"
}

/// A line and column of a file. Line 0 means that the compiler gave no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub file: FileId,
    pub line: u32,
    pub column: u32,
}
