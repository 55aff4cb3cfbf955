//! The file of findings: a descriptor that survives what the program does to descriptors.

use crate::options;
use crate::spin::Spin;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

const HIGH: i32 = 900;

struct File {
    descriptor: i32,
    device: u64,
    inode: u64,
}

static FILE: Spin<File> = Spin::new(File { descriptor: -1, device: 0, inode: 0 });
static PID: AtomicI32 = AtomicI32::new(0);

pub fn start() {
    PID.store(unsafe { libc::getpid() }, Relaxed);
    FILE.lock().open();
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
        let mut file = FILE.lock();
        if !file.is_ours() {
            file.open();
        }
        if file.descriptor >= 0 {
            put(file.descriptor, line.as_bytes());
        }
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

impl File {
    fn open(&mut self) {
        let path = &options::get().out;
        self.descriptor = -1;
        if path.is_empty() {
            return;
        }
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
        unsafe {
            let low = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0o600) as i32;
            if low < 0 {
                return;
            }
            let high = libc::fcntl(low, libc::F_DUPFD_CLOEXEC, HIGH);
            if high >= 0 {
                libc::syscall(libc::SYS_close, low);
            }
            self.descriptor = if high >= 0 { high } else { low };
        }
        if let Some((device, inode)) = self.identity() {
            self.device = device;
            self.inode = inode;
        }
    }

    fn is_ours(&self) -> bool {
        self.descriptor >= 0 && self.identity() == Some((self.device, self.inode))
    }

    fn identity(&self) -> Option<(u64, u64)> {
        let mut status = unsafe { std::mem::zeroed::<libc::stat>() };
        let result = unsafe { libc::fstat(self.descriptor, &mut status) };
        (result == 0).then_some((status.st_dev, status.st_ino))
    }
}
