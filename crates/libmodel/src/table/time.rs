//! Clocks, calendars and sleeping: virtual time (A-TIME). Sleeping orders nothing.

use super::Row;
use super::row::{
    A0, A1, A2, A3, alias_assuming, answers, assuming, libc, libc_assuming, thread, unsupported,
};
use crate::{Arg, Effect, Returns, SleepUnit, ThreadOp};

const TIME: &[&str] = &["A-TIME"];
/// The environment names the time zone.
const ZONE: &[&str] = &["A-INPUT"];

const fn sleep(name: &'static str, amount: Arg, unit: SleepUnit, returns: Returns) -> Row {
    assuming(name, Effect::Thread(ThreadOp::Sleep { amount, unit }, returns), TIME)
}

pub(super) static ROWS: &[Row] = &[
    // Clocks.
    libc_assuming("time", TIME),
    libc_assuming("gettimeofday", TIME),
    libc_assuming("clock_gettime", TIME),
    libc_assuming("clock_getres", TIME),
    libc_assuming("clock", TIME),
    libc_assuming("times", TIME),
    libc_assuming("timespec_get", TIME),
    libc_assuming("ftime", TIME),
    // Calendars; the time zone is UTC.
    libc("gmtime"),
    libc("gmtime_r"),
    libc_assuming("mktime", ZONE),
    libc_assuming("strftime", ZONE),
    libc("asctime"),
    libc("asctime_r"),
    libc_assuming("ctime", ZONE),
    libc_assuming("ctime_r", ZONE),
    libc("difftime"),
    libc_assuming("localtime", ZONE),
    libc_assuming("localtime_r", ZONE),
    libc("timegm"),
    alias_assuming("timelocal", "mktime", ZONE),
    libc_assuming("tzset", ZONE),
    // Sleeping.
    sleep("sleep", A0, SleepUnit::Seconds, Returns::Errno),
    sleep("usleep", A0, SleepUnit::Microseconds, Returns::MinusOne),
    sleep("nanosleep", A0, SleepUnit::Timespec { remainder: A1 }, Returns::MinusOne),
    sleep("__nanosleep", A0, SleepUnit::Timespec { remainder: A1 }, Returns::MinusOne),
    sleep("clock_nanosleep", A2, SleepUnit::Timespec { remainder: A3 }, Returns::Errno),
    thread("sched_yield", ThreadOp::Yield, Returns::MinusOne),
    thread("__sched_yield", ThreadOp::Yield, Returns::MinusOne),
    // Timers end in signals, which never come.
    answers("alarm", &["A-SIGNAL"]),
    answers("ualarm", &["A-SIGNAL"]),
    libc_assuming("setitimer", &["A-SIGNAL"]),
    unsupported("timer_create", "POSIX timers"),
    unsupported("timer_settime", "POSIX timers"),
    unsupported("timer_delete", "POSIX timers"),
    unsupported("timerfd_create", "POSIX timers"),
    unsupported("timerfd_settime", "POSIX timers"),
    unsupported("getitimer", "POSIX timers"),
    unsupported("strptime", "setting or parsing of time"),
    unsupported("getdate", "setting or parsing of time"),
    unsupported("adjtime", "setting or parsing of time"),
    unsupported("settimeofday", "setting or parsing of time"),
    unsupported("clock_settime", "setting or parsing of time"),
];
