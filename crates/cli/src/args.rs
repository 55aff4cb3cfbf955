//! Flags, each described once.

use crate::around::AroundArgs;
use crate::words;
use anyhow::bail;
use clap::{Args, Parser, Subcommand, ValueEnum};
use raddle_driver::{
    Allowance, Chance, Checkpoint, DataModel, Debugger, Engines, External, Goal, Ground, Inputs, Line, Mode,
    Native, OWN_STDIN, Property, ProveRequest, Search, Spurious, Start, StaticRequest, Subject, Substrate,
};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::time::Duration;

/// Checks multithreaded C programs for data races: race, safe or unknown, never a silent guess.
#[derive(Parser)]
#[command(
    name = "raddle",
    version,
    after_help = "Exit codes: 0 safe and nothing else found, 1 race or other confirmed error, \
                  2 usage, input or tool error, 3 unknown."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Check a program: all engines, one verdict
    Check(CheckArgs),
    /// Try all interleavings of a program: the one engine alone
    Explore(ExploreArgs),
    /// Prove pairs of accesses free of races without running the program; what is left are warnings
    Static(StaticArgs),
    /// Prove programs free of races for any number of threads and any input, where the static analysis leaves pairs open
    Prove(ProveArgs),
    /// Compile and link C like clang, with Raddle's checks in the program and its bitcode kept for the other commands
    Cc,
    /// The same for C++, like clang++
    #[command(name = "c++")]
    Cxx,
    /// Run a program that `raddle cc` built, with real threads, and report the races of this run
    #[command(
        after_help = "Exit codes: that of --exit-code when a race was found, 3 when the time limit was reached or the client \
                            failed, 2 when the program cannot be run, else the program's own."
    )]
    Run(RunArgs),
    /// Run a program that `raddle cc` built and record what its threads do; or show such a trace
    #[command(
        after_help = "Exit codes: those of `raddle run`; with --show, 0, or 2 when the file is no trace."
    )]
    Record(RecordArgs),
    /// Record one run of a program that `raddle cc` built, or one execution of C files by the interpreter, and find the races and deadlocks
    /// of the runs that did not happen: in reorderings of the recorded events, each confirmed by running the program again
    #[command(
        after_help = "Exit codes: that of --exit-code when an error was confirmed; else, of a program that was run, the program's own (3 \
                            when its time limit was reached or its client failed), of a trace or of files 0; 2 when the program cannot be run or the file is no trace."
    )]
    Predict(PredictArgs),
    /// Run a program under the schedule of a witness file and show what happens
    Replay(ReplayArgs),
    /// Check a witness or certificate file independently
    #[command(
        after_help = "Exit codes: 1 a witness that shows what it claims, 0 a certificate that is accepted, \
                            3 neither of the two."
    )]
    Certify(CertifyArgs),
}

#[derive(Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args)]
pub(crate) struct ExploreArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// How to go through the runs
    #[arg(long = "search", value_name = "HOW", value_enum, default_value_t = ModeArg::Optimal)]
    mode: ModeArg,
    /// Run the program itself instead of interpreting it: sources, or a program that `raddle cc` built. Never says safe
    #[arg(long)]
    native: bool,
    /// What the search `pdp` looks for
    #[arg(long, value_enum, default_value_t = PropertyArg::Races)]
    property: PropertyArg,
    /// Write down now and then, and at the end, how far the search `optimal` has come
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Go on from where the checkpoint was written
    #[arg(long, requires = "checkpoint")]
    resume: bool,
    #[command(flatten)]
    bounds: BoundArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What a search leaves out, or how it rolls dice.
#[derive(Args, Clone, Copy)]
struct BoundArgs {
    /// Leave out runs in which threads are stopped more often than this although they could go on
    #[arg(long, value_name = "COUNT", help_heading = "Bounds (a bounded search never says safe)")]
    preemptions: Option<u32>,
    /// Leave out runs in which a thread comes to one operation more often than this
    #[arg(long, value_name = "COUNT", help_heading = "Bounds (a bounded search never says safe)")]
    loop_bound: Option<u32>,
    /// Stop after this many visible operations over all runs
    #[arg(long, value_name = "COUNT", help_heading = "Bounds (a bounded search never says safe)")]
    max_steps: Option<u64>,
    /// Seed of random and pct
    #[arg(long, value_name = "NUMBER", default_value_t = Chance::default().seed)]
    seed: u64,
    /// Runs of random and pct
    #[arg(long, value_name = "COUNT", default_value_t = Chance::default().runs)]
    runs: u64,
    /// Ordering constraints that pct has in mind
    #[arg(long, value_name = "COUNT", default_value_t = Chance::default().depth, value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,
}

#[derive(Args)]
pub(crate) struct StaticArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// Say of every access of one line what keeps it from racing, or that nothing does
    #[arg(long, value_name = "FILE:LINE", value_parser = words::line)]
    explain: Option<Line>,
    /// Write the proof to a file that `raddle certify` checks
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Stop after this many seconds; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = words::seconds)]
    time_limit: Duration,
    /// Stop when Raddle uses this much memory: bytes, or with K, M, G
    #[arg(long, value_name = "BYTES", default_value = "4G", value_parser = words::bytes)]
    memory_limit: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args)]
pub(crate) struct ProveArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// Where witness files go
    #[arg(long, value_name = "DIR", default_value = "raddle-witness")]
    witness_dir: PathBuf,
    /// Write the proof to a file that `raddle certify` checks
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Stop after this many seconds; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = words::seconds)]
    time_limit: Duration,
    /// Stop when Raddle uses this much memory: bytes, or with K, M, G
    #[arg(long, value_name = "BYTES", default_value = "4G", value_parser = words::bytes)]
    memory_limit: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args)]
pub(crate) struct RunArgs {
    /// End the program after this many seconds and report what was found; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = words::seconds)]
    pub(crate) time_limit: Duration,
    #[command(flatten)]
    pub(crate) around: AroundArgs,
    /// The exit code when a race was found
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) exit_code: u8,
    /// Tell of each race which locks and threads protected the variable until then; slower, the run is recorded
    #[arg(long)]
    pub(crate) explain: bool,
    /// Configuration file with races to leave out [default: raddle.toml beside the program, else in the current folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args)]
pub(crate) struct RecordArgs {
    /// Where the trace goes
    #[arg(short = 'o', long = "output", value_name = "FILE", default_value = "raddle.trace")]
    pub(crate) trace: PathBuf,
    /// Show what a trace says, instead of recording one; PROGRAM stands for the program that was recorded
    #[arg(long, value_name = "FILE")]
    pub(crate) show: Option<PathBuf>,
    /// Show every event, not only how many there are
    #[arg(long, requires = "show")]
    pub(crate) events: bool,
    /// Show the trace up to this many events
    #[arg(long, value_name = "NUMBER", default_value_t = raddle_driver::USUAL_LIMIT, requires = "show")]
    pub(crate) limit: usize,
    /// End the program after this many seconds; what was recorded stays; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = words::seconds)]
    pub(crate) time_limit: Duration,
    #[command(flatten)]
    pub(crate) around: AroundArgs,
    /// The exit code when a race was found
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) exit_code: u8,
    /// Configuration file with races to leave out [default: raddle.toml beside the program, else in the current folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Full)]
    pub(crate) format: Format,
    /// Print nothing; the exit code tells
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Colours in the report
    #[arg(long, value_enum, default_value_t = ColourArg::Auto)]
    pub(crate) color: ColourArg,
    /// The program and its arguments
    #[arg(
        required_unless_present = "show",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args)]
pub(crate) struct PredictArgs {
    /// Stop after this many seconds of finding and confirming; the recorded run does not count; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = words::seconds)]
    pub(crate) time_limit: Duration,
    /// End each run of the program after this many seconds; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = words::seconds)]
    pub(crate) run_time_limit: Duration,
    /// Reorderings that are tried for each pair of places until one is confirmed
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    pub(crate) candidates: usize,
    /// Runs that are explored beside the reorderings of a pair where the program followed none to the error; 0: none
    #[arg(long, value_name = "COUNT", default_value_t = 24)]
    pub(crate) divergence_runs: usize,
    /// Record confirmed runs and predict from them, too, until nothing new comes: finds errors that hide behind others
    #[arg(long, conflicts_with_all = ["first", "no_replay"])]
    pub(crate) keep_going: bool,
    /// Stop at the first error that is confirmed
    #[arg(long)]
    pub(crate) first: bool,
    /// Do not run the program under the reorderings: what is found is predicted only
    #[arg(long)]
    pub(crate) no_replay: bool,
    /// Keep the recorded trace in a file
    #[arg(long, value_name = "FILE")]
    pub(crate) keep_trace: Option<PathBuf>,
    /// With a trace: the program that was recorded, if it is not where the trace says
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
    /// Standard input of the program [default: that of raddle where it is redirected from a file]
    #[arg(long, value_name = "FILE")]
    pub(crate) stdin: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) files: FileArgs,
    /// With files: make the recorded execution one by chance, the same for the same number
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// With a trace: write it to FILE in the STD format of trace analysers, and do nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) write_std: Option<PathBuf>,
    /// Read the trace up to this many events
    #[arg(long, value_name = "NUMBER", default_value_t = raddle_driver::USUAL_LIMIT)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) around: AroundArgs,
    /// The exit code when an error was confirmed
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) exit_code: u8,
    /// Where schedules go
    #[arg(long, value_name = "DIR", default_value = "raddle-witness")]
    pub(crate) witness_dir: PathBuf,
    /// Configuration file with races to leave out [default: raddle.toml beside the program, else in the current folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// The program and its arguments; or a trace of `raddle record`, or one in the STD format; or C files (.c, .i), LLVM bitcode (.bc,
    /// .ll) or a compile_commands.json for the interpreter, then `--` and the arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM|TRACE|FILES"
    )]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args)]
pub(crate) struct ReplayArgs {
    /// A file that `raddle check` wrote
    pub(crate) witness: PathBuf,
    /// The program's files, if not those that the witness names; or the program itself, built by `raddle cc`
    pub(crate) inputs: Vec<PathBuf>,
    /// Run the program under the schedule this many times
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
    /// End a run after this many seconds; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = words::seconds)]
    time_limit: Duration,
    /// No step of the schedule for this many seconds is a divergence
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = words::seconds)]
    patience: Duration,
    /// Start gdb on the program under the schedule; it stops with both threads before their racing accesses
    #[arg(long, conflicts_with_all = ["times", "interpreted", "lldb"])]
    gdb: bool,
    /// The same with lldb
    #[arg(long, conflicts_with_all = ["times", "interpreted"])]
    lldb: bool,
    /// Replay on the interpreter only
    #[arg(long, conflicts_with_all = ["times", "time_limit", "patience"])]
    interpreted: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl ReplayArgs {
    pub(crate) fn ground(&self) -> Ground {
        match self.interpreted {
            true => Ground::Interpreter,
            false => {
                Ground::Native(Native { times: self.times, time: self.time_limit, patience: self.patience })
            }
        }
    }

    pub(crate) fn debugger(&self) -> Option<Debugger> {
        match (self.gdb, self.lldb) {
            (true, _) => Some(Debugger::Gdb),
            (_, true) => Some(Debugger::Lldb),
            (false, false) => None,
        }
    }
}

#[derive(Args)]
pub(crate) struct CertifyArgs {
    /// A file that `raddle check` or `raddle static --certificate` wrote
    pub(crate) file: PathBuf,
    /// The program's files, if not those that the file names
    pub(crate) inputs: Vec<PathBuf>,
    /// Stop after this many seconds; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = words::seconds)]
    time_limit: Duration,
    /// Stop when Raddle uses this much memory: bytes, or with K, M, G
    #[arg(long, value_name = "BYTES", default_value = "4G", value_parser = words::bytes)]
    memory_limit: u64,
}

impl CertifyArgs {
    pub(crate) fn allowance(&self) -> Allowance {
        Allowance {
            time: (!self.time_limit.is_zero()).then_some(self.time_limit),
            memory: (self.memory_limit != 0).then_some(self.memory_limit),
        }
    }
}

#[derive(Args)]
pub(crate) struct ProgramArgs {
    /// C files (.c, .i), LLVM bitcode (.bc, .ll), a program built by `raddle cc` or a compile_commands.json; several are linked into
    /// one program
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
    #[command(flatten)]
    files: FileArgs,
    /// Configuration file [default: raddle.toml beside the input, else in the current folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Functions that any number of clients may call at once, for code without `main`
    #[arg(long = "entry", value_name = "NAMES", value_delimiter = ',')]
    entries: Vec<String>,
    /// Standard input of the program [default: that of raddle where it is redirected, else empty]
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
}

/// How files become a program for the interpreter.
#[derive(Args)]
pub(crate) struct FileArgs {
    /// Flags for clang, in one string
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: Vec<String>,
    /// Sizes of types: LP64 (clang -m64) or ILP32 (clang -m32)
    #[arg(long, value_enum, ignore_case = true)]
    data_model: Option<DataModelArg>,
    /// Link target, where a compile_commands.json has several
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// What functions without body or model may do: `open`, use what they are given and what was published; `pure`, nothing
    /// (A-EXTERN) [default: as in the configuration file, else open]
    #[arg(long = "extern", value_enum, value_name = "WHAT")]
    external: Option<ExternalArg>,
    /// Assume that condition waits do not wake up, and weak compare-exchanges and mtx_trylock do not fail, for no reason (A-SPURIOUS)
    #[arg(long)]
    no_spurious: bool,
}

#[derive(Args)]
pub(crate) struct SearchArgs {
    /// Stop at the first race instead of listing all
    #[arg(long)]
    first: bool,
    /// Stop after this many seconds; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = words::seconds)]
    time_limit: Duration,
    /// Stop when Raddle uses this much memory: bytes, or with K, M, G
    #[arg(long, value_name = "BYTES", default_value = "4G", value_parser = words::bytes)]
    memory_limit: u64,
    /// Which inputs `safe` must cover: those of this command line, or every input (an answer about this input alone is unknown then)
    #[arg(long = "inputs", value_name = "WHICH", value_enum, default_value_t = InputsArg::This)]
    covering: InputsArg,
    /// Stop after this many complete runs
    #[arg(long, value_name = "COUNT")]
    max_executions: Option<u64>,
    /// Share the work of the search `optimal` among this many processor cores; 0 is all of them. With several, which race is found first is a
    /// matter of chance
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u16).range(..=256))]
    jobs: u16,
    /// Where witness files go
    #[arg(long, value_name = "DIR", default_value = "raddle-witness")]
    witness_dir: PathBuf,
    /// Write the proof, if there is one, to a file that `raddle certify` checks [default: beside the witnesses]
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct OutputArgs {
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Full)]
    pub(crate) format: Format,
    /// Write the report to a file instead of standard output
    #[arg(short, long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print nothing; the exit code tells
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Colours in the report
    #[arg(long, value_enum, default_value_t = ColourArg::Auto)]
    pub(crate) color: ColourArg,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// With source lines, locks and stacks
    Full,
    /// One line per finding
    Concise,
    /// One object, for programs
    Json,
    /// SARIF 2.1.0, for code-scanning services and editors
    Sarif,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourArg {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    /// Each class of equivalent runs once
    Optimal,
    /// For one property: critical sections commute, and what cannot violate it is pruned
    Pdp,
    /// Like `optimal`, up to the names of threads that were created to do the same
    Symmetric,
    /// The classic reduction with sleep sets: the same answers, slower
    Dpor,
    /// Remembers states: ends also where loops are endless
    Stateful,
    /// Runs by chance, every choice as likely; never safe
    Random,
    /// Runs by chance, with random priorities (PCT); never safe
    Pct,
    /// Every order of synchronisation; small programs only
    Enumerate,
    /// A switch before every single access, without happens-before; tiny programs only
    EveryAccess,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InputsArg {
    /// Arguments, standard input, environment and files as they are now
    This,
    /// Any input
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PropertyArg {
    Races,
    /// Races and deadlocks
    Deadlocks,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DataModelArg {
    #[value(name = "LP64")]
    Lp64,
    #[value(name = "ILP32")]
    Ilp32,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Mode {
        match mode {
            ModeArg::Optimal => Mode::Optimal,
            ModeArg::Pdp => Mode::Pdp,
            ModeArg::Symmetric => Mode::Symmetric,
            ModeArg::Dpor => Mode::Dpor,
            ModeArg::Stateful => Mode::Stateful,
            ModeArg::Random => Mode::Random,
            ModeArg::Pct => Mode::Pct,
            ModeArg::Enumerate => Mode::Enumerate,
            ModeArg::EveryAccess => Mode::EveryAccess,
        }
    }
}

/// Standard input of this process, where it is a file or a pipe.
fn own_stdin() -> Option<PathBuf> {
    let metadata = std::fs::metadata(OWN_STDIN).ok()?;
    let kind = metadata.file_type();
    match kind.is_file() {
        true => std::fs::canonicalize(OWN_STDIN).ok(),
        false => kind.is_fifo().then(|| PathBuf::from(OWN_STDIN)),
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum ExternalArg {
    Open,
    Pure,
}

impl ProgramArgs {
    pub(crate) fn subject(&self) -> anyhow::Result<Subject> {
        Ok(Subject {
            config: self.config.clone(),
            stdin: self.stdin.clone().or_else(own_stdin),
            entries: self.entries.clone(),
            ..self.files.subject(&self.inputs, &self.args)?
        })
    }
}

impl FileArgs {
    pub(crate) fn are_given(&self) -> bool {
        let FileArgs { cflags, data_model, target, external, no_spurious } = self;
        !cflags.is_empty() || data_model.is_some() || target.is_some() || external.is_some() || *no_spurious
    }

    /// Without what other flags say of it.
    fn subject(&self, inputs: &[PathBuf], args: &[String]) -> anyhow::Result<Subject> {
        let mut cflags = Vec::new();
        for flags in &self.cflags {
            cflags.extend(words::split(flags)?);
        }
        Ok(Subject {
            inputs: inputs.to_vec(),
            cflags,
            data_model: self.data_model.map(|model| match model {
                DataModelArg::Lp64 => DataModel::Lp64,
                DataModelArg::Ilp32 => DataModel::Ilp32,
            }),
            target: self.target.clone(),
            args: args.to_vec(),
            env: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            external: self.external.map(|external| match external {
                ExternalArg::Open => External::Open,
                ExternalArg::Pure => External::Pure,
            }),
            spurious: if self.no_spurious { Spurious::Off } else { Spurious::On },
            ..Subject::default()
        })
    }
}

impl PredictArgs {
    /// The command as files and, behind `--`, arguments of the program.
    pub(crate) fn subject(&self) -> anyhow::Result<Subject> {
        let split = self.command.iter().position(|word| word == "--").unwrap_or(self.command.len());
        let (files, args) = self.command.split_at(split);
        if let Some(flag) = files.iter().find(|file| file.to_string_lossy().starts_with('-')) {
            bail!(
                "{0} is no file: flags come before the files, arguments of the program after `--`",
                flag.display()
            );
        }
        let inputs: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let args = args.iter().skip(1).map(|arg| match arg.to_str() {
            Some(arg) => Ok(arg.to_owned()),
            None => bail!("the argument {} is not UTF-8", arg.display()),
        });
        Ok(Subject {
            config: self.config.clone(),
            stdin: self.stdin.clone().or_else(own_stdin),
            ..self.files.subject(&inputs, &args.collect::<anyhow::Result<Vec<String>>>()?)?
        })
    }
}

impl StaticArgs {
    pub(crate) fn request(&self) -> StaticRequest {
        StaticRequest {
            time: (!self.time_limit.is_zero()).then_some(self.time_limit),
            memory: (self.memory_limit != 0).then_some(self.memory_limit),
            certificate: self.certificate.clone(),
            explain: self.explain.clone(),
        }
    }
}

impl ProveArgs {
    pub(crate) fn request(&self) -> ProveRequest {
        ProveRequest {
            time: (!self.time_limit.is_zero()).then_some(self.time_limit),
            memory: (self.memory_limit != 0).then_some(self.memory_limit),
            certificate: self.certificate.clone(),
            witness_dir: Some(self.witness_dir.clone()),
        }
    }
}

impl ExploreArgs {
    pub(crate) fn search(&self) -> anyhow::Result<Search> {
        if self.search.jobs != 1 && self.mode != ModeArg::Optimal {
            bail!("--jobs is for --search optimal: the other searches use one core");
        }
        if self.checkpoint.is_some() && self.mode != ModeArg::Optimal {
            bail!("--checkpoint is for --search optimal: the other searches cannot go on later");
        }
        if self.property == PropertyArg::Deadlocks && self.mode != ModeArg::Pdp {
            bail!("--property is for --search pdp: the other searches look for everything");
        }
        if self.native && (self.search.jobs != 1 || self.checkpoint.is_some()) {
            bail!("--jobs and --checkpoint are not for --native");
        }
        let start = if self.resume { Start::Resume } else { Start::New };
        let BoundArgs { preemptions, loop_bound, max_steps, seed, runs, depth } = self.bounds;
        Ok(Search {
            property: match self.property {
                PropertyArg::Races => Property::Races,
                PropertyArg::Deadlocks => Property::RacesAndDeadlocks,
            },
            substrate: if self.native { Substrate::Native } else { Substrate::Interpreter },
            steps: max_steps,
            preemptions,
            rounds: loop_bound,
            chance: Chance { seed, runs, depth },
            checkpoint: self.checkpoint.clone().map(|file| Checkpoint { file, start }),
            ..self.search.search(Engines::Explore, self.mode.into())
        })
    }
}

impl SearchArgs {
    fn helpers(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        (if self.jobs == 0 { cores() } else { self.jobs.into() }) - 1
    }

    pub(crate) fn search(&self, engines: Engines, mode: Mode) -> Search {
        Search {
            engines,
            substrate: Substrate::Interpreter,
            mode,
            goal: if self.first { Goal::FirstRace } else { Goal::AllRaces },
            inputs: match self.covering {
                InputsArg::This => Inputs::This,
                InputsArg::All => Inputs::All,
            },
            time: (!self.time_limit.is_zero()).then_some(self.time_limit),
            memory: (self.memory_limit != 0).then_some(self.memory_limit),
            executions: self.max_executions,
            property: Property::Races,
            steps: None,
            preemptions: None,
            rounds: None,
            chance: Chance::default(),
            helpers: self.helpers(),
            checkpoint: None,
            witness_dir: Some(self.witness_dir.clone()),
            certificate: self.certificate.clone(),
        }
    }
}
