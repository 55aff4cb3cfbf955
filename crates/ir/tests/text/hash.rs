//! The hash follows the meaning and nothing else.

use raddle_ir::{parse, program_hash};

const TEXT: &str = r#"raddle-ir 1
model LP64
file file0 "/somewhere/else/a.c"
type t0 = scalar "int" 4
type t1 = struct 16 name "list" (0 t0 name "value", 64 t2 name "next")
type t2 = pointer t1
place p0 = g0 ."value"
place p1 = value "l" %1 * ."next"
global g0 "x" type t1 bytes 16 align 8 at file0:1:5
global g1 "y" bytes 4 align 4 init "01" ()
function f0 "main" name "main" returns (i32) {
  params (%0)
b0:
  %1 = load i32 g0 place p0 at file0:3:5
  %2 = call f1 (i32 %1)
  store i32 %2, g1 place p1 at file0:4:5
  ret (%1)
  reg %0 i32
  reg %1 i32 name "l" type t2
  reg %2 i32
}
function f1 "f" name "f" returns (i32) {
  params ()
}
"#;

/// The same program: strings, types, places, globals, functions and registers numbered otherwise, from another folder.
const RENUMBERED: &str = r#"raddle-ir 1
model LP64
file file0 "unused.h"
file file1 "b/a.c"
type t0 = pointer t2
type t1 = scalar "int" 4
type t2 = struct 16 name "list" (0 t1 name "value", 64 t0 name "next")
place p0 = value "l" %2 * ."next"
place p1 = g1 ."value"
global g0 "y" bytes 4 align 4 init "01" ()
global g1 "x" type t2 bytes 16 align 8 at file1:1:5
function f0 "f" name "f" returns (i32) {
  params ()
}
function f1 "main" name "main" returns (i32) {
  params (%1)
b0:
  %2 = load i32 g1 place p1 at file1:3:5
  %0 = call f0 (i32 %2)
  store i32 %0, g0 place p0 at file1:4:5
  ret (%2)
  reg %0 i32
  reg %1 i32
  reg %2 i32 name "l" type t0
}
"#;

fn hash(text: &str) -> u128 {
    program_hash(&parse(text).unwrap())
}

#[test]
fn numbering_and_folder_do_not_count() {
    assert_eq!(hash(TEXT), hash(RENUMBERED));
}

#[test]
fn everything_else_counts() {
    for (from, to) in [
        ("model LP64", "model ILP32"),
        ("/somewhere/else/a.c", "/somewhere/else/b.c"),
        ("\"int\" 4", "\"int\" 8"),
        ("name \"next\"", "name \"prev\""),
        (".\"value\"", ".\"next\""),
        ("\"y\" bytes 4", "\"y\" bytes 8"),
        ("init \"01\"", "init \"02\""),
        ("at file0:3:5", "at file0:3:6"),
        ("at file0:4:5", "at file0:9:5"),
        ("store i32 %2, g1", "store i32 %1, g1"),
        ("call f1 (i32 %1)", "call f1 (i32 7)"),
        ("ret (%1)", "ret (%0)"),
        ("name \"l\" type t2", "name \"m\" type t2"),
        ("name \"l\" type t2", "name \"l\" type t0"),
    ] {
        assert_eq!(TEXT.matches(from).count(), 1, "{from}");
        assert_ne!(hash(TEXT), hash(&TEXT.replace(from, to)), "{from} -> {to}");
    }
}
