//! What the runtime shares with the code that is compiled into the program: the thread block of hot.c, in the program's thread-local
//! storage, and what it points to. A test compares all layouts with those that hot.c has.

use std::sync::atomic::AtomicU32;

pub const LOOPS: usize = 16;
pub const QUICK: usize = 16;
pub const SHORT_CONTEXTS: usize = 8192;
pub const SHORT_NODES: usize = 2048;
pub const SPARES: usize = 15;

/// Bits of [`Block::flags`]: every access goes to [`crate::observe`]; the runtime does not know the thread; it is in a lock function of
/// the program's own, which is not looked into.
pub const OBSERVED: u32 = 1;
pub const UNKNOWN: u32 = 2;
pub const APART: u32 = 4;

/// The thread block of hot.c.
#[repr(C)]
pub struct Block {
    pub epoch: u32,
    pub flags: u32,
    pub top: *mut Frame,
    pub limit: *mut Frame,
    pub known: [u32; 64],
    pub inside: *const AtomicU32,
    pub used: *const bool,
    pub values: *const u32,
    pub last: [usize; LOOPS],
    /// Whether the thread made a release fence.
    pub fenced: u32,
    pub depth: u32,
    /// As which the thread locks records.
    pub owner: u32,
    pub phase: u32,
    pub pending: [PendingAtomic; 4],
    pub quick: [QuickAtomic; QUICK],
    pub contexts: *const ShortContext,
    pub nodes: *const ShortNode,
    /// Records of mixed bytes that no cell names.
    pub spares: [u32; SPARES],
    pub spare_count: u32,
}

/// An atomic access that hot.c makes without the lock.
#[repr(C)]
pub struct PendingAtomic {
    record: usize,
    address: usize,
    version: u32,
    size: u32,
    kind: u32,
    order: u32,
    site: u32,
    unused: u32,
}

/// One that needed nothing, and will as long as epoch and record are the same.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct QuickAtomic {
    address: usize,
    record: usize,
    state: u64,
    pub epoch: u32,
    what: u32,
    site: u32,
    seen: u32,
}

/// A context that was needed lately, for the steps that hot.c makes itself.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ShortContext {
    /// Site, node, shape.
    pub key: [u32; 3],
    pub id: u32,
}

/// A frame's node that was needed lately.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ShortNode {
    /// Node of the caller, site of the call, function.
    pub key: [u32; 3],
    pub id: u32,
}

/// A frame of the shadow stack, as in hot.c.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Frame {
    pub function: u32,
    pub call: u32,
    pub node: u32,
    pub unused: u32,
}

#[cfg(test)]
mod tests {
    use super::{
        APART, Block, Frame, LOOPS, OBSERVED, PendingAtomic, QUICK, QuickAtomic, SHORT_CONTEXTS, SHORT_NODES,
        SPARES, ShortContext, ShortNode, UNKNOWN,
    };
    use crate::cells::ATOMIC;
    use crate::clocks::Clock;
    use crate::epochs::{RUN, Run, TAG};
    use crate::layout::{CELLS, HAS_RECORDS, MASK, TABLES, context, presence, touched_page};
    use crate::mixed::{self, Mixed};
    use crate::records::{self, Group, Record};
    use std::mem::offset_of;
    use std::process::Command;

    /// Both halves of the runtime must mean the same memory.
    #[test]
    fn hot_c_has_the_same_layouts() {
        let same = [
            ("sizeof(struct raddle_thread)", size_of::<Block>()),
            ("sizeof(struct raddle_frame)", size_of::<Frame>()),
            ("sizeof(struct raddle_context)", size_of::<ShortContext>()),
            ("sizeof(struct raddle_run)", size_of::<Run>()),
            ("__builtin_offsetof(struct raddle_thread, top)", offset_of!(Block, top)),
            ("__builtin_offsetof(struct raddle_thread, known)", offset_of!(Block, known)),
            ("__builtin_offsetof(struct raddle_thread, inside)", offset_of!(Block, inside)),
            ("__builtin_offsetof(struct raddle_thread, values)", offset_of!(Block, values)),
            ("__builtin_offsetof(struct raddle_thread, last)", offset_of!(Block, last)),
            ("__builtin_offsetof(struct raddle_thread, contexts)", offset_of!(Block, contexts)),
            ("__builtin_offsetof(struct raddle_context, id)", offset_of!(ShortContext, id)),
            ("sizeof(struct raddle_node)", size_of::<ShortNode>()),
            ("__builtin_offsetof(struct raddle_thread, nodes)", offset_of!(Block, nodes)),
            ("__builtin_offsetof(struct raddle_thread, spares)", offset_of!(Block, spares)),
            ("__builtin_offsetof(struct raddle_thread, spare_count)", offset_of!(Block, spare_count)),
            ("RADDLE_SPARES", SPARES),
            ("(uint64_t)&RADDLE_PRESENCE(0x12345678)", presence(0x1234_5678) as *const _ as usize),
            ("RADDLE_HAS_RECORDS", HAS_RECORDS as usize),
            ("RADDLE_SHORT_CONTEXTS", SHORT_CONTEXTS),
            ("RADDLE_SHORT_NODES", SHORT_NODES),
            ("__builtin_offsetof(struct raddle_frame, node)", offset_of!(Frame, node)),
            ("sizeof(((struct raddle_thread *)0)->last) / 8", LOOPS),
            ("__builtin_offsetof(struct raddle_thread, flags)", offset_of!(Block, flags)),
            ("RADDLE_OBSERVED", OBSERVED as usize),
            ("RADDLE_UNKNOWN", UNKNOWN as usize),
            ("RADDLE_APART", APART as usize),
            ("RADDLE_CELLS", CELLS),
            ("RADDLE_CONTEXTS", context(0, 0) as *const _ as usize),
            ("RADDLE_CONTEXTS + RADDLE_CONTEXTS_APART", context(0, 1) as *const _ as usize),
            ("(uint64_t)RADDLE_RUNS", TABLES),
            ("__builtin_offsetof(struct raddle_thread, phase)", offset_of!(Block, phase)),
            ("RADDLE_RUN", RUN as usize),
            ("(uint64_t)RADDLE_MIXED", mixed::AT),
            ("sizeof(struct raddle_mixed)", mixed::STRIDE),
            ("__builtin_offsetof(struct raddle_mixed, life)", offset_of!(Mixed, life)),
            ("__builtin_offsetof(struct raddle_mixed, more)", offset_of!(Mixed, more)),
            ("(uint64_t)&RADDLE_TOUCHED(0x12345678)", touched_page(0x1234_5678) as *const _ as usize),
            ("__builtin_offsetof(struct raddle_mixed, entries)", offset_of!(Mixed, entries)),
            ("sizeof(((struct raddle_mixed *)0)->entries) / 8", mixed::ROOM),
            ("RADDLE_ATOMIC", ATOMIC as usize),
            ("(uint64_t)RADDLE_RECORDS", records::AT),
            ("sizeof(struct raddle_record)", records::STRIDE),
            ("sizeof(struct raddle_group)", size_of::<Group>()),
            ("sizeof(((struct raddle_record *)0)->groups) / sizeof(struct raddle_group)", records::INSIDE),
            ("sizeof(((struct raddle_group *)0)->entries) / 8", records::ENTRIES),
            ("__builtin_offsetof(struct raddle_record, version)", offset_of!(Record, version)),
            ("__builtin_offsetof(struct raddle_record, unit)", offset_of!(Record, unit)),
            ("__builtin_offsetof(struct raddle_record, groups)", offset_of!(Record, groups)),
            ("__builtin_offsetof(struct raddle_group, bytes)", offset_of!(Group, bytes)),
            ("__builtin_offsetof(struct raddle_group, wrote)", offset_of!(Group, plain)),
            ("__builtin_offsetof(struct raddle_group, read)", offset_of!(Group, plain) + 8),
            ("__builtin_offsetof(struct raddle_group, message)", offset_of!(Group, message)),
            ("__builtin_offsetof(struct raddle_group, entries)", offset_of!(Group, entries)),
            ("sizeof(struct raddle_clock)", size_of::<Clock>()),
            ("sizeof(struct raddle_pending)", size_of::<PendingAtomic>()),
            ("sizeof(struct raddle_quick)", size_of::<QuickAtomic>()),
            ("__builtin_offsetof(struct raddle_thread, quick)", offset_of!(Block, quick)),
            ("__builtin_offsetof(struct raddle_quick, epoch)", offset_of!(QuickAtomic, epoch)),
            ("RADDLE_QUICK", QUICK),
            ("__builtin_offsetof(struct raddle_thread, pending)", offset_of!(Block, pending)),
            ("RADDLE_TAG", TAG as usize),
            ("RADDLE_MASK", MASK),
        ];
        let asserts = same.map(|(text, value)| format!("_Static_assert({text} == {value}ull, \"\");\n"));
        let folder = std::env::temp_dir().join(format!("raddle-layouts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("layouts.c");
        std::fs::write(&file, crate::HOT_C.to_owned() + &asserts.concat()).unwrap();
        let clang = Command::new("clang-19").args(["-fsyntax-only", "-w"]).arg(&file).output().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(clang.status.success(), "{}", String::from_utf8_lossy(&clang.stderr));
    }
}
