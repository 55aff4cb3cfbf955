//! Every kind of input, good and bad: what is loaded, and which error a mistake gets.

use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_frontend::{FrontendError, Loaded, Request, load};
use raddle_ir::DataModel;
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Folder(tempfile::tempdir().expect("temporary folder"));
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(path, text).expect("write");
    }

    fn request(&self, inputs: &[&str]) -> Request {
        Request { inputs: inputs.iter().map(|name| self.path(name)).collect(), ..Request::default() }
    }

    fn load(&self, inputs: &[&str]) -> Result<Loaded, FrontendError> {
        load(&self.request(inputs))
    }

    /// Runs a tool of LLVM or gcc in the folder.
    fn run(&self, program: &str, arguments: &[&str]) {
        let output =
            Command::new(program).args(arguments).current_dir(self.0.path()).output().expect(program);
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

fn error(result: Result<Loaded, FrontendError>) -> FrontendError {
    match result {
        Err(error) => error,
        Ok(_) => panic!("loaded, but should not be"),
    }
}

fn defined(loaded: &Loaded, symbol: &str) -> bool {
    let program = &loaded.program;
    program.function_by_symbol(symbol).is_some_and(|id| program.functions[id].is_defined())
}

const MAIN: &str = "int helper(int);\nint main(void) { return helper(1); }\n";
const HELPER: &str = "static int twice(int x) { return 2 * x; }\nint helper(int x) { return twice(x); }\n";

#[test]
fn files_are_linked_and_missing_functions_are_declarations() {
    let folder = Folder::new(&[("a.c", MAIN), ("b.c", HELPER)]);
    let both = folder.load(&["a.c", "b.c"]).expect("loads");
    assert!(defined(&both, "main") && defined(&both, "helper"));
    let alone = folder.load(&["a.c"]).expect("loads");
    assert!(defined(&alone, "main") && !defined(&alone, "helper"));
    let library = folder.load(&["b.c"]).expect("loads");
    assert!(library.program.function_by_symbol("main").is_none());
}

#[test]
fn statics_of_the_same_name_keep_it() {
    let other = "static int twice(int x) { return x + x; }\nint other(int x) { return twice(x); }\n";
    let folder = Folder::new(&[("a.c", HELPER), ("b.c", other)]);
    let program = folder.load(&["a.c", "b.c"]).expect("loads").program;
    let twice = program.functions.values().filter(|function| program.text(function.name) == "twice");
    let symbols: Vec<&str> = twice.map(|function| program.text(function.symbol)).collect();
    assert_eq!(symbols.len(), 2);
    assert_ne!(symbols[0], symbols[1]);
}

#[test]
fn bad_files_have_their_own_errors() {
    let folder = Folder::new(&[
        ("empty.c", ""),
        ("notes.txt", "hello"),
        ("wrong.c", "int main(void) { return undeclared_variable; }\n"),
        ("garbage.bc", "this is not bitcode"),
        ("wrong.ll", "define i32 @main() {\n  ret i64 0\n}\n"),
        ("arm.ll", "target triple = \"aarch64-linux-gnu\"\ntarget datalayout = \"e-m:e-i8:8:32\"\n"),
        ("sub/x.c", "int x;\n"),
    ]);
    type Check = fn(&FrontendError) -> bool;
    let cases: [(&str, Check); 8] = [
        ("absent.c", |error| matches!(error, FrontendError::Missing { .. })),
        ("sub", |error| matches!(error, FrontendError::Directory { .. })),
        ("empty.c", |error| matches!(error, FrontendError::Empty { .. })),
        ("notes.txt", |error| matches!(error, FrontendError::UnknownKind { .. })),
        ("wrong.c", |error| {
            matches!(error, FrontendError::Compile { message, .. } if
            message.contains("use of undeclared identifier 'undeclared_variable'"))
        }),
        ("garbage.bc", |error| matches!(error, FrontendError::Bitcode { .. })),
        ("wrong.ll", |error| {
            matches!(error, FrontendError::Bitcode { message, .. } if
            message.contains("function result type"))
        }),
        ("arm.ll", |error| matches!(error, FrontendError::ForeignTarget { .. })),
    ];
    for (name, check) in cases {
        let error = error(folder.load(&[name]));
        assert!(check(&error), "{name}: {error:?}");
        assert!(error.to_string().contains(name), "{name}: the message does not name the file: {error}");
    }
    assert!(matches!(error(load(&Request::default())), FrontendError::NoInputs));
}

#[test]
fn two_definitions_do_not_link() {
    let folder = Folder::new(&[("a.c", HELPER), ("b.c", HELPER)]);
    let error = error(folder.load(&["a.c", "b.c"]));
    assert!(matches!(&error, FrontendError::Link { message, .. } if message.contains("helper")), "{error:?}");
}

#[test]
fn bitcode_brings_its_data_model() {
    let folder = Folder::new(&[("a.c", MAIN), ("b.c", HELPER)]);
    let clang = ["-O0", "-g", "-emit-llvm", "-c", "b.c"];
    folder.run("clang-19", &[&clang[..], &["-m32", "-o", "b32.bc"]].concat());
    folder.run("clang-19", &[&clang[..], &["-m64", "-o", "b64.bc"]].concat());
    let alone = folder.load(&["b32.bc"]).expect("loads");
    assert_eq!(alone.program.data_model, DataModel::Ilp32);
    // The sources beside it follow, whatever the order.
    let both = folder.load(&["a.c", "b32.bc"]).expect("loads");
    assert_eq!(both.program.data_model, DataModel::Ilp32);
    assert!(defined(&both, "helper"));
    let mixed = error(folder.load(&["b32.bc", "b64.bc"]));
    assert!(matches!(mixed, FrontendError::MixedTargets { .. }), "{mixed:?}");
    let request = Request { data_model: Some(DataModel::Lp64), ..folder.request(&["b32.bc"]) };
    let other = error(load(&request));
    assert!(matches!(other, FrontendError::DataModel { .. }), "{other:?}");
}

#[test]
fn textual_ir_without_a_target_is_lp64() {
    let folder = Folder::new(&[("a.ll", "define i32 @main() {\n  ret i32 0\n}\n")]);
    let loaded = folder.load(&["a.ll"]).expect("loads");
    assert_eq!(loaded.program.data_model, DataModel::Lp64);
    assert!(defined(&loaded, "main"));
}

#[test]
fn files_that_gcc_preprocessed_are_understood() {
    let source = "#include <stdlib.h>\n#include <math.h>\n#include <pthread.h>\n\
        static int n;\nint main(void) { n = (int)fabs(-1.0); return n; }\n";
    let folder = Folder::new(&[("x.c", source)]);
    let mut cases = vec![("x64.i", "-m64", DataModel::Lp64)];
    // 32-bit headers are a package of their own.
    if Path::new("/usr/include/gnu/stubs-32.h").exists()
        || Path::new("/usr/include/x86_64-linux-gnu/gnu/stubs-32.h").exists()
    {
        cases.push(("x32.i", "-m32", DataModel::Ilp32));
    }
    for (name, flag, model) in cases {
        folder.run("gcc", &["-E", flag, "x.c", "-o", name]);
        let request = Request { data_model: Some(model), ..folder.request(&[name]) };
        let loaded = load(&request).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(loaded.assumptions, ["A-LAYOUT"], "{name}");
        assert_eq!(loaded.program.data_model, model);
        let program = &loaded.program;
        let main = &program.functions[program.function_by_symbol("main").expect("main")];
        assert!(main.in_primary_file, "{name}");
        let span = main.span.expect("span");
        assert!(program.files[span.file].ends_with("x.c"), "{}", program.files[span.file]);
        assert_eq!(span.line, 5);
    }
}

#[test]
fn headers_are_not_the_primary_file() {
    let folder = Folder::new(&[
        ("inc/h.h", "static inline int in_header(void) { return 1; }\n"),
        ("a.c", "#include \"h.h\"\nint main(void) { return in_header(); }\n"),
    ]);
    let include = format!("-I{}", folder.path("inc").display());
    let program =
        load(&Request { cflags: vec![include], ..folder.request(&["a.c"]) }).expect("loads").program;
    for (name, primary) in [("main", true), ("in_header", false)] {
        let function = &program.functions[program.function_by_symbol(name).expect(name)];
        assert_eq!(function.in_primary_file, primary, "{name}");
    }
}

/// Two programs and a library source that only one of them needs.
fn database() -> Folder {
    let entry = |file: &str, flags: &str| {
        format!(
            r#"{{ "directory": ".", "file": "{file}", "command": "cc -O2 -fno-such-flag-of-gcc {flags} -c -o x.o {file}" }}"#
        )
    };
    let folder = Folder::new(&[
        ("src/one.c", "int helper(int);\nint main(void) { return helper(ONE); }\n"),
        ("src/two.c", "int main(void) { return 2; }\n"),
        ("src/b.c", HELPER),
        ("src/unused.c", "int helper(int x) { return x; }\nint unused;\n"),
        ("src/boot.S", "nop\n"),
    ]);
    let entries = [
        entry("src/one.c", "-DONE=1"),
        entry("src/two.c", ""),
        entry("src/b.c", ""),
        entry("src/unused.c", ""),
        entry("src/boot.S", ""),
    ];
    folder.write("compile_commands.json", &format!("[{}]", entries.join(",\n")));
    folder
}

#[test]
fn a_database_holds_programs() {
    let folder = database();
    let several = error(folder.load(&["compile_commands.json"]));
    match &several {
        FrontendError::SeveralTargets { candidates, .. } => {
            assert_eq!(candidates.len(), 2);
            assert!(candidates[0].ends_with("src/one.c") && candidates[1].ends_with("src/two.c"));
        }
        other => panic!("{other:?}"),
    }
    for target in ["one", "one.c", "src/one.c"] {
        let request = Request { target: Some(target.to_owned()), ..folder.request(&["."]) };
        let loaded = load(&request).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(defined(&loaded, "main") && defined(&loaded, "helper"));
        // `helper` comes from the first source that has it; the other is left out, and said to be.
        assert!(loaded.program.function_by_symbol("twice").is_some());
        assert!(loaded.warnings.iter().any(|warning| warning.contains("2 sources")), "{:?}", loaded.warnings);
        assert!(loaded.warnings.iter().any(|warning| warning.contains("-fno-such-flag-of-gcc")));
    }
    let request = Request { target: Some("three".to_owned()), ..folder.request(&["."]) };
    assert!(matches!(error(load(&request)), FrontendError::NoSuchTarget { .. }));
}

#[test]
fn bad_databases_are_refused() {
    let folder = database();
    for (text, part) in [
        ("{", "not a compilation database"),
        ("[]", "no C source"),
        (r#"[{ "directory": ".", "file": "a.c" }]"#, "neither arguments nor command"),
        (r#"[{ "directory": ".", "file": "a.c", "command": "cc 'a.c" }]"#, "unbalanced quotes"),
    ] {
        folder.write("bad.json", text);
        let error = error(folder.load(&["bad.json"]));
        assert!(matches!(error, FrontendError::Database { .. }), "{error:?}");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
    let mixed = error(folder.load(&["compile_commands.json", "src/b.c"]));
    assert!(matches!(mixed, FrontendError::MixedDatabase));
}

#[test]
fn the_users_flags_count_and_ours_win() {
    let folder = Folder::new(&[("a.c", "int g;\nint main(void) { g = 1; g = N; return 0; }\n")]);
    let flags = |list: &[&str]| list.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>();
    assert!(matches!(error(folder.load(&["a.c"])), FrontendError::Compile { .. }));
    let request =
        Request { cflags: flags(&["-DN=3", "-O2", "-Werror", "-Wall"]), ..folder.request(&["a.c"]) };
    let program = load(&request).expect("loads").program;
    let main = &program.functions[program.function_by_symbol("main").expect("main")];
    let insts = main.blocks.values().flat_map(|block| &block.insts);
    let stores = insts.filter(|inst| matches!(inst, raddle_ir::Inst::Store { .. })).count();
    // At -O2 the first store would be gone.
    assert_eq!(stores, 2);
}
