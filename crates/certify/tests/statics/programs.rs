//! Fixtures with what the engine found out about them, as proofs.

use raddle_config::Config;
use raddle_facts::StaticProof;
use raddle_frontend::{Request, load};
use raddle_ir::{DataModel, Program, program_hash};
use raddle_libmodel::Models;
use raddle_lockset::{Analysis, Options, analyse};
use raddle_testkit::fixtures::{DataModels, files, parse};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Every fixture in every data model, on two threads; the results sorted by path.
pub fn each<T: Send>(examine: impl Fn(&Program, &Models, &Analysis) -> T + Sync) -> Vec<(String, T)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let only = std::env::var("RADDLE_FIXTURE").unwrap_or_default();
    let files: Vec<PathBuf> = files(&root)
        .expect("tests/fixtures is readable")
        .into_iter()
        .filter(|path| path.to_string_lossy().contains(&only))
        .collect();
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let work = || {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
            for (model, program, models) in programs(path) {
                let analysis =
                    analyse(&program, &models, &Options::default()).expect("the engine's own recipe");
                let result = examine(&program, &models, &analysis);
                let name = format!("{name} ({})", model.name());
                results.lock().expect("no fixture panics").push((name, result));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut results = results.into_inner().expect("no fixture panics");
    results.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!only.is_empty() || results.len() >= 500, "only {} fixtures", results.len());
    results
}

/// One fixture by its path below `tests/fixtures`, for LP64.
pub fn one(name: &str) -> (Program, Models, Analysis) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name);
    let (_, program, models) = programs(&path).into_iter().next().expect("a program");
    let analysis = analyse(&program, &models, &Options::default()).expect("the engine's own recipe");
    (program, models, analysis)
}

/// Programs that no proof may call safe, with what the engine says.
pub fn refused() -> Vec<(String, Program, Models, Analysis)> {
    all_in("tests/statics/refused")
}

/// Their twins without a race.
pub fn accepted() -> Vec<(String, Program, Models, Analysis)> {
    all_in("tests/statics/accepted")
}

fn all_in(folder: &str) -> Vec<(String, Program, Models, Analysis)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let all = files(&folder).expect("the folder is readable");
    assert!(!all.is_empty());
    all.iter()
        .map(|path| {
            let request = Request { inputs: vec![path.clone()], ..Request::default() };
            let program =
                load(&request).unwrap_or_else(|error| panic!("{}: {error}", path.display())).program;
            let models = Models::resolve(&program, &Config::default());
            let analysis = analyse(&program, &models, &Options::default()).expect("the engine's own recipe");
            let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
            (name, program, models, analysis)
        })
        .collect()
}

/// What the engine found, as a proof.
pub fn proof(program: &Program, analysis: &Analysis) -> StaticProof {
    StaticProof {
        program: format!("{:032x}", program_hash(program)),
        data_model: program.data_model.name().to_owned(),
        entries: Vec::new(),
        assumptions: analysis.assumptions.iter().map(|id| (*id).to_owned()).collect(),
        recipe: analysis.recipe.clone(),
        facts: analysis.facts.clone(),
    }
}

fn programs(path: &Path) -> Vec<(DataModel, Program, Models)> {
    let text = std::fs::read_to_string(path).expect("a fixture is readable");
    let fixture = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let models: &[DataModel] = match fixture.data_models {
        DataModels::Lp64 => &[DataModel::Lp64],
        DataModels::Ilp32 => &[DataModel::Ilp32],
        DataModels::Both => &[DataModel::Lp64, DataModel::Ilp32],
    };
    let config = match &fixture.config {
        Some(name) => {
            let text =
                std::fs::read_to_string(path.with_file_name(name)).expect("a configuration is readable");
            Config::parse(&text).expect("a configuration")
        }
        None => Config::default(),
    };
    let load_for = |model: &DataModel| {
        let request = Request {
            inputs: vec![path.to_path_buf()],
            cflags: fixture.cflags.clone(),
            data_model: Some(*model),
            ..Request::default()
        };
        let program = load(&request).unwrap_or_else(|error| panic!("{}: {error}", path.display())).program;
        let models = Models::resolve(&program, &config);
        (*model, program, models)
    };
    models.iter().map(load_for).collect()
}
