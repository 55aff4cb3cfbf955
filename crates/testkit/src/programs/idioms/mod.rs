//! The idioms by which threads share, guard, order or keep apart their data; a program has one to three of them.
//!
//! Most are right as written. What is wrong on purpose is small: another index, another lock, a condition that changed. The rest of
//! the wrong programs comes from mutation.

mod control;
mod locks;
mod memory;
mod objects;
mod order;
mod traps;

use super::builder::Builder;

pub(super) struct Idiom {
    pub(super) name: &'static str,
    pub(super) weight: u32,
    pub(super) add: fn(&mut Builder),
}

macro_rules! idioms {
    ($($name:literal, $weight:literal, $add:path;)*) => {
        &[$(Idiom { name: $name, weight: $weight, add: $add }),*]
    };
}

pub(super) static IDIOMS: &[Idiom] = idioms! {
    "counter", 10, locks::counter;
    "overlap", 6, locks::overlap;
    "history", 6, locks::history;
    "walk", 14, locks::walk;
    "trylock", 8, locks::trylock;
    "conditional", 8, locks::conditional;
    "readers", 6, locks::readers;
    "recursive", 4, locks::recursive;
    "section", 2, locks::section;
    "spinning", 4, locks::spinning;
    "box", 10, objects::boxes;
    "lock-pointer", 10, objects::lock_pointer;
    "swap", 5, objects::swap;
    "locked-cells", 7, objects::locked_cells;
    "lock-argument", 6, objects::lock_argument;
    "list", 4, objects::list;
    "lock-table", 5, objects::lock_table;
    "post", 6, order::post;
    "condvar", 6, order::condvar;
    "barrier", 4, order::barrier;
    "once", 5, order::once;
    "flag", 6, order::flag;
    "double-checked", 4, order::double_checked;
    "ticket", 3, order::ticket;
    "reference-count", 3, order::reference_count;
    "own-cell", 8, memory::own_cell;
    "own-range", 4, memory::own_range;
    "publish", 7, memory::publish;
    "handover", 6, memory::handover;
    "own-heap", 5, memory::own_heap;
    "private-copy", 6, memory::private_copy;
    "fields", 4, memory::fields;
    "bits", 4, memory::bits;
    "union", 3, memory::union;
    "thread-local", 4, memory::thread_local;
    "result", 6, memory::result;
    "stack", 5, memory::stack;
    "read-only", 3, memory::read_only;
    "table", 5, control::table;
    "early-return", 5, control::early_return;
    "dying", 3, control::dying;
    "callback", 4, control::callback;
    "recursion", 3, control::recursion;
    "switch", 3, control::switch;
    "static-local", 3, control::static_local;
    "launder", 3, control::launder;
    "made", 6, traps::made;
    "own-lock", 6, traps::own_lock;
    "stale", 6, traps::stale;
    "copied", 6, traps::copied;
    "either", 5, traps::either;
    "chain", 5, traps::chain;
    "elected", 3, traps::elected;
    "own-field", 6, traps::own_field;
    "correlated", 5, traps::correlated;
    "neighbours", 5, traps::neighbours;
    "insistent", 3, traps::insistent;
};
