//! Numbers of runs on the programs of the 2008 paper's Table 1, which is the bar: at most as many traces as its PDP column.
//!
//! `RADDLE_TABLE=1` prints all columns, DPOR (the optimal search, up to 5,000 runs) included.

use raddle_certify::statics::open_pairs;
use raddle_config::Config;
use raddle_driver::pruning::{Pairs, StaticOracle};
use raddle_explore::dpor::{for_races, optimal};
use raddle_explore::enumerate::{Coverage, Goal, Limits};
use raddle_explore::pdp;
use raddle_facts::StaticProof;
use raddle_frontend::Request;
use raddle_interp::{Interp, Options};
use raddle_ir::program_hash;
use raddle_libmodel::Models;
use raddle_machine::Visibility;
use std::path::Path;
use std::sync::Arc;

/// File, flags, whether there is a race, the paper's traces.
const TABLE: &[(&str, &[&str], bool, u64)] = &[
    ("fdrd2", &[], true, 14),
    ("fdrd4", &[], true, 68),
    ("qsort", &[], false, 1),
    ("pfscan", &[], false, 182),
    ("pfscan", &["-DBUG"], true, 10),
    ("aget", &["-DTHREADS=3"], false, 1),
    ("aget", &["-DTHREADS=4"], false, 1),
    ("aget", &["-DTHREADS=5"], false, 1),
    ("bzip2smp", &["-DTHREADS=4"], false, 45),
    ("bzip2smp", &["-DTHREADS=6"], false, 45),
    ("bzip2smp", &["-DTHREADS=4", "-DBIG"], false, 45),
    ("bzip2smp", &["-DTHREADS=10", "-DBIG"], false, 45),
    // Not in the table: the order of sections that protect one variable does not matter.
    ("readers_writers", &["-DR=5", "-DW=5"], false, 1),
];

#[test]
fn at_most_as_many_traces_as_the_paper() {
    let mut wrong = Vec::new();
    for (file, flags, racy, bar) in TABLE {
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
        let oracle = StaticOracle::new(&program, &models, Pairs::Open(open));
        let machine = || {
            Interp::new(Arc::clone(&program), Arc::clone(&models), Options::default())
                .expect("there is a main")
        };
        let limits = Limits {
            goal: Goal::FirstRace,
            executions: 5_000,
            time: Some(std::time::Duration::from_secs(20)),
            ..Limits::default()
        };
        let found = pdp::search(&mut machine(), &limits, Visibility::SyncOnly, &oracle);
        let exploration = &found.reduced.exploration;
        if std::env::var_os("RADDLE_TABLE").is_some() {
            let dpor = optimal(&mut machine(), &limits, Visibility::SyncOnly).exploration.runs.executions;
            let races = for_races(&mut machine(), &limits, Visibility::SyncOnly).exploration.runs.executions;
            println!(
                "{file:9} {:22} race {:5} dpor {dpor:5} races {races:5} pdp {:4} checks {:5} yes {:5} skip {:5} warned {}",
                flags.join(" "),
                !exploration.races.is_empty(),
                exploration.runs.executions,
                found.counters.checks,
                found.counters.yes,
                found.counters.skipped,
                warned,
            );
        }
        let complete = exploration.coverage != Coverage::Partial;
        if !complete || exploration.races.is_empty() == *racy || exploration.runs.executions > *bar {
            wrong.push(format!("{file} {flags:?}: {:?} {:?}", exploration.coverage, exploration.runs));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
