//! Writes planned checks into the function.

use crate::checks::Size;
use crate::hooks::Hooks;
use crate::llvm::{Builder, Module, Value};
use crate::marks::Role;

pub(crate) struct Emitter<'a> {
    pub(crate) module: &'a Module,
    pub(crate) builder: Builder<'a>,
    pub(crate) hooks: &'a Hooks,
}

impl Emitter<'_> {
    /// The number of a site. In a library its base is added at the end, by [`Emitter::add_base`].
    pub(crate) fn site(&self, site: u32) -> Value {
        self.builder.int32(site)
    }

    /// In a library, adds what its site ids start from to the site of every call of a hook.
    pub(crate) fn add_base(&self, base: Value) {
        let int = self.module.int(32);
        for function in self.module.functions() {
            for call in function.blocks().into_iter().flat_map(|block| block.instructions()) {
                let Some(hook) = call.direct_callee() else { continue };
                let Some(position) = self.hooks.site_position(hook) else { continue };
                let Some(site) = call.operand(position) else { continue };
                self.builder.before(call);
                let base = self.builder.load(int, base);
                call.set_operand(position, self.builder.add(base, site));
            }
        }
    }

    /// A check at the builder's position.
    pub(crate) fn check(&self, role: Role, address: Value, size: Size, site: u32) {
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
            Size::Walk { stride, count, bytes } => {
                let hook = if write { self.hooks.write_walk } else { self.hooks.read_walk };
                self.builder.call(hook, &[address, stride, count, self.builder.int32(bytes), site]);
                return;
            }
        };
        let hook = if write { self.hooks.write_bytes } else { self.hooks.read_bytes };
        self.builder.call(hook, &[address, bytes, site]);
    }
}
