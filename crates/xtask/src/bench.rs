//! Measures what the pages of `docs/benchmarks` show and writes them: fixtures by topic, random traces compared, instructions a
//! second, how much of real C lowers, the static analysis on real code, the searches on programs of `bench/programs`, and how exactly limits hold. Numbers are of the machine at hand; nothing here is a test.

mod corpus;
mod explore;
mod explored;
mod fixtures;
mod limits;
mod measure;
mod native;
mod predict;
mod speed;
mod statics;
mod traces;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Which pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    All,
    /// `ground.md`.
    Ground,
    /// `static.md`; or, with names, only these inputs, printed.
    Static(Vec<String>),
    /// `explore.md`; or, with names, only these programs, printed.
    Explore(Vec<String>),
    /// `native.md`; or, with names, only these programs, printed.
    Native(Vec<String>),
    /// `predict.md`; or, with names, only these parts, printed.
    Predict(Vec<String>),
    /// `limits.md`.
    Limits,
    /// Fetches and links the inputs of `static.md` and shows how to analyse each.
    Corpus,
}

pub fn run(root: &Path, part: &Part) -> Result<(), String> {
    match part {
        Part::All => {
            ground(root)?;
            explore::run(root, &[])?;
            limits::run(root)?;
            statics::run(root, &[])
        }
        Part::Ground => ground(root),
        Part::Static(only) => statics::run(root, only),
        Part::Explore(only) => explore::run(root, only),
        Part::Native(only) => native::run(root, only),
        Part::Predict(only) => predict::run(root, only),
        Part::Limits => limits::run(root),
        Part::Corpus => statics::prepare_all(root),
    }
}

fn ground(root: &Path) -> Result<(), String> {
    let mut page = String::from(
        "# Ground: what works and how fast\n\nWritten by `make bench`. Times are of one run on one machine and noisy; counts are not.\n",
    );
    let _ = writeln!(page, "\nMachine: {}.\n", machine());
    eprintln!("bench: instructions a second");
    page.push_str(&speed::section(root)?);
    eprintln!("bench: random traces");
    page.push_str(&traces::section()?);
    eprintln!("bench: fixtures");
    page.push_str(&fixtures::section(root)?);
    eprintln!("bench: real C sources");
    page.push_str(&corpus::section()?);
    let file = root.join("docs/benchmarks/ground.md");
    std::fs::create_dir_all(root.join("docs/benchmarks")).map_err(|error| error.to_string())?;
    std::fs::write(&file, page).map_err(|error| format!("{}: {error}", file.display()))?;
    eprintln!("bench: wrote docs/benchmarks/ground.md");
    Ok(())
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let rust = Command::new("rustc").arg("--version").output();
    let rust = rust.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
    format!("{cores} cores, {}, {rust}", model.unwrap_or_else(|| "unknown processor".to_owned()))
}
