//! A descriptor that survives what the program does to descriptors: moved high, and opened again by its path if the program closed it.

use std::ffi::CStr;

const HIGH: i32 = 900;

pub struct Descriptor {
    number: i32,
    device: u64,
    inode: u64,
}

impl Descriptor {
    pub const NONE: Descriptor = Descriptor { number: -1, device: 0, inode: 0 };

    /// The error number if it cannot be opened.
    pub fn open(&mut self, path: &CStr, flags: i32) -> Result<(), i32> {
        *self = Self::NONE;
        unsafe {
            let flags = flags | libc::O_CLOEXEC;
            let low = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0o600) as i32;
            if low < 0 {
                return Err(*libc::__errno_location());
            }
            let high = libc::fcntl(low, libc::F_DUPFD_CLOEXEC, HIGH);
            if high >= 0 {
                libc::syscall(libc::SYS_close, low);
            }
            self.number = if high >= 0 { high } else { low };
        }
        if let Some((device, inode)) = self.identity() {
            self.device = device;
            self.inode = inode;
        }
        Ok(())
    }

    /// Its number, if it is still the file that was opened.
    pub fn number(&self) -> Option<i32> {
        (self.number >= 0 && self.identity() == Some((self.device, self.inode))).then_some(self.number)
    }

    /// Its number; opened again by its path, if that is still the same file.
    pub fn number_again(&mut self, path: &CStr, flags: i32) -> Option<i32> {
        if let Some(number) = self.number() {
            return Some(number);
        }
        let (device, inode) = (self.device, self.inode);
        self.open(path, flags).ok()?;
        let same = (device, inode) == (self.device, self.inode);
        (self.device, self.inode) = (device, inode);
        same.then_some(self.number)
    }

    fn identity(&self) -> Option<(u64, u64)> {
        let mut status = unsafe { std::mem::zeroed::<libc::stat>() };
        let result = unsafe { libc::fstat(self.number, &mut status) };
        (result == 0).then_some((status.st_dev, status.st_ino))
    }
}
