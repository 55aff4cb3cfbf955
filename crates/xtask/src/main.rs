//! `cargo run -p raddle-xtask -- <chore>`: one subcommand for each chore.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use raddle_xtask::bench::Part;
use raddle_xtask::mutants::Repeat;
use raddle_xtask::tidy::tidy;
use raddle_xtask::tree::Tree;

#[derive(Parser)]
#[command(about = "Chores of the Raddle project")]
struct Arguments {
    /// The project's root folder
    #[arg(long, global = true, default_value_os_t = own_root())]
    root: PathBuf,
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check what the written rules promise: layers, file heads and sizes, documented assumptions and dependencies
    Tidy,
    /// Measure and write docs/benchmarks
    Bench {
        /// One page alone, or `corpus`: fetch the real code of the static page and show how to analyse it
        #[arg(value_enum)]
        page: Option<Page>,
        /// With `static`, `explore` or `native`: only these inputs, printed and not written
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Change the fixtures, examples and bench programs a little and compare what Raddle says of them with ThreadSanitizer
    Mutants(MutantArguments),
    /// Run every test at full count, in parts that are not repeated at the same commit, and print the table of docs/benchmarks/soak.md
    Soak(SoakArguments),
}

#[derive(clap::Args)]
struct SoakArguments {
    /// The long parts share what the others leave of it; call it again with more to repeat those that were cut
    #[arg(long, value_name = "HOURS", default_value_t = 6.0)]
    hours: f64,
    /// Parts at once
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    jobs: usize,
    /// Only parts whose name contains one of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only tests of these packages, without the mutants
    #[arg(long = "package", short, value_name = "NAMES", value_delimiter = ',')]
    packages: Vec<String>,
    /// Profile of cargo that the tests are built with
    #[arg(long, default_value = "release")]
    profile: String,
    /// Parts that were done at these commits are not repeated; the table names them
    #[arg(long, value_name = "COMMITS", value_delimiter = ',')]
    accept: Vec<String>,
    /// List the parts and how long each may take
    #[arg(long)]
    list: bool,
    /// Write the table to docs/benchmarks/soak.md
    #[arg(long)]
    write: bool,
}

#[derive(clap::Args)]
struct MutantArguments {
    /// Which mutants
    #[arg(long, value_name = "FROM..TO", value_parser = range, default_value = "0..5000")]
    seeds: std::ops::Range<u64>,
    /// Parts that this file lists for the commit at hand are not judged again
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Parts that this file lists for any commit are not judged again
    #[arg(long, requires = "state")]
    once: bool,
    /// This raddle, not a release build
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Where mutants go whose answer may be wrong, with all outputs
    #[arg(long, value_name = "DIR", default_value = "target/mutants")]
    found: PathBuf,
    /// Of so many seeds, one whose mutant has a race is replayed natively
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    replay_every: u64,
    /// For each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    time_limit: u64,
    /// Mutants at once; their native runs mostly sleep
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    jobs: usize,
    /// Print each mutant and keep its folder
    #[arg(long)]
    keep: bool,
}

fn range(text: &str) -> Result<std::ops::Range<u64>, String> {
    let (from, to) = text.split_once("..").ok_or("not of the form FROM..TO")?;
    let number = |text: &str| text.parse().map_err(|error| format!("{text}: {error}"));
    Ok(number(from)?..number(to)?)
}

#[derive(Clone, Copy, ValueEnum)]
enum Page {
    Ground,
    Static,
    Explore,
    Native,
    Predict,
    Limits,
    Corpus,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match arguments.chore {
        Chore::Tidy => run_tidy(&arguments.root),
        Chore::Bench { page, only } => {
            let part = match page {
                None => Part::All,
                Some(Page::Ground) => Part::Ground,
                Some(Page::Static) => Part::Static(only),
                Some(Page::Explore) => Part::Explore(only),
                Some(Page::Native) => Part::Native(only),
                Some(Page::Predict) => Part::Predict(only),
                Some(Page::Limits) => Part::Limits,
                Some(Page::Corpus) => Part::Corpus,
            };
            run_bench(&arguments.root, &part)
        }
        Chore::Mutants(mutants) => run_mutants(&arguments.root, mutants),
        Chore::Soak(soak) => run_soak(&arguments.root, soak),
    }
}

fn run_tidy(root: &Path) -> ExitCode {
    let tree = match Tree::read(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("tidy: cannot read {}: {error}", root.display());
            return ExitCode::from(2);
        }
    };
    let problems = tidy(&tree);
    for problem in &problems {
        println!("{problem}");
    }
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_bench(root: &Path, part: &Part) -> ExitCode {
    match raddle_xtask::bench::run(root, part) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run_mutants(root: &Path, arguments: MutantArguments) -> ExitCode {
    let request = raddle_xtask::mutants::Request {
        seeds: arguments.seeds,
        state: arguments.state,
        repeat: if arguments.once { Repeat::Never } else { Repeat::AtAnotherCommit },
        binary: arguments.binary,
        found: arguments.found,
        replay_every: arguments.replay_every,
        time_limit: Duration::from_secs(arguments.time_limit),
        jobs: arguments.jobs,
        keep: arguments.keep,
    };
    exit_code("mutants", raddle_xtask::mutants::run(root, &request))
}

fn run_soak(root: &Path, arguments: SoakArguments) -> ExitCode {
    let request = raddle_xtask::soak::Request {
        time: Duration::from_secs_f64(arguments.hours * 3600.0),
        jobs: arguments.jobs,
        only: arguments.only,
        packages: arguments.packages,
        profile: arguments.profile,
        accepted: arguments.accept,
        list: arguments.list,
        write: arguments.write,
    };
    exit_code("soak", raddle_xtask::soak::run(root, &request))
}

fn exit_code(chore: &str, result: Result<bool, String>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{chore}: {message}");
            ExitCode::from(2)
        }
    }
}

fn own_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
