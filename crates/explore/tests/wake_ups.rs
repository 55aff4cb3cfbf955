//! Condition waits that wake up for no reason, in programs on the interpreter: the optimal search runs each class once, and its tree has a
//! certificate. The classes are counted the slow way, and all orders of a class lead to the same state: what a thread may not do again
//! because it was useless does not depend on steps of others that are independent of it.

mod class;

use class::{Class, Done, class, step};
use raddle_certify::explored::check_on;
use raddle_config::Config;
use raddle_explore::dpor::optimal_with_tree;
use raddle_explore::enumerate::{Coverage, Limits};
use raddle_frontend::Request;
use raddle_interp::{Interp, Options};
use raddle_libmodel::Models;
use raddle_machine::{Machine, Status, Visibility};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const HEAD: &str = "#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int left = 2, turn;
static void lock(void) { pthread_mutex_lock(&m); }
static void unlock(void) { pthread_mutex_unlock(&m); }
static void await(int *what, int wanted) { while (*what != wanted) pthread_cond_wait(&c, &m); }
";

fn load(text: &str) -> Interp {
    let folder = tempfile::tempdir().expect("a folder for a C file");
    let file = folder.path().join("program.c");
    std::fs::write(&file, format!("{HEAD}{text}")).expect("the folder can be written");
    let request = Request { inputs: vec![file], cflags: Vec::new(), data_model: None, ..Request::default() };
    let program = raddle_frontend::load(&request).expect("it is valid C").program;
    let models = Models::resolve(&program, &Config::default());
    Interp::new(Arc::new(program), Arc::new(models), Options::default()).expect("it has a main")
}

/// The beginnings of all runs, up to the order of independent steps, with the state that each leads to.
#[derive(Default)]
struct Beginnings {
    states: HashMap<Class, u128>,
    complete: u64,
}

impl Beginnings {
    fn go(&mut self, machine: &mut Interp, done: &mut Vec<Done>) {
        let state = machine.fingerprint();
        match self.states.entry(class(done)) {
            Entry::Occupied(known) => {
                let run: Vec<_> = done.iter().map(|step| step.choice).collect();
                return assert_eq!(*known.get(), state, "two states behind {run:?}");
            }
            Entry::Vacant(new) => new.insert(state),
        };
        if machine.status() != Status::Running {
            self.complete += 1;
            return;
        }
        let mut before = Vec::new();
        machine.enabled(&mut before);
        for choice in &before {
            let checkpoint = machine.checkpoint();
            done.push(step(machine, *choice, &before, done));
            self.go(machine, done);
            done.pop();
            machine.restore(&checkpoint);
            machine.discard(checkpoint);
        }
    }
}

fn assert_each_class_is_run_once(text: &str) {
    let mut machine = load(text);
    let mut all = Beginnings::default();
    all.go(&mut machine, &mut Vec::new());
    let (found, tree) = optimal_with_tree(&mut machine, &Limits::default(), Visibility::SyncOnly, usize::MAX);
    assert_eq!(found.exploration.coverage, Coverage::Complete);
    assert_eq!((found.exploration.runs.executions, found.blocked), (all.complete, 0));
    let tree = tree.expect("the search is complete");
    let covered = check_on(&mut machine, Visibility::SyncOnly, &tree, &AtomicBool::new(false));
    assert_eq!(covered.map(|covered| covered.runs), Ok(all.complete));
}

#[test]
fn one_waits_for_two() {
    assert_each_class_is_run_once(
        "static void *t(void *a) { lock(); if (--left == 0) pthread_cond_signal(&c); unlock(); return 0; }
         int main(void) { pthread_t a, b; pthread_create(&a, 0, t, 0); pthread_create(&b, 0, t, 0);
           lock(); await(&left, 0); unlock(); return 0; }",
    );
}

#[test]
fn two_wait_for_one() {
    assert_each_class_is_run_once(
        "static void *t(void *a) { lock(); await(&turn, 1); unlock(); return 0; }
         int main(void) { pthread_t a, b; pthread_create(&a, 0, t, 0); pthread_create(&b, 0, t, 0);
           lock(); turn = 1; pthread_cond_broadcast(&c); unlock(); return 0; }",
    );
}

#[test]
fn two_wait_for_each_other_beside_a_third() {
    assert_each_class_is_run_once(
        "static void *t(void *a) { lock(); await(&turn, 1); turn = 2; pthread_cond_signal(&c); unlock(); return 0; }
         static void *third(void *a) { return 0; }
         int main(void) { pthread_t a, b; pthread_create(&a, 0, t, 0); pthread_create(&b, 0, third, 0);
           lock(); turn = 1; pthread_cond_signal(&c); await(&turn, 2); unlock(); return 0; }",
    );
}
