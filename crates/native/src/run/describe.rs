//! From numbers to findings: the tables of sites give every number its place, every access its expression.
//!
//! A race is told once per pair of places, with the threads, stacks and locks of the first time.

use super::lines::{Access, Block, Line, Lock, Log, Race, Thread, Waiting, What};
use crate::binary::{self, Binary};
use crate::places::{Places, frame};
use raddle_event::{LockMode, ProblemKind};
use raddle_finding::{AccessReport, Evidence, Finding, FindingKind, Frame, LockReport, ThreadReport};
use raddle_instrument::sites::Site;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

pub(crate) fn findings(log: &Log, program: &Binary, warnings: &mut Vec<String>) -> Vec<Finding> {
    described(log, program, warnings).0
}

/// Threads of the only process that wait for each other, or for nobody that could come.
pub(crate) fn deadlock(log: &Log, program: &Binary, threads: &[Waiting]) -> Finding {
    let (_, images) = described(log, program, &mut Vec::new());
    let image = images.into_values().next().unwrap_or_else(|| Image::of("", program, &mut Vec::new()));
    Finding {
        id: String::new(),
        kind: FindingKind::Problem(ProblemKind::Deadlock),
        variable: String::new(),
        evidence: Evidence::Observed,
        engine: "run",
        rank: 0,
        detail: String::new(),
        assumptions: Vec::new(),
        accesses: threads.iter().map(|waiting| image.waiting(waiting)).collect(),
        protection: None,
    }
}

/// The findings, and what is known of each process at its end.
fn described(
    log: &Log,
    program: &Binary,
    warnings: &mut Vec<String>,
) -> (Vec<Finding>, BTreeMap<u32, Image>) {
    let mut images: BTreeMap<u32, Image> = BTreeMap::new();
    let mut told = BTreeSet::new();
    let mut findings = Vec::new();
    for Line { pid, what } in &log.lines {
        match what {
            What::Start(start) => {
                images.insert(*pid, Image::of(&start.exe, program, warnings));
            }
            What::Fork(fork) => {
                if let Some(parent) = images.get(&fork.parent).cloned() {
                    images.insert(*pid, parent);
                }
            }
            What::Library(library) => {
                let image = images.entry(*pid).or_insert_with(|| Image::of("", program, warnings));
                match binary::table(Path::new(&library.path)) {
                    Ok(sites) => image.places.add(library.base, Rc::new(sites)),
                    Err(error) => warnings.push(error.to_string()),
                }
            }
            What::Thread(thread) => {
                let image = images.entry(*pid).or_insert_with(|| Image::of("", program, warnings));
                image.threads.insert(thread.id, thread.clone());
            }
            What::Race(race) => {
                let image = images.entry(*pid).or_insert_with(|| Image::of("", program, warnings));
                if told.insert(image.identity(race)) {
                    findings.push(image.finding(race));
                }
            }
            What::Trace(_)
            | What::Gap(_)
            | What::Assumes(_)
            | What::Exit(_)
            | What::Crash(_)
            | What::Replay(_)
            | What::Fault(_) => {}
        }
    }
    findings.sort_by_key(|finding| {
        finding.accesses.iter().map(|access| access.at.clone()).collect::<Vec<Frame>>()
    });
    (findings, images)
}

/// One process: the tables of its program and libraries, its threads.
#[derive(Clone)]
struct Image {
    places: Places,
    threads: BTreeMap<u32, Thread>,
}

impl Image {
    /// A process that runs another program has other sites.
    pub(crate) fn of(exe: &str, program: &Binary, warnings: &mut Vec<String>) -> Self {
        let same = |exe: &Path| match (exe.canonicalize(), program.path.canonicalize()) {
            (Ok(a), Ok(b)) => a == b,
            _ => true,
        };
        let table = if exe.is_empty() || same(Path::new(exe)) {
            Some(Rc::clone(&program.sites))
        } else {
            match binary::table(Path::new(exe)) {
                Ok(sites) => Some(Rc::new(sites)),
                Err(error) => {
                    warnings.push(error.to_string());
                    None
                }
            }
        };
        let mut places = Places::default();
        table.into_iter().for_each(|table| places.add(0, table));
        Self { places, threads: BTreeMap::new() }
    }

    /// The site and the calls that it was inlined at, innermost first.
    fn sites(&self, id: u32) -> Vec<Site<'_>> {
        self.places.sites(id)
    }

    /// The same for an access; nothing where the run-time library did not keep its place.
    fn places(&self, access: &Access) -> Vec<Site<'_>> {
        if access.size == Some(0) { Vec::new() } else { self.sites(access.site) }
    }

    /// Equal for races at the same two places.
    fn identity(&self, race: &Race) -> [(Frame, bool); 2] {
        let mut ends = race.accesses.each_ref().map(|access| {
            let at = self.places(access).first().map(frame).unwrap_or_else(nowhere);
            (at, access.write)
        });
        ends.sort();
        ends
    }

    fn finding(&self, race: &Race) -> Finding {
        let accesses = race.accesses.each_ref().map(|access| self.access(access));
        let named = accesses.iter().map(|access| access.expression.as_str()).find(|text| !text.is_empty());
        Finding {
            id: String::new(),
            kind: FindingKind::DataRace,
            variable: named.unwrap_or_default().to_owned(),
            evidence: Evidence::Observed,
            engine: "run",
            rank: 0,
            detail: race.block.as_ref().map(|block| self.block(block)).unwrap_or_default(),
            assumptions: Vec::new(),
            accesses: accesses.into(),
            protection: None,
        }
    }

    fn access(&self, access: &Access) -> AccessReport {
        let sites = self.places(access);
        let first = sites.first();
        let expression = first.map(|site| site.accessed(access.write));
        let action = match first {
            Some(site) if site.is_free() => "free",
            _ if access.write => "write",
            _ => "read",
        };
        let mut frames: Vec<Frame> = sites.iter().map(frame).collect();
        frames.extend(access.stack.iter().flat_map(|call| self.frames(*call, &[])));
        let function = outermost(&frames).to_owned();
        let at = if frames.is_empty() { nowhere() } else { frames.remove(0) };
        AccessReport {
            at,
            thread: self.thread(access.thread, &function),
            action: action.to_owned(),
            atomic: access.atomic,
            expression: expression.unwrap_or_default().to_owned(),
            locks: access.locks.iter().flatten().map(|lock| self.lock(lock)).collect(),
            stack: frames,
        }
    }

    fn waiting(&self, waiting: &Waiting) -> AccessReport {
        let sites = self.sites(waiting.site);
        let mut frames = self.frames(waiting.site, &waiting.stack);
        let function = outermost(&frames).to_owned();
        let at = if frames.is_empty() { nowhere() } else { frames.remove(0) };
        AccessReport {
            at,
            thread: self.thread(waiting.thread, &function),
            action: waiting.kind.clone(),
            atomic: false,
            expression: sites.first().map(|site| site.source).unwrap_or_default().to_owned(),
            locks: waiting.locks.iter().map(|lock| self.lock(lock)).collect(),
            stack: frames,
        }
    }

    /// A site and the calls that led there, inlined ones among them, innermost first.
    fn frames(&self, site: u32, calls: &[u32]) -> Vec<Frame> {
        let all = std::iter::once(site).chain(calls.iter().copied());
        all.flat_map(|id| self.sites(id).iter().map(frame).collect::<Vec<_>>()).collect()
    }

    /// `function` is the outermost one of the program's own on its stack: what it was started with, or what a C++ thread runs.
    fn thread(&self, id: u32, function: &str) -> ThreadReport {
        let made = self.threads.get(&id);
        let start = made.map(|made| self.sites(made.function_site)).unwrap_or_default();
        let started = start.last().filter(|site| function.is_empty() || !frame(site).is_system());
        let function = started.map_or(function, |site| site.function);
        let name = match (id, function) {
            (0, _) => "T0 (main)".to_owned(),
            (_, "") => format!("T{id}"),
            _ => format!("T{id} ({function})"),
        };
        ThreadReport {
            name,
            created: made.map(|made| self.frames(made.site, &made.stack)).unwrap_or_default(),
        }
    }

    fn lock(&self, lock: &Lock) -> LockReport {
        let acquired = self.frames(lock.site, &[]);
        let sites = self.sites(lock.site);
        let name = sites.first().map(|site| site.source).filter(|name| !name.is_empty());
        let mode = if lock.mode == "shared" { LockMode::Shared } else { LockMode::Exclusive };
        LockReport {
            name: name.map_or_else(|| format!("lock {:#x}", lock.addr), str::to_owned),
            mode,
            acquired,
        }
    }

    /// `a block of 40 bytes, allocated by T0 (main) at q.c:12`
    fn block(&self, block: &Block) -> String {
        let frames = self.frames(block.site, &block.stack);
        let thread = self.thread(block.thread, outermost(&frames));
        let mut text = format!("a block of {} bytes, allocated by {}", block.size, thread.name);
        if let Some(at) = Frame::own(&frames) {
            text.push_str(&format!(" at {}:{}", at.file, at.line));
        }
        text
    }
}

/// The outermost function in the programmer's own files, else the outermost.
fn outermost(frames: &[Frame]) -> &str {
    let own = frames.iter().rev().find(|frame| !frame.is_system()).or(frames.last());
    own.map(|frame| frame.function.as_str()).unwrap_or_default()
}

fn nowhere() -> Frame {
    Frame { file: String::new(), line: 0, column: 0, function: String::new() }
}
