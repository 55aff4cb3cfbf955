//! Functions that change nothing the program can see: settings of the system, attributes that nothing here depends on, names and
//! structures that are looked at and forgotten. They touch what `libmodel` declares of them and return one of the results that the
//! standards allow.

use super::values::NULL;
use super::{Family, Host, Outcome};
use raddle_ir::DataModel;
use raddle_libmodel::memory::{Access, Base, Extent, Reach, Touch, keeps_contents};
use raddle_libmodel::{LibcFn, memory};

pub(super) const FUNCTIONS: Family = &[
    ("pthread_setname_np", |h| run(h, "pthread_setname_np")),
    ("pthread_setschedparam", |h| run(h, "pthread_setschedparam")),
    ("pthread_setaffinity_np", |h| run(h, "pthread_setaffinity_np")),
    ("pthread_attr_destroy", |h| run(h, "pthread_attr_destroy")),
    ("pthread_attr_setstack", own_stack),
    ("pthread_attr_setstackaddr", own_stack),
    ("madvise", advise),
    ("posix_madvise", advise),
    ("pthread_attr_setguardsize", |h| run(h, "pthread_attr_setguardsize")),
    ("pthread_attr_setscope", |h| run(h, "pthread_attr_setscope")),
    ("pthread_attr_setschedpolicy", |h| run(h, "pthread_attr_setschedpolicy")),
    ("pthread_attr_setschedparam", |h| run(h, "pthread_attr_setschedparam")),
    ("pthread_attr_setinheritsched", |h| run(h, "pthread_attr_setinheritsched")),
    ("pthread_attr_setaffinity_np", |h| run(h, "pthread_attr_setaffinity_np")),
    ("pthread_mutexattr_destroy", |h| run(h, "pthread_mutexattr_destroy")),
    ("pthread_mutexattr_setpshared", |h| run(h, "pthread_mutexattr_setpshared")),
    ("pthread_mutexattr_setprotocol", |h| run(h, "pthread_mutexattr_setprotocol")),
    ("pthread_mutexattr_setprioceiling", |h| run(h, "pthread_mutexattr_setprioceiling")),
    ("pthread_condattr_destroy", |h| run(h, "pthread_condattr_destroy")),
    ("pthread_condattr_setpshared", |h| run(h, "pthread_condattr_setpshared")),
    ("pthread_condattr_setclock", |h| run(h, "pthread_condattr_setclock")),
    ("pthread_rwlockattr_destroy", |h| run(h, "pthread_rwlockattr_destroy")),
    ("pthread_rwlockattr_setpshared", |h| run(h, "pthread_rwlockattr_setpshared")),
    ("pthread_barrierattr_destroy", |h| run(h, "pthread_barrierattr_destroy")),
    ("pthread_barrierattr_setpshared", |h| run(h, "pthread_barrierattr_setpshared")),
    ("sem_unlink", |h| run(h, "sem_unlink")),
    ("setlinebuf", |h| run(h, "setlinebuf")),
    ("setvbuf", |h| buffered(h, "setvbuf")),
    ("setbuf", |h| buffered(h, "setbuf")),
    ("setbuffer", |h| buffered(h, "setbuffer")),
    ("chmod", |h| run(h, "chmod")),
    ("chown", |h| run(h, "chown")),
    ("utime", |h| run(h, "utime")),
    ("utimes", |h| run(h, "utimes")),
    ("msync", |h| run(h, "msync")),
    ("setrlimit", |h| run(h, "setrlimit")),
    ("sched_setaffinity", |h| run(h, "sched_setaffinity")),
    ("sched_setscheduler", |h| run(h, "sched_setscheduler")),
    ("bindtextdomain", |h| run(h, "bindtextdomain").map(|_| NULL)),
    ("textdomain", |h| run(h, "textdomain").map(|_| NULL)),
    ("openlog", |h| run(h, "openlog")),
    ("setjmp", setjmp),
    ("setitimer", |h| run(h, "setitimer")),
];

fn own_stack(host: &mut dyn Host) -> Outcome<u128> {
    Err(host.unsupported("a stack in memory of the program".into()))
}

fn advise(host: &mut dyn Host) -> Outcome<u128> {
    match keeps_contents(host.int(2).into()) {
        true => Ok(0),
        false => Err(host.unsupported("advice by which memory may lose its contents".into())),
    }
}

/// The registers and whether the signal mask was saved; the mask itself only where a second argument asks for it. The buffer of glibc's
/// `pthread_cleanup_push` has no room for it.
fn setjmp(host: &mut dyn Host) -> Outcome<u128> {
    if host.arg_count() > 1 && host.int(1) != 0 {
        return run(host, "setjmp");
    }
    let buffer = host.pointer(0);
    let bytes = match host.data_model() {
        DataModel::Lp64 => 72,
        DataModel::Ilp32 => 28,
    };
    host.fill(buffer, 0, bytes)?;
    Ok(0)
}

fn run(host: &mut dyn Host, name: &'static str) -> Outcome<u128> {
    let touches = &memory(LibcFn(name)).touches;
    for (index, touch) in touches.iter().enumerate() {
        let (Base::Arg(arg), Reach::Direct) = (touch.region.base, touch.region.reach) else { continue };
        let address = host.pointer(usize::from(arg.0));
        if address == 0 {
            continue;
        }
        let address = host.offset(address, u64::from(touch.from));
        let before = index.checked_sub(1).map(|before| touches[before]);
        match touch.access {
            Access::Read => {
                content(host, address, touch)?;
            }
            // What was read is written back.
            Access::Write if before.is_some_and(|before| is_same_place(&before, touch)) => {
                let bytes = content(host, address, touch)?;
                host.write(address, &bytes)?;
            }
            Access::Write => {
                let bytes = length(host, touch.extent);
                host.fill(address, 0, bytes)?;
            }
            Access::Update | Access::Free => {}
        }
    }
    Ok(0)
}

/// A buffer that later calls on the stream use is not modelled.
fn buffered(host: &mut dyn Host, name: &'static str) -> Outcome<u128> {
    if host.pointer(1) != 0 {
        return Err(host.unsupported("a buffer of the program that a stream goes on to use".into()));
    }
    run(host, name)
}

fn is_same_place(before: &Touch, touch: &Touch) -> bool {
    before.access == Access::Read
        && (before.region, before.from, before.extent) == (touch.region, touch.from, touch.extent)
}

fn content(host: &mut dyn Host, address: u64, touch: &Touch) -> Outcome<Vec<u8>> {
    if touch.extent == Extent::CString {
        return host.read_string(address);
    }
    let mut bytes = vec![0; length(host, touch.extent) as usize];
    host.read(address, &mut bytes)?;
    Ok(bytes)
}

fn length(host: &mut dyn Host, extent: Extent) -> u64 {
    match extent {
        Extent::Arg(arg) => host.size(usize::from(arg.0)),
        _ => extent.bytes(host.data_model()).unwrap_or(0),
    }
}
