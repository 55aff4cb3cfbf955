//! What static analysis tells the pruned search: which pairs of accesses may race at all, and which of them a thread can still come to.
//!
//! The pairs are those that `certify` could not exclude by facts it has checked; before the first race of a run all of them hold, so a
//! state with none of these pairs ahead is followed by no race. What lies ahead comes from the program text alone: the rest
//! of each function on the stack, and everything that its calls may come to. A call through a pointer may come to any function whose
//! address is taken; functions that are handed to something else than thread creation may be called at any time (handlers at
//! exit, destructors of thread-specific data, callbacks). Errs towards more.
//!
//! For a machine that reports the branches that may go another way ([`StaticOracle::reported`]), it also tells what their other sides would
//! do ([`sides`]), and what of a run is the same in every run ([`varying`]).

mod shape;
mod sides;
mod varying;

use raddle_base::{IdVec, SiteId};
use raddle_event::Addr;
use raddle_explore::pdp::{Ahead, Oracle, Untaken};
use raddle_interp::ReportedBranches;
use raddle_ir::{BlockId, Callee, Function, FunctionId, GlobalId, Inst, Operand, Program, SymbolRef};
use raddle_libmodel::{Effect, Meaning, Models, ThreadOp};
use sides::{Handlers, Sides};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// Static facts as an oracle. An answer that used it rests on the assumptions of the static analysis, too.
pub struct StaticOracle<'p> {
    program: &'p Program,
    models: &'p Models,
    pairs: Pairs,
    /// Sites of open pairs.
    relevant: BTreeSet<SiteId>,
    functions: IdVec<FunctionId, Code>,
    blocks: BTreeMap<SiteId, (FunctionId, BlockId)>,
    /// Whatever a call of this function comes to.
    whole: IdVec<FunctionId, Reach>,
    /// What may be called at any time.
    anytime: Reach,
    /// What any function whose address is taken comes to, and `main`.
    anything: Reach,
    /// For a machine that reports branches.
    branches: Option<Branches<'p>>,
}

/// Which pairs of sites may race.
pub enum Pairs {
    /// Those of [`open_pairs`](raddle_certify::statics::open_pairs).
    Open(BTreeSet<(SiteId, SiteId)>),
    Any,
}

struct Branches<'p> {
    sides: Sides<'p>,
    elsewhere: BTreeSet<SiteId>,
    reported: Arc<ReportedBranches>,
    untaken: Answers<(SiteId, u32), Untaken>,
}

/// What was asked before; `None`: nothing is known.
type Answers<Q, A> = RefCell<HashMap<Q, Option<Rc<A>>>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Reach {
    sites: BTreeSet<SiteId>,
    creates_threads: bool,
}

impl Reach {
    /// Whether it has grown.
    fn add(&mut self, other: &Reach) -> bool {
        let before = (self.sites.len(), self.creates_threads);
        self.sites.extend(&other.sites);
        self.creates_threads |= other.creates_threads;
        before != (self.sites.len(), self.creates_threads)
    }
}

#[derive(Default)]
struct Code {
    blocks: Vec<Vec<Step>>,
    successors: Vec<Vec<usize>>,
}

struct Step {
    site: SiteId,
    calls: Calls,
}

/// Where in an instruction the thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Before,
    /// In a function that it called.
    Inside,
}

enum Calls {
    Nothing,
    One(FunctionId),
    /// A thread that starts here; `None`: in any function.
    Thread(Option<FunctionId>),
    Anything,
}

impl<'p> StaticOracle<'p> {
    pub fn new(program: &'p Program, models: &'p Models, pairs: Pairs) -> Self {
        let relevant = match &pairs {
            Pairs::Open(open) => open.iter().flat_map(|(a, b)| [*a, *b]).collect(),
            Pairs::Any => BTreeSet::new(),
        };
        let functions: IdVec<FunctionId, Code> =
            program.functions.values().map(|function| code(models, function)).collect();
        let mut blocks = BTreeMap::new();
        for (id, function) in program.functions.iter() {
            for (block, body) in function.blocks.iter() {
                blocks.insert(body.first_site, (id, block));
            }
        }
        let mut oracle = StaticOracle {
            program,
            models,
            pairs,
            relevant,
            blocks,
            whole: program.functions.values().map(|_| Reach::default()).collect(),
            functions,
            anytime: Reach::default(),
            anything: Reach::default(),
            branches: None,
        };
        oracle.solve(&taken(program), &called_by_others(program, models));
        oracle
    }

    /// For a machine that reports the branches of [`Self::reported`]. `address` says where a global is.
    pub fn with_branches(mut self, address: impl Fn(GlobalId) -> Option<Addr>) -> Self {
        let (program, models) = (self.program, self.models);
        // A robust mutex can fail to be taken because of what another thread did.
        let robust =
            program.functions.values().any(|function| program.text(function.symbol).contains("robust"));
        let Some(shapes) = shape::shapes(program).filter(|_| !robust) else { return self };
        let varying = varying::varying(program, models, &shapes);
        let addresses = program.globals.ids().map(address).collect();
        let cleanup = |meaning: &Meaning| {
            matches!(meaning, Meaning::Effect(Effect::Thread(ThreadOp::CleanupRegister, _), _))
        };
        let cleans_up = models.meanings.values().any(cleanup);
        let handlers = match called_by_others(program, models).is_empty() && !cleans_up {
            true => Handlers::None,
            false => Handlers::Some,
        };
        self.branches = Some(Branches {
            sides: Sides::new(program, models, shapes, addresses, handlers),
            elsewhere: varying.sites,
            reported: Arc::new(varying.reported),
            untaken: Answers::default(),
        });
        self
    }

    /// The branches that the machine has to report.
    pub fn reported(&self) -> Arc<ReportedBranches> {
        self.branches.as_ref().map(|branches| branches.reported.clone()).unwrap_or_default()
    }

    fn block_of(&self, site: SiteId) -> Option<(SiteId, FunctionId, BlockId)> {
        let (first, (function, block)) = self.blocks.range(..=site).next_back()?;
        Some((*first, *function, *block))
    }

    fn solve(&mut self, taken: &[FunctionId], others: &BTreeSet<FunctionId>) {
        let mut grows = true;
        while grows {
            grows = false;
            for function in self.functions.ids() {
                let mut reach = Reach::default();
                for block in &self.functions[function].blocks {
                    block.iter().for_each(|step| self.step(step, &mut reach));
                }
                grows |= self.whole[function].add(&reach);
            }
            let mut anything = Reach::default();
            taken.iter().for_each(|function| {
                anything.add(&self.whole[*function]);
            });
            grows |= self.anything.add(&anything);
        }
        let mut anytime = Reach::default();
        others.iter().for_each(|function| {
            anytime.add(&self.whole[*function]);
        });
        self.anytime = anytime;
    }

    fn step(&self, step: &Step, reach: &mut Reach) {
        if self.matters(step.site) {
            reach.sites.insert(step.site);
        }
        match step.calls {
            Calls::Nothing => {}
            Calls::One(function) => {
                reach.add(&self.whole[function]);
            }
            Calls::Thread(function) => {
                reach.creates_threads = true;
                reach.add(function.map_or(&self.anything, |function| &self.whole[function]));
            }
            Calls::Anything => {
                reach.add(&self.anything);
            }
        }
    }

    /// From this site on, to the end of its function; `None`: the site is not of this program.
    fn rest(&self, site: SiteId, from: From, reach: &mut Reach) -> Option<()> {
        let (first, function, block) = self.block_of(site)?;
        let code = &self.functions[function];
        let at = (site.0 - first.0) as usize;
        let steps = code.blocks.get(block.0 as usize).filter(|steps| at <= steps.len())?;
        let done = usize::from(from == From::Inside);
        steps.iter().skip(at + done).for_each(|step| self.step(step, reach));
        let mut seen = vec![false; code.blocks.len()];
        let mut left = code.successors[block.0 as usize].clone();
        while let Some(next) = left.pop() {
            if !std::mem::replace(&mut seen[next], true) {
                code.blocks[next].iter().for_each(|step| self.step(step, reach));
                left.extend(&code.successors[next]);
            }
        }
        Some(())
    }
}

impl Oracle for StaticOracle<'_> {
    fn may_race(&self, a: SiteId, b: SiteId) -> bool {
        match &self.pairs {
            Pairs::Open(open) => open.contains(&(a.min(b), a.max(b))),
            Pairs::Any => true,
        }
    }

    fn matters(&self, site: SiteId) -> bool {
        match self.pairs {
            Pairs::Open(_) => self.relevant.contains(&site),
            Pairs::Any => true,
        }
    }

    fn untaken(&self, branch: SiteId, taken: u32) -> Option<Rc<Untaken>> {
        let branches = self.branches.as_ref()?;
        if let Some(known) = branches.untaken.borrow().get(&(branch, taken)) {
            return known.clone();
        }
        let (_, function, block) = self.block_of(branch)?;
        let ends_here = self.program.functions[function].blocks[block].terminator_site() == branch;
        let found = branches.sides.untaken(function, block, BlockId(taken)).filter(|_| ends_here);
        let found = found.map(|mut untaken| {
            untaken.accesses.retain(|access| self.matters(access.site));
            Rc::new(untaken)
        });
        branches.untaken.borrow_mut().insert((branch, taken), found.clone());
        found
    }

    fn is_fixed(&self, site: SiteId) -> bool {
        self.branches.as_ref().is_some_and(|branches| !branches.elsewhere.contains(&site))
    }

    fn ahead(&self, stack: &[SiteId]) -> Option<Ahead> {
        let mut reach = self.anytime.clone();
        for (depth, site) in stack.iter().enumerate() {
            let from = if depth == 0 { From::Before } else { From::Inside };
            if self.rest(*site, from, &mut reach).is_none() {
                reach.add(&self.anything);
            }
        }
        Some(Ahead { sites: reach.sites.into_iter().collect(), creates_threads: reach.creates_threads })
    }

    fn reports_branches(&self) -> bool {
        self.branches.is_some()
    }
}

fn code(models: &Models, function: &Function) -> Code {
    let mut code = Code::default();
    for block in function.blocks.values() {
        let step = |(index, inst): (usize, &Inst)| Step {
            site: SiteId(block.first_site.0 + index as u32),
            calls: calls(models, inst),
        };
        code.blocks.push(block.insts.iter().enumerate().map(step).collect());
        let mut successors = Vec::new();
        block.terminator.each_target(|target| successors.push(target.0 as usize));
        code.successors.push(successors);
    }
    code
}

fn calls(models: &Models, inst: &Inst) -> Calls {
    let Inst::Call { callee, args, .. } = inst else { return Calls::Nothing };
    let Callee::Direct(callee) = callee else { return Calls::Anything };
    match models.meanings.get(*callee) {
        Some(Meaning::Effect(Effect::Thread(op, _), _)) => match start(op) {
            Some(start) => Calls::Thread(match args.get(start).map(|arg| arg.value) {
                Some(Operand::Function(function)) => Some(function),
                _ => None,
            }),
            None => Calls::Nothing,
        },
        // What a library function calls was handed to it, so it may be called at any time.
        Some(Meaning::Effect(..)) => Calls::Nothing,
        _ => Calls::One(*callee),
    }
}

/// The argument that is the function of a new thread.
fn start(op: &ThreadOp) -> Option<usize> {
    match op {
        ThreadOp::Create { function, .. } | ThreadOp::CreateReturning { function, .. } => {
            Some(function.0 as usize)
        }
        _ => None,
    }
}

/// Functions that can be called through a pointer, and `main`, which a thread that has not begun is going to run.
fn taken(program: &Program) -> Vec<FunctionId> {
    let main = program.function_by_symbol("main");
    let mut taken: BTreeSet<FunctionId> = named_in_globals(program);
    for function in program.functions.values() {
        each_named(function, |_, named| {
            taken.insert(named);
        });
    }
    taken.into_iter().chain(main).chain(program.constructors.iter().copied()).collect()
}

/// Functions that something else than a call or a thread creation knows of, and those that run at the end.
fn called_by_others(program: &Program, models: &Models) -> BTreeSet<FunctionId> {
    let mut others = named_in_globals(program);
    others.extend(&program.destructors);
    for function in program.functions.values() {
        each_named(function, |inst, named| {
            let starts_thread =
                inst.is_some_and(|inst| matches!(calls(models, inst), Calls::Thread(Some(f)) if f == named));
            if !starts_thread {
                others.insert(named);
            }
        });
    }
    others
}

fn named_in_globals(program: &Program) -> BTreeSet<FunctionId> {
    let inits = program.globals.values().filter_map(|global| global.init.as_ref());
    let relocations = inits.flat_map(|init| &init.relocations);
    let functions = relocations.filter_map(|relocation| match relocation.target {
        SymbolRef::Function(function) => Some(function),
        SymbolRef::Global(_) | SymbolRef::Block(..) => None,
    });
    functions.collect()
}

/// Functions whose address an operand is, with the instruction; direct callees are none.
fn each_named<'p>(function: &'p Function, mut visit: impl FnMut(Option<&'p Inst>, FunctionId)) {
    let mut operand = |inst: Option<&'p Inst>, operand: Operand| {
        if let Operand::Function(function) = operand {
            visit(inst, function);
        }
    };
    for block in function.blocks.values() {
        block.phis.iter().flat_map(|phi| &phi.incoming).for_each(|(_, value)| operand(None, *value));
        for inst in &block.insts {
            inst.each_operand(|value| operand(Some(inst), value));
        }
        block.terminator.each_operand(|value| operand(None, value));
    }
}
