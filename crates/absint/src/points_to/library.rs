//! Library calls by their memory effects.
//!
//! Copies of the functions named here keep the order of bytes; other copies may put any pointer anywhere. Text is not an address:
//! what is read as a string or printed carries none.

use super::calls::{How, Invoke, Passed};
use super::graph::Node;
use super::memory::Width;
use super::objects::LibraryPart;
use super::pattern;
use super::sets::{LOSE, SAME};
use super::solver::Solver;
use raddle_facts::{ObjectKind, Offsets};
use raddle_ir::{GlobalId, Ty};
use raddle_libmodel::memory::{Access, Base, Extent, Library, MemoryEffect, Reach, Region, Store, Value};
use raddle_libmodel::{Arg, AtomicCall, Effect, KernelAtomic, SizedAtomic};

/// Functions whose copies keep offsets.
const IN_ORDER: &[&str] = &["memcpy", "memmove", "mempcpy", "bcopy", "memccpy", "realloc", "reallocarray"];

impl Solver<'_> {
    pub(super) fn library_call(&mut self, invoke: &Invoke, effect: &Effect) {
        let memory = effect.memory();
        let in_order = match effect {
            Effect::Libc(function) => IN_ORDER.contains(&function.0),
            Effect::Atomic(_) | Effect::Thread(..) => true,
            _ => false,
        };
        let mut call =
            LibraryCall { invoke, memory: &memory, in_order, computes: computed_atomic(effect), step: 1 };
        call.step = call.element(effect).unwrap_or(1);
        if memory.allocates.is_some() {
            self.fresh(&call);
        }
        // Memory of the library exists from the first call that touches it.
        for touch in &memory.touches {
            if matches!(touch.region.base, Base::Library(_) | Base::Variable(_)) {
                self.region_pointer(&call, touch.region.base.into());
            }
        }
        for store in &memory.stores {
            self.library_store(&call, *store);
        }
        if let Some(target) = call.computes.and_then(|target| call.arg(target)?.node) {
            let old = self.loaded(target, self.word());
            let new = self.shifted(old, LOSE);
            self.store(target, new, self.word());
        }
        if let Some(result) = invoke.results.first() {
            for value in &memory.returns {
                if let Some(node) = self.library_value(&call, *value, Some(result.ty)) {
                    let shift = if call.computes.is_some() { LOSE } else { SAME };
                    self.graph.edge(&mut self.sets, node, result.node, shift);
                }
            }
        }
        for callback in &memory.calls {
            let Some(pointer) = call.arg(callback.function).and_then(|arg| arg.node) else { continue };
            let args = callback
                .passes
                .iter()
                .map(|value| Passed {
                    node: self.library_value(&call, *value, Some(Ty::Ptr)),
                    ..Passed::default()
                })
                .collect();
            let how = How::Callback(callback.when);
            self.new_invoke(Invoke {
                site: invoke.site,
                how,
                args,
                results: Vec::new(),
                pointer: Some(pointer),
            });
        }
    }

    /// The block that the call makes.
    fn fresh(&mut self, call: &LibraryCall) -> Node {
        let size = call.memory.allocates.and_then(|block| self.extent(call, block.size));
        let object = self.object(ObjectKind::Heap(call.invoke.site), size);
        self.constant(object, Offsets::exact(0))
    }

    /// The number of bytes, where it is one constant.
    fn extent(&self, call: &LibraryCall, extent: Extent) -> Option<u64> {
        let number =
            |arg: Arg| call.arg(arg).and_then(|arg| arg.number).and_then(|number| u64::try_from(number).ok());
        match extent {
            Extent::Fixed { .. } => extent.bytes(self.program.data_model),
            Extent::Arg(arg) => number(arg),
            Extent::Product(a, b) => number(a)?.checked_mul(number(b)?),
            Extent::Times(arg, bytes) => number(arg)?.checked_mul(u64::from(bytes)),
            Extent::TimesWords(arg, words) => {
                number(arg)?.checked_mul(u64::from(words) * u64::from(self.pointer_bytes))
            }
            Extent::Pages(arg) => number(arg)?.checked_next_multiple_of(4096),
            Extent::CString | Extent::CStringUpTo(_) | Extent::StringOf(_) | Extent::ToEnd => None,
        }
    }

    /// A node that points to the start of a region.
    fn region_pointer(&mut self, call: &LibraryCall, region: Region) -> Option<Node> {
        let base = match region.base {
            Base::Arg(arg) => call.arg(arg)?.node?,
            Base::VarArgs(first) => {
                let node = self.graph.node();
                for arg in call.invoke.args.iter().skip(usize::from(first.0)) {
                    if let Some(from) = arg.node {
                        self.graph.edge(&mut self.sets, from, node, SAME);
                    }
                }
                node
            }
            Base::VaList(arg) => {
                let list = call.arg(arg)?.node?;
                match self.program.data_model {
                    raddle_ir::DataModel::Lp64 => {
                        let shift = self.sets.shift(Offsets::exact(8));
                        let place = self.shifted(list, shift);
                        self.loaded(place, self.word())
                    }
                    raddle_ir::DataModel::Ilp32 => list,
                }
            }
            Base::Fresh => self.fresh(call),
            Base::Library(library) => self.library_anywhere(LibraryPart::Static(library)),
            Base::Variable(name) => match self.global_of_name(name) {
                Some(global) => {
                    let object = self.global_object(global);
                    self.constant(object, Offsets::exact(0))
                }
                None => self.library_anywhere(LibraryPart::Variables),
            },
            Base::Errno => self.library(LibraryPart::Errno),
            Base::ThreadResult(_) => self.library(LibraryPart::ThreadResult),
            Base::Specific(_) => self.library(LibraryPart::Specific),
        };
        Some(match region.reach {
            Reach::Direct => base,
            Reach::Behind => self.loaded(base, self.word()),
            Reach::BehindAny => self.behind_any(base),
            Reach::BehindTwice => {
                let first = self.behind_any(base);
                self.behind_any(first)
            }
        })
    }

    fn behind_any(&mut self, base: Node) -> Node {
        let anywhere = self.forward(base, 1);
        self.loaded(anywhere, self.word())
    }

    fn global_of_name(&self, name: &str) -> Option<GlobalId> {
        let symbol = self.program.strings.lookup(name)?;
        self.program.globals.iter().find(|(_, global)| global.symbol == symbol).map(|(id, _)| id)
    }

    /// Any multiple of the step from the pointer on.
    fn forward(&mut self, node: Node, step: u64) -> Node {
        let shift = self.sets.shift(Offsets { stride: step, ..pattern::FORWARD });
        self.shifted(node, shift)
    }

    fn library_value(&mut self, call: &LibraryCall, value: Value, ty: Option<Ty>) -> Option<Node> {
        match value {
            Value::Arg(arg) => call.arg(arg)?.node,
            Value::Into(region) if region == Base::Fresh.into() => self.region_pointer(call, region),
            Value::Into(region) => {
                let pointer = self.region_pointer(call, region)?;
                Some(self.forward(pointer, call.step))
            }
            Value::ContentOf(region) => {
                let pointer = self.region_pointer(call, region)?;
                let bytes = ty.map_or(self.pointer_bytes, |ty| ty.access_bytes(self.pointer_bytes));
                Some(self.loaded(pointer, Width::address(bytes)))
            }
            Value::NewThread | Value::ThisThread if ty == Some(Ty::Ptr) => {
                Some(self.library(LibraryPart::Handle))
            }
            Value::Outside => {
                let written = self.library_anywhere(LibraryPart::Static(Library::Written));
                Some(self.loaded(written, self.word()))
            }
            Value::NewThread | Value::ThisThread => None,
        }
    }

    fn library_store(&mut self, call: &LibraryCall, store: Store) {
        let Some(to) = self.region_pointer(call, store.to) else { return };
        let written =
            call.memory.touches.iter().find(|touch| {
                touch.region == store.to && matches!(touch.access, Access::Write | Access::Update)
            });
        if let Value::ContentOf(from) = store.value {
            if call.is_text(from) {
                return;
            }
            let Some(from) = self.region_pointer(call, from) else { return };
            if call.in_order {
                let len = written.and_then(|touch| self.extent(call, touch.extent));
                self.copy_bytes(to, from, len.unwrap_or(u64::MAX));
            } else if call.step > 1 {
                // Elements move up and down.
                let (to, from) = (self.forward(to, call.step), self.forward(from, call.step));
                self.copy_bytes(to, from, u64::MAX);
            } else {
                let from = self.forward(from, 1);
                let content = self.loaded(from, self.word());
                let to = self.forward(to, 1);
                self.store(to, content, self.word());
            }
            return;
        }
        let Some(value) = self.library_value(call, store.value, None) else { return };
        let hidden = matches!(store.to.base, Base::ThreadResult(_) | Base::Specific(_));
        let atomic = matches!(written, Some(touch) if touch.extent.bytes(self.program.data_model).is_some());
        let place = if hidden {
            to
        } else if let Some(touch) = written.filter(|_| atomic) {
            let shift = self.sets.shift(Offsets::exact(i64::from(touch.from)));
            self.shifted(to, shift)
        } else {
            self.forward(to, 1)
        };
        let width = written.filter(|_| atomic).and_then(|touch| self.extent(call, touch.extent));
        let bytes = width.and_then(|width| u32::try_from(width).ok()).unwrap_or(self.pointer_bytes);
        let value = if call.computes.is_some() { self.shifted(value, LOSE) } else { value };
        let value = if store.points_inside() { self.forward(value, 1) } else { value };
        self.store(place, value, Width::address(bytes));
    }
}

struct LibraryCall<'a> {
    invoke: &'a Invoke,
    memory: &'a MemoryEffect,
    in_order: bool,
    computes: Option<Arg>,
    /// Pointers into arrays are that many bytes apart.
    step: u64,
}

impl LibraryCall<'_> {
    /// The size of the elements that the function moves as a whole.
    fn element(&self, effect: &Effect) -> Option<u64> {
        let size = match effect {
            Effect::Libc(function) if matches!(function.0, "qsort" | "qsort_r") => Arg(2),
            Effect::Libc(function) if function.0 == "bsearch" => Arg(3),
            _ => return None,
        };
        u64::try_from(self.arg(size)?.number?).ok().filter(|size| *size > 0)
    }

    /// Whether the call reads the region as strings or values to print.
    fn is_text(&self, region: Region) -> bool {
        matches!(region.base, Base::VarArgs(_) | Base::VaList(_))
            || self.memory.touches.iter().any(|touch| {
                touch.region == region
                    && touch.access == Access::Read
                    && matches!(touch.extent, Extent::CString | Extent::CStringUpTo(_))
            })
    }

    fn arg(&self, arg: Arg) -> Option<Passed> {
        self.invoke.args.get(usize::from(arg.0)).copied()
    }
}

/// The target of an atomic operation that computes with the old value.
fn computed_atomic(effect: &Effect) -> Option<Arg> {
    match effect {
        Effect::Atomic(AtomicCall::Sized {
            op: SizedAtomic::Fetch(_) | SizedAtomic::FetchNew(_), ..
        }) => Some(Arg(0)),
        Effect::Atomic(AtomicCall::Kernel {
            op: KernelAtomic::Add { .. } | KernelAtomic::AddUnless { .. },
            target,
            ..
        }) => Some(*target),
        _ => None,
    }
}
