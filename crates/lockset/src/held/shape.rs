//! The shape of a function for the solver: edges that can be taken, their order, dominators, and what branches say on the way.
//!
//! A block ends early at a call that does not come back. An edge along a branch whose condition has a constant term that excludes it is
//! not there. What a branch says holds wherever its edge dominates: in SSA no register that the condition is made of is assigned again
//! on a path that does not pass the branch again.

use super::condition::Zero;
use super::{Locks, returning};
use raddle_base::Id;
use raddle_facts::Guard;
use raddle_ir::{BlockId, FunctionId, Inst, Operand, Program, Reg, Terminator};
use std::collections::BTreeSet;

#[derive(Clone)]
pub(crate) struct Shape {
    /// Reverse postorder of the live blocks.
    pub order: Vec<BlockId>,
    /// Position in `order`; `usize::MAX` for dead blocks.
    pub position: Vec<usize>,
    pub successors: Vec<Vec<BlockId>>,
    pub predecessors: Vec<Vec<BlockId>>,
    /// Blocks with a call that does not come back.
    stops: Vec<bool>,
    /// Immediate dominator; the entry and dead blocks have none.
    dominator: Vec<Option<BlockId>>,
    /// Where a block has one predecessor: what the edge says.
    said: Vec<Vec<Guard>>,
    /// What is so whenever the function runs, of registers that have one value in the whole run.
    inherited: Vec<Guard>,
    /// Registers that branches or the result depend on.
    tested: BTreeSet<Reg>,
    /// Position of the instruction that assigns a register; `None`: a parameter or phi.
    made: Vec<Option<(BlockId, u32)>>,
}

/// How far up the dominators a condition is looked for.
const REACH: usize = 256;

impl Shape {
    pub fn new(locks: &Locks<'_>, id: FunctionId) -> Shape {
        let function = &locks.program.functions[id];
        let count = function.blocks.len();
        let mut made = vec![None; function.regs.len()];
        for (at, block) in function.blocks.iter() {
            for (index, inst) in block.insts.iter().enumerate() {
                inst.each_dst(|dst| made[dst.index()] = Some((at, index as u32)));
            }
        }
        let mut successors = vec![Vec::new(); count];
        let mut stops = vec![false; count];
        for (at, block) in function.blocks.iter() {
            if !locks.values.is_reachable(id, at) {
                continue;
            }
            stops[at.index()] = block.insts.iter().enumerate().any(|(index, inst)| {
                matches!(inst, Inst::Call { .. })
                    && locks
                        .calls
                        .at(id, block.site_of(index))
                        .is_some_and(|call| !returning::goes_on(call, &locks.returns))
            });
            if !stops[at.index()] {
                successors[at.index()] = locks.open_edges(id, &block.terminator);
            }
        }
        let order = match locks.values.is_reachable(id, BlockId(0)) && count > 0 {
            true => reverse_postorder(&successors, BlockId(0)),
            false => Vec::new(),
        };
        let mut position = vec![usize::MAX; count];
        order.iter().enumerate().for_each(|(at, block)| position[block.index()] = at);
        let mut predecessors = vec![Vec::new(); count];
        for from in &order {
            successors[from.index()].iter().for_each(|to: &BlockId| predecessors[to.index()].push(*from));
        }
        let dominator = dominators(&order, &position, &predecessors);
        let said = vec![Vec::new(); count];
        let (inherited, tested) = (Vec::new(), BTreeSet::new());
        Shape { order, position, successors, predecessors, stops, dominator, said, inherited, tested, made }
    }

    /// The second step, when the shapes of all functions are there: a condition may come from a caller.
    pub fn listen(&mut self, said: Vec<Vec<Guard>>, tested: BTreeSet<Reg>) {
        self.said = said;
        self.tested = tested;
    }

    /// The third step: what holds at the only call or creation that runs the function. Edges that contradict what is known are gone.
    pub fn inherit(&mut self, inherited: Vec<Guard>, says: impl Fn(&Shape, BlockId, BlockId) -> Vec<Guard>) {
        self.inherited = inherited;
        let mut gone = Vec::new();
        for from in self.order.iter().filter(|from| self.successors[from.index()].len() > 1) {
            for to in &self.successors[from.index()] {
                if says(self, *from, *to).iter().any(|said| self.decides(*from, *said) == Some(false)) {
                    gone.push((*from, *to));
                }
            }
        }
        for (from, to) in gone {
            self.successors[from.index()].retain(|target| *target != to);
            self.predecessors[to.index()].retain(|source| *source != from);
        }
    }

    /// Whether control can come to the block's terminator.
    pub fn is_whole(&self, block: BlockId) -> bool {
        !self.stops[block.index()]
    }

    pub fn is_tested(&self, reg: Reg) -> bool {
        self.tested.contains(&reg)
    }

    /// What dominating branches say at the start of a block, nearest first; then what is so from the start.
    pub fn known(&self, block: BlockId) -> impl Iterator<Item = Guard> {
        self.known_inside(block).chain(self.inherited.iter().copied())
    }

    pub fn known_inside(&self, block: BlockId) -> impl Iterator<Item = Guard> {
        let mut at = Some(block);
        std::iter::from_fn(move || {
            let here = at?;
            at = self.dominator[here.index()];
            Some(self.said[here.index()].iter().copied())
        })
        .take(REACH)
        .flatten()
    }

    /// Whether the condition must hold, must not, or neither is known, at the start of a block.
    pub fn decides(&self, block: BlockId, guard: Guard) -> Option<bool> {
        self.known(block)
            .find(|known| (known.function, known.reg) == (guard.function, guard.reg))
            .map(|known| known.zero == guard.zero)
    }

    pub fn maker<'p>(&self, program: &'p Program, function: FunctionId, reg: Reg) -> Option<&'p Inst> {
        let (block, index) = self.made[reg.index()]?;
        Some(&program.functions[function].blocks[block].insts[index as usize])
    }
}

impl Locks<'_> {
    pub(super) fn said(&self, id: FunctionId, shape: &Shape) -> Vec<Vec<Guard>> {
        let mut said = vec![Vec::new(); shape.position.len()];
        for at in &shape.order {
            if let [from] = shape.predecessors[at.index()][..]
                && *at != BlockId(0)
            {
                said[at.index()] = self.edge_says(shape, id, from, *at);
            }
        }
        said
    }

    pub(super) fn tested(&self, id: FunctionId, shape: &Shape) -> BTreeSet<Reg> {
        let mut tested = BTreeSet::new();
        for at in &shape.order {
            let successors = &shape.successors[at.index()];
            if successors.len() > 1 {
                for to in successors {
                    tested.extend(self.edge_says(shape, id, *at, *to).iter().map(|guard| guard.reg));
                }
            }
            if let Terminator::Ret { values } = &self.program.functions[id].blocks[*at].terminator
                && let Some(value) = values.first()
                && let Zero::If(guard) = self.zero_when(id, *value)
            {
                tested.insert(guard.reg);
            }
        }
        tested
    }

    /// The targets of a terminator that its constant condition does not exclude, each once.
    fn open_edges(&self, function: FunctionId, terminator: &Terminator) -> Vec<BlockId> {
        let constant = |operand: Operand| self.term(function, operand).as_constant();
        let mut targets = Vec::new();
        match terminator {
            Terminator::CondBr { cond, then, other } => match constant(*cond) {
                Some(0) => targets.push(*other),
                // One bit: whatever a term makes of its extension, it is not zero.
                Some(_) => targets.push(*then),
                None => targets.extend([*then, *other]),
            },
            _ => terminator.each_target(|target| targets.push(target)),
        }
        targets.retain(|target| self.values.is_reachable(function, *target));
        targets.sort();
        targets.dedup();
        targets
    }
}

pub(super) fn reverse_postorder(successors: &[Vec<BlockId>], start: BlockId) -> Vec<BlockId> {
    let mut order = Vec::new();
    let mut seen = vec![false; successors.len()];
    seen[start.index()] = true;
    let mut stack = vec![(start, 0)];
    while let Some((block, next)) = stack.last_mut() {
        match successors[block.index()].get(*next) {
            Some(target) => {
                *next += 1;
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push((*target, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Cooper, Harvey, Kennedy: intersect along the order until nothing changes.
pub(super) fn dominators(
    order: &[BlockId],
    position: &[usize],
    predecessors: &[Vec<BlockId>],
) -> Vec<Option<BlockId>> {
    const NONE: usize = usize::MAX;
    let mut up = vec![NONE; order.len()];
    if order.is_empty() {
        return vec![None; position.len()];
    }
    up[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for at in 1..order.len() {
            let mut meet = NONE;
            for from in &predecessors[order[at].index()] {
                let mut a = position[from.index()];
                if up[a] == NONE {
                    continue;
                }
                if meet != NONE {
                    let mut b = meet;
                    while a != b {
                        if a > b { a = up[a] } else { b = up[b] }
                    }
                }
                meet = a;
            }
            if up[at] != meet {
                up[at] = meet;
                changed = true;
            }
        }
    }
    let mut result = vec![None; position.len()];
    for at in 1..order.len() {
        result[order[at].index()] = Some(order[up[at]]);
    }
    result
}
