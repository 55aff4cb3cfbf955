//! Commands around the runs of a program under test: one before each, because a run may find what the run before has left (files), and one
//! beside it, because most servers do nothing without a client.
//!
//! The client runs by `sh -c` in a process group of its own, with the environment and the folder of this process and nothing to read. When it has ended,
//! what is left of its group is killed and the program is told to end; when the program ends first, the group is killed.

use crate::NativeError;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde::{Deserialize, Serialize};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Commands for `sh -c`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    /// Ends before the program starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Runs beside the program, which is told to end when it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    pub commands: Commands,
    pub output: CommandOutput,
}

/// Where everything goes that commands print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandOutput {
    /// To the standard error of this process.
    Shown,
    #[default]
    Dropped,
}

impl Commands {
    /// What is missing here is taken from others.
    pub fn or(&self, others: &Commands) -> Commands {
        let before = self.before.clone().or_else(|| others.before.clone());
        Commands { before, client: self.client.clone().or_else(|| others.client.clone()) }
    }
}

/// A client that was started.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    status: Option<ExitStatus>,
    /// The program ended first.
    was_killed: bool,
}

/// A program that ends at the wish of its client may be the quicker one.
const GRACE: Duration = Duration::from_millis(100);

impl Around {
    /// Runs what comes before the program.
    pub(crate) fn prepare(&self) -> Result<(), NativeError> {
        let Some(text) = &self.commands.before else { return Ok(()) };
        let mut command = self.command(text)?;
        let status = command.status().map_err(|error| NativeError::file("sh", error))?;
        match status.success() {
            true => Ok(()),
            false => Err(NativeError::Before { command: text.clone(), status }),
        }
    }

    fn command(&self, text: &str) -> Result<Command, NativeError> {
        let problem = |error: std::io::Error| NativeError::file("sh", error);
        let stream = || match self.output {
            CommandOutput::Shown => std::io::stderr().as_fd().try_clone_to_owned().map(Stdio::from),
            CommandOutput::Dropped => Ok(Stdio::null()),
        };
        let mut command = Command::new("sh");
        command.arg("-c").arg(text).stdin(Stdio::null());
        command.stdout(stream().map_err(problem)?).stderr(stream().map_err(problem)?);
        Ok(command)
    }

    fn start(&self, text: &str) -> Result<Running, NativeError> {
        let child = self.command(text)?.process_group(0).spawn();
        let child = child.map_err(|error| NativeError::file("sh", error))?;
        Ok(Running { child, status: None, was_killed: false })
    }
}

/// The client, beside a program that was started just now; without it the program has nothing to do.
pub(crate) fn beside(program: &mut Child, around: &Around) -> Result<Option<Running>, NativeError> {
    let Some(client) = &around.commands.client else { return Ok(None) };
    around.start(client).map(Some).inspect_err(|_| {
        // It is this process's own, and nobody waits for it any more.
        let _ = program.kill().and_then(|()| program.wait());
    })
}

impl Running {
    /// Whether it has ended, and with it everything that it started.
    pub(crate) fn has_ended(&mut self) -> bool {
        if self.status.is_some() {
            return true;
        }
        let Some(pid) = self.pid() else { return true };
        // Until it is waited for, its number is no other group's.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_))) {
            self.kill();
        }
        self.status.is_some()
    }

    /// The program has ended. Whether the client has failed before.
    pub(crate) fn dismiss(&mut self) -> bool {
        let began = Instant::now();
        while !self.has_ended() {
            if began.elapsed() >= GRACE {
                self.was_killed = true;
                self.kill();
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        self.status.is_some_and(|status| !status.success())
    }

    /// Why it did not do its work, if so.
    pub(crate) fn failure(&self) -> Option<String> {
        let status = self.status.filter(|status| !status.success() && !self.was_killed)?;
        Some(match (status.code(), status.signal()) {
            (Some(code), _) => format!("the client failed with status {code}"),
            (None, signal) => format!("the client was killed by signal {}", signal.unwrap_or(0)),
        })
    }

    /// The same, if the program did not wait for its end.
    pub(crate) fn outlived(&self) -> Option<String> {
        self.was_killed.then(|| "the program ended before its client".to_owned())
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    fn kill(&mut self) {
        if self.status.is_none() {
            self.pid().map(|pid| kill_process_group(pid, Signal::KILL).ok());
            self.status = self.child.wait().ok();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}
