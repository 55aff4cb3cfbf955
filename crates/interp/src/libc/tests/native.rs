//! The C library of this system, asked by small programs that the test compiles with `cc`.

use std::process::Command;

/// Compiles and runs a program with these includes and this body of `main`; its standard output.
pub(super) fn run_c(includes: &[&str], body: &str) -> Vec<u8> {
    run_c_with(includes, "", body)
}

/// The same with functions of its own.
pub(super) fn run_c_with(includes: &[&str], support: &str, body: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("ask.c");
    let program = folder.path().join("ask");
    let includes: String = includes.iter().map(|name| format!("#include <{name}>\n")).collect();
    std::fs::write(&source, format!("{includes}{support}\nint main(void) {{\n{body}\nreturn 0;\n}}\n"))
        .expect("written");
    let compiled = Command::new("cc")
        .args(["-w", "-O0", "-D_GNU_SOURCE", "-fno-builtin", "-o"])
        .arg(&program)
        .arg(&source)
        .arg("-lm")
        .output()
        .expect("cc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&program).env("LC_ALL", "C").env("TZ", "UTC").output().expect("the program runs");
    assert!(ran.status.success(), "{:?}", ran.status);
    ran.stdout
}

/// A C string literal of these bytes.
pub(super) fn c_string(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in text {
        out.push_str(&format!("\\{byte:03o}"));
    }
    out.push('"');
    out
}

/// xorshift64*, so that the cases are the same every time.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        ((self.next() >> 33) % limit as u64) as usize
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// More cases when `RADDLE_SOAK` is set.
pub(super) fn cases(few: usize, many: usize) -> usize {
    if std::env::var_os("RADDLE_SOAK").is_some() { many } else { few }
}
