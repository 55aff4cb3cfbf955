//! A script as C: pthreads and atomics, one statement per line, so that a site is a line.
//!
//! Thread handles and registers are locals; spin locks, barriers, semaphores and mutexes with attributes are initialised at the start
//! of `main`, before there is a second thread, so the number of interleavings is that of the script.

use super::syntax::{Act, Block, Cond, How, LockKind, Mode, Place, REGISTERS, RmwKind, Script, Stmt, Value};
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use std::fmt::Write;

pub fn c_text(script: &Script) -> CText {
    let mut writer = Writer { script, text: CText::default(), line: 1, next_site: 0 };
    writer.prologue();
    let mut ends = Vec::new();
    for (once, body) in script.onces.iter().enumerate() {
        writer.put(&format!("static void once_body_{once}(void) {{"));
        writer.registers();
        writer.block(body, 1);
        ends.push(writer.line);
        writer.put("}");
    }
    for thread in 1..script.threads.len() {
        writer.put(&format!("static void *t{thread}(void *arg);"));
    }
    // Main comes first in the numbering of sites.
    for (thread, body) in script.threads.iter().enumerate() {
        if thread == 0 {
            writer.put("int main(void) {");
            writer.initialise();
        } else {
            writer.put(&format!("static void *t{thread}(void *arg) {{"));
        }
        writer.registers();
        for child in 1..script.threads.len() {
            writer.put(&format!("  pthread_t h{child};"));
        }
        writer.block(body, 1);
        ends.push(writer.line);
        writer.put(if thread == 0 { "  return 0;" } else { "  return arg;" });
        writer.put("}");
    }
    writer.text.lines.extend(ends);
    writer.text
}

/// The program and the line of each site: statements, then the end of each once initialiser and thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CText {
    pub text: String,
    pub lines: Vec<u32>,
}

struct Writer<'a> {
    script: &'a Script,
    text: CText,
    line: u32,
    next_site: usize,
}

impl Writer<'_> {
    fn put(&mut self, line: &str) {
        self.text.text.push_str(line);
        self.text.text.push('\n');
        self.line += 1;
    }

    fn prologue(&mut self) {
        for line in [
            "#define _GNU_SOURCE",
            "#include <pthread.h>",
            "#include <semaphore.h>",
            "#include <stdatomic.h>",
            "#include <stdint.h>",
            "#include <stdlib.h>",
            "extern _Bool __VERIFIER_nondet_bool(void);",
            "extern void __VERIFIER_assume(int);",
            "extern void __VERIFIER_assert(int);",
            "extern void __VERIFIER_atomic_begin(void);",
            "extern void __VERIFIER_atomic_end(void);",
            "union var { uint8_t b[8]; uint16_t h[4]; uint32_t w[2]; uint64_t d[1]; };",
            "static const struct timespec soon = { 1, 0 };",
        ] {
            self.put(line);
        }
        for var in 0..self.script.vars {
            self.put(&format!("static union var v{var};"));
        }
        for (lock, kind) in self.script.locks.iter().enumerate() {
            self.put(&match kind {
                LockKind::Mutex => format!("static pthread_mutex_t l{lock} = PTHREAD_MUTEX_INITIALIZER;"),
                LockKind::Recursive => {
                    format!("static pthread_mutex_t l{lock} = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;")
                }
                LockKind::ErrorCheck => format!("static pthread_mutex_t l{lock};"),
                LockKind::Rwlock => format!("static pthread_rwlock_t l{lock} = PTHREAD_RWLOCK_INITIALIZER;"),
                LockKind::Spin => format!("static pthread_spinlock_t l{lock};"),
            });
        }
        for cond in 0..self.script.conds {
            self.put(&format!("static pthread_cond_t c{cond} = PTHREAD_COND_INITIALIZER;"));
        }
        for barrier in 0..self.script.barriers.len() {
            self.put(&format!("static pthread_barrier_t b{barrier};"));
        }
        for sem in 0..self.script.sems.len() {
            self.put(&format!("static sem_t s{sem};"));
        }
        for once in 0..self.script.onces.len() {
            self.put(&format!("static pthread_once_t o{once} = PTHREAD_ONCE_INIT;"));
        }
    }

    fn initialise(&mut self) {
        for (lock, kind) in self.script.locks.iter().enumerate() {
            match kind {
                LockKind::ErrorCheck => {
                    self.put("  {");
                    self.put("    pthread_mutexattr_t attr;");
                    self.put("    pthread_mutexattr_init(&attr);");
                    self.put("    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);");
                    self.put(&format!("    pthread_mutex_init(&l{lock}, &attr);"));
                    self.put("  }");
                }
                LockKind::Spin => {
                    self.put(&format!("  pthread_spin_init(&l{lock}, PTHREAD_PROCESS_PRIVATE);"))
                }
                LockKind::Mutex | LockKind::Recursive | LockKind::Rwlock => {}
            }
        }
        for (barrier, count) in self.script.barriers.iter().enumerate() {
            self.put(&format!("  pthread_barrier_init(&b{barrier}, 0, {count});"));
        }
        for (sem, value) in self.script.sems.iter().enumerate() {
            self.put(&format!("  sem_init(&s{sem}, 0, {value});"));
        }
    }

    fn registers(&mut self) {
        let names: Vec<String> = (0..REGISTERS).map(|register| format!("r{register} = 0")).collect();
        self.put(&format!("  uint64_t {};", names.join(", ")));
        self.put("  volatile uint64_t used;");
    }

    fn block(&mut self, block: &Block, depth: usize) {
        for stmt in block {
            self.stmt(stmt, depth);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) {
        assert_eq!(self.next_site, self.text.lines.len());
        self.next_site += 1;
        self.text.lines.push(self.line);
        let indent = "  ".repeat(depth);
        match stmt {
            Stmt::Act(act) => {
                let act = self.act(*act);
                self.put(&format!("{indent}{act}"));
            }
            Stmt::If { cond, then, otherwise } => {
                self.put(&format!("{indent}if ({}) {{", condition(*cond)));
                self.block(then, depth + 1);
                if !otherwise.is_empty() {
                    self.put(&format!("{indent}}} else {{"));
                    self.block(otherwise, depth + 1);
                }
                self.put(&format!("{indent}}}"));
            }
            Stmt::Repeat { times, body } => {
                self.put(&format!("{indent}for (int i = 0; i < {times}; i++) {{"));
                self.block(body, depth + 1);
                self.put(&format!("{indent}}}"));
            }
            Stmt::Forever { body } => {
                self.put(&format!("{indent}for (;;) {{"));
                self.block(body, depth + 1);
                self.put(&format!("{indent}}}"));
            }
            Stmt::BreakIf(cond) => self.put(&format!("{indent}if ({}) break;", condition(*cond))),
        }
    }

    fn act(&self, act: Act) -> String {
        match act {
            Act::Read { to, place } => format!("r{to} = {};", lvalue(place)),
            Act::Write { place, value } => format!("{} = {};", lvalue(place), rvalue(value)),
            Act::AtomicLoad { to, place, order } => {
                format!("r{to} = __atomic_load_n(&{}, {});", lvalue(place), load_order(order))
            }
            Act::AtomicStore { place, value, order } => {
                format!("__atomic_store_n(&{}, {}, {});", lvalue(place), rvalue(value), store_order(order))
            }
            Act::AtomicRmw { to, place, kind, value, order } => {
                let function = match kind {
                    RmwKind::Add => "__atomic_fetch_add",
                    RmwKind::Exchange => "__atomic_exchange_n",
                };
                format!("r{to} = {function}(&{}, {}, {});", lvalue(place), rvalue(value), rmw_order(order))
            }
            Act::AtomicCas { to, place, expected, desired, success, failure } => {
                let bits = u32::from(place.size) * 8;
                format!(
                    "{{ uint{bits}_t e = {expected}; r{to} = __atomic_compare_exchange_n(&{}, &e, {}, 0, {}, {}); }}",
                    lvalue(place),
                    rvalue(desired),
                    rmw_order(success),
                    load_order(failure)
                )
            }
            Act::Fence(order) => format!(
                "atomic_thread_fence({});",
                match order {
                    FenceOrder::Acquire => "memory_order_acquire",
                    FenceOrder::Release => "memory_order_release",
                    FenceOrder::AcqRel => "memory_order_acq_rel",
                    FenceOrder::SeqCst => "memory_order_seq_cst",
                }
            ),
            Act::Lock { lock, mode, how, result } => self.lock(lock, mode, how, result),
            Act::Unlock { lock } => match self.script.locks[usize::from(lock)] {
                LockKind::Rwlock => format!("pthread_rwlock_unlock(&l{lock});"),
                LockKind::Spin => format!("pthread_spin_unlock(&l{lock});"),
                _ => format!("pthread_mutex_unlock(&l{lock});"),
            },
            Act::AtomicBegin => "__VERIFIER_atomic_begin();".into(),
            Act::AtomicEnd => "__VERIFIER_atomic_end();".into(),
            Act::Wait { cond, lock, how: How::Timed } => {
                format!("pthread_cond_timedwait(&c{cond}, &l{lock}, &soon);")
            }
            Act::Wait { cond, lock, .. } => format!("pthread_cond_wait(&c{cond}, &l{lock});"),
            Act::Signal { cond } => format!("pthread_cond_signal(&c{cond});"),
            Act::Broadcast { cond } => format!("pthread_cond_broadcast(&c{cond});"),
            Act::Barrier { barrier } => format!("pthread_barrier_wait(&b{barrier});"),
            Act::Post { sem } => format!("sem_post(&s{sem});"),
            Act::Down { sem, how, result } => match how {
                How::Block => format!("sem_wait(&s{sem});"),
                How::Try => format!("r{result} = sem_trywait(&s{sem}) != 0;"),
                How::Timed => format!("r{result} = sem_timedwait(&s{sem}, &soon) != 0;"),
            },
            Act::Once { once } => format!("pthread_once(&o{once}, once_body_{once});"),
            Act::Create { thread } => format!("pthread_create(&h{thread}, 0, t{thread}, 0);"),
            Act::Join { thread } => format!("pthread_join(h{thread}, 0);"),
            Act::Detach { thread } => format!("pthread_detach(h{thread});"),
            Act::Set { to, value } => format!("r{to} = {};", rvalue(value)),
            // A value that nobody uses need not be chosen.
            Act::Choose { to } => format!("r{to} = used = __VERIFIER_nondet_bool();"),
            Act::Assume(cond) => format!("__VERIFIER_assume({});", condition(cond)),
            Act::Assert(cond) => format!("__VERIFIER_assert({});", condition(cond)),
            Act::Exit => "exit(0);".into(),
            Act::Return => "pthread_exit(0);".into(),
        }
    }

    fn lock(&self, lock: u8, mode: Mode, how: How, result: u8) -> String {
        let how_name = match how {
            How::Block => "",
            How::Try => "try",
            How::Timed => "timed",
        };
        let function = match (self.script.locks[usize::from(lock)], mode) {
            (LockKind::Rwlock, Mode::Exclusive) => format!("pthread_rwlock_{how_name}wrlock"),
            (LockKind::Rwlock, Mode::Shared) => format!("pthread_rwlock_{how_name}rdlock"),
            (LockKind::Spin, _) => format!("pthread_spin_{how_name}lock"),
            (_, _) => format!("pthread_mutex_{how_name}lock"),
        };
        let mut text = String::new();
        if how != How::Block {
            write!(text, "r{result} = ").expect("writing to a string");
        }
        let time = if how == How::Timed { ", &soon" } else { "" };
        let test = if how == How::Block { "" } else { " != 0" };
        write!(text, "{function}(&l{lock}{time}){test};").expect("writing to a string");
        text
    }
}

fn lvalue(place: Place) -> String {
    let member = match place.size {
        1 => 'b',
        2 => 'h',
        4 => 'w',
        _ => 'd',
    };
    format!("v{}.{member}[{}]", place.var, place.offset / place.size)
}

fn rvalue(value: Value) -> String {
    match value {
        Value::Const(constant) => constant.to_string(),
        Value::Reg(register) => format!("r{register}"),
        Value::Next(register) => format!("r{register} + 1"),
    }
}

fn condition(cond: Cond) -> String {
    match cond {
        Cond::Is(register, value) => format!("r{register} == {value}"),
        Cond::IsNot(register, value) => format!("r{register} != {value}"),
    }
}

fn load_order(order: LoadOrder) -> &'static str {
    match order {
        LoadOrder::Relaxed => "__ATOMIC_RELAXED",
        LoadOrder::Acquire => "__ATOMIC_ACQUIRE",
        LoadOrder::SeqCst => "__ATOMIC_SEQ_CST",
    }
}

fn store_order(order: StoreOrder) -> &'static str {
    match order {
        StoreOrder::Relaxed => "__ATOMIC_RELAXED",
        StoreOrder::Release => "__ATOMIC_RELEASE",
        StoreOrder::SeqCst => "__ATOMIC_SEQ_CST",
    }
}

fn rmw_order(order: RmwOrder) -> &'static str {
    match order {
        RmwOrder::Relaxed => "__ATOMIC_RELAXED",
        RmwOrder::Acquire => "__ATOMIC_ACQUIRE",
        RmwOrder::Release => "__ATOMIC_RELEASE",
        RmwOrder::AcqRel => "__ATOMIC_ACQ_REL",
        RmwOrder::SeqCst => "__ATOMIC_SEQ_CST",
    }
}
