//! Types as the programmer declared them, from debug information: for names and field paths, not for execution.

use raddle_base::Symbol;

raddle_base::define_id! {
    /// A debug type of the program.
    pub struct DebugTypeId, "t"
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DebugType {
    /// `int`, `char`, `double`, `_Bool`, enumerations.
    Scalar {
        name: Symbol,
        bytes: u64,
    },
    Pointer {
        to: DebugTypeId,
    },
    /// `count` is `None` for flexible and variable-length arrays.
    Array {
        element: DebugTypeId,
        count: Option<u64>,
    },
    Record {
        kind: RecordKind,
        name: Option<Symbol>,
        bytes: u64,
        fields: Vec<Field>,
    },
    Typedef {
        name: Symbol,
        to: DebugTypeId,
    },
    /// `const`, `volatile`, `restrict`, `_Atomic`: the word itself.
    Qualified {
        qualifier: Symbol,
        to: DebugTypeId,
    },
    Function,
    Void,
    /// Declared only, or not described by the compiler.
    Unknown {
        name: Option<Symbol>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    Struct,
    Union,
    Class,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// `None` for anonymous members.
    pub name: Option<Symbol>,
    pub ty: DebugTypeId,
    pub bit_offset: u64,
    /// The width of a bit-field; `None` for ordinary members.
    pub bit_width: Option<u32>,
}
