//! Commands around the runs of a program: clients beside servers; what removes what the run before has left.

use super::{built, raddle, said};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

/// The second request comes when the first one was answered, usually, and waits for no answer itself.
const ONE_AFTER_THE_OTHER: &str = "./server socket w & sleep 0.3; ./server socket r; wait";

fn server() -> tempfile::TempDir {
    with("server.c")
}

fn with(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let source: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    built(folder.path(), &source);
    folder
}

fn is(output: &Output, code: i32, words: &[&str]) -> String {
    let text = said(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    words.iter().for_each(|word| assert!(text.contains(word), "{word}: {text}"));
    text
}

#[test]
fn a_race_of_two_requests_is_predicted_and_replayed() {
    let folder = server();
    let folder = folder.path();
    let predicted = raddle(
        folder,
        &["predict", "--keep-trace", "t.trace", "--client", ONE_AFTER_THE_OTHER, "./server", "socket"],
    );
    let text = is(&predicted, 1, &["confirmed by native replay", "last"]);
    assert!(!text.contains("names a client") && !text.contains("warning"), "{text}");
    let shown = raddle(folder, &["record", "--show", "t.trace"]);
    is(&shown, 0, &[&format!("client: {ONE_AFTER_THE_OTHER}\n")]);
    // From the file: not without a word, also when nothing else is printed.
    let named = format!("t.trace names a client, which runs beside the program: {ONE_AFTER_THE_OTHER}\n");
    is(&raddle(folder, &["predict", "-q", "t.trace"]), 1, &[&named]);
    let not_run = raddle(folder, &["predict", "--no-replay", "t.trace"]);
    assert!(!is(&not_run, 0, &[]).contains("names a client"));
    let own = raddle(folder, &["predict", "--client", ONE_AFTER_THE_OTHER, "t.trace"]);
    assert!(!is(&own, 1, &[]).contains("names a client"));
    let command = text.lines().find_map(|line| line.trim().strip_prefix("replay: raddle "));
    let words: Vec<&str> = command.expect("there is a schedule").split(' ').collect();
    let replayed = raddle(folder, &words);
    is(&replayed, 1, &["names a client, which runs beside the program", "last"]);
    // Without its client the order is not followed.
    let file = folder.join(words[1]);
    let order = std::fs::read_to_string(&file).expect("it was written");
    let without: Vec<&str> = order.lines().filter(|line| !line.starts_with("client: ")).collect();
    assert_eq!(without.len() + 1, order.lines().count(), "{order}");
    std::fs::write(&file, without.join("\n") + "\n").expect("it can be written");
    let replayed = raddle(folder, &[&words[..], &["--time-limit", "1"]].concat());
    assert!(!is(&replayed, 3, &["diverged"]).contains("names a client"));
}

#[test]
fn the_program_ends_with_its_client() {
    let folder = server();
    let folder = folder.path();
    let began = Instant::now();
    let client = "./server socket w; echo served";
    let text = is(&raddle(folder, &["run", "--client", client, "./server", "socket"]), 0, &["served"]);
    assert!(text.contains("no data race was seen") && !text.contains("signal"), "{text}");
    let quiet = raddle(folder, &["run", "-q", "--client", client, "./server", "socket"]);
    assert_eq!(is(&quiet, 0, &[]), "");
    // A race of the run counts as ever.
    let both = "./server socket r & ./server socket w; wait";
    let seen = (0..20).any(|_| {
        let ran = raddle(folder, &["run", "--client", both, "./server", "socket"]);
        ran.status.code() == Some(1)
    });
    assert!(seen, "two requests at once race");
    let recorded = raddle(folder, &["record", "--client", client, "./server", "socket"]);
    is(&recorded, 0, &["recorded in"]);
    // It gets a while to end, and is killed then.
    let deaf = raddle(folder, &["run", "--client", client, "./server", "socket", "deaf"]);
    is(&deaf, 0, &["served"]);
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_client_that_fails_is_said() {
    let folder = server();
    let folder = folder.path();
    let failing = ["run", "--client", "./server socket w; exit 7", "./server", "socket"];
    is(&raddle(folder, &failing), 3, &["the client failed with status 7"]);
    let json = [&["run", "--format", "json"][..], &failing[1..]].concat();
    is(&raddle(folder, &json), 3, &["\"the client failed with status 7\""]);
    let predict = [&["predict"][..], &failing[1..]].concat();
    is(&raddle(folder, &predict), 3, &["the client failed with status 7", "verdict: unknown"]);
    is(&raddle(folder, &["run", "--client", "kill -9 $$", "./server", "socket"]), 3, &["killed by signal 9"]);
    // The server fails, not the client, which has not ended when it does.
    let taken = ["run", "--client", "sleep 30; exit 7", "./server"];
    is(&raddle(folder, &taken), 2, &[]);
    is(&raddle(folder, &["run", "--client", "", "./server", "socket"]), 2, &["--client"]);
}

#[test]
fn whoever_is_left_is_ended() {
    let folder = server();
    let folder = folder.path();
    // Without a client it goes on as long as it may.
    let alone = raddle(folder, &["run", "--time-limit", "1", "./server", "socket"]);
    is(&alone, 3, &["the time limit was reached"]);
    // The program is its own client: it ends at once.
    let client = "echo $$ > pid; sleep 100 & echo $! > other; wait";
    let began = Instant::now();
    let ended = raddle(folder, &["run", "--client", client, "./server", "socket", "x"]);
    is(&ended, 5, &["the program ended before its client"]);
    assert!(began.elapsed() < Duration::from_secs(60));
    for file in ["pid", "other"] {
        let pid = std::fs::read_to_string(folder.join(file)).expect("the client was started");
        let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        assert!(status.is_empty() || status.contains(") Z "), "{status}");
    }
    // What it left in the background ends with it.
    let client = "sleep 100 & echo $! > other; ./server socket w";
    is(&raddle(folder, &["run", "--client", client, "./server", "socket"]), 0, &[]);
    let pid = std::fs::read_to_string(folder.join("other")).expect("the client was started");
    let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(status.is_empty() || status.contains(") Z "), "{status}");
}

#[test]
fn each_run_finds_what_the_first_one_found() {
    let folder = with("leaves.c");
    let folder = folder.path();
    // The recorded run leaves a file, and its replays go another way; only exploration beside their orders could see it.
    let other = raddle(folder, &["predict", "--divergence-runs", "0", "./leaves"]);
    is(&other, 0, &["possible data race", "diverged"]);
    let same = raddle(folder, &["predict", "--keep-trace", "t.trace", "--before", "rm -f left", "./leaves"]);
    let text = is(&same, 1, &["confirmed by native replay"]);
    assert!(!text.contains("names a command"), "{text}");
    is(&raddle(folder, &["record", "--show", "t.trace"]), 0, &["before: rm -f left\n"]);
    let named = "t.trace names a command, which runs before the program: rm -f left\n";
    is(&raddle(folder, &["predict", "t.trace"]), 1, &[named]);
    let command = text.lines().find_map(|line| line.trim().strip_prefix("replay: raddle "));
    let words: Vec<&str> = command.expect("there is a schedule").split(' ').collect();
    is(&raddle(folder, &words), 1, &["names a command, which runs before the program: rm -f left\n"]);
    // One that fails is an error of the user, and nothing is run.
    std::fs::remove_file(folder.join("left")).expect("the program has left it");
    for command in ["run", "record", "predict"] {
        let failed = raddle(folder, &[command, "--before", "exit 3", "./leaves"]);
        is(&failed, 2, &["`exit 3`, which comes before the program, failed"]);
        assert!(!folder.join("left").exists());
    }
}
