//! The tool's side of an exploration: starts the program, shares the channel with it, asks and reads.

use super::channel::{self, Answer, Channel, Choice, Event, Pending, Problem, Request};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::{Duration, Instant};

/// What to start.
pub struct Launch<'a> {
    pub program: &'a OsStr,
    pub arguments: &'a [OsString],
    pub stdin: Option<File>,
    /// Whether a wait on a condition variable may end for no reason.
    pub spurious: bool,
    /// After so long without a visible operation the program is given up.
    pub patience: Duration,
}

/// A program under exploration. Ends with this.
pub struct Host {
    child: Child,
    channel: *mut Channel,
    patience: Duration,
    spins: u32,
}

// The mapping is this value's alone.
unsafe impl Send for Host {}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The program has ended without leave; what it said last.
    Ended(String),
    /// It runs, and comes to no visible operation.
    NoProgress,
}

/// Which plain accesses are visible operations.
#[derive(Clone, Copy)]
pub enum Visible<'a> {
    None,
    Sites(&'a [u32]),
    All,
}

/// Further wishes for an answer.
#[derive(Clone, Copy, Default)]
pub struct Wishes {
    pub stacks: bool,
    pub version: bool,
}

/// What the program said.
pub struct Heard<'a> {
    pub answer: &'a Answer,
    pub pending: &'a [Pending],
    pub enabled: &'a [Choice],
    pub events: &'a [Event],
    pub problems: &'a [Problem],
    frames: &'a [u32],
}

const SPINS: u32 = 20_000;
const LOOKS_MS: i64 = 20;

impl Host {
    /// The program stands before `main` afterwards.
    pub fn start(launch: Launch<'_>) -> io::Result<Host> {
        let file = unsafe { libc::memfd_create(c"raddle-channel".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        let file = unsafe { File::from_raw_fd(file) };
        file.set_len(size_of::<Channel>() as u64)?;
        let (protection, descriptor) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
        let channel = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Channel>(),
                protection,
                libc::MAP_SHARED,
                descriptor,
                0,
            )
        };
        if channel == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let spurious = u8::from(launch.spurious);
        let mut command = Command::new(launch.program);
        command
            .args(launch.arguments)
            .env_clear()
            .env("RADDLE_OPTIONS", format!("mode=explore,channel={descriptor},spurious={spurious}"))
            // A function's address looked up in an execution leaves rests of registers on the stack.
            .env("LD_BIND_NOW", "1")
            // The kernel would write to memory that is watched.
            .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
            .stdin(launch.stdin.map_or_else(Stdio::null, Stdio::from))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let before_start = move || unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            libc::fcntl(descriptor, libc::F_SETFD, 0);
            Ok(())
        };
        unsafe { command.pre_exec(before_start) };
        let channel = channel.cast::<Channel>();
        let child = command.spawn().inspect_err(|_| unmap(channel))?;
        let spins =
            if std::thread::available_parallelism().is_ok_and(|count| count.get() > 1) { SPINS } else { 0 };
        Ok(Host { child, channel, patience: launch.patience, spins })
    }

    /// Waits until the program stands before `main`.
    pub fn is_ready(&mut self) -> Result<(), Silence> {
        let began = Instant::now();
        while self.shared().magic.load(Acquire) != channel::MAGIC {
            if let Some(end) = self.ended() {
                return Err(end);
            }
            if began.elapsed() > self.patience {
                return Err(Silence::NoProgress);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    pub fn set_visible(&mut self, visible: Visible<'_>) {
        let channel = unsafe { &mut *self.channel };
        if channel.request.visibility == channel::SOME {
            channel.visible.fill(0);
        }
        channel.request.visibility = match visible {
            Visible::None => channel::NONE,
            Visible::All => channel::ALL,
            Visible::Sites(sites) => {
                for site in sites {
                    if let Some(byte) = channel.visible.get_mut(*site as usize) {
                        *byte = 1;
                    }
                }
                channel::SOME
            }
        };
    }

    /// Starts anew if need be, makes the choices, and says what the last one came to.
    pub fn ask(&mut self, anew: bool, choices: &[Choice], wishes: Wishes) -> Result<Heard<'_>, Silence> {
        let channel = unsafe { &mut *self.channel };
        let Request { visibility, .. } = channel.request;
        let count = choices.len().min(channel::MOST_CHOICES);
        channel.choices[..count].copy_from_slice(&choices[..count]);
        channel.request = Request {
            anew: anew.into(),
            choices: count as u32,
            visibility,
            stacks: wishes.stacks.into(),
            versions: wishes.version.into(),
        };
        channel.hand_over(channel::PROGRAM);
        let mut began = None;
        let mut spins = self.spins;
        while !self.shared().wait(channel::TOOL, spins, LOOKS_MS) {
            spins = 0;
            if let Some(end) = self.ended() {
                return Err(end);
            }
            if began.get_or_insert_with(Instant::now).elapsed() > self.patience {
                return Err(Silence::NoProgress);
            }
        }
        Ok(self.heard())
    }

    fn heard(&self) -> Heard<'_> {
        let Channel { answer, pending, enabled, events, problems, frames, .. } = self.shared();
        fn first<T>(list: &[T], count: u32) -> &[T] {
            &list[..list.len().min(count as usize)]
        }
        Heard {
            answer,
            pending: first(pending, answer.threads),
            enabled: first(enabled, answer.enabled),
            events: first(events, answer.events),
            problems: first(problems, answer.problems),
            frames: first(frames, answer.frames),
        }
    }

    fn shared(&self) -> &Channel {
        unsafe { &*self.channel }
    }

    fn ended(&mut self) -> Option<Silence> {
        let over = self.shared().turn.load(Relaxed) == channel::OVER;
        let status = self.child.try_wait().ok().flatten();
        if !over && status.is_none() {
            return None;
        }
        let said = self.heard().words();
        Some(Silence::Ended(match status {
            Some(status) if said.is_empty() => status.to_string(),
            _ => said,
        }))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        unmap(self.channel);
    }
}

fn unmap(channel: *mut Channel) {
    unsafe { libc::munmap(channel.cast(), size_of::<Channel>()) };
}

impl Heard<'_> {
    /// Why the execution cannot go on.
    pub fn words(&self) -> String {
        let text = &self.answer.words[..self.answer.words.len().min(self.answer.text as usize)];
        String::from_utf8_lossy(text).into_owned()
    }

    /// Call sites, innermost first.
    pub fn stack(&self, start: u32, depth: u32) -> &[u32] {
        let start = self.frames.len().min(start as usize);
        let end = self.frames.len().min(start + depth as usize);
        &self.frames[start..end]
    }
}

impl Problem {
    pub fn name(&self) -> &str {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(self.name.len());
        std::str::from_utf8(&self.name[..end]).unwrap_or_default()
    }
}
