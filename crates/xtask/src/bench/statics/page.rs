//! The page: tables, goals with met or not met, plot data.

use super::Row;
use super::inputs::{Input, Kind};
use super::ladder::Rung;
use crate::bench::measure::Run;
use std::fmt::Write;

const HEAD: &str = "# Static analysis on real code

Written by `make bench`. `cargo run --release -p raddle-xtask -- bench static --only NAME` measures one input alone, from its sources too.
Counts are the same on every machine. Times are of one run, and the machine may have had other work: *time* is therefore the
processor time that Raddle took, *wall* what passed meanwhile. On an idle core the two are about the same, and processor time is
some tens of percent less than beside other work.

*lines*: lines with code (neither blank nor only comment) of the `.c` files, headers not counted, in thousands; the paper does not say how it
counts. *time*: `raddle static` on linked bitcode, reading and report included; *reading*: LLVM and lowering alone, wall time;
*from sources*: with clang, wall time. *memory*: peak of the process. *cores*: processor time over wall time.

## What is counted

* *shared*: the paper's Algorithm 1 collects variables that a thread updates genuinely: globals, what aliases them, pointers that clients
  pass, by name. Here a shared variable is a place: an object (a global, a block by where it is made, for code without `main` one
  object per structure type that clients pass) and an offset pattern in it, written by one thread and touched by another that
  may run at the same time, whether or not a rule excludes the conflict. Copies of pointers are no updates in either; two
  fields are two variables in both; elements of an array are one.
* *warnings*: pairs of accesses (in calling contexts, as far as functions were copied) that no rule excludes, each pair once, whatever
  number of objects it may meet in. Counted by groups, never one by one.
* *reduced*: those that no weaker pair covers (Stage II). Above 4000 accesses that are warned of, or for pairs that are not listed,
  nothing is compared and nothing is taken off.
* *contexts*: pairs of source places of these.

Why there are so many more than in the paper: an entry stands for any number of clients at once, also for two calls of itself with the same
object (A-ENTRY). Of the warnings of plip that are listed nine in ten are about memory that clients pass, mostly of the deferred-work function
`plip_bh` against itself, which the kernel never runs twice at once for one device; in amd_gart_64 nearly all are about
scatter lists that each caller owns. Nothing in the code says so, and dropping them would be a guess. The paper does not say which threads it took to run beside which.
";

pub(super) fn write(
    machine: &str,
    rows: &[(&Input, Result<Row, String>)],
    rungs: &[(Rung, Result<Run, String>)],
) -> String {
    let mut text = format!("{HEAD}\nMachine: {machine}.\n");
    text.push_str("\n## Goals\n\n");
    goals(&mut text, rows, rungs);
    text.push_str("\n## Drivers of the paper\n\nThe files of Debian's `linux-source-6.1` that the paper's drivers became, with the paper's numbers before ours.\n\
         The source of ctrace is the one that Goblint keeps among its benchmarks.\n\n\
         | paper | lines | shared | warnings | reduced | contexts | time | file | lines | entries | shared | warnings | reduced | contexts | time |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (input, row) in rows {
        let Some(p) = input.paper else { continue };
        let _ = write!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} s | {} ",
            p.name, p.kloc, p.shared, p.warnings, p.after_reduction, p.after_contexts, p.seconds, input.name
        );
        match row {
            Ok(Row { lines, entries, run: Ok(run), .. }) => {
                let c = &run.counters;
                let _ = writeln!(
                    text,
                    "| {} | {entries} | {} | {} | {} | {} | {:.2} s |",
                    thousands(lines.code),
                    number(c.shared_variables),
                    number(c.warnings),
                    number(c.after_reduction),
                    number(c.after_contexts),
                    run.processor_seconds
                );
            }
            Ok(Row { run: Err(problem), .. }) | Err(problem) => {
                let _ = writeln!(text, "| {problem} | | | | | | |");
            }
        }
    }
    text.push_str(
        "\n## Everything\n\n| input | lines | instructions | understood | entries | answer | shared | pairs | warnings | reduced | contexts | \
         reading | time | wall | from sources | memory | cores |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (input, row) in rows {
        everything(&mut text, input.name, row);
    }
    reasons(&mut text, rows);
    ladder(&mut text, rungs);
    text
}

fn everything(text: &mut String, name: &str, row: &Result<Row, String>) {
    let row = match row {
        Ok(row) => row,
        Err(problem) => {
            let _ = writeln!(text, "| {name} | {problem} |{}", " |".repeat(15));
            return;
        }
    };
    let l = &row.lowered;
    let _ = write!(
        text,
        "| {name} | {} | {} | {:.2} % | {} ",
        thousands(row.lines.code),
        l.instructions,
        100.0 * l.whole as f64 / l.functions.max(1) as f64,
        row.entries
    );
    let from_sources = match &row.from_sources {
        Some(Ok(run)) => format!("{:.1} s", run.seconds),
        Some(Err(_)) | None => "–".to_owned(),
    };
    match &row.run {
        Ok(run) => {
            let c = &run.counters;
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {:.2} s | {:.2} s | {:.2} s | {from_sources} | {:.0} MiB | {:.1} |",
                run.verdict,
                number(c.shared_variables),
                number(c.pairs),
                number(c.warnings),
                number(c.after_reduction),
                number(c.after_contexts),
                l.seconds,
                run.processor_seconds,
                run.seconds,
                run.peak_mib,
                cores(run)
            );
        }
        Err(problem) => {
            let _ = writeln!(text, "| {problem}; reading alone {:.2} s |{}", l.seconds, " |".repeat(11));
        }
    }
}

fn goals(text: &mut String, rows: &[(&Input, Result<Row, String>)], rungs: &[(Rung, Result<Run, String>)]) {
    let measured = |row: &Result<Row, String>| match row {
        Ok(Row { run, .. }) => run.clone(),
        Err(problem) => Err(problem.clone()),
    };
    text.push_str("| goal | measured (processor time) | met |\n|---|---|---|\n");
    let drivers =
        rows.iter().filter(|(input, _)| input.kind == Kind::Driver && !input.name.ends_with("-all"));
    let (mut slowest, mut missing) = (("", 0.0f64), 0);
    for (input, row) in drivers {
        match measured(row) {
            Ok(run) if run.processor_seconds > slowest.1 => slowest = (input.name, run.processor_seconds),
            Ok(_) => {}
            Err(_) => missing += 1,
        }
    }
    let lacking = if missing > 0 { format!("; {missing} without a result") } else { String::new() };
    goal(
        text,
        "every driver under 1 s",
        &format!("slowest {} {:.2} s{lacking}", slowest.0, slowest.1),
        slowest.1 < 1.0 && missing == 0 && !slowest.0.is_empty(),
    );
    let hundred = rungs.iter().find(|(rung, _)| rung.lines.code > 90_000);
    let (said, met) = match hundred {
        Some((rung, Ok(run))) => (
            format!(
                "{} thousand lines: {:.1} s, {:.0} MiB, {:.1} cores",
                thousands(rung.lines.code),
                run.processor_seconds,
                run.peak_mib,
                cores(run)
            ),
            run.processor_seconds < 10.0 && run.peak_mib < 2048.0,
        ),
        Some((_, Err(problem))) => (problem.clone(), false),
        None => ("not measured".to_owned(), false),
    };
    goal(text, "100,000 lines under 10 s and 2 GiB on two cores", &said, met);
    let (said, met) = growth(rungs);
    goal(text, "time grows no faster than n log n from 10 to 300 thousand lines", &said, met);
    let most = rungs.iter().filter_map(|(_, run)| run.as_ref().ok()).map(cores).fold(0.0, f64::max);
    goal(text, "both cores used", &format!("up to {most:.1} cores on the ladder"), most > 1.2);
}

/// The slope of time against n log n in logarithms, by least squares: 1 is n log n exactly.
fn growth(rungs: &[(Rung, Result<Run, String>)]) -> (String, bool) {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (rung, run) in rungs {
        let Ok(run) = run else {
            return (format!("{} thousand lines gave no result", thousands(rung.lines.code)), false);
        };
        let n = rung.lines.code as f64;
        points.push(((n * n.ln()).ln(), run.processor_seconds.max(0.01).ln()));
    }
    if points.len() < 3 {
        return ("not measured".to_owned(), false);
    }
    let count = points.len() as f64;
    let (x, y) =
        (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let covariance: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let slope = covariance / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    // Noise of single runs is a few percent of the slope.
    (format!("time grows as (n log n)^{slope:.2}"), slope <= 1.05)
}

fn goal(text: &mut String, goal: &str, measured: &str, met: bool) {
    let _ = writeln!(text, "| {goal} | {measured} | {} |", if met { "yes" } else { "no" });
}

fn reasons(text: &mut String, rows: &[(&Input, Result<Row, String>)]) {
    let mut said = false;
    for (input, row) in rows {
        let Ok(row) = row else { continue };
        for (reason, count) in &row.lowered.reasons {
            if !std::mem::replace(&mut said, true) {
                text.push_str("\nNot understood, by number of instructions:\n\n");
            }
            let _ = writeln!(text, "* {}: {count} × {reason}", input.name);
        }
    }
}

fn ladder(text: &mut String, rungs: &[(Rung, Result<Run, String>)]) {
    text.push_str(
        "\n## Time against size\n\nGrowing unions of source files of memcached, fio, redis, librdkafka, zstd and SQLite, linked to one program. The last \
         column would be constant if time grew as n log n.\n\n```text\n   lines   files  seconds      MiB  cores  µs/(n ln n)\n",
    );
    for (rung, run) in rungs {
        let n = rung.lines.code as f64;
        match run {
            Ok(run) => {
                let _ = writeln!(
                    text,
                    "{:>8} {:>7} {:>8.2} {:>8.0} {:>6.1} {:>12.3}",
                    rung.lines.code,
                    rung.units,
                    run.processor_seconds,
                    run.peak_mib,
                    cores(run),
                    run.processor_seconds * 1e6 / (n * n.ln())
                );
            }
            Err(problem) => {
                let _ = writeln!(text, "{:>8} {:>7}  {problem}", rung.lines.code, rung.units);
            }
        }
    }
    text.push_str("```\n");
}

fn cores(run: &Run) -> f64 {
    run.processor_seconds / run.seconds.max(0.01)
}

fn thousands(lines: usize) -> String {
    format!("{:.1}", lines as f64 / 1000.0)
}

fn number(count: Option<u64>) -> String {
    count.map_or_else(|| "–".to_owned(), |count| count.to_string())
}
