//! A recipe that asks for what is not proved is refused, each for its own reason.

use crate::{compile, function};
use raddle_ir::expand::{
    Body, ExpandError, FunctionCopy, Recipe, Retarget, Slot, Unroll, apply, never_returning,
};
use raddle_ir::{BlockId, Callee, FunctionId, Inst, Program, SiteId};

const PROGRAM: &str = r"
#include <pthread.h>
#include <stdlib.h>
int total;
void *worker(void *arg) { total++; return arg; }
void other(void) {}
void add(int n) { total += n; }
void start(void *(*f)(void *)) { f(0); }
void *(*table[])(void *) = { worker };
int jump(int n) { static void *to[] = { &&a, &&b }; goto *to[n]; a: return 1; b: return 2; }
int up_to(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int memory(void) { int s = 0; for (total = 0; total < 3; total++) s++; return s; }
int endless(void) { unsigned char i; for (i = 0; i < 256; i++) if (total) return 1; return 0; }
int escapes(int n) {
    int i;
    for (i = 0; i < 3; i++) { if (n == i) goto out; add(i); }
    add(9);
out:
    return i;
}
void die(void) { exit(1); }
void usage(int n) { if (n) die(); else die(); }
void complain(int n) { if (n) die(); }
int main(void) {
    pthread_t t;
    for (int i = 0; i < 2; i++) { add(i); for (int j = i; j < 3; j++) add(j); }
    pthread_create(&t, 0, worker, 0);
    start(worker);
    return jump(0) + up_to(3) + memory() + endless() + escapes(1);
}
";

fn recipe(program: &Program) -> Recipe {
    Recipe::identity(program.functions.len())
}

fn copy_of(origin: FunctionId) -> FunctionCopy {
    FunctionCopy { origin, unroll: Vec::new(), retarget: Vec::new() }
}

/// The outermost loop of a function.
fn first_loop(program: &Program, name: &str) -> BlockId {
    Body::of(&program.functions[function(program, name)]).loops()[0].header
}

/// The call of `callee` in `caller`.
fn call(program: &Program, caller: &str, callee: &str) -> SiteId {
    let callee = function(program, callee);
    let blocks = program.functions[function(program, caller)].blocks.values();
    let mut sites = blocks.flat_map(|block| {
        block.insts.iter().enumerate().map(move |(index, inst)| (block.site_of(index), inst))
    });
    let is_it = |inst: &Inst| matches!(inst, Inst::Call { callee: Callee::Direct(f), .. } if *f == callee);
    sites.find(|(_, inst)| is_it(inst)).map(|(site, _)| site).expect("it is called")
}

/// Unrolls the first loop of a function.
fn unrolling(program: &Program, name: &str, iterations: u32) -> Recipe {
    let mut recipe = recipe(program);
    let step = Unroll { header: first_loop(program, name), path: Vec::new(), iterations };
    recipe.functions[function(program, name).0 as usize].unroll.push(step);
    recipe
}

/// A copy of `of`, and a call in `caller` led to it.
fn leading(program: &Program, caller: &str, callee: &str, slot: Slot, of: &str) -> Recipe {
    let mut recipe = recipe(program);
    let to = FunctionId(recipe.functions.len() as u32);
    let retarget = Retarget { site: call(program, caller, callee), path: Vec::new(), slot, to };
    recipe.functions[function(program, caller).0 as usize].retarget.push(retarget);
    recipe.functions.push(copy_of(function(program, of)));
    recipe
}

#[track_caller]
fn refused(program: &Program, recipe: &Recipe, reason: &str) {
    match apply(program, recipe) {
        Ok(_) => panic!("accepted"),
        Err(ExpandError::Malformed(errors)) => panic!("noticed only by the verifier: {}", errors[0]),
        Err(error) => assert!(error.to_string().contains(reason), "{error}"),
    }
}

#[test]
fn the_program_itself_is_expanded() {
    let (program, _) = compile(PROGRAM);
    let same = apply(&program, &recipe(&program)).unwrap();
    assert_eq!(same.program, program);
    apply(&program, &unrolling(&program, "main", 2)).unwrap();
    apply(&program, &leading(&program, "escapes", "add", Slot::Callee, "add")).unwrap();
    apply(&program, &leading(&program, "main", "pthread_create", Slot::Argument(2), "worker")).unwrap();
}

#[test]
fn functions_keep_their_numbers() {
    let (program, _) = compile(PROGRAM);
    let mut swapped = recipe(&program);
    swapped.functions.swap(0, 1);
    refused(&program, &swapped, "in order");
    let mut short = recipe(&program);
    short.functions.pop();
    refused(&program, &short, "in order");
    let mut beyond = recipe(&program);
    beyond.functions.push(copy_of(FunctionId(1_000)));
    refused(&program, &beyond, "f1000 does not exist");
}

#[test]
fn what_has_addresses_inside_is_not_copied() {
    let (program, _) = compile(PROGRAM);
    for name in ["jump", "pthread_create"] {
        let mut copied = recipe(&program);
        copied.functions.push(copy_of(function(&program, name)));
        refused(&program, &copied, "cannot be copied");
    }
}

#[test]
fn functions_that_never_return_are_seen_not_to() {
    let (program, models) = compile(PROGRAM);
    let mut cut = recipe(&program);
    cut.never_return = never_returning(&program, |id| models.meanings[id].is_body());
    let names = ["die", "usage"].map(|name| function(&program, name));
    assert!(cut.never_return.iter().eq(names.iter()), "{:?}", cut.never_return);
    apply(&program, &cut).unwrap();
    cut.never_return.remove(&function(&program, "die"));
    refused(&program, &cut, "`usage` is said never to return");
    for name in ["complain", "main", "exit"] {
        let mut wrong = recipe(&program);
        wrong.never_return.insert(function(&program, "die"));
        wrong.never_return.insert(function(&program, name));
        refused(&program, &wrong, &format!("`{name}` is said never to return"));
    }
}

#[test]
fn loops_are_counted_out() {
    let (program, _) = compile(PROGRAM);
    for (name, iterations) in
        [("main", 1), ("main", 3), ("main", u32::MAX), ("up_to", 3), ("memory", 3), ("endless", 256)]
    {
        let reason = if iterations == u32::MAX { "too many" } else { "not known to stay" };
        refused(&program, &unrolling(&program, name, iterations), reason);
    }
    apply(&program, &unrolling(&program, "escapes", 3)).unwrap();
}

#[test]
fn loops_are_named_exactly() {
    let (program, _) = compile(PROGRAM);
    let main = function(&program, "main").0 as usize;
    let mut nowhere = unrolling(&program, "main", 2);
    nowhere.functions[main].unroll[0].header = BlockId(1_000);
    refused(&program, &nowhere, "no such block");
    nowhere.functions[main].unroll[0].header = BlockId(0);
    refused(&program, &nowhere, "not the header");
    let mut twice = unrolling(&program, "main", 2);
    let step = twice.functions[main].unroll[0].clone();
    twice.functions[main].unroll.push(step);
    refused(&program, &twice, "no such block");
}

#[test]
fn inner_loops_are_counted_in_each_copy() {
    let (program, _) = compile(PROGRAM);
    let main = function(&program, "main");
    let loops = Body::of(&program.functions[main]).loops();
    let inner = loops.iter().find(|l| l.header != first_loop(&program, "main")).unwrap().header;
    let mut nested = unrolling(&program, "main", 2);
    let steps = &mut nested.functions[main.0 as usize].unroll;
    steps.push(Unroll { header: inner, path: vec![0], iterations: 3 });
    steps.push(Unroll { header: inner, path: vec![1], iterations: 2 });
    let expanded = apply(&program, &nested).unwrap();
    assert_eq!(Body::of(&expanded.program.functions[main]).loops(), []);
    nested.functions[main.0 as usize].unroll[2].iterations = 3;
    refused(&program, &nested, "not known to stay");
    nested.functions[main.0 as usize].unroll =
        vec![Unroll { header: inner, path: Vec::new(), iterations: 3 }];
    refused(&program, &nested, "not known to stay");
}

#[test]
fn calls_go_to_copies_of_what_they_call() {
    let (program, _) = compile(PROGRAM);
    refused(&program, &leading(&program, "escapes", "add", Slot::Callee, "other"), "does not call that");
    refused(
        &program,
        &leading(&program, "main", "pthread_create", Slot::Argument(2), "other"),
        "not that function",
    );
    refused(
        &program,
        &leading(&program, "main", "pthread_create", Slot::Argument(3), "worker"),
        "not that function",
    );
    refused(
        &program,
        &leading(&program, "main", "start", Slot::Argument(0), "worker"),
        "may look at the address",
    );
}

#[test]
fn calls_are_named_exactly() {
    let (program, _) = compile(PROGRAM);
    let escapes = function(&program, "escapes").0 as usize;
    let good = leading(&program, "escapes", "add", Slot::Callee, "add");
    let mut changed = good.clone();
    changed.functions[escapes].retarget[0].path = vec![0];
    refused(&program, &changed, "no such copy of the site");
    changed = good.clone();
    changed.functions[escapes].retarget[0].site = call(&program, "main", "start");
    refused(&program, &changed, "not a site of this function");
    changed.functions[escapes].retarget[0].site = SiteId::NONE;
    refused(&program, &changed, "not a site of this function");
    changed = good.clone();
    let entry = program.functions[FunctionId(escapes as u32)].blocks[BlockId(0)].terminator_site();
    changed.functions[escapes].retarget[0].site = entry;
    refused(&program, &changed, "not a call");
    changed = good.clone();
    changed.functions[escapes].retarget[0].to = FunctionId(1_000);
    refused(&program, &changed, "f1000 does not exist");
    changed = good.clone();
    let again = changed.functions[escapes].retarget[0].clone();
    changed.functions[escapes].retarget.push(again);
    refused(&program, &changed, "named twice");
}
