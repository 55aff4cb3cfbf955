//! How much of a result the standards fix, where they leave the rest to the implementation (A-RESULT).
//!
//! A function that is not listed counts as one whose result is fixed, or is covered by an assumption of its row. Not listed are the last digits
//! of results of `math.h`, which are those of glibc, and the texts of messages.

use crate::LibcFn;

/// What is fixed of a number, or looked at: each includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detail {
    #[default]
    Nothing,
    /// Whether it is 0.
    Zero,
    /// Whether it is below, equal to or above 0.
    Sign,
    Value,
}

impl LibcFn {
    pub fn fixed_detail(self) -> Detail {
        match self.0 {
            // C11 7.24.4, POSIX strings.h.
            "strcmp" | "strncmp" | "memcmp" | "strcoll" | "strcasecmp" | "strncasecmp" => Detail::Sign,
            // C11 7.4.1; the table is what glibc's macros look these up in.
            "isalnum" | "isalpha" | "isblank" | "iscntrl" | "isdigit" | "isgraph" | "islower" | "isprint"
            | "ispunct" | "isspace" | "isupper" | "isxdigit" | "isascii" | "__ctype_b_loc" => Detail::Zero,
            // C11 7.21.10, 7.12.3.
            "feof" | "ferror" | "feof_unlocked" | "ferror_unlocked" => Detail::Zero,
            "__isnan" | "__isnanf" | "__isnanl" | "__isinf" | "__isinff" | "__isinfl" | "__finite"
            | "__finitef" | "__finitel" | "__signbit" | "__signbitf" | "__signbitl" => Detail::Zero,
            // C11 7.24.4.5 fixes how transformed strings compare, not how long they are.
            "malloc_usable_size" | "strxfrm" => Detail::Nothing,
            _ => Detail::Value,
        }
    }

    /// Whether a call that succeeds leaves `errno` as it was: its description says when it changes, and programs look at it for that. All others
    /// may change it (C11 7.5p3).
    pub fn keeps_errno(self) -> bool {
        match self.0 {
            "__errno_location" => true,
            // C11 7.22.1: a result out of range.
            "strtol" | "strtoul" | "strtoll" | "strtoull" | "strtof" | "strtod" | "strtold" => true,
            // POSIX: what they return at the end, or where there is nothing, is no error, and only `errno` says so.
            "readdir" | "sysconf" | "pathconf" | "fpathconf" | "getpriority" | "nice" => true,
            "getpwnam" | "getpwuid" | "getgrnam" | "getgrgid" => true,
            // POSIX: "shall not change the setting of errno if successful".
            "strerror" => true,
            // C11 7.12.1.
            name => crate::memory::is_of_numbers(name),
        }
    }
}
