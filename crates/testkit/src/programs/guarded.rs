//! Random C programs whose races hang on values: locks made of atomics, turns, states under a lock, locks taken only for some values,
//! tickets, the last one of several. What a static analysis of locks leaves open; about half of them have a race.
//!
//! Everything is finite and small; values from outside are between 0 and 2.

use super::mutate::{Words, mutate};
use super::source::{block, branch, fixed, line};
use super::{Item, Node, Sample, Source};
use crate::random::Random;
use std::collections::BTreeSet;

/// The program of a seed, for ever the same.
pub fn guarded(seed: u64) -> Sample {
    let mut random = Random::new(seed ^ 0x67_7561_7264_6564);
    let careless = if random.chance(55) { 0 } else { 12 };
    let threads = random.between(2, 3);
    let mut maker = Maker { random, careless, threads, globals: Vec::new(), tags: BTreeSet::new() };
    let mut source = maker.source();
    let mut tags = maker.tags;
    let mut random = maker.random;
    if random.chance(25) {
        let ints = ["$x0", "$x1"].map(str::to_owned).to_vec();
        let words = Words { mutexes: ["&$m0", "&$m1"].map(str::to_owned).to_vec(), ints, threads };
        tags.extend((0..10).find_map(|_| mutate(&mut source, &mut random, &words)));
    }
    Sample { seed, source, tags }
}

struct Maker {
    random: Random,
    /// How many percent of the numbers and orders are wrong.
    careless: u32,
    threads: usize,
    globals: Vec<Item>,
    tags: BTreeSet<&'static str>,
}

/// How one variable is protected, and the names of what it takes.
#[derive(Clone, Copy)]
struct Guard {
    kind: usize,
    number: usize,
    /// Of variants of the kind.
    variant: usize,
    /// Also for the number of threads that the variable is for.
    all: usize,
}

const KINDS: [&str; 13] = [
    "compare-exchange",
    "exchange",
    "turn",
    "state under a lock",
    "lock for some values",
    "lock in a mode",
    "ticket",
    "last one",
    "lock per cell",
    "published",
    "stored result of trylock",
    "mutex",
    "counter under a lock",
];

const FROM_OUTSIDE: &str = "__VERIFIER_nondet_bool() + __VERIFIER_nondet_bool()";

impl Maker {
    fn source(&mut self) -> Source {
        let main_too = self.random.chance(25);
        let all = self.threads + usize::from(main_too);
        let count = 1 + usize::from(self.random.chance(35));
        let mut guards = Vec::new();
        for number in 0..count {
            let kind = self.random.below(KINDS.len());
            self.tags.insert(KINDS[kind]);
            guards.push(Guard { kind, number, variant: self.random.below(4), all });
        }
        self.global("static int $x0, $x1, $cells0[8], $cells1[8];");
        self.global("static _Atomic int $w0, $w1;");
        self.global(format!("static int $s0, $s1, $left0 = {all}, $left1 = {all}, $mode0, $mode1;"));
        self.global(
            "static pthread_mutex_t $m0 = PTHREAD_MUTEX_INITIALIZER, $m1 = PTHREAD_MUTEX_INITIALIZER;",
        );
        self.global("static pthread_mutex_t $locks[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };");
        let shared = self.random.chance(45);
        let routines = if shared { 1 } else { self.threads };
        let mut functions = Vec::new();
        for routine in 0..routines {
            let who = if shared { "id".to_owned() } else { routine.to_string() };
            let mut body = vec![fixed("int id = (int)(long)arg, a = 0, b = 0;")];
            for guard in &guards {
                body.extend(self.part(*guard, &who));
            }
            body.push(fixed("return a + b + id ? arg : 0;"));
            functions.push((format!("static void *$thread{routine}(void *arg)"), body));
        }
        functions.push(("int $main(void)".to_owned(), self.main(&guards, shared, main_too)));
        let mut items = std::mem::take(&mut self.globals);
        items.extend(functions.into_iter().map(|(head, body)| Item::Function { head, body }));
        Source { items }
    }

    fn main(&mut self, guards: &[Guard], shared: bool, main_too: bool) -> Vec<Node> {
        let count = self.threads;
        let mut body = vec![
            fixed(format!("pthread_t handles[{count}];")),
            fixed(format!("int id = {count}, a = 0, b = 0;")),
        ];
        for guard in guards {
            body.push(line(format!("$mode{} = {FROM_OUTSIDE};", guard.number)));
        }
        if shared && self.random.chance(50) {
            let create = line("pthread_create(&handles[i], 0, $thread0, (void *)(long)i);");
            body.push(block(format!("for (int i = 0; i < {count}; i++)"), vec![create]));
        } else {
            for thread in 0..count {
                let routine = if shared { 0 } else { thread };
                body.push(line(format!(
                    "pthread_create(&handles[{thread}], 0, $thread{routine}, (void *)(long){thread});"
                )));
            }
        }
        if main_too {
            for guard in guards {
                body.extend(self.part(*guard, &count.to_string()));
            }
        }
        if self.random.chance(85) {
            body.extend((0..count).map(|thread| line(format!("pthread_join(handles[{thread}], 0);"))));
            if self.random.chance(50) {
                body.push(line("a += $x0;"));
            }
        }
        body.push(fixed("return a + b + id > 100;"));
        body
    }

    fn global(&mut self, text: impl Into<String>) {
        self.globals.push(Item::Line(text.into()));
    }

    fn slips(&mut self) -> bool {
        let careless = self.careless;
        self.random.chance(careless)
    }

    fn or(&mut self, right: &str, wrong: &str) -> String {
        if self.slips() { wrong.to_owned() } else { right.to_owned() }
    }

    /// What one thread does with the variable.
    fn part(&mut self, guard: Guard, who: &str) -> Vec<Node> {
        let Guard { number: n, variant, all, .. } = guard;
        let access = |maker: &mut Maker| match maker.random.below(4) {
            0 => line(format!("$x{n} = {who} + 1;")),
            1 => line(format!("a += $x{n};")),
            _ => line(format!("$x{n}++;")),
        };
        let (lock, unlock) =
            (line(format!("pthread_mutex_lock(&$m{n});")), line(format!("pthread_mutex_unlock(&$m{n});")));
        let inside = access(self);
        match guard.kind {
            0 => {
                let word = if variant & 1 == 0 { "1".to_owned() } else { format!("{who} + 1") };
                let order = if variant & 2 == 0 { "seq_cst" } else { "acquire" };
                let (order, failure) = (self.or(order, "relaxed"), "relaxed");
                let take = format!(
                    "atomic_compare_exchange_strong_explicit(&$w{n}, &b, {word}, memory_order_{order}, memory_order_{failure})"
                );
                let give = self.give(n, variant);
                let free = self.or("0", "1");
                let free = line(format!("b = {free};"));
                if self.random.chance(20) {
                    let again = block(format!("while (!{take})"), vec![free.clone()]);
                    return vec![free, again, inside, give];
                }
                vec![free, branch(&take, vec![inside, give], Vec::new())]
            }
            1 => {
                let order = if variant & 2 == 0 { "seq_cst" } else { "acquire" };
                let order = self.or(order, "relaxed");
                let free = self.or("== 0", ">= 0");
                let take = format!("atomic_exchange_explicit(&$w{n}, 1, memory_order_{order}) {free}");
                let give = self.give(n, variant);
                vec![branch(&take, vec![inside, give], Vec::new())]
            }
            2 => {
                let order = if variant & 1 == 0 { "seq_cst" } else { "acquire" };
                let order = self.or(order, "relaxed");
                let mine = self.or("==", ">=");
                let next = self.or("+ 1", "+ 0");
                let write = if variant & 1 == 0 { "seq_cst" } else { "release" };
                let turn = format!("atomic_load_explicit(&$w{n}, memory_order_{order}) {mine} {who}");
                let pass =
                    line(format!("atomic_store_explicit(&$w{n}, {who} {next}, memory_order_{write});"));
                vec![branch(&turn, vec![inside, pass], Vec::new())]
            }
            3 => {
                let free = self.or("== 0", "< 2");
                let taken = format!(
                    "$s{n} = {};",
                    if variant & 1 == 0 { "1".to_owned() } else { format!("{who} + 1") }
                );
                let mut given = vec![lock.clone(), line(format!("$s{n} = 0;")), unlock.clone()];
                if self.slips() {
                    given.insert(0, access(self));
                    given.push(access(self));
                }
                given.insert(0, inside);
                vec![
                    lock,
                    line(format!("b = $s{n} {free};")),
                    branch("b", vec![line(taken)], Vec::new()),
                    unlock,
                    branch("b", given, Vec::new()),
                ]
            }
            4 | 5 => {
                let value = if guard.kind == 4 { "b".to_owned() } else { format!("$mode{n}") };
                let test = ["> 0", "== 1", "!= 2", "> 1"][variant];
                let other = self.or(test, "!= 0");
                let mut nodes = Vec::new();
                if guard.kind == 4 {
                    nodes.push(line(format!("b = {FROM_OUTSIDE};")));
                }
                nodes.push(branch(&format!("{value} {test}"), vec![lock], Vec::new()));
                nodes.push(branch(&format!("{value} {other}"), vec![inside], Vec::new()));
                nodes.push(branch(&format!("{value} {test}"), vec![unlock], Vec::new()));
                nodes
            }
            6 => {
                let order = if variant & 1 == 0 { "seq_cst" } else { "relaxed" };
                let step = self.or("1", "0");
                let take =
                    line(format!("b = atomic_fetch_add_explicit(&$w{n}, {step}, memory_order_{order});"));
                if variant & 2 == 0 {
                    let first = self.or("== 0", "<= 1");
                    return vec![take, branch(&format!("b {first}"), vec![inside], Vec::new())];
                }
                let index = self.or("b & 7", "b & 1");
                vec![take, line(format!("$cells{n}[{index}]++;"))]
            }
            7 => {
                let last = self.or("0", "1");
                let before = access(self);
                vec![
                    lock,
                    before,
                    line(format!("$left{n}--;")),
                    line(format!("b = $left{n};")),
                    unlock,
                    branch(&format!("b == {last}"), vec![inside], Vec::new()),
                ]
            }
            8 => {
                let index = if variant & 1 == 0 { FROM_OUTSIDE.to_owned() } else { format!("{who} % 3") };
                let other = self.or("b", "0");
                vec![
                    line(format!("b = {index};")),
                    line("pthread_mutex_lock(&$locks[b]);"),
                    line(format!("$cells{n}[{other}]++;")),
                    line("pthread_mutex_unlock(&$locks[b]);"),
                ]
            }
            9 => {
                let (write, read) =
                    if variant & 1 == 0 { ("seq_cst", "seq_cst") } else { ("release", "acquire") };
                let (write, read) = (self.or(write, "relaxed"), self.or(read, "relaxed"));
                let number = 1 + variant / 2;
                let value = line(format!("$x{n} = {};", all + 5));
                let set = line(format!("atomic_store_explicit(&$w{n}, {number}, memory_order_{write});"));
                let seen = format!("atomic_load_explicit(&$w{n}, memory_order_{read}) == {number}");
                let first = if self.slips() { vec![set, value] } else { vec![value, set] };
                let then = vec![branch(&seen, vec![line(format!("a = $x{n};"))], Vec::new())];
                match who {
                    "0" => first,
                    "id" => vec![branch("id == 0", first, then)],
                    _ => then,
                }
            }
            10 => {
                let taken = self.or("== 0", "!= 1");
                vec![
                    line(format!("b = pthread_mutex_trylock(&$m{n});")),
                    line("a += 2;"),
                    branch(&format!("b {taken}"), vec![inside], Vec::new()),
                    branch("b == 0", vec![unlock], Vec::new()),
                ]
            }
            11 => vec![lock, inside, unlock],
            _ => {
                let step = self.or("+ 1", "+ 0");
                let index = if variant & 1 == 0 { "b" } else { "(b + 1) & 7" };
                vec![
                    lock,
                    line(format!("b = $s{n};")),
                    line(format!("$s{n} = b {step};")),
                    unlock,
                    line(format!("$cells{n}[{index}]++;")),
                ]
            }
        }
    }

    fn give(&mut self, number: usize, variant: usize) -> Node {
        let order = if variant & 2 == 0 { "seq_cst" } else { "release" };
        let order = self.or(order, "relaxed");
        line(format!("atomic_store_explicit(&$w{number}, 0, memory_order_{order});"))
    }
}
