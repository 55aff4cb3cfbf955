//! Variables that belong to the C library: what a program that declares one (`extern FILE *stdout;`) finds in it.

use raddle_ir::{Function, Operand, Program, Reg};

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

/// Whether the program gets at the array of the environment without a function: by a variable that it declares, or as the third
/// parameter of `main` or of a constructor.
pub fn uses_environ(program: &Program) -> bool {
    let is_array = |name: &str| variable(name) == Some(Variable::Environment);
    let declared =
        program.globals.values().any(|global| global.init.is_none() && is_array(program.text(global.symbol)));
    let main = program.function_by_symbol("main");
    let takers = program.constructors.iter().chain(&main).map(|id| &program.functions[*id]);
    let mut third = takers.filter_map(|function| Some((function, function.params.get(2)?.reg)));
    declared || third.any(|(function, reg)| is_used(function, reg))
}

fn is_used(function: &Function, reg: Reg) -> bool {
    let mut used = false;
    let mut look = |operand: Operand| used |= operand == Operand::Reg(reg);
    for block in function.blocks.values() {
        block.phis.iter().flat_map(|phi| &phi.incoming).for_each(|(_, operand)| look(*operand));
        block.insts.iter().for_each(|inst| inst.each_operand(&mut look));
        block.terminator.each_operand(&mut look);
    }
    used
}
