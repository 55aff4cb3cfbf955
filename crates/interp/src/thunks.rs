//! Functions without a body to run, as functions that can be entered: a library function given as a callback, a thread's start or a
//! destructor (`qsort(…, strcmp)`, `pthread_key_create(&k, free)`) is called from a small body made for it.

use raddle_base::{IdVec, SiteId};
use raddle_ir::{
    Block, CallArg, Callee, Function, FunctionId, Inst, Operand, Program, Reg, RegInfo, SiteInfo, Terminator,
};
use raddle_libmodel::{Meaning, Models};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The program with such a body for every function whose address is taken and whose call means more than its own body.
pub(crate) struct Thunked {
    pub program: Arc<Program>,
    pub models: Arc<Models>,
    pub thunks: BTreeMap<FunctionId, FunctionId>,
}

pub(crate) fn add(program: Arc<Program>, models: Arc<Models>) -> Thunked {
    let wanted: Vec<FunctionId> = program
        .functions
        .iter()
        .filter(|(id, function)| {
            function.address_taken
                && matches!(models.meanings.get(*id), Some(Meaning::Effect(..) | Meaning::AtomicBody))
        })
        .map(|(id, _)| id)
        .collect();
    let mut thunks = BTreeMap::new();
    if wanted.is_empty() {
        return Thunked { program, models, thunks };
    }
    let (mut program, mut models) = (Program::clone(&program), Models::clone(&models));
    for target in wanted {
        let thunk = thunk(&mut program, target);
        let id = program.functions.push(thunk);
        models.meanings.push(Meaning::Body);
        thunks.insert(target, id);
    }
    Thunked { program: Arc::new(program), models: Arc::new(models), thunks }
}

fn thunk(program: &mut Program, target: FunctionId) -> Function {
    let function = program.functions[target].clone();
    let id = FunctionId(program.functions.len() as u32);
    let first_site = SiteId(program.sites.len() as u32);
    for _ in 0..2 {
        program.sites.push(SiteInfo { function: id, span: function.span });
    }
    let mut regs: IdVec<Reg, RegInfo> = IdVec::new();
    let mut args = Vec::new();
    let mut params = Vec::new();
    for param in &function.params {
        let info = function.regs[param.reg].clone();
        let ty = info.ty;
        let reg = regs.push(info);
        args.push(CallArg { value: Operand::Reg(reg), ty, by_value: param.by_value, place: None });
        params.push(raddle_ir::Param { reg, ..param.clone() });
    }
    let dsts: Vec<Reg> = function
        .returns
        .iter()
        .map(|ty| regs.push(RegInfo { ty: *ty, name: None, debug_type: None }))
        .collect();
    let values = dsts.iter().map(|reg| Operand::Reg(*reg)).collect();
    let call = Inst::Call { dsts, callee: Callee::Direct(target), args };
    let block =
        Block { phis: Vec::new(), first_site, insts: vec![call], terminator: Terminator::Ret { values } };
    Function {
        params,
        regs,
        blocks: IdVec::from_vec(vec![block]),
        address_taken: false,
        variadic: false,
        ..function
    }
}
