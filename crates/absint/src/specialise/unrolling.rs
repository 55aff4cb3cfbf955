//! Which loops are unrolled: those that start, join or set up threads and locks, wherever they are, then those of the main thread's
//! own code, which fill what the threads get as arguments, and last the short ones of the threads themselves.

use super::graph::{CallGraph, effect_of, slots};
use super::{Budget, Plan, Scope};
use raddle_base::IdVec;
use raddle_ir::expand::{BlockOrigin, Body, FunctionCopy, Loop, Places, Unroll, copyable};
use raddle_ir::{Callee, FunctionId, Inst, Program};
use raddle_libmodel::{Effect, Models, ThreadOp};
use std::collections::BTreeSet;

pub(super) fn plan(
    program: &Program,
    models: &Models,
    graph: &CallGraph,
    scope: Scope,
    limit: usize,
    budget: Budget,
) -> IdVec<FunctionId, Plan> {
    let mut bodies: IdVec<FunctionId, (Body, Vec<Unroll>)> =
        program.functions.values().map(|f| (Body::of(f), Vec::new())).collect();
    if scope == Scope::All {
        let mut total: usize = graph.size.values().sum();
        let orders = orders_threads(program, models, graph);
        let copyable = copyable(program);
        let mut places = Places::default();
        // Copies need room too: loops of the first kind leave a quarter of it, those of the second a half, short ones most of it.
        let passes = [
            (Wanted::Orders, limit / 4 * 3, budget.iterations),
            (Wanted::Others, limit / 2, budget.iterations),
            (Wanted::Others, limit / 4, budget.short),
        ];
        for (pass, (wanted, room, iterations)) in passes.into_iter().enumerate() {
            for &id in graph.order.iter().filter(|id| copyable[**id]) {
                if pass == 1 && !graph.main_only.contains(&id) {
                    continue;
                }
                let (body, steps) = &mut bodies[id];
                let before = body.instructions();
                let mut job = Job {
                    program,
                    models,
                    orders: &orders,
                    wanted,
                    iterations,
                    room: room.saturating_sub(total),
                    places: &mut places,
                };
                job.unroll_all(body, steps);
                total += body.instructions() - before.min(body.instructions());
            }
        }
    }
    bodies
        .iter()
        .map(|(id, (body, steps))| Plan {
            copy: FunctionCopy { origin: id, unroll: steps.clone(), retarget: Vec::new() },
            size: body.instructions(),
            slots: slots(program, models, body, &program.functions[id]),
        })
        .collect()
}

/// Functions that, with all they call, create or join threads, set up or tear down synchronisation, or wait at a barrier.
fn orders_threads(program: &Program, models: &Models, graph: &CallGraph) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::new();
    for (id, function) in program.functions.iter() {
        let insts = || function.blocks.values().flat_map(|block| &block.insts);
        if insts().any(|inst| effect_of(models, inst).is_some_and(|effect| orders(&effect))) {
            found.insert(id);
        }
    }
    loop {
        let more: Vec<FunctionId> = graph
            .named
            .iter()
            .filter(|(id, named)| !found.contains(id) && named.iter().any(|f| found.contains(f)))
            .map(|(id, _)| id)
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

fn orders(effect: &Effect) -> bool {
    match effect {
        Effect::Thread(op, _) => matches!(
            op,
            ThreadOp::Create { .. }
                | ThreadOp::CreateReturning { .. }
                | ThreadOp::Join { .. }
                | ThreadOp::Detach { .. }
        ),
        Effect::SyncInit { .. } | Effect::SyncDestroy { .. } | Effect::BarrierWait { .. } => true,
        _ => false,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Loops that create or join threads, and the like.
    Orders,
    Others,
}

struct Job<'a> {
    program: &'a Program,
    models: &'a Models,
    orders: &'a BTreeSet<FunctionId>,
    wanted: Wanted,
    iterations: u32,
    /// Instructions that may be added.
    room: usize,
    places: &'a mut Places,
}

impl Job<'_> {
    fn unroll_all(&mut self, body: &mut Body, steps: &mut Vec<Unroll>) {
        let mut refused: BTreeSet<BlockOrigin> = BTreeSet::new();
        while let Some(step) = self.next(body, &mut refused) {
            steps.push(step);
        }
    }

    /// Unrolls one loop, an outer one before those inside it.
    fn next(&mut self, body: &mut Body, refused: &mut BTreeSet<BlockOrigin>) -> Option<Unroll> {
        let mut loops = body.loops();
        loops.sort_by_key(|shape| (std::cmp::Reverse(shape.blocks.len()), shape.header));
        for shape in loops {
            let header = body.origin(shape.header).clone();
            if refused.contains(&header) {
                continue;
            }
            let before = body.instructions();
            if let Some(iterations) = self.worth(body, &shape) {
                let step = Unroll { header: header.block, path: header.iterations.clone(), iterations };
                if body.unroll(&step, self.program, self.places).is_ok() {
                    self.room = self.room.saturating_sub(body.instructions().saturating_sub(before));
                    return Some(step);
                }
            }
            refused.insert(header);
        }
        None
    }

    fn worth(&self, body: &Body, shape: &Loop) -> Option<u32> {
        let blocks = || shape.blocks.iter().map(|block| &body.function().blocks[*block]);
        let is_orders = blocks().flat_map(|block| &block.insts).any(|inst| self.orders_threads(inst));
        if is_orders != (self.wanted == Wanted::Orders) {
            return None;
        }
        let iterations = body.iterations(self.program, shape, self.iterations)?;
        let size: usize = blocks().map(|block| block.insts.len() + 1).sum();
        (size * iterations as usize <= self.room).then_some(iterations)
    }

    fn orders_threads(&self, inst: &Inst) -> bool {
        match inst {
            Inst::Call { callee: Callee::Direct(callee), .. } if self.orders.contains(callee) => true,
            _ => effect_of(self.models, inst).is_some_and(|effect| orders(&effect)),
        }
    }
}
