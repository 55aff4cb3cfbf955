//! The cases of `cases.txt` as C programs: one thread in the call, another one writing the same bytes.

use std::fmt::Write as _;

pub const CASES: &str = include_str!("cases.txt");
pub const PRELUDE: &str = include_str!("prelude.h");

pub struct Case {
    /// Names of the case end in it.
    pub number: usize,
    pub function: &'static str,
    /// As in `cases.txt`: `1`, `1*`, `...`.
    pub argument: &'static str,
    declarations: &'static str,
    before: &'static str,
    call: &'static str,
    /// The memory and its size, where it is not `T`.
    target: Option<(&'static str, &'static str)>,
}

impl Case {
    /// Valgrind's own `pthread_create` cannot be reached through `thrd_create`.
    pub fn runs_under_drd(&self) -> bool {
        !["thrd_", "mtx_", "cnd_"].iter().any(|prefix| self.function.starts_with(prefix))
    }
}

pub fn all() -> Vec<Case> {
    let lines = CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.enumerate().map(|(number, line)| parse(number, line)).collect()
}

fn parse(number: usize, line: &'static str) -> Case {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let [name, declarations, before, call, rest @ ..] = fields.as_slice() else {
        panic!("not a case: {line}");
    };
    let (function, argument) = name.split_once(' ').expect("function and argument");
    let target = rest.first().map(|target| target.split_once(' ').expect("memory and size"));
    Case { number, function, argument, declarations, before, call, target }
}

/// One program with these cases, one after the other. Standard error names each case and its memory as it begins.
pub fn program(cases: &[&Case]) -> String {
    let mut text = PRELUDE.to_owned();
    // The call comes first: DRD leaves out a report where the second access is the library's.
    text.push_str(
        "static volatile int done;\n\
         static void run(void *(*call)(void *), void *(*writer)(void *)) {\n\
         pthread_t a, b;\ndone = 0;\npthread_create(&a, 0, call, 0);\nwhile (!done) usleep(1000);\n\
         pthread_create(&b, 0, writer, 0);\npthread_join(a, 0);\npthread_join(b, 0);\n}\n",
    );
    for case in cases {
        write_case(&mut text, case).expect("a string");
    }
    text.push_str("int main(void) {\nnull_device = open(\"/dev/null\", O_RDWR);\n");
    for case in cases {
        writeln!(text, "case_{}();", case.number).expect("a string");
    }
    text.push_str("return 0;\n}\n");
    text
}

fn write_case(text: &mut String, case: &Case) -> std::fmt::Result {
    let n = case.number;
    let own = |part: &str| own_names(part, n);
    let (memory, bytes) = case.target.map_or(("&T", "sizeof T"), |target| target);
    let (memory, bytes) = (own(memory), own(bytes));
    for declaration in case.declarations.split_inclusive(';') {
        writeln!(text, "static {}", own(declaration.trim()))?;
    }
    writeln!(text, "static char copy_{n}[8192];")?;
    writeln!(text, "static void *call_{n}(void *unused) {{ {}; done = 1; return unused; }}", own(case.call))?;
    writeln!(
        text,
        "static void *write_{n}(void *unused) {{ for (size_t i = 0; i < {bytes}; i++) \
         ((volatile char *){memory})[i] = copy_{n}[i]; return unused; }}"
    )?;
    writeln!(
        text,
        "static void case_{n}(void) {{ {} memcpy(copy_{n}, {memory}, {bytes}); \
         fprintf(stderr, \"case {n} %p %zu\\n\", (void *){memory}, (size_t){bytes}); \
         run(call_{n}, write_{n}); }}",
        own(case.before)
    )
}

/// Names of one capital letter get the number of the case.
fn own_names(part: &str, number: usize) -> String {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = part.as_bytes();
    let mut text = String::new();
    for (at, letter) in part.char_indices() {
        text.push(letter);
        let alone =
            (at == 0 || !is_name(bytes[at - 1])) && bytes.get(at + 1).is_none_or(|next| !is_name(*next));
        let in_quotes = part[..at].matches('"').count() % 2 == 1;
        if letter.is_ascii_uppercase() && alone && !in_quotes {
            text.push_str(&format!("_{number}"));
        }
    }
    text
}
