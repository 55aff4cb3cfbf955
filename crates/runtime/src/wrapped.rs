//! Library functions that touch the program's memory: calls to these are renamed to `__raddle_w_NAME` by `instrument`.

/// Functions with a wrapper in the runtime (`interpose/wrappers.rs`, `interpose/settings.rs`, those with formats in `hot.c`).
#[rustfmt::skip]
pub const WRAPPED: &[&str] = &[
    "__isoc23_fscanf", "__isoc23_scanf", "__isoc23_sscanf", "__isoc99_fscanf", "__isoc99_scanf", "__isoc99_sscanf", "atof",
    "atoi", "atol", "atoll", "bcmp", "bzero", "clock_gettime", "clock_nanosleep", "cnd_timedwait", "dprintf", "fgets",
    "fopen", "fprintf", "fputs", "fread", "fscanf", "fstat", "fwrite", "getenv", "getline", "gettimeofday", "gmtime_r",
    "localtime_r", "lstat", "memchr", "memcmp", "memcpy", "memmove", "mempcpy", "memset", "mtx_timedlock", "nanosleep",
    "perror", "pipe", "pread", "pread64", "printf", "pthread_attr_destroy", "pthread_attr_getdetachstate",
    "pthread_attr_getstacksize", "pthread_attr_init", "pthread_attr_setaffinity_np", "pthread_attr_setdetachstate",
    "pthread_attr_setguardsize", "pthread_attr_setinheritsched", "pthread_attr_setschedparam",
    "pthread_attr_setschedpolicy", "pthread_attr_setscope", "pthread_attr_setstack", "pthread_attr_setstacksize",
    "pthread_barrier_init", "pthread_barrierattr_destroy", "pthread_barrierattr_init", "pthread_barrierattr_setpshared",
    "pthread_clockjoin_np", "pthread_cond_clockwait", "pthread_cond_init", "pthread_cond_timedwait",
    "pthread_condattr_destroy", "pthread_condattr_init", "pthread_condattr_setclock", "pthread_condattr_setpshared",
    "pthread_create", "pthread_join", "pthread_mutex_clocklock", "pthread_mutex_init", "pthread_mutex_timedlock",
    "pthread_mutexattr_destroy", "pthread_mutexattr_getrobust", "pthread_mutexattr_gettype", "pthread_mutexattr_init",
    "pthread_mutexattr_setprioceiling", "pthread_mutexattr_setprotocol", "pthread_mutexattr_setpshared",
    "pthread_mutexattr_setrobust", "pthread_mutexattr_settype", "pthread_rwlock_clockrdlock", "pthread_rwlock_clockwrlock",
    "pthread_rwlock_init", "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock", "pthread_rwlockattr_destroy",
    "pthread_rwlockattr_getkind_np", "pthread_rwlockattr_init", "pthread_rwlockattr_setkind_np",
    "pthread_rwlockattr_setpshared", "pthread_setaffinity_np", "pthread_setcancelstate", "pthread_setcanceltype",
    "pthread_setname_np", "pthread_timedjoin_np", "pthread_tryjoin_np", "puts", "pwrite", "pwrite64", "read", "readv",
    "recv", "scanf", "sem_clockwait", "sem_getvalue", "sem_timedwait", "send", "snprintf", "sprintf", "sscanf", "stat",
    "stpcpy", "strcasecmp", "strcat", "strchr", "strcmp", "strcpy", "strcspn", "strdup", "strerror_r", "strlen",
    "strncasecmp", "strncat", "strncmp", "strncpy", "strndup", "strnlen", "strpbrk", "strrchr", "strspn", "strstr",
    "strtod", "strtol", "strtoll", "strtoul", "strtoull", "thrd_create", "thrd_join", "thrd_sleep", "time", "vdprintf",
    "vfprintf", "vprintf", "vsnprintf", "vsprintf", "write", "writev",
];

/// Functions that are put in front of the C library's own, and write to the memory that they give back.
const GIVING_BACK: &[&str] = &["free", "mremap", "munmap", "realloc", "reallocarray"];

/// Whether a native run shows what this library function does to memory of the program.
pub fn shows_memory_of(function: &str) -> bool {
    WRAPPED.contains(&function) || GIVING_BACK.contains(&function)
}

#[cfg(test)]
mod tests {
    use super::WRAPPED;

    /// Those written in Rust; that all are defined is seen when a program that names them is linked (`tests/behaviour.rs`).
    #[test]
    fn every_wrapper_is_listed() {
        let text = concat!(include_str!("interpose/wrappers.rs"), include_str!("interpose/settings.rs"));
        let defined = text.lines().filter_map(|line| line.trim().strip_prefix("__raddle_w_"));
        for name in defined.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name) {
            assert!(WRAPPED.contains(&name), "{name}");
        }
        assert!(WRAPPED.is_sorted());
    }
}
