//! Every read, write and free of memory in the reachable code: instructions, structs passed by value, what library calls touch.
//!
//! *May*: an access lists all places that the points-to facts allow and covers at least the bytes touched. An operation on a
//! synchronisation object is an atomic read of it. No accesses: `errno`, results of threads and thread-specific cells, and the bytes of
//! objects while they are being made (blocks of `calloc`, copies of structs passed by value, variadic arguments). A function without body or model writes all
//! that it may use ([`super::foreign`]).

use super::calls::{Call, Passes};
use super::code::{At, Code};
use super::library::{Part, part_around};
use super::patterns::shifted;
use super::terms::constant_in;
use raddle_base::Id;
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_ir::{CallArg, CmpXchg, DataModel, FunctionId, GlobalId, Inst, Operand, SiteId, Ty};
use raddle_libmodel::memory::{Access as Touching, Atomicity, Base, Extent, Reach, Region, Touch};
use raddle_libmodel::{Arg, AtomicCall, Effect, KernelOrder};
use std::borrow::Cow;

/// From a target on, to the end of the object.
pub(crate) const TO_END: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub struct Access<'a> {
    pub at: At,
    pub site: SiteId,
    pub kind: Kind,
    /// `None`: a plain access.
    pub atomic: Option<Atomic>,
    /// The address, where one operand is it.
    pub address: Option<Operand>,
    /// Starts of the bytes touched.
    pub targets: Cow<'a, [(ObjectId, Offsets)]>,
    /// From each start on, at most; [`TO_END`]: to the end of the object.
    pub bytes: u64,
    /// What a store of one value stores, exactly at the address and `bytes` wide.
    pub value: Option<(Operand, Ty)>,
    /// By the call that makes the block, before anybody else can know it.
    pub makes_block: bool,
    /// Of an operation on a synchronisation object, to the object.
    pub operates: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Read,
    Write,
    /// Reads and writes in one step.
    Update,
    /// A write to the whole block, which is then gone.
    Free,
}

/// *Must*: what an atomic access certainly does to order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// What it reads.
    pub acquire: bool,
    /// What it writes.
    pub release: bool,
}

impl Access<'_> {
    pub fn is_write(&self) -> bool {
        self.kind != Kind::Read
    }

    /// Whether it writes bytes of a synchronisation object as if they were plain memory, if it hits one.
    pub fn overwrites(&self) -> bool {
        self.is_write() && self.kind != Kind::Free && !self.makes_block && !self.operates
    }

    /// Whether it may touch one of `bytes` bytes from `offsets` of an object.
    pub fn may_touch(&self, object: ObjectId, offsets: Offsets, bytes: u64) -> bool {
        self.targets
            .iter()
            .any(|(target, at)| *target == object && at.may_overlap(self.bytes, offsets, bytes))
    }
}

/// All accesses, in program order.
pub(crate) fn collect<'a>(code: &Code<'a>) -> Vec<Access<'a>> {
    let mut out = Vec::new();
    for (function, body) in code.program.functions.iter() {
        for block in code.reachable_blocks(function) {
            for (index, inst) in body.blocks[block].insts.iter().enumerate() {
                of_instruction(code, At { function, block, index }, inst, &mut out);
            }
        }
    }
    out
}

/// The accesses of one instruction.
pub(crate) fn of_instruction<'a>(code: &Code<'a>, at: At, inst: &Inst, out: &mut Vec<Access<'a>>) {
    let mut collector = Collector { code, at, out };
    match inst {
        Inst::Load { ty, ptr, atomic, .. } => {
            let atomic = atomic.map(|order| Atomic { acquire: order.acquires(), release: false });
            collector.scalar(Kind::Read, *ptr, *ty, atomic, None);
        }
        Inst::Store { ty, value, ptr, atomic, .. } => {
            let atomic = atomic.map(|order| Atomic { acquire: false, release: order.releases() });
            collector.scalar(Kind::Write, *ptr, *ty, atomic, Some((*value, *ty)));
        }
        Inst::Rmw { ty, ptr, order, .. } => {
            let atomic = Atomic { acquire: order.acquires(), release: order.releases() };
            collector.scalar(Kind::Update, *ptr, *ty, Some(atomic), None);
        }
        Inst::CmpXchg(x) => {
            let CmpXchg { on_success, on_failure, .. } = **x;
            let acquire = on_success.acquires() && on_failure.acquires();
            let atomic = Atomic { acquire, release: on_success.releases() };
            collector.scalar(Kind::Update, x.ptr, x.ty, Some(atomic), None);
        }
        Inst::MemCopy { dst, src, len, .. } => {
            let bytes = code.at_most(at.function, *len, Ty::Int(64));
            collector.plain(Kind::Read, *src, bytes);
            collector.plain(Kind::Write, *dst, bytes);
        }
        Inst::MemSet { dst, len, .. } => {
            let bytes = code.at_most(at.function, *len, Ty::Int(64));
            collector.plain(Kind::Write, *dst, bytes);
        }
        Inst::VaStart { list } | Inst::VaEnd { list } => {
            collector.plain(Kind::Write, *list, code.list_bytes())
        }
        Inst::VaArg { list, ty, .. } => {
            collector.plain(Kind::Write, *list, code.list_bytes());
            let area = code.behind_any(&code.pointees(at.function, *list));
            let bytes = u64::from(ty.access_bytes(code.pointer_bytes()));
            collector.push(Kind::Read, None, None, Cow::Owned(anywhere(&area)), bytes);
        }
        Inst::VaCopy { dst, src } => {
            collector.plain(Kind::Read, *src, code.list_bytes());
            collector.plain(Kind::Write, *dst, code.list_bytes());
        }
        Inst::Asm { writes, .. } => {
            writes.iter().for_each(|(target, bytes)| collector.plain(Kind::Write, *target, *bytes));
        }
        Inst::Call { args, .. } => {
            if let Some(call) = code.calls.at(at.function, code.site(at)) {
                collector.call(call, args);
            }
        }
        Inst::Bin { .. }
        | Inst::FBin { .. }
        | Inst::FNeg { .. }
        | Inst::Icmp { .. }
        | Inst::Fcmp { .. }
        | Inst::Cast { .. }
        | Inst::Select { .. }
        | Inst::Copy { .. }
        | Inst::Alloca { .. }
        | Inst::TlsAddr { .. }
        | Inst::Fence { .. }
        | Inst::SignalFence
        | Inst::Gep(_)
        | Inst::Intrinsic { .. }
        | Inst::StackSave { .. }
        | Inst::StackRestore { .. }
        | Inst::Unsupported { .. } => {}
    }
}

struct Collector<'a, 'c> {
    code: &'c Code<'a>,
    at: At,
    out: &'c mut Vec<Access<'a>>,
}

impl<'a> Collector<'a, '_> {
    fn targets(&self, operand: Operand) -> Cow<'a, [(ObjectId, Offsets)]> {
        match operand {
            Operand::Reg(reg) => Cow::Borrowed(self.code.set(self.at.function, reg)),
            _ => Cow::Owned(self.code.pointees(self.at.function, operand)),
        }
    }

    fn scalar(
        &mut self,
        kind: Kind,
        ptr: Operand,
        ty: Ty,
        atomic: Option<Atomic>,
        value: Option<(Operand, Ty)>,
    ) {
        let bytes = u64::from(ty.access_bytes(self.code.pointer_bytes()));
        let targets = self.targets(ptr);
        let before = self.out.len();
        self.push(kind, atomic, Some(ptr), targets, bytes);
        self.out[before..].iter_mut().for_each(|access| access.value = value);
    }

    fn plain(&mut self, kind: Kind, ptr: Operand, bytes: u64) {
        let targets = self.targets(ptr);
        self.push(kind, None, Some(ptr), targets, bytes);
    }

    /// What points nowhere touches nothing of the program, and `errno` is the thread's own as long as its address stays there, which
    /// [`super::gaps`] makes sure of.
    fn push(
        &mut self,
        kind: Kind,
        atomic: Option<Atomic>,
        address: Option<Operand>,
        mut targets: Cow<'a, [(ObjectId, Offsets)]>,
        bytes: u64,
    ) {
        let errno = Part::Errno.offsets();
        let is_errno = |(object, at): &(ObjectId, Offsets)| {
            self.code.kind(*object) == ObjectKind::Library && part_around(*at) == errno
        };
        if targets.iter().any(is_errno) {
            targets.to_mut().retain(|place| !is_errno(place));
        }
        if bytes != 0 && !targets.is_empty() {
            let site = self.code.site(self.at);
            self.out.push(Access {
                at: self.at,
                site,
                kind,
                atomic,
                address,
                targets,
                bytes,
                value: None,
                makes_block: false,
                operates: false,
            });
        }
    }

    fn call(&mut self, call: &Call, args: &[CallArg]) {
        for (index, arg) in args.iter().enumerate() {
            let taken = call.runs.iter().filter(|run| run.passes == Passes::Arguments).filter_map(|run| {
                self.code.program.functions[run.function].params.get(index).and_then(|param| param.by_value)
            });
            if let Some(bytes) = taken.chain(arg.by_value).map(|(bytes, _)| bytes).max() {
                self.plain(Kind::Read, arg.value, bytes);
            }
        }
        if !call.unknown.is_empty() {
            let mut memory = self.code.used_memory(self.at.function, args);
            if !self.code.uses_foreign_memory() {
                memory.retain(|place| !self.code.is_foreign(*place));
            }
            self.push(Kind::Write, None, None, Cow::Owned(memory), TO_END);
        }
        for (_, effect) in &call.effects {
            for touch in &effect.memory().touches {
                let before = self.out.len();
                self.touch(args, effect, touch);
                // The block itself, not what it points to.
                let is_new = touch.region == Base::Fresh.into();
                for access in &mut self.out[before..] {
                    access.makes_block = is_new;
                    access.operates = touch.atomicity.operates();
                }
            }
        }
    }

    fn touch(&mut self, args: &[CallArg], effect: &Effect, touch: &Touch) {
        let atomic = match touch.atomicity {
            Atomicity::Plain | Atomicity::Life => None,
            Atomicity::Atomic => Some(order_of(effect)),
            Atomicity::Operation => Some(Atomic { acquire: false, release: false }),
        };
        let kind = match touch.access {
            Touching::Read => Kind::Read,
            Touching::Write => Kind::Write,
            Touching::Update => Kind::Update,
            Touching::Free => Kind::Free,
        };
        match touch.region.base {
            Base::Errno | Base::ThreadResult(_) | Base::Specific(_) => return,
            // Nobody but the library, which takes a lock, can touch it.
            Base::Variable(name)
                if touch.atomicity == Atomicity::Atomic && self.code.library_variable(name).is_none() =>
            {
                return;
            }
            Base::Fresh if !effect.memory().hands_out_block() => return,
            Base::Fresh => {}
            Base::Arg(_) | Base::VarArgs(_) | Base::VaList(_) | Base::Library(_) | Base::Variable(_) => {}
        }
        let bytes = match (touch.region.base, touch.region.reach) {
            // All bytes of the part are starts.
            (Base::Library(_), Reach::Direct) => 1,
            _ => self.code.extent(self.at.function, args, touch.extent),
        };
        let mut targets = self.code.region(self.at, args, touch.region);
        if kind == Kind::Free {
            targets = anywhere(&targets);
        } else {
            targets.iter_mut().for_each(|(_, at)| *at = shifted(*at, i64::from(touch.from)));
        }
        let address = match (touch.region.base, touch.region.reach) {
            (Base::Arg(arg), Reach::Direct) if touch.from == 0 && kind != Kind::Free => {
                args.get(usize::from(arg.0)).map(|arg| arg.value)
            }
            _ => None,
        };
        self.push(kind, atomic, address, Cow::Owned(targets), bytes);
    }
}

impl Code<'_> {
    /// Where a region of the library call at this point starts.
    pub fn region(&self, at: At, args: &[CallArg], region: Region) -> Vec<(ObjectId, Offsets)> {
        let function = at.function;
        let library =
            |at: Offsets| self.object(ObjectKind::Library).map(|object| (object, at)).into_iter().collect();
        let arg = |arg: Arg| -> Vec<(ObjectId, Offsets)> {
            args.get(usize::from(arg.0)).map_or(Vec::new(), |arg| self.pointees(function, arg.value))
        };
        let base: Vec<(ObjectId, Offsets)> = match region.base {
            Base::Arg(place) => arg(place),
            Base::VarArgs(first) => {
                let rest = args.iter().skip(usize::from(first.0));
                rest.flat_map(|arg| self.pointees(function, arg.value)).collect()
            }
            Base::VaList(place) => match self.program.data_model {
                DataModel::Lp64 => {
                    let pointer: Vec<(ObjectId, Offsets)> =
                        arg(place).iter().map(|(object, at)| (*object, shifted(*at, 8))).collect();
                    self.behind(&pointer, u64::from(self.pointer_bytes()))
                }
                DataModel::Ilp32 => arg(place),
            },
            Base::Library(part) => library(Part::Static(part).offsets()),
            Base::Variable(name) => match self.library_variable(name) {
                Some(global) => self.pointees(function, Operand::Global(global, 0)),
                None => library(Part::Variables.offsets()),
            },
            Base::ThreadResult(_) => library(Part::ThreadResult.start()),
            Base::Specific(_) => library(Part::Specific.start()),
            Base::Errno => library(Part::Errno.start()),
            Base::Fresh => {
                let object = self.object(ObjectKind::Heap(self.site(at)));
                object.map(|object| (object, Offsets::exact(0))).into_iter().collect()
            }
        };
        match region.reach {
            Reach::Direct => base,
            Reach::Behind => self.behind(&base, u64::from(self.pointer_bytes())),
            Reach::BehindAny => self.behind_any(&base),
            Reach::BehindTwice => self.behind_any(&self.behind_any(&base)),
        }
    }

    /// The program's variable of a name that the library knows.
    pub fn library_variable(&self, name: &str) -> Option<raddle_ir::GlobalId> {
        let symbol = self.program.strings.lookup(name)?;
        self.program.globals.iter().find(|(_, global)| global.symbol == symbol).map(|(id, _)| id)
    }

    /// What the pointers in `bytes` bytes from these places on may point to.
    pub fn behind(&self, places: &[(ObjectId, Offsets)], bytes: u64) -> Vec<(ObjectId, Offsets)> {
        let mut found = Vec::new();
        for (object, at) in places {
            for cell in &self.facts.points_to.contents[*object] {
                if cell.at.may_overlap(u64::from(cell.bytes), *at, bytes) {
                    found.extend_from_slice(self.targets(cell.holds));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What any pointer in these objects may point to.
    pub fn behind_any(&self, places: &[(ObjectId, Offsets)]) -> Vec<(ObjectId, Offsets)> {
        self.behind(&anywhere(places), TO_END)
    }

    /// An upper bound of a number of bytes; [`TO_END`] where there is none.
    pub fn at_most(&self, function: FunctionId, operand: Operand, ty: Ty) -> u64 {
        let length = |number: i64| u64::try_from(number).unwrap_or(TO_END);
        match (constant_in(&self.facts.values, function, operand, ty), operand) {
            (Some(number), _) => length(number),
            (None, Operand::Reg(reg)) => {
                let interval = self.facts.values.intervals[function][reg.index()];
                if interval.low >= 0 { length(interval.high) } else { TO_END }
            }
            (None, _) => TO_END,
        }
    }

    /// At most so many bytes.
    pub fn extent(&self, function: FunctionId, args: &[CallArg], extent: Extent) -> u64 {
        let value = |arg: Arg| {
            args.get(usize::from(arg.0)).map_or(TO_END, |arg| self.at_most(function, arg.value, arg.ty))
        };
        let word = u64::from(self.pointer_bytes());
        match extent {
            Extent::Fixed { .. } => extent.bytes(self.program.data_model).unwrap_or(TO_END),
            Extent::Arg(arg) | Extent::CStringUpTo(arg) => value(arg),
            Extent::Product(a, b) => value(a).saturating_mul(value(b)),
            Extent::Times(arg, bytes) => value(arg).saturating_mul(u64::from(bytes)),
            Extent::TimesWords(arg, words) => value(arg).saturating_mul(u64::from(words) * word),
            Extent::StringOf(arg) => match args.get(usize::from(arg.0)).map(|arg| arg.value) {
                Some(Operand::Global(global, offset)) => self.text(global, offset),
                Some(operand) => {
                    let starts = self.pointees(function, operand).into_iter();
                    let lengths = starts.map(|(object, at)| match self.kind(object) {
                        ObjectKind::Global(global) if at.is_exact() => self.text(global, at.low),
                        _ => TO_END,
                    });
                    lengths.max().unwrap_or(TO_END)
                }
                None => TO_END,
            },
            Extent::Pages(_) | Extent::CString | Extent::ToEnd => TO_END,
        }
    }

    /// Bytes of the string there, with its end; [`TO_END`] unless it is a constant.
    fn text(&self, global: GlobalId, offset: i64) -> u64 {
        let constant = self.program.globals[global].constant;
        constant.then(|| super::initial::string_bytes(self, global, offset)).flatten().unwrap_or(TO_END)
    }

    /// The size of a `va_list`.
    pub fn list_bytes(&self) -> u64 {
        match self.program.data_model {
            DataModel::Lp64 => 24,
            DataModel::Ilp32 => 4,
        }
    }
}

/// The same objects, anywhere in them.
pub(crate) fn anywhere(places: &[(ObjectId, Offsets)]) -> Vec<(ObjectId, Offsets)> {
    let mut all: Vec<(ObjectId, Offsets)> =
        places.iter().map(|(object, _)| (*object, Offsets::ANY)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Library forms carry the order in an argument or not at all: only the kernel's own are known here.
fn order_of(effect: &Effect) -> Atomic {
    match effect {
        Effect::Atomic(AtomicCall::Kernel { order, .. }) => Atomic {
            acquire: matches!(order, KernelOrder::Acquire | KernelOrder::SeqCst),
            release: matches!(order, KernelOrder::Release | KernelOrder::SeqCst),
        },
        _ => Atomic { acquire: false, release: false },
    }
}
