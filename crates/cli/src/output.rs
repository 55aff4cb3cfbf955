//! Where the report goes, and the exit code.

use crate::args::{ColourArg, Format, OutputArgs};
use anyhow::Context;
use raddle_driver::{Acceptance, Answer, End, Explanation, Outcome, Recording, Scope, Searched, Verdict};
use raddle_report::{Colour, FileSources, Look};
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Safe = 0,
    Found = 1,
    Error = 2,
    Unknown = 3,
}

/// An error when the report would replace one of these files.
pub(crate) fn refuse_to_overwrite(output: &OutputArgs, files: &[PathBuf]) -> anyhow::Result<()> {
    refuse("-o", output.output.as_deref(), files)
}

/// An error when the certificate would replace one of these files.
pub(crate) fn refuse_as_certificate(target: Option<&Path>, files: &[PathBuf]) -> anyhow::Result<()> {
    refuse("--certificate", target, files)
}

fn refuse(flag: &str, target: Option<&Path>, files: &[PathBuf]) -> anyhow::Result<()> {
    let Some(target) = target.and_then(|path| path.canonicalize().ok()) else {
        return Ok(());
    };
    if files.iter().any(|file| file.canonicalize().is_ok_and(|file| file == target)) {
        anyhow::bail!("{flag} {} would overwrite an input; choose another name", target.display());
    }
    Ok(())
}

/// Prints the report as asked.
pub(crate) fn write(answer: &Answer, output: &OutputArgs) -> anyhow::Result<Exit> {
    warn(answer, output);
    emit(&text(&answer.outcome, output), output)?;
    Ok(exit(&answer.outcome))
}

fn text(outcome: &Outcome, output: &OutputArgs) -> String {
    match output.format {
        Format::Full => raddle_report::full(outcome, &FileSources::default(), &look(output)),
        Format::Concise => raddle_report::concise(outcome),
        Format::Json => raddle_report::json(outcome),
        Format::Sarif => raddle_report::sarif(outcome),
    }
}

/// Prints the report of a native run where the program's own output is not in the way; a run without findings gets one line.
pub(crate) fn write_run(answer: &Answer, end: End, output: &OutputArgs) -> anyhow::Result<()> {
    warn(answer, output);
    let text = text(&answer.outcome, output);
    match &output.output {
        Some(_) => return emit(&text, output),
        None if output.quiet => return Ok(()),
        None => {}
    }
    let mut lines = match end {
        End::Exited(_) | End::Dismissed | End::Unserved => String::new(),
        End::Killed(signal) => format!("raddle: the program was ended by signal {signal}\n"),
        End::Stopped => "raddle: the program was stopped: the time limit was reached\n".to_owned(),
    };
    let for_people = matches!(output.format, Format::Full | Format::Concise);
    let nothing = answer.outcome.findings.is_empty() && for_people;
    if nothing {
        lines.push_str("raddle: no data race was seen in this run\n");
        for one in &answer.outcome.assumptions {
            lines.push_str(&format!("raddle: this assumes {}: {}\n", one.id, one.text));
        }
    } else {
        lines.push_str(&text);
    }
    // Standard error may be closed; the exit code tells, too.
    let _ = std::io::stderr().lock().write_all(lines.as_bytes());
    Ok(())
}

/// Prints what was predicted from a run of the program: where its own output is not in the way.
pub(crate) fn write_predicted(answer: &Answer, end: End, output: &OutputArgs) -> anyhow::Result<()> {
    warn(answer, output);
    let text = text(&answer.outcome, output);
    if output.output.is_some() {
        return emit(&text, output);
    }
    if !output.quiet {
        let end = match end {
            End::Exited(_) | End::Dismissed | End::Unserved => String::new(),
            End::Killed(signal) => format!("raddle: the program was ended by signal {signal}\n"),
            End::Stopped => "raddle: the program was stopped: the time limit was reached\n".to_owned(),
        };
        // Standard error may be closed; the exit code tells, too.
        let _ = std::io::stderr().lock().write_all((end + &text).as_bytes());
    }
    Ok(())
}

/// Prints what a trace says.
pub(crate) fn write_recording(recording: &Recording, format: Format) -> anyhow::Result<()> {
    to_stdout(&match format {
        Format::Json => raddle_report::recording_json(recording),
        _ => raddle_report::recording(recording),
    })
}

fn warn(answer: &Answer, output: &OutputArgs) {
    if !output.quiet {
        for warning in &answer.warnings {
            eprintln!("warning: {warning}");
        }
    }
}

fn emit(text: &str, output: &OutputArgs) -> anyhow::Result<()> {
    match &output.output {
        Some(path) => std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display())),
        None if output.quiet => Ok(()),
        None => to_stdout(text),
    }
}

/// Prints the explanation of a line instead of the report. In the forms for programs the report is all there is.
pub(crate) fn write_explanation(
    answer: &Answer,
    explanation: &Explanation,
    output: &OutputArgs,
) -> anyhow::Result<Exit> {
    if output.format != Format::Full {
        return write(answer, output);
    }
    warn(answer, output);
    let text = raddle_report::explain(explanation, &FileSources::default(), &look(output));
    emit(&text, output)?;
    Ok(exit(&answer.outcome))
}

/// One line: whether the certificate proves what it claims.
pub(crate) fn write_acceptance(acceptance: &Acceptance, file: &Path) -> anyhow::Result<Exit> {
    let (text, exit) = match acceptance {
        Acceptance::Accepted { assumptions, searched } => {
            let mut text = match Scope::of(assumptions.iter().map(String::as_str)) {
                Scope::ThisInput => "accepted: no data race for this input".to_owned(),
                Scope::AllInputs => "accepted: no data race for all inputs".to_owned(),
            };
            if !assumptions.is_empty() {
                text.push_str(&format!(", assuming {}", assumptions.join(", ")));
            }
            if let Some(Searched { runs, reversals }) = searched {
                text.push_str(&format!("; {runs} runs repeated, {reversals} other orders tried"));
            }
            (text, Exit::Safe)
        }
        Acceptance::Refused { reason } => (format!("not accepted: {reason}"), Exit::Unknown),
    };
    to_stdout(&format!("{}: {text}\n", file.display()))?;
    Ok(exit)
}

/// One line: whether the witness shows what it claims.
pub(crate) fn write_judgement(answer: &Answer, file: &Path) -> anyhow::Result<Exit> {
    let exit = exit(&answer.outcome);
    let lines = raddle_report::concise(&answer.outcome);
    let text = match answer.outcome.findings.is_empty() {
        false => format!("{}: confirmed\n{}\n", file.display(), lines.lines().next().unwrap_or_default()),
        true => {
            let reasons: Vec<&str> =
                answer.outcome.unknown_reasons.iter().map(|reason| reason.text.as_str()).collect();
            format!("{}: not confirmed: {}\n", file.display(), reasons.join("; "))
        }
    };
    to_stdout(&text)?;
    Ok(exit)
}

fn exit(outcome: &Outcome) -> Exit {
    match outcome.verdict {
        _ if outcome.findings.iter().any(|finding| finding.evidence.is_certain()) => Exit::Found,
        Verdict::Race => Exit::Found,
        Verdict::Safe => Exit::Safe,
        Verdict::Unknown => Exit::Unknown,
    }
}

fn look(output: &OutputArgs) -> Look {
    let terminal = output.output.is_none() && std::io::stdout().is_terminal();
    let colour = match output.color {
        ColourArg::Always => Colour::Ansi,
        ColourArg::Auto if terminal && std::env::var_os("NO_COLOR").is_none() => Colour::Ansi,
        ColourArg::Auto | ColourArg::Never => Colour::Never,
    };
    let default = Look::default().width;
    let columns = terminal.then(terminal_size::terminal_size).flatten();
    Look { colour, width: columns.map_or(default, |(width, _)| usize::from(width.0).min(default * 2)) }
}

fn to_stdout(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // The reader has seen enough (`raddle … | head`).
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}
