//! `raddle predict`: record, predict and confirm in one go; or the same from a trace that is there.

use crate::args::PredictArgs;
use crate::{around, interrupt, output, progress, run};
use anyhow::bail;
use raddle_driver::{Commands, Goal, PredictRequest, Replays, Rounds, RunRequest, Source, Stage, Watching};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn predict(arguments: &PredictArgs) -> anyhow::Result<ExitCode> {
    let [first, rest @ ..] = arguments.command.as_slice() else { unreachable!("clap wants a program") };
    output::refuse_to_overwrite(&arguments.output, &[first.into()])?;
    let file = PathBuf::from(first);
    let kind = kind(&file);
    if kind == Kind::Files {
        refuse_for_files(arguments)?;
    } else if arguments.seed.is_some() || arguments.files.are_given() {
        bail!(
            "--seed and flags on how files become a program are for C files or bitcode; {} is neither",
            file.display()
        );
    } else if kind == Kind::Program {
        if arguments.write_std.is_some() || arguments.program.is_some() {
            bail!("--write-std and --program are for a trace; {} is a program", file.display());
        }
    } else if !rest.is_empty() {
        bail!("{} is a trace: it has no arguments, those of the recorded run count", file.display());
    }
    if let Some(to) = &arguments.write_std {
        return export(&file, to, arguments);
    }
    if kind == Kind::Text {
        let answer = raddle_driver::predict_std(&file, arguments.candidates)?;
        output::write(&answer, &arguments.output)?;
        return Ok(ExitCode::SUCCESS);
    }
    let request = request(arguments, kind, file.clone(), rest)?;
    if kind == Kind::Trace && request.replays == Replays::Wanted {
        around::announce(&file, &arguments.around.commands());
    }
    let interrupt = interrupt::install();
    let line = progress::Line::new(arguments.output.quiet);
    let report = |stage: Stage| line.stage(stage);
    let result = raddle_driver::predict(&request, Watching { interrupt, progress: &report });
    line.clear();
    let (answer, end) = result?;
    match end {
        Some(end) => output::write_predicted(&answer, end, &arguments.output)?,
        None => _ = output::write(&answer, &arguments.output)?,
    }
    let confirmed = answer.outcome.findings.iter().any(|finding| finding.evidence.is_certain());
    Ok(match (confirmed, end) {
        (true, _) => ExitCode::from(arguments.exit_code),
        (false, Some(end)) => run::exit_code(&answer, end, arguments.exit_code),
        (false, None) => ExitCode::SUCCESS,
    })
}

fn request(
    arguments: &PredictArgs,
    kind: Kind,
    file: PathBuf,
    rest: &[OsString],
) -> anyhow::Result<PredictRequest> {
    let stdin = arguments.stdin.clone().or_else(redirected);
    let around = arguments.around.around(arguments.output.quiet);
    let limited = |time: std::time::Duration| (!time.is_zero()).then_some(time);
    let source = match kind {
        Kind::Trace | Kind::Text => Source::Trace { file, program: arguments.program.clone(), stdin, around },
        Kind::Program => Source::Program {
            run: RunRequest {
                program: file.into(),
                arguments: rest.to_vec(),
                stdin,
                time: limited(arguments.run_time_limit),
                around,
                options: String::new(),
            },
            trace: arguments.keep_trace.clone(),
        },
        Kind::Files => Source::Files { subject: arguments.subject()?, seed: arguments.seed },
    };
    Ok(PredictRequest {
        source,
        config: arguments.config.clone(),
        time: limited(arguments.time_limit),
        run_time: arguments.run_time_limit,
        candidates: arguments.candidates,
        beside: arguments.divergence_runs,
        limit: arguments.limit,
        replays: if arguments.no_replay { Replays::Unwanted } else { Replays::Wanted },
        rounds: if arguments.keep_going { Rounds::Many } else { Rounds::One },
        goal: if arguments.first { Goal::FirstRace } else { Goal::AllRaces },
        witness_dir: Some(arguments.witness_dir.clone()),
    })
}

fn refuse_for_files(arguments: &PredictArgs) -> anyhow::Result<()> {
    output::refuse_to_overwrite(&arguments.output, &arguments.subject()?.inputs)?;
    if arguments.write_std.is_some() || arguments.program.is_some() || arguments.keep_trace.is_some() {
        bail!("--write-std, --program and --keep-trace are for traces of `raddle record`");
    }
    if arguments.keep_going || arguments.around.commands() != Commands::default() {
        bail!("--keep-going, --before and --client are for runs of programs; the interpreter executes files");
    }
    Ok(())
}

fn export(file: &Path, to: &Path, arguments: &PredictArgs) -> anyhow::Result<ExitCode> {
    if to.exists() && to.canonicalize()? == file.canonicalize()? {
        bail!("--write-std {} would overwrite the trace; choose another name", to.display());
    }
    let lost = raddle_driver::export(file, arguments.limit, to)?;
    if !arguments.output.quiet && !lost.is_empty() {
        let lost: Vec<String> = lost.iter().map(|(what, count)| format!("{count} {what}")).collect();
        eprintln!("warning: the STD format has no words for {}: they are left out", lost.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}

/// What the first argument names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Program,
    /// For the interpreter.
    Files,
    /// Of `raddle record`.
    Trace,
    /// In the STD format.
    Text,
}

fn kind(path: &Path) -> Kind {
    if raddle_driver::is_source(path) {
        return Kind::Files;
    }
    let mut start = [0; 512];
    let length = File::open(path).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    let start = &start[..length];
    let is_text = path.extension().is_some_and(|extension| extension == "std")
        || start
            .split(|byte| *byte == b'\n')
            .next()
            .is_some_and(|line| line.iter().filter(|byte| **byte == b'|').count() == 2 && line.is_ascii());
    match start.starts_with(b"RADDLETR") {
        true => Kind::Trace,
        false if is_text => Kind::Text,
        false => Kind::Program,
    }
}

/// The file that standard input comes from, to be read again in each run.
fn redirected() -> Option<PathBuf> {
    let path = Path::new(raddle_driver::OWN_STDIN);
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file.then(|| std::fs::canonicalize(path).ok()).flatten()
}
