//! A program that tells where the arguments of its library calls point: before and after every call with a modelled effect, loads are
//! put in that show pointers and numbers as events. Pointers are shown by a load of one byte; numbers, null and the
//! beginning and end of a call by a load from a global of the test.
//!
//! Locals whose address is shown are stored to that global too, and constants are made variables, so that no access goes unreported.

use raddle_base::{Id, IdVec, SiteId};
use raddle_ir::{
    Block, CallArg, Callee, CastOp, FunctionId, Gep, Global, GlobalId, IcmpPred, Init, Inst, IntrinsicOp,
    Operand, Place, PlaceBase, PlaceId, Program, Reg, RegInfo, SiteInfo, Ty, verify,
};
use raddle_libmodel::memory::{Base, Extent, MemoryEffect, Reach, Region, Value};
use raddle_libmodel::{Arg, Effect, LibcFn, Meaning, Models};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers from here on are shown as this.
pub const LARGE: u32 = 1 << 20;
/// Offsets in the global of the test: what stands for null (a null pointer is stored there), for begin and end, and where pointers go.
pub const NULL_AT: u32 = LARGE + 8;
pub const MARK_AT: u32 = LARGE + 16;
const CELL_AT: u32 = LARGE + 24;
const PROBE_BYTES: u64 = LARGE as u64 + 32;

/// Functions that may return the end of an object, or what is no address of one.
const RETURNS_NO_OBJECT: &[&str] = &["memccpy", "mempcpy", "stpncpy", "signal"];

/// What an event at a site of the probed program means.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    Begin(usize),
    Shows(usize, Shown),
    /// The call itself.
    Call(usize),
    End(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// Where an argument points to.
    Pointer(u8),
    /// Where the pointer at the start of that points to.
    Behind(u8),
    Number(u8),
    Result,
    /// Where the pointer at the start of what this argument points to points after the call.
    Stored(u8),
}

pub struct Call {
    pub name: String,
    pub memory: MemoryEffect,
}

pub struct Probed {
    pub program: Program,
    pub marks: BTreeMap<SiteId, Mark>,
    pub calls: Vec<Call>,
}

/// `declared` is asked for the memory effect of every call.
pub fn probe(mut program: Program, models: &Models, declared: &dyn Fn(&Effect) -> MemoryEffect) -> Probed {
    for (_, global) in program.globals.iter_mut() {
        global.constant = false;
    }
    let global = add_global(&mut program);
    let place = program.places.push(Place { base: PlaceBase::Global(global), steps: Vec::new() });
    let mut work = Work {
        old_sites: std::mem::take(&mut program.sites),
        sites: IdVec::new(),
        marks: BTreeMap::new(),
        calls: Vec::new(),
        global,
        place,
    };
    for id in program.functions.ids() {
        let blocks = std::mem::take(&mut program.functions[id].blocks);
        let mut rebuilt = IdVec::new();
        for block in blocks.as_slice() {
            rebuilt.push(work.block(&mut program, models, id, block, declared));
        }
        program.functions[id].blocks = rebuilt;
    }
    program.sites = work.sites;
    if let Err(errors) = verify(&program) {
        panic!("the probed program is not well formed: {}", errors[0]);
    }
    Probed { program, marks: work.marks, calls: work.calls }
}

fn add_global(program: &mut Program) -> GlobalId {
    let symbol = program.strings.intern("raddle_probe");
    program.globals.push(Global {
        symbol,
        name: Some(symbol),
        owner: None,
        span: None,
        debug_type: None,
        bytes: PROBE_BYTES,
        align: 16,
        thread_local: false,
        constant: false,
        exported: false,
        init: Some(Init::default()),
    })
}

struct Work {
    old_sites: IdVec<SiteId, SiteInfo>,
    sites: IdVec<SiteId, SiteInfo>,
    marks: BTreeMap<SiteId, Mark>,
    calls: Vec<Call>,
    global: GlobalId,
    place: PlaceId,
}

/// Instructions put in, and where they begin to mean something.
struct Insertion<'p> {
    program: &'p mut Program,
    function: FunctionId,
    insts: Vec<(Inst, Option<Mark>)>,
    global: GlobalId,
    place: PlaceId,
}

impl Work {
    fn block(
        &mut self,
        program: &mut Program,
        models: &Models,
        function: FunctionId,
        block: &Block,
        declared: &dyn Fn(&Effect) -> MemoryEffect,
    ) -> Block {
        let first_site = SiteId::from_index(self.sites.len());
        let mut insts = Vec::new();
        for (index, inst) in block.insts.iter().enumerate() {
            let info = self.old_sites[block.site_of(index)];
            let Some((callee, effect, args, dsts)) = modelled_call(models, inst) else {
                self.sites.push(info);
                insts.push(inst.clone());
                continue;
            };
            let number = self.calls.len();
            let memory = declared(&effect);
            let name = program.text(program.functions[callee].name).to_owned();
            let mut around =
                Insertion { program, function, insts: Vec::new(), global: self.global, place: self.place };
            around.before(number, &memory, args);
            around.insts.push((inst.clone(), Some(Mark::Call(number))));
            // What cannot be loaded from cannot be shown.
            let results = if RETURNS_NO_OBJECT.contains(&name.as_str()) { &[] } else { dsts };
            around.after(number, &memory, args, results);
            for (inst, mark) in around.insts {
                let site = self.sites.push(info);
                if let Some(mark) = mark {
                    self.marks.insert(site, mark);
                }
                insts.push(inst);
            }
            self.calls.push(Call { name, memory });
        }
        self.sites.push(self.old_sites[block.terminator_site()]);
        Block { phis: block.phis.clone(), first_site, insts, terminator: block.terminator.clone() }
    }
}

fn modelled_call<'i>(
    models: &Models,
    inst: &'i Inst,
) -> Option<(FunctionId, Effect, &'i [CallArg], &'i [Reg])> {
    let Inst::Call { dsts, callee: Callee::Direct(callee), args } = inst else { return None };
    match &models.meanings[*callee] {
        // A probe would keep the address, which is unsupported.
        Meaning::Effect(Effect::Libc(LibcFn("__errno_location")), _) => None,
        Meaning::Effect(effect, _) => Some((*callee, *effect, args, dsts)),
        Meaning::Body | Meaning::AtomicBody | Meaning::Unknown => None,
    }
}

impl Insertion<'_> {
    fn before(&mut self, call: usize, memory: &MemoryEffect, args: &[CallArg]) {
        self.mark(Mark::Begin(call));
        for shown in wanted(memory, args.len()) {
            match shown {
                Shown::Pointer(index) => {
                    if let Some(pointer) = pointer_argument(args, index) {
                        self.show_pointer(pointer, Mark::Shows(call, shown));
                    }
                }
                Shown::Behind(index) => self.show_behind(args, index, Mark::Shows(call, shown)),
                Shown::Number(index) => {
                    if let Some(CallArg { value, ty: Ty::Int(bits), .. }) = args.get(usize::from(index)) {
                        self.show_number(*value, *bits, Mark::Shows(call, shown));
                    }
                }
                Shown::Result | Shown::Stored(_) => unreachable!("shown after the call"),
            }
        }
    }

    fn after(&mut self, call: usize, memory: &MemoryEffect, args: &[CallArg], dsts: &[Reg]) {
        let is_address = |value: &Value| matches!(value, Value::Arg(_) | Value::Into(_));
        if let Some(&result) = dsts.first()
            && self.program.functions[self.function].regs[result].ty == Ty::Ptr
            && memory.returns.iter().all(is_address)
        {
            self.show_pointer(Operand::Reg(result), Mark::Shows(call, Shown::Result));
        }
        for store in &memory.stores {
            if let (Base::Arg(arg), Reach::Direct, Value::Into(_)) = (store.to.base, store.to.reach, store.value)
                // The pointer of a `va_list` is not at its start.
                && !memory.touches.iter().any(|touch| touch.region.base == Base::VaList(arg))
            {
                self.show_behind(args, arg.0, Mark::Shows(call, Shown::Stored(arg.0)));
            }
        }
        self.mark(Mark::End(call));
    }

    fn register(&mut self, ty: Ty) -> Reg {
        self.program.functions[self.function].regs.push(RegInfo { ty, name: None, debug_type: None })
    }

    fn load(&mut self, ty: Ty, ptr: Operand, mark: Option<Mark>) -> Reg {
        let dst = self.register(ty);
        let load = Inst::Load { dst, ty, ptr, atomic: None, volatile: false, place: self.place };
        self.insts.push((load, mark));
        dst
    }

    fn mark(&mut self, mark: Mark) {
        self.load(Ty::Int(8), Operand::Global(self.global, MARK_AT.into()), Some(mark));
    }

    /// The pointer, or what stands for null.
    fn not_null(&mut self, pointer: Operand) -> Operand {
        let (cond, dst) = (self.register(Ty::Int(1)), self.register(Ty::Ptr));
        let null = Operand::Global(self.global, NULL_AT.into());
        self.insts.push((
            Inst::Icmp { dst: cond, pred: IcmpPred::Eq, ty: Ty::Ptr, a: pointer, b: Operand::Null },
            None,
        ));
        self.insts
            .push((Inst::Select { dst, ty: Ty::Ptr, cond: Operand::Reg(cond), a: null, b: pointer }, None));
        Operand::Reg(dst)
    }

    /// The pointer, or what stands for null if it was read from memory that nobody has written.
    fn not_unwritten(&mut self, pointer: Operand) -> Operand {
        let bits = 8 * self.program.data_model.pointer_bytes() as u8;
        let pattern = u128::from(u64::from_le_bytes([0xa5; 8]) >> (64 - bits));
        let (number, cond, dst) =
            (self.register(Ty::Int(bits)), self.register(Ty::Int(1)), self.register(Ty::Ptr));
        let null = Operand::Global(self.global, NULL_AT.into());
        for inst in [
            Inst::Cast { dst: number, op: CastOp::PtrToInt, from: Ty::Ptr, to: Ty::Int(bits), a: pointer },
            Inst::Icmp {
                dst: cond,
                pred: IcmpPred::Eq,
                ty: Ty::Int(bits),
                a: Operand::Reg(number),
                b: Operand::Const(pattern),
            },
            Inst::Select { dst, ty: Ty::Ptr, cond: Operand::Reg(cond), a: null, b: pointer },
        ] {
            self.insts.push((inst, None));
        }
        Operand::Reg(dst)
    }

    fn show_pointer(&mut self, pointer: Operand, mark: Mark) {
        let ptr = self.not_null(pointer);
        self.insts.push((
            Inst::Store {
                ty: Ty::Ptr,
                value: ptr,
                ptr: Operand::Global(self.global, CELL_AT.into()),
                atomic: None,
                volatile: false,
                place: self.place,
            },
            None,
        ));
        self.load(Ty::Int(8), ptr, Some(mark));
    }

    fn show_behind(&mut self, args: &[CallArg], index: u8, mark: Mark) {
        let Some(pointer) = pointer_argument(args, index) else { return };
        let cell = self.not_null(pointer);
        let pointer = Operand::Reg(self.load(Ty::Ptr, cell, None));
        let pointer = self.not_unwritten(pointer);
        self.show_pointer(pointer, mark);
    }

    fn show_number(&mut self, value: Operand, bits: u8, mark: Mark) {
        let wide = Ty::Int(64);
        let value = match bits {
            64 => value,
            1..64 => {
                let dst = self.register(wide);
                let cast = Inst::Cast { dst, op: CastOp::ZExt, from: Ty::Int(bits), to: wide, a: value };
                self.insts.push((cast, None));
                Operand::Reg(dst)
            }
            _ => return,
        };
        let (small, address) = (self.register(wide), self.register(Ty::Ptr));
        let args = vec![value, Operand::Const(u128::from(LARGE))];
        self.insts.push((Inst::Intrinsic { dsts: vec![small], op: IntrinsicOp::UMin, ty: wide, args }, None));
        let gep = Gep {
            dst: address,
            base: Operand::Global(self.global, 0),
            offset: 0,
            indices: vec![(Operand::Reg(small), wide, 1)],
        };
        self.insts.push((Inst::Gep(Box::new(gep)), None));
        self.load(Ty::Int(8), Operand::Reg(address), Some(mark));
    }
}

fn pointer_argument(args: &[CallArg], index: u8) -> Option<Operand> {
    let arg = args.get(usize::from(index))?;
    (arg.ty == Ty::Ptr && arg.by_value.is_none()).then_some(arg.value)
}

/// What must be known before the call to check it.
fn wanted(memory: &MemoryEffect, arguments: usize) -> BTreeSet<Shown> {
    let mut all = BTreeSet::new();
    let mut region = |region: Region| match (region.base, region.reach) {
        (Base::Arg(arg), Reach::Behind) => all.extend([Shown::Pointer(arg.0), Shown::Behind(arg.0)]),
        (Base::Arg(arg), _) => all.extend([Shown::Pointer(arg.0)]),
        (Base::VarArgs(from), _) => all.extend((from.0..arguments as u8).map(Shown::Pointer)),
        _ => {}
    };
    memory.touches.iter().for_each(|touch| region(touch.region));
    for value in memory.returns.iter().chain(memory.stores.iter().map(|store| &store.value)) {
        match *value {
            Value::Into(into) => region(into),
            Value::Arg(arg) if memory.returns.contains(value) => region(arg.into()),
            _ => {}
        }
    }
    let mut number = |arg: Arg| all.extend([Shown::Number(arg.0)]);
    for extent in memory.touches.iter().map(|touch| touch.extent) {
        match extent {
            Extent::Arg(arg) | Extent::Times(arg, _) | Extent::TimesWords(arg, _) | Extent::Pages(arg) => {
                number(arg)
            }
            Extent::CStringUpTo(arg) => number(arg),
            Extent::Product(a, b) => [a, b].into_iter().for_each(&mut number),
            Extent::Fixed { .. } | Extent::CString | Extent::StringOf(_) | Extent::ToEnd => {}
        }
    }
    all
}
