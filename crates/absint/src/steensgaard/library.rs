//! Library calls by their memory effects, and which pointers reach a lock.

use super::classes::Class;
use super::walk::{Passed, Walk};
use crate::points_to::LibraryPart;
use raddle_base::SiteId;
use raddle_facts::ObjectKind;
use raddle_ir::DataModel;
use raddle_libmodel::memory::{Base, Library, MemoryEffect, Reach, Region, Value, When};
use raddle_libmodel::{Arg, CondOp, Effect, SemOp};

impl Walk<'_> {
    pub(super) fn library_call(&mut self, site: SiteId, effect: &Effect, args: &[Passed], results: &[Class]) {
        if let Some(lock) = lock_argument(effect).and_then(|arg| args.get(usize::from(arg.0))) {
            let object = self.classes.pointee(lock.class);
            self.locks.push(object);
        }
        let memory: &MemoryEffect = &effect.memory();
        for store in &memory.stores {
            if let (Some(to), Some(value)) =
                (self.region(site, store.to, args), self.value(site, store.value, args))
            {
                let held = self.classes.pointee(to);
                self.classes.join(held, value);
            }
        }
        if let Some(result) = results.first() {
            for value in &memory.returns {
                if let Some(value) = self.value(site, *value, args) {
                    let pointee = self.classes.pointee(*result);
                    self.classes.join(pointee, value);
                }
            }
        }
        for callback in &memory.calls {
            let Some(function) = args.get(usize::from(callback.function.0)).copied() else { continue };
            let mut passed = Vec::new();
            for value in &callback.passes {
                let class = self.classes.class();
                if let Some(value) = self.value(site, *value, args) {
                    let pointee = self.classes.pointee(class);
                    self.classes.join(pointee, value);
                }
                passed.push(Passed { class, by_value: false });
            }
            let result = self.classes.class();
            self.call_through(function.class, &passed, &[result]);
            if callback.when == When::NewThread {
                let cell = self.part(LibraryPart::ThreadResult);
                self.classes.assign(cell, result);
            }
        }
    }

    /// The memory of a region.
    fn region(&mut self, site: SiteId, region: Region, args: &[Passed]) -> Option<Class> {
        let arg = |arg: Arg| args.get(usize::from(arg.0)).map(|arg| arg.class);
        let base = match region.base {
            Base::Arg(index) => self.classes.pointee(arg(index)?),
            Base::VarArgs(first) => {
                let any = self.classes.class();
                for arg in args.iter().skip(usize::from(first.0)) {
                    self.classes.assign(any, arg.class);
                }
                self.classes.pointee(any)
            }
            Base::VaList(index) => {
                let list = self.classes.pointee(arg(index)?);
                match self.program.data_model {
                    DataModel::Lp64 => self.classes.pointee(list),
                    DataModel::Ilp32 => list,
                }
            }
            Base::Fresh => self.object(ObjectKind::Heap(site)),
            Base::Library(library) => self.part(LibraryPart::Static(library)),
            Base::Variable(name) => {
                let symbol = self.program.strings.lookup(name);
                let declared = symbol.and_then(|symbol| {
                    self.program.globals.iter().find(|(_, global)| global.symbol == symbol)
                });
                match declared {
                    Some((global, _)) => self.global_object(global),
                    None => self.part(LibraryPart::Variables),
                }
            }
            Base::Errno => self.part(LibraryPart::Errno),
            Base::ThreadResult(_) => self.part(LibraryPart::ThreadResult),
            Base::Specific(_) => self.part(LibraryPart::Specific),
        };
        Some(match region.reach {
            Reach::Direct => base,
            Reach::Behind | Reach::BehindAny => self.classes.pointee(base),
            Reach::BehindTwice => {
                let first = self.classes.pointee(base);
                self.classes.pointee(first)
            }
        })
    }

    /// What a value points to.
    fn value(&mut self, site: SiteId, value: Value, args: &[Passed]) -> Option<Class> {
        match value {
            Value::Arg(index) => {
                let class = args.get(usize::from(index.0))?.class;
                Some(self.classes.pointee(class))
            }
            Value::Into(region) => self.region(site, region, args),
            Value::ContentOf(region) => {
                let memory = self.region(site, region, args)?;
                Some(self.classes.pointee(memory))
            }
            Value::NewThread | Value::ThisThread => Some(self.part(LibraryPart::Handle)),
            Value::Outside => {
                let written = self.part(LibraryPart::Static(Library::Written));
                Some(self.classes.pointee(written))
            }
        }
    }
}

/// The argument that points to a lock, or to what orders threads like one.
fn lock_argument(effect: &Effect) -> Option<Arg> {
    match *effect {
        Effect::Lock { lock, .. } | Effect::Unlock { lock, .. } => Some(lock),
        Effect::Cond(CondOp::Wait { mutex, .. }, _) => Some(mutex),
        Effect::Sem(SemOp::Post { sem } | SemOp::Wait { sem, .. }, _) => Some(sem),
        _ => None,
    }
}
