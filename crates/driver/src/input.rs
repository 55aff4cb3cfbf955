//! What the program gets from outside besides its arguments: standard input and environment, as far as it may ask for them.

use crate::{DriverError, OWN_STDIN, Subject};
use raddle_ir::{Callee, Inst, Operand, Program};
use raddle_libmodel::{Effect, LibcFn, Meaning, Models, Variable, variable};
use std::io::Read;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Library functions that may read standard input.
const READERS: &[&str] = &[
    "read",
    "__read_chk",
    "readv",
    "pread",
    "getchar",
    "getc",
    "fgets",
    "__fgets_chk",
    "gets",
    "getline",
    "getdelim",
    "fread",
    "__fread_chk",
    "scanf",
    "fscanf",
    "vscanf",
    "vfscanf",
    "getchar_unlocked",
    "getc_unlocked",
    "fgets_unlocked",
    "fread_unlocked",
];

/// How long nothing may come from a pipe before it is taken as empty.
const PATIENCE: Duration = Duration::from_secs(3);

/// Standard input of the program; `None` when it has none, or never reads its own.
pub(crate) fn stdin(subject: &Subject, models: &Models) -> Result<Option<Vec<u8>>, DriverError> {
    let Some(path) = &subject.stdin else { return Ok(None) };
    if path == Path::new(OWN_STDIN) {
        return Ok(reads_stdin(models).then(own_stdin));
    }
    let bytes = std::fs::read(path).map_err(|source| DriverError::Read { path: path.clone(), source })?;
    Ok(Some(bytes))
}

fn reads_stdin(models: &Models) -> bool {
    models.meanings.values().any(|meaning| match meaning {
        Meaning::Effect(Effect::Libc(LibcFn(name)), _) => READERS.contains(name),
        _ => false,
    })
}

/// All of it; nothing where nobody writes into the pipe.
fn own_stdin() -> Vec<u8> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut chunk = vec![0; 1 << 16];
        let mut input = std::io::stdin().lock();
        while let Ok(len @ 1..) = input.read(&mut chunk) {
            if sender.send(chunk[..len].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut bytes = match receiver.recv_timeout(PATIENCE) {
        Ok(first) => first,
        Err(_) => return Vec::new(),
    };
    receiver.into_iter().for_each(|chunk| bytes.extend(chunk));
    bytes
}

/// The variables that the program asks for by a name in its text, and what is worth saying besides. No others are given to it: witnesses
/// carry what the program gets, and the environment of a user is nothing to write down.
pub(crate) fn environment(
    subject: &Subject,
    program: &Program,
    models: &Models,
) -> (Vec<(String, String)>, Option<String>) {
    let (names, all_known) = names(program, models);
    let asked = |name: &str| names.iter().any(|asked| asked == name);
    let given = subject.env.iter().filter(|(name, _)| asked(name)).cloned().collect();
    let looks_at_more = !all_known || has_environ(program) || has_envp(program);
    let warning = "the program may look at variables of its environment whose names are not in its text: it gets none of them";
    (given, (looks_at_more && !subject.env.is_empty()).then(|| warning.to_owned()))
}

/// Whether the program uses the variable that holds its whole environment.
pub(crate) fn has_environ(program: &Program) -> bool {
    let environ = |name: &str| matches!(name, "environ" | "__environ" | "_environ");
    program.globals.values().any(|global| global.init.is_none() && environ(program.text(global.symbol)))
}

/// Whether the program uses a variable that holds its own name, which is the first argument.
pub(crate) fn has_program_name(program: &Program) -> bool {
    program.globals.values().any(|global| {
        let known = variable(program.text(global.symbol));
        global.init.is_none() && known == Some(Variable::ProgramName)
    })
}

fn has_envp(program: &Program) -> bool {
    program.function_by_symbol("main").is_some_and(|main| program.functions[main].params.len() > 2)
}

/// Names that are given to `getenv`, and whether these are all.
fn names(program: &Program, models: &Models) -> (Vec<String>, bool) {
    let asks =
        |function| matches!(models.meanings[function], Meaning::Effect(Effect::Libc(LibcFn("getenv")), _));
    let (mut names, mut all) = (Vec::new(), true);
    for block in program.functions.values().flat_map(|function| function.blocks.values()) {
        for inst in &block.insts {
            let Inst::Call { callee: Callee::Direct(function), args, .. } = inst else { continue };
            if asks(*function) {
                let name = args.first().and_then(|arg| constant_text(program, arg.value));
                all &= name.is_some();
                names.extend(name);
            }
        }
    }
    (names, all)
}

/// The text that the operand points to, if the program cannot change it. Zeros at the end may be missing in an initialiser.
fn constant_text(program: &Program, operand: Operand) -> Option<String> {
    let Operand::Global(global, offset) = operand else { return None };
    let global = &program.globals[global];
    let data = global.init.as_ref()?.data.get(usize::try_from(offset).ok()?..)?;
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    global.constant.then(|| String::from_utf8_lossy(&data[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::environment;
    use crate::Subject;
    use raddle_config::Config;
    use raddle_libmodel::Models;

    /// What is not asked for by name is not given, so that no witness has it.
    #[test]
    fn only_variables_with_a_name_in_the_text_are_given() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("asks.c");
        let given = |body: &str| {
            let text = format!("#include <stdlib.h>\nint main(int argc, char **argv) {{ {body} }}\n");
            std::fs::write(&file, text).expect("it can be written");
            let request = raddle_frontend::Request { inputs: vec![file.clone()], ..Default::default() };
            let program = raddle_frontend::load(&request).expect("it compiles").program;
            let models = Models::resolve(&program, &Config::default());
            let env = [("WISH", "yes"), ("SECRET", "no")].map(|(n, v)| (n.to_owned(), v.to_owned()));
            environment(&Subject { env: env.to_vec(), ..Subject::default() }, &program, &models)
        };
        let wish = vec![("WISH".to_owned(), "yes".to_owned())];
        assert_eq!(given("return getenv(\"WISH\") != 0;"), (wish, None));
        assert_eq!(given("return argc;"), (Vec::new(), None));
        let (none, warning) = given("return getenv(argv[argc - 1]) != 0;");
        assert!(none.is_empty() && warning.is_some());
    }
}
