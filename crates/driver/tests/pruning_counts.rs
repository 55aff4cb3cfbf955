//! The programs of the 2008 paper's Table 1, which is the bar: at least its threads, shared variables, accesses and locks, and at most as many
//! traces as its PDP column.
//!
//! `RADDLE_TABLE=1` prints all columns, DPOR (the optimal search, up to 5,000 runs) included.

use raddle_certify::statics::open_pairs;
use raddle_config::Config;
use raddle_driver::pruning::{Pairs, StaticOracle};
use raddle_explore::dpor::{baseline, for_races, optimal};
use raddle_explore::enumerate::{Coverage, Goal, Limits};
use raddle_explore::pdp;
use raddle_facts::StaticProof;
use raddle_frontend::Request;
use raddle_interp::{Interp, Options};
use raddle_ir::program_hash;
use raddle_libmodel::Models;
use raddle_machine::Visibility;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Traces and size in the paper.
struct Row {
    file: &'static str,
    flags: &'static [&'static str],
    racy: bool,
    /// The columns PDP and DPOR; 0: an hour was not enough.
    traces: [u64; 2],
    /// Threads, shared variables, accesses to them, locks.
    size: [u64; 4],
}

const fn row(
    file: &'static str,
    flags: &'static [&'static str],
    racy: bool,
    traces: [u64; 2],
    size: [u64; 4],
) -> Row {
    Row { file, flags, racy, traces, size }
}

const TABLE: &[Row] = &[
    row("fdrd2", &[], true, [14, 89], [2, 3, 3, 2]),
    row("fdrd4", &[], true, [68, 233], [2, 3, 3, 2]),
    row("qsort", &[], false, [1, 4], [2, 2, 2000, 5]),
    row("pfscan", &[], false, [182, 2519], [2, 21, 118, 4]),
    row("pfscan", &["-DBUG"], true, [10, 31], [2, 21, 39, 4]),
    row("aget", &["-DTHREADS=3"], false, [1, 3432], [3, 5, 72, 1]),
    row("aget", &["-DTHREADS=4"], false, [1, 0], [4, 5, 78, 1]),
    row("aget", &["-DTHREADS=5"], false, [1, 0], [5, 5, 84, 1]),
    row("bzip2smp", &["-DTHREADS=4"], false, [45, 1465], [4, 9, 18, 3]),
    row("bzip2smp", &["-DTHREADS=5"], false, [45, 2316], [5, 9, 18, 3]),
    row("bzip2smp", &["-DTHREADS=6"], false, [45, 3167], [6, 9, 18, 3]),
    row("bzip2smp", &["-DTHREADS=4", "-DBIG"], false, [45, 1573], [4, 9, 269, 3]),
    row("bzip2smp", &["-DTHREADS=5", "-DBIG"], false, [45, 2532], [5, 9, 269, 3]),
    row("bzip2smp", &["-DTHREADS=6", "-DBIG"], false, [45, 3491], [6, 9, 269, 3]),
    row("bzip2smp", &["-DTHREADS=10", "-DBIG"], false, [45, 7327], [10, 9, 269, 3]),
    // Not in the table: the order of sections that protect one variable does not matter.
    row("readers_writers", &["-DR=5", "-DW=5"], false, [1, 10], [10, 1, 10, 1]),
];

#[test]
fn at_most_as_many_traces_as_the_paper() {
    let mut wrong = Vec::new();
    let mut counts = BTreeMap::new();
    for Row { file, flags, racy, traces: [bar, plain], size } in TABLE {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/programs").join(format!("{file}.c"));
        let cflags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let request = Request { inputs: vec![path], cflags, data_model: None, target: None };
        let program = Arc::new(raddle_frontend::load(&request).expect("the programs are C").program);
        let models = Arc::new(Models::resolve(&program, &Config::default()));
        let analysis = raddle_lockset::analyse(&program, &models, &raddle_lockset::Options::default())
            .expect("its own recipe");
        let warned = analysis.warnings.len();
        let proof = StaticProof {
            program: format!("{:032x}", program_hash(&program)),
            data_model: program.data_model.name().to_owned(),
            entries: Vec::new(),
            assumptions: analysis.assumptions.iter().map(|id| (*id).to_owned()).collect(),
            recipe: analysis.recipe,
            facts: analysis.facts,
        };
        let open = open_pairs(&program, &models, &proof).expect("the facts are accepted");
        let start = |options| {
            Interp::new(Arc::clone(&program), Arc::clone(&models), options).expect("there is a main")
        };
        let machine = || start(Options::default());
        let oracle = StaticOracle::new(&program, &models, Pairs::Open(open))
            .with_branches(|global| machine().address_of(global));
        let telling = Options { branches: oracle.reported(), ..Options::default() };
        let limits = Limits {
            goal: Goal::FirstRace,
            executions: 5_000,
            time: Some(std::time::Duration::from_secs(20)),
            ..Limits::default()
        };
        let found = pdp::search(&mut start(telling), &limits, Visibility::SyncOnly, &oracle);
        let exploration = &found.reduced.exploration;
        let traces = exploration.runs.executions;
        let pdp::Size { threads, variables, accesses, locks } = found.size;
        let own = [threads, variables, accesses, locks];
        if std::env::var_os("RADDLE_TABLE").is_some() {
            let dpor = optimal(&mut machine(), &limits, Visibility::SyncOnly).exploration.runs.executions;
            let races = for_races(&mut machine(), &limits, Visibility::SyncOnly).exploration.runs.executions;
            let pdp::Counters { checks, yes, skipped } = found.counters;
            println!(
                "{file:9} {:22} size {own:?} race {:5} dpor {dpor:5} races {races:5} pdp {traces:4} checks {checks:5} yes {yes:5} skip {skipped:5} warned {warned}",
                flags.join(" "),
                !exploration.races.is_empty(),
            );
        }
        let complete = exploration.coverage != Coverage::Partial;
        if !complete || exploration.races.is_empty() == *racy || traces > *bar {
            wrong.push(format!("{file} {flags:?}: {:?} {:?}", exploration.coverage, exploration.runs));
        }
        if own.iter().zip(size).any(|(own, paper)| own < paper) {
            wrong.push(format!("{file} {flags:?}: size {own:?}, in the paper {size:?}"));
        }
        // Ten times as many without pruning, where the paper has that.
        if *plain == 0 || *plain >= 10 * bar {
            let limits = Limits { executions: 10 * traces, ..limits };
            let dpor = baseline(&mut machine(), &limits, Visibility::SyncOnly).exploration.runs.executions;
            if dpor < 10 * traces {
                wrong.push(format!("{file} {flags:?}: {dpor} traces without pruning, {traces} with"));
            }
        }
        // The count does not grow with the number of threads.
        let group = (*file, flags.contains(&"-DBIG"), flags.contains(&"-DBUG"));
        if *counts.entry(group).or_insert(traces) != traces {
            wrong.push(format!("{file} {flags:?}: {traces} traces, {} with fewer threads", counts[&group]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
