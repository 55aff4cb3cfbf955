//! What the threads of a run share besides memory: synchronisation objects, library state, output, problems.

use crate::channels::Channels;
use crate::libc::LibState;
use crate::live::LiveCache;
use crate::options::Options;
use crate::stutter::local_token;
use crate::sync::SyncTable;
use crate::thread::Thread;
use raddle_base::SiteId;
use raddle_event::{Problem, ThreadId};
use raddle_ir::{FunctionId, Ty};
use raddle_machine::{Status, Visibility};
use std::collections::BTreeMap;
use std::ops::Deref;
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
    pub operating: Operating,
    /// Arguments of `main`.
    pub main_args: Arc<Vec<(u128, Ty)>>,
    /// Instructions executed since the machine was made; never set back.
    pub instructions: u64,
}

/// Whether the library call in progress is a visible operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operating {
    No,
    OnSharedState,
    OnChannel,
}

/// The part that a checkpoint keeps as a copy.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub status: Status,
    lives: Arc<Vec<Life>>,
    /// Hash of what others can learn of threads.
    pub lives_hash: u64,
    lasting: Arc<Lasting>,
    /// Hash of `libc`.
    pub libc_hash: u64,
    pub channels_hash: u64,
    pub time: u64,
    pub input_taken: usize,
    pub steps: u64,
    pub instructions: u64,
    /// Changes with output, random numbers, observed time: what is neither memory nor synchronisation.
    pub ambient: u64,
    /// Hash over the local states of all threads.
    pub locals: u64,
}

/// What seldom changes.
#[derive(Clone, Debug)]
pub(crate) struct Lasting {
    /// By thread.
    pub origins: Vec<Origin>,
    pub at_exit: Vec<u64>,
    pub keys: Vec<Key>,
    /// Blocks private to the library, by key.
    pub library: Arc<BTreeMap<String, u64>>,
    pub assumptions: Vec<&'static str>,
    pub incomplete: Arc<Vec<String>>,
    /// Addresses and ids of threads that functions without body or model were given, locals aside.
    pub handed_out: Vec<u64>,
    /// What the library remembers apart from memory.
    pub libc: LibState,
    pub channels: Arc<Channels>,
}

/// What other threads can learn of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Life {
    pub ended: bool,
    pub detached: bool,
    pub joined: bool,
    pub result: u64,
    /// Its handle has been looked at as a number.
    pub exposed: bool,
}

/// Where a thread comes from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub entry: FunctionId,
    pub argument: u64,
    /// By whom, where, and the call sites outwards.
    pub created: Option<(ThreadId, SiteId, Arc<[SiteId]>)>,
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
    /// Right before the first step of the main thread, which runs `main`.
    pub fn new(main: FunctionId, lasting: Lasting) -> Self {
        let mut state = Self {
            status: Status::Running,
            lives: Arc::default(),
            lives_hash: 0,
            lasting: Arc::new(lasting),
            libc_hash: 0,
            channels_hash: 0,
            time: 1_700_000_000_000_000_000,
            input_taken: 0,
            steps: 0,
            instructions: 0,
            ambient: 0,
            locals: local_token(0, 1),
        };
        state.create(Origin { entry: main, argument: 0, created: None });
        state
    }

    pub fn lasting_mut(&mut self) -> &mut Lasting {
        Arc::make_mut(&mut self.lasting)
    }

    pub fn lives(&self) -> &[Life] {
        &self.lives
    }

    /// The next thread.
    pub fn create(&mut self, origin: Origin) {
        Arc::make_mut(&mut self.lives).push(Life::default());
        self.lasting_mut().origins.push(origin);
        self.lives_hash = lives_hash(&self.lives);
    }

    pub fn assume(&mut self, id: &'static str) {
        if let Err(at) = self.assumptions.binary_search(&id) {
            self.lasting_mut().assumptions.insert(at, id);
        }
    }

    pub fn not_covered(&mut self, what: &str) {
        if !self.incomplete.iter().any(|known| known == what) {
            Arc::make_mut(&mut self.lasting_mut().incomplete).push(what.to_owned());
        }
    }

    pub fn life(&self, thread: ThreadId) -> &Life {
        &self.lives[thread.0 as usize]
    }

    pub fn change_life(&mut self, thread: ThreadId, change: impl FnOnce(&mut Life)) {
        change(&mut Arc::make_mut(&mut self.lives)[thread.0 as usize]);
        self.lives_hash = lives_hash(&self.lives);
    }
}

impl Deref for State {
    type Target = Lasting;

    fn deref(&self) -> &Lasting {
        &self.lasting
    }
}

fn lives_hash(lives: &[Life]) -> u64 {
    lives.iter().fold(lives.len() as u64, |sum, life| {
        sum.rotate_left(3)
            ^ u64::from(life.ended)
            ^ u64::from(life.joined) << 1
            ^ u64::from(life.detached) << 2
    })
}
