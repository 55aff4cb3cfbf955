//! An optimal search on several machines at once, or one that can be put down and taken up again later.
//!
//! Each machine explores what it took from the [`Pool`] in its own way and shares the branches nearest to the start when another has
//! nothing to do. To be kept, all put down what they have left; a run that was cut is gone on with from where it was.

use super::Reduced;
use super::kept::{Keeping, Kept, Misfit};
use super::node::{Fresh, Left, Node, Open, Plan};
use super::optimal::{Search, in_passes};
use super::pool::{PanicEndsAll, Pool};
use super::run::Precision;
use super::sections::{Grouping, Locks};
use super::tally::{PassEnd, Tally};
use super::wakeup::Tree;
use crate::enumerate::Limits;
use raddle_event::Choice;
use raddle_machine::{Machine, Visibility};
use std::sync::{Arc, Barrier};
use std::time::Instant;

/// Several machines of one program, all at their start, share the work.
pub(super) fn search<M: Machine + Send>(
    machines: &mut [&mut M],
    limits: &Limits,
    visibility: Visibility,
    keeping: Option<&Keeping<M>>,
) -> Result<Reduced, Misfit> {
    let (first, others) = machines.split_first_mut().expect("there is a machine");
    let first = &mut **first;
    let kept = keeping.and_then(|keeping| keeping.from.as_ref());
    let mut tally = Tally::new(limits, visibility);
    let mut begin = None;
    if let Some(kept) = kept {
        tally = kept.tally(first, limits)?;
        begin = Some((kept.left(first)?, kept.gaps()));
    }
    Ok(in_passes(tally, first, Locks::Ordered, None, |tally, first, grouping| {
        let mut left = vec![Left::Fresh(Fresh { before: None, sleep: Vec::new() })];
        if let Some((kept, gaps)) = begin.take() {
            left = kept;
            tally.add_gaps(gaps);
        }
        let mut pause = keeping.map(|keeping| keeping.every);
        loop {
            tally.keep_after(pause);
            let pool = Pool::new(left);
            round(first, others, tally, &grouping, &pool);
            let (end, rest) = pool.end();
            if let Err(end) = tally.decide() {
                return end;
            }
            if let Some(keeping) = keeping
                && matches!(end, None | Some(PassEnd::GivenUp(_)))
            {
                let machines: Vec<&M> =
                    std::iter::once(&*first).chain(others.iter().map(|other| &**other)).collect();
                let began = Instant::now();
                (keeping.save)(&Kept::of(tally, &rest), &machines);
                pause = Some(keeping.every.max(began.elapsed() * SHARE));
            }
            match end {
                None if rest.is_empty() => return PassEnd::Done,
                None => left = rest,
                Some(end) => return end,
            }
        }
    }))
}

/// Of the time goes to writing down, one part in this many at most.
const SHARE: u32 = 20;

/// All machines work until nothing is left, or until all have put down what they have.
fn round<M: Machine + Send>(
    first: &mut M,
    others: &mut [&mut M],
    tally: &mut Tally,
    grouping: &Grouping,
    pool: &Pool,
) {
    let all_here = Barrier::new(others.len() + 1);
    let mut helpers: Vec<Tally> = others.iter().map(|_| tally.helper()).collect();
    std::thread::scope(|scope| {
        for (machine, tally) in others.iter_mut().zip(&mut helpers) {
            let machine = &mut **machine;
            machine.set_visibility(tally.visibility());
            let all_here = &all_here;
            scope.spawn(move || {
                all_here.wait();
                Search::new(tally, grouping.clone(), Some(pool)).work(machine, pool);
            });
        }
        all_here.wait();
        Search::new(tally, grouping.clone(), Some(pool)).work(first, pool);
    });
    helpers.into_iter().for_each(|helper| tally.add(helper));
}

impl<C> Search<'_, '_, '_, C> {
    fn work<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M, pool: &Pool) {
        let _guard = PanicEndsAll(pool);
        let start = machine.checkpoint();
        while let Some(left) = pool.take() {
            match self.explore(machine, left) {
                Ok(()) | Err(PassEnd::Paused) => {}
                Err(end) => pool.stop(end),
            }
            machine.restore(&start);
            pool.done();
        }
        machine.discard(start);
    }

    /// From a machine at its start.
    fn explore<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M, left: Left) -> Result<(), PassEnd> {
        self.run.truncate(0);
        self.nodes.clear();
        match left {
            Left::Open(open) => {
                let enabled = self.go(machine, open.way());
                self.nodes.push(Node::shared(machine.checkpoint(), enabled, open));
                match self.backtrack(machine).inspect_err(|_| self.put_down())? {
                    Some(plan) => self.runs(machine, plan),
                    None => Ok(()),
                }
            }
            Left::Fresh(Fresh { before, sleep }) => {
                let way =
                    before.map(|(open, choice)| open.way().into_iter().chain([(open, choice)]).collect());
                self.go(machine, way.unwrap_or_default());
                self.runs(machine, Plan::new(sleep, Tree::default()))
            }
        }
    }

    /// Takes these steps, from shared states; gives the choices open then.
    fn go<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        way: Vec<(Arc<Open>, Choice)>,
    ) -> Vec<Choice> {
        let mut enabled = Vec::new();
        machine.enabled(&mut enabled);
        for (open, choice) in way {
            let mut after = Vec::new();
            let checkpoint = machine.checkpoint();
            self.run.step(machine, choice, &enabled, &mut after, Precision::Outcome, &self.grouping);
            self.nodes.push(Node::shared(checkpoint, enabled, open));
            enabled = after;
        }
        enabled
    }

    /// Goes from the last node, which is shared, along the tree to a leaf.
    pub(super) fn next_leaf<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
    ) -> Result<Option<Plan>, PassEnd> {
        loop {
            let node = self.nodes.last().expect("there is a node to go on from");
            let open = Arc::clone(node.open().expect("it is shared"));
            // Nobody else looks at the state until it is known what the branch does.
            let mut plan = open.plan();
            let Some((choice, mut tree)) = plan.next_planned(&node.enabled, &[]) else { return Ok(None) };
            let mut enabled = Vec::new();
            let sleep = self.step(machine, choice, &plan.sleep, &mut enabled)?;
            let action = self.run.steps.last().expect("a step was taken").action.clone();
            tree.keep(|choice| enabled.contains(&choice));
            if tree.is_empty() {
                plan.taken(action, None);
                return Ok(Some(Plan::default()));
            }
            let inside = Arc::new(Open::new(Some((Arc::clone(&open), choice)), Plan::new(sleep, tree)));
            plan.taken(action, Some(&inside));
            drop(plan);
            self.nodes.push(Node::shared(machine.checkpoint(), enabled, inside));
            self.may_go_on(machine)?;
        }
    }

    /// Asks all to put down what they have left, when it is time.
    pub(super) fn ask_for_pause(&self) {
        if let Some(pool) = self.pool
            && self.tally.is_time_to_keep()
        {
            pool.pause();
        }
    }

    /// Gives others the branches nearest to the start, when they have nothing to do. The run at hand has ended.
    pub(super) fn share(&mut self) {
        let Some(pool) = self.pool.filter(|pool| pool.is_hungry()) else { return };
        let left = |node: &mut Node<C>| !node.plan().tree.is_empty();
        let Some(depth) = self.nodes.iter_mut().position(left) else { return };
        self.share_first(depth + 1);
        pool.offer(Arc::clone(self.nodes[depth].open().expect("it is shared now")));
    }

    /// Leaves all to others that is left in the states at hand.
    pub(super) fn put_down(&mut self) {
        let Some(pool) = self.pool else { return };
        self.share_first(self.nodes.len());
        for open in self.nodes.iter().filter_map(Node::open) {
            if !open.plan().tree.is_empty() {
                pool.offer(Arc::clone(open));
            }
        }
    }

    /// The same when the run at hand was cut, with what was to be explored from the present state.
    pub(super) fn put_back(&mut self, plan: Plan) {
        let Some(pool) = self.pool else { return };
        self.put_down();
        let last = self.nodes.last().and_then(Node::open).cloned().zip(self.run.steps.last());
        let before = last.map(|(open, step)| (open, step.action.choice));
        pool.put_back(if plan.tree.is_empty() {
            Left::Fresh(Fresh { before, sleep: plan.sleep })
        } else {
            Left::Open(Arc::new(Open::new(before, plan)))
        });
    }

    /// Shares the first states on the way.
    fn share_first(&mut self, count: usize) {
        let mut before = None;
        for (depth, node) in self.nodes[..count].iter_mut().enumerate() {
            let step = self.run.steps.get(depth);
            let open = node.share(before, step.map(|step| &step.action));
            before = step.map(|step| (open, step.action.choice));
        }
    }
}
