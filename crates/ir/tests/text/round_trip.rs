//! Printing and parsing are inverse; no text makes the parser panic.

use super::count;
use super::generate::{Random, program};
use raddle_ir::{Program, Symbol, parse, print, program_hash, verify};

#[test]
fn parse_reads_what_print_writes() {
    for seed in 0..count(1_500, 100_000) {
        let program = program(seed);
        let text = print(&program);
        let back = parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_eq!(contents(&program), contents(&back), "seed {seed}\n{text}");
        assert_eq!(text, print(&back), "seed {seed}");
        assert_eq!(program_hash(&program), program_hash(&back), "seed {seed}");
    }
}

#[test]
fn mutated_text_never_panics() {
    let (mut parsed, mut refused) = (0, 0);
    for seed in 0..count(3_000, 300_000) {
        let mut random = Random(seed ^ 0xF00D);
        let mut text = print(&program(seed % 200)).into_bytes();
        for _ in 0..1 + random.below(3) {
            mutate(&mut random, &mut text);
        }
        match parse(&String::from_utf8_lossy(&text)) {
            Ok(program) => {
                parsed += 1;
                // A program that verifies can be printed and hashed, whatever it says.
                if verify(&program).is_ok() {
                    program_hash(&program);
                    parse(&print(&program)).expect("printed text parses");
                }
            }
            Err(error) => {
                refused += 1;
                assert!(error.line >= 1 && !error.message.is_empty());
            }
        }
    }
    assert!(parsed > 0 && refused > 0, "{parsed} parsed, {refused} refused");
}

#[test]
fn errors_name_the_line() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(error(""), "line 1: expected `raddle`, found the end of the text");
    assert_eq!(error("raddle-ir 2\n"), "line 1: expected version 1, found `2`");
    assert_eq!(error("raddle-ir 1\nmodel LP65"), "line 2: expected LP64 or ILP32, found `LP65`");
    assert_eq!(
        error("raddle-ir 1\nmodel LP64\nfile file1 \"a.c\""),
        "line 3: expected `file0`, found `file1`"
    );
    assert_eq!(
        error(
            "raddle-ir 1\nmodel LP64\nfunction f0 \"m\" name \"m\" returns () {\n params ()\nb0:\n frob %1 }"
        ),
        "line 6: expected an instruction with 0 result(s), found `frob`"
    );
    assert_eq!(error("raddle-ir 1\nmodel LP64 \"open"), "line 2: the string does not end on its line");
}

fn mutate(random: &mut Random, text: &mut Vec<u8>) {
    if text.is_empty() {
        return;
    }
    let at = random.below(text.len());
    match random.below(6) {
        0 => text.truncate(at),
        1 => {
            text.remove(at);
        }
        2 => text[at] = random.next() as u8,
        3 => text.insert(at, random.pick(b"%\"\\({[0-9g b\n")),
        4 => {
            let end = (at + random.below(40)).min(text.len());
            let piece: Vec<u8> = text[at..end].to_vec();
            let to = random.below(text.len());
            text.splice(to..to, piece);
        }
        _ => {
            let digits: Vec<usize> = (0..text.len()).filter(|i| text[*i].is_ascii_digit()).collect();
            if !digits.is_empty() {
                text[random.pick(&digits)] = b'0' + random.below(10) as u8;
            }
        }
    }
}

/// Everything in the program, with symbols as their strings: numbering of strings is not part of the meaning.
fn contents(program: &Program) -> String {
    let all = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        program.data_model,
        program.files,
        program.debug_types,
        program.places,
        program.globals,
        program.functions,
        program.sites,
        program.constructors,
        program.destructors
    );
    let mut out = String::new();
    let mut rest = all.as_str();
    while let Some(start) = rest.find(['s', '"']) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        if rest.starts_with('"') {
            let end = string_end(rest);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
        let free = out.ends_with(|c: char| !c.is_alphanumeric() && c != '_');
        if digits > 0 && free {
            let symbol = Symbol(rest[1..=digits].parse().expect("digits"));
            out.push_str(&format!("{:?}", program.text(symbol)));
            rest = &rest[1 + digits..];
        } else {
            out.push('s');
            rest = &rest[1..];
        }
    }
    out + rest
}

fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return i + 1,
            _ => {}
        }
    }
    text.len()
}
