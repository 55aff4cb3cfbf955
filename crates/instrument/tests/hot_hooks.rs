//! Hooks that come as bitcode are inlined, in large functions some of them; all of them count, and none is seen from outside.

mod harness;

use harness::{Language, Workshop, execute};
use raddle_instrument::{Keep, Options, Reduce, build};

const HOT: &str = r#"
    #include <stdint.h>
    #define INLINE __attribute__((always_inline, visibility("hidden")))
    _Thread_local long raddle_reads, raddle_writes, raddle_depth;
    extern void missed(void);
    INLINE void __raddle_read4(const void *p, uint32_t site) { raddle_reads++; if (!p) missed(); }
    INLINE void __raddle_write4(void *p, uint32_t site) { raddle_writes++; if (!p) missed(); }
    INLINE void *__raddle_enter(uint32_t site) { return (void *)raddle_depth++; }
    INLINE void __raddle_exit(void *old) { raddle_depth = (long)old; }
    INLINE void __raddle_call(uint32_t site) { }
"#;

const REST: &str = r#"
    #include <stdio.h>
    extern _Thread_local long raddle_reads, raddle_writes, raddle_depth;
    void missed(void) { puts("missed"); }
    void __raddle_start(void) {}
    void show(void) { printf("%ld %ld %ld\n", raddle_reads, raddle_writes, raddle_depth); }
"#;

#[test]
fn inlined_and_called_checks_all_count() {
    let workshop = Workshop::new();
    let hot = workshop.unit("hot", HOT, Language::C).bitcode;
    let mut text =
        String::from("int a[1000];\nvoid show(void), outside(void);\nint main(int n, char **v) {\n");
    for index in 0..300 {
        text.push_str(&format!("  a[{index}] = n;\n"));
    }
    text.push_str(
        "  int s = 0;\n  for (int i = 0; i < 10; i++) if (a[(i * n) & 511] == 1) s += a[i + 500];\n  show();\n",
    );
    text.push_str("  return s;\n}\n");
    let unit = workshop.unit("large", &text, Language::C);
    for reduce in [Reduce::Nothing, Reduce::All] {
        let options = Options { hot: Some(&hot), reduce, ..Options::default() };
        let built = build(std::slice::from_ref(&unit), &options, &|_| Keep::All).expect("it builds");
        let name = if reduce == Reduce::All { "reduced" } else { "all" };
        let program = workshop.link(name, &built.object, REST, Language::C);
        let output = execute(&program);
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        // Nothing can be left out but walks, and conditional reads are none.
        assert_eq!(out.trim(), "20 300 1", "{name}");
        for hook in ["__raddle_read4", "__raddle_write4", "__raddle_call"] {
            let exported = exported(&workshop, &format!("{name}.o"));
            assert!(!exported.contains(hook), "{hook} is visible outside:\n{exported}");
        }
    }
}

fn exported(workshop: &Workshop, object: &str) -> String {
    let output =
        std::process::Command::new("nm").arg("-g").arg(workshop.path(object)).output().expect("nm runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
