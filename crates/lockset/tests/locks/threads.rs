//! The analysis gives the same on one thread as on several.

use crate::program;
use raddle_config::Config;
use raddle_frontend::{Request, load};
use raddle_libmodel::Models;
use raddle_lockset::{Counters, Options, analyse};
use std::fmt::Write;
use std::path::PathBuf;

#[test]
fn any_number_of_threads_gives_the_same() {
    for name in ["figure2.c", "deadlocks.c", "programs/objects.c", "programs/calls.c"] {
        let counters = same_on_all(program(name));
        assert!(counters.pairs > 0 || name != "figure2.c", "{name} has pairs");
    }
}

/// One object with so many classes that its pairs are judged in parallel, and so many warnings that they are ranked so.
#[test]
fn many_classes_of_one_object() {
    const FIELDS: usize = 300;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wide.c");
    std::fs::write(&path, wide(FIELDS)).expect("written");
    let counters = same_on_all(path);
    // Per field a write against a read and a write, each way; every third field is guarded by the same lock.
    assert_eq!((counters.shared_variables, counters.warnings), (300, 600));
}

fn wide(fields: usize) -> String {
    let mut text = String::from("#include <pthread.h>\npthread_mutex_t a, b;\nstruct { int ");
    let names: Vec<String> = (0..fields).map(|field| format!("f{field}")).collect();
    writeln!(text, "{}; }} x;", names.join(", ")).expect("text");
    for (thread, lock) in [("one", "a"), ("two", "b")] {
        writeln!(text, "void *{thread}(void *p) {{").expect("text");
        for (at, field) in names.iter().enumerate() {
            let lock = if at % 3 == 0 { "a" } else { lock };
            writeln!(
                text,
                "  pthread_mutex_lock(&{lock}); x.{field} = x.{field} + 1; pthread_mutex_unlock(&{lock});"
            )
            .expect("text");
        }
        text.push_str("  return 0;\n}\n");
    }
    text.push_str(
        "int main(void) {\n  pthread_t s, t;\n  pthread_create(&s, 0, one, 0);\n  pthread_create(&t, 0, two, 0);\n",
    );
    text.push_str("  pthread_join(s, 0);\n  pthread_join(t, 0);\n  return 0;\n}\n");
    text
}

fn same_on_all(path: PathBuf) -> Counters {
    let name = path.display().to_string();
    let request = Request { inputs: vec![path], ..Request::default() };
    let program = load(&request).unwrap_or_else(|e| panic!("{name}: {e}")).program;
    let models = Models::resolve(&program, &Config::default());
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let analysis = analyse(&program, &models, &Options::default()).expect("its own recipe");
            (analysis.counters, format!("{:?}{:?}", analysis.pairs, analysis.warnings))
        })
    };
    let one = on(1);
    assert!((2..5).all(|threads| on(threads) == one), "{name}");
    one.0
}
