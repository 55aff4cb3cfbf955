//! Numbered assumptions: what an answer rests on and Raddle did not check. `docs/soundness.md` explains each.

/// Printed with every answer that uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Assumption {
    pub id: &'static str,
    pub text: &'static str,
}

impl Assumption {
    pub const ALL: &'static [Assumption] = &[
        Assumption {
            id: "A-SC",
            text: "atomics weaker than seq_cst were explored under sequential consistency",
        },
        Assumption {
            id: "A-CONSUME",
            text: "memory_order_consume orders as memory_order_acquire does, as compilers have it",
        },
        Assumption {
            id: "A-INPUT",
            text: "covers this input only (arguments, stdin, environment, files, time)",
        },
        Assumption { id: "A-MALLOC", text: "memory allocation does not fail" },
        Assumption { id: "A-THREAD", text: "thread creation and lock initialisation do not fail" },
        Assumption { id: "A-HANDLE", text: "pthread_create stores the handle before the new thread begins" },
        Assumption { id: "A-LOCK", text: "locks that wait do not fail for lack of resources" },
        Assumption {
            id: "A-SPURIOUS",
            text: "condition waits do not wake up, and weak operations do not fail, for no reason (again and again)",
        },
        Assumption { id: "A-RWLOCK", text: "read-write locks let readers in while writers wait" },
        Assumption { id: "A-UNINIT", text: "uninitialised memory reads as one fixed value" },
        Assumption { id: "A-WRAP", text: "signed arithmetic wraps around on overflow" },
        Assumption {
            id: "A-EXTERN",
            text: "functions without body or model that are given plain numbers only have no effect",
        },
        Assumption {
            id: "A-EXTLOCK",
            text: "functions without body or model release no lock that they were never given",
        },
        Assumption {
            id: "A-EXTLOCAL",
            text: "functions without body or model keep no address of a local variable of their caller",
        },
        Assumption {
            id: "A-EXTNAME",
            text: "functions without body or model use no state of the C library that they were not given",
        },
        Assumption { id: "A-IGNORE", text: "functions that raddle.toml ignores do nothing and return 0" },
        Assumption { id: "A-ASM", text: "inline assembly changes its operands only" },
        Assumption { id: "A-KLOCK", text: "kernel lock functions defined in headers act as locks" },
        Assumption { id: "A-LOCKFN", text: "lock functions named in raddle.toml act as locks" },
        Assumption { id: "A-TIME", text: "time is virtual; sleeping orders nothing" },
        Assumption {
            id: "A-LAYOUT",
            text: "types that the headers redefine have the layout of this compiler",
        },
        Assumption {
            id: "A-ADDRESS",
            text: "addresses and thread handles that are used as numbers have one value each",
        },
        Assumption {
            id: "A-RESULT",
            text: "results that the standards leave open have one of the allowed values",
        },
        Assumption { id: "A-SIGNAL", text: "no signal handler runs" },
        Assumption { id: "A-IO", text: "files and sockets behave as the built-in model" },
        Assumption {
            id: "A-BOUNDS",
            text: "accesses stay inside their objects; pointers are made from pointers only",
        },
        Assumption {
            id: "A-ENTRY",
            text: "pointers of clients lead to common memory only where one type contains the other",
        },
        Assumption {
            id: "A-DESCRIPTOR",
            text: "a read from a descriptor is ordered after the write of the bytes that it returns",
        },
        Assumption {
            id: "A-MTSAFE",
            text: "functions that glibc documents as MT-Safe are, where POSIX does not ask for it",
        },
        Assumption { id: "A-HASH", text: "different states have different hashes" },
        Assumption {
            id: "A-LOOP",
            text: "executions that differ only in when a waiting loop is recognised stand for each other",
        },
    ];

    /// The assumption with this id. Panics on an unknown id: ids are written in the source, not read from input.
    pub fn named(id: &str) -> Assumption {
        *Self::ALL.iter().find(|a| a.id == id).unwrap_or_else(|| panic!("unknown assumption id {id}"))
    }
}
