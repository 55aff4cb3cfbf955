//! Instructions as constraints. Rules, where they are not those of a plain copy:
//!
//! * A load that must find what was stored, by [`Values`], gets what was stored and not all that may be in its cell.
//! * A `Gep` gives addresses in the objects of its base; an index is a number (C11 6.5.6), unless the base is a constant.
//! * Integer arithmetic keeps the objects of both operands; adding a constant in pointer width keeps offsets exact. Subtraction keeps
//!   those of the left one only, and the difference of two registers that were pointers is a number.
//! * Truncation to less than a pointer, shifts, masks and the like lose offsets. Comparisons, floating-point arithmetic
//!   and conversions between numbers and floating point give numbers.

use super::graph::Node;
use super::memory::{Class, Width};
use super::pattern;
use super::sets::{LOSE, SAME, Shift};
use super::solver::{Derived, Solver, UseKind};
use super::strides::{Stride, strides};
use super::uses::{looked_at, steps};
use raddle_base::Id;
use raddle_facts::{Interval, ObjectKind, Offsets, Root};
use raddle_ir::{
    BinOp, BlockId, CastOp, FloatTy, FunctionId, Gep, Inst, IntrinsicOp, Operand, Reg, RmwOp, SiteId,
    Terminator, Ty,
};
use std::collections::HashMap;

/// Intervals wider than this do not bound an offset: patterns stay few.
const WIDEST_INDEX: i64 = 1 << 31;

/// A function whose instructions are being read.
struct Body {
    id: FunctionId,
    /// Registers that are pointers as integers.
    was_pointer: Vec<bool>,
    /// Registers that are the difference of two such.
    is_difference: Vec<bool>,
    /// Registers that hold a piece of memory on its way.
    moved: Vec<bool>,
    looked_at: Vec<bool>,
    steps: Vec<u64>,
    strides: HashMap<Reg, Stride>,
}

impl Body {
    /// Whether the address goes through memory in pieces of this size.
    fn walks(&self, ptr: Operand, bytes: u32) -> bool {
        match ptr {
            Operand::Reg(reg) => (1..=u64::from(bytes)).contains(&self.steps[reg.index()]),
            _ => false,
        }
    }
}

impl Solver<'_> {
    pub(super) fn analyse(&mut self, id: FunctionId) {
        let function = &self.program.functions[id];
        let mut body = Body {
            id,
            was_pointer: vec![false; function.regs.len()],
            is_difference: vec![false; function.regs.len()],
            moved: vec![false; function.regs.len()],
            looked_at: looked_at(self.program, function),
            steps: steps(function),
            strides: strides(
                function,
                |operand, ty| self.number(id, operand, ty),
                |reg| self.interval(id, reg),
            ),
        };
        for block in self.blocks_in_order(id) {
            let block = &function.blocks[block];
            for phi in &block.phis {
                if !self.may_hold_address(id, phi.dst) {
                    continue;
                }
                let dst = self.reg(id, phi.dst);
                for (from, operand) in &phi.incoming {
                    if self.values.is_reachable(id, *from) {
                        self.flow(id, *operand, dst, SAME);
                    }
                }
            }
            for (index, inst) in block.insts.iter().enumerate() {
                inst.each_operand(|operand| self.name(operand));
                self.instruction(&mut body, block.site_of(index), inst);
            }
            if let Terminator::Ret { values } = &block.terminator {
                for (index, value) in values.iter().enumerate() {
                    let returned = self.returned(id, index);
                    self.flow(id, *value, returned, SAME);
                }
            }
        }
    }

    /// Reachable blocks, in reverse postorder.
    fn blocks_in_order(&self, id: FunctionId) -> Vec<BlockId> {
        let function = &self.program.functions[id];
        let mut seen = vec![false; function.blocks.len()];
        let mut order = Vec::new();
        let successors = |block: BlockId| {
            let mut all = Vec::new();
            function.blocks[block].terminator.each_target(|target| all.push(target));
            all.retain(|target| self.values.is_reachable(id, *target));
            all
        };
        let entry = BlockId(0);
        if function.blocks.is_empty() || !self.values.is_reachable(id, entry) {
            return order;
        }
        seen[entry.index()] = true;
        let mut path = vec![(entry, successors(entry))];
        while let Some((block, rest)) = path.last_mut() {
            match rest.pop() {
                Some(next) if !seen[next.index()] => {
                    seen[next.index()] = true;
                    path.push((next, successors(next)));
                }
                Some(_) => {}
                None => {
                    order.push(*block);
                    path.pop();
                }
            }
        }
        order.reverse();
        order
    }

    fn may_hold_address(&self, function: FunctionId, reg: Reg) -> bool {
        carries(self.program.functions[function].regs[reg].ty, self.pointer_bytes)
    }

    /// The node of a register.
    pub(super) fn reg(&mut self, function: FunctionId, reg: Reg) -> Node {
        let nodes = self.functions[function.index()].as_mut().expect("the function is analysed");
        let slot = &mut nodes.regs[reg.index()];
        match slot {
            Some(node) => *node,
            None => {
                let node = self.graph.node();
                *slot = Some(node);
                node
            }
        }
    }

    pub(super) fn returned(&mut self, function: FunctionId, index: usize) -> Node {
        let nodes = self.functions[function.index()].as_mut().expect("the function is analysed");
        while nodes.returns.len() <= index {
            nodes.returns.push(self.graph.node());
        }
        nodes.returns[index]
    }

    /// The node of an operand that may hold an address.
    pub(super) fn operand(&mut self, function: FunctionId, operand: Operand) -> Option<Node> {
        match operand {
            Operand::Reg(reg) => self.may_hold_address(function, reg).then(|| self.reg(function, reg)),
            Operand::Global(global, offset) => {
                let object = self.global_object(global);
                Some(self.constant(object, Offsets::exact(offset)))
            }
            Operand::Function(target) => {
                let object = self.object(ObjectKind::Function(target), None);
                Some(self.constant(object, Offsets::exact(0)))
            }
            Operand::Const(_) | Operand::Block(_) | Operand::Null | Operand::Undef => None,
        }
    }

    /// Whatever the program names has an object, also where no address flows.
    fn name(&mut self, operand: Operand) {
        match operand {
            Operand::Global(global, _) => {
                self.global_object(global);
            }
            Operand::Function(function) => {
                self.object(ObjectKind::Function(function), None);
            }
            Operand::Reg(_) | Operand::Const(_) | Operand::Block(_) | Operand::Null | Operand::Undef => {}
        }
    }

    /// A node that points to one place.
    pub(super) fn constant(&mut self, object: u32, at: Offsets) -> Node {
        if let Some(node) = self.constants.get(&(object, at)) {
            return *node;
        }
        let node = self.graph.node();
        self.constants.insert((object, at), node);
        let set = self.sets.single(object, at);
        self.graph.add(&mut self.sets, node, set);
        node
    }

    fn flow(&mut self, function: FunctionId, from: Operand, to: Node, shift: Shift) {
        if let Some(from) = self.operand(function, from) {
            self.graph.edge(&mut self.sets, from, to, shift);
        }
    }

    /// The register is what this node is.
    fn define(&mut self, function: FunctionId, dst: Reg, node: Node) {
        if !self.may_hold_address(function, dst) {
            return;
        }
        let node = self.as_declared(function, dst, node);
        let nodes = self.functions[function.index()].as_mut().expect("the function is analysed");
        match nodes.regs[dst.index()] {
            None => nodes.regs[dst.index()] = Some(node),
            Some(known) => self.graph.edge(&mut self.sets, node, known, SAME),
        }
    }

    pub(super) fn shifted(&mut self, node: Node, shift: Shift) -> Node {
        if shift == SAME {
            return node;
        }
        let key = Derived::Shifted(node, shift);
        if let Some(known) = self.shared.get(&key) {
            return *known;
        }
        let result = self.graph.node();
        self.shared.insert(key, result);
        self.graph.edge(&mut self.sets, node, result, shift);
        result
    }

    /// A pointer in memory.
    pub(super) fn word(&self) -> Width {
        Width::address(self.pointer_bytes)
    }

    pub(super) fn loaded(&mut self, pointer: Node, width: Width) -> Node {
        let key = Derived::Loaded(pointer, width);
        if let Some(known) = self.shared.get(&key) {
            return *known;
        }
        let dst = self.graph.node();
        self.shared.insert(key, dst);
        self.look_through(pointer, UseKind::Load { dst, width });
        dst
    }

    pub(super) fn store(&mut self, pointer: Node, src: Node, width: Width) {
        self.look_through(pointer, UseKind::Store { src, width });
    }

    /// Points to anything else from here on.
    pub(super) fn add_unknown(&mut self, node: Node) {
        let unknown = self.unknown();
        self.graph.edge(&mut self.sets, unknown, node, SAME);
    }

    /// The number that an operand always is.
    pub(super) fn number(&self, function: FunctionId, operand: Operand, ty: Ty) -> Option<i64> {
        match operand {
            Operand::Const(bits) => Some(signed(bits, ty, self.pointer_bytes)),
            Operand::Null => Some(0),
            Operand::Reg(reg) => {
                let term = self.values.terms.get(function).and_then(|terms| terms.get(reg.index()));
                if let Some(number) = term.copied().flatten().and_then(|term| term.as_constant()) {
                    return Some(number);
                }
                let interval = self.interval(function, reg);
                (interval.low == interval.high).then_some(interval.low)
            }
            Operand::Global(..) | Operand::Function(_) | Operand::Block(_) | Operand::Undef => None,
        }
    }

    fn interval(&self, function: FunctionId, reg: Reg) -> Interval {
        let intervals = self.values.intervals.get(function).and_then(|all| all.get(reg.index()));
        intervals.copied().unwrap_or(Interval::ANY)
    }

    fn instruction(&mut self, body: &mut Body, site: SiteId, inst: &Inst) {
        let f = body.id;
        match inst {
            Inst::Bin { dst, op, ty, a, b } => self.binary(body, *dst, *op, *ty, (*a, *b)),
            Inst::Cast { dst, op, from, to, a } => {
                if *op == CastOp::PtrToInt && matches!(a, Operand::Reg(_) | Operand::Global(..)) {
                    body.was_pointer[dst.index()] = to.access_bytes(self.pointer_bytes) >= self.pointer_bytes;
                }
                self.cast(f, *dst, *op, *from, *to, *a);
            }
            Inst::Copy { dst, a, .. } => {
                if let Some(node) = self.operand(f, *a) {
                    self.define(f, *dst, node);
                }
            }
            Inst::Select { dst, a, b, .. } => self.join(f, *dst, &[*a, *b], SAME),
            Inst::Alloca { dst, bytes, .. } => {
                let size = self.number(f, *bytes, Ty::Int(64)).and_then(|size| u64::try_from(size).ok());
                let object = self.object(ObjectKind::Stack(site), size);
                let node = self.constant(object, Offsets::exact(0));
                self.define(f, *dst, node);
            }
            Inst::TlsAddr { dst, global } => {
                let object = self.thread_local_object(*global);
                let node = self.constant(object, Offsets::exact(0));
                self.define(f, *dst, node);
            }
            Inst::Load { dst, ty, .. }
                if carries(*ty, self.pointer_bytes) && self.stored(f, *dst).is_some() =>
            {
                if let Some((value, shift)) = self.stored(f, *dst) {
                    self.join(f, *dst, &[value], shift);
                }
            }
            Inst::Load { dst, ty, ptr, .. } => {
                if carries(*ty, self.pointer_bytes)
                    && let Some(pointer) = self.operand(f, *ptr)
                {
                    let width = self.load_width(body, *dst, *ty, *ptr);
                    let node = self.loaded(pointer, width);
                    self.define(f, *dst, node);
                }
            }
            Inst::Store { ty, value, ptr, .. } => self.store_operand(body, *ptr, *value, *ty),
            Inst::Rmw { dst, op, ty, ptr, value, .. } => self.rmw(body, *dst, *op, *ty, *ptr, *value),
            Inst::CmpXchg(x) => {
                self.store_operand(body, x.ptr, x.new, x.ty);
                if let Some(pointer) = self.operand(f, x.ptr) {
                    let width = self.load_width(body, x.old, x.ty, x.ptr);
                    let node = self.loaded(pointer, width);
                    self.define(f, x.old, node);
                }
            }
            Inst::Gep(gep) => self.gep(body, gep),
            Inst::MemCopy { dst, src, len, .. } => {
                let len = self.number(f, *len, Ty::Int(64));
                if let (Some(to), Some(from)) = (self.operand(f, *dst), self.operand(f, *src)) {
                    self.copy_bytes(
                        to,
                        from,
                        len.and_then(|len| u64::try_from(len).ok()).unwrap_or(u64::MAX),
                    );
                }
            }
            Inst::Call { dsts, callee, args } => self.call(f, site, dsts, *callee, args),
            Inst::Intrinsic { dsts, op, args, .. } => self.intrinsic(f, dsts, *op, args),
            Inst::VaStart { list } => self.va_start(f, *list),
            Inst::VaCopy { dst, src } => {
                if let (Some(to), Some(from)) = (self.operand(f, *dst), self.operand(f, *src)) {
                    self.copy_bytes(to, from, self.list_bytes());
                }
            }
            Inst::VaArg { dst, ty, list } => {
                if let Some(list) = self.operand(f, *list) {
                    let node = self.next_argument(list, *ty);
                    self.define(f, *dst, node);
                }
            }
            Inst::Asm { dsts, writes, reads, .. } => self.assembly(f, dsts, writes, reads),
            Inst::Unsupported { dsts, .. } => {
                for dst in dsts {
                    if self.is_wide_enough(self.program.functions[f].regs[*dst].ty) {
                        let node = self.reg(f, *dst);
                        self.add_unknown(node);
                    }
                }
            }
            Inst::FBin { .. }
            | Inst::FNeg { .. }
            | Inst::Icmp { .. }
            | Inst::Fcmp { .. }
            | Inst::Fence { .. }
            | Inst::SignalFence
            | Inst::MemSet { .. }
            | Inst::VaEnd { .. }
            | Inst::StackSave { .. }
            | Inst::StackRestore { .. } => {}
        }
    }

    /// Whether a value of this type can be a whole address.
    pub(super) fn is_wide_enough(&self, ty: Ty) -> bool {
        !matches!(ty, Ty::Float(_)) && ty.access_bytes(self.pointer_bytes) >= self.pointer_bytes
    }

    /// `dst` holds any of the operands.
    /// What a load must find, by the facts about memory: a register of the function or the address of a global, and so many bytes more.
    fn stored(&mut self, f: FunctionId, dst: Reg) -> Option<(Operand, Shift)> {
        let term = self.values.terms.get(f)?.get(dst.index()).copied().flatten()?;
        match (term.root, term.index) {
            (Root::Reg(owner, reg), None) if owner == f && reg != dst && self.may_hold_address(f, reg) => {
                Some((Operand::Reg(reg), self.sets.shift(Offsets::exact(term.offset))))
            }
            (Root::Global(global), None) => Some((Operand::Global(global, term.offset), SAME)),
            _ => None,
        }
    }

    fn join(&mut self, f: FunctionId, dst: Reg, operands: &[Operand], shift: Shift) {
        if !self.may_hold_address(f, dst) {
            return;
        }
        let nodes: Vec<Node> = operands.iter().filter_map(|operand| self.operand(f, *operand)).collect();
        match nodes[..] {
            [] => {}
            [one] => {
                let node = self.shifted(one, shift);
                self.define(f, dst, node);
            }
            _ => {
                let dst = self.reg(f, dst);
                for node in nodes {
                    self.graph.edge(&mut self.sets, node, dst, shift);
                }
            }
        }
    }

    fn load_width(&self, body: &mut Body, dst: Reg, ty: Ty, ptr: Operand) -> Width {
        let bytes = ty.access_bytes(self.pointer_bytes);
        let class = match ty {
            Ty::Ptr => Class::Address,
            _ if body.looked_at[dst.index()] => Class::Number,
            _ if bytes < self.pointer_bytes && !body.walks(ptr, bytes) => Class::Number,
            _ => Class::Moved,
        };
        body.moved[dst.index()] = class == Class::Moved;
        Width { bytes, class }
    }

    fn store_operand(&mut self, body: &Body, ptr: Operand, value: Operand, ty: Ty) {
        if !carries(ty, self.pointer_bytes) {
            return;
        }
        if let (Some(pointer), Some(node)) = (self.operand(body.id, ptr), self.operand(body.id, value)) {
            let bytes = ty.access_bytes(self.pointer_bytes);
            let class = match (ty, value) {
                (Ty::Ptr, _) => Class::Address,
                (_, Operand::Reg(reg)) if body.moved[reg.index()] => Class::Moved,
                _ => Class::Number,
            };
            self.store(pointer, node, Width { bytes, class });
        }
    }

    fn binary(&mut self, body: &mut Body, dst: Reg, op: BinOp, ty: Ty, (a, b): (Operand, Operand)) {
        let f = body.id;
        let was = |operand: Operand| match operand {
            Operand::Reg(reg) => body.was_pointer[reg.index()],
            Operand::Global(..) => true,
            _ => false,
        };
        if op == BinOp::Sub && was(a) && was(b) {
            body.is_difference[dst.index()] = true;
        }
        let is_difference =
            |operand: Operand| matches!(operand, Operand::Reg(reg) if body.is_difference[reg.index()]);
        if ty.access_bytes(self.pointer_bytes) < self.pointer_bytes {
            match op {
                BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::And | BinOp::Or | BinOp::Xor => {
                    self.join(f, dst, &[a, b], LOSE);
                }
                BinOp::Add
                | BinOp::Sub
                | BinOp::Mul
                | BinOp::UDiv
                | BinOp::SDiv
                | BinOp::URem
                | BinOp::SRem => {}
            }
            return;
        }
        match (op, self.number(f, a, ty), self.number(f, b, ty)) {
            (BinOp::Add, _, Some(number)) => self.add_number(f, dst, a, number),
            (BinOp::Add, Some(number), _) => self.add_number(f, dst, b, number),
            (BinOp::Sub, _, Some(number)) => self.add_number(f, dst, a, number.wrapping_neg()),
            // The distance of two elements of an array, and no longer that of two addresses.
            (BinOp::SDiv, _, Some(2..)) if is_difference(a) => {}
            _ => self.join(f, dst, &[a, b], LOSE),
        }
    }

    fn add_number(&mut self, f: FunctionId, dst: Reg, a: Operand, number: i64) {
        let shift = self.sets.shift(Offsets::exact(number));
        self.join(f, dst, &[a], shift);
    }

    fn cast(&mut self, f: FunctionId, dst: Reg, op: CastOp, from: Ty, to: Ty, a: Operand) {
        let narrow = |ty: Ty| ty.access_bytes(self.pointer_bytes) < self.pointer_bytes;
        match op {
            CastOp::Trunc | CastOp::PtrToInt if narrow(to) && !narrow(from) => self.join(f, dst, &[a], LOSE),
            CastOp::Trunc
            | CastOp::ZExt
            | CastOp::SExt
            | CastOp::PtrToInt
            | CastOp::IntToPtr
            | CastOp::Bitcast => {
                if let Some(node) = self.operand(f, a) {
                    self.define(f, dst, node);
                }
            }
            CastOp::FpTrunc
            | CastOp::FpExt
            | CastOp::FpToUi
            | CastOp::FpToSi
            | CastOp::UiToFp
            | CastOp::SiToFp => {}
        }
    }

    fn rmw(&mut self, body: &mut Body, dst: Reg, op: RmwOp, ty: Ty, ptr: Operand, value: Operand) {
        let f = body.id;
        let Some(pointer) = self.operand(f, ptr) else { return };
        let width = match op {
            RmwOp::Xchg => self.load_width(body, dst, ty, ptr),
            _ => Width { bytes: ty.access_bytes(self.pointer_bytes), class: Class::Number },
        };
        let old = self.loaded(pointer, width);
        self.define(f, dst, old);
        match op {
            RmwOp::Xchg | RmwOp::Max | RmwOp::Min | RmwOp::UMax | RmwOp::UMin => {
                self.store_operand(body, ptr, value, ty);
            }
            RmwOp::Add | RmwOp::Sub | RmwOp::And | RmwOp::Nand | RmwOp::Or | RmwOp::Xor => {
                let new = self.shifted(old, LOSE);
                self.store(pointer, new, width);
                if let Some(value) = self.operand(f, value) {
                    let new = self.shifted(value, LOSE);
                    self.store(pointer, new, width);
                }
            }
            RmwOp::FAdd | RmwOp::FSub | RmwOp::FMax | RmwOp::FMin => {}
        }
    }

    fn gep(&mut self, body: &Body, gep: &Gep) {
        let f = body.id;
        let mut by = Offsets::exact(gep.offset);
        for (index, ty, scale) in &gep.indices {
            let part = match (self.number(f, *index, *ty), index) {
                (Some(number), _) => match number.checked_mul(*scale) {
                    Some(bytes) => Offsets::exact(bytes),
                    None => Offsets::ANY,
                },
                (None, Operand::Reg(reg)) => {
                    scaled(self.interval(f, *reg), body.strides.get(reg).copied(), *scale)
                }
                (None, _) => Offsets::ANY,
            };
            by = pattern::sum(by, part);
        }
        let shift = self.sets.shift(by);
        match gep.base {
            Operand::Global(..) | Operand::Function(_) | Operand::Reg(_) => {
                self.join(f, gep.dst, &[gep.base], shift);
            }
            Operand::Const(_) | Operand::Null | Operand::Undef | Operand::Block(_) => {
                let indices: Vec<Operand> = gep.indices.iter().map(|(index, ..)| *index).collect();
                self.join(f, gep.dst, &indices, LOSE);
            }
        }
    }

    fn intrinsic(&mut self, f: FunctionId, dsts: &[Reg], op: IntrinsicOp, args: &[Operand]) {
        let Some(dst) = dsts.first() else { return };
        match op {
            IntrinsicOp::SMin
            | IntrinsicOp::SMax
            | IntrinsicOp::UMin
            | IntrinsicOp::UMax
            | IntrinsicOp::Outside => {
                self.join(f, *dst, args, SAME);
            }
            IntrinsicOp::Bswap
            | IntrinsicOp::BitReverse
            | IntrinsicOp::Fshl
            | IntrinsicOp::Fshr
            | IntrinsicOp::Abs
            | IntrinsicOp::SAddOverflow
            | IntrinsicOp::UAddOverflow
            | IntrinsicOp::SSubOverflow
            | IntrinsicOp::USubOverflow
            | IntrinsicOp::SMulOverflow
            | IntrinsicOp::UMulOverflow
            | IntrinsicOp::SAddSat
            | IntrinsicOp::UAddSat
            | IntrinsicOp::SSubSat
            | IntrinsicOp::USubSat => self.join(f, *dst, args, LOSE),
            IntrinsicOp::CtPop
            | IntrinsicOp::CtLz
            | IntrinsicOp::CtTz
            | IntrinsicOp::FAbs
            | IntrinsicOp::Sqrt
            | IntrinsicOp::Floor
            | IntrinsicOp::Ceil
            | IntrinsicOp::FTrunc
            | IntrinsicOp::Rint
            | IntrinsicOp::Round
            | IntrinsicOp::RoundEven
            | IntrinsicOp::CopySign
            | IntrinsicOp::FMin
            | IntrinsicOp::FMax
            | IntrinsicOp::Fma
            | IntrinsicOp::MulAdd
            | IntrinsicOp::Pow
            | IntrinsicOp::Powi
            | IntrinsicOp::Exp
            | IntrinsicOp::Exp2
            | IntrinsicOp::Log
            | IntrinsicOp::Log2
            | IntrinsicOp::Log10
            | IntrinsicOp::Sin
            | IntrinsicOp::Cos
            | IntrinsicOp::IsFpClass => {}
        }
    }

    /// Outputs are anything that the inputs point to, or unknown.
    fn assembly(&mut self, f: FunctionId, dsts: &[Reg], writes: &[(Operand, u64)], reads: &[Operand]) {
        let out = self.graph.node();
        self.add_unknown(out);
        for read in reads {
            self.flow(f, *read, out, LOSE);
        }
        for dst in dsts {
            if self.is_wide_enough(self.program.functions[f].regs[*dst].ty) {
                self.define(f, *dst, out);
            }
        }
        for (target, bytes) in writes {
            if *bytes >= u64::from(self.pointer_bytes)
                && let Some(pointer) = self.operand(f, *target)
            {
                let bytes = u32::try_from(*bytes).unwrap_or(u32::MAX);
                self.store(pointer, out, Width::address(bytes));
            }
        }
    }
}

/// Whether values of this type may hold an address or a part of one.
pub(super) fn carries(ty: Ty, pointer_bytes: u32) -> bool {
    match ty {
        Ty::Ptr => true,
        Ty::Int(bits) => bits > 1,
        Ty::Float(FloatTy::F64) => true,
        Ty::Float(float) => float.access_bytes() == pointer_bytes,
    }
}

/// A constant as a signed number of its type.
fn signed(bits: u128, ty: Ty, pointer_bytes: u32) -> i64 {
    let width = match ty {
        Ty::Int(width) => u32::from(width),
        Ty::Ptr => 8 * pointer_bytes,
        Ty::Float(_) => 64,
    };
    if width >= 64 {
        return bits as i64;
    }
    let unused = 64 - width;
    ((bits as i64) << unused) >> unused
}

/// All products of a number in the interval, of those that the stride allows.
fn scaled(interval: Interval, stride: Option<Stride>, scale: i64) -> Offsets {
    if scale == 0 {
        return Offsets::exact(0);
    }
    let bound = |number: i64| {
        (-WIDEST_INDEX < number && number < WIDEST_INDEX).then(|| number.checked_mul(scale)).flatten()
    };
    let (first, last) = (bound(interval.low), bound(interval.high));
    let (low, high) = if scale > 0 { (first, last) } else { (last, first) };
    let (low, high) = (low.unwrap_or(i64::MIN), high.unwrap_or(i64::MAX));
    let all = pattern::normal(Offsets { anchor: 0, stride: scale.unsigned_abs(), low, high });
    let strided = stride.and_then(|Stride { first, step }| {
        let (anchor, stride) = (first.checked_mul(scale)?, step.checked_mul(scale.unsigned_abs())?);
        let some = pattern::normal(Offsets { anchor, stride, low, high });
        (some.low <= some.high).then_some(some)
    });
    strided.unwrap_or(all)
}
