//! The `raddle` command: flags, exit codes, progress; everything else is in the driver and the reports.
//!
//! Exit codes: 0 safe and nothing else found; 1 race or other confirmed error; 2 usage, input or tool error; 3 unknown.

mod args;
mod around;
mod compiler;
mod interrupt;
mod output;
mod predict;
mod progress;
mod record;
mod run;
mod words;

use args::{Cli, Command, OutputArgs, ProgramArgs, ReplayArgs};
use clap::Parser;
use output::Exit;
use raddle_driver::{Certified, Commands, Control, Engines, Ground, Progress, Search};
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("raddle: internal error: {panic}\nraddle: this is a bug in Raddle, please report it");
    }));
    if let Some((driver, arguments)) = compiler::asked_for() {
        return compiler::run(driver, arguments);
    }
    let cli = Cli::parse();
    let exit = match &cli.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Record(arguments) => record::record(arguments),
        Command::Predict(arguments) => predict::predict(arguments),
        Command::Replay(replay) if replay.debugger().is_some() => debugged(replay),
        _ => verdict(&cli).map(left),
    };
    exit.unwrap_or_else(|error| {
        eprintln!("raddle: {error:#}");
        ExitCode::from(Exit::Error as u8)
    })
}

/// Ends the process at once: work that a limit left behind may still go on.
fn left(exit: Exit) -> ExitCode {
    let _ = std::io::Write::flush(&mut std::io::stdout());
    raddle_driver::leave(exit as u8)
}

/// The exit status is the debugger's own.
fn debugged(replay: &ReplayArgs) -> anyhow::Result<ExitCode> {
    let Some(debugger) = replay.debugger() else { return Ok(ExitCode::SUCCESS) };
    Ok(ExitCode::from(raddle_driver::debug(&replay.witness, &replay.inputs, debugger)?))
}

fn verdict(cli: &Cli) -> anyhow::Result<Exit> {
    match &cli.command {
        Command::Check(check) => {
            let search = check.search.search(Engines::All, raddle_driver::Mode::default());
            run_search(&check.program, &search, &check.output)
        }
        Command::Explore(explore) => run_search(&explore.program, &explore.search()?, &explore.output),
        Command::Static(one) => {
            output::refuse_to_overwrite(&one.output, &one.program.inputs)?;
            let request = one.request();
            output::refuse_as_certificate(request.certificate.as_deref(), &one.program.inputs)?;
            let interrupt = interrupt::install();
            let (answer, explanation) = raddle_driver::statics(&one.program.subject()?, &request, interrupt)?;
            match explanation {
                Some(explanation) => output::write_explanation(&answer, &explanation, &one.output),
                None => output::write(&answer, &one.output),
            }
        }
        Command::Prove(one) => {
            output::refuse_to_overwrite(&one.output, &one.program.inputs)?;
            let request = one.request();
            output::refuse_as_certificate(request.certificate.as_deref(), &one.program.inputs)?;
            let answer = raddle_driver::prove(&one.program.subject()?, &request, interrupt::install())?;
            output::write(&answer, &one.output)
        }
        Command::Cc | Command::Cxx | Command::Run(_) | Command::Record(_) | Command::Predict(_) => {
            unreachable!("these have exit codes of their own")
        }
        Command::Replay(replay) if raddle_driver::is_order(&replay.witness) => {
            output::refuse_to_overwrite(&replay.output, std::slice::from_ref(&replay.witness))?;
            let Ground::Native(native) = replay.ground() else {
                anyhow::bail!(
                    "{} is an order for the program itself; leave out --interpreted",
                    replay.witness.display()
                );
            };
            around::announce(&replay.witness, &Commands::default());
            let interrupt = interrupt::install();
            let answer = raddle_driver::replay_order(&replay.witness, &replay.inputs, &native, interrupt)?;
            output::write(&answer, &replay.output)
        }
        Command::Replay(replay) => {
            let mut sources = raddle_driver::witness_subject(&replay.witness)?.inputs;
            sources.extend(replay.inputs.iter().chain([&replay.witness]).cloned());
            output::refuse_to_overwrite(&replay.output, &sources)?;
            let interrupt = interrupt::install();
            let answer = raddle_driver::replay(&replay.witness, &replay.inputs, &replay.ground(), interrupt)?;
            output::write(&answer, &replay.output)
        }
        Command::Certify(certify) => {
            let interrupt = interrupt::install();
            let allowance = certify.allowance();
            match raddle_driver::certify_within(&certify.file, &certify.inputs, allowance, interrupt)? {
                Certified::Witness(answer) => output::write_judgement(&answer, &certify.file),
                Certified::Certificate(acceptance) => output::write_acceptance(&acceptance, &certify.file),
            }
        }
    }
}

fn run_search(program: &ProgramArgs, search: &Search, output: &OutputArgs) -> anyhow::Result<Exit> {
    output::refuse_to_overwrite(output, &program.inputs)?;
    output::refuse_as_certificate(search.certificate.as_deref(), &program.inputs)?;
    let subject = program.subject()?;
    let interrupt = interrupt::install();
    let line = progress::Line::new(output.quiet);
    let report = |progress: &Progress| line.show(progress);
    let control = Control { interrupt, progress: Some(&report) };
    let answer = raddle_driver::check(&subject, search, control);
    line.clear();
    output::write(&answer?, output)
}
