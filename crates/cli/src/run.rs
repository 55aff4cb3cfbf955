//! `raddle run`: the program keeps its standard streams and its exit status; the report goes to standard error or a file.

use crate::args::RunArgs;
use crate::interrupt;
use crate::output;
use raddle_driver::{Answer, End, Explain, RunRequest, Verdict};
use std::process::ExitCode;

/// The program's own exit status, unless a race was found or the run was stopped.
pub(crate) fn run(arguments: &RunArgs) -> anyhow::Result<ExitCode> {
    let [program, rest @ ..] = arguments.command.as_slice() else { unreachable!("clap wants a program") };
    output::refuse_to_overwrite(&arguments.output, &[program.into()])?;
    let request = RunRequest {
        program: program.clone(),
        arguments: rest.to_vec(),
        stdin: None,
        time: (!arguments.time_limit.is_zero()).then_some(arguments.time_limit),
        around: arguments.around.around(arguments.output.quiet),
        options: String::new(),
    };
    let explain = if arguments.explain { Explain::Yes } else { Explain::No };
    // The terminal tells the program, too; what it found until then is reported.
    interrupt::install();
    let (answer, end) = raddle_driver::run_native(&request, arguments.config.clone(), explain)?;
    output::write_run(&answer, end, &arguments.output)?;
    Ok(exit_code(&answer, end, arguments.exit_code))
}

pub(crate) fn exit_code(answer: &Answer, end: End, when_found: u8) -> ExitCode {
    ExitCode::from(match (answer.outcome.verdict, end) {
        (Verdict::Race, _) => when_found,
        (_, End::Exited(code)) => code,
        // As a shell counts it.
        (_, End::Killed(signal)) => 128 + signal,
        (_, End::Dismissed) => 0,
        (_, End::Stopped | End::Unserved) => output::Exit::Unknown as u8,
    })
}
