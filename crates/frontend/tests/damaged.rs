//! Damaged bitcode never takes the process down: truncated and bit-flipped files are errors or programs that verify.
//!
//! `RADDLE_SOAK=1` tries thousands instead of dozens.

use std::process::Command;

use raddle_frontend::{Request, load};

const SOURCE: &str = "struct s { int a : 3, b : 7; double d[3]; } g; _Thread_local int t; _Atomic int n;\n\
    int f(int x, ...) { switch (x) { case 1: return 2; case 7: n++; default: t += x; } return g.b + g.d[x] > 0; }\n\
    int main(void) { int (*p)(int, ...) = f; return p(3, &g); }\n";

#[test]
fn damaged_bitcode_is_an_error_or_a_program() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.c"), SOURCE).expect("write");
    let status = Command::new("clang-19")
        .args(["-O0", "-g", "-emit-llvm", "-c", "a.c", "-o", "a.bc"])
        .current_dir(folder.path())
        .status();
    assert!(status.expect("clang-19").success());
    let whole = std::fs::read(at("a.bc")).expect("read");
    let tries = if std::env::var_os("RADDLE_SOAK").is_some() { 4000 } else { 40 };
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    let (mut refused, mut loaded) = (0, 0);
    for number in 0..tries {
        let mut bytes = whole.clone();
        if number % 4 == 0 {
            bytes.truncate(1 + next(whole.len() - 1));
        } else {
            for _ in 0..1 + next(4) {
                let position = next(bytes.len());
                bytes[position] ^= 1 << next(8);
            }
        }
        let path = at("damaged.bc");
        std::fs::write(&path, &bytes).expect("write");
        match load(&Request { inputs: vec![path], ..Request::default() }) {
            Ok(result) => {
                loaded += 1;
                if let Err(errors) = raddle_ir::verify(&result.program) {
                    panic!("try {number}: {}", errors[0]);
                }
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    println!("{tries} damaged files: {refused} refused, {loaded} loaded");
    assert!(refused > tries / 2, "the files were hardly damaged: {refused} of {tries} refused");
}
