//! Library functions that touch the program's memory: calls to these are renamed to `__raddle_w_NAME` by `instrument`.

/// Functions with a wrapper in the runtime.
pub const WRAPPED: &[&str] = &["memcpy", "memmove", "memset"];
