//! Random C functions full of loops over one block of memory, for comparing what is checked with and without reduction.

pub struct Generator {
    state: u64,
    text: String,
    /// Integer variables in scope that only loops change.
    counters: Vec<String>,
    pointers: Vec<String>,
    /// Counters of eight bits.
    bytes: Vec<String>,
    names: u32,
    /// Whether a loop is around, so that `break` and `continue` may stand.
    in_loop: u32,
}

const PRELUDE: &str = r#"
#include <stdio.h>
#include <string.h>
#include <stdatomic.h>
#include <setjmp.h>
char memory[16384] __attribute__((aligned(64)));
void sync_point(void);
typedef unsigned word;
struct point { word x; unsigned short y; char z; unsigned long w; };
#define A ((word *)(memory + 4096))
#define D ((unsigned long *)(memory + 6144))
#define S ((struct point *)(memory + 8192))
#define M ((word (*)[20])(memory + 10240))
#define C (memory + 2048)
static word total;
static atomic_int atom;
static __attribute__((noinline)) word quiet(word i) { A[i & 31] += i; return A[(i + 1) & 31]; }
static word small(word *p, int i) { return p[i] + i; }
static void fill(word *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }
static __attribute__((noinline)) void loud(word i) { A[i & 31] = i; sync_point(); D[i & 15] = i; }
"#;

/// A program of `count` functions.
pub fn random_program(seed: u64, count: u32) -> String {
    let mut generator = Generator {
        state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1),
        text: PRELUDE.to_owned(),
        counters: Vec::new(),
        pointers: Vec::new(),
        bytes: Vec::new(),
        names: 0,
        in_loop: 0,
    };
    for index in 0..count {
        generator.function(index);
    }
    generator
        .text
        .push_str("int main(void) {\n  for (int i = 0; i < 16384; i++) memory[i] = (i * 37) >> 3;\n");
    for index in 0..count {
        let (n, k) = (generator.below(9), 1 + generator.below(3));
        let call = format!("  sync_point(); f{index}({n}, {k}, A + {}, {n}u, {n}l);\n", generator.below(9));
        generator.text.push_str(&call);
    }
    generator.text.push_str("  printf(\"%u\\n\", total);\n}\n");
    generator.text
}

impl Generator {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn name(&mut self, start: &str) -> String {
        self.names += 1;
        format!("{start}{}", self.names)
    }

    fn function(&mut self, index: u32) {
        let header = format!(
            "__attribute__((noinline)) void f{index}(int n, int k, word *p, unsigned u, long l) {{\n  word acc = n;\n"
        );
        self.text.push_str(&header);
        self.counters = vec!["n".to_owned(), "k".to_owned()];
        self.pointers = vec!["p".to_owned()];
        for _ in 0..2 + self.below(3) {
            self.statement(3);
        }
        self.text.push_str("  total += acc;\n}\n");
    }

    fn line(&mut self, text: &str) {
        self.text.push_str("  ");
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn block(&mut self, depth: u32) {
        let (counters, pointers) = (self.counters.len(), self.pointers.len());
        for _ in 0..1 + self.below(3) {
            self.statement(depth);
        }
        self.counters.truncate(counters);
        self.pointers.truncate(pointers);
    }

    fn statement(&mut self, depth: u32) {
        match self.below(if depth > 0 { 26 } else { 14 }) {
            0..=3 => {
                let (place, value) = (self.place(), self.value());
                let op = ["=", "+=", "^=", "="][self.below(4) as usize];
                self.line(&format!("{place} {op} {value};"));
            }
            4..=6 => {
                let place = self.place();
                self.line(&format!("acc += {place};"));
            }
            7 => {
                let place = self.place();
                self.line(&format!("{place}++;"));
            }
            8 => {
                let text = match self.below(9) {
                    0 => "sync_point();".to_owned(),
                    1 => "atom++;".to_owned(),
                    2 => "loud(acc);".to_owned(),
                    3 | 4 => "acc += quiet(acc);".to_owned(),
                    5 => format!("acc += small(A, {});", self.index()),
                    6 => format!("fill(A + {}, {});", self.below(20), self.below(9)),
                    7 => format!("memset(C + {}, 1, {});", self.below(50), self.below(20)),
                    _ => format!("S[{}] = S[{}];", self.below(5), self.below(5)),
                };
                self.line(&text);
            }
            9 if self.in_loop > 0 => {
                let condition = self.condition();
                let word = ["break", "continue", "break", "return"][self.below(4) as usize];
                self.line(&format!("if ({condition}) {word};"));
            }
            9..=13 => {
                let (place, other) = (self.place(), self.place());
                self.line(&format!("{place} = {other};"));
            }
            14..=16 => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) {{"));
                self.block(depth - 1);
                if self.below(2) == 0 {
                    self.line("} else {");
                    self.block(depth - 1);
                }
                self.line("}");
            }
            _ => self.a_loop(depth),
        }
    }

    fn a_loop(&mut self, depth: u32) {
        let (counters, pointers, bytes) = (self.counters.len(), self.pointers.len(), self.bytes.len());
        let i = self.name("i");
        let bound = match self.below(4) {
            0 => "n".to_owned(),
            1 => "(n & 7)".to_owned(),
            _ => self.below(9).to_string(),
        };
        let step = 1 + self.below(3);
        let (head, tail) = match self.below(18) {
            0..=2 => (format!("for (int {i} = 0; {i} < {bound}; {i} += {step}) {{"), "}".to_owned()),
            3 => (format!("for (long {i} = 0; {i} < {bound}; {i}++) {{"), "}".to_owned()),
            4 => (format!("for (unsigned {i} = 0; {i} < (unsigned){bound}; {i}++) {{"), "}".to_owned()),
            5 => (format!("for (int {i} = {bound} - 1; {i} >= 0; {i} -= {step}) {{"), "}".to_owned()),
            6 => (format!("for (unsigned {i} = {bound}; {i}-- > 0;) {{"), "}".to_owned()),
            7 => (format!("for (short {i} = 0; {i} < {bound}; {i}++) {{"), "}".to_owned()),
            8 => (format!("for (int {i} = 0; {i} < {bound}; {i} += k) {{"), "}".to_owned()),
            9 => (format!("{{ int {i} = 0; do {{"), format!("}} while (++{i} < {bound}); }}")),
            10 => (format!("{{ int {i} = -1; while (++{i} < {bound}) {{"), "} }".to_owned()),
            11..=13 => {
                // Eight bits: these wrap within the memory.
                let (first, last) = (200 + self.below(50), self.below(30));
                let (first, test) = match self.below(4) {
                    0 => (100, format!("{i} < {}uwb", 110 + last)),
                    1 => (110, format!("{i} != {}uwb", 115 + last)),
                    2 => (0, format!("{last}uwb > {i}")),
                    _ => (first, format!("{i} != {last}uwb")),
                };
                self.bytes.push(i.clone());
                (format!("for (unsigned _BitInt(8) {i} = {first}; {test}; {i} += 1uwb) {{"), "}".to_owned())
            }
            14 => {
                // A search through bytes.
                let (first, byte) = (self.below(40), self.below(256));
                let head =
                    format!("for (int {i} = 0; {i} < {bound} && C[{first} + {i}] != (char){byte}; {i}++) {{");
                (head, "}".to_owned())
            }
            15 => {
                let (s, first, byte) = (self.name("s"), self.below(40), self.below(256));
                let walk = if self.below(2) == 0 { "--" } else { "++" };
                let head = format!(
                    "{{ char *{s} = C + {first}; int {i} = 0; while (*{s}{walk} != (char){byte} && {i} < {bound}) {{ {i}++;"
                );
                (head, "} }".to_owned())
            }
            16 => {
                let q = self.name("q");
                let start = self.below(9);
                self.pointers.push(q.clone());
                let head = format!(
                    "{{ word *{q} = A + {start}; for (int {i} = 0; {i} < {bound}; {i}++, {q} += {step}) {{"
                );
                (head, "} }".to_owned())
            }
            _ => {
                let q = self.name("q");
                let start = self.below(9);
                self.pointers.push(q.clone());
                let down = self.below(2) == 0;
                let walk = if down { "--" } else { "++" };
                let head = format!(
                    "{{ word *{q} = A + {start} + 20; int {i} = 0; while ({i} < {bound}) {{ acc += *{q}{walk}; {i}++;"
                );
                (head, "} }".to_owned())
            }
        };
        self.line(&head);
        if !self.bytes.contains(&i) {
            self.counters.push(i);
        }
        self.in_loop += 1;
        self.block(depth - 1);
        self.in_loop -= 1;
        self.counters.truncate(counters);
        self.pointers.truncate(pointers);
        self.bytes.truncate(bytes);
        self.line(&tail);
    }

    fn counter(&mut self) -> String {
        // Later ones, of inner loops, more often.
        let count = self.counters.len() as u64;
        let index = self.below(count).max(self.below(count));
        self.counters[index as usize].clone()
    }

    fn index(&mut self) -> String {
        let i = self.counter();
        let c = self.below(9);
        match self.below(12) {
            0..=3 => i,
            4 => format!("{i} + {c}"),
            5 => format!("{i} * {}", 1 + c % 3),
            6 => format!("{i} * k"),
            7 => format!("{c} - (int){i} + 10"),
            8 => {
                let j = self.counter();
                format!("{i} * 2 + {j}")
            }
            9 => format!("(n - 1 - (int){i})"),
            10 => format!("(C[{i}] & 15)"),
            _ => c.to_string(),
        }
    }

    fn place(&mut self) -> String {
        if let Some(i) = self.bytes.last().cloned()
            && self.below(2) == 0
        {
            let c = self.below(9);
            return match self.below(7) {
                0 | 1 => format!("C[{i}]"),
                2 => format!("C[(_BitInt(8)){i}]"),
                3 => format!("C[(_BitInt(8))({i} * 3uwb)]"),
                4 => format!("C[(unsigned _BitInt(8))({i} + {c}uwb)]"),
                5 => format!("A[{i} + {c}]"),
                _ => format!("C[(_BitInt(8))({i} + 100uwb) + {c}]"),
            };
        }
        match self.below(12) {
            0..=3 => format!("A[{}]", self.index()),
            4 => format!("D[{}]", self.index()),
            5 => {
                let field = ["x", "y", "z", "w"][self.below(4) as usize];
                format!("S[{}].{field}", self.index())
            }
            6 | 7 => format!("M[{}][{}]", self.index(), self.index()),
            8 => format!("C[{}]", self.index()),
            9 => {
                let count = self.pointers.len() as u64;
                let index = self.below(count) as usize;
                let pointer = self.pointers[index].clone();
                if self.below(2) == 0 {
                    format!("*{pointer}")
                } else {
                    format!("{pointer}[{}]", self.index())
                }
            }
            10 => format!("A[{}]", self.below(9)),
            _ => format!("((unsigned short *)C)[{}]", self.index()),
        }
    }

    fn value(&mut self) -> String {
        match self.below(3) {
            0 => self.counter(),
            1 => "acc".to_owned(),
            _ => self.below(100).to_string(),
        }
    }

    fn condition(&mut self) -> String {
        match self.below(5) {
            0 => format!("{} % 3 == {}", self.counter(), self.below(3)),
            1 => "acc & 1".to_owned(),
            2 => format!("{} & 4", self.place_of_integers()),
            3 => format!("{} > {}", self.counter(), self.below(6)),
            _ => format!("{} == {}", self.counter(), self.below(6)),
        }
    }

    fn place_of_integers(&mut self) -> String {
        format!("A[{}]", self.index())
    }
}
