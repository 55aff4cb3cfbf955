//! The programs of the 2008 paper's Table 1, which is the bar: at least its threads, shared variables, accesses and locks, and at most as many
//! traces as its PDP column.
//!
//! `RADDLE_TABLE=1` prints all columns, DPOR (the optimal search, up to 5,000 runs) included.

use raddle_certify::statics::open_pairs;
use raddle_config::Config;
use raddle_driver::pruning::{Pairs, StaticOracle};
use raddle_explore::dpor::{baseline, for_races, optimal};
use raddle_explore::enumerate::{Coverage, Goal, Limits};
use raddle_explore::pdp::{self, Property, Pruned};
use raddle_facts::StaticProof;
use raddle_finding::Deadlocks;
use raddle_frontend::Request;
use raddle_interp::{Interp, Options};
use raddle_ir::{Program, program_hash};
use raddle_libmodel::Models;
use raddle_machine::Visibility;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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

const LIMITS: Limits<'static> = Limits {
    goal: Goal::FirstRace,
    executions: 5_000,
    time: Some(std::time::Duration::from_secs(20)),
    ..Limits::DEFAULT
};

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/programs").join(format!("{name}.c"))
}

struct Subject {
    program: Arc<Program>,
    models: Arc<Models>,
}

impl Subject {
    fn load(path: PathBuf, flags: &[&str]) -> Subject {
        let cflags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let request = Request { inputs: vec![path], cflags, ..Request::default() };
        let program = Arc::new(raddle_frontend::load(&request).expect("the programs are C").program);
        let models = Arc::new(Models::resolve(&program, &Config::default()));
        Subject { program, models }
    }

    fn start(&self, options: Options) -> Interp {
        Interp::new(Arc::clone(&self.program), Arc::clone(&self.models), options).expect("there is a main")
    }

    /// The pruned search, and how many pairs of sites the static analysis leaves open.
    fn pruned(&self, property: Property) -> (Pruned, usize) {
        let analysis =
            raddle_lockset::analyse(&self.program, &self.models, &raddle_lockset::Options::default())
                .expect("its own recipe");
        let proof = StaticProof {
            program: format!("{:032x}", program_hash(&self.program)),
            data_model: self.program.data_model.name().to_owned(),
            entries: Vec::new(),
            assumptions: analysis.assumptions.iter().map(|id| (*id).to_owned()).collect(),
            recipe: analysis.recipe,
            facts: analysis.facts,
        };
        let open = open_pairs(&self.program, &self.models, &proof).expect("the facts are accepted");
        let left = open.len();
        let machine = self.start(Options::default());
        let oracle = StaticOracle::new(&self.program, &self.models, Pairs::Open(open))
            .with_branches(|global| machine.address_of(global));
        let mut machine = self.start(Options { branches: oracle.reported(), ..Options::default() });
        (pdp::search(&mut machine, &LIMITS, Visibility::SyncOnly, &oracle, property), left)
    }
}

/// The same pruning for deadlocks, where locks are all that threads wait for: programs of the table, and two with a deadlock.
#[test]
fn one_trace_tells_that_there_is_no_deadlock() {
    let deadlocks = |file: &str, flags: &[&str]| {
        let found = Subject::load(program(file), flags).pruned(Property::RacesAndDeadlocks).0;
        (found.reduced.exploration.deadlocks, found.reduced.exploration.runs.executions)
    };
    let one_trace = [
        ("qsort", &[][..]),
        ("aget", &["-DTHREADS=3"]),
        ("aget", &["-DTHREADS=5"]),
        ("readers_writers", &["-DR=5", "-DW=5"]),
        ("lockers", &["-DN=8"]),
    ];
    for (file, flags) in one_trace {
        assert_eq!(deadlocks(file, flags), (Deadlocks::None, 1), "{file} {flags:?}");
    }
    assert_eq!(deadlocks("philosophers", &[]).0, Deadlocks::Found);
}

/// Three threads account for their work under a lock, in any order. Each has a cell of its own, which only a run shows: the static analysis
/// does not compute it. With `SAME` two of them have the same cell if the third has done nothing yet.
const CELLS: &str = "
#include <pthread.h>
static int cells[4], total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
  int id = (int)(long)arg, seen = 0;
  unsigned slot = id;
  for (int i = 0; i < 1000; i++)
    slot = slot * 5 + 1;
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&lock);
    seen = total;
    total += id;
    pthread_mutex_unlock(&lock);
  }
#ifdef SAME
  if (id == 2 && seen < 3)
    slot += 2;
#endif
  cells[slot & 3] = seen > 1;
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, work, (void *)(long)i);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  return cells[0];
}
";

/// Also where the static analysis leaves pairs open, one run can tell that there is no race in any.
#[test]
fn one_run_tells_what_the_static_analysis_cannot() {
    let folder = tempfile::tempdir().expect("a folder for the program");
    let path = folder.path().join("cells.c");
    std::fs::write(&path, CELLS).expect("the folder can be written");
    for (flags, racy) in [(&[][..], false), (&["-DSAME"], true)] {
        let subject = Subject::load(path.clone(), flags);
        let (found, open) = subject.pruned(Property::Races);
        let plain = for_races(&mut subject.start(Options::default()), &LIMITS, Visibility::SyncOnly);
        let (pruned, plain) = (found.reduced.exploration, plain.exploration);
        assert!(open > 0 && plain.runs.executions > 1, "{flags:?}: {open} pairs, {:?}", plain.runs);
        assert_eq!((pruned.races.is_empty(), plain.races.is_empty()), (!racy, !racy), "{flags:?}");
        if !racy {
            assert_eq!((pruned.coverage, pruned.runs.executions), (Coverage::Complete, 1));
            assert!(found.counters.skipped > 0);
        }
    }
}

#[test]
fn at_most_as_many_traces_as_the_paper() {
    let mut wrong = Vec::new();
    let mut counts = BTreeMap::new();
    for Row { file, flags, racy, traces: [bar, plain], size } in TABLE {
        let subject = Subject::load(program(file), flags);
        let machine = || subject.start(Options::default());
        let (found, open) = subject.pruned(Property::Races);
        let exploration = &found.reduced.exploration;
        let traces = exploration.runs.executions;
        let pdp::Size { threads, variables, accesses, locks } = found.size;
        let own = [threads, variables, accesses, locks];
        if std::env::var_os("RADDLE_TABLE").is_some() {
            let dpor = optimal(&mut machine(), &LIMITS, Visibility::SyncOnly).exploration.runs.executions;
            let races = for_races(&mut machine(), &LIMITS, Visibility::SyncOnly).exploration.runs.executions;
            let pdp::Counters { checks, yes, skipped } = found.counters;
            println!(
                "{file:9} {:22} size {own:?} race {:5} dpor {dpor:5} races {races:5} pdp {traces:4} checks {checks:5} yes {yes:5} skip {skipped:5} open {open}",
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
            let limits = Limits { executions: 10 * traces, ..LIMITS };
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
