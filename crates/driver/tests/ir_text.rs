//! Programs as the frontend makes them: well formed, and the same again after printing and parsing.

use raddle_frontend::{Request, load};
use raddle_ir::{DataModel, parse, print, program_hash, verify};
use std::path::Path;

#[test]
fn lowered_programs_survive_the_text_form() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut files = raddle_testkit::fixtures::files(&root).expect("tests/fixtures is readable");
    if std::env::var_os("RADDLE_SOAK").is_none() {
        files = files.into_iter().step_by(5).collect();
    }
    let mut compared = 0;
    for (index, file) in files.iter().enumerate() {
        let data_model = Some(if index % 3 == 0 { DataModel::Ilp32 } else { DataModel::Lp64 });
        let request = Request { inputs: vec![file.clone()], data_model, ..Request::default() };
        let Ok(loaded) = load(&request) else { continue };
        let program = loaded.program;
        verify(&program).unwrap_or_else(|errors| panic!("{}: {}", file.display(), errors[0]));
        let text = print(&program);
        let back = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert_eq!(print(&back), text, "{}", file.display());
        assert_eq!(program_hash(&back), program_hash(&program), "{}", file.display());
        compared += 1;
    }
    assert!(compared * 10 > files.len() * 9, "only {compared} of {} fixtures compile alone", files.len());
}
