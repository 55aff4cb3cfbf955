//! What the runs of a program have come to, over all machines that share its compiled form: going back does not forget it.
//!
//! Sites of events and the threads that made them, and the places that jumps went to. A site is noted with the thread's number in its
//! run; that two numbers were seen at a site is taken for two threads.

use crate::code::Func;
use raddle_base::SiteId;
use raddle_event::ThreadId;
use raddle_ir::{BlockId, FunctionId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Which threads came to a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    One(ThreadId),
    Several,
}

impl By {
    /// Both together.
    pub fn and(self, other: By) -> By {
        if self == other { self } else { By::Several }
    }
}

pub(crate) struct Reached {
    /// Per site: 0 for nobody, else the thread's number and one, or `SEVERAL`.
    sites: Vec<AtomicU32>,
    /// Per function, per position of its code: whether a jump went there.
    targets: Vec<Vec<AtomicBool>>,
    /// Functions that were entered.
    entered: Vec<AtomicBool>,
}

const SEVERAL: u32 = u32::MAX;

impl Reached {
    pub fn new(sites: usize, funcs: &[Option<Func>]) -> Self {
        let targets = |func: &Option<Func>| {
            let positions = func.as_ref().map_or(0, |func| func.code.len());
            std::iter::repeat_with(AtomicBool::default).take(positions).collect()
        };
        Self {
            sites: std::iter::repeat_with(AtomicU32::default).take(sites).collect(),
            targets: funcs.iter().map(targets).collect(),
            entered: std::iter::repeat_with(AtomicBool::default).take(funcs.len()).collect(),
        }
    }

    #[inline(always)]
    pub fn event(&self, thread: ThreadId, site: SiteId) {
        let Some(by) = self.sites.get(site.0 as usize) else { return };
        let seen = by.load(Ordering::Relaxed);
        if seen != thread.0 + 1 && seen != SEVERAL {
            by.store(if seen == 0 { thread.0 + 1 } else { SEVERAL }, Ordering::Relaxed);
        }
    }

    pub fn enter(&self, function: FunctionId) {
        self.entered[function.0 as usize].store(true, Ordering::Relaxed);
    }

    /// Where jumps of a function went, to be marked by position.
    pub fn targets(&self, function: FunctionId) -> &[AtomicBool] {
        &self.targets[function.0 as usize]
    }

    pub fn sites(&self) -> BTreeMap<SiteId, By> {
        let by = |(at, by): (usize, &AtomicU32)| {
            let by = match by.load(Ordering::Relaxed) {
                0 => return None,
                SEVERAL => By::Several,
                thread => By::One(ThreadId(thread - 1)),
            };
            Some((SiteId(at as u32), by))
        };
        self.sites.iter().enumerate().filter_map(by).collect()
    }

    pub fn blocks(&self, funcs: &[Option<Func>]) -> BTreeSet<(FunctionId, BlockId)> {
        let mut blocks = BTreeSet::new();
        for (at, func) in funcs.iter().enumerate() {
            let (Some(func), function) = (func, FunctionId(at as u32)) else { continue };
            if !self.entered[at].load(Ordering::Relaxed) {
                continue;
            }
            blocks.insert((function, BlockId(0)));
            for (block, start) in func.block_starts.iter().enumerate() {
                if self.targets[at][*start as usize].load(Ordering::Relaxed) {
                    blocks.insert((function, BlockId(block as u32)));
                }
            }
        }
        blocks
    }
}
