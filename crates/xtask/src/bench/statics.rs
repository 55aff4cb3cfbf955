//! The static analysis on real code: `docs/benchmarks/static.md`.
//!
//! `scripts/corpus.sh` fetches and configures the sources below cargo's target folder. Each input is compiled and linked once to
//! one bitcode file, so that the time measured is Raddle's and not clang's; the way from the sources is timed apart. Code without
//! `main` gets the entry points of [`entries`]. The columns of the 2007 paper (section 5) stand beside ours; the sources are later
//! versions of the paper's files, so the two are neighbours and not rivals.

mod entries;
mod inputs;
mod ladder;
mod lines;
mod link;
mod page;

use super::measure::{Run, Tool};
use inputs::{INPUTS, Input};
use raddle_frontend::{Request, load};
use raddle_ir::{Inst, Program, Terminator};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Six times the goal for 100,000 lines.
const PROCESSOR_SECONDS: u32 = 60;

/// Fetches, measures, writes the page. `only` picks inputs by name; then the page is printed, not written.
pub(super) fn run(root: &Path, only: &[String]) -> Result<(), String> {
    let folder = prepare(root)?;
    let tool = Tool::find(root)?.within(PROCESSOR_SECONDS);
    let wanted = |name: &str| only.is_empty() || only.iter().any(|n| n == name);
    let mut rows = Vec::new();
    for input in INPUTS.iter().filter(|input| wanted(input.name)) {
        eprintln!("bench: static: {}", input.name);
        // No path of this machine on the page.
        let here = format!("{}/", folder.display());
        rows.push((input, row(input, &folder, &tool, only).map_err(|problem| problem.replace(&here, ""))));
    }
    let mut rungs = Vec::new();
    if wanted("ladder") {
        for rung in ladder::build(&folder)? {
            eprintln!("bench: static: ladder, {} lines", rung.lines.code);
            let run = tool.run("static", &[rung.bitcode.as_os_str()], &folder.join("log/ladder.json"));
            rungs.push((rung, run));
        }
    }
    let text = page::write(&super::machine(), &rows, &rungs);
    if !only.is_empty() {
        print!("{text}");
        return Ok(());
    }
    let file = root.join("docs/benchmarks/static.md");
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    eprintln!("bench: wrote docs/benchmarks/static.md");
    Ok(())
}

/// Fetches the corpus, links every input, writes its entry points beside it, and shows the command for each.
pub(super) fn prepare_all(root: &Path) -> Result<(), String> {
    let folder = prepare(root)?;
    for input in INPUTS {
        match ready(input, &folder) {
            Ok(ready) => {
                let Lowered { functions, whole, instructions, reasons, .. } = &ready.lowered;
                println!(
                    "{}: {} code lines, {whole} of {functions} functions lowered, {instructions} instructions",
                    input.name, ready.lines.code
                );
                for (reason, count) in reasons {
                    println!("    {count} x {reason}");
                }
                println!("    raddle {}", ready.command_line());
            }
            Err(problem) => println!("{}: {problem}", input.name),
        }
    }
    for rung in ladder::build(&folder)? {
        println!("ladder: {} code lines: raddle static {}", rung.lines.code, rung.bitcode.display());
    }
    Ok(())
}

/// One input of the table, measured.
struct Row {
    lines: lines::Lines,
    lowered: Lowered,
    entries: usize,
    /// From linked bitcode.
    run: Result<Run, String>,
    /// From the sources, clang included; only for an input that is asked for alone.
    from_sources: Option<Result<Run, String>>,
}

/// An input that can be handed to Raddle.
struct Ready {
    bitcode: PathBuf,
    entries: Vec<String>,
    lines: lines::Lines,
    lowered: Lowered,
}

/// What reading it gave, without any analysis.
struct Lowered {
    functions: usize,
    /// Functions without anything unsupported.
    whole: usize,
    instructions: usize,
    reasons: BTreeMap<String, usize>,
    seconds: f64,
}

fn row(input: &Input, folder: &Path, tool: &Tool, only: &[String]) -> Result<Row, String> {
    let ready = ready(input, folder)?;
    let log = folder.join("log").join(format!("{}.json", input.name));
    let entries = ready.entries.join(",");
    let mut arguments = Vec::new();
    if !entries.is_empty() {
        arguments.extend([OsStr::new("--entry"), OsStr::new(&entries)]);
    }
    let database = input.database(folder);
    let mut from_sources = arguments.clone();
    arguments.push(ready.bitcode.as_os_str());
    if let Some(target) = input.target {
        from_sources.extend([OsStr::new("--target"), OsStr::new(target)]);
    }
    from_sources.extend(input.source_flags.iter().map(OsStr::new));
    from_sources.push(database.as_os_str());
    Ok(Row {
        lines: ready.lines,
        lowered: ready.lowered,
        entries: ready.entries.len(),
        run: tool.run("static", &arguments, &log),
        from_sources: (only.len() == 1).then(|| tool.run("static", &from_sources, &log)),
    })
}

fn ready(input: &Input, folder: &Path) -> Result<Ready, String> {
    let database = input.database(folder);
    if !database.is_file() {
        return Err("could not be had; the corpus folder's `log` says why".to_owned());
    }
    let units = link::units(&database)?;
    let home = folder.join("inputs").join(input.name);
    let linked = link::link(&units, input.target, input.take, &home)?;
    let start = Instant::now();
    let request = Request { inputs: vec![linked.bitcode.clone()], ..Request::default() };
    let loaded = load(&request).map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let entries = entries::of(&loaded.program, input, &linked.visible, folder);
    std::fs::write(home.join("entries"), entries.join(",")).map_err(|error| error.to_string())?;
    Ok(Ready {
        lines: lines::count(&linked.sources),
        bitcode: linked.bitcode,
        entries,
        lowered: lowered(&loaded.program, seconds),
    })
}

impl Ready {
    fn command_line(&self) -> String {
        let entries = match self.entries[..] {
            [] => String::new(),
            _ => format!("--entry \"$(cat {})\" ", self.bitcode.with_file_name("entries").display()),
        };
        format!("static {entries}{}", self.bitcode.display())
    }
}

fn lowered(program: &Program, seconds: f64) -> Lowered {
    let mut lowered = Lowered { functions: 0, whole: 0, instructions: 0, reasons: BTreeMap::new(), seconds };
    for function in program.functions.values().filter(|function| function.is_defined()) {
        lowered.functions += 1;
        let mut whole = true;
        for block in function.blocks.values() {
            lowered.instructions += block.insts.len() + 1;
            let instructions = block.insts.iter().filter_map(|inst| match inst {
                Inst::Unsupported { reason, .. } => Some(*reason),
                _ => None,
            });
            let terminator = match block.terminator {
                Terminator::Unsupported { reason } => Some(reason),
                _ => None,
            };
            for reason in instructions.chain(terminator) {
                whole = false;
                *lowered.reasons.entry(program.text(reason).to_owned()).or_default() += 1;
            }
        }
        lowered.whole += usize::from(whole);
    }
    lowered
}

/// Runs the script that fetches; what it has fetched before stays.
fn prepare(root: &Path) -> Result<PathBuf, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = target.join("corpus");
    let status = Command::new("sh").arg(root.join("scripts/corpus.sh")).arg(&folder).status();
    match status {
        Ok(status) if status.success() => folder.canonicalize().map_err(|error| error.to_string()),
        Ok(status) => Err(format!("scripts/corpus.sh: {status}")),
        Err(error) => Err(format!("sh: {error}")),
    }
}
