//! What the options change: several units, pruned sites, libraries, wrapped functions, levels; sites are those of other readers.

mod harness;

use std::collections::BTreeSet;

use harness::{LOG_HOOKS, Language, Workshop, execute, hook_calls};
use raddle_instrument::{Keep, Level, Options, Output, Reduce, Text, build_with_text, sites};
use raddle_ir::{Inst, Program, SiteId};

const FIRST: &str = r#"
    #include <string.h>
    extern int shared[10];
    int total(void);
    static int own(int n) { return shared[n] + n; }
    int main(void) { shared[2] = own(3); return total() == 0 || strlen("abc") != 3; }"#;
const SECOND: &str = r#"
    int shared[10];
    static int own(int n) { return shared[n] * 2; }
    int total(void) { return own(2) + own(4) + 1; }"#;

#[test]
fn units_become_one_program_with_the_ids_of_its_bitcode() {
    let workshop = Workshop::new();
    let units = [workshop.unit("first", FIRST, Language::C), workshop.unit("second", SECOND, Language::C)];
    let built = workshop.instrument(&units, Reduce::All);
    let program = workshop.link("both", &built.object, LOG_HOOKS, Language::C);
    assert!(execute(&program).status.success());

    let path = workshop.path("linked.bc");
    std::fs::write(&path, &built.bitcode).expect("bitcode is written");
    let request = raddle_frontend::Request { inputs: vec![path], ..Default::default() };
    let loaded = raddle_frontend::load(&request).expect("the linked bitcode is read");
    let table = sites::decode(&built.sites).expect("a good table");
    assert_eq!(table.program_sites() as usize, loaded.program.sites.len());
    for site in table.iter() {
        let info = loaded.program.sites.get(SiteId(site.original)).expect("a site of the program");
        assert_eq!(loaded.program.text(loaded.program.functions[info.function].name), site.function);
        assert_eq!(info.span.map_or(0, |span| span.line), site.line);
        let is_access = matches!(
            loaded.program.code_at(SiteId(site.original)),
            Some(raddle_ir::Code::Inst(Inst::Load { .. } | Inst::Store { .. }))
        );
        assert_eq!(is_access, matches!(site.kind, sites::Kind::Read | sites::Kind::Write));
    }
}

#[test]
fn only_kept_sites_are_checked() {
    let workshop = Workshop::new();
    let unit = workshop.unit("second", SECOND, Language::C);
    let stores = |program: &Program| -> BTreeSet<SiteId> {
        let sites = program.sites.iter().map(|(site, _)| site);
        sites
            .filter(|site| matches!(program.code_at(*site), Some(raddle_ir::Code::Inst(Inst::Store { .. }))))
            .collect()
    };
    let options = Options::default();
    let build = |keep: &dyn Fn(&Program) -> Keep| {
        let built =
            build_with_text(std::slice::from_ref(&unit), &options, keep, Text::Yes).expect("it builds");
        hook_calls(&built.text.unwrap_or_default())
    };
    assert_eq!(build(&|_| Keep::All).get("read4"), Some(&2));
    let pruned = build(&|program| Keep::Sites(stores(program)));
    assert!(pruned.is_empty(), "nothing to check and nothing to call: {pruned:?}");
}

#[test]
fn libraries_add_their_base_to_every_site() {
    let workshop = Workshop::new();
    let text = "int g; extern void outside(void); int f(int n) { outside(); g = n; return __sync_fetch_and_add(&g, 1); }";
    let unit = workshop.unit("library", text, Language::C);
    let options = Options { output: Output::SharedLibrary, ..Options::default() };
    let built = build_with_text(&[unit], &options, &|_| Keep::All, Text::Yes).expect("it builds");
    let text = built.text.expect("text");
    let uses = text.matches("load i32, ptr @__raddle_site_base").count();
    let sited = ["enter", "call", "write4", "atomic_enter"];
    let calls: usize = sited.iter().map(|name| hook_calls(&text).get(*name).copied().unwrap_or(0)).sum();
    assert_eq!((uses, calls), (4, 4));
}

#[test]
fn wrapped_functions_are_renamed_unless_the_program_has_them() {
    let workshop = Workshop::new();
    let text = r#"
        #include <string.h>
        #include <unistd.h>
        int memcmp(const void *a, const void *b, size_t n) { return 0; }
        size_t (*through)(const char *) = strlen;
        int g;
        int f(char *p, char *q) { return strcmp(p, q) + memcmp(p, q, 3); }
        void constant(char *p) { strcpy(p, "abcd"); }
        int reading(int d, char *p) { int x = g; read(d, p, 1); return x + g + strcmp(p, "x") + g; }"#;
    let unit = workshop.unit("wrapped", text, Language::C);
    let options = Options {
        wrapped: &["strlen", "strcmp", "memcmp", "strcpy", "strcat", "read"],
        ..Options::default()
    };
    let text = build_with_text(&[unit], &options, &|_| Keep::All, Text::Yes).expect("it builds").text;
    let text = text.expect("text");
    assert!(text.contains("@__raddle_w_strlen") && text.contains("call i32 @__raddle_w_strcmp("), "{text}");
    assert!(!text.contains("__raddle_w_memcmp") && !text.contains("__raddle_w_strcat"));
    // Not turned into accesses that nobody checks.
    assert!(text.contains("@__raddle_w_strcpy(") && !text.contains("@llvm.memcpy"), "{text}");
    // Reading a descriptor may wait for another thread, comparing strings does not; both need the stack.
    let calls = hook_calls(&text);
    assert_eq!((calls.get("read4"), calls.get("call")), (Some(&2), Some(&4)), "{text}");
}

#[test]
fn every_level_makes_a_program_that_runs() {
    for level in [Level::O0, Level::O1, Level::Oz, Level::Os, Level::O2, Level::O3] {
        let workshop = Workshop::new();
        let units =
            [workshop.unit("first", FIRST, Language::C), workshop.unit("second", SECOND, Language::C)];
        let options = Options { level: Some(level), ..Options::default() };
        let built = build_with_text(&units, &options, &|_| Keep::All, Text::No).expect("it builds");
        let program = workshop.link("leveled", &built.object, LOG_HOOKS, Language::C);
        assert!(execute(&program).status.success(), "{level:?}");
    }
}

#[test]
fn what_llvm_cannot_make_code_of_is_an_error() {
    let workshop = Workshop::new();
    let unit = workshop.unit(
        "assembly",
        "int main(void) { __asm__(\"nosuchinstruction\"); return 0; }",
        Language::C,
    );
    let error = build_with_text(&[unit], &Options::default(), &|_| Keep::All, Text::No).err();
    let message = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(message.starts_with("code generation: ") && message.contains("invalid instruction"), "{message}");
    let garbage = raddle_instrument::Unit {
        source: "x.c".to_owned(),
        level: Level::O2,
        flags: Vec::new(),
        bitcode: b"BC\xc0\xde and nothing more".to_vec(),
    };
    assert!(build_with_text(&[garbage], &Options::default(), &|_| Keep::All, Text::No).is_err());
    assert!(build_with_text(&[], &Options::default(), &|_| Keep::All, Text::No).is_err());
}
