//! `raddle record`: as `raddle run`, with a trace of the run in a file; and what such a file says.

use crate::args::{Format, OutputArgs, RecordArgs};
use crate::{interrupt, output, run};
use anyhow::bail;
use raddle_driver::{Detail, RecordRequest, RunRequest};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn record(arguments: &RecordArgs) -> anyhow::Result<ExitCode> {
    if let Some(file) = &arguments.show {
        return show(file, arguments);
    }
    let [program, rest @ ..] = arguments.command.as_slice() else { unreachable!("clap wants a program") };
    let RecordArgs { format, quiet, color, .. } = *arguments;
    let report = OutputArgs { format, output: None, quiet, color };
    let request = RecordRequest {
        run: RunRequest {
            program: program.clone(),
            arguments: rest.to_vec(),
            stdin: None,
            time: (!arguments.time_limit.is_zero()).then_some(arguments.time_limit),
            around: arguments.around.around(quiet),
            options: String::new(),
        },
        trace: arguments.trace.clone(),
    };
    // The terminal tells the program, too; what was recorded until then stays.
    interrupt::install();
    let (answer, end, traces) = raddle_driver::record(&request, arguments.config.clone())?;
    output::write_run(&answer, end, &report)?;
    if !quiet {
        let files: Vec<String> =
            [&arguments.trace].into_iter().chain(&traces).map(|file| named(file)).collect();
        eprintln!("raddle: recorded in {}", files.join(", "));
    }
    Ok(run::exit_code(&answer, end, arguments.exit_code))
}

fn show(file: &Path, arguments: &RecordArgs) -> anyhow::Result<ExitCode> {
    let detail = if arguments.events { Detail::Events } else { Detail::Summary };
    if !matches!(arguments.format, Format::Full | Format::Json) {
        bail!("--show knows the formats full and json");
    }
    let program = arguments.command.first().map(PathBuf::from);
    let (recording, warnings) = raddle_driver::recorded(file, program.as_deref(), arguments.limit, detail)?;
    if !arguments.quiet {
        warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
        output::write_recording(&recording, arguments.format)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// With its size.
fn named(file: &Path) -> String {
    let bytes = std::fs::metadata(file).map(|meta| meta.len());
    match bytes {
        Ok(bytes) => format!("{} ({bytes} bytes)", file.display()),
        Err(_) => file.display().to_string(),
    }
}
