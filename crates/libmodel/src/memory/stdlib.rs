//! `stdlib.h` and the kernel's allocation functions.
//!
//! `setenv` may move the array that `environ` points to, and change or free strings that `getenv` returned; `putenv` makes the
//! program's string a part of the environment.

use super::build::{A0, A1, A2, A3, A4, Entries, WORD, behind_any, bytes, each, nothing};
use super::{Base, Extent, Fill, Library, Life, MemoryEffect, Value, When};
use Extent::{Arg as Bytes, CString, Product, ToEnd};

pub(super) fn entries() -> Entries {
    let mut all = vec![
        ("malloc", nothing().returns_block(Bytes(A0), Fill::Uninitialised)),
        ("kzalloc", nothing().returns_block(Bytes(A0), Fill::Zero)),
        ("kmalloc_array", nothing().returns_block(Product(A0, A1), Fill::Uninitialised)),
        ("calloc", nothing().returns_block(Product(A0, A1), Fill::Zero)),
        ("realloc", resize(Bytes(A1))),
        ("reallocarray", resize(Product(A1, A2))),
        ("_ZnwmSt11align_val_t", nothing().returns_block(Bytes(A0), Fill::Uninitialised)),
        ("aligned_alloc", nothing().returns_block(Bytes(A1), Fill::Uninitialised)),
        (
            "posix_memalign",
            nothing()
                .allocates(Bytes(A2), Fill::Uninitialised, Life::Handed)
                .writes(A0, WORD)
                .stores(A0, Value::Into(Base::Fresh.into())),
        ),
        ("valloc", nothing().returns_block(Bytes(A0), Fill::Uninitialised)),
        ("malloc_usable_size", nothing()),
        ("free", nothing().frees(A0)),
        ("qsort", sort(vec![Value::Into(A0.into()); 2])),
        ("qsort_r", sort(vec![Value::Into(A0.into()), Value::Into(A0.into()), Value::Arg(A4)])),
        (
            "bsearch",
            nothing().returns_into(A1).calls(A4, vec![Value::Arg(A0), Value::Into(A1.into())], When::Now),
        ),
        ("rand_r", nothing().changes(A0, bytes(4))),
        ("erand48", random48().changes(A0, bytes(6))),
        ("drand48", random48()),
        ("lrand48", random48()),
        ("mrand48", random48()),
        ("srand48", random48()),
        ("arc4random_buf", nothing().writes(A0, Bytes(A1))),
        ("getrandom", nothing().writes(A0, Bytes(A1))),
        (
            "getenv",
            nothing()
                .reads(A0, CString)
                .reads(Library::Environment, ToEnd)
                .reads(Base::Variable("environ"), WORD)
                .returns_into(Library::Environment)
                .returns_into(behind_any(Library::Environment)),
        ),
        ("setenv", environment().reads(A0, CString).reads(A1, CString)),
        ("unsetenv", environment().reads(A0, CString)),
        ("putenv", environment().reads(A0, CString).stores(Library::Environment, Value::Arg(A0))),
        ("clearenv", nothing().gap("clearing the whole environment")),
        ("atexit", nothing().calls(A0, vec![], When::ProcessExit)),
    ];
    all.extend(each(&["atoi", "atol", "atoll", "atof"], &nothing().reads(A0, CString).in_locale()));
    all.extend(each(
        &[
            "strtol",
            "strtoul",
            "strtoll",
            "strtoull",
            "__isoc23_strtol",
            "__isoc23_strtoul",
            "__isoc23_strtoll",
            "__isoc23_strtoull",
            "strtof",
            "strtod",
            "strtold",
        ],
        &nothing().reads(A0, CString).writes(A1, WORD).stores(A1, Value::Into(A0.into())).in_locale(),
    ));
    all.extend(each(
        &["abs", "labs", "llabs", "div", "rand", "srand", "arc4random", "arc4random_uniform"],
        &nothing(),
    ));
    all
}

fn environment() -> MemoryEffect {
    nothing().changes(Library::Environment, Extent::ToEnd).writes(Base::Variable("environ"), WORD)
}

fn random48() -> MemoryEffect {
    nothing().changes(Library::Random48, bytes(8))
}

/// `realloc`: a fresh block with the old bytes; the old block is freed.
fn resize(size: Extent) -> MemoryEffect {
    nothing()
        .reads(A0, size)
        .returns_block(size, Fill::Uninitialised)
        .writes(Base::Fresh, size)
        .copies(A0, Base::Fresh)
        .frees(A0)
}

fn sort(passes: Vec<Value>) -> MemoryEffect {
    let array = Product(A1, A2);
    nothing()
        .changes(A0, array)
        .allocates(array, Fill::Uninitialised, Life::Inside)
        .changes(Base::Fresh, array)
        .copies(A0, Base::Fresh)
        .copies(Base::Fresh, A0)
        .frees(Base::Fresh)
        .calls(A3, passes, When::Now)
}
