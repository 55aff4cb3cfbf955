//! What the user asks for, as a value.

use raddle_config::External;
use raddle_explore::enumerate::Progress;
use raddle_explore::pdp::Property;
use raddle_ir::DataModel;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Where the program comes from and how it is built and started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    pub inputs: Vec<PathBuf>,
    pub cflags: Vec<String>,
    pub data_model: Option<DataModel>,
    /// Link target, where a `compile_commands.json` has several.
    pub target: Option<String>,
    /// `None`: `raddle.toml` beside the first input, else in the current folder, else none.
    pub config: Option<PathBuf>,
    /// Arguments of the program, its own name not among them.
    pub args: Vec<String>,
    /// Standard input of the program; empty without. [`OWN_STDIN`] is read only for a program that reads its own.
    pub stdin: Option<PathBuf>,
    /// Environment of the program. It gets the variables that it asks for by a name in its text, and no others.
    pub env: Vec<(String, String)>,
    pub spurious: Spurious,
    pub values: OutsideValues,
    /// Functions that any number of clients may call at once, besides those of `raddle.toml`.
    pub entries: Vec<String>,
    /// What functions without body or model may do; `None`: as `raddle.toml` says.
    pub external: Option<External>,
}

/// Stands for the standard input of this process.
pub const OWN_STDIN: &str = "/dev/stdin";

/// Whether condition waits may return without a signal, and weak operations fail for no reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spurious {
    #[default]
    On,
    /// By assumption A-SPURIOUS.
    Off,
}

/// Which values of the environment (`__VERIFIER_nondet_*`) are tried where not all can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutsideValues {
    /// Ends of the type, and a few others.
    #[default]
    Ends,
    /// Small numbers, then what the program compares with, then the ends.
    SmallFirst,
}

/// How to search and where to put witnesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    pub engines: Engines,
    pub substrate: Substrate,
    pub mode: Mode,
    /// What the search `pdp` must not lose.
    pub property: Property,
    pub goal: Goal,
    pub inputs: Inputs,
    pub time: Option<Duration>,
    /// Bytes that the whole process may use.
    pub memory: Option<u64>,
    pub executions: Option<u64>,
    /// Visible operations over all runs.
    pub steps: Option<u64>,
    /// Of one run; without effect on the enumerators.
    pub preemptions: Option<u32>,
    /// How often a thread may come to the same visible operation in one run.
    pub rounds: Option<u32>,
    pub chance: Chance,
    /// Machines that share the work of the first one; the optimal search alone can use them.
    pub helpers: usize,
    /// Where the optimal search is kept.
    pub checkpoint: Option<Checkpoint>,
    /// `None`: witnesses are not written.
    pub witness_dir: Option<PathBuf>,
    /// Where the proof goes, if there is one. `None`: beside the witnesses, if it is small.
    pub certificate: Option<PathBuf>,
}

/// A file from which a search can go on that was stopped or killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub file: PathBuf,
    pub start: Start,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    New,
    Resume,
}

/// For runs by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    pub seed: u64,
    pub runs: u64,
    /// Ordering constraints that PCT has in mind.
    pub depth: u32,
}

impl Default for Chance {
    fn default() -> Self {
        Self { seed: 0, runs: 1_000, depth: 3 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engines {
    /// The static analysis, then the search.
    #[default]
    All,
    Explore,
}

/// What runs the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Substrate {
    #[default]
    Interpreter,
    /// The processor: the program itself, in a process of its own.
    Native,
}

/// Which search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One run of each class of runs that differ only in the order of independent operations; happens-before in each.
    #[default]
    Optimal,
    /// One order only of critical sections that commute, and no runs behind states that are seen to be free of races, or of
    /// deadlocks too.
    Pdp,
    /// Like the optimal search; of runs that differ only in which of several identical threads does what, one.
    Symmetric,
    /// The readable reduction: the same answers, some classes more than once.
    Dpor,
    /// Remembers states: ends on every finite state space, endless loops included.
    Stateful,
    /// Runs in which every open choice is as likely as any other; never complete.
    Random,
    /// Runs by random priorities; never complete.
    Pct,
    /// All orders of synchronisation, happens-before in each.
    Enumerate,
    /// A switch before every access; knows nothing of happens-before.
    EveryAccess,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    #[default]
    AllRaces,
    FirstRace,
}

/// Which inputs the answer must cover to be `safe`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// Those of the executions: what `safe` covers is printed with it.
    #[default]
    This,
    /// Every input: an answer about this input alone is `unknown`.
    All,
}

/// Who may stop and watch the work.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Set to stop soon; what was covered until then is reported.
    pub interrupt: &'a AtomicBool,
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
}
