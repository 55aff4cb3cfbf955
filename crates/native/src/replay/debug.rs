//! The program under its schedule in a debugger, which stops when both threads stand before their racing accesses, or when none can go
//! on: the run-time library holds one of them and calls `__raddle_stopped` when the other one is there, too.

use super::{Nth, ReplayRequest, with_places};
use crate::run::{OPTIONS, OUT};
use crate::{NativeError, Plan, binary};
use std::ffi::OsString;
use std::process::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Debugger {
    Gdb,
    Lldb,
}

impl Debugger {
    pub fn name(self) -> &'static str {
        match self {
            Debugger::Gdb => "gdb",
            Debugger::Lldb => "lldb",
        }
    }

    /// What it may be called. Debian's packages of lldb have no program of the plain name.
    fn programs(self) -> Vec<String> {
        let versions = match self {
            Debugger::Gdb => 0..0,
            Debugger::Lldb => 13..40_u32,
        };
        let numbered = versions.rev().map(|version| format!("{}-{version}", self.name()));
        [self.name().to_owned()].into_iter().chain(numbered).collect()
    }

    /// `--batch` for a debugger that is not talked to: its standard input is no terminal.
    fn words(self, stdin: Option<&str>, batch: bool) -> Vec<OsString> {
        const STOPPED: &str = "__raddle_stopped";
        let run = stdin.map_or("run".to_owned(), |file| match self {
            Debugger::Gdb => format!("run < '{}'", file.replace('\'', "'\\''")),
            Debugger::Lldb => format!("process launch -i '{}'", file.replace('\'', "'\\''")),
        });
        let words: Vec<String> = match self {
            Debugger::Gdb => {
                let mut words = vec!["-q".to_owned()];
                words.extend(batch.then(|| "-batch".to_owned()));
                let commands = [
                    "set confirm off".to_owned(),
                    "set pagination off".to_owned(),
                    "set breakpoint pending on".to_owned(),
                    format!("break {STOPPED}"),
                    run,
                    "thread apply all backtrace".to_owned(),
                ];
                words.extend(commands.into_iter().flat_map(|command| ["-ex".to_owned(), command]));
                words.push("--args".to_owned());
                words
            }
            Debugger::Lldb => {
                let mut words: Vec<String> = batch.then(|| "--batch".to_owned()).into_iter().collect();
                let commands =
                    [format!("breakpoint set --name {STOPPED}"), run, "thread backtrace all".to_owned()];
                words.extend(commands.into_iter().flat_map(|command| ["-o".to_owned(), command]));
                words.push("--".to_owned());
                words
            }
        };
        words.into_iter().map(OsString::from).collect()
    }
}

/// Runs the debugger to its end; its exit status. `ends`: the accesses that a replay has shown to race; none for other claims.
pub fn debug(request: &ReplayRequest, ends: &[Nth], debugger: Debugger) -> Result<u8, NativeError> {
    let binary = binary::open(request.program.as_os_str())?;
    let folder = tempfile::Builder::new().prefix("raddle-debug-").tempdir();
    let folder = folder.map_err(|error| NativeError::file(std::env::temp_dir(), error))?;
    let (schedule, findings) = (folder.path().join("schedule"), folder.path().join("findings"));
    let hold = ends.iter().map(|end| (end.thread, end.site, end.nth)).collect();
    let plan = Plan { debugged: true, hold, ..with_places(request, &binary.sites) };
    std::fs::write(&schedule, plan.to_string()).map_err(|error| NativeError::file(&schedule, error))?;
    let stdin = request.stdin.as_ref().map(|path| path.to_string_lossy());
    let batch = !std::io::IsTerminal::is_terminal(&std::io::stdin());
    let run = |name: &str| {
        let mut command = Command::new(name);
        command.args(debugger.words(stdin.as_deref(), batch)).arg(&binary.path).args(&request.arguments);
        command.env(OUT, &findings).env(OPTIONS, format!("mode=replay,schedule={}", schedule.display()));
        command.status()
    };
    for name in debugger.programs() {
        return match run(&name) {
            Ok(status) => Ok(status.code().unwrap_or(1) as u8),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => Err(NativeError::Tool { tool: name, reason: error.to_string() }),
        };
    }
    Err(NativeError::NoDebugger { name: debugger.name() })
}
