//! Library functions that touch the program's memory: calls to these are renamed to `__raddle_w_NAME` by `instrument`.

/// Functions with a wrapper in the runtime (`interpose/wrappers.rs`, formats in `hot.c`); a test compares.
#[rustfmt::skip]
pub const WRAPPED: &[&str] = &[
    "atof", "atoi", "atol", "atoll", "bcmp", "bzero", "clock_gettime", "fgets", "fopen", "fputs", "fread", "fstat",
    "fwrite", "getenv", "getline", "gettimeofday", "gmtime_r", "localtime_r", "lstat", "memchr", "memcmp", "memcpy",
    "memmove", "mempcpy", "memset", "nanosleep", "perror", "pipe", "pread", "pread64", "puts", "pwrite", "pwrite64",
    "read", "readv", "recv", "send", "stat", "stpcpy", "strcasecmp", "strcat", "strchr", "strcmp", "strcpy", "strcspn",
    "strdup", "strerror_r", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strndup", "strnlen", "strpbrk",
    "strrchr", "strspn", "strstr", "strtod", "strtol", "strtoll", "strtoul", "strtoull", "time", "write", "writev",
];

#[cfg(test)]
mod tests {
    use super::WRAPPED;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_what_is_defined() {
        let texts = [include_str!("interpose/wrappers.rs"), crate::HOT_C];
        let defined: BTreeSet<&str> = texts
            .iter()
            .flat_map(|text| text.split("__raddle_w_").skip(1))
            .map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or(""))
            .filter(|name| !name.is_empty() && *name != "NAME")
            .collect();
        assert_eq!(defined, WRAPPED.iter().copied().collect());
        assert!(WRAPPED.is_sorted());
    }
}
