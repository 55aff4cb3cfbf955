//! Variables that belong to the C library: what a program that declares one (`extern FILE *stdout;`) finds in it.

/// The variable of this name, if the library has one.
pub fn variable(name: &str) -> Option<Variable> {
    Some(match name {
        "stdin" | "_IO_stdin" => Variable::Stream(0),
        "stdout" | "_IO_stdout" => Variable::Stream(1),
        "stderr" | "_IO_stderr" => Variable::Stream(2),
        "optind" | "opterr" => Variable::Int(1),
        "optopt" => Variable::Int(i32::from(b'?')),
        "signgam" | "daylight" | "h_errno" => Variable::Int(0),
        "timezone" => Variable::Long(0),
        "optarg" => Variable::NullPointer,
        "environ" | "__environ" => Variable::Environment,
        "program_invocation_name" | "program_invocation_short_name" | "__progname" => Variable::ProgramName,
        _ => return None,
    })
}

/// What a variable of the library holds when the program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// A pointer to the `FILE` of this descriptor.
    Stream(u8),
    Int(i32),
    Long(i64),
    NullPointer,
    /// A pointer to an array of pointers to `NAME=value`, ended by null.
    Environment,
    /// A pointer to a string.
    ProgramName,
}
