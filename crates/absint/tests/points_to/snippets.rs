//! Small programs that say what a pointer points to: `points(p, "a b.8 heap")` with the names of variables, offsets (`any`, `0%8` for a
//! stride) and kinds of objects. Exactly that: both what is missing and what is too much fails.

use crate::{Solved, compile, solve};
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_ir::{Callee, Inst, Operand};

const HEADER: &str = "#include <pthread.h>
    #include <stdarg.h>
    #include <stddef.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <string.h>
    void points(const void *, const char *);
    ";

fn check(body: &str) {
    check_open(body, &[]);
}

fn check_open(body: &str, entries: &[&str]) {
    let program = compile(&format!("{HEADER}{body}"));
    let entries = program
        .functions
        .iter()
        .filter(|(_, f)| f.is_defined() && entries.contains(&program.text(f.name)))
        .map(|(id, _)| id)
        .collect();
    let solved = solve(program, entries);
    let mut seen = 0;
    for (id, function) in solved.program.functions.iter() {
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            let Inst::Call { callee: Callee::Direct(target), args, .. } = inst else { continue };
            if solved.program.text(solved.program.functions[*target].name) != "points" {
                continue;
            }
            let mut wanted: Vec<&str> = expected(&solved, args[1].value).split_whitespace().collect();
            wanted.sort_unstable();
            let mut said: Vec<String> = match args[0].value {
                Operand::Reg(reg) => solved
                    .facts
                    .targets_of(solved.facts.regs[id][reg.0 as usize])
                    .iter()
                    .map(|(object, at)| format!("{}{}", name(&solved, *object), offsets(*at)))
                    .collect(),
                Operand::Global(global, offset) => {
                    let name = solved.program.text(solved.program.globals[global].symbol);
                    vec![format!("{name}{}", offsets(Offsets::exact(offset)))]
                }
                _ => Vec::new(),
            };
            said.sort();
            assert_eq!(said, wanted, "in {}", solved.program.text(function.name));
            seen += 1;
        }
    }
    assert!(seen > 0, "nothing is claimed");
}

/// The text of a string literal.
fn expected(solved: &Solved, operand: Operand) -> &str {
    let Operand::Global(global, _) = operand else { panic!("a literal") };
    let data = &solved.program.globals[global].init.as_ref().expect("a literal").data;
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    std::str::from_utf8(&data[..end]).expect("text")
}

fn name(solved: &Solved, object: ObjectId) -> String {
    let program = &solved.program;
    match solved.facts.objects[object].kind {
        ObjectKind::Global(g) | ObjectKind::ThreadLocal(g) => {
            program.text(program.globals[g].symbol).to_owned()
        }
        ObjectKind::Stack(site) => match program.code_at(site) {
            Some(raddle_ir::Code::Inst(Inst::Alloca { name: Some(name), .. })) => {
                program.text(*name).to_owned()
            }
            _ => "stack".to_owned(),
        },
        ObjectKind::Heap(_) => "heap".to_owned(),
        ObjectKind::Function(f) => program.text(program.functions[f].name).to_owned(),
        ObjectKind::Parameter(..) => "parameter".to_owned(),
        ObjectKind::Library => "library".to_owned(),
        ObjectKind::Unknown => "unknown".to_owned(),
        ObjectKind::Outside(ty) => match &program.debug_types[ty] {
            raddle_ir::DebugType::Record { name: Some(name), .. } => {
                format!("outside:{}", program.text(*name))
            }
            _ => "outside".to_owned(),
        },
    }
}

fn offsets(at: Offsets) -> String {
    // Parts of the library's and of unknown memory are far apart.
    let inside = |offset: i64| offset.rem_euclid(1 << 32);
    match at {
        at if at.is_exact() && at.low == 0 => String::new(),
        at if at.is_exact() && at.low < 1 << 30 => format!(".{}", at.low),
        at if at.is_exact() && inside(at.low) == 1 << 31 => String::new(),
        at if at.stride == 1 => ".any".to_owned(),
        at => format!(".{}%{}", at.anchor, at.stride),
    }
}

#[test]
fn copies_and_fields() {
    check(
        "struct pair { int *first; int *second; } pair;
        int a, b;
        int main(int argc, char **argv) {
            int *p = argc > 1 ? &a : &b;
            points(p, \"a b\");
            pair.first = &a;
            pair.second = p;
            points(pair.first, \"a\");
            points(pair.second, \"a b\");
            points(&pair.second, \"pair.8\");
            struct pair copy = pair;
            points(copy.second, \"a b\");
            points(copy.first, \"a\");
            points(argv[0], \"library.any\");
        }",
    );
}

#[test]
fn arrays_and_strides() {
    check(
        "struct item { long id; int *data; struct item *next; } items[10];
        int values[10];
        struct item *head;
        int main(int argc, char **argv) {
            for (int i = 0; i < argc; i++) {
                items[i].data = &values[i];
                items[i].next = head;
                head = &items[i];
            }
            struct item *p = items;
            while (p->id) { p++; }
            points(p, \"items.0%24\");
            points(head->data, \"values.0%4\");
            points(head->next, \"items.0%24\");
            points(&items[3].data, \"items.80\");
            points(items[3].data, \"values.0%4\");
        }",
    );
}

#[test]
fn integers_keep_objects() {
    check(
        "long a[4];
        int main(int argc, char **argv) {
            uintptr_t u = (uintptr_t)&a[1];
            points((void *)(u + 8), \"a.16\");
            points((void *)(u - 8), \"a\");
            points((void *)(u | 1), \"a.any\");
            points((void *)((u + 7) & ~(uintptr_t)7), \"a.any\");
            uintptr_t stored[2] = { u, 0 };
            points((void *)stored[0], \"a.8\");
            unsigned lo = (unsigned)u, hi = (unsigned)(u >> 32);
            points((void *)((uintptr_t)hi << 32 | lo), \"a.any\");
            long distance = &a[argc] - &a[0];
            points((void *)distance, \"\");
        }",
    );
}

#[test]
fn memory_moves() {
    check(
        "int a, b;
        struct node { struct node *next; int *data; };
        static void swap(void *x, void *y, size_t n) {
            char *p = x, *q = y;
            do { char t = *p; *p++ = *q; *q++ = t; } while (--n);
        }
        int main(int argc, char **argv) {
            int *p = &a, *q = &b;
            swap(&p, &q, sizeof p);
            points(p, \"a.any b.any\");
            struct node one = { 0, &a }, two;
            memcpy(&two, &one, sizeof one);
            points(two.data, \"a\");
            points(two.next, \"\");
            int **r = malloc(16), **s;
            r[1] = &b;
            s = realloc(r, 32);
            points(s, \"heap\");
            points(s[1], \"b\");
            points(s[0], \"\");
            union { int *p; char bytes[8]; uint32_t words[2]; } u, v;
            u.p = &b;
            v.words[0] = u.words[0];
            v.words[1] = u.words[1];
            points(v.p, \"b.any\");
        }",
    );
}

#[test]
fn calls_and_pointers_to_functions() {
    check(
        "int a, b;
        static int *same(int *x) { return x; }
        static int *other(int *x) { return x == &a ? &b : x; }
        int *(*table[2])(int *) = { same, other };
        struct big { int *p; long pad[8]; };
        static int *by_value(struct big v) { v.pad[1] = 0; return v.p; }
        static int *variadic(int n, ...) {
            va_list list;
            va_start(list, n);
            int *p = va_arg(list, int *);
            va_end(list);
            return p;
        }
        int main(int argc, char **argv) {
            points(same(&a), \"a\");
            points(table[argc & 1](&a), \"a b\");
            struct big v = { &b };
            points(by_value(v), \"b\");
            points(variadic(1, &a), \"a\");
        }",
    );
}

#[test]
fn threads_and_the_library() {
    check(
        "int a, b, c;
        pthread_key_t key;
        static void *start(void *x) {
            points(x, \"a\");
            pthread_setspecific(key, &c);
            if (x == &b) pthread_exit(&b);
            return x;
        }
        static void once(void) { points(&c, \"c\"); }
        pthread_once_t control = PTHREAD_ONCE_INIT;
        static int compare(const void *x, const void *y) { points(x, \"list.0%8\"); return x < y; }
        int *list[4];
        int main(int argc, char **argv) {
            pthread_t t;
            void *result;
            pthread_create(&t, 0, start, &a);
            pthread_join(t, &result);
            points(result, \"a b\");
            points(pthread_getspecific(key), \"c\");
            pthread_once(&control, once);
            list[1] = &a;
            qsort(list, 4, sizeof *list, compare);
            points(list[2], \"a\");
            char *text = strdup(\"x\");
            points(text, \"heap\");
            points(strchr(text, 'x'), \"heap.any\");
            points(getenv(\"HOME\"), \"library.any\");
            char *end;
            strtol(text, &end, 10);
            points(end, \"heap.any\");
        }",
    );
}

#[test]
fn what_is_not_known() {
    check(
        "void *from_elsewhere(void);
        extern int *declared_only;
        int a;
        int main(int argc, char **argv) {
            void **p = from_elsewhere();
            points(p, \"a.any unknown.any\");
            *p = &a;
            points(*p, \"a.any unknown.any\");
            long out, in = (long)&a;
            __asm__(\"\" : \"=r\"(out) : \"r\"(in));
            points((void *)out, \"a.any unknown.any\");
        }",
    );
}

#[test]
fn memory_from_outside_has_types() {
    check_open(
        "struct list { struct list *next, *prev; };
        struct node { long id; struct list link; int *data; void (*call)(struct node *); void *more; };
        static void called(struct node *n) { points(n, \"fixed outside:node\"); }
        struct node fixed = { .call = called };
        struct extra { int *x; };
        void entry(struct node *n, struct list *l) {
            points(n, \"fixed outside:node\");
            points(n->link.next, \"fixed.8 outside:list outside:node.8\");
            points(n->data, \"outside\");
            n->call(n);
            struct node *container = (struct node *)((char *)l - offsetof(struct node, link));
            points(container, \"fixed outside:node\");
            struct extra *e = n->more;
            points(e, \"outside:extra\");
            points(&n->link, \"fixed.8 outside:node.8\");
        }",
        &["entry"],
    );
}

#[test]
fn calls_that_nobody_can_resolve_are_listed() {
    let unresolved = |body: &str| -> Vec<String> {
        let solved = solve(compile(&format!("{HEADER}{body}")), Vec::new());
        solved.facts.unresolved.iter().map(|(_, words)| words.clone()).collect()
    };
    let empty = unresolved("void (*f)(void); int main(void) { if (f) f(); }");
    assert_eq!(empty, ["a call through a pointer that no function was ever assigned to"]);
    let data = unresolved("int a; int main(void) { ((void (*)(void))&a)(); }");
    assert_eq!(data, ["a call through a pointer that may point to data"]);
    let unknown = unresolved("void *get(void); int main(void) { ((void (*)(void))get())(); }");
    assert_eq!(unknown, ["a call through a pointer that came from an unknown place"]);
    let known = unresolved("static void g(void) {} void (*f)(void) = g; int main(void) { f(); }");
    assert!(known.is_empty(), "{known:?}");
}
