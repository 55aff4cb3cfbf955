//! Tests of the library functions on a host without a machine, against the C library of this system where it can be asked.

mod accesses;
mod against_libc;
mod coverage;
mod input_output;
mod mock;
mod native;
mod numbers;
mod options;
mod strings;
