//! Writes planned checks into the function.

use crate::accesses::{Check, Size};
use crate::hooks::Hooks;
use crate::llvm::{Builder, Module, Value};
use crate::marks::{Marks, Role};

pub(crate) struct Emitter<'a> {
    pub(crate) module: &'a Module,
    pub(crate) builder: Builder<'a>,
    pub(crate) hooks: &'a Hooks,
    /// In a library: what is added to all its site ids.
    pub(crate) base: Option<Value>,
}

impl Emitter<'_> {
    /// The number of a site, at the builder's position.
    pub(crate) fn site(&self, site: u32) -> Value {
        let constant = self.builder.int32(site);
        match self.base {
            None => constant,
            Some(base) => {
                let base = self.builder.load(self.module.int(32), base);
                self.builder.add(base, constant)
            }
        }
    }

    /// A check right before its access.
    pub(crate) fn check(&self, check: &Check, marks: &mut Marks) {
        let site = marks.site(self.module, check.at, check.role);
        self.builder.before(check.at);
        self.check_here(check.role, check.address, check.size, site);
    }

    pub(crate) fn check_here(&self, role: Role, address: Value, size: Size, site: u32) {
        let write = role == Role::Write;
        let site = self.site(site);
        if let Size::Bytes(bytes) = size
            && let Some(hook) = self.hooks.sized(write, bytes)
        {
            self.builder.call(hook, &[address, site]);
            return;
        }
        let bytes = match size {
            Size::Bytes(bytes) => self.builder.int64(bytes as i64),
            Size::Computed(bytes) => self.builder.zero_extend(bytes, self.module.int(64)),
        };
        let hook = if write { self.hooks.write_bytes } else { self.hooks.read_bytes };
        self.builder.call(hook, &[address, bytes, site]);
    }
}
