//! The smallest way through: instrument, link with logging hooks, run.

mod harness;

use harness::{LOG_HOOKS, Language, Workshop, execute};
use raddle_instrument::{Reduce, sites};

#[test]
fn a_program_runs_with_checks() {
    let workshop = Workshop::new();
    let text = r#"
        #include <stdio.h>
        #include <string.h>
        char memory[65536];
        void sync_point(void);
        struct s { int a; double b; };
        static int twice(int *p) { return *p * 2; }
        __attribute__((noinline)) int far(int *p) { return *p; }
        int main(void) {
            int *x = (int *)memory;
            struct s *s = (struct s *)(memory + 100);
            x[1] = 5;
            sync_point();
            x[2] = twice(x + 1) + far(x + 1);
            sync_point();
            memset(memory + 64, 1, 10);
            *s = (struct s){1, 2};
            sync_point();
            __atomic_fetch_add(x + 4, 3, __ATOMIC_SEQ_CST);
            int local = 4;
            printf("%d %d\n", x[2], local);
        }"#;
    let unit = workshop.unit("first", text, Language::C);
    let built = workshop.instrument(&[unit], Reduce::Nothing);
    let program = workshop.link("first", &built.object, LOG_HOOKS, Language::C);
    let output = execute(&program);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}");
    assert_eq!(
        out.lines().collect::<Vec<_>>(),
        ["@0 4 8 w", "@1 4 8 r", "@1 8 12 w", "@2 64 74 w", "@2 100 116 w", "15 4", "@4 8 12 r"]
    );
    let table = sites::decode(&built.sites).expect("a good table");
    let inlined = table.iter().find(|site| site.inlined_at.is_some()).expect("the read in twice");
    let frames = table.frames(inlined.id);
    let names: Vec<_> = frames.iter().map(|site| (site.function, site.line, site.expression)).collect();
    assert_eq!(names, [("twice", 7, "*p"), ("main", 14, "twice")]);
}
