//! What a trace of a native run says: a summary, and the events if they are wanted, one line each.

use crate::race::place;
use raddle_finding::{Frame, RecordedEvent, Recording};
use serde::Serialize;
use std::fmt::Write;

/// Text for people.
pub fn recording(recording: &Recording) -> String {
    let mut out = String::new();
    let words: Vec<&str> = std::iter::once(recording.program.as_str())
        .chain(recording.arguments.iter().map(String::as_str))
        .collect();
    let end = if recording.ended { "ended by itself" } else { "did not say that it ends" };
    let _ = writeln!(out, "trace of {} (process {}), which {end}", words.join(" "), recording.process);
    for (key, command) in [("before", &recording.before), ("client", &recording.client)] {
        if let Some(command) = command {
            let _ = writeln!(out, "{key}: {}", command.escape_debug());
        }
    }
    let Recording { events, threads, bytes, .. } = recording;
    let _ = writeln!(out, "events: {events}, threads: {threads}, bytes: {bytes}");
    for (kind, count) in &recording.kinds {
        let _ = writeln!(out, "  {count:>10} {kind}");
    }
    let _ = writeln!(out, "shared and written pieces of memory: {}", recording.shared);
    if recording.racy_bytes > 0 {
        let _ = writeln!(out, "racing bytes: {}", recording.racy_bytes);
    }
    for one in &recording.wait_loops {
        let _ = writeln!(
            out,
            "wait loop at {}: entered {}, passed without waiting {}, waits {}",
            place(&one.at),
            one.entered,
            one.passed,
            one.waits
        );
    }
    for gap in &recording.gaps {
        let _ = writeln!(out, "gap: {gap}");
    }
    for (number, line) in recording.lines.iter().enumerate() {
        let RecordedEvent { thread, kind, detail, name, at } = line;
        let at = at.as_ref().map(place).unwrap_or_default();
        let words: Vec<&str> =
            [kind, detail.as_str(), name, &at].into_iter().filter(|word| !word.is_empty()).collect();
        let _ = writeln!(out, "{number} T{thread} {}", words.join("  "));
    }
    out
}

/// One object and a line end, for programs.
pub fn recording_json(recording: &Recording) -> String {
    let report = Report {
        schema: 1,
        program: &recording.program,
        arguments: &recording.arguments,
        before: recording.before.as_deref(),
        client: recording.client.as_deref(),
        process: recording.process,
        ended: recording.ended,
        bytes: recording.bytes,
        threads: recording.threads,
        events: recording.events,
        kinds: recording.kinds.iter().map(|(kind, count)| KindJson { kind, count: *count }).collect(),
        shared: recording.shared,
        racy_bytes: recording.racy_bytes,
        wait_loops: recording
            .wait_loops
            .iter()
            .map(|one| LoopJson {
                at: PlaceJson::of(&one.at),
                entered: one.entered,
                passed: one.passed,
                waits: one.waits,
            })
            .collect(),
        gaps: &recording.gaps,
        lines: recording
            .lines
            .iter()
            .map(|line| EventJson {
                thread: line.thread,
                kind: line.kind,
                detail: &line.detail,
                name: &line.name,
                at: line.at.as_ref().map(PlaceJson::of),
            })
            .collect(),
    };
    let mut text = serde_json::to_string_pretty(&report).expect("strings and numbers always serialise");
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    program: &'a str,
    arguments: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'a str>,
    process: u32,
    ended: bool,
    bytes: u64,
    threads: u64,
    events: u64,
    kinds: Vec<KindJson<'a>>,
    shared: u64,
    racy_bytes: u64,
    wait_loops: Vec<LoopJson<'a>>,
    gaps: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<EventJson<'a>>,
}

#[derive(Serialize)]
struct KindJson<'a> {
    kind: &'a str,
    count: u64,
}

#[derive(Serialize)]
struct LoopJson<'a> {
    at: PlaceJson<'a>,
    entered: u64,
    passed: u64,
    waits: u64,
}

#[derive(Serialize)]
struct EventJson<'a> {
    thread: u32,
    kind: &'a str,
    detail: &'a str,
    name: &'a str,
    at: Option<PlaceJson<'a>>,
}

#[derive(Serialize)]
struct PlaceJson<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
}

impl<'a> PlaceJson<'a> {
    fn of(at: &'a Frame) -> Self {
        Self { file: &at.file, line: at.line, column: at.column, function: &at.function }
    }
}
