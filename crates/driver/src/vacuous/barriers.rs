//! Why no execution came to a place: what stands between the blocks that were executed and those that were not.
//!
//! From the blocks that some execution entered on, through branches, calls and functions whose address is handed on, to those that
//! none entered. In between, a branch always went another way, a function was never called, or executions ended. A call
//! through a pointer may call every function whose address is taken. So more places count as possible than are, and none is left out.

use crate::outcome::place;
use crate::reached::Reached;
use raddle_base::{Id, SiteId};
use raddle_ir::{
    Block, BlockId, Callee, Code, Function, FunctionId, IcmpPred, Inst, Operand, Program, Reg, SymbolRef,
    Terminator, Ty,
};
use raddle_libmodel::memory::Extent;
use raddle_libmodel::{Arg, Effect, Meaning, Models};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A block of the program.
pub(super) type Node = (FunctionId, BlockId);

/// What kept executions from going on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Barrier {
    /// A branch that always went another way.
    Branch { at: SiteId, decided_by: Option<Decision> },
    /// A function that no call entered.
    NotCalled(FunctionId),
    /// Executions ended, or waited for ever, in a block behind this site.
    Ended(SiteId),
}

/// The call whose result a branch looks at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Decision {
    call: SiteId,
    callee: FunctionId,
    untaken: Untaken,
}

/// What the way that no execution took is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Untaken {
    /// The call has failed.
    Failure,
    /// The call has not failed.
    Success,
    Unclear,
}

/// The nearest barrier before every block that no execution entered and that something may lead to.
pub(super) struct Barriers<'a> {
    program: &'a Program,
    models: &'a Models,
    reached: &'a Reached,
    /// Some result was one of several that the standards allow.
    results_open: bool,
    before: BTreeMap<Node, Barrier>,
}

impl<'a> Barriers<'a> {
    pub(super) fn new(
        program: &'a Program,
        models: &'a Models,
        reached: &'a Reached,
        results_open: bool,
    ) -> Self {
        let mut barriers = Self { program, models, reached, results_open, before: BTreeMap::new() };
        let pointed_at = pointed_at(program);
        let mut queue = VecDeque::new();
        for from in &reached.blocks {
            for to in barriers.next(*from, &pointed_at) {
                let barrier = (!reached.blocks.contains(&to)).then(|| barriers.between(*from, to));
                if let Some(barrier) = barrier.filter(|barrier| !barriers.is_excluded(barrier)) {
                    barriers.before.entry(to).or_insert(barrier);
                    queue.push_back(to);
                }
            }
        }
        while let Some(from) = queue.pop_front() {
            let barrier = barriers.before[&from].clone();
            for to in barriers.next(from, &pointed_at) {
                if !reached.blocks.contains(&to) && !barriers.before.contains_key(&to) {
                    barriers.before.insert(to, barrier.clone());
                    queue.push_back(to);
                }
            }
        }
        barriers
    }

    /// The block of a site.
    pub(super) fn node_of(&self, site: SiteId) -> Option<Node> {
        let function = self.program.sites.get(site)?.function;
        let blocks = &self.program.functions.get(function)?.blocks;
        let block = blocks.iter().rfind(|(_, block)| block.first_site <= site)?.0;
        Some((function, block))
    }

    /// What kept executions from a block. `None`: they were there, or nothing but a failed allocation, creation or initialisation
    /// may lead there, which A-MALLOC and A-THREAD exclude.
    pub(super) fn before(&self, node: Node) -> Option<&Barrier> {
        self.before.get(&node)
    }

    fn is_excluded(&self, barrier: &Barrier) -> bool {
        let Barrier::Branch { decided_by: Some(decision), .. } = barrier else { return false };
        match self.models.meanings.get(decision.callee) {
            Some(Meaning::Effect(effect, assumptions)) => {
                decision.untaken == Untaken::Failure
                    && assumptions.iter().any(|id| ["A-MALLOC", "A-THREAD"].contains(id))
                    && !(self.results_open && self.may_ask_for_nothing(decision.call, effect))
            }
            _ => false,
        }
    }

    /// Whether a call may allocate a block of no bytes, which may be null without a failure (C11 7.22.3).
    fn may_ask_for_nothing(&self, call: SiteId, effect: &Effect) -> bool {
        let Some(block) = effect.memory().allocates else { return false };
        let Some(Code::Inst(Inst::Call { args, .. })) = self.program.code_at(call) else { return true };
        let some = |arg: Arg| {
            let size = args.get(usize::from(arg.0)).map(|arg| arg.value);
            matches!(size, Some(Operand::Const(size)) if size != 0)
        };
        !match block.size {
            Extent::Fixed { .. } | Extent::CString | Extent::CStringUpTo(_) | Extent::StringOf(_) => true,
            Extent::Arg(arg) | Extent::Times(arg, _) | Extent::TimesWords(arg, _) | Extent::Pages(arg) => {
                some(arg)
            }
            Extent::Product(a, b) => some(a) && some(b),
            Extent::ToEnd => false,
        }
    }

    /// Where control may go from a block: along its branch, and into functions that it calls or whose address it hands on.
    fn next(&self, (id, block): Node, pointed_at: &[FunctionId]) -> Vec<Node> {
        // Behind the program's functions are those by which the library calls back.
        let Some(function) = self.program.functions.get(id) else { return Vec::new() };
        let block = &function.blocks[block];
        let mut next = Vec::new();
        block.terminator.each_target(|target| next.push((id, target)));
        let mut functions = BTreeSet::new();
        for inst in &block.insts {
            match inst {
                Inst::Call { callee: Callee::Direct(callee), .. } => functions.extend([*callee]),
                Inst::Call { callee: Callee::Indirect(_), .. } => functions.extend(pointed_at),
                _ => {}
            }
            inst.each_operand(|operand| {
                if let Operand::Function(function) = operand {
                    functions.insert(function);
                }
            });
        }
        let runs = |function: &FunctionId| {
            let modelled = matches!(self.models.meanings.get(*function), Some(Meaning::Effect(..)));
            self.program.functions[*function].is_defined() && !modelled
        };
        next.extend(functions.into_iter().filter(runs).map(|function| (function, BlockId::from_index(0))));
        next
    }

    pub(super) fn words(&self, barrier: &Barrier) -> String {
        let at = |site: SiteId| place(self.program, site);
        let name = |function: FunctionId| self.program.text(self.program.functions[function].name);
        match barrier {
            Barrier::Branch {
                decided_by: Some(Decision { call, callee, untaken: Untaken::Success }),
                ..
            } => {
                format!("the call of `{}` at {} failed in every execution", name(*callee), at(*call))
            }
            Barrier::Branch { at: branch, decided_by: Some(Decision { call, callee, .. }) } => format!(
                "the branch at {}, on the result of `{}` at {}, always went another way",
                at(*branch),
                name(*callee),
                at(*call)
            ),
            Barrier::Branch { at: branch, decided_by: None } => {
                format!("the branch at {} always went another way", at(*branch))
            }
            Barrier::NotCalled(function) => format!("`{}` was never called", name(*function)),
            Barrier::Ended(site) => format!("no execution got past {}", at(*site)),
        }
    }

    /// Between a block that was entered and one that was not.
    fn between(&self, from: Node, to: Node) -> Barrier {
        let block = &self.program.functions[from.0].blocks[from.1];
        let mut targets = Vec::new();
        block.terminator.each_target(|target| targets.push(target));
        if from.0 != to.0 || !targets.contains(&to.1) {
            return Barrier::NotCalled(to.0);
        }
        if !targets.iter().any(|target| self.reached.blocks.contains(&(from.0, *target))) {
            return Barrier::Ended(last_call(block));
        }
        let decided_by = self.decision(&self.program.functions[from.0], block, to.1);
        Barrier::Branch { at: block.terminator_site(), decided_by }
    }

    /// The call that decides whether the branch goes to `to`, where one alone does.
    fn decision(&self, function: &Function, block: &Block, to: BlockId) -> Option<Decision> {
        let (value, compared) = match &block.terminator {
            Terminator::CondBr { cond, then, .. } => {
                let compared = comparison(function, *cond);
                let value = compared.map_or(*cond, |(_, _, value, _)| value);
                (value, compared.map(|(pred, ty, _, with)| (pred, ty, with, *then == to)))
            }
            Terminator::Switch { value, .. } => (*value, None),
            _ => return None,
        };
        let (call, callee) = called(function, value, 0)?;
        let may_fail = !ALWAYS_SUCCEED.contains(&self.program.text(self.program.functions[callee].name));
        let untaken = compared.filter(|_| may_fail).map_or(Untaken::Unclear, |(pred, ty, with, then)| {
            let [bad, good] = results(ty).map(|result| holds(pred, ty, result, with));
            match bad {
                _ if bad == good => Untaken::Unclear,
                Some(goes) if goes == then => Untaken::Failure,
                Some(_) => Untaken::Success,
                None => Untaken::Unclear,
            }
        });
        Some(Decision { call, callee, untaken })
    }
}

/// "Shall always be successful and no return value is reserved to indicate an error" (POSIX).
const ALWAYS_SUCCEED: [&str; 6] = ["getuid", "geteuid", "getgid", "getegid", "getpid", "getppid"];

/// The last call of a block, else its end.
fn last_call(block: &Block) -> SiteId {
    let at = block.insts.iter().rposition(|inst| matches!(inst, Inst::Call { .. }));
    block.site_of(at.unwrap_or(block.insts.len()))
}

/// The value that is compared, and with which constant.
fn comparison(function: &Function, cond: Operand) -> Option<(IcmpPred, Ty, Operand, u128)> {
    let Some(&Inst::Icmp { pred, ty, a, b, .. }) = definition(function, cond).map(|(inst, _)| inst) else {
        return None;
    };
    match b {
        Operand::Const(with) => Some((pred, ty, a, with)),
        Operand::Null => Some((pred, ty, a, 0)),
        _ => None,
    }
}

/// What functions return when they fail, and when they do not: -1 and 0, or a null pointer and another.
fn results(ty: Ty) -> [u128; 2] {
    match ty {
        Ty::Int(bits) if bits < 128 => [(1 << bits) - 1, 0],
        Ty::Int(_) => [u128::MAX, 0],
        Ty::Ptr | Ty::Float(_) => [0, 1],
    }
}

fn holds(pred: IcmpPred, ty: Ty, a: u128, b: u128) -> Option<bool> {
    let signed = |value: u128| match ty {
        Ty::Int(bits @ 1..=128) => {
            Some((value << (128 - u32::from(bits))) as i128 >> (128 - u32::from(bits)))
        }
        _ => None,
    };
    Some(match pred {
        IcmpPred::Eq => a == b,
        IcmpPred::Ne => a != b,
        IcmpPred::Ult => a < b,
        IcmpPred::Ule => a <= b,
        IcmpPred::Ugt => a > b,
        IcmpPred::Uge => a >= b,
        IcmpPred::Slt => signed(a)? < signed(b)?,
        IcmpPred::Sle => signed(a)? <= signed(b)?,
        IcmpPred::Sgt => signed(a)? > signed(b)?,
        IcmpPred::Sge => signed(a)? >= signed(b)?,
    })
}

/// Copies and conversions that are followed from a branch to a call.
const MOST_COPIES: u32 = 8;

/// The direct call whose result a value is.
fn called(function: &Function, value: Operand, copies: u32) -> Option<(SiteId, FunctionId)> {
    match definition(function, value)? {
        (Inst::Call { callee: Callee::Direct(callee), .. }, site) => Some((site, *callee)),
        (Inst::Cast { a, .. } | Inst::Copy { a, .. }, _) if copies < MOST_COPIES => {
            called(function, *a, copies + 1)
        }
        _ => None,
    }
}

fn definition(function: &Function, operand: Operand) -> Option<(&Inst, SiteId)> {
    let Operand::Reg(wanted) = operand else { return None };
    let defines = |inst: &Inst| {
        let mut found = false;
        inst.each_dst(|dst: Reg| found |= dst == wanted);
        found
    };
    function.blocks.values().find_map(|block| {
        let index = block.insts.iter().position(defines)?;
        Some((&block.insts[index], block.site_of(index)))
    })
}

/// Functions that a call through a pointer may call.
fn pointed_at(program: &Program) -> Vec<FunctionId> {
    let kept = program.globals.values().filter_map(|global| global.init.as_ref());
    let in_tables: BTreeSet<FunctionId> = kept
        .flat_map(|init| &init.relocations)
        .filter_map(|relocation| match relocation.target {
            SymbolRef::Function(function) => Some(function),
            SymbolRef::Global(_) | SymbolRef::Block(..) => None,
        })
        .collect();
    let taken =
        program.functions.iter().filter(|(id, function)| function.address_taken || in_tables.contains(id));
    taken.map(|(id, _)| id).collect()
}
