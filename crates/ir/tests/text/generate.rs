//! Random well-formed programs over every kind of item and instruction.

use raddle_base::{FenceOrder, Id, IdVec, LoadOrder, RmwOrder, StoreOrder};
use raddle_ir::{
    BinOp, Block, BlockId, CallArg, Callee, CastOp, CmpXchg, DataModel, DebugType, DebugTypeId, FBinOp,
    FcmpPred, Field, FileId, FloatTy, Function, FunctionId, Gep, Global, GlobalId, IcmpPred, Init, Inst,
    IntrinsicOp, MemKind, Operand, Param, Phi, Place, PlaceBase, PlaceId, PlaceStep, Program, RecordKind,
    Reg, RegInfo, Relocation, RmwOp, SiteId, SiteInfo, Span, Symbol, SymbolRef, Terminator, Ty,
};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.coin() { Some(make(self)) } else { None }
    }
}

pub fn program(seed: u64) -> Program {
    let mut g = Generator { r: Random(seed), p: Program::new(DataModel::Lp64) };
    if g.r.coin() {
        g.p.data_model = DataModel::Ilp32;
    }
    g.fill();
    g.p
}

struct Generator {
    r: Random,
    p: Program,
}

const TYPES: [Ty; 8] = [
    Ty::Int(1),
    Ty::Int(8),
    Ty::Int(32),
    Ty::Int(64),
    Ty::Int(128),
    Ty::Float(FloatTy::F64),
    Ty::Float(FloatTy::F80),
    Ty::Ptr,
];
const WORDS: [&str; 10] =
    ["x", "counter", "a b", "q\"uote", "back\\slash", "line\nbreak", "tab\t\u{1}", "größe", "", "->"];

impl Generator {
    fn symbol(&mut self) -> Symbol {
        let word = self.r.pick(&WORDS);
        self.p.strings.intern(word)
    }

    fn unique(&mut self, prefix: &str, index: usize) -> Symbol {
        let word = format!("{prefix}{index}{}", self.r.pick(&WORDS));
        self.p.strings.intern(&word)
    }

    fn span(&mut self) -> Option<Span> {
        let files = self.p.files.len();
        self.r.maybe(|r| Span {
            file: FileId::from_index(r.below(files)),
            line: r.below(2000) as u32,
            column: r.below(100) as u32,
        })
    }

    fn type_id(&mut self) -> Option<DebugTypeId> {
        let types = self.p.debug_types.len();
        self.r.maybe(|r| DebugTypeId::from_index(r.below(types)))
    }

    fn fill(&mut self) {
        for i in 0..1 + self.r.below(3) {
            let folder = self.r.pick(&["", "/src/", "../odd \"name\"/"]);
            self.p.files.push(format!("{folder}file{i}.c"));
        }
        let functions = 1 + self.r.below(4);
        let globals = 2 + self.r.below(4);
        self.debug_types();
        self.globals(globals, functions);
        self.places(globals);
        for i in 0..functions {
            let function = self.function(i, functions);
            self.p.functions.push(function);
        }
        for i in 0..functions {
            if self.r.below(4) == 0 {
                self.p.constructors.push(FunctionId::from_index(i));
            }
            if self.r.below(4) == 0 {
                self.p.destructors.push(FunctionId::from_index(i));
            }
        }
    }

    fn debug_types(&mut self) {
        let count = 1 + self.r.below(8);
        for i in 0..count {
            let any = DebugTypeId::from_index(self.r.below(count));
            let earlier = DebugTypeId::from_index(self.r.below(i.max(1)));
            let name = self.symbol();
            let ty = match self.r.below(if i == 0 { 6 } else { 8 }) {
                0 => DebugType::Scalar { name, bytes: 4 },
                1 => DebugType::Pointer { to: any },
                2 => DebugType::Array { element: any, count: self.r.maybe(|r| r.below(10) as u64) },
                3 => {
                    let fields = (0..self.r.below(4)).map(|_| self.field(any)).collect();
                    let kind = self.r.pick(&[RecordKind::Struct, RecordKind::Union, RecordKind::Class]);
                    DebugType::Record { kind, name: self.r.maybe(|_| name), bytes: 24, fields }
                }
                4 => {
                    if self.r.coin() {
                        DebugType::Function
                    } else {
                        DebugType::Void
                    }
                }
                5 => DebugType::Unknown { name: self.r.maybe(|_| name) },
                6 => DebugType::Typedef { name, to: earlier },
                _ => DebugType::Qualified { qualifier: name, to: earlier },
            };
            self.p.debug_types.push(ty);
        }
    }

    fn field(&mut self, ty: DebugTypeId) -> Field {
        let name = self.symbol();
        Field {
            name: self.r.maybe(|_| name),
            ty,
            bit_offset: self.r.below(64) as u64,
            bit_width: self.r.maybe(|r| r.below(32) as u32),
        }
    }

    fn globals(&mut self, count: usize, functions: usize) {
        for i in 0..count {
            let symbol = self.unique("global", i);
            let (name, owner) = (self.symbol(), self.symbol());
            let bytes = 16 + self.r.below(16) as u64;
            let init = if self.r.coin() {
                let data = (0..self.r.below(17)).map(|_| self.r.next() as u8).collect();
                let relocations = (0..self.r.below(3))
                    .map(|_| Relocation {
                        offset: self.r.below(9) as u64,
                        target: match self.r.below(2) {
                            0 => SymbolRef::Global(GlobalId::from_index(self.r.below(count))),
                            _ => SymbolRef::Function(FunctionId::from_index(self.r.below(functions))),
                        },
                        addend: self.r.pick(&[0, 4, -8, i64::MIN, i64::MAX]),
                    })
                    .collect();
                let open =
                    (0..self.r.below(3)).map(|_| self.r.below(9) as u64).map(|at| at..at + 3).collect();
                Some(Init { data, relocations, open })
            } else {
                None
            };
            let global = Global {
                symbol,
                name: self.r.maybe(|_| name),
                owner: self.r.maybe(|_| owner),
                span: self.span(),
                debug_type: self.type_id(),
                bytes,
                align: self.r.pick(&[1, 4, 16]),
                thread_local: i == 0,
                constant: self.r.coin(),
                exported: self.r.coin(),
                init,
            };
            self.p.globals.push(global);
        }
    }

    fn places(&mut self, globals: usize) {
        for _ in 0..1 + self.r.below(6) {
            let name = self.symbol();
            let reg = Reg(0);
            let base = match self.r.below(4) {
                0 => PlaceBase::Global(GlobalId::from_index(self.r.below(globals))),
                1 => PlaceBase::Local(name),
                2 => PlaceBase::Value { name, reg },
                _ => PlaceBase::Unnamed(reg),
            };
            let steps = (0..self.r.below(5))
                .map(|_| match self.r.below(6) {
                    0 => PlaceStep::Deref,
                    1 => PlaceStep::Field(self.symbol()),
                    2 => PlaceStep::Index(self.r.next()),
                    3 => PlaceStep::IndexBy(self.symbol()),
                    4 => PlaceStep::IndexAny,
                    _ => PlaceStep::Offset(self.r.pick(&[0, 7, -3])),
                })
                .collect();
            self.p.places.push(Place { base, steps });
        }
    }

    fn function(&mut self, index: usize, functions: usize) -> Function {
        let mut function = Function {
            symbol: self.unique("function", index),
            name: self.symbol(),
            span: self.span(),
            in_primary_file: self.r.coin(),
            library_copy: self.r.coin(),
            exported: self.r.coin(),
            params: Vec::new(),
            variadic: self.r.coin(),
            returns: (0..self.r.below(3)).map(|_| self.r.pick(&TYPES)).collect(),
            address_taken: self.r.coin(),
            noreturn: self.r.coin(),
            regs: IdVec::new(),
            blocks: IdVec::new(),
        };
        for _ in 0..1 + self.r.below(3) {
            let ty = self.r.pick(&TYPES);
            let reg = self.reg(&mut function, ty);
            let by_value = self.r.maybe(|r| (r.below(100) as u64, 8));
            let debug_type = self.type_id();
            function.params.push(Param { reg, by_value, debug_type });
        }
        if index > 0 && self.r.below(4) == 0 {
            return function;
        }
        let count = 1 + self.r.below(4);
        let terminators: Vec<Shape> = (0..count).map(|_| self.shape(count)).collect();
        let params: Vec<Reg> = function.params.iter().map(|p| p.reg).collect();
        for b in 0..count {
            let mut scope = params.clone();
            let mut phis = Vec::new();
            if b > 0 {
                for _ in 0..self.r.below(3) {
                    let ty = self.r.pick(&TYPES);
                    let dst = self.reg(&mut function, ty);
                    let incoming = (0..count)
                        .filter(|from| terminators[*from].targets().any(|t| t == b))
                        .map(|from| {
                            (BlockId::from_index(from), self.value(&function, &params, count, functions, ty))
                        })
                        .collect();
                    phis.push(Phi { dst, incoming });
                }
                scope.extend(phis.iter().map(|phi| phi.dst));
            }
            let first_site = SiteId::from_index(self.p.sites.len());
            let mut insts = Vec::new();
            for _ in 0..self.r.below(8) {
                let mut context =
                    Context { function: &mut function, scope: &scope, blocks: count, functions };
                let inst = self.inst(&mut context);
                inst.each_dst(|dst| scope.push(dst));
                insts.push(inst);
            }
            let terminator = self.terminator(&function, &scope, count, functions, &terminators[b]);
            for _ in 0..=insts.len() {
                let span = self.span();
                self.p.sites.push(SiteInfo { function: FunctionId::from_index(index), span });
            }
            function.blocks.push(Block { phis, first_site, insts, terminator });
        }
        function
    }

    fn reg(&mut self, function: &mut Function, ty: Ty) -> Reg {
        let name = self.symbol();
        let name = self.r.maybe(|_| name);
        let debug_type = self.type_id();
        function.regs.push(RegInfo { ty, name, debug_type })
    }

    /// A value of this type that is defined in every block of the scope.
    fn value(
        &mut self,
        function: &Function,
        scope: &[Reg],
        blocks: usize,
        functions: usize,
        ty: Ty,
    ) -> Operand {
        let fitting: Vec<Reg> = scope.iter().copied().filter(|reg| function.regs[*reg].ty == ty).collect();
        if !fitting.is_empty() && self.r.below(3) > 0 {
            return Operand::Reg(self.r.pick(&fitting));
        }
        match (ty, self.r.below(6)) {
            (_, 0) => Operand::Undef,
            (Ty::Ptr, 1) => Operand::Null,
            (Ty::Ptr, 2) => Operand::Function(FunctionId::from_index(self.r.below(functions))),
            (Ty::Ptr, 3) => Operand::Block(BlockId::from_index(self.r.below(blocks))),
            (Ty::Ptr, _) => {
                let global = GlobalId::from_index(1 + self.r.below(self.p.globals.len() - 1));
                Operand::Global(global, self.r.pick(&[0, 12, -4]))
            }
            (Ty::Int(1), _) => Operand::Const(u128::from(self.r.coin())),
            (Ty::Int(128), _) => Operand::Const(u128::from(self.r.next()) << 64 | 5),
            _ => Operand::Const(self.r.below(200) as u128),
        }
    }

    fn inst(&mut self, c: &mut Context) -> Inst {
        let int = self.r.pick(&[Ty::Int(8), Ty::Int(32), Ty::Int(64), Ty::Int(128)]);
        let float = self.r.pick(&[Ty::Float(FloatTy::F64), Ty::Float(FloatTy::F80)]);
        let any = self.r.pick(&TYPES);
        let place = PlaceId::from_index(self.r.below(self.p.places.len()));
        let symbol = self.symbol();
        match self.r.below(29) {
            0 => {
                let op = self.r.pick(&[BinOp::Add, BinOp::SRem, BinOp::AShr, BinOp::Xor]);
                let (a, b) = (c.value(self, int), c.value(self, int));
                Inst::Bin { dst: c.reg(self, int), op, ty: int, a, b }
            }
            1 => {
                let op = self.r.pick(&[FBinOp::Add, FBinOp::Div, FBinOp::Rem]);
                let (a, b) = (c.value(self, float), c.value(self, float));
                Inst::FBin { dst: c.reg(self, float), op, ty: float, a, b }
            }
            2 => Inst::FNeg { a: c.value(self, float), dst: c.reg(self, float), ty: float },
            3 => {
                let pred = self.r.pick(&[IcmpPred::Eq, IcmpPred::Slt, IcmpPred::Uge]);
                let (a, b) = (c.value(self, int), c.value(self, int));
                Inst::Icmp { dst: c.reg(self, Ty::Int(1)), pred, ty: int, a, b }
            }
            4 => {
                let pred = self.r.pick(&[FcmpPred::False, FcmpPred::One, FcmpPred::Uno, FcmpPred::True]);
                let (a, b) = (c.value(self, float), c.value(self, float));
                Inst::Fcmp { dst: c.reg(self, Ty::Int(1)), pred, ty: float, a, b }
            }
            5 => {
                let (op, from, to) = self.r.pick(&[
                    (CastOp::Trunc, Ty::Int(64), Ty::Int(8)),
                    (CastOp::SExt, Ty::Int(8), Ty::Int(32)),
                    (CastOp::FpExt, Ty::Float(FloatTy::F64), Ty::Float(FloatTy::F80)),
                    (CastOp::FpToSi, Ty::Float(FloatTy::F64), Ty::Int(32)),
                    (CastOp::UiToFp, Ty::Int(32), Ty::Float(FloatTy::F80)),
                    (CastOp::PtrToInt, Ty::Ptr, Ty::Int(64)),
                    (CastOp::IntToPtr, Ty::Int(32), Ty::Ptr),
                    (CastOp::Bitcast, Ty::Int(64), Ty::Float(FloatTy::F64)),
                ]);
                Inst::Cast { a: c.value(self, from), dst: c.reg(self, to), op, from, to }
            }
            6 => {
                let (cond, a, b) = (c.value(self, Ty::Int(1)), c.value(self, any), c.value(self, any));
                Inst::Select { dst: c.reg(self, any), ty: any, cond, a, b }
            }
            7 => Inst::Copy { a: c.value(self, any), dst: c.reg(self, any), ty: any },
            8 => {
                let bytes = c.value(self, Ty::Int(64));
                let name = self.r.maybe(|_| symbol);
                let debug_type = self.type_id();
                Inst::Alloca {
                    dst: c.reg(self, Ty::Ptr),
                    bytes,
                    align: self.r.pick(&[1, 8]),
                    name,
                    debug_type,
                }
            }
            9 => Inst::TlsAddr { dst: c.reg(self, Ty::Ptr), global: GlobalId(0) },
            10 | 11 => {
                let ptr = c.value(self, Ty::Ptr);
                let order = self.r.pick(&[LoadOrder::Relaxed, LoadOrder::Acquire, LoadOrder::SeqCst]);
                let (atomic, volatile) = (self.r.maybe(|_| order), self.r.coin());
                Inst::Load { dst: c.reg(self, any), ty: any, ptr, atomic, volatile, place }
            }
            12 | 13 => {
                let (value, ptr) = (c.value(self, any), c.value(self, Ty::Ptr));
                let order = self.r.pick(&[StoreOrder::Relaxed, StoreOrder::Release, StoreOrder::SeqCst]);
                Inst::Store {
                    ty: any,
                    value,
                    ptr,
                    atomic: self.r.maybe(|_| order),
                    volatile: self.r.coin(),
                    place,
                }
            }
            14 => {
                let op = self.r.pick(&[RmwOp::Xchg, RmwOp::Nand, RmwOp::UMin]);
                let order = self.r.pick(&[RmwOrder::Relaxed, RmwOrder::AcqRel, RmwOrder::SeqCst]);
                let (ptr, value) = (c.value(self, Ty::Ptr), c.value(self, int));
                Inst::Rmw { dst: c.reg(self, int), op, ty: int, ptr, value, order, place }
            }
            15 => {
                let (ptr, expected, new) = (c.value(self, Ty::Ptr), c.value(self, int), c.value(self, int));
                Inst::CmpXchg(Box::new(CmpXchg {
                    old: c.reg(self, int),
                    success: c.reg(self, Ty::Int(1)),
                    ty: int,
                    ptr,
                    expected,
                    new,
                    on_success: self.r.pick(&[RmwOrder::Acquire, RmwOrder::Release]),
                    on_failure: self.r.pick(&[LoadOrder::Relaxed, LoadOrder::Acquire]),
                    weak: self.r.coin(),
                    place,
                }))
            }
            16 => Inst::Fence { order: self.r.pick(&[FenceOrder::Acquire, FenceOrder::AcqRel]) },
            17 => Inst::SignalFence,
            18 => {
                let base = c.value(self, Ty::Ptr);
                let indices = (0..self.r.below(3))
                    .map(|_| (c.value(self, int), int, self.r.pick(&[1, 24, -8])))
                    .collect();
                let offset = self.r.pick(&[0, 16, -16]);
                Inst::Gep(Box::new(Gep { dst: c.reg(self, Ty::Ptr), base, offset, indices }))
            }
            19 => Inst::MemCopy {
                kind: self.r.pick(&[MemKind::Copy, MemKind::Move]),
                dst: c.value(self, Ty::Ptr),
                src: c.value(self, Ty::Ptr),
                len: c.value(self, Ty::Int(64)),
                dst_place: place,
                src_place: PlaceId(0),
            },
            20 => Inst::MemSet {
                dst: c.value(self, Ty::Ptr),
                byte: c.value(self, Ty::Int(8)),
                len: c.value(self, Ty::Int(32)),
                place,
            },
            21 | 22 => {
                let callee = match self.r.coin() {
                    true => Callee::Direct(FunctionId::from_index(self.r.below(c.functions))),
                    false => Callee::Indirect(c.value(self, Ty::Ptr)),
                };
                let args = (0..self.r.below(4))
                    .map(|_| {
                        let ty = self.r.pick(&TYPES);
                        CallArg {
                            value: c.value(self, ty),
                            ty,
                            by_value: self.r.maybe(|r| (r.below(64) as u64, 4)),
                            place: self.r.maybe(|_| place),
                        }
                    })
                    .collect();
                let dsts = (0..self.r.below(3)).map(|_| c.reg(self, any)).collect();
                Inst::Call { dsts, callee, args }
            }
            23 => {
                let op = self.r.pick(&[IntrinsicOp::Bswap, IntrinsicOp::UMulOverflow, IntrinsicOp::Outside]);
                let args = (0..1 + self.r.below(3)).map(|_| c.value(self, int)).collect();
                Inst::Intrinsic { dsts: vec![c.reg(self, int)], op, ty: int, args }
            }
            24 => match self.r.coin() {
                true => Inst::VaStart { list: c.value(self, Ty::Ptr) },
                false => Inst::VaEnd { list: c.value(self, Ty::Ptr) },
            },
            25 => match self.r.coin() {
                true => Inst::VaCopy { dst: c.value(self, Ty::Ptr), src: c.value(self, Ty::Ptr) },
                false => Inst::VaArg { list: c.value(self, Ty::Ptr), dst: c.reg(self, any), ty: any },
            },
            26 => match self.r.coin() {
                true => Inst::StackSave { dst: c.reg(self, Ty::Ptr) },
                false => Inst::StackRestore { mark: c.value(self, Ty::Ptr) },
            },
            27 => {
                let writes = (0..self.r.below(2)).map(|_| (c.value(self, Ty::Ptr), 8)).collect();
                let reads = (0..self.r.below(3)).map(|_| c.value(self, any)).collect();
                let dsts = (0..self.r.below(3)).map(|_| c.reg(self, any)).collect();
                Inst::Asm { dsts, text: symbol, writes, reads }
            }
            _ => {
                let dsts = (0..self.r.below(3)).map(|_| c.reg(self, any)).collect();
                Inst::Unsupported { dsts, reason: symbol }
            }
        }
    }

    fn shape(&mut self, blocks: usize) -> Shape {
        let mut target = || self.r.below(blocks);
        let targets = [target(), target(), target()];
        match self.r.below(7) {
            0 => Shape::Br(targets[0]),
            1 => Shape::CondBr(targets[0], targets[1]),
            2 => Shape::Switch(targets[0], targets[1], targets[2]),
            3 => Shape::IndirectBr(targets[0], targets[1]),
            4 => Shape::Ret,
            5 => Shape::Unreachable,
            _ => Shape::Unsupported,
        }
    }

    fn terminator(
        &mut self,
        function: &Function,
        scope: &[Reg],
        blocks: usize,
        functions: usize,
        shape: &Shape,
    ) -> Terminator {
        let block = BlockId::from_index;
        match *shape {
            Shape::Br(target) => Terminator::Br(block(target)),
            Shape::CondBr(then, other) => {
                let cond = self.value(function, scope, blocks, functions, Ty::Int(1));
                Terminator::CondBr { cond, then: block(then), other: block(other) }
            }
            Shape::Switch(a, b, default) => {
                let ty = Ty::Int(64);
                let value = self.value(function, scope, blocks, functions, ty);
                let cases = vec![(0, block(a)), (u128::from(u64::MAX), block(b))];
                Terminator::Switch { value, ty, cases, default: block(default) }
            }
            Shape::IndirectBr(a, b) => {
                let target = self.value(function, scope, blocks, functions, Ty::Ptr);
                Terminator::IndirectBr { target, targets: vec![block(a), block(b)] }
            }
            Shape::Ret => {
                let returns = function.returns.clone();
                let values =
                    returns.iter().map(|ty| self.value(function, scope, blocks, functions, *ty)).collect();
                Terminator::Ret { values }
            }
            Shape::Unreachable => Terminator::Unreachable,
            Shape::Unsupported => Terminator::Unsupported { reason: self.symbol() },
        }
    }
}

struct Context<'f> {
    function: &'f mut Function,
    scope: &'f [Reg],
    blocks: usize,
    functions: usize,
}

impl Context<'_> {
    fn value(&mut self, g: &mut Generator, ty: Ty) -> Operand {
        g.value(self.function, self.scope, self.blocks, self.functions, ty)
    }

    fn reg(&mut self, g: &mut Generator, ty: Ty) -> Reg {
        g.reg(self.function, ty)
    }
}

/// A terminator before its operands are known.
enum Shape {
    Br(usize),
    CondBr(usize, usize),
    Switch(usize, usize, usize),
    IndirectBr(usize, usize),
    Ret,
    Unreachable,
    Unsupported,
}

impl Shape {
    fn targets(&self) -> impl Iterator<Item = usize> {
        let list = match *self {
            Shape::Br(a) => vec![a],
            Shape::CondBr(a, b) | Shape::IndirectBr(a, b) => vec![a, b],
            Shape::Switch(a, b, c) => vec![a, b, c],
            Shape::Ret | Shape::Unreachable | Shape::Unsupported => vec![],
        };
        list.into_iter()
    }
}
