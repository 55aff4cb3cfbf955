//! One loop laid out in a line.
//!
//! The loop's test stays n times and then leaves. Copies 0 to n of the loop's blocks are made; in copy k the test is replaced by the
//! jump that it takes in iteration k, edges back to the header lead to the header of copy k + 1, edges out of the loop lead where they
//! led, and what cannot be reached in a copy is left out. For a loop that tests at its top the last copy is so the header alone.
//! Copy 0 keeps its registers, the others get fresh ones.
//!
//! A value of the loop that is used behind it comes from the one copy that leaves to there; where ways out of several copies meet
//! (`break`) a phi is put, found by going back from the use (after Braun et al., CC 2013, with dominators instead of the removal of
//! needless phis).

use super::body::{BlockOrigin, Body};
use super::loops::{Graph, Loop};
use super::parts::{Part, each_part, each_terminator_operand, each_terminator_target};
use super::places::Places;
use super::trips::Test;
use crate::{Block, BlockId, Function, Inst, Operand, Phi, PlaceId, Program, Reg, RegInfo, Terminator};
use raddle_base::{Id, IdVec};
use std::collections::{BTreeSet, HashMap};

/// Instructions of a function beyond this are refused.
const LARGEST: usize = 1 << 22;

type Why = &'static str;

/// A block of the loop in one of its copies, or a block outside it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Node {
    Outside(BlockId),
    Copy(u32, BlockId),
}

pub(super) fn unroll(
    body: &Body,
    graph: &Graph,
    shape: &Loop,
    test: Test,
    program: &Program,
    places: &mut Places,
) -> Result<Body, Why> {
    let function = &body.function;
    for &block in shape.blocks.iter().filter(|block| **block != shape.header) {
        if graph.predecessors[block].iter().any(|from| !shape.blocks.contains(from)) {
            return Err("it is entered besides its header");
        }
    }
    let size: usize = shape.blocks.iter().map(|block| function.blocks[*block].insts.len() + 1).sum();
    if size.saturating_mul(test.stays as usize + 1) + body.instructions() > LARGEST {
        return Err("it would become too large");
    }
    let edges = Edges { function, shape, test };
    let reached = edges.reached()?;
    let mut layout = Layout::new(function, shape, &reached);
    let mut rewrite = Rewrite::new(graph, edges, &reached, &layout.ids, program, places, function);
    for (id, node) in layout.order.iter().enumerate() {
        let block = rewrite.block(*node)?;
        debug_assert_eq!(layout.ids[node].index(), id);
        layout.blocks.push(block);
    }
    let Rewrite { regs, joins, .. } = rewrite;
    for (block, phi) in joins {
        layout.blocks[layout.ids[&Node::Outside(block)]].phis.push(phi);
    }
    let origin = layout.order.iter().map(|node| match node {
        Node::Outside(block) => body.origin[*block].clone(),
        Node::Copy(round, block) => {
            let mut origin: BlockOrigin = body.origin[*block].clone();
            origin.iterations.push(*round);
            origin
        }
    });
    let origin = origin.collect();
    let function = Function { regs, blocks: layout.blocks, ..body.function.clone() };
    Ok(Body { function, origin })
}

/// The edges between nodes.
#[derive(Clone, Copy)]
struct Edges<'a> {
    function: &'a Function,
    shape: &'a Loop,
    test: Test,
}

impl Edges<'_> {
    /// Copies reached from the first header, and the way out of the last is the only one left.
    fn reached(&self) -> Result<BTreeSet<Node>, Why> {
        let start = Node::Copy(0, self.shape.header);
        let mut reached = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for next in self.of(node) {
                match next {
                    Node::Copy(round, _) if round > self.test.stays => {
                        return Err("it goes round after its test said to leave");
                    }
                    Node::Copy(..) if reached.insert(next) => open.push(next),
                    Node::Copy(..) | Node::Outside(_) => {}
                }
            }
        }
        Ok(reached)
    }

    fn of(&self, node: Node) -> Vec<Node> {
        let mut found = Vec::new();
        self.terminator(node).each_target(|target| found.push(self.target(node, target)));
        found
    }

    fn terminator(&self, node: Node) -> Terminator {
        match node {
            Node::Copy(round, block) if block == self.test.block => {
                Terminator::Br(if round < self.test.stays { self.test.stay } else { self.test.leave })
            }
            Node::Copy(_, block) | Node::Outside(block) => self.function.blocks[block].terminator.clone(),
        }
    }

    fn target(&self, from: Node, target: BlockId) -> Node {
        match from {
            _ if !self.shape.blocks.contains(&target) => Node::Outside(target),
            Node::Outside(_) => Node::Copy(0, target),
            Node::Copy(round, _) if target == self.shape.header => Node::Copy(round + 1, target),
            Node::Copy(round, _) => Node::Copy(round, target),
        }
    }
}

/// The order of the new blocks: copies stand one after the other where the loop began.
struct Layout {
    order: Vec<Node>,
    ids: HashMap<Node, BlockId>,
    blocks: IdVec<BlockId, Block>,
}

impl Layout {
    fn new(function: &Function, shape: &Loop, reached: &BTreeSet<Node>) -> Layout {
        let mut order = Vec::new();
        for block in function.blocks.ids() {
            if !shape.blocks.contains(&block) {
                order.push(Node::Outside(block));
            } else if shape.blocks.first() == Some(&block) {
                // A set of nodes is in order of copies, then of blocks.
                order.extend(reached);
            }
        }
        let ids = order.iter().enumerate().map(|(index, node)| (*node, BlockId::from_index(index))).collect();
        Layout { order, ids, blocks: IdVec::new() }
    }
}

struct Rewrite<'a> {
    graph: &'a Graph,
    edges: Edges<'a>,
    ids: &'a HashMap<Node, BlockId>,
    program: &'a Program,
    places: &'a mut Places,
    /// Copies of each block, in order.
    copies: HashMap<BlockId, Vec<Node>>,
    /// Registers that the loop assigns.
    own: BTreeSet<Reg>,
    /// Their names in copies from 1 on.
    fresh: HashMap<(u32, Reg), Reg>,
    regs: IdVec<Reg, RegInfo>,
    /// What holds a register of the loop where a block outside begins.
    behind: HashMap<(BlockId, Reg), Reg>,
    /// New phis for that.
    joins: Vec<(BlockId, Phi)>,
}

impl<'a> Rewrite<'a> {
    fn new(
        graph: &'a Graph,
        edges: Edges<'a>,
        reached: &BTreeSet<Node>,
        ids: &'a HashMap<Node, BlockId>,
        program: &'a Program,
        places: &'a mut Places,
        function: &Function,
    ) -> Rewrite<'a> {
        let mut copies: HashMap<BlockId, Vec<Node>> = HashMap::new();
        let (mut own, mut fresh, mut regs) = (BTreeSet::new(), HashMap::new(), function.regs.clone());
        for &node in reached {
            let Node::Copy(round, block) = node else { continue };
            copies.entry(block).or_default().push(node);
            each_definition(&function.blocks[block], |reg| {
                own.insert(reg);
                if round > 0 {
                    fresh.insert((round, reg), regs.push(function.regs[reg].clone()));
                }
            });
        }
        let (behind, joins) = (HashMap::new(), Vec::new());
        Rewrite { graph, edges, ids, program, places, copies, own, fresh, regs, behind, joins }
    }

    fn block(&mut self, node: Node) -> Result<Block, Why> {
        let (Node::Outside(id) | Node::Copy(_, id)) = node;
        let old = &self.edges.function.blocks[id];
        let mut phis = Vec::with_capacity(old.phis.len());
        for phi in &old.phis {
            phis.push(self.phi(node, phi)?);
        }
        let mut insts = old.insts.clone();
        for inst in &mut insts {
            self.inst(node, inst)?;
        }
        let mut terminator = self.edges.terminator(node);
        let mut outcome = Ok(());
        each_terminator_operand(&mut terminator, |operand| {
            self.operand(node, operand).unwrap_or_else(|why| outcome = Err(why));
        });
        each_terminator_target(&mut terminator, |target| {
            *target = self.ids[&self.edges.target(node, *target)];
        });
        outcome?;
        Ok(Block { phis, first_site: old.first_site, insts, terminator })
    }

    /// Keeps the entries whose edge is left, one for each copy of its source that has it.
    fn phi(&mut self, node: Node, phi: &Phi) -> Result<Phi, Why> {
        let mut incoming = Vec::new();
        for (from, value) in &phi.incoming {
            for source in self.nodes(*from) {
                if self.edges.of(source).contains(&node) {
                    let mut value = *value;
                    self.operand(source, &mut value)?;
                    incoming.push((self.ids[&source], value));
                }
            }
        }
        Ok(Phi { dst: self.defined(node, phi.dst)?, incoming })
    }

    /// What became of a block.
    fn nodes(&self, block: BlockId) -> Vec<Node> {
        match self.edges.shape.blocks.contains(&block) {
            true => self.copies.get(&block).cloned().unwrap_or_default(),
            false => vec![Node::Outside(block)],
        }
    }

    fn inst(&mut self, node: Node, inst: &mut Inst) -> Result<(), Why> {
        let mut outcome = Ok(());
        each_part(inst, |part| {
            let done = match part {
                Part::Define(reg) => self.defined(node, *reg).map(|new| *reg = new),
                Part::Use(operand) => self.operand(node, operand),
                Part::Place(place) => self.place(node, place),
            };
            done.unwrap_or_else(|why| outcome = Err(why));
        });
        outcome
    }

    fn operand(&mut self, node: Node, operand: &mut Operand) -> Result<(), Why> {
        if let Operand::Reg(reg) = operand {
            *reg = self.used(node, *reg)?;
        }
        Ok(())
    }

    fn place(&mut self, node: Node, place: &mut PlaceId) -> Result<(), Why> {
        if let Some(reg) = self.places.base(self.program, *place) {
            let renamed = self.used(node, reg)?;
            if renamed != reg {
                *place = self.places.rebased(self.program, *place, renamed);
            }
        }
        Ok(())
    }

    fn defined(&self, node: Node, reg: Reg) -> Result<Reg, Why> {
        match node {
            Node::Outside(_) | Node::Copy(0, _) => Ok(reg),
            Node::Copy(round, _) => self
                .fresh
                .get(&(round, reg))
                .copied()
                .ok_or("a value of it is not computed in each iteration"),
        }
    }

    /// The register that holds, at the end of this node at the latest, what `reg` holds there in the loop.
    fn used(&mut self, node: Node, reg: Reg) -> Result<Reg, Why> {
        match node {
            _ if !self.own.contains(&reg) => Ok(reg),
            Node::Copy(..) => self.defined(node, reg),
            Node::Outside(block) if self.graph.dominators.reachable(block) => self.used_behind(block, reg),
            Node::Outside(_) => Ok(reg),
        }
    }

    /// What `reg` holds where this block outside the loop begins; every way there has passed its assignment.
    fn used_behind(&mut self, block: BlockId, reg: Reg) -> Result<Reg, Why> {
        // No way from a dominator behind the loop leads through the loop again: that would pass the header, which is above it.
        let mut top = block;
        loop {
            let above = self.graph.dominators.immediate(top).ok_or("a value of it is used before it")?;
            if self.edges.shape.blocks.contains(&above) {
                break;
            }
            top = above;
        }
        match self.behind.get(&(top, reg)) {
            Some(known) => Ok(*known),
            None => self.joined(top, reg),
        }
    }

    /// The same for a block where ways out of the loop begin or meet.
    fn joined(&mut self, block: BlockId, reg: Reg) -> Result<Reg, Why> {
        let from = self.graph.predecessors[block].iter().flat_map(|from| self.nodes(*from));
        let sources: Vec<Node> =
            from.filter(|source| self.edges.of(*source).contains(&Node::Outside(block))).collect();
        if let [only] = sources[..] {
            return self.used(only, reg);
        }
        let dst = self.regs.push(self.regs[reg].clone());
        // Before its entries are known: a loop behind this one leads back to here.
        self.behind.insert((block, reg), dst);
        let mut incoming = Vec::new();
        for source in sources {
            let value = match source {
                Node::Outside(from) if !self.graph.dominators.reachable(from) => Operand::Undef,
                _ => Operand::Reg(self.used(source, reg)?),
            };
            incoming.push((self.ids[&source], value));
        }
        self.joins.push((block, Phi { dst, incoming }));
        Ok(dst)
    }
}

fn each_definition(block: &Block, mut visit: impl FnMut(Reg)) {
    block.phis.iter().for_each(|phi| visit(phi.dst));
    block.insts.iter().for_each(|inst| inst.each_dst(&mut visit));
}
