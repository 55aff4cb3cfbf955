//! The state of a program in the making, and the vocabulary of the idioms: variables, locks of all kinds, wrappers, accesses.

use super::destroy::{Kind, Synchroniser};
use super::source::{Item, Node, block, branch, fixed, line, mentions};
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// Worker threads are numbered from 0; the thread of `main` is none of them.
pub(super) struct Builder {
    pub(super) random: Random,
    pub(super) threads: usize,
    pub(super) types: Vec<Item>,
    pub(super) globals: Vec<Item>,
    pub(super) helpers: Vec<Item>,
    pub(super) before: Vec<Node>,
    pub(super) during: Vec<Node>,
    pub(super) after: Vec<Node>,
    pub(super) worker: Vec<(Who, Node)>,
    /// Name and declaration; each function declares those that it uses.
    pub(super) locals: BTreeMap<String, String>,
    /// Fields of the argument structure: declaration, and the assignment for each thread.
    pub(super) arg_fields: Vec<(String, Vec<String>)>,
    /// Threads hand a pointer in the local `result` to whoever joins them; it ends in `$got[thread]`.
    pub(super) results: bool,
    pub(super) mutexes: Vec<String>,
    pub(super) ints: Vec<String>,
    /// What can be destroyed.
    pub(super) synchronisers: Vec<Synchroniser>,
    pub(super) tags: BTreeSet<&'static str>,
    wrapped: BTreeSet<(&'static str, &'static str)>,
    names: u32,
}

/// Which workers run a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    All,
    One(usize),
}

/// A thread that takes part in an idiom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Worker(usize),
    /// `main`, between creation and join.
    Main,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockKind {
    Mutex,
    Recursive,
    Spin,
    Rwlock,
    C11,
    Semaphore,
}

#[derive(Clone, Debug)]
pub(super) struct Lock {
    pub(super) kind: LockKind,
    /// The address of it, as an expression.
    pub(super) address: String,
}

impl LockKind {
    pub(super) fn c_type(self) -> &'static str {
        match self {
            LockKind::Mutex | LockKind::Recursive => "pthread_mutex_t",
            LockKind::Spin => "pthread_spinlock_t",
            LockKind::Rwlock => "pthread_rwlock_t",
            LockKind::C11 => "mtx_t",
            LockKind::Semaphore => "sem_t",
        }
    }

    pub(super) fn acquire(self) -> &'static str {
        match self {
            LockKind::Mutex | LockKind::Recursive => "pthread_mutex_lock",
            LockKind::Spin => "pthread_spin_lock",
            LockKind::Rwlock => "pthread_rwlock_wrlock",
            LockKind::C11 => "mtx_lock",
            LockKind::Semaphore => "sem_wait",
        }
    }

    pub(super) fn release(self) -> &'static str {
        match self {
            LockKind::Mutex | LockKind::Recursive => "pthread_mutex_unlock",
            LockKind::Spin => "pthread_spin_unlock",
            LockKind::Rwlock => "pthread_rwlock_unlock",
            LockKind::C11 => "mtx_unlock",
            LockKind::Semaphore => "sem_post",
        }
    }

    fn tag(self) -> &'static str {
        match self {
            LockKind::Mutex => "lock: mutex",
            LockKind::Recursive => "lock: recursive",
            LockKind::Spin => "lock: spin",
            LockKind::Rwlock => "lock: rwlock",
            LockKind::C11 => "lock: C11",
            LockKind::Semaphore => "lock: semaphore",
        }
    }
}

impl Builder {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let threads = if random.chance(75) { 2 } else { 3 };
        Self {
            random,
            threads,
            types: Vec::new(),
            globals: Vec::new(),
            helpers: Vec::new(),
            before: Vec::new(),
            during: Vec::new(),
            after: Vec::new(),
            worker: Vec::new(),
            locals: BTreeMap::new(),
            arg_fields: Vec::new(),
            results: false,
            mutexes: Vec::new(),
            ints: Vec::new(),
            synchronisers: Vec::new(),
            tags: BTreeSet::new(),
            wrapped: BTreeSet::new(),
            names: 0,
        }
    }

    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.random.chance(percent)
    }

    pub(super) fn pick(&mut self, texts: &[&'static str]) -> &'static str {
        self.random.pick(texts)
    }

    /// Statements of the longest worker that are scheduling points, roughly.
    pub(super) fn synchronisations(&self) -> usize {
        let of = |thread: usize| {
            let own = self.worker.iter().filter(|(who, _)| *who == Who::All || *who == Who::One(thread));
            own.map(|(_, node)| scheduling_points(node)).sum::<usize>()
        };
        (0..self.threads).map(of).max().unwrap_or(0)
    }

    pub(super) fn tag(&mut self, tag: &'static str) {
        self.tags.insert(tag);
    }

    /// A name of file scope.
    pub(super) fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("${stem}{}", self.names)
    }

    /// A name inside functions.
    pub(super) fn local(&mut self, stem: &str, declaration: &str) -> String {
        self.names += 1;
        let name = format!("{stem}{}", self.names);
        self.locals.insert(name.clone(), declaration.replace('#', &name));
        name
    }

    pub(super) fn global(&mut self, declaration: String) {
        self.globals.push(Item::Line(format!("static {declaration};")));
    }

    /// A helper; it has its own `v` and `id` if it uses them.
    pub(super) fn function(&mut self, head: String, mut body: Vec<Node>) {
        for (name, declaration) in [("v", "int v = 0;"), ("id", "int id = 0;")] {
            if mentions(&body, name) {
                body.insert(0, fixed(declaration));
            }
        }
        self.helpers.push(Item::Function { head: format!("static {head}"), body });
    }

    pub(super) fn int(&mut self) -> String {
        let name = self.fresh("x");
        self.global(format!("int {name}"));
        self.ints.push(name.clone());
        name
    }

    /// A register-like variable.
    pub(super) fn value(&mut self) -> String {
        self.locals.insert("v".to_owned(), "int v = 0;".to_owned());
        "v".to_owned()
    }

    pub(super) fn mutex(&mut self) -> Lock {
        self.lock(LockKind::Mutex)
    }

    pub(super) fn any_lock(&mut self) -> Lock {
        let kind = match self.random.below(20) {
            0..11 => LockKind::Mutex,
            11..13 => LockKind::Recursive,
            13..15 => LockKind::Spin,
            15..17 => LockKind::Rwlock,
            17 => LockKind::C11,
            _ => LockKind::Semaphore,
        };
        self.lock(kind)
    }

    pub(super) fn lock(&mut self, kind: LockKind) -> Lock {
        let name = self.fresh("m");
        self.tag(kind.tag());
        let c_type = kind.c_type();
        match kind {
            LockKind::Mutex if self.chance(85) => {
                self.global(format!("{c_type} {name} = PTHREAD_MUTEX_INITIALIZER"));
            }
            LockKind::Recursive if self.chance(60) => {
                self.global(format!("{c_type} {name} = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP"));
            }
            LockKind::Rwlock => self.global(format!("{c_type} {name} = PTHREAD_RWLOCK_INITIALIZER")),
            _ => {
                self.global(format!("{c_type} {name}"));
                let nodes = self.initialise(kind, &format!("&{name}"));
                self.before.extend(nodes);
            }
        }
        if kind == LockKind::Mutex {
            self.mutexes.push(name.clone());
        }
        let address = format!("&{name}");
        self.destroyable(Kind::Lock(kind), &address);
        Lock { kind, address }
    }

    pub(super) fn destroyable(&mut self, kind: Kind, address: &str) {
        self.synchronisers.push(Synchroniser { kind, address: address.to_owned() });
    }

    /// Statements that make a lock ready for use.
    pub(super) fn initialise(&mut self, kind: LockKind, address: &str) -> Vec<Node> {
        match kind {
            LockKind::Mutex => vec![line(format!("pthread_mutex_init({address}, 0);"))],
            LockKind::Recursive => {
                let attr = self.local("attr", "pthread_mutexattr_t #;");
                vec![
                    line(format!("pthread_mutexattr_init(&{attr});")),
                    line(format!("pthread_mutexattr_settype(&{attr}, PTHREAD_MUTEX_RECURSIVE);")),
                    line(format!("pthread_mutex_init({address}, &{attr});")),
                ]
            }
            LockKind::Spin => vec![line(format!("pthread_spin_init({address}, 0);"))],
            LockKind::Rwlock => vec![line(format!("pthread_rwlock_init({address}, 0);"))],
            LockKind::C11 => vec![line(format!("mtx_init({address}, mtx_plain);"))],
            LockKind::Semaphore => {
                let start = if self.chance(6) { 2 } else { 1 };
                vec![line(format!("sem_init({address}, 0, {start});"))]
            }
        }
    }

    pub(super) fn take(&mut self, lock: &Lock) -> Node {
        self.through_wrappers("take", lock.kind, lock.kind.acquire(), &lock.address)
    }

    pub(super) fn give(&mut self, lock: &Lock) -> Node {
        self.through_wrappers("give", lock.kind, lock.kind.release(), &lock.address)
    }

    /// A call, direct or through a wrapper, two wrappers, a wrapper that asks, or a pointer.
    fn through_wrappers(
        &mut self,
        verb: &'static str,
        kind: LockKind,
        function: &'static str,
        address: &str,
    ) -> Node {
        let c_type = kind.c_type();
        let depth = match self.random.below(100) {
            0..78 => return line(format!("{function}({address});")),
            78..86 => "",
            86..92 => "_deep",
            92..97 => "_if",
            _ => "_by",
        };
        self.tag("lock wrappers");
        let inner = format!("${verb}_{function}");
        let outer = format!("{inner}{depth}");
        if self.wrapped.insert((function, "")) {
            self.function(format!("void {inner}({c_type} *lock)"), vec![line(format!("{function}(lock);"))]);
        }
        if self.wrapped.insert((function, depth)) {
            match depth {
                "_deep" => self
                    .function(format!("void {outer}({c_type} *lock)"), vec![line(format!("{inner}(lock);"))]),
                "_if" => self.function(
                    format!("void {outer}({c_type} *lock, int wanted)"),
                    vec![branch("wanted", vec![line(format!("{inner}(lock);"))], Vec::new())],
                ),
                "_by" => self.global(format!("int (*{outer})({c_type} *) = {function}")),
                _ => {}
            }
        }
        match depth {
            "_if" => line(format!("{outer}({address}, 1);")),
            _ => line(format!("{outer}({address});")),
        }
    }

    pub(super) fn guarded(&mut self, lock: &Lock, body: Vec<Node>) -> Vec<Node> {
        let mut nodes = vec![self.take(lock)];
        nodes.extend(body);
        nodes.push(self.give(lock));
        nodes
    }

    /// Reads or writes an `int`, sometimes in a function that gets its address.
    pub(super) fn access(&mut self, place: &str) -> Node {
        if self.chance(12) {
            self.tag("access through helpers");
            let (helper, body) = match self.random.below(3) {
                0 => ("$bump", "(*p)++;"),
                1 => ("$set", "*p = 1;"),
                _ => ("$get", "(void)*p;"),
            };
            if self.wrapped.insert((helper, "")) {
                self.function(format!("void {helper}(int *p)"), vec![line(body)]);
            }
            if self.chance(30) {
                let deep: &'static str = if helper == "$bump" {
                    "bump"
                } else if helper == "$set" {
                    "set"
                } else {
                    "get"
                };
                if self.wrapped.insert((deep, "deep")) {
                    self.function(format!("void $deep_{deep}(int *p)"), vec![line(format!("{helper}(p);"))]);
                }
                return line(format!("$deep_{deep}(&{place});"));
            }
            return line(format!("{helper}(&{place});"));
        }
        if self.chance(55) { self.write(place) } else { self.read(place) }
    }

    pub(super) fn read(&mut self, place: &str) -> Node {
        let v = self.value();
        match self.random.below(4) {
            0 => line(format!("{v} += {place};")),
            _ => line(format!("{v} = {place};")),
        }
    }

    pub(super) fn write(&mut self, place: &str) -> Node {
        match self.random.below(4) {
            0 => line(format!("{place} = 1;")),
            1 => line(format!("{place} += 2;")),
            2 => line(format!("{place} = {place} + 1;")),
            _ => line(format!("{place}++;")),
        }
    }

    pub(super) fn all(&mut self, nodes: Vec<Node>) {
        let nodes = self.perhaps_repeated(nodes);
        self.worker.extend(nodes.into_iter().map(|node| (Who::All, node)));
    }

    pub(super) fn play(&mut self, role: Role, nodes: Vec<Node>) {
        let nodes = self.perhaps_repeated(nodes);
        match role {
            Role::Worker(thread) => {
                self.worker.extend(nodes.into_iter().map(|node| (Who::One(thread), node)));
            }
            Role::Main => self.during.extend(nodes),
        }
    }

    /// Two different threads; sometimes one is `main`.
    pub(super) fn two(&mut self) -> (Role, Role) {
        let first = self.random.below(self.threads);
        let second = (first + 1 + self.random.below(self.threads - 1)) % self.threads;
        match self.random.below(100) {
            0..15 => (Role::Main, Role::Worker(second)),
            15..25 => (Role::Worker(first), Role::Main),
            _ => (Role::Worker(first), Role::Worker(second)),
        }
    }

    /// Which cell a worker takes: mostly its own.
    pub(super) fn index(&mut self) -> String {
        let cells = self.threads;
        match self.random.below(12) {
            0..7 => "id".to_owned(),
            7..9 => format!("(id + 1) % {cells}"),
            9 => format!("{} - id", cells - 1),
            10 => format!("id % {cells}"),
            _ => "id * 1".to_owned(),
        }
    }

    /// A condition whose value is not known when the program is compiled.
    pub(super) fn condition(&mut self) -> String {
        match self.random.below(3) {
            0 => {
                let flag = self.fresh("flag");
                self.global(format!("int {flag}"));
                self.before.push(line(format!("{flag} = __VERIFIER_nondet_bool();")));
                flag
            }
            _ => "__VERIFIER_nondet_bool()".to_owned(),
        }
    }

    /// Sometimes twice, sometimes under a condition.
    fn perhaps_repeated(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        match self.random.below(100) {
            0..3 => {
                self.tag("loop of two rounds");
                vec![block("for (int i = 0; i < 2; i++)", nodes)]
            }
            3..6 => {
                self.tag("under a branch");
                vec![branch("__VERIFIER_nondet_bool()", nodes, Vec::new())]
            }
            _ => nodes,
        }
    }
}

fn scheduling_points(node: &Node) -> usize {
    let of = |text: &str| {
        ["lock(", "_wait(", "sem_", "atomic_", "take", "give", "once"].iter().any(|word| text.contains(word))
            as usize
    };
    match node {
        Node::Line(text) | Node::Fixed(text) => of(text),
        Node::Block { head, body, otherwise } => {
            of(head) + body.iter().chain(otherwise).map(scheduling_points).sum::<usize>()
        }
    }
}
