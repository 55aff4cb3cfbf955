//! The tool's side of an exploration: starts the program, shares the channel with it, asks and reads.

use super::channel::{self, Answer, Channel, Choice, Event, Pending, Problem, Request, Span};
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
    /// The number of the last request.
    asked: u32,
    /// Sites that are visible.
    visible: Vec<u32>,
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

/// What is asked for.
#[derive(Clone, Copy)]
pub struct Wish<'a> {
    /// From where the program starts.
    pub anew: bool,
    pub choices: &'a [Choice],
    /// The first of the choices of which something is to be heard; if there is none, where the program stands.
    pub heard_from: usize,
    /// Answers beyond the choices that may be guessed.
    pub ahead: usize,
    /// The first of the choices after which the version of memory is wanted, if it is; and from then on.
    pub versions_from: Option<usize>,
    /// Whether call sites are wanted.
    pub stacks: bool,
}

/// What the program said.
pub struct Heard<'a> {
    pub answer: &'a Answer,
    pub pending: &'a [Pending],
    pub enabled: &'a [Choice],
    pub events: &'a [Event],
    pub problems: &'a [Problem],
    frames: &'a [u32],
    words: &'a [u8],
}

/// For an execution of some thirty operations, tens of microseconds: to sleep and to be woken up takes as long.
const SPINS: u32 = 6_000;
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
        Ok(Host { child, channel, patience: launch.patience, spins, asked: 0, visible: Vec::new() })
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
        for site in self.visible.drain(..) {
            channel.visible[site as usize] = 0;
        }
        channel.request.visibility = match visible {
            Visible::None => channel::NONE,
            Visible::All => channel::ALL,
            Visible::Sites(sites) => {
                self.visible.extend(sites.iter().filter(|site| (**site as usize) < channel::MOST_SITES));
                for site in &self.visible {
                    channel.visible[*site as usize] = 1;
                }
                channel::SOME
            }
        };
    }

    /// Asks for answers; what was not heard of earlier ones is lost.
    pub fn ask(&mut self, wish: Wish<'_>) {
        let channel = unsafe { &mut *self.channel };
        let count = wish.choices.len().min(channel::MOST_CHOICES);
        channel.choices[..count].copy_from_slice(&wish.choices[..count]);
        channel.request = Request {
            anew: wish.anew.into(),
            choices: count as u32,
            heard_from: wish.heard_from as u32,
            ahead: wish.ahead as u32,
            stacks: wish.stacks.into(),
            versions_from: wish.versions_from.map_or(u32::MAX, |from| from as u32),
            ..channel.request
        };
        self.asked = self.asked.wrapping_add(1) % (1 << (32 - channel::ANSWER_BITS));
        channel.asked.ring(self.asked);
    }

    /// The answer of this number, once it is there.
    pub fn hear(&mut self, number: usize) -> Result<Heard<'_>, Silence> {
        let asked = self.asked;
        let is_said = |said: u32| {
            said >> channel::ANSWER_BITS == asked && (said % (1 << channel::ANSWER_BITS)) as usize > number
        };
        let mut began = None;
        let mut spins = self.spins;
        while !self.shared().said.wait(spins, LOOKS_MS, is_said) {
            spins = 0;
            if let Some(end) = self.ended() {
                return Err(end);
            }
            if began.get_or_insert_with(Instant::now).elapsed() > self.patience {
                return Err(Silence::NoProgress);
            }
        }
        let Channel { answers, pending, enabled, events, problems, frames, words, .. } = self.shared();
        let answer = &answers[number.min(channel::MOST_ANSWERS - 1)];
        let words = &words[..words.len().min(answer.text as usize)];
        Ok(Heard {
            answer,
            pending: part(pending, answer.moved),
            enabled: part(enabled, answer.enabled),
            events: part(events, answer.events),
            problems: part(problems, answer.problems),
            frames,
            words,
        })
    }

    fn shared(&self) -> &Channel {
        unsafe { &*self.channel }
    }

    fn ended(&mut self) -> Option<Silence> {
        let over = self.shared().over.load(Relaxed) as usize;
        let status = self.child.try_wait().ok().flatten();
        if over == 0 && status.is_none() {
            return None;
        }
        let words = &self.shared().words;
        let said = String::from_utf8_lossy(&words[..words.len().min(over.saturating_sub(1))]).into_owned();
        Some(Silence::Ended(match status {
            Some(status) if said.is_empty() => status.to_string(),
            _ => said,
        }))
    }
}

/// What there is of a part of a list.
fn part<T>(list: &[T], span: Span) -> &[T] {
    let start = list.len().min(span.start as usize);
    let end = list.len().min(start + span.count as usize);
    &list[start..end]
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
        String::from_utf8_lossy(self.words).into_owned()
    }

    /// Call sites, innermost first.
    pub fn stack(&self, start: u32, depth: u32) -> &[u32] {
        part(self.frames, Span { start, count: depth })
    }
}

impl Problem {
    pub fn name(&self) -> &str {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(self.name.len());
        std::str::from_utf8(&self.name[..end]).unwrap_or_default()
    }
}
