//! Where findings go, one line per write: to the tool that started the program, or to people. What cannot be written there is written to
//! standard error, and the process ends with an exit code of its own.

use crate::descriptor::Descriptor;
use crate::gate;
use crate::options;
use crate::spin::Spin;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

static FILE: Spin<Descriptor> = Spin::new(Descriptor::NONE);
static PID: AtomicI32 = AtomicI32::new(0);
/// Some line could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

pub fn start() {
    PID.store(unsafe { libc::getpid() }, Relaxed);
    open(&mut FILE.lock());
}

/// In the child of a fork.
pub fn restart() {
    FILE.reset();
    PID.store(unsafe { libc::getpid() }, Relaxed);
}

pub fn pid() -> i32 {
    PID.load(Relaxed)
}

/// Whether a tool reads what is found.
pub fn has_tool() -> bool {
    !options::get().out.is_empty()
}

/// Whether something that was found could not be written.
pub fn is_lost() -> bool {
    LOST.load(Relaxed)
}

/// One line for the tool, or text for people when there is none.
pub fn line(line: &str, text: impl FnOnce() -> String) {
    let errno = unsafe { *libc::__errno_location() };
    let text = if has_tool() { line.to_owned() } else { text() };
    match path() {
        _ if text.is_empty() => {}
        None => drop(put(2, text.as_bytes())),
        // A handler that ends the process has a line to write, too.
        Some(path) => gate::undisturbed(|| {
            let mut file = FILE.lock();
            if file.number().is_none() {
                open(&mut file);
            }
            let written = match file.number() {
                Some(number) => put(number, text.as_bytes()),
                None => Err(unsafe { *libc::__errno_location() }),
            };
            if let Err(error) = written {
                lost(path, error, &text);
            }
        }),
    }
    unsafe { *libc::__errno_location() = errno };
}

#[cold]
fn lost(path: &CStr, error: i32, text: &str) {
    if !LOST.swap(true, Relaxed) {
        let reason = std::io::Error::from_raw_os_error(error);
        let words = format!("raddle: findings cannot be written to {}: {reason}\n", path.to_string_lossy());
        let _ = put(2, words.as_bytes());
    }
    let _ = put(2, text.as_bytes());
}

fn path() -> Option<&'static CStr> {
    let options = options::get();
    let path = if has_tool() { &options.out } else { &options.log };
    (!path.is_empty()).then_some(path.as_c_str())
}

/// For a string inside JSON.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// The error number if not everything could be written.
fn put(descriptor: i32, mut bytes: &[u8]) -> Result<(), i32> {
    while !bytes.is_empty() {
        let written = unsafe { libc::syscall(libc::SYS_write, descriptor, bytes.as_ptr(), bytes.len()) };
        match written {
            1.. => bytes = &bytes[written as usize..],
            _ if unsafe { *libc::__errno_location() } == libc::EINTR => {}
            0 => return Err(libc::EIO),
            _ => return Err(unsafe { *libc::__errno_location() }),
        }
    }
    Ok(())
}

fn open(file: &mut Descriptor) {
    if let Some(path) = path() {
        // Whoever writes finds out that there is none.
        let _ = file.open(path, libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT);
    }
}
