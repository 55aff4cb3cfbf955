//! What the threads of a run share besides memory: synchronisation objects, library state, output, problems.

use crate::libc::LibState;
use crate::live::LiveCache;
use crate::options::Options;
use crate::sync::SyncTable;
use crate::thread::Thread;
use raddle_base::SiteId;
use raddle_event::{Problem, ThreadId};
use raddle_ir::{FunctionId, Ty};
use raddle_machine::{Status, Visibility};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub state: State,
    pub output: Vec<u8>,
    pub problems: Vec<Problem>,
    pub sync: SyncTable,
    pub options: Arc<Options>,
    pub watch: Watch,
    /// Threads created by the step in progress.
    pub spawned: Vec<Thread>,
    /// Registers alive at the places asked for so far.
    pub live: LiveCache,
    /// Result of the library callback that has just returned.
    pub nested_result: u128,
    /// Arguments of `main`.
    pub main_args: Arc<Vec<(u128, Ty)>>,
    /// Instructions executed since the machine was made; never set back.
    pub instructions: u64,
}

/// The part that a checkpoint keeps as a copy.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub status: Status,
    pub lives: Arc<Vec<Life>>,
    pub at_exit: Arc<Vec<u64>>,
    pub keys: Arc<Vec<Key>>,
    /// Blocks private to the library, by key.
    pub library: Arc<BTreeMap<String, u64>>,
    pub assumptions: Arc<Vec<&'static str>>,
    pub incomplete: Arc<Vec<String>>,
    /// What the library remembers apart from memory.
    pub libc: LibState,
    /// Hash of `libc`.
    pub libc_hash: u64,
    pub time: u64,
    pub input_taken: usize,
    pub steps: u64,
    pub instructions: u64,
    /// Changes with output, random numbers, observed time: what is neither memory nor synchronisation.
    pub ambient: u64,
    /// Hash over the local states of all threads.
    pub locals: u64,
}

/// What other threads can learn of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub entry: FunctionId,
    pub created: Option<(ThreadId, SiteId, Arc<[SiteId]>)>,
    pub ended: bool,
    pub detached: bool,
    pub joined: bool,
    pub result: u64,
    /// Its handle has been looked at as a number.
    pub exposed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub destructor: u64,
    pub deleted: bool,
}

/// Which plain accesses are visible, in a form that is quick to ask.
#[derive(Clone, Debug, Default)]
pub(crate) enum Watch {
    #[default]
    Nothing,
    /// One bit per site.
    Sites(Arc<Vec<u64>>),
    Everything,
}

impl Watch {
    pub fn new(visibility: &Visibility) -> Self {
        match visibility {
            Visibility::SyncOnly => Watch::Nothing,
            Visibility::EveryAccess => Watch::Everything,
            Visibility::Sites(sites) => {
                let words = sites.iter().map(|site| site.0 as usize / 64 + 1).max().unwrap_or(0);
                let mut bits = vec![0u64; words];
                for site in sites {
                    bits[site.0 as usize / 64] |= 1 << (site.0 % 64);
                }
                Watch::Sites(Arc::new(bits))
            }
        }
    }

    pub fn sees(&self, site: SiteId) -> bool {
        match self {
            Watch::Nothing => false,
            Watch::Everything => true,
            Watch::Sites(bits) => {
                bits.get(site.0 as usize / 64).is_some_and(|word| word >> (site.0 % 64) & 1 == 1)
            }
        }
    }
}

impl State {
    pub fn assume(&mut self, id: &'static str) {
        if let Err(at) = self.assumptions.binary_search(&id) {
            Arc::make_mut(&mut self.assumptions).insert(at, id);
        }
    }

    pub fn not_covered(&mut self, what: &str) {
        if !self.incomplete.iter().any(|known| known == what) {
            Arc::make_mut(&mut self.incomplete).push(what.to_owned());
        }
    }

    pub fn life(&self, thread: ThreadId) -> &Life {
        &self.lives[thread.0 as usize]
    }

    pub fn life_mut(&mut self, thread: ThreadId) -> &mut Life {
        &mut Arc::make_mut(&mut self.lives)[thread.0 as usize]
    }
}
