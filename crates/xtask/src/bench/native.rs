//! Native runs side by side with ThreadSanitizer, Helgrind and DRD: `docs/benchmarks/native.md`.
//!
//! Programs of `bench/programs/native`, then pbzip2 and memcached from Debian's sources, where `scripts/corpus.sh` has fetched them. All
//! tools take turns on one program before the next one comes, so that a busy machine is busy for all of them.

use super::explored;
use super::measure::Tool;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Flags that make a program run long enough to be measured.
const PROGRAMS: [(&str, &[&str]); 5] = [
    ("matrix", &["-DN=500"]),
    ("hashmap", &["-DOPERATIONS=4000000"]),
    ("quicksort", &["-DCOUNT=4000000"]),
    ("queue", &["-DITEMS=400000"]),
    ("counter", &["-DROUNDS=8000000"]),
];

/// The best of so many runs; one for the tools that interpret.
const RUNS: usize = 3;
const LIMIT: &str = "20";
const REQUESTS: &str = "40000";

#[derive(Clone, Copy, PartialEq, Eq)]
enum With {
    Plain,
    Raddle,
    /// As `raddle`, with a trace.
    Record,
    Unpruned,
    Tsan,
    Helgrind,
    Drd,
}

const ALL: [With; 7] =
    [With::Plain, With::Raddle, With::Record, With::Unpruned, With::Tsan, With::Helgrind, With::Drd];

/// Wall clock and processor seconds of the fastest run, peak memory.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    processor: f64,
    mib: f64,
}

/// Why there is no number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missed {
    TimeLimit,
    Failed,
}

type Measured = Result<Cost, Missed>;

/// What `timeout` ends with when the time is over.
const TIMED_OUT: i32 = 124;
/// What ThreadSanitizer ends with when it found something, and what we ask of `raddle record` then.
const TSAN_FOUND: i32 = 66;

/// Measures, writes the page. `only` picks programs by name; then the page is printed, not written.
pub(super) fn run(root: &Path, only: &[String]) -> Result<(), String> {
    let bench = Bench { raddle: Tool::find(root)?.binary().to_owned(), folder: folder(root)? };
    let wanted = |name: &str| only.is_empty() || only.iter().any(|one| one == name);
    let mut page = format!("{HEAD}\nMachine: {}.\n\n{COLUMNS}", super::machine());
    let mut goals = Goals::default();
    let mut rows = |name: &str, costs: &[Measured]| {
        for (with, cost) in ALL.iter().zip(costs) {
            page.push_str(&row(name, *with, *cost, costs[0].ok()));
        }
        goals.add(name, costs);
    };
    for (name, flags) in PROGRAMS.iter().filter(|(name, _)| wanted(name)) {
        let source = root.join("bench/programs/native").join(name).with_extension("c");
        let build = |with: With| bench.build_c(&source, flags, with);
        rows(name, &bench.all(name, &build, &[]));
    }
    let corpus = bench.folder.with_file_name("corpus").join("src");
    if wanted("pbzip2") && corpus.join("pbzip2").is_dir() {
        let data = bench.data(root)?;
        let build = |with: With| bench.build_pbzip2(&corpus.join("pbzip2"), with);
        rows("pbzip2", &bench.all("pbzip2", &build, &["-k", "-f", "-p2", "-c", &data]));
    }
    if wanted("memcached") && corpus.join("memcached").is_dir() {
        let load = bench.build_c(&root.join("bench/programs/native/load.c"), &[], With::Plain)?;
        rows("memcached", &bench.memcached(&corpus.join("memcached"), &load));
    }
    page.push_str(&goals.page());
    if wanted("explored") {
        page.push_str(&explored::page(&bench.raddle, root));
    }
    if !only.is_empty() {
        print!("{page}");
        return Ok(());
    }
    let file = root.join("docs/benchmarks/native.md");
    // What people found out about the findings stays.
    let old = std::fs::read_to_string(&file).unwrap_or_default();
    if let Some(at) = old.find(BY_HAND) {
        page.push_str(&old[at..]);
    }
    std::fs::write(&file, page).map_err(|error| format!("{}: {error}", file.display()))
}

struct Bench {
    raddle: PathBuf,
    folder: PathBuf,
}

impl Bench {
    fn all(
        &self,
        name: &str,
        build: &dyn Fn(With) -> Result<PathBuf, String>,
        arguments: &[&str],
    ) -> Vec<Measured> {
        let measure = |with: &With| {
            eprintln!("bench: native: {name} {}", with.name());
            let program = build(*with).map_err(|error| {
                eprintln!("bench: {name}: {error}");
                Missed::Failed
            })?;
            let runs = if matches!(with, With::Helgrind | With::Drd) { 1 } else { RUNS };
            let costs = (0..runs).map(|_| self.time(*with, &program, arguments));
            let costs = costs.collect::<Result<Vec<Cost>, Missed>>()?;
            costs.into_iter().min_by(|a, b| a.processor.total_cmp(&b.processor)).ok_or(Missed::Failed)
        };
        ALL.iter().map(measure).collect()
    }

    /// One run under GNU `time`.
    fn time(&self, with: With, program: &Path, arguments: &[&str]) -> Measured {
        let mut command = self.timed(with, program);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        self.cost_of(command.status())
    }

    /// What a run cost that ended like this.
    fn cost_of(&self, status: std::io::Result<ExitStatus>) -> Measured {
        match status.map_err(|_| Missed::Failed)?.code() {
            Some(0 | TSAN_FOUND) => self.cost().ok_or(Missed::Failed),
            Some(TIMED_OUT) => Err(Missed::TimeLimit),
            _ => Err(Missed::Failed),
        }
    }

    fn timed(&self, with: With, program: &Path) -> Command {
        let mut command = Command::new("time");
        command
            .args(["-q", "-f", "%e %U %S %M", "-o"])
            .arg(self.folder.join("time"))
            .args(["timeout", LIMIT]);
        match with {
            With::Helgrind => drop(command.args(["valgrind", "-q", "--tool=helgrind"])),
            With::Drd => drop(command.args(["valgrind", "-q", "--tool=drd"])),
            With::Record => {
                command.arg(&self.raddle).args([
                    "record",
                    "-q",
                    "--exit-code",
                    &TSAN_FOUND.to_string(),
                    "-o",
                ]);
                command.arg(self.folder.join("trace"));
            }
            _ => {}
        }
        // Findings go where `raddle run` would read them.
        command.arg(program).env("RADDLE_OUT", self.folder.join("findings"));
        command
    }

    fn cost(&self) -> Option<Cost> {
        let text = std::fs::read_to_string(self.folder.join("time")).ok()?;
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [seconds, user, system, kib] = numbers[..] else { return None };
        Some(Cost { seconds, processor: user + system, mib: kib / 1024.0 })
    }

    fn build_c(&self, source: &Path, flags: &[&str], with: With) -> Result<PathBuf, String> {
        let stem = source.file_stem().unwrap_or_default().to_string_lossy();
        let program = self.folder.join(format!("{stem}-{}", with.name()));
        let mut compiler = self.compiler(with, "cc", "clang-19");
        compiler.args(["-O2", "-g", "-pthread", "-w"]).args(flags).arg(source).arg("-o").arg(&program);
        done(&mut compiler).map(|()| program)
    }

    fn build_pbzip2(&self, source: &Path, with: With) -> Result<PathBuf, String> {
        let program = self.folder.join(format!("pbzip2-{}", with.name()));
        let files =
            std::fs::read_dir(source).map_err(|error| error.to_string())?.flatten().map(|entry| entry.path());
        let mut compiler = self.compiler(with, "c++", "clang++-19");
        compiler.args(["-O2", "-g", "-pthread", "-w", "-std=gnu++98", "-D_FILE_OFFSET_BITS=64"]);
        compiler.args(["-D_LARGEFILE64_SOURCE", "-DUSE_STACKSIZE_CUSTOMIZATION"]);
        compiler.args(files.filter(|file| file.extension().is_some_and(|ending| ending == "cpp")));
        compiler.arg("-lbz2").arg("-o").arg(&program);
        done(&mut compiler).map(|()| program)
    }

    fn compiler(&self, with: With, ours: &str, theirs: &str) -> Command {
        match with {
            With::Raddle | With::Record | With::Unpruned => {
                let mut command = Command::new(&self.raddle);
                command.arg(ours).env("RADDLE_PRUNE", if with == With::Unpruned { "none" } else { "all" });
                command
            }
            With::Tsan => {
                let mut command = Command::new(theirs);
                command.arg("-fsanitize=thread");
                command
            }
            _ => Command::new(theirs),
        }
    }

    /// Built in a copy of its sources, by its own configure and make; the server ends when the load is through.
    fn memcached(&self, source: &Path, load: &Path) -> Vec<Measured> {
        let measure = |(index, with): (usize, &With)| {
            eprintln!("bench: native: memcached {}", with.name());
            let copy = self.folder.join(format!("memcached-{}", with.name()));
            let (compiler, flags) = match with {
                With::Raddle | With::Record | With::Unpruned => {
                    (format!("{} cc", self.raddle.display()), "-g -O2")
                }
                With::Tsan => ("clang-19".to_owned(), "-g -O2 -fsanitize=thread"),
                _ => ("clang-19".to_owned(), "-g -O2"),
            };
            let script = "rm -rf \"$1\" && cp -R \"$2\" \"$1\" && cd \"$1\" && { make distclean || true; } && \
                          ./configure --disable-docs CC=\"$3\" CFLAGS=\"$4\" && make memcached";
            let mut build = Command::new("sh");
            build.args(["-c", script, "sh"]).arg(&copy).arg(source).args([compiler.as_str(), flags]);
            build.env("RADDLE_PRUNE", if *with == With::Unpruned { "none" } else { "all" });
            done(&mut build).map_err(|error| {
                eprintln!("bench: memcached: {error}");
                Missed::Failed
            })?;
            let port = (21_300 + index).to_string();
            let mut server = self.timed(*with, &copy.join("memcached"));
            server.args(["-A", "-U", "0", "-l", "127.0.0.1", "-t", "4", "-u", "root", "-p", &port]);
            let server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            let mut server = server.map_err(|_| Missed::Failed)?;
            let through =
                Command::new("timeout").arg(LIMIT).arg(load).args([port.as_str(), REQUESTS]).status();
            let ended = server.wait();
            let through = self.cost_of(through);
            self.cost_of(ended).and_then(|cost| through.map(|_| cost))
        };
        ALL.iter().enumerate().map(measure).collect()
    }

    /// Text for pbzip2: the sources of this project, several times.
    fn data(&self, root: &Path) -> Result<String, String> {
        let file = self.folder.join("data");
        let one = std::fs::read(root.join("README.md")).map_err(|error| error.to_string())?;
        std::fs::write(&file, one.repeat(20_000_000 / one.len().max(1)))
            .map_err(|error| error.to_string())?;
        Ok(file.display().to_string())
    }
}

impl With {
    fn name(self) -> &'static str {
        match self {
            With::Plain => "plain",
            With::Raddle => "raddle",
            With::Record => "raddle-record",
            With::Unpruned => "raddle-no-prune",
            With::Tsan => "tsan",
            With::Helgrind => "helgrind",
            With::Drd => "drd",
        }
    }
}

fn row(name: &str, with: With, cost: Measured, plain: Option<Cost>) -> String {
    let cost = match cost {
        Ok(cost) => cost,
        Err(why) => {
            let why = if why == Missed::TimeLimit { "not in 20 s" } else { "failed" };
            return format!("| {name} | {} | {why} | | | | | |\n", with.name());
        }
    };
    let times = |pick: &dyn Fn(Cost) -> f64| plain.map_or(0.0, |plain| pick(cost) / pick(plain).max(0.01));
    format!(
        "| {name} | {} | {:.2} | {:.1} | {:.2} | {:.1} | {:.0} | {:.1} |\n",
        with.name(),
        cost.seconds,
        times(&|cost| cost.seconds),
        cost.processor,
        times(&|cost| cost.processor),
        cost.mib,
        times(&|cost| cost.mib),
    )
}

/// Raddle beside ThreadSanitizer, program by program.
#[derive(Default)]
struct Goals {
    /// Slowdown by processor time and growth of memory: ours, theirs.
    rows: Vec<(String, [f64; 4])>,
    /// Processor seconds of running and of recording.
    recorded: Vec<(String, [f64; 2])>,
}

impl Goals {
    fn add(&mut self, name: &str, costs: &[Measured]) {
        let of = |with: With| costs[ALL.iter().position(|one| *one == with)?].ok();
        if let (Some(plain), Some(ours), Some(theirs)) = (of(With::Plain), of(With::Raddle), of(With::Tsan)) {
            let slower = |cost: Cost| cost.processor / plain.processor.max(0.01);
            let larger = |cost: Cost| cost.mib / plain.mib.max(0.01);
            let row = [slower(ours), slower(theirs), larger(ours), larger(theirs)];
            self.rows.push((name.to_owned(), row));
        }
        if let (Some(run), Some(record)) = (of(With::Raddle), of(With::Record)) {
            self.recorded.push((name.to_owned(), [run.processor, record.processor]));
        }
    }

    fn page(&self) -> String {
        let mut page = GOALS.to_owned();
        for (name, [slower, theirs, larger, their_size]) in &self.rows {
            let _ = writeln!(
                page,
                "| {name} | {slower:.1} | {theirs:.1} | {:.2} | {larger:.1} | {their_size:.1} | {:.2} |",
                slower / theirs,
                larger / their_size
            );
        }
        let mean = |pick: usize| {
            let logs = self.rows.iter().map(|(_, row)| row[pick].ln());
            (logs.sum::<f64>() / self.rows.len().max(1) as f64).exp()
        };
        let (ours, theirs) = (mean(0), mean(1));
        let _ = writeln!(
            page,
            "\nGeometric means of the slowdown over {} programs: raddle {ours:.1}, tsan {theirs:.1}, ratio {:.2} (goal 0.5).\n",
            self.rows.len(),
            ours / theirs
        );
        page.push_str(RECORDING);
        for (name, [run, record]) in &self.recorded {
            let _ = writeln!(page, "| {name} | {run:.2} | {record:.2} | {:.1} |", record / run.max(0.01));
        }
        page.push('\n');
        page
    }
}

fn done(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn folder(root: &Path) -> Result<PathBuf, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = target.join("native-bench");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

const HEAD: &str = "# Native runs beside other tools

Written by `cargo run --release -p raddle-xtask -- bench native`. Every program at -O2 with each tool in turn: the fastest of three runs (one for
Helgrind and DRD), limited to 20 s. *Times* are against the plain program of the same table. Processor time is that of all threads and steadier
than the wall clock on a busy machine. `raddle-no-prune` checks also what the static analysis proves free of races; `raddle-record`
is measured with the tool itself, which needs some 57 MiB.
";

const GOALS: &str = "
## Beside ThreadSanitizer

By processor time; the goals are a ratio of at most 0.7 on each program, and memory at most theirs.

| program | raddle, times plain | tsan, times plain | ratio | raddle, memory | tsan, memory | ratio |
|---|---:|---:|---:|---:|---:|---:|
";

const RECORDING: &str = "## Recording beside running

Processor seconds of `raddle record`, the tool included, and of the run alone; the goal is at most 3 times.

| program | run | record | times |
|---|---:|---:|---:|
";

/// The part of the page that is not measured.
const BY_HAND: &str = "## What was found";

const COLUMNS: &str = "| program | tool | seconds | times | processor s | times | peak MiB | times |
|---|---|---:|---:|---:|---:|---:|---:|
";
