//! The searches on the programs of `bench/programs`: `docs/benchmarks/explore.md`.
//!
//! A program names its own rows: each line `//@ bench: FLAGS` is one, in all the searches that [`SEARCHES`] lists. `//@ paper: TEXT` after it is
//! printed beside (executions and times of other tools, columns of the 2008 paper's Table 1).

use super::measure::{Run, Tool};
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Search and jobs.
const SEARCHES: [(&str, &str); 6] =
    [("dpor", "1"), ("optimal", "1"), ("optimal", "2"), ("symmetric", "1"), ("pdp", "1"), ("stateful", "1")];
/// For one search on one row.
const SECONDS: &str = "12";

/// Measures, writes the page. `only` picks programs by name; then the page is printed, not written.
pub(super) fn run(root: &Path, only: &[String]) -> Result<(), String> {
    let tool = Tool::find(root)?;
    let scratch = tool.scratch()?;
    let mut page = format!("{HEAD}\nMachine: {}.\n", super::machine());
    for file in programs(root)? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let rows = rows(&text);
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n## {name}\n\n{}\n", about(&text));
        page.push_str(COLUMNS);
        for row in rows {
            for (search, jobs) in SEARCHES {
                eprintln!("bench: explore: {name} {} {search}", row.flags);
                let flags = format!("--cflags={}", row.flags);
                let arguments = [
                    "--search",
                    search,
                    "--jobs",
                    jobs,
                    "--time-limit",
                    SECONDS,
                    "--witness-dir",
                    &scratch,
                    &flags,
                ];
                let mut arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
                arguments.push(file.as_os_str());
                let log = Path::new(&scratch).join("explore.json");
                let measured = tool.run("explore", &arguments, &log);
                let name = if jobs == "1" { search.to_owned() } else { format!("{search}, {jobs} jobs") };
                page.push_str(&line(&row, &name, &measured));
            }
        }
    }
    if !only.is_empty() {
        print!("{page}");
        return Ok(());
    }
    let file = root.join("docs/benchmarks/explore.md");
    std::fs::write(&file, page).map_err(|error| format!("{}: {error}", file.display()))?;
    eprintln!("bench: wrote docs/benchmarks/explore.md");
    Ok(())
}

const HEAD: &str = "# The searches

Written by `make bench`. Each row is one run of `raddle explore --search …` on a program of `bench/programs`, with a limit of 12 s;
`unknown` is one that did not end. *Executions* are complete runs; *per second* is of the search alone, without clang and loading; memory
is that of the whole process, of which the LLVM library and the program take about 90 MiB. Times are of one run on one machine and noisy;
counts of finished searches are not. *Checks*, *yes* and *skipped* are the columns of the 2008 paper's Table 1.
";

const COLUMNS: &str = "| flags | search | answer | executions | per second | seconds | peak MiB | checks | yes | skipped | elsewhere |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|---|
";

struct Row<'a> {
    flags: &'a str,
    elsewhere: &'a str,
}

fn rows(text: &str) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(flags) = line.strip_prefix("//@ bench:") {
            rows.push(Row { flags: flags.trim(), elsewhere: "" });
        } else if let Some(words) = line.strip_prefix("//@ paper:")
            && let Some(row) = rows.last_mut()
        {
            row.elsewhere = words.trim();
        }
    }
    rows
}

/// The comment that the file begins with.
fn about(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.starts_with("//") && !line.starts_with("//@"));
    lines.map(|line| line.trim_start_matches('/').trim()).collect::<Vec<_>>().join(" ")
}

fn line(row: &Row<'_>, search: &str, measured: &Result<Run, String>) -> String {
    let start = format!("| `{}` | {search} |", row.flags);
    match measured {
        Ok(run) => {
            let found = run.search;
            let rate = if found.seconds > 0.0 { found.executions as f64 / found.seconds } else { 0.0 };
            let [checks, yes, skipped] = match found.pruning {
                Some(counts) => counts.map(|count| count.to_string()),
                None => [const { String::new() }; 3],
            };
            format!(
                "{start} {} | {} | {rate:.0} | {:.2} | {:.0} | {checks} | {yes} | {skipped} | {} |\n",
                run.verdict, found.executions, found.seconds, run.peak_mib, row.elsewhere
            )
        }
        Err(problem) => format!("{start} {problem} | | | | | | | | |\n"),
    }
}

fn programs(root: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = root.join("bench/programs");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "c"));
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{about, rows};

    #[test]
    fn rows_are_read_from_the_program() {
        let text = "// One.\n// Two.\n//@ check: -DN=1 safe\n//@ bench: -DN=2\n//@ paper: 14\n//@ bench: -DN=3\nint x;\n// No.\n";
        let found = rows(text);
        let found: Vec<_> = found.iter().map(|row| (row.flags, row.elsewhere)).collect();
        assert_eq!(found, [("-DN=2", "14"), ("-DN=3", "")]);
        assert_eq!(about(text), "One. Two.");
    }
}
