//! Measures what `docs/benchmarks/ground.md` shows and writes that page: fixtures by topic, random traces compared, instructions a
//! second, and how much of real C lowers. Numbers are of the machine at hand; nothing here is a test.

mod corpus;
mod fixtures;
mod speed;
mod traces;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

pub fn run(root: &Path) -> Result<(), String> {
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
