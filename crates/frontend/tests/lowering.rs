//! Small C files with, on a line, what the lowered program does there.
//!
//! `// IS: load counter; store counter` lists every access, call, fence, assembly and refusal of that line, in any order; nothing may
//! be missing and nothing else may be there. Lines without such a comment are not looked at. `//@ models: lp64` restricts a file to
//! one data model; `//@ flags: …` are for clang; `//@ global NAME BYTES [BYTES on ILP32]` states a size.

mod describe;

use std::path::{Path, PathBuf};

use describe::lines_of;
use raddle_frontend::{Request, load};
use raddle_ir::{DataModel, Program};

#[test]
fn lines_do_what_they_say() {
    let folder = Path::new("tests/data/lowering");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("folder").map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    let (mut complaints, mut checked) = (Vec::new(), 0);
    for file in &files {
        let text = std::fs::read_to_string(file).expect("text");
        for model in models(&text) {
            checked += check(file, &text, model, &mut complaints);
        }
    }
    assert!(checked > 150, "only {checked} lines were checked");
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

fn models(text: &str) -> Vec<DataModel> {
    match directive(text, "models").next() {
        Some("lp64") => vec![DataModel::Lp64],
        Some("ilp32") => vec![DataModel::Ilp32],
        _ => vec![DataModel::Lp64, DataModel::Ilp32],
    }
}

fn directive<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| {
        let rest = line.trim().strip_prefix("//@ ")?;
        rest.strip_prefix(name)?.strip_prefix([':', ' ']).map(str::trim)
    })
}

fn check(file: &Path, text: &str, model: DataModel, complaints: &mut Vec<String>) -> usize {
    let cflags = directive(text, "flags").flat_map(str::split_whitespace).map(str::to_owned).collect();
    let request =
        Request { inputs: vec![file.to_owned()], cflags, data_model: Some(model), ..Request::default() };
    let shown = format!("{} ({})", file.display(), model.name());
    let program = match load(&request) {
        Ok(loaded) => loaded.program,
        Err(error) => {
            complaints.push(format!("{shown}: {error}"));
            return 0;
        }
    };
    if let Err(errors) = raddle_ir::verify(&program) {
        complaints.extend(errors.iter().map(|error| format!("{shown}: {error}")));
    }
    check_globals(&program, text, model, &shown, complaints);
    let lines = lines_of(&program, file);
    let mut checked = 0;
    for (index, line) in text.lines().enumerate() {
        let Some((_, expected)) = line.split_once("// IS:") else { continue };
        let mut expected: Vec<String> =
            expected.split(';').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect();
        expected.sort();
        let mut found = lines.get(&(index as u32 + 1)).cloned().unwrap_or_default();
        found.sort();
        checked += 1;
        if found != expected {
            complaints.push(format!(
                "{shown}:{}: expected [{}], found [{}]",
                index + 1,
                expected.join("; "),
                found.join("; ")
            ));
        }
    }
    checked
}

fn check_globals(program: &Program, text: &str, model: DataModel, shown: &str, complaints: &mut Vec<String>) {
    for line in directive(text, "global") {
        let words: Vec<&str> = line.split_whitespace().collect();
        let bytes = match (model, words[1..].len()) {
            (DataModel::Ilp32, 2) => words[2],
            _ => words[1],
        };
        let global = program
            .globals
            .values()
            .find(|global| global.name.is_some_and(|name| program.text(name) == words[0]));
        let found = global.map(|global| global.bytes.to_string());
        if found.as_deref() != Some(bytes) {
            complaints.push(format!("{shown}: global {} is {found:?}, not {bytes} bytes", words[0]));
        }
    }
}
