//! Calls: arguments to parameters, results back, callbacks of the library, variadic arguments.
//!
//! Variadic arguments of a function live in one object of its own ([`ObjectKind::Parameter`] with the number of named parameters),
//! at any offset; a `va_list` points there.

use super::graph::Node;
use super::memory::{WIDEST, Width};
use super::objects::LibraryPart;
use super::sets::{LOSE, SAME};
use super::solver::{FunctionNodes, Solver, UseKind};
use raddle_base::Id;
use raddle_facts::{ObjectKind, Offsets};
use raddle_ir::{CallArg, Callee, DataModel, FunctionId, Operand, Reg, SiteId, Ty};
use raddle_libmodel::memory::When;
use raddle_libmodel::{Effect, Meaning};

/// A place from where functions are called.
#[derive(Clone)]
pub(super) struct Invoke {
    pub site: SiteId,
    pub how: How,
    pub args: Vec<Passed>,
    /// Registers for the results: none for callbacks.
    pub results: Vec<Result>,
    /// The pointer that is called; `None` for a direct call.
    pub pointer: Option<Node>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Call,
    Callback(When),
}

#[derive(Clone, Copy, Default)]
pub(super) struct Passed {
    pub node: Option<Node>,
    /// A copy of that many bytes.
    pub by_value: Option<u64>,
    pub number: Option<i64>,
    /// It is this function's address, as written.
    pub function: Option<FunctionId>,
}

#[derive(Clone, Copy)]
pub(super) struct Result {
    pub node: Node,
    pub ty: Ty,
}

impl Solver<'_> {
    pub(super) fn call(
        &mut self,
        f: FunctionId,
        site: SiteId,
        dsts: &[Reg],
        callee: Callee,
        args: &[CallArg],
    ) {
        let args = args
            .iter()
            .map(|arg| Passed {
                node: self.operand(f, arg.value),
                by_value: arg.by_value.map(|(bytes, _)| bytes),
                number: self.number(f, arg.value, arg.ty),
                function: match arg.value {
                    Operand::Function(function) => Some(function),
                    _ => None,
                },
            })
            .collect();
        let results = dsts
            .iter()
            .map(|dst| Result { node: self.result(f, *dst), ty: self.program.functions[f].regs[*dst].ty })
            .collect();
        let (pointer, direct) = match callee {
            Callee::Direct(target) | Callee::Indirect(Operand::Function(target)) => (None, Some(target)),
            Callee::Indirect(operand) => {
                let node = self.operand(f, operand);
                (Some(node.unwrap_or_else(|| self.graph.node())), None)
            }
        };
        let invoke = self.new_invoke(Invoke { site, how: How::Call, args, results, pointer });
        if let Some(target) = direct {
            if matches!(callee, Callee::Indirect(_)) {
                self.targets.push((site, target));
            }
            self.invoke(invoke, target);
        }
    }

    pub(super) fn has_body(&self, function: FunctionId) -> bool {
        matches!(self.models.meanings[function], Meaning::Body | Meaning::AtomicBody)
    }

    /// Where a result goes.
    fn result(&mut self, f: FunctionId, dst: Reg) -> Node {
        let raw = self.graph.node();
        let node = self.as_declared(f, dst, raw);
        if node == raw {
            return self.reg(f, dst);
        }
        let reg = self.reg(f, dst);
        self.graph.edge(&mut self.sets, node, reg, SAME);
        raw
    }

    pub(super) fn new_invoke(&mut self, invoke: Invoke) -> u32 {
        let index = self.invokes.len() as u32;
        let pointer = invoke.pointer;
        self.invokes.push(invoke);
        if let Some(pointer) = pointer {
            self.look_through(pointer, UseKind::Invoke(index));
        }
        index
    }

    /// The call may run this function.
    pub(super) fn invoke(&mut self, index: u32, target: FunctionId) {
        if !self.invoked.insert((index, target)) {
            return;
        }
        let invoke = self.invokes[index as usize].clone();
        if invoke.pointer.is_some() {
            self.targets.push((invoke.site, target));
        }
        match &self.models.meanings[target] {
            Meaning::Body | Meaning::AtomicBody => self.run_body(&invoke, target),
            Meaning::Unknown => self.unknown_call(&invoke),
            Meaning::Effect(Effect::Unsupported { .. }, _) => self.unsupported_call(&invoke, target),
            Meaning::Effect(effect, _) => self.library_call(&invoke, effect),
        }
    }

    /// It may call functions that the call names, with anything that it was given or has; see [`super::foreign`].
    fn unknown_call(&mut self, invoke: &Invoke) {
        let anything = self.foreign_call(invoke);
        for function in invoke.args.iter().filter_map(|arg| arg.function) {
            let count = self.program.functions[function].params.len();
            let args = vec![Passed { node: Some(anything), ..Passed::default() }; count];
            let how = How::Callback(When::Now);
            let (site, results) = (invoke.site, Vec::new());
            let callback = self.new_invoke(Invoke { site, how, args, results, pointer: None });
            self.targets.push((site, function));
            self.invoke(callback, function);
        }
    }

    /// Reaching it is a gap.
    fn unsupported_call(&mut self, invoke: &Invoke, target: FunctionId) {
        let unknown = self.unknown_of(target);
        for result in &invoke.results {
            if self.is_wide_enough(result.ty) {
                self.graph.edge(&mut self.sets, unknown, result.node, SAME);
            }
        }
    }

    fn run_body(&mut self, invoke: &Invoke, target: FunctionId) {
        self.need(target);
        let function = &self.program.functions[target];
        for (index, param) in function.params.iter().enumerate() {
            let Some(Passed { node: Some(node), by_value, .. }) = invoke.args.get(index).copied() else {
                continue;
            };
            match param.by_value.map(|(bytes, _)| bytes).or(by_value) {
                Some(bytes) => {
                    let object = self.object(ObjectKind::Parameter(target, index as u32), Some(bytes));
                    let copy = self.constant(object, Offsets::exact(0));
                    let reg = self.reg(target, param.reg);
                    self.graph.edge(&mut self.sets, copy, reg, SAME);
                    self.copy_bytes(copy, node, bytes);
                }
                None => {
                    let reg = self.reg(target, param.reg);
                    self.graph.edge(&mut self.sets, node, reg, SAME);
                }
            }
        }
        if function.variadic {
            self.pass_variadic(invoke, target);
        }
        for (index, result) in invoke.results.iter().enumerate() {
            let returned = self.returned(target, index);
            self.graph.edge(&mut self.sets, returned, result.node, SAME);
        }
        if invoke.how == How::Callback(When::NewThread) {
            let returned = self.returned(target, 0);
            let cell = self.library(LibraryPart::ThreadResult);
            self.store(cell, returned, self.word());
        }
    }

    /// The function is analysed from now on.
    pub(super) fn need(&mut self, id: FunctionId) {
        if self.functions[id.index()].is_some() {
            return;
        }
        let function = &self.program.functions[id];
        self.functions[id.index()] =
            Some(FunctionNodes { regs: vec![None; function.regs.len()], returns: Vec::new() });
        for (index, param) in function.params.iter().enumerate() {
            let reg = self.reg(id, param.reg);
            if let Some((bytes, _)) = param.by_value {
                let object = self.object(ObjectKind::Parameter(id, index as u32), Some(bytes));
                let copy = self.constant(object, Offsets::exact(0));
                self.graph.edge(&mut self.sets, copy, reg, SAME);
            }
        }
        for index in 0..function.returns.len() {
            self.returned(id, index);
        }
        if function.is_defined() {
            self.pending_functions.push(id);
        }
    }

    /// A pointer to the variadic arguments of a function.
    fn variadic_area(&mut self, target: FunctionId) -> Node {
        let index = self.program.functions[target].params.len() as u32;
        let object = self.object(ObjectKind::Parameter(target, index), None);
        self.constant(object, Offsets::ANY)
    }

    fn pass_variadic(&mut self, invoke: &Invoke, target: FunctionId) {
        let named = self.program.functions[target].params.len();
        let area = self.variadic_area(target);
        for arg in invoke.args.iter().skip(named) {
            let Some(node) = arg.node else { continue };
            match arg.by_value {
                Some(bytes) => self.copy_bytes(area, node, bytes),
                None => self.store(area, node, self.word()),
            }
        }
    }

    /// The size of a `va_list`.
    pub(super) fn list_bytes(&self) -> u64 {
        match self.program.data_model {
            DataModel::Lp64 => 24,
            DataModel::Ilp32 => 4,
        }
    }

    pub(super) fn va_start(&mut self, f: FunctionId, list: Operand) {
        let Some(list) = self.operand(f, list) else { return };
        let area = self.variadic_area(f);
        for field in self.list_pointers() {
            let shift = self.sets.shift(Offsets::exact(*field));
            let place = self.shifted(list, shift);
            self.store(place, area, self.word());
        }
    }

    /// Where a `va_list` keeps its pointers: overflow and register area, both the same object here.
    fn list_pointers(&self) -> &'static [i64] {
        match self.program.data_model {
            DataModel::Lp64 => &[8, 16],
            DataModel::Ilp32 => &[0],
        }
    }

    pub(super) fn next_argument(&mut self, list: Node, ty: Ty) -> Node {
        let shift = self.sets.shift(Offsets::exact(self.list_pointers()[0]));
        let place = self.shifted(list, shift);
        let area = self.loaded(place, self.word());
        let anywhere = self.shifted(area, LOSE);
        self.store(place, anywhere, self.word());
        self.loaded(anywhere, Width::address(ty.access_bytes(self.pointer_bytes).min(WIDEST)))
    }
}
