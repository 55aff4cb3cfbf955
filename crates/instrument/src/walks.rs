//! Loops that walk memory: one check of all that was walked, where the loop is left.
//!
//! In a loop without barriers, an access that takes place once in every complete iteration, at an address that moves by the same
//! step each time, touches `first`, `first + step`, … A counter of complete iterations, plus one where a way out comes after the
//! access, says how many; each exit gets a check with its own count, also after a `break`. A check of the same range in every
//! iteration, the walk of an inner loop for example, moves to the exits as it is. A zero step in a block that every entry into the loop
//! runs is a plain check before the loop, so that a loop that waits for others is not silent while it waits.

use std::collections::{HashMap, HashSet};

use inkwell::llvm_sys::LLVMOpcode;

use crate::barriers::Barriers;
use crate::body::Body;
use crate::checks::{Check, Size};
use crate::emit::Emitter;
use crate::graph::{Graph, Loop};
use crate::induction::{Induction, Step};
use crate::llvm::Value;

/// What the detector looks at in one piece.
const GRANULE: u64 = 4;

/// Writes walks for checks in loops, where that can be done; gives back the calls of those checks.
pub(crate) fn write(
    emitter: &Emitter<'_>,
    body: &Body,
    graph: &Graph,
    barriers: &Barriers,
    checks: &[Check],
) -> Vec<Value> {
    let mut dead = Vec::new();
    let mut by_loop: Vec<Vec<&Check>> = graph.loops.iter().map(|_| Vec::new()).collect();
    for check in checks {
        if let Some(index) = graph.innermost(check.block) {
            by_loop[index].push(check);
        }
    }
    for (area, checks) in graph.loops.iter().zip(by_loop) {
        if checks.is_empty() {
            continue;
        }
        let Some(mut walker) = Walker::new(emitter, body, graph, barriers, area) else { continue };
        for check in checks {
            if walker.walk(check) {
                dead.push(check.call);
            }
        }
    }
    dead
}

/// Whether what a loop reads decides when it ends (`while (a[i] < pivot) i++`). Such loops tend to be short, and often run over
/// memory that was checked before in the same region: single checks, which are inlined, cost less than walks there. Not so for bytes
/// (`while (*s != ' ') s++`): parts of a granule cost more than all of it.
fn is_search(body: &Body, area: &Loop, exits: &[(usize, usize)]) -> bool {
    let in_loop = |value: Value| body.block_of(value).is_some_and(|block| area.contains(block));
    exits.iter().any(|(from, to)| {
        let ends = body.instructions[*to].last().is_some_and(|last| last.is(LLVMOpcode::LLVMUnreachable));
        let Some(branch) = body.instructions[*from].last().filter(|_| !ends) else { return false };
        let mut queue: Vec<Value> = branch.operand(0).into_iter().collect();
        let mut seen = HashSet::new();
        while let Some(value) = queue.pop() {
            if !in_loop(value) || !seen.insert(value) {
                continue;
            }
            match value.opcode() {
                Some(LLVMOpcode::LLVMLoad) => return true,
                Some(LLVMOpcode::LLVMPHI) => {}
                _ => queue.extend((0..value.operand_count()).filter_map(|index| value.operand(index))),
            }
        }
        false
    })
}

struct Walker<'a> {
    emitter: &'a Emitter<'a>,
    induction: Induction<'a>,
    exits: Vec<(usize, usize)>,
    is_search: bool,
    /// First values already computed before the loop.
    firsts: HashMap<Value, Value>,
    counters: Option<Counters>,
    /// Counts at an exit block, by which ways into it come after the access.
    counts: HashMap<(usize, Vec<bool>), Value>,
}

struct Counters {
    /// Complete iterations before this one, and with this one.
    before: Value,
    with: Value,
}

impl<'a> Walker<'a> {
    /// `None` where the loop has no simple form or threads may synchronise in it.
    fn new(
        emitter: &'a Emitter<'a>,
        body: &'a Body,
        graph: &'a Graph,
        barriers: &Barriers,
        area: &'a Loop,
    ) -> Option<Self> {
        let [latch] = area.latches[..] else { return None };
        let preheader = area.preheader(body)?;
        let mut instructions = area.blocks.iter().flat_map(|block| &body.instructions[*block]);
        if instructions.any(|inst| barriers.is(*inst)) {
            return None;
        }
        let exits = area.exits(body);
        let simple = exits.iter().all(|(_, to)| {
            body.predecessors[*to].iter().all(|from| area.contains(*from))
                && body.blocks[*to].first_insertion_point().is_some()
        });
        if exits.is_empty() || !simple {
            return None;
        }
        let induction = Induction { module: emitter.module, body, graph, area, preheader, latch };
        Some(Self {
            emitter,
            induction,
            is_search: is_search(body, area, &exits),
            exits,
            firsts: HashMap::new(),
            counters: None,
            counts: HashMap::new(),
        })
    }

    /// Writes one check for all iterations; false if that cannot be done.
    fn walk(&mut self, check: &Check) -> bool {
        let Induction { body, graph, area, preheader, latch, .. } = self.induction;
        if !graph.dominates(check.block, latch) {
            return false;
        }
        let Some(after) = self.exits_after(check.block) else { return false };
        let Size::Bytes(bytes) = check.size else { return !self.is_search && self.sink(check, &after) };
        let Some(step) = self.induction.step(check.address) else { return false };
        let is_dense = matches!(step, Step::Fixed(step) if step.unsigned_abs() == bytes);
        if self.is_search && !(bytes < GRANULE && is_dense) {
            return false;
        }
        let (Ok(bytes), Some(&end)) = (u32::try_from(bytes), body.instructions[preheader].last()) else {
            return false;
        };
        let builder = &self.emitter.builder;
        builder.before_at(end, check.call.location());
        let first = self.induction.first(builder, check.address, &mut self.firsts);
        if step == Step::Fixed(0) {
            if check.block == area.header {
                self.emitter.check(check.role, first, check.size, check.site);
                return true;
            }
            if after.iter().all(|after| *after) {
                self.at_exits(check, |_, _| (first, check.size));
                return true;
            }
        }
        let wide = self.emitter.module.int(64);
        let stride = match step {
            Step::Fixed(step) => builder.int64(step),
            Step::Times(value, times) => {
                builder.multiply(builder.sign_cast(value, wide), builder.int64(times))
            }
        };
        self.count();
        self.at_exits(check, |walker, target| {
            let count = walker.count_at(target, &after);
            (first, Size::Walk { stride, count, bytes })
        });
        true
    }

    /// Moves a check of a range that is the same in every iteration to the exits, if the first iteration surely has it.
    fn sink(&mut self, check: &Check, after: &[bool]) -> bool {
        let same = |value: Value| self.induction.is_invariant(value);
        let fixed = match check.size {
            Size::Bytes(_) => true,
            Size::Computed(bytes) => same(bytes),
            Size::Walk { stride, count, .. } => same(stride) && same(count),
        };
        if !fixed || !same(check.address) || !after.iter().all(|after| *after) {
            return false;
        }
        self.at_exits(check, |_, _| (check.address, check.size));
        true
    }

    fn at_exits(&mut self, check: &Check, mut range: impl FnMut(&mut Self, usize) -> (Value, Size)) {
        let mut targets: Vec<usize> = self.exits.iter().map(|(_, to)| *to).collect();
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            let (address, size) = range(self, target);
            let block = self.induction.body.blocks[target];
            let Some(point) = block.first_insertion_point() else { continue };
            self.emitter.builder.before_at(point, check.call.location());
            self.emitter.check(check.role, address, size, check.site);
        }
    }

    /// For each exit, whether the access of the last iteration has taken place there; `None` where it depends.
    fn exits_after(&self, block: usize) -> Option<Vec<bool>> {
        let Induction { body, graph, area, .. } = self.induction;
        let reachable = area.reachable_in_iteration(body, block);
        self.exits
            .iter()
            .map(|(from, _)| {
                if graph.dominates(block, *from) {
                    Some(true)
                } else if reachable[*from] {
                    None
                } else {
                    Some(false)
                }
            })
            .collect()
    }

    fn count(&mut self) {
        if self.counters.is_some() {
            return;
        }
        let Induction { body, area, preheader, latch, .. } = self.induction;
        let builder = &self.emitter.builder;
        let header = body.blocks[area.header];
        let wide = self.emitter.module.int(64);
        let zero = builder.int64(0);
        let before = builder.phi(header, wide, &[(body.blocks[preheader], zero)]);
        let point = header.first_insertion_point().expect("a loop header has instructions after phis");
        builder.before_at(point, None);
        let with = builder.add(before, builder.int64(1));
        builder.add_incoming(before, body.blocks[latch], with);
        self.counters = Some(Counters { before, with });
    }

    fn count_at(&mut self, target: usize, after: &[bool]) -> Value {
        let Induction { body, .. } = self.induction;
        let ways: Vec<(usize, bool)> = self
            .exits
            .iter()
            .zip(after)
            .filter(|((_, to), _)| *to == target)
            .map(|((from, _), after)| (*from, *after))
            .collect();
        let key = (target, ways.iter().map(|(_, after)| *after).collect::<Vec<bool>>());
        if let Some(count) = self.counts.get(&key) {
            return *count;
        }
        let counters = self.counters.as_ref().expect("counted before");
        let pick = |after: bool| if after { counters.with } else { counters.before };
        let count = if ways.iter().all(|(_, after)| *after == ways[0].1) {
            pick(ways[0].1)
        } else {
            let block = body.blocks[target];
            let mut incoming = Vec::new();
            for &(from, after) in &ways {
                // A block may lead to another by several edges, and a phi has a value for each.
                let edges = body.blocks[from].successors().into_iter().filter(|to| *to == block).count();
                incoming.extend(std::iter::repeat_n((body.blocks[from], pick(after)), edges));
            }
            self.emitter.builder.phi(block, self.emitter.module.int(64), &incoming)
        };
        self.counts.insert(key, count);
        count
    }
}
