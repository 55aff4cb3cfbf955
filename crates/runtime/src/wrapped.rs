//! Library functions that touch the program's memory: calls to these are renamed to `__raddle_w_NAME` by `instrument`.

/// Functions with a wrapper in the runtime (`interpose/wrappers.rs`, those with formats in `hot.c`).
#[rustfmt::skip]
pub const WRAPPED: &[&str] = &[
    "__isoc23_fscanf", "__isoc23_scanf", "__isoc23_sscanf", "__isoc99_fscanf", "__isoc99_scanf", "__isoc99_sscanf",
    "atof", "atoi", "atol", "atoll", "bcmp", "bzero", "clock_gettime", "dprintf", "fgets", "fopen", "fprintf", "fputs",
    "fread", "fscanf", "fstat", "fwrite", "getenv", "getline", "gettimeofday", "gmtime_r", "localtime_r", "lstat",
    "memchr", "memcmp", "memcpy", "memmove", "mempcpy", "memset", "nanosleep", "perror", "pipe", "pread", "pread64",
    "printf", "puts", "pwrite", "pwrite64", "read", "readv", "recv", "scanf", "send", "snprintf", "sprintf", "sscanf",
    "stat", "stpcpy", "strcasecmp", "strcat", "strchr", "strcmp", "strcpy", "strcspn", "strdup", "strerror_r", "strlen",
    "strncasecmp", "strncat", "strncmp", "strncpy", "strndup", "strnlen", "strpbrk", "strrchr", "strspn", "strstr",
    "strtod", "strtol", "strtoll", "strtoul", "strtoull", "time", "vdprintf", "vfprintf", "vprintf", "vsnprintf",
    "vsprintf", "write", "writev",
];

#[cfg(test)]
mod tests {
    use super::WRAPPED;

    /// Those written in Rust; that all are defined is seen when a program that names them is linked (`tests/behaviour.rs`).
    #[test]
    fn every_wrapper_is_listed() {
        let text = include_str!("interpose/wrappers.rs");
        let defined = text.lines().filter_map(|line| line.trim().strip_prefix("__raddle_w_"));
        for name in defined.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name) {
            assert!(WRAPPED.contains(&name), "{name}");
        }
        assert!(WRAPPED.is_sorted());
    }
}
