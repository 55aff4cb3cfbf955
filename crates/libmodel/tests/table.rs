//! The table as a whole: names are unique, argument positions exist, assumptions are known.

use raddle_libmodel::memory::{Access, Base};
use raddle_libmodel::{
    Answer, Arg, AtomicCall, CondOp, Effect, How, KernelAtomic, ProcessOp, SemOp, SleepUnit, ThreadOp, TlsOp,
    Variable, VerifierOp, lookup, rows, variable,
};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn names_are_unique_and_found() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        assert!(seen.insert(row.name), "two rows for {}", row.name);
        assert_eq!(lookup(row.name), Some(row));
    }
    assert!(seen.len() > 1000, "only {} rows", seen.len());
    for absent in ["", "main", "pthread_mutex_lock ", "PTHREAD_MUTEX_LOCK", "my_lock"] {
        assert_eq!(lookup(absent), None, "{absent}");
    }
}

/// A function of the C library is never an unknown one.
#[test]
fn what_the_headers_declare_is_known() {
    for name in ["wcscpy", "getpwnam", "tsearch", "ldiv", "regcomp", "cexp", "posix_fallocate"] {
        assert!(matches!(lookup(name).map(|row| row.effect), Some(Effect::Unsupported { .. })), "{name}");
    }
}

#[test]
fn variables_of_the_library() {
    assert_eq!(variable("stdout"), Some(Variable::Stream(1)));
    assert_eq!(variable("optind"), Some(Variable::Int(1)));
    assert_eq!(variable("counter"), None);
}

#[test]
fn assumptions_are_documented_ones() {
    let documented = ["A-INPUT", "A-IO", "A-MALLOC", "A-MTSAFE", "A-SIGNAL", "A-THREAD", "A-TIME"];
    let used: BTreeSet<&str> = rows().flat_map(|row| row.assumptions.iter().copied()).collect();
    assert_eq!(used.into_iter().collect::<Vec<_>>(), documented);
}

/// A result is a constant only where the words of a standard fix it; what the interpreter returns otherwise is an assumption.
#[test]
fn results_are_open_or_fixed_by_a_standard() {
    for row in rows() {
        match row.effect {
            Effect::Nothing { result: Answer::Open(_) } => {
                assert!(!row.assumptions.is_empty(), "{}: under which assumption?", row.name);
                assert_eq!(row.effect.fixed_result(), None, "{}", row.name);
            }
            Effect::Nothing { result: Answer::Fixed { because, .. } } => {
                assert!(because.contains("C11") || because.contains("POSIX"), "{}: {because}", row.name);
            }
            _ => {}
        }
    }
    let fixed: Vec<&str> =
        rows().filter(|row| row.effect.fixed_result().is_some()).map(|row| row.name).collect();
    assert_eq!(
        fixed,
        ["fegetround", "setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "__sigsetjmp_cancel"],
        "say in docs/soundness.md why the result is fixed"
    );
}

/// Functions that POSIX (XSH 2.9.1) does not ask to be thread-safe and that are trusted all the same.
#[test]
fn trusted_functions_are_listed() {
    let trusted: BTreeSet<&str> =
        rows().filter(|row| row.assumptions.contains(&"A-MTSAFE")).map(|row| row.name).collect();
    let listed = ["__xpg_basename", "dirname", "rand", "srand", "strerror", "strsignal"];
    assert_eq!(trusted.into_iter().collect::<Vec<_>>(), listed);
}

/// The others on that list share memory, or a call is a gap.
#[test]
fn functions_without_thread_safety_share_state() {
    for name in UNSAFE.split_whitespace() {
        let row = lookup(name).unwrap_or_else(|| panic!("no row for {name}"));
        let memory = row.effect.memory();
        let shares = memory.touches.iter().any(|touch| {
            touch.access == Access::Write
                && (touch.is_stream() || matches!(touch.region.base, Base::Library(_) | Base::Variable(_)))
        });
        let is_gap = matches!(row.effect, Effect::Unsupported { .. }) || memory.gap.is_some();
        let is_reader = name == "getenv";
        // Two calls share what they are given: the stream.
        let is_given = name == "readdir"
            && memory
                .touches
                .iter()
                .any(|touch| touch.access == Access::Write && touch.region.base == Base::Arg(Arg(0)));
        assert!(shares || is_gap || is_reader || is_given || row.assumptions.contains(&"A-MTSAFE"), "{name}");
    }
}

const UNSAFE: &str = "
    asctime __xpg_basename catgets crypt ctime dirname dlerror drand48 endgrent endpwent endutxent ftw getc_unlocked
    getchar_unlocked getdate getenv getgrent getgrgid getgrnam gethostent getlogin getnetbyaddr getnetbyname getnetent getopt
    getprotobyname getprotobynumber getprotoent getpwent getpwnam getpwuid getservbyname getservbyport getservent getutxent
    getutxid getutxline gmtime hcreate hdestroy hsearch inet_ntoa l64a lgamma lgammaf lgammal localeconv localtime lrand48
    mrand48 nftw nl_langinfo ptsname putc_unlocked putchar_unlocked putenv pututxline rand readdir setenv setgrent
    setpwent setutxent strerror strsignal strtok system ttyname unsetenv wcstombs wctomb
    gethostbyname setlocale clearenv srand48 erand48 fputs_unlocked fwrite_unlocked fread_unlocked fgets_unlocked
    fflush_unlocked clearerr_unlocked
";

#[test]
fn reasons_say_something() {
    for row in rows() {
        if let Effect::Unsupported { reason } = row.effect {
            assert!(reason.len() > 5, "{}: {reason:?}", row.name);
        }
    }
}

/// Declarations as in POSIX, C11 and the kernel, for every row of the pthread, C11 and semaphore families that names an argument.
const ARITIES: &str = "
    pthread_create 4, pthread_join 2, pthread_tryjoin_np 2, pthread_timedjoin_np 3, pthread_clockjoin_np 4, pthread_detach 1,
    pthread_exit 1, pthread_equal 2, pthread_cancel 1, pthread_setcancelstate 2, pthread_setcanceltype 2,
    pthread_mutex_init 2, pthread_mutex_destroy 1, pthread_mutex_lock 1, pthread_mutex_trylock 1, pthread_mutex_timedlock 2,
    pthread_mutex_clocklock 3, pthread_mutex_unlock 1, pthread_mutex_consistent 1, pthread_mutex_consistent_np 1,
    pthread_rwlock_init 2, pthread_rwlock_destroy 1, pthread_rwlock_rdlock 1, pthread_rwlock_tryrdlock 1,
    pthread_rwlock_timedrdlock 2, pthread_rwlock_clockrdlock 3, pthread_rwlock_wrlock 1, pthread_rwlock_trywrlock 1,
    pthread_rwlock_timedwrlock 2, pthread_rwlock_clockwrlock 3, pthread_rwlock_unlock 1,
    pthread_spin_init 2, pthread_spin_destroy 1, pthread_spin_lock 1, pthread_spin_trylock 1, pthread_spin_unlock 1,
    pthread_cond_init 2, pthread_cond_destroy 1, pthread_cond_wait 2, pthread_cond_timedwait 3, pthread_cond_clockwait 4,
    pthread_cond_signal 1, pthread_cond_broadcast 1, pthread_barrier_init 3, pthread_barrier_destroy 1, pthread_barrier_wait 1,
    pthread_once 2, pthread_key_create 2, pthread_key_delete 1, pthread_getspecific 1, pthread_setspecific 2,
    thrd_create 3, thrd_join 2, thrd_detach 1, thrd_exit 1, thrd_equal 2, thrd_sleep 2, mtx_init 2, mtx_destroy 1, mtx_lock 1,
    mtx_trylock 1, mtx_timedlock 2, mtx_unlock 1, cnd_init 1, cnd_destroy 1, cnd_wait 2, cnd_timedwait 3, cnd_signal 1,
    cnd_broadcast 1, call_once 2, tss_create 2, tss_delete 1, tss_get 1, tss_set 2,
    sem_init 3, sem_destroy 1, sem_post 1, sem_wait 1, sem_trywait 1, sem_timedwait 2, sem_clockwait 3, sem_getvalue 2, sem_open 4,
    sleep 1, usleep 1, nanosleep 2, clock_nanosleep 4, __assert_fail 4, __assert 3, __assert_perror_fail 4, __assert_rtn 4, exit 1, _exit 1,
    sema_init 2, down 1, up 1, kthread_run 3, msleep 1, atomic_add 2, atomic_inc 1, atomic_cmpxchg 3, atomic_add_unless 3,
    __VERIFIER_assert 1, __VERIFIER_assume 1, __atomic_test_and_set 2, atomic_thread_fence 1
";

#[test]
fn argument_positions_exist() {
    let arities: BTreeMap<&str, usize> = ARITIES
        .split(',')
        .map(|entry| entry.trim().rsplit_once(' ').expect("name and number"))
        .map(|(name, arity)| (name.trim(), arity.parse().expect("a number")))
        .collect();
    for (name, arity) in &arities {
        let row = lookup(name).unwrap_or_else(|| panic!("no row for {name}"));
        let last = arguments(&row.effect).into_iter().map(|arg| usize::from(arg.0)).max();
        assert!(last.is_some_and(|last| last < *arity), "{name}: argument {last:?} of {arity}");
    }
    for row in rows() {
        let checked = ["pthread_", "thrd_", "mtx_", "cnd_", "tss_", "sem_"];
        if checked.iter().any(|prefix| row.name.starts_with(prefix)) && !arguments(&row.effect).is_empty() {
            assert!(arities.contains_key(row.name), "say how many arguments {} has", row.name);
        }
    }
}

fn arguments(effect: &Effect) -> Vec<Arg> {
    match *effect {
        Effect::Lock { lock, how, .. } => [Some(lock), deadline(how)].into_iter().flatten().collect(),
        Effect::Unlock { lock, .. } => vec![lock],
        Effect::SyncInit { object, attribute, .. } => {
            [Some(object), attribute].into_iter().flatten().collect()
        }
        Effect::SyncDestroy { object, .. } => vec![object],
        Effect::MutexConsistent { mutex } => vec![mutex],
        Effect::Thread(op, _) => thread_arguments(op),
        Effect::Cond(CondOp::Wait { cond, mutex, how }, _) => {
            [Some(cond), Some(mutex), deadline(how)].into_iter().flatten().collect()
        }
        Effect::Cond(CondOp::Signal { cond } | CondOp::Broadcast { cond }, _) => vec![cond],
        Effect::BarrierWait { barrier } => vec![barrier],
        Effect::Sem(SemOp::Post { sem }, _) => vec![sem],
        Effect::Sem(SemOp::Wait { sem, how }, _) => {
            [Some(sem), deadline(how)].into_iter().flatten().collect()
        }
        Effect::Sem(SemOp::GetValue { sem, out }, _) => vec![sem, out],
        Effect::Sem(SemOp::Open { name, flags, value }, _) => vec![name, flags, value],
        Effect::Once { once, function, .. } => vec![once, function],
        Effect::Tls(TlsOp::KeyCreate { key, destructor }, _) => vec![key, destructor],
        Effect::Tls(TlsOp::KeyDelete { key } | TlsOp::Get { key }, _) => vec![key],
        Effect::Tls(TlsOp::Set { key, value }, _) => vec![key, value],
        Effect::Atomic(call) => atomic_arguments(call),
        Effect::Verifier(VerifierOp::Assert { condition } | VerifierOp::Assume { condition }) => {
            vec![condition]
        }
        Effect::Process(ProcessOp::Exit { code, .. }) => vec![code],
        Effect::Process(ProcessOp::AssertFail { text }) => vec![text],
        Effect::Verifier(_)
        | Effect::Process(ProcessOp::Abort)
        | Effect::Libc(_)
        | Effect::Nothing { .. }
        | Effect::Unsupported { .. } => vec![],
    }
}

fn deadline(how: How) -> Option<Arg> {
    match how {
        How::Timed { deadline } => deadline,
        How::Block | How::Try => None,
    }
}

fn thread_arguments(op: ThreadOp) -> Vec<Arg> {
    match op {
        ThreadOp::Create { id, attribute, function, argument } => {
            [Some(id), attribute, Some(function), Some(argument)].into_iter().flatten().collect()
        }
        ThreadOp::CreateReturning { function, argument } => vec![function, argument],
        ThreadOp::Join { thread, result, how } => {
            [Some(thread), result, deadline(how)].into_iter().flatten().collect()
        }
        ThreadOp::Detach { thread } | ThreadOp::Cancel { thread } => vec![thread],
        ThreadOp::Exit { result } => result.into_iter().collect(),
        ThreadOp::Equal { a, b } => vec![a, b],
        ThreadOp::SetCancel { value, old, .. } => vec![value, old],
        ThreadOp::Sleep { amount, unit: SleepUnit::Timespec { remainder } } => vec![amount, remainder],
        ThreadOp::Sleep { amount, .. } => vec![amount],
        ThreadOp::SelfId
        | ThreadOp::TestCancel
        | ThreadOp::CleanupRegister
        | ThreadOp::CleanupUnregister
        | ThreadOp::Yield => vec![],
    }
}

fn atomic_arguments(call: AtomicCall) -> Vec<Arg> {
    match call {
        AtomicCall::TestAndSet { order } | AtomicCall::Clear { order } => {
            [Some(Arg(0)), order].into_iter().flatten().collect()
        }
        AtomicCall::Fence { order } => order.into_iter().collect(),
        AtomicCall::Kernel { op, target, .. } => {
            let operands = match op {
                KernelAtomic::Read => vec![],
                KernelAtomic::Set { value } | KernelAtomic::Exchange { value } => vec![Some(value)],
                KernelAtomic::Add { value, .. } => vec![value],
                KernelAtomic::CompareExchange { expected, new } => vec![Some(expected), Some(new)],
                KernelAtomic::AddUnless { value, unless } => vec![value, unless],
            };
            [Some(target)].into_iter().chain(operands).flatten().collect()
        }
        _ => vec![],
    }
}
