//! How much of real C lowers: the C sources inside some `-sys` crates, fetched when needed and never kept in the tree.
//!
//! Each file is compiled alone with every folder of its crate that holds headers as an include path. A file that clang does not take
//! that way (it wants a configured header, or another system) is counted apart: it says nothing about the lowering.

use raddle_frontend::{Request, load};
use raddle_ir::{DataModel, Function, Inst, Program, Terminator};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Crates with C inside, and the folder of it.
const SOURCES: &[(&str, &str, &str)] = &[
    ("libsqlite3-sys", "sqlite3", "SQLite"),
    ("zstd-sys", "zstd/lib", "zstd"),
    ("lz4-sys", "liblz4/lib", "lz4"),
    ("bzip2-sys", "bzip2-1", "bzip2"),
    ("libz-sys", "src/zlib", "zlib"),
    ("rdkafka-sys", "librdkafka/src", "librdkafka"),
    ("libmimalloc-sys", "c_src/mimalloc", "mimalloc"),
    ("lua-src", "lua-5.4", "Lua"),
];

#[derive(Default)]
struct Share {
    name: &'static str,
    files: usize,
    not_compiled: usize,
    functions: usize,
    /// Without any unsupported instruction.
    whole: usize,
    instructions: usize,
    seconds: f64,
    reasons: BTreeMap<String, usize>,
}

/// One row per source; those that cannot be found are named.
pub(super) fn section() -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let registry = fetch(folder.path()).map_err(|error| error.to_string())?;
    let mut text = String::from(
        "\n## Real C\n\nC sources inside `-sys` crates, each file compiled alone. *not compiled*: clang wants a configured header or another \
         system; says nothing about the lowering.\n\n| source | files | not compiled | functions | without `Unsupported` | share | \
         IR instructions | seconds |\n|---|---|---|---|---|---|---|---|\n",
    );
    let mut all = Share { name: "all", ..Share::default() };
    for &(package, inside, name) in SOURCES {
        let Some(root) = find(&registry, package, inside) else {
            text.push_str(&format!("| {name} | not found | | | | | | |\n"));
            continue;
        };
        let share = lower_all(name, &root);
        text.push_str(&row(&share));
        all.files += share.files;
        all.not_compiled += share.not_compiled;
        all.functions += share.functions;
        all.whole += share.whole;
        all.instructions += share.instructions;
        all.seconds += share.seconds;
        for (reason, count) in share.reasons {
            *all.reasons.entry(reason).or_default() += count;
        }
    }
    text.push_str(&row(&all));
    text.push_str("\nReasons, by number of instructions:\n\n");
    let mut reasons: Vec<(String, usize)> = all.reasons.into_iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    for (reason, count) in reasons.iter().take(15) {
        text.push_str(&format!("* {count}: {reason}\n"));
    }
    Ok(text)
}

fn row(s: &Share) -> String {
    let share = 100.0 * s.whole as f64 / s.functions.max(1) as f64;
    format!(
        "| {} | {} | {} | {} | {} | {share:.2} % | {} | {:.1} |\n",
        s.name, s.files, s.not_compiled, s.functions, s.whole, s.instructions, s.seconds
    )
}

/// Lets cargo fetch the crates into a folder of their own.
fn fetch(folder: &Path) -> std::io::Result<PathBuf> {
    let mut manifest = String::from(
        "[package]\nname = \"corpus\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[dependencies]\n",
    );
    for (package, ..) in SOURCES {
        manifest.push_str(&format!("{package} = \"*\"\n"));
    }
    std::fs::create_dir(folder.join("src"))?;
    std::fs::write(folder.join("src/lib.rs"), "")?;
    std::fs::write(folder.join("Cargo.toml"), manifest)?;
    let status = Command::new("cargo")
        .args(["vendor", "--quiet", "vendor"])
        .current_dir(folder)
        .stdout(std::process::Stdio::null())
        .status()?;
    if !status.success() {
        return Err(std::io::Error::other("cargo could not fetch the C sources"));
    }
    Ok(folder.join("vendor"))
}

fn find(registry: &Path, package: &str, inside: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(registry).ok()?;
    let names = entries.filter_map(Result::ok).map(|e| e.path()).filter(|p| {
        let name = p.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        name == package || name.starts_with(&format!("{package}-"))
    });
    names.map(|p| p.join(inside)).find_map(|p| {
        // A version number may follow the name.
        let prefix = p.file_name()?.to_string_lossy().into_owned();
        let beside = std::fs::read_dir(p.parent()?).ok()?.filter_map(Result::ok).map(|e| e.path());
        let mut fitting: Vec<PathBuf> = beside
            .filter(|q| q.is_dir() && q.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&prefix)))
            .collect();
        fitting.sort();
        fitting.into_iter().next()
    })
}

fn lower_all(name: &'static str, root: &Path) -> Share {
    let mut sources = Vec::new();
    let mut includes = vec![root.to_path_buf()];
    walk(root, &mut sources, &mut includes);
    for near in ["include", "../include", ".."] {
        let near = root.join(near);
        if near.is_dir() {
            includes.push(near);
        }
    }
    sources.sort();
    let cflags: Vec<String> = includes
        .iter()
        .map(|p| format!("-I{}", p.display()))
        .chain(["-w".into(), "-D_GNU_SOURCE".into()])
        .collect();
    let start = Instant::now();
    let share = Mutex::new(Share { name, ..Share::default() });
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let request = Request {
                        inputs: vec![source.clone()],
                        cflags: cflags.clone(),
                        data_model: Some(DataModel::Lp64),
                        ..Request::default()
                    };
                    let loaded = load(&request);
                    let mut share = share.lock().expect("no worker panicked");
                    share.files += 1;
                    match loaded {
                        Ok(loaded) => count(&mut share, &loaded.program),
                        Err(_) => share.not_compiled += 1,
                    }
                }
            });
        }
    });
    let mut share = share.into_inner().expect("no worker panicked");
    share.seconds = start.elapsed().as_secs_f64();
    share
}

fn walk(folder: &Path, sources: &mut Vec<PathBuf>, includes: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut has_headers = false;
    for path in entries.filter_map(Result::ok).map(|e| e.path()) {
        if path.is_dir() {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            if !["test", "tests", "examples", "win32", "legacy", "deprecated"].contains(&name.as_str()) {
                walk(&path, sources, includes);
            }
        } else if path.extension().is_some_and(|e| e == "c") {
            sources.push(path);
        } else {
            has_headers |= path.extension().is_some_and(|e| e == "h");
        }
    }
    if has_headers {
        includes.push(folder.to_path_buf());
    }
}

fn count(share: &mut Share, program: &Program) {
    for function in program.functions.values().filter(|f| f.is_defined()) {
        share.functions += 1;
        share.instructions += function.blocks.values().map(|b| b.insts.len() + 1).sum::<usize>();
        let reasons = unsupported(program, function);
        share.whole += usize::from(reasons.is_empty());
        for reason in reasons {
            *share.reasons.entry(reason).or_default() += 1;
        }
    }
}

fn unsupported(program: &Program, function: &Function) -> Vec<String> {
    let mut reasons = Vec::new();
    for block in function.blocks.values() {
        for inst in &block.insts {
            if let Inst::Unsupported { reason, .. } = inst {
                reasons.push(program.text(*reason).to_owned());
            }
        }
        if let Terminator::Unsupported { reason } = &block.terminator {
            reasons.push(program.text(*reason).to_owned());
        }
    }
    reasons
}
