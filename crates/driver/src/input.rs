//! What the program gets from outside besides its arguments: standard input and environment, as far as it may ask for them.

use crate::{DriverError, OWN_STDIN, Subject};
use raddle_ir::{Callee, Inst, Operand, Program};
use raddle_libmodel::{Effect, LibcFn, Meaning, Models};
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

/// The variables that the program may ask for by name; all of them where it may look at any.
pub(crate) fn environment(subject: &Subject, program: &Program, models: &Models) -> Vec<(String, String)> {
    let asked = match names(program, models) {
        _ if has_environ(program) || has_envp(program) => None,
        names => names,
    };
    let wanted = |name: &str| asked.as_ref().is_none_or(|names| names.iter().any(|asked| asked == name));
    subject.env.iter().filter(|(name, _)| wanted(name)).cloned().collect()
}

/// Whether the program uses the variable that holds its whole environment.
pub(crate) fn has_environ(program: &Program) -> bool {
    let environ = |name: &str| matches!(name, "environ" | "__environ" | "_environ");
    program.globals.values().any(|global| global.init.is_none() && environ(program.text(global.symbol)))
}

fn has_envp(program: &Program) -> bool {
    program.function_by_symbol("main").is_some_and(|main| program.functions[main].params.len() > 2)
}

/// Names that are given to `getenv`; `None` when one is not known.
fn names(program: &Program, models: &Models) -> Option<Vec<String>> {
    let asks =
        |function| matches!(models.meanings[function], Meaning::Effect(Effect::Libc(LibcFn("getenv")), _));
    let mut names = Vec::new();
    for block in program.functions.values().flat_map(|function| function.blocks.values()) {
        for inst in &block.insts {
            let Inst::Call { callee, args, .. } = inst else { continue };
            match callee {
                Callee::Direct(function) if asks(*function) => {
                    names.push(constant_text(program, args.first()?.value)?);
                }
                Callee::Direct(_) => {}
                Callee::Indirect(_) if models.meanings.iter().any(|(function, _)| asks(function)) => {
                    return None;
                }
                Callee::Indirect(_) => {}
            }
        }
    }
    Some(names)
}

fn constant_text(program: &Program, operand: Operand) -> Option<String> {
    let Operand::Global(global, offset) = operand else { return None };
    let global = &program.globals[global];
    let data = global.init.as_ref()?.data.get(usize::try_from(offset).ok()?..)?;
    let end = data.iter().position(|byte| *byte == 0)?;
    global.constant.then(|| String::from_utf8_lossy(&data[..end]).into_owned())
}
