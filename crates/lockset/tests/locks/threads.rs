//! The analysis gives the same on one thread as on several.

use crate::program;
use raddle_config::Config;
use raddle_frontend::{Request, load};
use raddle_libmodel::Models;
use raddle_lockset::{Options, analyse};

#[test]
fn any_number_of_threads_gives_the_same() {
    for name in ["figure2.c", "deadlocks.c", "programs/objects.c", "programs/calls.c"] {
        let request = Request { inputs: vec![program(name)], ..Request::default() };
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
        assert!(one.0.pairs > 0 || name != "figure2.c", "{name} has pairs");
        assert!((2..5).all(|threads| on(threads) == one), "{name}");
    }
}
