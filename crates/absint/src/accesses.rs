//! Every read and write of memory in the reachable code: instructions, memory intrinsics, and what library calls touch.
//!
//! *May*: an access lists all objects and offsets that points-to allows, and an extent that covers the bytes. An operation on a
//! synchronisation object is an atomic read of it. `errno` (also by its address), blocks that a call only uses itself, and the zeros of `calloc` are no
//! accesses; what `realloc` or `strdup` copy into the block that they hand out is one. A function without body or model writes all that it may use.

use crate::calls::{Call, Calls};
use crate::foreign::Foreign;
use crate::points_to::LibraryPart;
use crate::terms::term_of;
use raddle_base::{LoadOrder, RmwOrder, SiteId, StoreOrder};
use raddle_facts::{ObjectId, ObjectKind, Offsets, PointsTo, SetId, Values};
use raddle_ir::{
    BlockId, CallArg, DataModel, FunctionId, GlobalId, Inst, Operand, PlaceId, Program, RmwOp, Ty,
};
use raddle_libmodel::memory::{Access as Touching, Atomicity, Base, Extent, Reach, Region, Touch};
use raddle_libmodel::{AtomicCall, Effect, KernelOrder};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Access {
    pub function: FunctionId,
    pub block: BlockId,
    pub index: usize,
    pub site: SiteId,
    pub kind: Kind,
    pub atomic: Option<Atomic>,
    /// The address, where one operand is it.
    pub address: Option<Operand>,
    pub place: Option<PlaceId>,
    pub targets: Targets,
    /// From each target on; `u64::MAX`: to the end of the object.
    pub bytes: u64,
    /// What a store, an exchange, or a compare-exchange that succeeds puts there.
    pub value: Option<Operand>,
    /// By the call that makes the block: nobody else knows it yet.
    pub makes_block: bool,
    /// Of an operation on a synchronisation object, to the object.
    pub operates: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Read,
    Write,
    Free,
}

/// What an atomic access does to order, as far as it is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    pub acquire: bool,
    pub release: bool,
    /// Reads and writes in one step.
    pub update: bool,
}

#[derive(Clone, Debug)]
pub enum Targets {
    Set(SetId),
    /// Shared by accesses that touch the same.
    List(Arc<[(ObjectId, Offsets)]>),
}

impl Targets {
    pub fn of<'a>(&'a self, points_to: &'a PointsTo) -> &'a [(ObjectId, Offsets)] {
        match self {
            Targets::Set(set) => points_to.targets_of(*set),
            Targets::List(list) => list,
        }
    }
}

impl Access {
    pub fn targets<'a>(&'a self, points_to: &'a PointsTo) -> &'a [(ObjectId, Offsets)] {
        self.targets.of(points_to)
    }

    pub fn is_write(&self) -> bool {
        self.kind != Kind::Read
    }

    /// Whether it writes bytes of a synchronisation object as if they were plain memory, if it hits one.
    pub fn overwrites(&self) -> bool {
        self.kind == Kind::Write && !self.makes_block && !self.operates
    }

    /// Where it may touch an object.
    pub fn in_object<'a>(
        &'a self,
        points_to: &'a PointsTo,
        object: ObjectId,
    ) -> impl Iterator<Item = Offsets> + 'a {
        // Sorted by object.
        let targets = self.targets(points_to);
        let from = targets.partition_point(|(target, _)| *target < object);
        targets[from..].iter().take_while(move |(target, _)| *target == object).map(|(_, at)| *at)
    }

    /// Whether it may touch one of `bytes` bytes from `offsets` of an object.
    pub fn may_touch(&self, points_to: &PointsTo, object: ObjectId, offsets: Offsets, bytes: u64) -> bool {
        self.in_object(points_to, object).any(|at| at.may_overlap(self.bytes, offsets, bytes))
    }
}

/// Finds the object of a kind.
#[derive(Clone, Debug)]
pub struct Objects {
    by_kind: HashMap<ObjectKind, ObjectId>,
}

impl Objects {
    pub fn new(points_to: &PointsTo) -> Objects {
        Objects { by_kind: points_to.objects.iter().map(|(id, object)| (object.kind, id)).collect() }
    }

    pub fn of(&self, kind: ObjectKind) -> Option<ObjectId> {
        self.by_kind.get(&kind).copied()
    }

    /// Where an operand may point.
    pub fn targets(&self, points_to: &PointsTo, function: FunctionId, operand: Operand) -> Targets {
        match operand {
            Operand::Reg(reg) => Targets::Set(points_to.regs[function][reg.0 as usize]),
            Operand::Global(global, offset) => {
                let object = self.of(ObjectKind::Global(global));
                Targets::List(object.map(|object| (object, Offsets::exact(offset))).into_iter().collect())
            }
            Operand::Const(_) | Operand::Function(_) | Operand::Block(_) | Operand::Null | Operand::Undef => {
                Targets::List(Arc::default())
            }
        }
    }
}

/// All accesses, in program order.
pub fn collect(program: &Program, calls: &Calls, values: &Values, points_to: &PointsTo) -> Vec<Access> {
    let collector = Collector {
        program,
        values,
        points_to,
        objects: Objects::new(points_to),
        foreign: Foreign::new(program, points_to),
        foreign_accesses: Vec::new(),
        known: HashMap::new(),
        out: Vec::new(),
    };
    collector.run(calls)
}

struct Collector<'a> {
    program: &'a Program,
    values: &'a Values,
    points_to: &'a PointsTo,
    objects: Objects,
    foreign: Foreign<'a>,
    /// Positions of accesses by functions without body or model.
    foreign_accesses: Vec<usize>,
    known: HashMap<(SetId, Derived), Targets>,
    out: Vec<Access>,
}

/// How the targets of a library's access follow from those of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Derived {
    Shifted(i64),
    /// Pointers in memory, at the place itself or anywhere in the object.
    Behind {
        anywhere: bool,
        shift: i64,
    },
    /// The objects, whatever the offset.
    Whole,
}

#[derive(Clone, Copy)]
struct At {
    function: FunctionId,
    block: BlockId,
    index: usize,
    site: SiteId,
}

impl Collector<'_> {
    fn run(mut self, calls: &Calls) -> Vec<Access> {
        let program = self.program;
        for (function, body) in program.functions.iter() {
            for (block, code) in body.blocks.iter() {
                if !self.values.is_reachable(function, block) {
                    continue;
                }
                for (index, inst) in code.insts.iter().enumerate() {
                    let at = At { function, block, index, site: code.site_of(index) };
                    match inst {
                        Inst::Call { args, .. } => {
                            if let Some(call) = calls.at(function, at.site) {
                                self.call(at, call, args);
                            }
                        }
                        other => self.instruction(at, other),
                    }
                }
            }
        }
        self.without_own_memory();
        self.out
    }

    /// What functions without body or model do to their own memory matters only where the program uses it, too.
    fn without_own_memory(&mut self) {
        let is_own = |(object, at): &(ObjectId, Offsets)| self.foreign.is_own(*object, *at);
        let foreign: BTreeSet<usize> = self.foreign_accesses.iter().copied().collect();
        let others = self.out.iter().enumerate().filter(|(index, _)| !foreign.contains(index));
        if others.into_iter().any(|(_, access)| access.targets(self.points_to).iter().any(is_own)) {
            return;
        }
        for index in foreign {
            let rest = self.out[index].targets(self.points_to).iter().filter(|place| !is_own(place));
            self.out[index].targets = Targets::List(rest.copied().collect());
        }
        self.out.retain(|access| !access.targets(self.points_to).is_empty());
    }

    fn instruction(&mut self, at: At, inst: &Inst) {
        match inst {
            Inst::Load { ty, ptr, atomic, place, .. } => {
                let atomic = atomic.map(load_order);
                self.scalar(at, Kind::Read, *ptr, *ty, atomic, *place, None);
            }
            Inst::Store { ty, value, ptr, atomic, place, .. } => {
                let atomic = atomic.map(store_order);
                self.scalar(at, Kind::Write, *ptr, *ty, atomic, *place, Some(*value));
            }
            Inst::Rmw { op, ty, ptr, value, order, place, .. } => {
                let stored = (*op == RmwOp::Xchg).then_some(*value);
                self.scalar(at, Kind::Write, *ptr, *ty, Some(rmw_order(*order)), *place, stored);
            }
            Inst::CmpXchg(x) => {
                // What a failed exchange has read is ordered by its own order.
                let done = rmw_order(x.on_success);
                let atomic = Some(Atomic { acquire: done.acquire && x.on_failure.acquires(), ..done });
                self.scalar(at, Kind::Write, x.ptr, x.ty, atomic, x.place, Some(x.new));
            }
            Inst::MemCopy { dst, src, len, dst_place, src_place, .. } => {
                let bytes = self.length(at.function, *len);
                self.block_access(at, Kind::Read, *src, bytes, Some(*src_place));
                self.block_access(at, Kind::Write, *dst, bytes, Some(*dst_place));
            }
            Inst::MemSet { dst, len, place, .. } => {
                let bytes = self.length(at.function, *len);
                self.block_access(at, Kind::Write, *dst, bytes, Some(*place));
            }
            Inst::VaArg { list, .. } | Inst::VaStart { list } | Inst::VaEnd { list } => {
                self.block_access(at, Kind::Write, *list, 24, None);
            }
            Inst::VaCopy { dst, src } => {
                self.block_access(at, Kind::Read, *src, 24, None);
                self.block_access(at, Kind::Write, *dst, 24, None);
            }
            Inst::Asm { writes, .. } => {
                for (target, bytes) in writes {
                    self.block_access(at, Kind::Write, *target, *bytes, None);
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
            | Inst::Call { .. }
            | Inst::Intrinsic { .. }
            | Inst::StackSave { .. }
            | Inst::StackRestore { .. }
            | Inst::Unsupported { .. } => {}
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn scalar(
        &mut self,
        at: At,
        kind: Kind,
        ptr: Operand,
        ty: Ty,
        atomic: Option<Atomic>,
        place: PlaceId,
        value: Option<Operand>,
    ) {
        let bytes = u64::from(ty.access_bytes(self.program.data_model.pointer_bytes()));
        let targets = self.objects.targets(self.points_to, at.function, ptr);
        self.push(at, kind, atomic, Some(ptr), Some(place), targets, bytes, value);
    }

    fn block_access(&mut self, at: At, kind: Kind, ptr: Operand, bytes: u64, place: Option<PlaceId>) {
        let targets = self.objects.targets(self.points_to, at.function, ptr);
        self.push(at, kind, None, Some(ptr), place, targets, bytes, None);
    }

    #[allow(clippy::too_many_arguments)]
    fn push(
        &mut self,
        at: At,
        kind: Kind,
        atomic: Option<Atomic>,
        address: Option<Operand>,
        place: Option<PlaceId>,
        targets: Targets,
        bytes: u64,
        value: Option<Operand>,
    ) {
        let At { function, block, index, site } = at;
        let targets = self.without_errno(targets);
        if bytes != 0 && !targets.of(self.points_to).is_empty() {
            self.out.push(Access {
                function,
                block,
                index,
                site,
                kind,
                atomic,
                address,
                place,
                targets,
                bytes,
                value,
                makes_block: false,
                operates: false,
            });
        }
    }

    /// `errno` belongs to the thread: that its address stays there is a matter of gaps.
    fn without_errno(&self, targets: Targets) -> Targets {
        let Some(library) = self.objects.of(ObjectKind::Library) else { return targets };
        let errno = LibraryPart::Errno.offsets();
        let is_errno = |(object, at): &(ObjectId, Offsets)| {
            *object == library && errno.low <= at.low && at.high <= errno.high
        };
        let list = targets.of(self.points_to);
        if !list.iter().any(is_errno) {
            return targets;
        }
        Targets::List(list.iter().filter(|place| !is_errno(place)).copied().collect())
    }

    fn call(&mut self, at: At, call: &Call, args: &[CallArg]) {
        // A struct passed by value is read at the call.
        for arg in args {
            if let Some((bytes, _)) = arg.by_value {
                self.block_access(at, Kind::Read, arg.value, bytes, arg.place);
            }
        }
        if !call.unknown.is_empty() {
            let used = Targets::List(self.foreign.of_call(at.function, args).memory.into());
            let before = self.out.len();
            self.push(at, Kind::Write, None, None, None, used, u64::MAX, None);
            self.foreign_accesses.extend(before..self.out.len());
        }
        for effect in &call.effects {
            for touch in &effect.memory().touches {
                let atomic = match touch.atomicity {
                    Atomicity::Plain | Atomicity::Life => None,
                    Atomicity::Atomic => Some(call_order(effect)),
                    Atomicity::Operation => Some(Atomic { acquire: false, release: false, update: false }),
                };
                let bytes = match touch.region {
                    // The offsets are all of its part.
                    Region { base: Base::Library(_), reach: Reach::Direct } => 1,
                    _ => self.extent(at.function, args, touch.extent),
                };
                let kinds: &[Kind] = match touch.access {
                    Touching::Read => &[Kind::Read],
                    Touching::Write | Touching::Update => &[Kind::Write],
                    Touching::Free => &[Kind::Free],
                };
                if touch.region.base == Base::Fresh && !effect.memory().hands_out_block() {
                    continue;
                }
                if self.is_out_of_reach(touch) {
                    continue;
                }
                let (address, places) = self.touched(at, args, touch.region.base);
                let before = self.out.len();
                let direct = touch.region.reach == Reach::Direct;
                let shift = i64::from(touch.from);
                for (targets, place) in places {
                    let targets = match touch.region.reach {
                        Reach::Direct => self.derive(targets, Derived::Shifted(shift)),
                        Reach::Behind => self.derive(targets, Derived::Behind { anywhere: false, shift }),
                        Reach::BehindAny => self.derive(targets, Derived::Behind { anywhere: true, shift }),
                        Reach::BehindTwice => {
                            let first = self.derive(targets, Derived::Behind { anywhere: true, shift: 0 });
                            self.derive(first, Derived::Behind { anywhere: true, shift })
                        }
                    };
                    for kind in kinds {
                        let targets = match kind {
                            Kind::Free => self.derive(targets.clone(), Derived::Whole),
                            Kind::Read | Kind::Write => targets.clone(),
                        };
                        let address = address.filter(|_| direct && touch.from == 0 && *kind != Kind::Free);
                        let place = place.filter(|_| direct);
                        self.push(at, *kind, atomic, address, place, targets, bytes, None);
                    }
                }
                // What a new block points to may well be known to others.
                let is_new = touch.region == Base::Fresh.into();
                for access in &mut self.out[before..] {
                    access.makes_block = is_new;
                    access.operates = touch.atomicity.operates();
                }
            }
        }
    }

    /// The memory that a base means, one set per argument; the operand where one is the address.
    #[allow(clippy::type_complexity)]
    fn touched(
        &mut self,
        at: At,
        args: &[CallArg],
        base: Base,
    ) -> (Option<Operand>, Vec<(Targets, Option<PlaceId>)>) {
        let list = |operand: Operand| self.objects.targets(self.points_to, at.function, operand);
        let place = |kind: ObjectKind, offsets: Offsets| {
            let found = self.objects.of(kind).map(|object| (object, offsets));
            (None, vec![(Targets::List(found.into_iter().collect()), None)])
        };
        match base {
            Base::Arg(arg) => match args.get(usize::from(arg.0)) {
                Some(arg) => (Some(arg.value), vec![(list(arg.value), arg.place)]),
                None => (None, Vec::new()),
            },
            Base::VarArgs(from) => {
                let rest = args.iter().skip(usize::from(from.0));
                (None, rest.map(|arg| (list(arg.value), arg.place)).collect())
            }
            // What is behind a va_list: all pointers in its memory.
            Base::VaList(arg) => match args.get(usize::from(arg.0)) {
                Some(arg) => {
                    let direct = list(arg.value);
                    let behind = self.derive(direct.clone(), Derived::Behind { anywhere: true, shift: 0 });
                    let any = self.derive(behind, Derived::Whole);
                    (None, vec![(direct, None), (any, None)])
                }
                None => (None, Vec::new()),
            },
            Base::Library(part) => place(ObjectKind::Library, LibraryPart::Static(part).offsets()),
            Base::Variable(name) => match self.global(name) {
                Some(global) => place(ObjectKind::Global(global), Offsets::exact(0)),
                None => place(ObjectKind::Library, LibraryPart::Variables.offsets()),
            },
            Base::Fresh => place(ObjectKind::Heap(at.site), Offsets::exact(0)),
            Base::Errno | Base::ThreadResult(_) | Base::Specific(_) => (None, Vec::new()),
        }
    }

    fn global(&self, name: &str) -> Option<GlobalId> {
        let mut globals = self.program.globals.iter();
        globals.find(|(_, global)| self.program.text(global.symbol) == name).map(|(id, _)| id)
    }

    /// A variable that the program does not declare, touched under a lock of the library.
    fn is_out_of_reach(&self, touch: &Touch) -> bool {
        match touch.region.base {
            Base::Variable(name) => touch.atomicity == Atomicity::Atomic && self.global(name).is_none(),
            _ => false,
        }
    }

    fn derive(&mut self, targets: Targets, how: Derived) -> Targets {
        if how == Derived::Shifted(0) {
            return targets;
        }
        let key = match &targets {
            Targets::Set(set) => Some((*set, how)),
            Targets::List(_) => None,
        };
        if let Some(known) = key.and_then(|key| self.known.get(&key)) {
            return known.clone();
        }
        let list = match &targets {
            Targets::Set(set) => self.points_to.targets_of(*set),
            Targets::List(list) => list,
        };
        let derived = match how {
            Derived::Shifted(by) => shifted(list, by),
            Derived::Behind { anywhere, shift } => self.behind(list, anywhere, shift),
            Derived::Whole => {
                let mut whole: Vec<(ObjectId, Offsets)> =
                    list.iter().map(|(object, _)| (*object, Offsets::ANY)).collect();
                whole.dedup();
                whole
            }
        };
        let derived = Targets::List(derived.into());
        if let Some(key) = key {
            self.known.insert(key, derived.clone());
        }
        derived
    }

    /// What the pointers in memory point to: those at the targets, or all in the objects.
    fn behind(
        &self,
        targets: &[(ObjectId, Offsets)],
        anywhere: bool,
        shift: i64,
    ) -> Vec<(ObjectId, Offsets)> {
        let word = u64::from(self.program.data_model.pointer_bytes());
        let mut sets: Vec<SetId> = Vec::new();
        for (object, offsets) in targets {
            for cell in &self.points_to.contents[*object] {
                if anywhere || cell.at.may_overlap(u64::from(cell.bytes), *offsets, word) {
                    sets.push(cell.holds);
                }
            }
        }
        sets.sort_unstable();
        sets.dedup();
        let mut found: Vec<(ObjectId, Offsets)> =
            sets.iter().flat_map(|set| shifted(self.points_to.targets_of(*set), shift)).collect();
        found.sort();
        found.dedup();
        found
    }

    fn length(&self, function: FunctionId, operand: Operand) -> u64 {
        if let Some(length) = term_of(self.values, function, operand).as_constant() {
            return u64::try_from(length).unwrap_or(u64::MAX);
        }
        match operand {
            Operand::Reg(reg) => {
                let interval = self.values.intervals[function].get(reg.0 as usize);
                match interval {
                    Some(range) if range.low >= 0 && range.high < i64::MAX => range.high as u64,
                    _ => u64::MAX,
                }
            }
            _ => u64::MAX,
        }
    }

    fn extent(&self, function: FunctionId, args: &[CallArg], extent: Extent) -> u64 {
        let value = |arg: raddle_libmodel::Arg| {
            args.get(usize::from(arg.0)).map_or(u64::MAX, |arg| self.length(function, arg.value))
        };
        let times = |a: u64, b: u64| a.saturating_mul(b);
        let word: u64 = match self.program.data_model {
            DataModel::Lp64 => 8,
            DataModel::Ilp32 => 4,
        };
        match extent {
            Extent::Fixed { .. } => extent.bytes(self.program.data_model).unwrap_or(u64::MAX),
            Extent::Arg(arg) | Extent::CStringUpTo(arg) => value(arg),
            Extent::Product(a, b) => times(value(a), value(b)),
            Extent::Times(arg, n) => times(value(arg), u64::from(n)),
            Extent::TimesWords(arg, n) => times(value(arg), u64::from(n) * word),
            Extent::StringOf(arg) => {
                args.get(usize::from(arg.0)).map_or(u64::MAX, |arg| self.text(function, arg.value))
            }
            Extent::Pages(_) | Extent::CString | Extent::ToEnd => u64::MAX,
        }
    }

    /// Bytes of the longest string that starts where the operand points, with its end: known of constants.
    fn text(&self, function: FunctionId, operand: Operand) -> u64 {
        if let Operand::Global(global, offset) = operand {
            return constant_text(self.program, global, offset).unwrap_or(u64::MAX);
        }
        let targets = self.objects.targets(self.points_to, function, operand);
        let lengths = targets.of(self.points_to).iter().map(|(object, at)| {
            match self.points_to.objects[*object].kind {
                ObjectKind::Global(global) if at.is_exact() => constant_text(self.program, global, at.anchor),
                _ => None,
            }
        });
        lengths.max_by_key(|length| length.unwrap_or(u64::MAX)).flatten().unwrap_or(u64::MAX)
    }
}

fn constant_text(program: &Program, global: GlobalId, offset: i64) -> Option<u64> {
    let global = &program.globals[global];
    let start = usize::try_from(offset).ok()?;
    let init = global
        .init
        .as_ref()
        .filter(|init| global.constant && init.relocations.is_empty() && init.open.is_empty())?;
    // Bytes beyond the data are zero.
    let rest = init.data.get(start..)?;
    let end = (start + rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len())) as u64;
    (end < global.bytes).then_some(end - start as u64 + 1)
}

fn shifted(targets: &[(ObjectId, Offsets)], by: i64) -> Vec<(ObjectId, Offsets)> {
    let shift =
        |bound: i64| if bound == i64::MIN || bound == i64::MAX { bound } else { bound.saturating_add(by) };
    targets
        .iter()
        .map(|(object, at)| {
            let moved = Offsets {
                anchor: at.anchor.wrapping_add(by),
                stride: at.stride,
                low: shift(at.low),
                high: shift(at.high),
            };
            (*object, moved)
        })
        .collect()
}

fn load_order(order: LoadOrder) -> Atomic {
    Atomic { acquire: order.acquires(), release: false, update: false }
}

fn store_order(order: StoreOrder) -> Atomic {
    Atomic { acquire: false, release: order.releases(), update: false }
}

fn rmw_order(order: RmwOrder) -> Atomic {
    Atomic { acquire: order.acquires(), release: order.releases(), update: true }
}

/// Library forms carry the order in an argument or not at all: only the kernel's own are known here.
fn call_order(effect: &Effect) -> Atomic {
    match effect {
        Effect::Atomic(AtomicCall::Kernel { order, .. }) => Atomic {
            acquire: matches!(order, KernelOrder::Acquire | KernelOrder::SeqCst),
            release: matches!(order, KernelOrder::Release | KernelOrder::SeqCst),
            update: true,
        },
        _ => Atomic { acquire: false, release: false, update: true },
    }
}
