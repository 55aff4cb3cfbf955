//! What a run is given: input, limits, which freedom of the environment is explored.

use crate::branches::ReportedBranches;
use crate::outside::Outside;
use crate::values::{Representatives, ValueSource};
use std::fmt;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Options {
    /// `argv`, the program's name first.
    pub args: Vec<String>,
    pub stdin: Vec<u8>,
    pub env: Vec<(String, String)>,
    /// Files that exist outside.
    pub files: Arc<Outside>,
    pub spurious_wakeups: SpuriousWakeups,
    /// Which values of the environment are tried.
    pub values: Arc<dyn ValueSource>,
    pub branches: Arc<ReportedBranches>,
    /// Instructions without a visible operation after which another thread may run.
    pub segment_limit: u64,
    /// Visible operations of one run.
    pub step_limit: u64,
    /// Instructions of one run.
    pub instruction_limit: u64,
    /// Bytes of program memory, undo log included.
    pub memory_limit: u64,
    pub thread_limit: u32,
    pub call_depth_limit: u32,
    /// Bytes of captured output; what comes after is dropped.
    pub output_limit: usize,
}

/// Whether a condition wait may return without a signal, and a weak operation fail for no reason. `Off` is assumption A-SPURIOUS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpuriousWakeups {
    On,
    Off,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            args: vec!["program".to_owned()],
            stdin: Vec::new(),
            env: Vec::new(),
            files: Arc::default(),
            spurious_wakeups: SpuriousWakeups::On,
            values: Arc::new(Representatives::default()),
            branches: Arc::default(),
            segment_limit: 1_000_000,
            step_limit: 1_000_000,
            instruction_limit: 10_000_000_000,
            memory_limit: 1 << 30,
            thread_limit: 256,
            call_depth_limit: 20_000,
            output_limit: 16 << 20,
        }
    }
}

/// Why a program cannot be run at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartError {
    NoMain,
    /// The globals do not fit into the memory limit.
    TooLarge,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::NoMain => write!(f, "the program has no function `main`"),
            StartError::TooLarge => {
                write!(f, "the program's global variables do not fit into the memory limit")
            }
        }
    }
}

impl std::error::Error for StartError {}
