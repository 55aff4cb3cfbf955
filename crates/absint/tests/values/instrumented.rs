//! The facts against runs: every claim about registers, blocks and memory becomes an assertion in the program itself, and the
//! interpreter runs it under random schedules that may switch threads between any few instructions.
//!
//! Claims that name registers of other functions are not checked here: there is no way to read them.

use raddle_absint::values::Bounds;
use raddle_base::{Id, SiteId};
use raddle_facts::{Interval, Root, Term, Values};
use raddle_interp::{Interp, Options};
use raddle_ir::{
    BinOp, BlockId, CallArg, Callee, CastOp, Function, FunctionId, IcmpPred, Inst, Operand, Param, Program,
    Reg, RegInfo, SiteInfo, Ty,
};
use raddle_libmodel::{Arg, Effect, Meaning, Models, VerifierOp};
use raddle_machine::{Machine, Status, TraceSink};
use raddle_testkit::random::Random;
use std::collections::HashMap;
use std::sync::Arc;

/// The program with assertions, and what each says.
pub struct Instrumented {
    pub program: Program,
    pub models: Models,
    claims: HashMap<SiteId, String>,
}

impl Instrumented {
    pub fn claims(&self) -> usize {
        self.claims.len()
    }

    /// The claims that a run with these random choices shows to be false.
    pub fn broken(&self, options: &Options, seed: u64, steps: usize) -> Result<Vec<String>, String> {
        let mut machine =
            Interp::new(Arc::new(self.program.clone()), Arc::new(self.models.clone()), options.clone())
                .map_err(|e| e.to_string())?;
        let mut random = Random::new(seed);
        let mut choices = Vec::new();
        for _ in 0..steps {
            if machine.status() != Status::Running {
                break;
            }
            choices.clear();
            machine.enabled(&mut choices);
            let pick = if seed == 0 { 0 } else { random.below(choices.len()) };
            machine.step(choices[pick], &mut TraceSink::default());
        }
        let failed = machine.problems().iter().filter_map(|problem| self.claims.get(&problem.site).cloned());
        Ok(failed.collect())
    }
}

pub fn instrument(program: &Program, models: &Models, values: &Values) -> Instrumented {
    let mut out = program.clone();
    let name = out.strings.intern("raddle_check");
    let condition = Reg(0);
    let mut regs = raddle_base::IdVec::new();
    regs.push(RegInfo { ty: Ty::Int(32), name: None, debug_type: None });
    let check = out.functions.push(Function {
        symbol: name,
        name,
        span: None,
        in_primary_file: false,
        library_copy: false,
        exported: false,
        params: vec![Param { reg: condition, by_value: None, debug_type: None }],
        variadic: false,
        returns: Vec::new(),
        address_taken: false,
        noreturn: false,
        regs,
        blocks: raddle_base::IdVec::new(),
    });
    let mut models = models.clone();
    let assert = Effect::Verifier(VerifierOp::Assert { condition: Arg(0) });
    models.meanings.push(Meaning::Effect(assert, Vec::new()));
    let bounds = Bounds::new(program, values);
    let mut said: HashMap<(FunctionId, BlockId, usize), String> = HashMap::new();
    for (id, body) in program.functions.iter() {
        for (block_id, block) in body.blocks.iter() {
            let mut writer =
                Writer { function: &mut out.functions[id], id, check, insts: Vec::new(), said: Vec::new() };
            if !values.is_reachable(id, block_id) {
                writer.say(Operand::Const(0), format!("{id} {block_id} is not reached"));
            } else {
                if block_id == BlockId(0) {
                    body.params.iter().for_each(|param| writer.register(values, param.reg));
                }
                block.phis.iter().for_each(|phi| writer.register(values, phi.dst));
                for fact in &values.memory[id][block_id.index()] {
                    writer.memory(fact.cell, fact.bytes, fact.value);
                }
            }
            for inst in &block.insts {
                if values.is_reachable(id, block_id) {
                    inst.each_operand(|operand| {
                        if let Operand::Reg(reg) = operand {
                            let ty = body.regs[reg].ty;
                            let here = bounds.at(id, block_id, operand, ty);
                            if here != values.intervals[id][reg.index()] {
                                writer.between(reg, here);
                            }
                        }
                    });
                }
                writer.insts.push(inst.clone());
                if values.is_reachable(id, block_id) {
                    inst.each_dst(|dst| writer.register(values, dst));
                }
            }
            let Writer { insts, said: texts, .. } = writer;
            said.extend(texts.into_iter().map(|(index, text)| ((id, block_id, index), text)));
            out.functions[id].blocks[block_id].insts = insts;
        }
    }
    let claims = number(&mut out, said);
    Instrumented { program: out, models, claims }
}

/// Sites in the order of the new layout.
fn number(
    program: &mut Program,
    said: HashMap<(FunctionId, BlockId, usize), String>,
) -> HashMap<SiteId, String> {
    let mut claims = HashMap::new();
    program.sites = raddle_base::IdVec::new();
    let ids: Vec<FunctionId> = program.functions.ids().collect();
    for id in ids {
        let blocks: Vec<BlockId> = program.functions[id].blocks.ids().collect();
        for block in blocks {
            let first = SiteId(program.sites.len() as u32);
            program.functions[id].blocks[block].first_site = first;
            for index in 0..=program.functions[id].blocks[block].insts.len() {
                let site = program.sites.push(SiteInfo { function: id, span: None });
                if let Some(text) = said.get(&(id, block, index)) {
                    claims.insert(site, text.clone());
                }
            }
        }
    }
    claims
}

struct Writer<'a> {
    function: &'a mut Function,
    id: FunctionId,
    check: FunctionId,
    insts: Vec<Inst>,
    said: Vec<(usize, String)>,
}

const WORD: Ty = Ty::Int(64);

impl Writer<'_> {
    fn fresh(&mut self, ty: Ty) -> Reg {
        self.function.regs.push(RegInfo { ty, name: None, debug_type: None })
    }

    fn say(&mut self, condition: Operand, text: String) {
        self.said.push((self.insts.len(), text));
        let args = vec![CallArg { value: condition, ty: Ty::Int(32), by_value: None, place: None }];
        self.insts.push(Inst::Call { dsts: Vec::new(), callee: Callee::Direct(self.check), args });
    }

    fn compare(&mut self, pred: IcmpPred, a: Operand, b: Operand, text: String) {
        let bit = self.fresh(Ty::Int(1));
        self.insts.push(Inst::Icmp { dst: bit, pred, ty: WORD, a, b });
        let whole = self.fresh(Ty::Int(32));
        let a = Operand::Reg(bit);
        self.insts.push(Inst::Cast { dst: whole, op: CastOp::ZExt, from: Ty::Int(1), to: Ty::Int(32), a });
        self.say(Operand::Reg(whole), text);
    }

    fn cast(&mut self, op: CastOp, from: Ty, a: Operand) -> Operand {
        let dst = self.fresh(WORD);
        self.insts.push(Inst::Cast { dst, op, from, to: WORD, a });
        Operand::Reg(dst)
    }

    /// A register as a word; `None` for what is no number.
    fn word(&mut self, reg: Reg) -> Option<Operand> {
        match self.function.regs[reg].ty {
            Ty::Int(64) => Some(Operand::Reg(reg)),
            ty @ Ty::Int(bits) if bits < 64 => Some(self.cast(CastOp::SExt, ty, Operand::Reg(reg))),
            Ty::Ptr => Some(self.cast(CastOp::PtrToInt, Ty::Ptr, Operand::Reg(reg))),
            Ty::Int(_) | Ty::Float(_) => None,
        }
    }

    fn arithmetic(&mut self, op: BinOp, a: Operand, b: Operand) -> Operand {
        let dst = self.fresh(WORD);
        self.insts.push(Inst::Bin { dst, op, ty: WORD, a, b });
        Operand::Reg(dst)
    }

    /// The value of a term; `None` if it names registers of other functions.
    fn term(&mut self, term: Term) -> Option<Operand> {
        if term.registers().any(|(of, _)| of != self.id) {
            return None;
        }
        let mut sum = match term.root {
            Root::Zero => Operand::Const(0),
            Root::Global(global) => self.cast(CastOp::PtrToInt, Ty::Ptr, Operand::Global(global, 0)),
            Root::Function(function) => self.cast(CastOp::PtrToInt, Ty::Ptr, Operand::Function(function)),
            Root::Reg(_, reg) => self.word(reg)?,
        };
        if let Some(index) = term.index {
            let reg = self.word(index.reg)?;
            let scaled = self.arithmetic(BinOp::Mul, reg, Operand::Const(index.scale as u64 as u128));
            sum = self.arithmetic(BinOp::Add, sum, scaled);
        }
        Some(self.arithmetic(BinOp::Add, sum, Operand::Const(term.offset as u64 as u128)))
    }

    fn register(&mut self, values: &Values, reg: Reg) {
        if let Some(term) = values.terms[self.id][reg.index()]
            && let Some(mine) = self.word(reg)
            && let Some(value) = self.term(term)
        {
            self.compare(IcmpPred::Eq, mine, value, format!("{} {reg} is {term:?}", self.id));
        }
        self.between(reg, values.intervals[self.id][reg.index()]);
    }

    fn between(&mut self, reg: Reg, interval: Interval) {
        if !matches!(self.function.regs[reg].ty, Ty::Int(_)) {
            return;
        }
        for (pred, bound) in [(IcmpPred::Sge, interval.low), (IcmpPred::Sle, interval.high)] {
            if bound != i64::MIN
                && bound != i64::MAX
                && let Some(mine) = self.word(reg)
            {
                let text = format!("{} {reg} is in {interval:?}", self.id);
                self.compare(pred, mine, Operand::Const(bound as u64 as u128), text);
            }
        }
    }

    fn memory(&mut self, cell: Term, bytes: u8, value: Term) {
        let (Some(address), Some(value_now)) = (self.term(cell), self.term(value)) else { return };
        let pointer = self.fresh(Ty::Ptr);
        self.insts.push(Inst::Cast {
            dst: pointer,
            op: CastOp::IntToPtr,
            from: WORD,
            to: Ty::Ptr,
            a: address,
        });
        let ty = Ty::Int(bytes * 8);
        let dst = self.fresh(ty);
        let ptr = Operand::Reg(pointer);
        let place = raddle_ir::PlaceId(0);
        self.insts.push(Inst::Load { dst, ty, ptr, atomic: None, volatile: false, place });
        if let Some(found) = self.word(dst) {
            let text = format!("{} {bytes} bytes at {cell:?} hold {value:?}", self.id);
            self.compare(IcmpPred::Eq, found, value_now, text);
        }
    }
}
