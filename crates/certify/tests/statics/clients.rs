//! Programs with clients: what a proof may not leave out about them (A-ENTRY).

use raddle_base::Id;
use raddle_certify::statics::{Refusal, check};
use raddle_config::Config;
use raddle_facts::{ObjectKind, StaticProof};
use raddle_frontend::{Request, load};
use raddle_ir::{Program, program_hash};
use raddle_libmodel::Models;
use raddle_lockset::{Options, analyse};

fn program(text: &str) -> (Program, Models) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("clients.c");
    std::fs::write(&path, text).expect("writable");
    let request = Request { inputs: vec![path], ..Request::default() };
    let program = load(&request).expect("it compiles").program;
    let models = Models::resolve(&program, &Config::default());
    (program, models)
}

/// What the engine finds, with `f` and `g` as entries, as far as they are there.
fn proof(program: &Program, models: &Models) -> StaticProof {
    let entries: Vec<_> = ["f", "g"].iter().filter_map(|name| program.function_by_symbol(name)).collect();
    let options = Options { entries: entries.clone(), ..Options::default() };
    let analysis = analyse(program, models, &options).expect("the engine's own recipe");
    let assumptions = analysis.assumptions.iter().chain(&["A-ENTRY"]).map(|id| (*id).to_owned()).collect();
    StaticProof {
        program: format!("{:032x}", program_hash(program)),
        data_model: program.data_model.name().to_owned(),
        entries,
        assumptions,
        recipe: analysis.recipe,
        facts: analysis.facts,
    }
}

/// The proof for a `static` variable, taken for one that clients can name.
fn for_exported(text: &str, name: &str) -> Result<(), Refusal> {
    let (mut program, models) = program(text);
    let mut proof = proof(&program, &models);
    check(&program, &models, &proof).unwrap_or_else(|refusal| panic!("{name} is not proved: {refusal}"));
    let variable = program.globals.ids().find(|id| program.text(program.globals[*id].symbol) == name);
    program.globals[variable.expect("the variable is there")].exported = true;
    proof.program = format!("{:032x}", program_hash(&program));
    check(&program, &models, &proof).map(|_| ())
}

#[test]
fn variables_that_clients_can_name_may_hold_anything() {
    let number = "static int on; static int x; void f(void) { if (on) x++; }";
    let refusal = for_exported(number, "on").expect_err("clients may set it");
    assert_eq!(refusal.rule, "terms", "{refusal}");
    let pointer = "static int *p; void f(void) { if (p) (*p)++; }";
    for_exported(pointer, "p").expect_err("clients may set it");
    let wide = "static unsigned long p[4]; void f(int i) { (*(int *)p[i & 3])++; }";
    let (program, models) = program(wide);
    let refusal = check(&program, &models, &proof(&program, &models)).expect_err("it is no known address");
    assert!(refusal.text.contains("unknown origin"), "{refusal}");
}

/// The same where no value is known.
#[test]
fn addresses_of_clients_in_variables_are_not_left_out() {
    let pointer = "static int *volatile p; void f(void) { (void)(p == 0); }";
    let refusal = for_exported(pointer, "p").expect_err("clients may set it");
    assert!(refusal.text.contains("clients may put addresses"), "{refusal}");
    let wide = "static volatile unsigned long n[4]; void f(void) { (void)n[1]; }";
    let refusal = for_exported(wide, "n").expect_err("a number may be an address");
    assert!(refusal.text.contains("from the start"), "{refusal}");
}

#[test]
fn numbers_of_clients_may_be_addresses() {
    let (program, models) = program("void f(unsigned long p) { (*(int *)p)++; }");
    let good = proof(&program, &models);
    check(&program, &models, &good).expect_err("clients may race there");
    let mut bad = good.clone();
    for (_, set) in bad.facts.points_to.sets.iter_mut() {
        set.retain(|(object, _)| good.facts.points_to.objects[*object].kind != ObjectKind::Unknown);
    }
    let refusal = check(&program, &models, &bad).expect_err("the number may be an address");
    assert!(refusal.text.contains("unknown origin"), "{refusal}");
    // Without the object the fact cannot be written down at all.
    for (id, object) in bad.facts.points_to.objects.iter_mut() {
        object.kind = ObjectKind::Function(raddle_ir::FunctionId::from_index(id.index()));
    }
    check(&program, &models, &bad).expect_err("the number may be an address");
}

#[test]
fn addresses_that_clients_get_are_not_followed() {
    let (program, models) =
        program("static int x; int *f(void) { return &x; } static int y; int g(void) { return y; }");
    let refusal = check(&program, &models, &proof(&program, &models)).expect_err("clients know x");
    assert!(refusal.text.contains("may return the address"), "{refusal}");
}

/// Nested structures, members, exported variables: whatever clients pass by pointer, no proof is accepted.
#[test]
fn pointers_of_clients_are_not_followed() {
    for text in [
        "struct i { int x; }; struct o { int n; struct i i; }; int f(struct o *o) { return o->i.x; } void g(struct i *i) { (void)i; }",
        "struct s { int x; } s; int f(struct s *p) { return p->x; }",
        "int f(void *p) { return *(int *)p; }",
        "struct s { int *p; }; int f(struct s s) { return *s.p; }",
    ] {
        let (program, models) = program(text);
        let refusal = check(&program, &models, &proof(&program, &models)).expect_err(text);
        assert!(["points-to", "gaps"].contains(&refusal.rule), "{refusal}");
    }
}
