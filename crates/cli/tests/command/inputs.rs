//! What `safe` covers, and what it does not say when no execution came to an access.

use crate::run::{Scratch, example, text};

/// A program that prints its usage without an argument, and races with one.
const USAGE: &str = "\
#include <pthread.h>
#include <stdio.h>
int counter;
void *worker(void *arg) {
    counter++;
    return arg;
}
int main(int argc, char **argv) {
    pthread_t a, b;
    if (argc < 2) {
        printf(\"usage: %s NAME\\n\", argv[0]);
        return 0;
    }
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
";

#[test]
fn safe_names_its_scope() {
    let scratch = Scratch::new();
    let input = example("input.c");
    let input = text(&input);
    scratch
        .raddle(&["check", input])
        .expect(0, &["verdict: safe for this input, no data race; deadlocks: none"]);
    scratch
        .raddle(&["check", "--format", "json", input])
        .expect(0, &["\"verdict\": \"safe\",\n  \"scope\": \"this input\",\n  \"deadlocks\": \"none\""]);
    scratch.raddle(&["check", "--format", "sarif", input]).expect(0, &["\"scope\": \"this input\""]);
    let fixed = example("counter_fixed.c");
    let fixed = text(&fixed);
    for command in ["check", "explore", "static"] {
        scratch
            .raddle(&[command, "--format", "json", fixed])
            .expect(0, &["\"verdict\": \"safe\",\n  \"scope\": \"all inputs\""]);
    }
}

#[test]
fn all_inputs_can_be_asked_for() {
    let scratch = Scratch::new();
    let input = example("input.c");
    let input = text(&input);
    let fixed = example("counter_fixed.c");
    let fixed = text(&fixed);
    for command in ["check", "explore"] {
        scratch.raddle(&[command, "--inputs", "this", input]).expect(0, &["safe for this input"]);
        scratch.raddle(&[command, "--inputs", "all", input]).expect(
            3,
            &[
                "verdict: unknown",
                "deadlocks: unknown",
                "all inputs were asked for",
                "this input only (A-INPUT)",
            ],
        );
        scratch.raddle(&[command, "--inputs", "all", fixed]).expect(0, &["verdict: safe, no"]);
    }
    scratch.raddle(&["check", "--inputs", "some", input]).expect(2, &["this", "all"]);
}

#[test]
fn what_no_execution_reached_is_listed_with_the_reason() {
    let scratch = Scratch::new();
    scratch.file("usage.c", USAGE);
    for command in ["check", "explore"] {
        scratch.raddle(&[command, "--format", "concise", "usage.c"]).expect(
            0,
            &[
                "usage.c:5:12: possible data race on counter",
                "verdict: safe for this input, no data race; 1 possible data race with another input; deadlocks: none",
                "usage.c:5: the access to counter was not reached: no thread was started; the branch at usage.c:10 \
                 always went another way",
            ],
        );
        scratch.raddle(&[command, "usage.c", "--", "x"]).expect(1, &["verdict: race"]);
    }
    let clock =
        USAGE.replace("argc < 2", "time(0) != 5").replace("<stdio.h>", "<stdio.h>\n#include <time.h>");
    scratch.file("clock.c", &clock);
    for command in ["check", "explore"] {
        scratch.raddle(&[command, "--format", "concise", "clock.c"]).expect(
            3,
            &[
                "possible data race on counter",
                "verdict: unknown",
                "was not reached: no thread was started; the branch at clock.c:11, on the result of `time`",
                "one pair of accesses that the static analysis warns of was not reached by two threads in any execution; A-INPUT, \
                 A-TIME leave open whether it can be",
            ],
        );
    }
}
