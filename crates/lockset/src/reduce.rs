//! Stage II: covers over all paths, and warnings ranked by them (2007 paper, section 4.1).
//!
//! A set of events covers `e` if every path from the start of the thread to `e` meets one of them before, and each is weaker than `e`. A
//! warning whose one end is covered is ranked below the warnings with the covering events in its place; nothing is dropped, because threads
//! do not synchronise by nested locks alone.
//!
//! Errs towards fewer covers: of callees only their own events are looked at, not those of their callees, and a search that gets too
//! long finds none.

use crate::events::Event;
use raddle_absint::calls::{Calls, Way};
use raddle_facts::{ThreadFacts, ThreadId};
use raddle_ir::{BlockId, FunctionId, Inst, Program, Terminator};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Two events that may race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    pub first: usize,
    pub second: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// Position in the list of warnings.
    pub warning: usize,
    /// 0: to be looked at first. Otherwise one more than the lowest of those that cover it.
    pub rank: usize,
    /// Warnings that are real if this one is, as far as locks go; empty for rank 0.
    pub covered_by: Vec<usize>,
}

/// Per event, the events that cover it; `None`: there is a way to it that meets none.
pub fn covers(
    program: &Program,
    calls: &Calls,
    threads: &ThreadFacts,
    events: &[Event],
    weaker: impl Fn(&Event, &Event) -> bool + Sync,
) -> Vec<Option<Vec<usize>>> {
    let mut groups: BTreeMap<(usize, ThreadId), Vec<usize>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        groups.entry((event.variable, event.thread)).or_default().push(at);
    }
    let cover = |event: &Event| {
        let mut sites: HashMap<(FunctionId, BlockId), Vec<(usize, usize)>> = HashMap::new();
        for other in &groups[&(event.variable, event.thread)] {
            let candidate = &events[*other];
            let here = (event.function, event.block, event.index);
            if (candidate.function, candidate.block, candidate.index) != here && weaker(candidate, event) {
                let place = (candidate.function, candidate.block);
                sites.entry(place).or_default().push((candidate.index, *other));
            }
        }
        if sites.is_empty() {
            return None;
        }
        Search { program, calls, threads, thread: event.thread, sites, passable: HashMap::new() }.run(event)
    };
    events.par_iter().map(cover).collect()
}

/// The warnings from the first to be looked at to the last.
pub fn rank(warnings: &[Warning], covers: &[Option<Vec<usize>>]) -> Vec<Ranked> {
    let index: BTreeMap<(usize, usize), usize> =
        warnings.iter().enumerate().map(|(at, warning)| (key(warning.first, warning.second), at)).collect();
    let instead = |keep: usize, replaced: usize| -> Option<Vec<usize>> {
        let cover = covers[replaced].as_ref()?;
        cover.iter().map(|other| index.get(&key(keep, *other)).copied()).collect()
    };
    let covered_by: Vec<Vec<usize>> = warnings
        .iter()
        .map(|warning| {
            let mut list = instead(warning.first, warning.second)
                .or_else(|| instead(warning.second, warning.first))
                .unwrap_or_default();
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect();
    let mut ranks: Vec<Option<usize>> = vec![None; warnings.len()];
    for at in 0..warnings.len() {
        settle(at, &covered_by, &mut ranks);
    }
    let mut ranked: Vec<Ranked> = covered_by
        .into_iter()
        .enumerate()
        .map(|(warning, covered_by)| Ranked { warning, rank: ranks[warning].unwrap_or(0), covered_by })
        .collect();
    ranked.sort_by_key(|ranked| (ranked.rank, ranked.warning));
    ranked
}

fn key(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

/// One more than the covering warnings; they lie nearer to the threads' starts, so there is no circle.
fn settle(start: usize, covered_by: &[Vec<usize>], ranks: &mut [Option<usize>]) {
    let mut stack = vec![start];
    let mut open = BTreeSet::new();
    while let Some(at) = stack.last().copied() {
        open.insert(at);
        let next =
            covered_by[at].iter().copied().find(|other| ranks[*other].is_none() && !open.contains(other));
        if let Some(next) = next {
            stack.push(next);
            continue;
        }
        let above = covered_by[at].iter().filter_map(|other| ranks[*other]).max();
        ranks[at] = Some(above.map_or(0, |above| above + 1));
        stack.pop();
    }
}

/// Backwards from one event to the start of its thread.
struct Search<'a> {
    program: &'a Program,
    calls: &'a Calls,
    threads: &'a ThreadFacts,
    thread: ThreadId,
    /// Per block, instructions with a weaker event.
    sites: HashMap<(FunctionId, BlockId), Vec<(usize, usize)>>,
    /// Whether a function has a path from its entry to a return that meets no weaker event.
    passable: HashMap<FunctionId, bool>,
}

/// A search that looks at more blocks than this gives up.
const MOST_BLOCKS: usize = 20_000;

/// What going backwards through a piece of a block meets.
enum Backwards {
    Covered,
    Start,
}

impl Search<'_> {
    fn run(mut self, event: &Event) -> Option<Vec<usize>> {
        let mut cover = BTreeSet::new();
        let mut seen: BTreeSet<(FunctionId, BlockId)> = BTreeSet::new();
        let mut entered: BTreeSet<FunctionId> = BTreeSet::new();
        let mut work = vec![(event.function, event.block, event.index)];
        let mut predecessors: HashMap<FunctionId, Vec<Vec<BlockId>>> = HashMap::new();
        let start = self.threads.threads[event.thread].entry;
        let mut looked = 0;
        while let Some((function, block, before)) = work.pop() {
            looked += 1;
            if looked > MOST_BLOCKS {
                return None;
            }
            if let Backwards::Covered = self.back(function, block, before, &mut cover) {
                continue;
            }
            let blocks = &self.program.functions[function].blocks;
            let before_it = predecessors.entry(function).or_insert_with(|| {
                let mut lists = vec![Vec::new(); blocks.len()];
                for (from, text) in blocks.iter() {
                    text.terminator.each_target(|to| lists[to.0 as usize].push(from));
                }
                lists
            });
            for from in &before_it[block.0 as usize] {
                if seen.insert((function, *from)) {
                    work.push((function, *from, blocks[*from].insts.len()));
                }
            }
            if block == BlockId(0) && entered.insert(function) {
                if function == start {
                    return None;
                }
                let before = work.len();
                for (caller, position) in &self.calls.to[function] {
                    let call = &self.calls.from[*caller][*position];
                    let nested = call.runs.iter().any(|(f, way)| *f == function && way.is_nested());
                    if nested && self.threads.runs[*caller].contains(&self.thread) {
                        work.push((*caller, call.block, call.index));
                    }
                }
                // Called by nobody in this thread: a constructor, or by code that we do not see.
                if work.len() == before {
                    return None;
                }
            }
        }
        Some(cover.into_iter().collect()).filter(|cover: &Vec<usize>| !cover.is_empty())
    }

    /// Through the instructions before `before`, last first.
    fn back(
        &mut self,
        function: FunctionId,
        block: BlockId,
        before: usize,
        cover: &mut BTreeSet<usize>,
    ) -> Backwards {
        let weaker = self.sites.get(&(function, block)).cloned().unwrap_or_default();
        let text = &self.program.functions[function].blocks[block];
        for index in (0..before).rev() {
            let here: Vec<usize> =
                weaker.iter().filter(|(at, _)| *at == index).map(|(_, event)| *event).collect();
            if !here.is_empty() {
                cover.extend(here);
                return Backwards::Covered;
            }
            if matches!(text.insts[index], Inst::Call { .. })
                && let Some(inside) = self.inside(function, text.site_of(index))
            {
                cover.extend(inside);
                return Backwards::Covered;
            }
        }
        Backwards::Start
    }

    /// The weaker events of the callees, if no way through the call avoids them.
    fn inside(&mut self, function: FunctionId, site: raddle_base::SiteId) -> Option<Vec<usize>> {
        let call = self.calls.at(function, site)?;
        if !call.effects.is_empty() || !call.unknown.is_empty() || call.runs.is_empty() {
            return None;
        }
        let mut found = Vec::new();
        for (target, way) in &call.runs {
            if !matches!(way, Way::Call | Way::AtomicCall) || self.is_passable(*target) {
                return None;
            }
            found.extend(
                self.sites
                    .iter()
                    .filter(|((function, _), _)| function == target)
                    .flat_map(|(_, list)| list.iter().map(|(_, event)| *event)),
            );
        }
        (!found.is_empty()).then_some(found)
    }

    fn is_passable(&mut self, function: FunctionId) -> bool {
        if let Some(known) = self.passable.get(&function) {
            return *known;
        }
        // Until it is known, and for recursion: there is a way.
        self.passable.insert(function, true);
        let blocks = &self.program.functions[function].blocks;
        if !self.sites.keys().any(|(at, _)| *at == function) {
            return true;
        }
        let mut seen = BTreeSet::from([BlockId(0)]);
        let mut work = vec![BlockId(0)];
        let mut passable = false;
        while let Some(block) = work.pop() {
            if self.sites.contains_key(&(function, block)) {
                continue;
            }
            if matches!(blocks[block].terminator, Terminator::Ret { .. }) {
                passable = true;
                break;
            }
            blocks[block].terminator.each_target(|next| {
                if seen.insert(next) {
                    work.push(next);
                }
            });
        }
        self.passable.insert(function, passable);
        passable
    }
}
