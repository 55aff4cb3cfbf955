//! A race in words, for a program that is run without `raddle run`: places and names from the table of sites that the program carries.
//!
//! The text is shorter than that of `raddle run`, without lines of the source. In JSON each race is one object on one line.

use crate::blocks;
use crate::contexts::{self, Context, Lock};
use crate::image;
use crate::output::escaped;
use crate::people;
use crate::suppress::Suppression;
use crate::thread::Mode;
use std::fmt::Write;

/// Both accesses, and what they have accessed.
pub struct Race {
    pub address: usize,
    pub bytes: usize,
    /// The earlier one first.
    pub accesses: [Access; 2],
    block: Option<Block>,
}

pub struct Access {
    pub thread: String,
    /// Who made its thread, and where; empty for the first thread.
    created: Vec<String>,
    pub action: &'static str,
    atomic: bool,
    bytes: usize,
    expression: String,
    /// Innermost first.
    frames: Vec<Frame>,
    /// `None`: not known any more.
    locks: Option<Vec<String>>,
}

#[derive(Clone)]
struct Frame {
    place: String,
    file: String,
    function: String,
}

struct Block {
    words: String,
    frames: Vec<Frame>,
}

impl Race {
    pub fn of(address: usize, bytes: usize, accesses: [Access; 2]) -> Self {
        Self { address, bytes, accesses, block: blocks::find(address).map(Block::of) }
    }

    /// Equal for races at the same two places.
    pub fn identity(&self) -> String {
        let mut ends = self.accesses.each_ref().map(|access| format!("{} {}", access.action, access.place()));
        ends.sort();
        ends.join("; ")
    }

    pub fn is_suppressed(&self, suppressions: &[Suppression]) -> bool {
        let frames = || self.accesses.iter().flat_map(|access| &access.frames);
        let functions: Vec<&str> = frames().map(|frame| frame.function.as_str()).collect();
        let files = self.accesses.iter().filter_map(|access| access.frames.first());
        let files: Vec<&str> = files.map(|frame| frame.file.as_str()).collect();
        let variables: Vec<&str> = self.accesses.iter().map(|access| access.expression.as_str()).collect();
        suppressions.iter().any(|one| one.fits(&functions, &files, &variables))
    }

    fn variable(&self) -> &str {
        let named =
            self.accesses.iter().map(|access| access.expression.as_str()).find(|text| !text.is_empty());
        named.unwrap_or_default()
    }

    pub fn text(&self) -> String {
        let Race { address, bytes, .. } = self;
        let name = match self.variable() {
            "" => String::new(),
            name => format!(" on {name}"),
        };
        let mut text = format!("raddle: data race{name} ({bytes} bytes at {address:#x})\n");
        for (at, access) in self.accesses.iter().enumerate() {
            let _ = writeln!(text, "  ({}) {}", at + 1, access.words());
            calls(&mut text, &access.frames);
            let _ = match &access.locks {
                None => writeln!(text, "      locks held: not known any more"),
                Some(locks) if locks.is_empty() => writeln!(text, "      locks held: none"),
                Some(locks) => writeln!(text, "      locks held: {}", locks.join(", ")),
            };
        }
        let mut told = Vec::new();
        for line in self.accesses.iter().flat_map(|access| &access.created) {
            if !told.contains(&line) {
                let _ = writeln!(text, "  {line}");
                told.push(line);
            }
        }
        if let Some(block) = &self.block {
            let _ = writeln!(text, "  in {}{}", block.words, at_place(&block.frames));
            calls(&mut text, &block.frames);
        }
        text
    }

    pub fn json(&self, pid: i32) -> String {
        let accesses = self.accesses.each_ref().map(Access::json).join(",");
        let block = match &self.block {
            Some(block) => {
                format!(r#"{{"what":"{}","stack":{}}}"#, escaped(&block.words), stack_json(&block.frames))
            }
            None => "null".to_owned(),
        };
        format!(
            "{{\"pid\":{pid},\"race\":{{\"variable\":\"{}\",\"size\":{},\"accesses\":[{accesses}],\"block\":{block}}}}}\n",
            escaped(self.variable()),
            self.bytes
        )
    }
}

impl Access {
    pub fn of(thread: u32, context: &Context, locks: Option<Vec<Lock>>) -> Self {
        let Context { site, shape, stack } = context;
        let is_write = shape.is_write();
        let (expression, is_free) = image::with_sites(*site, |sites| match sites.first() {
            Some(site) => (site.accessed(is_write).to_owned(), site.is_free()),
            None => (String::new(), false),
        });
        let frames = frames(*site, stack);
        let outermost = frames.last().map(|frame| frame.function.clone()).unwrap_or_default();
        Self {
            thread: name(thread, &outermost),
            created: created(thread, &outermost),
            action: match (is_free, is_write) {
                (true, _) => "free",
                (false, true) => "write",
                (false, false) => "read",
            },
            atomic: shape.is_atomic(),
            bytes: shape.bytes() as usize,
            expression,
            frames,
            locks: locks.map(|locks| locks.iter().map(lock).collect()),
        }
    }

    fn place(&self) -> &str {
        self.frames.first().map_or("", |frame| frame.place.as_str())
    }

    fn words(&self) -> String {
        let atomic = if self.atomic { "atomic " } else { "" };
        let Access { action, bytes, thread, .. } = self;
        format!("{atomic}{action} of {bytes} bytes by {thread}{}", at_place(&self.frames))
    }

    fn json(&self) -> String {
        let locks = match &self.locks {
            Some(locks) => {
                let locks: Vec<String> = locks.iter().map(|lock| format!("\"{}\"", escaped(lock))).collect();
                format!("[{}]", locks.join(","))
            }
            None => "null".to_owned(),
        };
        format!(
            r#"{{"action":"{}","atomic":{},"size":{},"expression":"{}","thread":"{}","stack":{},"locks":{locks}}}"#,
            self.action,
            self.atomic,
            self.bytes,
            escaped(&self.expression),
            escaped(&self.thread),
            stack_json(&self.frames)
        )
    }
}

impl Block {
    fn of(block: blocks::Block) -> Self {
        let made = contexts::get(block.context);
        let frames = frames(made.site, &made.stack);
        let outermost = frames.last().map(|frame| frame.function.clone()).unwrap_or_default();
        let freed = if block.freed { "freed " } else { "" };
        let by = name(block.thread, &outermost);
        Self { words: format!("a {freed}block of {} bytes, allocated by {by}", block.bytes), frames }
    }
}

/// ` at q.c:12:5 in push`
fn at_place(frames: &[Frame]) -> String {
    frames.first().map(|frame| format!(" at {} in {}", frame.place, frame.function)).unwrap_or_default()
}

fn calls(text: &mut String, frames: &[Frame]) {
    for frame in frames.iter().skip(1) {
        let _ = writeln!(text, "      called at {} in {}", frame.place, frame.function);
    }
}

fn stack_json(frames: &[Frame]) -> String {
    let frames: Vec<String> = frames
        .iter()
        .map(|frame| {
            format!(r#"{{"at":"{}","function":"{}"}}"#, escaped(&frame.place), escaped(&frame.function))
        })
        .collect();
    format!("[{}]", frames.join(","))
}

/// A site and the calls that led there, inlined ones among them, innermost first.
fn frames(site: u32, stack: &[u32]) -> Vec<Frame> {
    let all = std::iter::once(site).chain(stack.iter().copied()).filter(|id| *id != 0);
    all.flat_map(|id| {
        image::with_sites(id, |sites| {
            if sites.is_empty() {
                let place = format!("site {id}");
                return vec![Frame { place, file: String::new(), function: "a function".to_owned() }];
            }
            let frame = |site: &crate::sites::Site<'_>| Frame {
                place: format!("{}:{}:{}", site.file, site.line, site.column),
                file: site.file.to_owned(),
                function: site.function.to_owned(),
            };
            sites.iter().map(frame).collect()
        })
    })
    .collect()
}

/// `T1 (worker)`. `outermost` is the outermost function on its stack.
fn name(thread: u32, outermost: &str) -> String {
    if thread == 0 {
        return "T0 (main)".to_owned();
    }
    let function = people::get(thread).map_or(0, |person| person.function());
    let known = image::with_sites(function, |sites| sites.last().map(|site| site.function.to_owned()));
    match known.filter(|_| function != 0).as_deref().unwrap_or(outermost) {
        "" => format!("T{thread}"),
        function => format!("T{thread} ({function})"),
    }
}

/// `T1 (worker) was created by T0 (main) at q.c:30:5 in main`, and the same for its maker.
fn created(thread: u32, outermost: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut thread, mut outermost) = (thread, outermost.to_owned());
    while thread != 0
        && let Some(person) = people::get(thread)
    {
        let made = contexts::get(person.made_at());
        let frames = frames(made.site, &made.stack);
        let makers = frames.last().map(|frame| frame.function.clone()).unwrap_or_default();
        let (child, maker) = (name(thread, &outermost), name(person.parent(), &makers));
        lines.push(format!("{child} was created by {maker}{}", at_place(&frames)));
        (thread, outermost) = (person.parent(), makers);
    }
    lines
}

fn lock(lock: &Lock) -> String {
    let Lock { address, mode, site } = lock;
    image::with_sites(*site, |sites| {
        let name = sites.first().map(|site| site.source).filter(|name| !name.is_empty());
        let name = name.map_or_else(|| format!("lock {address:#x}"), str::to_owned);
        let mode = if *mode == Mode::Shared { " (shared)" } else { "" };
        match sites.first() {
            Some(site) => format!("{name}{mode}, taken at {}:{}:{}", site.file, site.line, site.column),
            None => format!("{name}{mode}"),
        }
    })
}
