//! `raddle cc` and `raddle c++`, also under the names `raddle-cc` and `raddle-c++`: every argument is clang's, `--help` and `--` too, so
//! they are taken before anybody else reads them.

use crate::output::Exit;
use raddle_driver::Driver;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// The arguments for clang, if this process was started in its place.
pub(crate) fn asked_for() -> Option<(Driver, Vec<OsString>)> {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let driver = match Path::new(&name).file_name()?.to_str()? {
        "raddle-cc" => Driver::C,
        "raddle-c++" => Driver::Cxx,
        _ => match arguments.next()?.to_str()? {
            "cc" => Driver::C,
            "c++" => Driver::Cxx,
            _ => return None,
        },
    };
    Some((driver, arguments.collect()))
}

/// With clang's exit status, or that of an error of ours.
pub(crate) fn run(driver: Driver, arguments: Vec<OsString>) -> ExitCode {
    match raddle_driver::cc(driver, arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("raddle cc: {error}");
            ExitCode::from(Exit::Error as u8)
        }
    }
}
