//! Expansion: functions copied per calling context, loops with a constant number of iterations laid out in a line, and code behind calls
//! that never come back cut off, by a recipe.
//!
//! The result is an ordinary valid program with the same executions, and maps back to the original. Part of the trusted base: a
//! policy that nobody trusts writes the recipe, `certify` applies it again. What a recipe asks for is done only if it is proved here
//! to change nothing, and refused otherwise.
//!
//! * A copy of a function has the same body, registers and places under a symbol of its own (`worker#3`). A call, or the function
//!   argument of a call to a function without a body (`pthread_create`), may name any copy of the function that it named. Functions
//!   whose blocks have addresses (computed goto) are not copied.
//! * A loop is unrolled if it is a natural loop with a branch that each iteration passes before it goes round, and this branch,
//!   computed on constants (`trips`), stays exactly as often as the recipe says: `for`, `while` and `do` loops over a counter, with
//!   `break`, `return`, `goto` and `continue` inside. Not unrolled: counters in memory, bounds in variables that are not `const`,
//!   functions whose blocks have addresses.
//! * Phis of an unrolled header stay phis, with one entry each, so every expanded block has the instructions of its original block one
//!   for one; only the resolved branch differs. The condition is still computed.
//! * Behind calls of functions that never return a block ends (`endings`).
//!
//! The program given must be well formed ([`crate::verify`]); what comes out is verified.

mod body;
mod endings;
mod loops;
mod parts;
mod places;
mod recipe;
mod trips;
mod unroll;

pub use body::{BlockOrigin, Body};
pub use endings::never_returning;
pub use loops::Loop;
pub use places::Places;
pub use recipe::{FunctionCopy, Recipe, Retarget, Slot, Unroll};

use crate::{
    BlockId, Callee, Function, FunctionId, Inst, Operand, Program, SiteId, SiteInfo, Symbol, SymbolRef,
    Terminator, VerifyError, verify,
};
use raddle_base::{Id, IdVec};
use std::collections::{HashMap, HashSet};

/// Sites of an expanded program beyond this are refused.
const MOST_SITES: usize = 1 << 26;

pub fn apply(program: &Program, recipe: &Recipe) -> Result<Expanded, ExpandError> {
    check_prefix(program, recipe)?;
    endings::check(program, &recipe.never_return)?;
    let copyable = copyable(program);
    let mut places = Places::default();
    let mut out = Expanded {
        program: Program { functions: IdVec::new(), sites: IdVec::new(), ..without_code(program) },
        site_origin: IdVec::new(),
        function_origin: IdVec::new(),
        block_origin: IdVec::new(),
    };
    let addresses: HashSet<FunctionId> = recipe
        .functions
        .iter()
        .flat_map(|copy| &copy.retarget)
        .filter(|retarget| matches!(retarget.slot, Slot::Argument(_)))
        .map(|retarget| retarget.to)
        .collect();
    let mut symbols: HashSet<Symbol> = program.functions.values().map(|f| f.symbol).collect();
    for (index, copy) in recipe.functions.iter().enumerate() {
        let origin = program.functions.get(copy.origin).ok_or(ExpandError::NoFunction(copy.origin))?;
        let is_copy = index >= program.functions.len();
        if (is_copy || !copy.unroll.is_empty()) && !copyable[copy.origin] {
            return Err(ExpandError::NotCopyable(program.text(origin.symbol).to_owned()));
        }
        let mut body = Body::of(origin);
        for step in &copy.unroll {
            body.unroll(step, program, &mut places)?;
        }
        retarget(program, recipe, copy, &mut body)?;
        let ends = |callee| origin_of(recipe, callee).is_some_and(|f| recipe.never_return.contains(&f));
        endings::cut(&mut body, ends);
        if is_copy {
            let base = program.text(origin.symbol);
            body.function.symbol = fresh_symbol(&mut out.program, &mut symbols, base, index);
            body.function.address_taken = addresses.contains(&FunctionId::from_index(index));
        }
        out.push(program, origin, copy.origin, body)?;
    }
    out.program.places = places.all(program);
    verify(&out.program).map_err(ExpandError::Malformed)?;
    Ok(out)
}

/// Which functions may be copied and unrolled: those with a body, of whose blocks no address is taken.
pub fn copyable(program: &Program) -> IdVec<FunctionId, bool> {
    let mut fine: IdVec<FunctionId, bool> =
        program.functions.values().map(|f| f.is_defined() && !names_blocks(f)).collect();
    for global in program.globals.values() {
        for relocation in global.init.iter().flat_map(|init| &init.relocations) {
            if let SymbolRef::Block(function, _) = relocation.target {
                fine[function] = false;
            }
        }
    }
    fine
}

#[derive(Clone, Debug)]
pub struct Expanded {
    pub program: Program,
    /// The original of each site.
    pub site_origin: IdVec<SiteId, SiteId>,
    pub function_origin: IdVec<FunctionId, FunctionId>,
    /// The original block, and for unrolled code the iterations.
    pub block_origin: IdVec<FunctionId, IdVec<BlockId, BlockOrigin>>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    #[error("the recipe does not start with the program's own functions in order")]
    Prefix,
    #[error("{0} does not exist")]
    NoFunction(FunctionId),
    #[error("`{0}` cannot be copied or unrolled: it has no body, or its blocks have addresses")]
    NotCopyable(String),
    #[error("the loop at {header} of `{function}` cannot be unrolled: {why}")]
    Loop { function: String, header: BlockId, why: &'static str },
    #[error("{site} cannot be led to {to}: {why}")]
    Call { site: SiteId, to: FunctionId, why: &'static str },
    #[error("`{0}` is said never to return, and that is not seen")]
    Returns(String),
    #[error("the expanded program is too large")]
    TooLarge,
    #[error("the expanded program is malformed: {}", .0.first().map_or(String::new(), ToString::to_string))]
    Malformed(Vec<VerifyError>),
}

impl Expanded {
    fn push(
        &mut self,
        program: &Program,
        origin: &Function,
        origin_id: FunctionId,
        body: Body,
    ) -> Result<(), ExpandError> {
        let Body { mut function, origin: blocks } = body;
        let id = self.function_origin.push(origin_id);
        for (block_id, block) in function.blocks.iter_mut() {
            let old = &origin.blocks[blocks[block_id].block];
            block.first_site = SiteId::from_index(self.site_origin.len());
            if self.site_origin.len() + block.insts.len() >= MOST_SITES {
                return Err(ExpandError::TooLarge);
            }
            for index in 0..=block.insts.len() {
                let site = old.site_of(index);
                self.site_origin.push(site);
                self.program.sites.push(SiteInfo { function: id, span: program.sites[site].span });
            }
        }
        self.program.functions.push(function);
        self.block_origin.push(blocks);
        Ok(())
    }
}

fn without_code(program: &Program) -> Program {
    Program {
        data_model: program.data_model,
        strings: program.strings.clone(),
        files: program.files.clone(),
        debug_types: program.debug_types.clone(),
        places: IdVec::new(),
        globals: program.globals.clone(),
        functions: IdVec::new(),
        sites: IdVec::new(),
        constructors: program.constructors.clone(),
        destructors: program.destructors.clone(),
    }
}

fn check_prefix(program: &Program, recipe: &Recipe) -> Result<(), ExpandError> {
    let own = recipe.functions.iter().map(|copy| copy.origin).take(program.functions.len());
    if own.eq(program.functions.ids()) { Ok(()) } else { Err(ExpandError::Prefix) }
}

/// Leads the named slots of the body to copies of the functions that they name.
fn retarget(
    program: &Program,
    recipe: &Recipe,
    copy: &FunctionCopy,
    body: &mut Body,
) -> Result<(), ExpandError> {
    if copy.retarget.is_empty() {
        return Ok(());
    }
    let blocks: HashMap<BlockOrigin, BlockId> =
        body.origin.iter().map(|(block, origin)| (origin.clone(), block)).collect();
    let mut done = HashSet::new();
    for Retarget { site, path, slot, to } in &copy.retarget {
        let refused = |why| ExpandError::Call { site: *site, to: *to, why };
        let old = &program.functions[copy.origin];
        let block = (program.sites.get(*site))
            .filter(|info| info.function == copy.origin)
            .and_then(|_| old.blocks.iter().find(|(_, block)| holds(block, *site)))
            .ok_or_else(|| refused("it is not a site of this function"))?;
        let origin = BlockOrigin { block: block.0, iterations: path.clone() };
        let new = *blocks.get(&origin).ok_or_else(|| refused("there is no such copy of the site"))?;
        let index = (site.0 - block.1.first_site.0) as usize;
        let target = recipe.functions.get(to.index()).ok_or(ExpandError::NoFunction(*to))?.origin;
        let Some(Inst::Call { callee, args, .. }) = body.function.blocks[new].insts.get_mut(index) else {
            return Err(refused("it is not a call"));
        };
        if !done.insert((new, index, *slot)) {
            return Err(refused("it is named twice"));
        }
        match (*slot, callee) {
            (Slot::Callee, Callee::Direct(callee)) if origin_of(recipe, *callee) == Some(target) => {
                *callee = *to;
            }
            (Slot::Argument(index), Callee::Direct(callee)) => {
                let library = origin_of(recipe, *callee).is_some_and(|f| !program.functions[f].is_defined());
                match args.get_mut(index as usize).map(|arg| &mut arg.value) {
                    Some(Operand::Function(named)) if library && *named == target => *named = *to,
                    Some(_) if !library => return Err(refused("the callee may look at the address")),
                    _ => return Err(refused("the argument is not that function")),
                }
            }
            _ => return Err(refused("it does not call that function")),
        }
    }
    Ok(())
}

fn origin_of(recipe: &Recipe, function: FunctionId) -> Option<FunctionId> {
    recipe.functions.get(function.index()).map(|copy| copy.origin)
}

fn holds(block: &crate::Block, site: SiteId) -> bool {
    (block.first_site..=block.terminator_site()).contains(&site)
}

fn fresh_symbol(program: &mut Program, used: &mut HashSet<Symbol>, base: &str, index: usize) -> Symbol {
    let mut text = format!("{base}#{index}");
    loop {
        let symbol = program.strings.intern(&text);
        if used.insert(symbol) {
            return symbol;
        }
        text.push('#');
    }
}

fn names_blocks(function: &Function) -> bool {
    let is_block = |operand: Operand| matches!(operand, Operand::Block(_));
    function.blocks.values().any(|block| {
        let mut found = matches!(block.terminator, Terminator::IndirectBr { .. });
        block.terminator.each_operand(|operand| found |= is_block(operand));
        block.insts.iter().for_each(|inst| inst.each_operand(|operand| found |= is_block(operand)));
        block.phis.iter().for_each(|phi| found |= phi.incoming.iter().any(|(_, value)| is_block(*value)));
        found
    })
}
