//! How closely the program looks at the result of each call: whether a comparison with 0 is all that becomes of it.
//!
//! A result is followed through phis and copies, and to the callers of a function that returns it; the comparison functions of `qsort`
//! and `bsearch` are looked at by their sign. A result that goes anywhere else (to memory, into arithmetic, as an argument) counts as
//! looked at in full. The table of character classes of glibc's macros is followed from the call that gives it to the test of a class.
//! Errs towards looking more closely.

use raddle_base::Id;
use raddle_ir::{
    BinOp, Callee, CastOp, Function, FunctionId, IcmpPred, Inst, Operand, Program, Reg, SymbolRef,
    Terminator, Ty,
};
use raddle_libmodel::{Detail, Effect, LibcFn, Meaning, Models};

pub(crate) struct Looks {
    /// The first node of each function: its registers, then what it returns.
    first: Vec<usize>,
    nodes: Vec<Detail>,
}

impl Looks {
    pub fn of(program: &Program, models: &Models) -> Self {
        let mut looks = Self { first: Vec::new(), nodes: Vec::new() };
        for function in program.functions.values() {
            looks.first.push(looks.nodes.len());
            looks.nodes.resize(looks.nodes.len() + function.regs.len() + 1, Detail::Nothing);
        }
        let mut flows = vec![Vec::new(); looks.nodes.len()];
        for (id, function) in program.functions.iter() {
            let result = looks.first[id.index()] + function.regs.len();
            let table = Table::of(models, function);
            let mut walk = Walk { program, models, id, result, table, looks: &mut looks, flows: &mut flows };
            walk.function(function);
        }
        for relocation in program
            .globals
            .values()
            .filter_map(|global| global.init.as_ref())
            .flat_map(|init| &init.relocations)
        {
            if let SymbolRef::Function(function) = relocation.target {
                looks.raise_result(program, function, Detail::Value);
            }
        }
        let mut open: Vec<usize> =
            (0..looks.nodes.len()).filter(|node| looks.nodes[*node] > Detail::Nothing).collect();
        while let Some(node) = open.pop() {
            for &(from, keeps) in &flows[node] {
                let look = keeps.before(looks.nodes[node]);
                if looks.nodes[from] < look {
                    looks.nodes[from] = look;
                    open.push(from);
                }
            }
        }
        looks
    }

    pub fn at(&self, function: FunctionId, reg: Reg) -> Detail {
        self.nodes[self.first[function.index()] + reg.index()]
    }

    fn raise(&mut self, node: usize, look: Detail) {
        self.nodes[node] = self.nodes[node].max(look);
    }

    fn raise_result(&mut self, program: &Program, function: FunctionId, look: Detail) {
        self.raise(self.first[function.index()] + program.functions[function].regs.len(), look);
    }
}

/// What of a number comes through an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    All,
    Zero,
}

impl Keeps {
    /// How closely the operand is looked at when the result is looked at like this.
    fn before(self, look: Detail) -> Detail {
        if self == Keeps::Zero && look > Detail::Zero { Detail::Value } else { look }
    }
}

struct Walk<'a> {
    program: &'a Program,
    models: &'a Models,
    id: FunctionId,
    /// The node of what this function returns.
    result: usize,
    table: Table,
    looks: &'a mut Looks,
    /// By node: what is looked at with it.
    flows: &'a mut [Vec<(usize, Keeps)>],
}

impl Walk<'_> {
    fn function(&mut self, function: &Function) {
        for block in function.blocks.values() {
            for phi in &block.phis {
                for (_, operand) in &phi.incoming {
                    self.flow(*operand, self.node(phi.dst), Keeps::All);
                }
            }
            for inst in &block.insts {
                self.inst(inst);
            }
            match &block.terminator {
                Terminator::CondBr { cond, .. } => self.look(*cond, Detail::Zero),
                Terminator::Ret { values } => {
                    for value in values {
                        self.flow(*value, self.result, Keeps::All);
                    }
                }
                other => other.each_operand(|operand| self.look(operand, Detail::Value)),
            }
        }
    }

    fn inst(&mut self, inst: &Inst) {
        match inst {
            Inst::Icmp { pred, ty, a, b, .. } => {
                self.look(*a, compared(*pred, *ty, *b));
                self.look(*b, compared(swapped(*pred), *ty, *a));
            }
            Inst::Copy { dst, a, .. } | Inst::Cast { dst, op: CastOp::SExt, a, .. } => {
                self.flow(*a, self.node(*dst), Keeps::All);
            }
            Inst::Cast { dst, op: CastOp::ZExt, a, .. } => {
                let keeps = if self.table.holds(*a) { Keeps::All } else { Keeps::Zero };
                self.flow(*a, self.node(*dst), keeps);
            }
            Inst::Select { dst, cond, a, b, .. } => {
                self.look(*cond, Detail::Zero);
                self.flow(*a, self.node(*dst), Keeps::All);
                self.flow(*b, self.node(*dst), Keeps::All);
            }
            Inst::Load { dst, ptr: from, .. }
            | Inst::Bin { dst, op: BinOp::And, a: from, b: Operand::Const(_), .. }
                if self.table.holds(*from) =>
            {
                self.flow(*from, self.node(*dst), Keeps::All);
            }
            Inst::Gep(gep) if self.table.holds(gep.base) => {
                self.flow(gep.base, self.node(gep.dst), Keeps::All);
                for (index, _, _) in &gep.indices {
                    self.look(*index, Detail::Value);
                }
            }
            Inst::Call { dsts, callee, args } => {
                let meaning = match callee {
                    Callee::Direct(function) => {
                        let returned =
                            self.looks.first[function.index()] + self.program.functions[*function].regs.len();
                        for dst in dsts {
                            self.flows[self.node(*dst)].push((returned, Keeps::All));
                        }
                        self.models.meanings.get(*function)
                    }
                    Callee::Indirect(operand) => {
                        self.look(*operand, Detail::Value);
                        None
                    }
                };
                let callback = if meaning.is_some_and(compares) { Detail::Sign } else { Detail::Value };
                for arg in args {
                    match arg.value {
                        Operand::Function(function) => {
                            self.looks.raise_result(self.program, function, callback)
                        }
                        value => self.look(value, Detail::Value),
                    }
                }
            }
            other => other.each_operand(|operand| self.look(operand, Detail::Value)),
        }
    }

    fn node(&self, reg: Reg) -> usize {
        self.looks.first[self.id.index()] + reg.index()
    }

    /// What becomes of the function's own result is not known where its address goes somewhere.
    fn look(&mut self, operand: Operand, look: Detail) {
        match operand {
            Operand::Reg(reg) => self.looks.raise(self.node(reg), look),
            Operand::Function(function) => self.looks.raise_result(self.program, function, Detail::Value),
            _ => {}
        }
    }

    fn flow(&mut self, from: Operand, to: usize, keeps: Keeps) {
        match from {
            Operand::Reg(reg) => {
                let from = self.node(reg);
                self.flows[to].push((from, keeps));
            }
            other => self.look(other, Detail::Value),
        }
    }
}

/// Registers that hold glibc's table of character classes, its address or an entry.
struct Table(Vec<bool>);

impl Table {
    fn of(models: &Models, function: &Function) -> Table {
        let mut table = Table(vec![false; function.regs.len()]);
        let insts = || function.blocks.values().flat_map(|block| &block.insts);
        let gives = |inst: &Inst| match inst {
            Inst::Call { callee: Callee::Direct(callee), .. } => {
                matches!(
                    models.meanings.get(*callee),
                    Some(Meaning::Effect(Effect::Libc(LibcFn("__ctype_b_loc")), _))
                )
            }
            _ => false,
        };
        if !insts().any(gives) {
            return table;
        }
        // From the call over two loads to the entry, in the order of the program.
        for inst in insts() {
            let holds = match inst {
                Inst::Load { ptr, .. } => table.holds(*ptr),
                Inst::Gep(gep) => table.holds(gep.base),
                Inst::Cast { op: CastOp::ZExt | CastOp::SExt, a, .. } => table.holds(*a),
                other => gives(other),
            };
            if holds {
                inst.each_dst(|dst| table.0[dst.index()] = true);
            }
        }
        table
    }

    fn holds(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Reg(reg) if self.0[reg.index()])
    }
}

/// How closely a comparison with this operand looks.
fn compared(pred: IcmpPred, ty: Ty, with: Operand) -> Detail {
    let minus_one = match ty {
        Ty::Int(bits) if bits < 128 => (1u128 << bits) - 1,
        _ => u128::MAX,
    };
    match (pred, with) {
        (IcmpPred::Eq | IcmpPred::Ne, Operand::Const(0) | Operand::Null) => Detail::Zero,
        (IcmpPred::Slt | IcmpPred::Sle | IcmpPred::Sgt | IcmpPred::Sge, Operand::Const(0))
        | (IcmpPred::Slt | IcmpPred::Sge, Operand::Const(1)) => Detail::Sign,
        (IcmpPred::Sgt | IcmpPred::Sle, Operand::Const(value)) if value == minus_one => Detail::Sign,
        _ => Detail::Value,
    }
}

fn swapped(pred: IcmpPred) -> IcmpPred {
    match pred {
        IcmpPred::Eq | IcmpPred::Ne => pred,
        IcmpPred::Ult => IcmpPred::Ugt,
        IcmpPred::Ule => IcmpPred::Uge,
        IcmpPred::Ugt => IcmpPred::Ult,
        IcmpPred::Uge => IcmpPred::Ule,
        IcmpPred::Slt => IcmpPred::Sgt,
        IcmpPred::Sle => IcmpPred::Sge,
        IcmpPred::Sgt => IcmpPred::Slt,
        IcmpPred::Sge => IcmpPred::Sle,
    }
}

/// The library calls the functions that it is given to compare, and looks at the sign.
fn compares(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Effect(Effect::Libc(LibcFn("qsort" | "qsort_r" | "bsearch")), _))
}
