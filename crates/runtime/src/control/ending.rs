//! How an execution ends, as the number of an `Exit` operation.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    Exit(i32),
    Abort,
    Assertion,
    /// A signal that kills.
    Signal(i32),
    /// An access to memory that is not there: the address.
    Fault(u64),
    StackOverflow,
    /// `__VERIFIER_assume` was false.
    Infeasible,
}

impl Ending {
    pub fn number(self) -> u64 {
        match self {
            Ending::Exit(code) => u64::from(code as u32),
            Ending::Abort => 1 << 32,
            Ending::Assertion => 2 << 32,
            Ending::Signal(signal) => 3 << 32 | u64::from(signal as u32),
            Ending::Infeasible => 4 << 32,
            Ending::StackOverflow => 6 << 32,
            Ending::Fault(address) => 5 << 32 | address.min(1 << 31),
        }
    }

    pub fn of_number(number: u64) -> Self {
        match number >> 32 {
            0 => Ending::Exit(number as i32),
            1 => Ending::Abort,
            2 => Ending::Assertion,
            3 => Ending::Signal(number as i32),
            5 => Ending::Fault(number & 0xffff_ffff),
            6 => Ending::StackOverflow,
            _ => Ending::Infeasible,
        }
    }

    /// The error that it is, by its name in `raddle_event`.
    pub fn problem(self) -> Option<&'static str> {
        match self {
            Ending::Exit(_) | Ending::Infeasible => None,
            Ending::Abort => Some("abort"),
            Ending::Assertion => Some("assertion-failure"),
            Ending::Signal(libc::SIGFPE) => Some("division-by-zero"),
            Ending::Signal(libc::SIGABRT) => Some("abort"),
            Ending::Signal(libc::SIGILL) => Some("unreachable"),
            Ending::StackOverflow => Some("stack-overflow"),
            Ending::Fault(address) if address < 4096 => Some("null-dereference"),
            Ending::Signal(_) | Ending::Fault(_) => Some("invalid-pointer"),
        }
    }
}
