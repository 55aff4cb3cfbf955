//! C programs with hooks written by hand: which pairs of sites race, and that the program does what it does without Raddle.
//!
//! Each file of `behaviour/` begins with what is expected: `races: 12-13 13-13` (pairs of sites, exactly these), `prints: text`, where it
//! is not 0 `exit: status`, and where it matters `locks: 12=2` (how many locks were held at a site).

mod program;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

#[test]
fn programs_behave_and_race_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/behaviour");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    files.sort();
    assert!(files.len() > 15);
    let failures: Vec<String> = files.iter().filter_map(|path| check(path).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Every name in the list has a definition: a program that uses all of them links.
#[test]
fn all_wrapped_functions_exist() {
    let mut text = String::new();
    for name in raddle_runtime::WRAPPED {
        text += &format!("extern void __raddle_w_{name}(void);\n");
    }
    text += "void *volatile table[] = {";
    for name in raddle_runtime::WRAPPED {
        text += &format!("(void *)__raddle_w_{name}, ");
    }
    text += "};\nint main(void) { return table[0] == 0; }\n";
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrapped.c");
    std::fs::write(&source, text).unwrap();
    assert!(Command::new(program::build(&source)).status().unwrap().success());
}

fn check(source: &Path) -> Result<(), String> {
    let name = source.file_stem().unwrap().to_string_lossy();
    let text = std::fs::read_to_string(source).unwrap();
    let expected = |key: &str| {
        let line = text.lines().find_map(|line| line.split_once(key).map(|(_, rest)| rest));
        line.map(|rest| rest.trim().trim_end_matches("*/").trim().to_string())
    };
    let program = program::build(source);
    let findings = program.with_extension("jsonl");
    let _ = std::fs::remove_file(&findings);
    let output = Command::new("timeout")
        .arg("60")
        .arg(&program)
        .env("RADDLE_OUT", &findings)
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    let lines = std::fs::read_to_string(&findings).unwrap_or_default();
    let races: BTreeSet<String> = lines.lines().filter_map(pair).collect();
    let wanted: BTreeSet<String> =
        expected("races:").unwrap_or_default().split_whitespace().map(str::to_string).collect();
    let printed = String::from_utf8_lossy(&output.stdout).trim().replace('\n', " ");
    let status = expected("exit:").and_then(|text| text.parse().ok()).unwrap_or(0);
    if races != wanted {
        return Err(format!("{name}: races {races:?}, expected {wanted:?}\n{lines}"));
    }
    if printed != expected("prints:").unwrap_or_default() || output.status.code() != Some(status) {
        return Err(format!("{name}: printed {printed:?}, {}", output.status));
    }
    if let Some(wanted) = expected("locks:") {
        let held: BTreeSet<String> = lines.lines().flat_map(locks).collect();
        let wanted: BTreeSet<String> = wanted.split_whitespace().map(str::to_string).collect();
        if held != wanted {
            return Err(format!("{name}: locks {held:?}, expected {wanted:?}\n{lines}"));
        }
    }
    if !lines.contains("\"exit\"") {
        return Err(format!("{name}: no line at the end\n{lines}"));
    }
    Ok(())
}

/// The sites of a race line, smaller first.
fn pair(line: &str) -> Option<String> {
    let accesses = line.split_once("\"accesses\":")?.1.split_once("\"block\"")?.0;
    let mut sites: Vec<u32> = accesses
        .split("{\"thread\":")
        .skip(1)
        .filter_map(|access| access.split_once("\"site\":")?.1.split(',').next()?.parse().ok())
        .collect();
    sites.sort_unstable();
    let [first, second] = sites[..] else { return None };
    Some(format!("{first}-{second}"))
}

/// Sites of the accesses of a race line, with the number of locks that were held there.
fn locks(line: &str) -> Vec<String> {
    let Some((_, accesses)) = line.split_once("\"accesses\":") else { return Vec::new() };
    let accesses = accesses.split_once("\"block\"").map_or(accesses, |(before, _)| before);
    let count = |access: &str| {
        let site = access.split_once("\"site\":")?.1.split(',').next()?;
        let locks = access.split_once("\"locks\":[")?.1.split(']').next()?;
        Some(format!("{site}={}", locks.matches("\"addr\"").count()))
    };
    accesses.split("{\"thread\":").skip(1).filter_map(count).collect()
}
