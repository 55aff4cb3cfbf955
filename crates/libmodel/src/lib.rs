//! What pthread, C11, kernel and libc calls mean, as data.
