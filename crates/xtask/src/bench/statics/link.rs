//! A compilation database to one bitcode file, compiled with the front end's flags and kept beside the database.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One source of a database.
pub(super) struct Unit {
    directory: PathBuf,
    pub(super) file: PathBuf,
    command: CompilerCall,
}

enum CompilerCall {
    Words(Vec<String>),
    Shell(String),
}

pub(super) struct Linked {
    pub(super) bitcode: PathBuf,
    /// Of the units taken, the one with `main` first.
    pub(super) sources: Vec<PathBuf>,
    /// Names that other files may use.
    pub(super) visible: BTreeSet<String>,
}

/// A compiled unit with the linker's names that it defines and wants.
pub(super) struct Compiled {
    pub(super) source: PathBuf,
    pub(super) bitcode: PathBuf,
    pub(super) defined: BTreeSet<String>,
    wanted: BTreeSet<String>,
}

/// What of a database belongs together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// Every unit, but no second `main`: also those that only a constructor ties to the rest.
    All,
    /// What `main` needs, like members of archives.
    Needed,
}

/// As in the front end, so that the bitcode is what it would have made.
const FLAGS: [&str; 14] = [
    "-w",
    "-fno-builtin",
    "-g",
    "-pthread",
    "-fcommon",
    "-fno-discard-value-names",
    "-fno-stack-protector",
    "-Qunused-arguments",
    "-U_FORTIFY_SOURCE",
    "-emit-llvm",
    "-c",
    "-O0",
    "-Xclang",
    "-disable-O0-optnone",
];

/// The units of a database, each source once.
pub(super) fn units(database: &Path) -> Result<Vec<Unit>, String> {
    let problem = |message: String| format!("{}: {message}", database.display());
    let text = std::fs::read_to_string(database).map_err(|error| problem(error.to_string()))?;
    let entries: Vec<Value> = serde_json::from_str(&text).map_err(|error| problem(error.to_string()))?;
    let mut units: Vec<Unit> = Vec::new();
    for entry in &entries {
        let word = |key: &str| entry[key].as_str().map(str::to_owned);
        let (Some(directory), Some(file)) = (word("directory"), word("file")) else {
            return Err(problem("an entry without directory or file".to_owned()));
        };
        let directory = PathBuf::from(directory);
        let command = match (&entry["arguments"], word("command")) {
            (Value::Array(words), _) => {
                CompilerCall::Words(words.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect())
            }
            (_, Some(command)) => CompilerCall::Shell(command),
            _ => return Err(problem(format!("{file}: no command"))),
        };
        let file = directory.join(file);
        let is_c = file.extension().is_some_and(|extension| extension == "c" || extension == "cpp");
        if is_c && !units.iter().any(|unit| unit.file == file) {
            units.push(Unit { directory, file, command });
        }
    }
    Ok(units)
}

/// Compiles and links the units of one program or library into `home/linked.bc`, unless it is there.
pub(super) fn link(units: &[Unit], target: Option<&str>, take: Take, home: &Path) -> Result<Linked, String> {
    let compiled = compile(units, home)?;
    let chosen = choose(&compiled, "main", target, take);
    let sources = chosen.iter().map(|index| compiled[*index].source.clone()).collect();
    let visible = chosen.iter().flat_map(|index| &compiled[*index].defined).cloned().collect();
    let bitcode = home.join("linked.bc");
    if !bitcode.is_file() {
        let parts: Vec<&Path> = chosen.iter().map(|index| compiled[*index].bitcode.as_path()).collect();
        link_files(&parts, &bitcode)?;
    }
    Ok(Linked { bitcode, sources, visible })
}

pub(super) fn link_files(parts: &[&Path], output: &Path) -> Result<(), String> {
    let scratch = output.with_extension("new");
    let mut arguments: Vec<&OsStr> = vec!["-o".as_ref(), scratch.as_os_str()];
    arguments.extend(parts.iter().map(|part| part.as_os_str()));
    tool("llvm-link", &arguments)?;
    std::fs::rename(&scratch, output).map_err(|error| format!("{}: {error}", output.display()))
}

/// All units, on all processors.
pub(super) fn compile(units: &[Unit], home: &Path) -> Result<Vec<Compiled>, String> {
    let folder = home.join("units");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Result<Compiled, String>>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(unit) = units.get(index) else { return };
                    let compiled = unit.compile(&folder.join(format!("{index}.bc")), &[]);
                    done.lock().expect("no worker panicked").insert(index, compiled);
                }
            });
        }
    });
    done.into_inner().expect("no worker panicked").into_values().collect()
}

/// Indices of the units that belong to the program whose first function is `root`, that unit first and the others in the order in which
/// they are needed; all units if none defines it.
pub(super) fn choose(compiled: &[Compiled], root: &str, target: Option<&str>, take: Take) -> Vec<usize> {
    let all = 0..compiled.len();
    let roots: Vec<usize> = all.clone().filter(|index| compiled[*index].defined.contains(root)).collect();
    let wanted = |index: &usize| target.is_none_or(|target| compiled[*index].source.ends_with(target));
    let Some(main) = roots.iter().copied().find(wanted) else { return all.collect() };
    let mut providers: BTreeMap<&str, usize> = BTreeMap::new();
    for index in all.clone().filter(|index| *index == main || !roots.contains(index)) {
        for name in &compiled[index].defined {
            providers.entry(name).or_insert(index);
        }
    }
    let mut order = vec![main];
    let mut queue = VecDeque::from([main]);
    while let Some(index) = queue.pop_front() {
        for name in &compiled[index].wanted {
            if let Some(&provider) = providers.get(name.as_str())
                && !order.contains(&provider)
            {
                order.push(provider);
                queue.push_back(provider);
            }
        }
    }
    if take == Take::All {
        let rest: Vec<usize> = all.filter(|index| !roots.contains(index) && !order.contains(index)).collect();
        order.extend(rest);
    }
    order
}

impl Unit {
    pub(super) fn compile(&self, output: &Path, extra: &[&str]) -> Result<Compiled, String> {
        if !output.is_file() {
            let scratch = output.with_extension("new");
            let mut command = match &self.command {
                CompilerCall::Words(words) => {
                    let mut command = Command::new(path_of("clang")?);
                    command.args(&words[1..]);
                    command.args(FLAGS).args(extra).arg("-o").arg(&scratch);
                    command
                }
                CompilerCall::Shell(text) => {
                    // The last of two outputs wins.
                    let flags = FLAGS.iter().chain(extra).copied().collect::<Vec<_>>().join(" ");
                    let mut command = Command::new("sh");
                    command.arg("-c").arg(format!("{text} {flags} -o \"$1\"")).arg("sh").arg(&scratch);
                    command
                }
            };
            let run = command.current_dir(&self.directory).output();
            let run = run.map_err(|error| format!("{}: {error}", self.file.display()))?;
            if !run.status.success() {
                let message = String::from_utf8_lossy(&run.stderr);
                let first = message.lines().find(|line| line.contains("error")).unwrap_or_default();
                return Err(format!("{}: does not compile: {first}", self.file.display()));
            }
            std::fs::rename(&scratch, output).map_err(|error| format!("{}: {error}", output.display()))?;
        }
        let names = tool("llvm-nm", &["--format=posix".as_ref(), output.as_os_str()])?;
        let (mut defined, mut wanted) = (BTreeSet::new(), BTreeSet::new());
        for line in names.lines() {
            let mut words = line.split(' ');
            match (words.next(), words.next()) {
                (Some(name), Some("U")) => drop(wanted.insert(name.to_owned())),
                (Some(name), Some(kind)) if kind.starts_with(|kind: char| kind.is_ascii_uppercase()) => {
                    defined.insert(name.to_owned());
                }
                _ => {}
            }
        }
        Ok(Compiled { source: self.file.clone(), bitcode: output.to_owned(), defined, wanted })
    }
}

/// Runs a tool of the pinned LLVM and gives what it prints.
pub(super) fn tool(name: &str, arguments: &[&OsStr]) -> Result<String, String> {
    let run =
        Command::new(path_of(name)?).args(arguments).output().map_err(|error| format!("{name}: {error}"))?;
    if !run.status.success() {
        let message = String::from_utf8_lossy(&run.stderr);
        return Err(format!("{name}: {}", message.lines().next().unwrap_or_default()));
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

/// Cargo sets the prefix from `.cargo/config.toml`.
fn path_of(name: &str) -> Result<PathBuf, String> {
    let prefix = std::env::var_os("LLVM_SYS_191_PREFIX")
        .ok_or("LLVM_SYS_191_PREFIX is not set: run it through cargo")?;
    Ok(Path::new(&prefix).join("bin").join(name))
}
