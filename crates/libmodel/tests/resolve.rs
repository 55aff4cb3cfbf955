//! What a call of a function means, on small programs built by hand: for each rule a function that it applies to and one that it
//! must leave alone.

use raddle_base::{IdVec, SiteId, Span};
use raddle_config::Config;
use raddle_ir::{
    Block, DataModel, DebugType, DebugTypeId, Function, Param, Program, RecordKind, Reg, RegInfo, Terminator,
    Ty,
};
use raddle_libmodel::{Arg, Effect, How, LockFamily, Meaning, Mode, Models, Returns, VerifierOp, lookup};

#[derive(Clone, Copy, PartialEq)]
enum Defined {
    No,
    InPrimaryFile,
    InHeader,
    /// A copy of a library function in a header of the system.
    Copy,
}

/// A program of one function with one parameter.
fn meaning(symbol: &str, name: &str, defined: Defined, parameter: Parameter, config: &str) -> Meaning {
    returning(&[], symbol, name, defined, parameter, config)
}

fn returning(
    returns: &[Ty],
    symbol: &str,
    name: &str,
    defined: Defined,
    parameter: Parameter,
    config: &str,
) -> Meaning {
    let mut program = Program::new(DataModel::Lp64);
    let debug_type = parameter.debug_type(&mut program);
    let reg = RegInfo { ty: Ty::Ptr, name: None, debug_type };
    let entry = Block {
        phis: vec![],
        first_site: SiteId(0),
        insts: vec![],
        terminator: Terminator::Ret { values: vec![] },
    };
    let function = Function {
        symbol: program.strings.intern(symbol),
        name: program.strings.intern(name),
        span: None::<Span>,
        in_primary_file: defined == Defined::InPrimaryFile,
        library_copy: defined == Defined::Copy,
        exported: true,
        params: vec![Param { reg: Reg(0), by_value: None, debug_type }],
        variadic: false,
        returns: returns.to_vec(),
        address_taken: false,
        noreturn: false,
        regs: IdVec::from_vec(vec![reg]),
        blocks: IdVec::from_vec(if defined == Defined::No { vec![] } else { vec![entry] }),
    };
    program.functions.push(function);
    let config = Config::parse(config).expect("a valid configuration");
    let models = Models::resolve(&program, &config);
    assert_eq!(models.meanings.len(), 1);
    models.meanings.values().next().expect("one function").clone()
}

#[derive(Clone, Copy)]
enum Parameter {
    Unknown,
    /// `struct NAME *`
    Record(&'static str),
    /// `NAME *`, an anonymous struct
    Typedef(&'static str),
    /// `const NAME *`, behind a typedef of the pointer itself
    Deep(&'static str),
    /// `struct NAME`, no pointer
    ByValue(&'static str),
}

impl Parameter {
    fn debug_type(self, program: &mut Program) -> Option<DebugTypeId> {
        let record = |program: &mut Program, name: Option<&str>| {
            let name = name.map(|name| program.strings.intern(name));
            program.debug_types.push(DebugType::Record {
                kind: RecordKind::Struct,
                name,
                bytes: 4,
                fields: vec![],
            })
        };
        match self {
            Parameter::Unknown => None,
            Parameter::Record(name) => {
                let to = record(program, Some(name));
                Some(program.debug_types.push(DebugType::Pointer { to }))
            }
            Parameter::ByValue(name) => Some(record(program, Some(name))),
            Parameter::Typedef(name) | Parameter::Deep(name) => {
                let to = record(program, None);
                let name = program.strings.intern(name);
                let mut to = program.debug_types.push(DebugType::Typedef { name, to });
                if matches!(self, Parameter::Deep(_)) {
                    let qualifier = program.strings.intern("const");
                    to = program.debug_types.push(DebugType::Qualified { qualifier, to });
                    to = program.debug_types.push(DebugType::Pointer { to });
                    let name = program.strings.intern("lock_ref");
                    return Some(program.debug_types.push(DebugType::Typedef { name, to }));
                }
                Some(program.debug_types.push(DebugType::Pointer { to }))
            }
        }
    }
}

fn of_row(name: &str) -> Meaning {
    let row = lookup(name).expect("a row");
    Meaning::Effect(row.effect, row.assumptions.to_vec())
}

#[test]
fn a_declaration_gets_its_row() {
    for name in ["pthread_mutex_lock", "malloc", "fork", "__VERIFIER_nondet_int", "pthread_create"] {
        assert_eq!(meaning(name, name, Defined::No, Parameter::Unknown, ""), of_row(name), "{name}");
    }
    // That a kernel function without a body does what its name says is assumed.
    let Meaning::Effect(lock, _) = of_row("spin_lock") else { panic!("spin_lock has a row") };
    let assumed = Meaning::Effect(lock, vec!["A-KLOCK"]);
    assert_eq!(meaning("spin_lock", "spin_lock", Defined::No, Parameter::Unknown, ""), assumed);
    for name in ["mystery", "__VERIFIER_atomic_swap", "main"] {
        assert_eq!(meaning(name, name, Defined::No, Parameter::Unknown, ""), Meaning::Unknown, "{name}");
    }
}

#[test]
fn a_definition_wins_over_a_row() {
    for name in ["pthread_mutex_lock", "malloc", "reach_error", "__VERIFIER_assert", "main", "mystery"] {
        for defined in [Defined::InPrimaryFile, Defined::InHeader] {
            assert_eq!(meaning(name, name, defined, Parameter::Unknown, ""), Meaning::Body, "{name}");
        }
    }
}

#[test]
fn names_changed_by_the_linker() {
    let resolve = |symbol, name| meaning(symbol, name, Defined::No, Parameter::Unknown, "");
    assert_eq!(resolve("malloc.12", "malloc"), of_row("malloc"));
    assert_eq!(resolve("\u{1}malloc", "malloc"), of_row("malloc"));
    assert_eq!(resolve("__isoc99_sscanf", "sscanf"), of_row("__isoc99_sscanf"));
    assert_eq!(resolve("malloc.12", "other"), Meaning::Unknown);
    assert_eq!(resolve("renamed", "malloc"), Meaning::Unknown);
}

#[test]
fn atomic_bodies() {
    let resolve = |name, defined| meaning(name, name, defined, Parameter::Unknown, "");
    assert_eq!(resolve("__VERIFIER_atomic_cas", Defined::InPrimaryFile), Meaning::AtomicBody);
    assert_eq!(resolve("__VERIFIER_atomic_cas", Defined::InHeader), Meaning::AtomicBody);
    assert_eq!(resolve("VERIFIER_atomic_cas", Defined::InPrimaryFile), Meaning::Body);
    assert_eq!(resolve("__VERIFIER_atomic_begin", Defined::InPrimaryFile), of_row("__VERIFIER_atomic_begin"));
    assert_eq!(resolve("__VERIFIER_atomic_end", Defined::No), of_row("__VERIFIER_atomic_end"));
}

#[test]
fn kernel_locks_of_headers() {
    let resolve = |name, defined, parameter| meaning(name, name, defined, parameter, "");
    let taken = |name: &str| match of_row(name) {
        Meaning::Effect(effect, mut assumptions) => {
            assumptions.push("A-KLOCK");
            Meaning::Effect(effect, assumptions)
        }
        other => panic!("{name}: {other:?}"),
    };
    for (name, parameter) in [
        ("spin_lock", Parameter::Typedef("spinlock_t")),
        ("spin_lock", Parameter::Deep("spinlock_t")),
        ("spin_unlock", Parameter::Record("spinlock")),
        ("__raw_spin_lock_irqsave", Parameter::Record("raw_spinlock")),
        ("mutex_lock", Parameter::Record("mutex")),
        ("read_lock", Parameter::Typedef("rwlock_t")),
        ("down_write", Parameter::Record("rw_semaphore")),
        ("spin_lock_init", Parameter::Typedef("spinlock_t")),
    ] {
        assert_eq!(resolve(name, Defined::InHeader, parameter), taken(name), "{name}");
        assert_eq!(resolve(name, Defined::InPrimaryFile, parameter), Meaning::Body, "{name} of the program");
    }
    for (name, parameter) in [
        ("spin_lock", Parameter::Unknown),
        ("spin_lock", Parameter::Typedef("my_lock_t")),
        ("spin_lock", Parameter::ByValue("spinlock")),
        ("pthread_mutex_lock", Parameter::Record("mutex")),
        ("my_lock", Parameter::Typedef("spinlock_t")),
        ("rcu_read_lock", Parameter::Typedef("spinlock_t")),
    ] {
        assert_eq!(resolve(name, Defined::InHeader, parameter), Meaning::Body, "{name}");
    }
}

#[test]
fn the_users_locks() {
    let config = "
        [[lock]]
        acquire = 'enter'
        release = 'leave'
        try = 'attempt'
        [[lock]]
        acquire = 'pthread_mutex_lock'
        try = 'attempt_shared'
        try_success = 'zero'
        argument = 1
        mode = 'shared'
    ";
    let resolve = |name, defined| meaning(name, name, defined, Parameter::Unknown, config);
    let user = |effect| Meaning::Effect(effect, vec!["A-LOCKFN"]);
    let (family, mode, lock) = (LockFamily::Custom, Mode::Exclusive, Arg(0));
    for defined in [Defined::No, Defined::InPrimaryFile, Defined::InHeader] {
        let returns = Returns::Errno;
        let acquire = Effect::Lock { family, lock, mode, how: How::Block, returns };
        assert_eq!(resolve("enter", defined), user(acquire));
        assert_eq!(
            resolve("leave", defined),
            user(Effect::Unlock { family, lock, mode: Some(mode), returns })
        );
        let attempt = Effect::Lock { family, lock, mode, how: How::Try, returns: Returns::OneOnSuccess };
        assert_eq!(resolve("attempt", defined), user(attempt));
        let shared = Effect::Lock { family, lock: Arg(1), mode: Mode::Shared, how: How::Block, returns };
        assert_eq!(resolve("pthread_mutex_lock", defined), user(shared));
        let (mode, returns) = (Mode::Shared, Returns::ZeroOnSuccess);
        let attempt = Effect::Lock { family, lock: Arg(1), mode, how: How::Try, returns };
        assert_eq!(resolve("attempt_shared", defined), user(attempt));
    }
    assert_eq!(resolve("entered", Defined::InPrimaryFile), Meaning::Body);
    assert_eq!(resolve("entered", Defined::No), Meaning::Unknown);
    assert_eq!(resolve("pthread_mutex_unlock", Defined::No), of_row("pthread_mutex_unlock"));
}

#[test]
fn nondeterministic_values_have_the_width_of_the_declaration() {
    let resolve = |name, bits| returning(&[Ty::Int(bits)], name, name, Defined::No, Parameter::Unknown, "");
    let bits = |meaning| match meaning {
        Meaning::Effect(Effect::Verifier(VerifierOp::Nondet { bits, signed, .. }), _) => (bits, signed),
        other => panic!("{other:?}"),
    };
    assert_eq!(bits(resolve("__VERIFIER_nondet_long", 32)), (32, true));
    assert_eq!(bits(resolve("__VERIFIER_nondet_long", 64)), (64, true));
    assert_eq!(bits(resolve("__VERIFIER_nondet_uchar", 32)), (8, false));
    for name in ["__VERIFIER_nondet_struct_s", "__VERIFIER_nondet_memory"] {
        assert!(matches!(resolve(name, 32), Meaning::Effect(Effect::Unsupported { .. }, _)), "{name}");
    }
    let body =
        meaning("__VERIFIER_nondet_x", "__VERIFIER_nondet_x", Defined::InHeader, Parameter::Unknown, "");
    assert_eq!(body, Meaning::Body);
}

#[test]
fn a_row_wins_over_the_copy_of_a_header() {
    for name in ["atoi", "tolower", "getchar"] {
        assert_eq!(meaning(name, name, Defined::Copy, Parameter::Unknown, ""), of_row(name), "{name}");
        let own = meaning(name, name, Defined::InHeader, Parameter::Unknown, "");
        assert_eq!(own, Meaning::Body, "{name}");
    }
    let other =
        meaning("no_row_has_this_name", "no_row_has_this_name", Defined::Copy, Parameter::Unknown, "");
    assert_eq!(other, Meaning::Body);
}

#[test]
fn what_throws_is_not_supported() {
    for name in ["__cxa_throw", "_ZSt20__throw_out_of_rangePKc", "_ZSt24__throw_out_of_range_fmtPKcz"] {
        let meaning = meaning(name, name, Defined::No, Parameter::Unknown, "");
        assert!(matches!(meaning, Meaning::Effect(Effect::Unsupported { .. }, _)), "{name}");
    }
    let other = meaning("_ZSt9terminatev", "_ZSt9terminatev", Defined::No, Parameter::Unknown, "");
    assert_eq!(other, Meaning::Unknown);
}
