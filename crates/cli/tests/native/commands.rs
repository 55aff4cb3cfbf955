//! `raddle cc` does what clang does: the cases of `commands.txt`, each with both.

use raddle_frontend::embedded;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

#[test]
fn raddle_cc_does_what_clang_does() {
    let text = include_str!("commands.txt");
    let cases = cases(text);
    assert!(cases.len() >= 50, "only {} cases found", cases.len());
    let wanted = std::env::var("RADDLE_CASE").unwrap_or_default();
    let chosen: Vec<&Case> = cases.iter().filter(|case| case.title.contains(&wanted)).collect();
    let half = chosen.len().div_ceil(2);
    let complaints: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = chosen
            .chunks(half.max(1))
            .map(|cases| scope.spawn(|| cases.iter().flat_map(|case| case.complaints()).collect::<Vec<_>>()))
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no case panics")).collect()
    });
    assert!(complaints.is_empty(), "{} differences:\n{}", complaints.len(), complaints.join("\n"));
}

struct Case {
    title: String,
    commands: Vec<String>,
    /// Files with bitcode in them.
    bitcode: Vec<String>,
    /// Whether files must be of the same kind, too: with link-time optimisation clang's objects are bitcode.
    kinds: bool,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix("== ") {
            let title = title.to_owned();
            cases.push(Case { title, commands: Vec::new(), bitcode: Vec::new(), kinds: true });
            continue;
        }
        let case = cases.last_mut().expect("a title comes first");
        match line.strip_prefix("= ") {
            Some("same-kinds-not") => case.kinds = false,
            // `pro g` is one file: names with a space are put together again.
            Some(files) => {
                let files = files.strip_prefix("bitcode").expect("`bitcode` is all that can be said");
                let files = files.trim().replace("pro g", "pro\u{1}g");
                case.bitcode = files.split_whitespace().map(|file| file.replace('\u{1}', " ")).collect();
                case.bitcode.sort();
            }
            None => case.commands.push(line.to_owned()),
        }
    }
    cases
}

impl Case {
    fn complaints(&self) -> Vec<String> {
        let raddle = env!("CARGO_BIN_EXE_raddle");
        let theirs = self.run("clang-19", "clang++-19");
        let ours = self.run(&format!("{raddle} cc"), &format!("{raddle} c++"));
        let mut complaints = Vec::new();
        for (command, (theirs, ours)) in self.commands.iter().zip(theirs.lines.iter().zip(&ours.lines)) {
            if theirs != ours {
                complaints
                    .push(format!("{}: {command}\n--- clang\n{theirs}\n--- raddle\n{ours}", self.title));
            }
        }
        let kinds = |files: &BTreeMap<String, &'static str>| {
            let shown = files.iter().map(|(name, kind)| match self.kinds {
                true => format!("{name} ({kind})"),
                false => name.clone(),
            });
            shown.collect::<Vec<_>>().join(", ")
        };
        let (their_files, our_files) = (kinds(&theirs.files), kinds(&ours.files));
        if their_files != our_files {
            complaints
                .push(format!("{}: files\n--- clang\n{their_files}\n--- raddle\n{our_files}", self.title));
        }
        if ours.bitcode != self.bitcode {
            complaints
                .push(format!("{}: bitcode is in {:?}, not in {:?}", self.title, ours.bitcode, self.bitcode));
        }
        complaints
    }

    fn run(&self, cc: &str, cxx: &str) -> Ran {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native/files");
        for entry in std::fs::read_dir(&files).expect("the files of the cases").flatten() {
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("a copy");
        }
        let lines = self.commands.iter().map(|command| {
            let mut shell = Command::new("sh");
            shell
                .args(["-c", command])
                .current_dir(folder.path())
                .env("CC", cc)
                .env("CXX", cxx)
                .env("LC_ALL", "C");
            let output = shell.output().expect("sh starts");
            let text = format!(
                "exit code {:?}\n{}{}",
                output.status.code(),
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            normal(&text, folder.path())
        });
        let lines = lines.collect();
        let (mut kinds, mut bitcode) = (BTreeMap::new(), Vec::new());
        for entry in std::fs::read_dir(folder.path()).expect("the folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            if embedded::units(&bytes).is_ok_and(|units| !units.is_empty()) {
                bitcode.push(name.clone());
            }
            kinds.insert(name, kind(&bytes));
        }
        bitcode.sort();
        Ran { lines, files: kinds, bitcode }
    }
}

struct Ran {
    /// What each command printed, and its exit code.
    lines: Vec<String>,
    files: BTreeMap<String, &'static str>,
    bitcode: Vec<String>,
}

fn kind(bytes: &[u8]) -> &'static str {
    match embedded::elf::kind(bytes) {
        Some(embedded::elf::Kind::Object) => "object",
        Some(embedded::elf::Kind::Executable) => "executable",
        Some(embedded::elf::Kind::Shared) => "shared object",
        None if bytes.starts_with(b"BC\xC0\xDE") => "bitcode",
        None if bytes.starts_with(b"!<arch>") || bytes.starts_with(b"!<thin>") => "archive",
        None => "other",
    }
}

/// Without names that differ from run to run.
fn normal(text: &str, folder: &Path) -> String {
    let text = text.replace(&folder.display().to_string(), "FOLDER");
    let mut out = String::new();
    for line in text.lines() {
        // Objects between compiling and linking: `/tmp/main-3f2a1c.o`.
        let words: Vec<String> =
            line.split(' ').map(|word| temporary(word).unwrap_or_else(|| word.to_owned())).collect();
        out.push_str(&words.join(" "));
        out.push('\n');
    }
    out
}

fn temporary(word: &str) -> Option<String> {
    let name = Path::new(word).strip_prefix(std::env::temp_dir()).ok()?.to_str()?;
    let (stem, rest) = name.split_once('-')?;
    let digits = rest.chars().take_while(char::is_ascii_hexdigit).count();
    (digits == 6).then(|| format!("/tmp/{stem}{}", &rest[digits..]))
}
