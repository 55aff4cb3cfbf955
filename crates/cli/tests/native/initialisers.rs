//! What C++ initialises once, natively: initialisers that synchronise, and ones that are left by an exception and run again.

use crate::random::raddle;
use serde_json::Value;

/// Aborts in an execution that cannot happen; has no race, since initialisers of one object are ordered.
const GUARD: &str = r#"
#include <cstdlib>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int tries;
static int made()
{
    if (tries++ == 0)
        throw 1;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 7;
}
static void *worker(void *arg)
{
    try {
        static int value = made();
        if (value != 7)
            abort();
    } catch (int) {
    }
    return arg;
}
int main()
{
    pthread_t a, b;
    pthread_create(&a, nullptr, worker, nullptr);
    pthread_create(&b, nullptr, worker, nullptr);
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
    if (tries != 2)
        abort();
    return 0;
}
"#;

const ONCE: &str = r#"
#include <cstdlib>
#include <mutex>
#include <thread>
static std::once_flag flag;
static std::mutex m;
static int tries;
static void init()
{
    if (tries++ == 0)
        throw 1;
    std::lock_guard<std::mutex> lock(m);
}
static void worker()
{
    try {
        std::call_once(flag, init);
    } catch (int) {
    }
}
int main()
{
    std::thread a(worker), b(worker);
    a.join();
    b.join();
    if (tries != 2)
        abort();
    return 0;
}
"#;

#[test]
fn initialisers_that_are_left_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, source) in [("guard", GUARD), ("once", ONCE)] {
        let (file, program) = (format!("{name}.cpp"), format!("./{name}"));
        std::fs::write(folder.path().join(&file), source).expect("it can be written");
        raddle(folder.path(), &["c++", "-g", "-O1", "-pthread", &file, "-o", &program]);
        let output = raddle(folder.path(), &["run", "--format", "json", &program]);
        let report: Value = serde_json::from_slice(&output.stderr).expect("it is JSON");
        assert_eq!(report["findings"].as_array().map(Vec::len), Some(0), "{name}: {report}");
        let output = raddle(folder.path(), &["explore", "--native", "--format", "json", &program]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(report["findings"].as_array().map(Vec::len), Some(0), "{name}: {report}");
        let executions = report["stats"]["executions"].as_u64();
        assert!(executions.is_some_and(|executions| executions >= 2), "{name}: {report}");
    }
}
