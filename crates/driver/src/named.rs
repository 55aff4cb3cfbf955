//! Names that the user gives for parts of the program: functions that clients call, source files.

use crate::DriverError;
use crate::load::Loaded;
use raddle_ir::{FunctionId, Program};

/// Functions of these names; the error has the nearest ones.
pub(crate) fn find(loaded: &Loaded, names: &[String]) -> Result<Vec<FunctionId>, DriverError> {
    let program = &loaded.program;
    let find = |name: &String| {
        let defined = |id: &FunctionId| program.functions[*id].is_defined();
        let by_name =
            || program.functions.iter().find(|(_, f)| program.text(f.name) == name && f.is_defined());
        program
            .function_by_symbol(name)
            .filter(defined)
            .or_else(|| by_name().map(|(id, _)| id))
            .ok_or_else(|| DriverError::NoEntry { name: name.clone(), similar: similar(program, name) })
    };
    let mut entries: Vec<FunctionId> = names.iter().map(find).collect::<Result<_, _>>()?;
    entries.sort_unstable();
    entries.dedup();
    Ok(entries)
}

/// Whether some file of the program is called so; the error has the nearest ones.
pub(crate) fn find_file(program: &Program, file: &str) -> Result<(), DriverError> {
    let ending = format!("/{file}");
    if program.files.values().any(|name| name == file || name.ends_with(&ending)) {
        return Ok(());
    }
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let names: Vec<String> = program.files.values().map(|name| last(name)).collect();
    let similar = closest(&last(file), names.iter().map(String::as_str));
    Err(DriverError::NoFile { file: file.to_owned(), similar })
}

/// The defined functions whose names are closest, best first.
fn similar(program: &Program, name: &str) -> Vec<String> {
    let defined = program.functions.values().filter(|function| function.is_defined());
    closest(name, defined.map(|function| program.text(function.name)))
}

fn closest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    const SHOWN: usize = 3;
    let mut names: Vec<(usize, &str)> = known
        .map(|known| (distance(name, known), known))
        .filter(|(distance, known)| *distance <= known.len().max(name.len()) / 2)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().take(SHOWN).map(|(_, known)| known.to_owned()).collect()
}

/// Insertions, deletions and replacements from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances() {
        for (a, b, edits) in [("", "", 0), ("open", "opne", 2), ("read", "reads", 1), ("put", "", 3)] {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }
}
