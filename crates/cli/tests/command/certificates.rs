//! The certificate of a search: written, accepted, and refused when it is not the whole truth.

use crate::run::{Scratch, example, text};

/// Two threads that meet at a lock: two runs.
const LOCKERS: &str = "\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(int argc, char **argv) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    worker(argv);
    pthread_join(thread, 0);
    return argc > 9;
}
";

#[test]
fn a_search_leaves_a_tree_that_certify_accepts() {
    let scratch = Scratch::new();
    scratch.file("lockers.c", LOCKERS);
    scratch
        .raddle(&["explore", "--certificate", "tree.cert", "lockers.c", "--", "an argument"])
        .expect(0, &["verdict: safe", "proved by explore: raddle certify tree.cert"]);
    scratch
        .raddle(&["certify", "tree.cert"])
        .expect(0, &["accepted: no data race for this input, assuming A-INPUT, A-THREAD; 2 runs repeated"]);
    // Without a name it is written beside the witnesses.
    scratch
        .raddle(&["explore", "lockers.c"])
        .expect(0, &["proved by explore: raddle certify raddle-witness/lockers-"]);
}

#[test]
fn searches_that_cannot_be_checked_say_so_or_are_repeated() {
    let scratch = Scratch::new();
    scratch.file("lockers.c", LOCKERS);
    for search in ["pdp", "dpor", "stateful", "enumerate"] {
        scratch
            .raddle(&["explore", "--search", search, "lockers.c"])
            .expect(0, &["verdict: safe", "certificate: none, because"]);
        let json = scratch.raddle(&["explore", "--search", search, "--format", "json", "lockers.c"]);
        json.expect(0, &["\"no_certificate\":"]);
        scratch
            .raddle(&["explore", "--search", search, "--certificate", "tree.cert", "lockers.c"])
            .expect(0, &["raddle certify tree.cert"]);
        scratch.raddle(&["certify", "tree.cert"]).expect(0, &["accepted", "2 runs repeated"]);
    }
}

#[test]
fn other_trees_are_refused() {
    let scratch = Scratch::new();
    scratch.file("lockers.c", LOCKERS);
    scratch.raddle(&["explore", "--certificate", "tree.cert", "lockers.c"]).expect(0, &[]);
    let tree = std::fs::read_to_string(scratch.path("tree.cert")).unwrap();
    let refused = |name: &str, text: String, code: i32, says: &str| {
        assert_ne!(text, tree, "{name}");
        scratch.file(name, text);
        scratch.raddle(&["certify", name]).expect(code, &[says]);
    };
    // The second run is cut off, and what led to it called unneeded.
    let lines: Vec<&str> =
        tree.split("\"tree\":[").nth(1).unwrap().split("]}").next().unwrap().split(',').collect();
    let fork = lines.iter().position(|line| line.matches("\"T").count() == 1 && line.contains(" T")).unwrap();
    let [first, second] = lines[fork].trim_matches('"').split(' ').collect::<Vec<_>>()[..] else {
        panic!("{}", lines[fork])
    };
    let end = lines.iter().position(|line| *line == "\"\"").unwrap();
    let mut short: Vec<String> = lines[..=end].iter().map(|line| (*line).to_owned()).collect();
    short[fork] = format!("\"{first} -{second}\"");
    refused("short.cert", tree.replace(&lines.join(","), &short.join(",")), 3, "not accepted: closure");
    short[fork] = format!("\"{first} -{second}@0\"");
    refused("asleep.cert", tree.replace(&lines.join(","), &short.join(",")), 3, "not accepted: tree");

    refused("cut.cert", tree[..tree.len() / 2].to_owned(), 2, "not a certificate of Raddle");
    refused("lines.cert", tree.replacen("\"T0\",", "", 1), 3, "not accepted: tree");
    refused("less.cert", tree.replacen(",\"\"", "", 1), 2, "1 states are missing");
    refused("large.cert", tree.replacen("\"T0\"", "\"T4294967295\"", 1), 3, "not accepted: tree");
    refused("larger.cert", tree.replacen("\"T0\"", "\"T42949672950\"", 1), 2, "no choice");
    refused("version.cert", tree.replace("\"version\":1", "\"version\":9"), 2, "version 9");
    refused("model.cert", tree.replace("LP64", "LP65"), 2, "no data model");
    refused("other.cert", tree.replace("lockers.c", text(&example("queue_fixed.c"))), 2, "another program");
    let hash = tree.split("\"program\":\"").nth(1).unwrap().split('"').next().unwrap();
    refused("hash.cert", tree.replace(hash, "no hash"), 2, "no hash");
    refused("word.cert", tree.replace("\"format\"", "\"spurious_wakeups\":\"maybe\",\"format\""), 2, "maybe");
}

#[test]
fn what_is_not_safe_has_none() {
    let scratch = Scratch::new();
    scratch
        .raddle(&["explore", "--certificate", "none.cert", text(&example("counter_race.c"))])
        .expect(1, &["there is no proof that could be written to none.cert"]);
    assert!(!scratch.path("none.cert").exists());
    scratch.file("lockers.c", LOCKERS);
    scratch
        .raddle(&["explore", "--certificate", "lockers.c", "lockers.c"])
        .expect(2, &["would overwrite an input"]);
    scratch
        .raddle(&["explore", "--certificate", "no/x.cert", "lockers.c"])
        .expect(2, &["cannot write no/x.cert"]);
}
