//! Random C programs full of branches: what a thread does not do in one run, it may do in another.
//!
//! Conditions look at values read under locks, so that the order of threads decides; sides have accesses, sections, calls with locks as
//! arguments, loops, locks that are taken on one side only, ends of the thread or the process. Places and locks are named
//! directly, through pointers, by the number of the thread and by values read. About a third of the programs have a race.

use super::{Item, Node, Sample, Source};
use crate::random::Random;
use std::collections::BTreeSet;

/// The program of a seed, for ever the same.
pub fn branchy(seed: u64) -> Sample {
    let mut random = Random::new(seed ^ 0x6272_616E_6368);
    let careless = if random.chance(50) { 0 } else { 6 };
    program(seed, Maker { random, left: 0, protected: Vec::new(), careless, order: Order::Kept })
}

/// The same with locks inside each other in either order, and every access with its lock: many have a deadlock, few a race.
pub fn knotted(seed: u64) -> Sample {
    let random = Random::new(seed ^ 0x6B6E_6F74);
    program(seed, Maker { random, left: 0, protected: Vec::new(), careless: 0, order: Order::Any })
}

fn program(seed: u64, mut maker: Maker) -> Sample {
    for _ in 0..VARIABLES {
        let lock = maker.random.below(LOCKS);
        maker.protected.push(lock);
    }
    let mut source = Source::default();
    let line = |text: &str| Item::Line(text.to_owned());
    source.items.extend([
        line("static int $v0, $v1, $v2, $cells[4];"),
        line("static int *$pointer = &$v0;"),
        line("static _Atomic int $flag;"),
        line("static pthread_mutex_t $l0 = PTHREAD_MUTEX_INITIALIZER, $l1 = PTHREAD_MUTEX_INITIALIZER;"),
        line("static pthread_mutex_t *$chosen = &$l0;"),
    ]);
    let function = |head: &str, body: Vec<Node>| Item::Function { head: head.to_owned(), body };
    source.items.push(function(
        "static void $bump(pthread_mutex_t *lock, int *place)",
        ["pthread_mutex_lock(lock);", "(*place)++;", "pthread_mutex_unlock(lock);"].map(plain).into(),
    ));
    maker.left = 3;
    let mut helper = vec![fixed("int r = given;"), fixed("int id = given;")];
    helper.extend(maker.block(1, None));
    helper.push(fixed("return r + id;"));
    source.items.push(function("static int $helper(int given)", helper));
    for thread in 0..2 {
        maker.left = 5;
        let mut body = vec![fixed("int id = (int)(long)arg, r = 0;")];
        body.extend(maker.block(2, None));
        body.push(fixed("return r + id ? arg : 0;"));
        source.items.push(function(&format!("static void *$thread{thread}(void *arg)"), body));
    }
    source.items.push(function("int $main(void)", maker.main()));
    Sample { seed, source, tags: BTreeSet::new() }
}

const VARIABLES: usize = 3;
const LOCKS: usize = 2;

struct Maker {
    random: Random,
    /// Statements that may still be made.
    left: usize,
    /// The lock of each variable.
    protected: Vec<usize>,
    /// How many percent of the accesses forget the lock.
    careless: u32,
    order: Order,
}

/// Of locks that are taken inside each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Kept,
    Any,
}

fn plain(text: &str) -> Node {
    Node::Line(text.to_owned())
}

fn fixed(text: &str) -> Node {
    Node::Fixed(text.to_owned())
}

fn nested(head: String, body: Vec<Node>, otherwise: Vec<Node>) -> Node {
    Node::Block { head, body, otherwise }
}

impl Maker {
    fn main(&mut self) -> Vec<Node> {
        let mut body = vec![fixed("pthread_t handles[2];"), fixed("int r = 0, id = 2;")];
        if self.random.chance(30) {
            body.push(plain("$pointer = &$v1;"));
        }
        let second = self.random.below(2);
        if self.random.chance(60) {
            body.push(plain("pthread_create(&handles[0], 0, $thread0, (void *)0);"));
            body.push(plain(&format!("pthread_create(&handles[1], 0, $thread{second}, (void *)1);")));
        } else {
            let create = plain("pthread_create(&handles[i], 0, $thread0, (void *)(long)i);");
            body.push(nested("for (int i = 0; i < 2; i++)".to_owned(), vec![create], Vec::new()));
        }
        self.left = 2;
        body.extend(self.block(1, None));
        if self.random.chance(75) {
            body.push(plain("pthread_join(handles[0], 0);"));
            body.push(plain("pthread_join(handles[1], 0);"));
        }
        if self.random.chance(50) {
            body.push(plain("r += $v0;"));
        }
        body.push(fixed("return r + id > 100;"));
        body
    }

    /// `held` is the lock around it.
    fn block(&mut self, depth: usize, held: Option<usize>) -> Vec<Node> {
        let mut nodes = Vec::new();
        let most = self.random.between(1, 3);
        while self.left > 0 && nodes.len() < most {
            self.left -= 1;
            let node = self.statement(depth, held);
            nodes.extend(node);
        }
        nodes
    }

    fn statement(&mut self, depth: usize, held: Option<usize>) -> Vec<Node> {
        let kind = self.random.below(if depth == 0 { 9 } else { 28 });
        match kind {
            0..3 => self.access(held),
            3 => vec![plain("$cells[id] = r;")],
            4 => self.under(held, 0, vec![plain("$cells[r & 3]++;")]),
            5 => vec![plain(if self.random.chance(50) { "$flag = 1;" } else { "r = $flag;" })],
            6 => self.call(held),
            7 => self.under(held, 0, vec![plain("(*$pointer)++;")]),
            8 => vec![plain("r = 1 - r;")],
            9..14 => self.branch(depth, held),
            14..17 => self.section(depth, held),
            17 => {
                let head = format!("for (int i = 0; i < {}; i++)", self.random.between(1, 2));
                let mut body = self.block(depth - 1, held);
                body.push(plain("r += i;"));
                vec![nested(head, body, Vec::new())]
            }
            18 => {
                let mut body = vec![plain("r = 0;")];
                body.extend(self.access(held));
                vec![nested("while (r == 1)".to_owned(), body, Vec::new())]
            }
            19 if held.is_none() => self.one_sided(depth),
            20 if held.is_none() => {
                let lock = self.random.below(LOCKS);
                let mut body = self.block(depth - 1, Some(lock));
                body.push(plain(&format!("pthread_mutex_unlock(&$l{lock});")));
                vec![nested(format!("if (!pthread_mutex_trylock(&$l{lock}))"), body, Vec::new())]
            }
            21 => {
                let end = self.random.pick(&["pthread_exit(0);", "exit(0);", "abort();"]);
                let head = self.condition();
                vec![nested(head, vec![plain(end)], Vec::new())]
            }
            22 => {
                let cases: Vec<Node> = (0..2)
                    .flat_map(|case| {
                        let mut body = vec![fixed(&format!("case {case}:;"))];
                        body.extend(self.block(depth - 1, held));
                        if self.random.chance(70) {
                            body.push(fixed("break;"));
                        }
                        body
                    })
                    .collect();
                vec![nested("switch (r)".to_owned(), cases, Vec::new())]
            }
            _ if self.order == Order::Any => self.section(depth, held),
            _ if held.is_none() => self.sly(),
            _ => self.access(held),
        }
    }

    /// Right as long as a value that others write is what it was at first.
    fn sly(&mut self) -> Vec<Node> {
        let variable = self.random.below(VARIABLES);
        let lock = self.protected[variable];
        let other = self.random.below(VARIABLES);
        let mut nodes = if self.random.chance(85) { self.look(None) } else { Vec::new() };
        let take = format!("pthread_mutex_lock(&$l{lock});");
        let give = format!("pthread_mutex_unlock(&$l{lock});");
        let text = match self.random.below(10) {
            0 => "$cells[(r + id) & 3] = 1;".to_owned(),
            1 => format!("{{ int *q = &$v{variable}; if (r == 1) q = &$v{other}; {take} (*q)++; {give} }}"),
            2 => format!(
                "{{ pthread_mutex_t *m = &$l{lock}; if (r == 1) m = &$l{}; $bump(m, &$v{variable}); }}",
                1 - lock
            ),
            3 => format!(
                "{take} if (r == 1) pthread_mutex_unlock(&$l{lock}); $v{variable}++; if (r != 1) {give}"
            ),
            4 => format!("{take} if (r == 1) {{ {give} $v{other} = 1; {take} }} $v{variable}++; {give}"),
            5 => format!(
                "{{ int mine[2] = {{ id, 3 }}; mine[0] += r & 1; $cells[mine[0] & 3] = 1; {take} $v{variable}++; {give} }}"
            ),
            6 => "{ int n = id; while (r-- > 0 && n < 3) n++; $cells[n & 3]++; }".to_owned(),
            7 => format!(
                "pthread_mutex_lock(&$l1); {{ pthread_mutex_t *m = $chosen; pthread_mutex_unlock(&$l1); $bump(m, &$v{variable}); }}"
            ),
            8 => format!(
                "pthread_mutex_lock(&$l1); $chosen = &$l{}; $pointer = &$v{other}; pthread_mutex_unlock(&$l1);",
                self.random.below(LOCKS)
            ),
            _ => format!(
                "pthread_mutex_lock(&$l1); {{ int *q = $pointer; pthread_mutex_unlock(&$l1); {take} (*q)++; {give} }}"
            ),
        };
        nodes.push(plain(&text));
        nodes
    }

    fn condition(&mut self) -> String {
        let value = self.random.below(2);
        let text = self.random.pick(&["r == ", "r != ", "r == ", "id == "]);
        format!("if ({text}{value})")
    }

    fn branch(&mut self, depth: usize, held: Option<usize>) -> Vec<Node> {
        let mut nodes = Vec::new();
        if self.random.chance(70) {
            nodes.extend(self.look(held));
        }
        let head = self.condition();
        let body = self.block(depth - 1, held);
        let otherwise = if self.random.chance(40) { self.block(depth - 1, held) } else { Vec::new() };
        nodes.push(nested(head, body, otherwise));
        nodes
    }

    fn section(&mut self, depth: usize, held: Option<usize>) -> Vec<Node> {
        if let Some(held) = held {
            return match self.order {
                Order::Kept => self.access(Some(held)),
                // Both are held then, and every variable is protected.
                Order::Any => {
                    let (lock, variable) = (1 - held, self.random.below(VARIABLES));
                    vec![plain(&format!(
                        "pthread_mutex_lock(&$l{lock}); r = $v{variable}++ & 1; pthread_mutex_unlock(&$l{lock});"
                    ))]
                }
            };
        }
        let lock = self.random.below(LOCKS);
        let mut nodes = vec![plain(&format!("pthread_mutex_lock(&$l{lock});"))];
        nodes.extend(self.block(depth - 1, Some(lock)));
        nodes.push(plain(&format!("pthread_mutex_unlock(&$l{lock});")));
        nodes
    }

    /// A lock that is taken on one side, and given back if it was.
    fn one_sided(&mut self, depth: usize) -> Vec<Node> {
        let lock = self.random.below(LOCKS);
        let mut nodes = self.look(None);
        let head = self.condition();
        nodes.push(nested(head.clone(), vec![plain(&format!("pthread_mutex_lock(&$l{lock});"))], Vec::new()));
        let held = if self.random.chance(60) { Some(lock) } else { None };
        let variable = self.random.below(VARIABLES);
        if held.is_some_and(|lock| self.protected[variable] == lock) || depth == 0 {
            nodes.push(plain(&format!("$v{variable}++;")));
        }
        nodes.push(nested(head, vec![plain(&format!("pthread_mutex_unlock(&$l{lock});"))], Vec::new()));
        nodes
    }

    fn look(&mut self, held: Option<usize>) -> Vec<Node> {
        let variable = self.random.below(VARIABLES);
        self.under(held, variable, vec![plain(&format!("r = $v{variable};"))])
    }

    fn access(&mut self, held: Option<usize>) -> Vec<Node> {
        let variable = self.random.below(VARIABLES);
        let text = match self.random.below(3) {
            0 => format!("r = $v{variable};"),
            1 => format!("$v{variable} = {};", self.random.below(2)),
            _ => format!("$v{variable}++;"),
        };
        self.under(held, variable, vec![plain(&text)])
    }

    fn call(&mut self, held: Option<usize>) -> Vec<Node> {
        match held {
            Some(_) => self.access(held),
            None if self.random.chance(40) => vec![plain("r = $helper(r);")],
            None => {
                let variable = self.random.below(VARIABLES);
                let lock = if self.random.chance(self.careless) { 0 } else { self.protected[variable] };
                vec![plain(&format!("$bump(&$l{lock}, &$v{variable});"))]
            }
        }
    }

    /// With the variable's lock, mostly.
    fn under(&mut self, held: Option<usize>, variable: usize, body: Vec<Node>) -> Vec<Node> {
        let lock = self.protected[variable];
        if held == Some(lock) || self.random.chance(self.careless) {
            return body;
        }
        if self.order == Order::Kept && held.is_some_and(|held| held > lock) {
            return vec![plain("r = 1;")];
        }
        let mut nodes = vec![plain(&format!("pthread_mutex_lock(&$l{lock});"))];
        nodes.extend(body);
        nodes.push(plain(&format!("pthread_mutex_unlock(&$l{lock});")));
        nodes
    }
}
