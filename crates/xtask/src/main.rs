//! `cargo run -p raddle-xtask -- <chore>`: one subcommand for each chore.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use raddle_xtask::bench::Part;
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
}

#[derive(Clone, Copy, ValueEnum)]
enum Page {
    Ground,
    Static,
    Explore,
    Native,
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
                Some(Page::Corpus) => Part::Corpus,
            };
            run_bench(&arguments.root, &part)
        }
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

fn own_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
