//! The file of findings, one line per write.

use crate::descriptor::Descriptor;
use crate::gate;
use crate::options;
use crate::spin::Spin;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

static FILE: Spin<Descriptor> = Spin::new(Descriptor::NONE);
static PID: AtomicI32 = AtomicI32::new(0);

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

/// One line for the file, or text for people when there is no file.
pub fn line(line: &str, text: impl FnOnce() -> String) {
    let errno = unsafe { *libc::__errno_location() };
    if options::get().out.is_empty() {
        let text = text();
        put(2, text.as_bytes());
    } else {
        // A handler that ends the process has a line to write, too.
        gate::undisturbed(|| {
            let mut file = FILE.lock();
            if file.number().is_none() {
                open(&mut file);
            }
            if let Some(number) = file.number() {
                put(number, line.as_bytes());
            }
        });
    }
    unsafe { *libc::__errno_location() = errno };
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

fn put(descriptor: i32, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let written = unsafe { libc::syscall(libc::SYS_write, descriptor, bytes.as_ptr(), bytes.len()) };
        match written {
            1.. => bytes = &bytes[written as usize..],
            _ if unsafe { *libc::__errno_location() } == libc::EINTR => {}
            _ => return,
        }
    }
}

fn open(file: &mut Descriptor) {
    let path = &options::get().out;
    if !path.is_empty() {
        // Without it there is nobody to tell.
        let _ = file.open(path, libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT);
    }
}
