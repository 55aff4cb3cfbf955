//! State of the library and the system that calls of several threads share and that is no memory of the program: positions of streams,
//! contents of files, the next random number, handlers. Values go from thread to thread through it without a race (the library locks it),
//! so a call that uses it is a visible operation. State that POSIX leaves unlocked is memory instead, see [`crate::memory`].

use crate::{Arg, LibcFn};

/// Which state a call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedUse {
    /// The generator behind `rand`.
    Random,
    /// The list of `atexit`.
    ExitHandlers,
    /// What the signal of this argument does.
    Signal(Arg),
    /// The signals that are blocked.
    SignalMask,
    /// Position in standard input.
    Input,
    /// What is behind the `FILE` of this argument.
    Stream(Arg),
    /// What is behind the descriptor of this argument.
    Descriptor(Arg),
    /// The file of the name that this argument points to.
    File(Arg),
    /// Any file.
    Files,
}

impl LibcFn {
    /// The state that calls of this function share, apart from which descriptors there are ([`LibcFn::descriptor_use`]). `None` also for
    /// what writes to standard output: nobody can read it back.
    pub fn shared_use(self) -> Option<SharedUse> {
        use SharedUse::{Descriptor, ExitHandlers, File, Files, Input, Random, Signal, SignalMask, Stream};
        Some(match self.0 {
            "rand" | "srand" | "arc4random" | "arc4random_uniform" | "arc4random_buf" | "getrandom" => Random,
            "atexit" => ExitHandlers,
            "signal" | "sigaction" => Signal(Arg(0)),
            "sigprocmask" => SignalMask,
            "getchar" | "getchar_unlocked" | "gets" | "scanf" | "vscanf" => Input,
            "getc" | "getc_unlocked" | "feof" | "feof_unlocked" | "ferror" | "ferror_unlocked"
            | "clearerr" | "clearerr_unlocked" | "fseek" | "fseeko64" | "ftell" | "ftello64" | "rewind"
            | "fclose" | "fprintf" | "vfprintf" | "__fprintf_chk" | "__vfprintf_chk" | "fscanf"
            | "vfscanf" => Stream(Arg(0)),
            "ungetc" | "putc" | "putc_unlocked" | "fputs" | "fputs_unlocked" => Stream(Arg(1)),
            "fgets" | "fgets_unlocked" | "getline" => Stream(Arg(2)),
            "__fgets_chk" | "fread" | "fread_unlocked" | "fwrite" | "fwrite_unlocked" | "getdelim" => {
                Stream(Arg(3))
            }
            "__fread_chk" => Stream(Arg(4)),
            "read" | "__read_chk" | "write" | "writev" | "lseek" | "lseek64" | "pread" | "pread64"
            | "pwrite" | "pwrite64" | "ftruncate" | "ftruncate64" | "fstat" | "fcntl" | "fdopen"
            | "close" | "dprintf" | "vdprintf" | "__dprintf_chk" | "__vdprintf_chk" | "send" | "sendto"
            | "sendmsg" | "recv" | "recvfrom" | "recvmsg" | "connect" | "accept" | "bind" | "listen"
            | "shutdown" => Descriptor(Arg(0)),
            "__fxstat" => Descriptor(Arg(1)),
            "mmap" | "mmap64" => Descriptor(Arg(4)),
            "fopen" | "open" | "creat" | "access" | "truncate" | "stat" | "unlink" | "remove"
            | "readlink" | "realpath" => File(Arg(0)),
            "openat" | "__xstat" => File(Arg(1)),
            "freopen" | "tmpfile" | "rename" | "chdir" | "opendir" => Files,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Effect, SharedUse, lookup};

    fn shared_use(name: &str) -> Option<SharedUse> {
        match lookup(name).map(|row| row.effect) {
            Some(Effect::Libc(function)) => function.shared_use(),
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn what_can_be_read_back_is_shared() {
        for name in ["random", "fgetc", "__isoc99_fscanf", "getline", "lseek64", "lstat", "fopen64", "recv"] {
            assert!(shared_use(name).is_some(), "{name}");
        }
        for name in ["printf", "puts", "strlen", "malloc", "rand_r", "fflush"] {
            assert_eq!(shared_use(name), None, "{name}");
        }
    }
}
