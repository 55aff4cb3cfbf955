//! Clocks, calendars and sleeping: virtual time (A-TIME). Sleeping orders nothing.

use super::Row;
use super::row::{A0, A2, alias, assuming, libc, libc_assuming, nothing, thread, unsupported};
use crate::{Arg, Effect, Returns, SleepUnit, ThreadOp};

const TIME: &[&str] = &["A-TIME"];

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
    // Calendars, in UTC.
    libc("gmtime"),
    libc("gmtime_r"),
    libc("mktime"),
    libc("strftime"),
    libc("asctime"),
    libc("asctime_r"),
    libc("ctime"),
    libc("ctime_r"),
    libc("difftime"),
    alias("localtime", "gmtime"),
    alias("localtime_r", "gmtime_r"),
    alias("timegm", "mktime"),
    alias("timelocal", "mktime"),
    nothing("tzset", 0),
    // Sleeping.
    sleep("sleep", A0, SleepUnit::Seconds, Returns::Errno),
    sleep("usleep", A0, SleepUnit::Microseconds, Returns::MinusOne),
    sleep("nanosleep", A0, SleepUnit::Timespec, Returns::MinusOne),
    sleep("__nanosleep", A0, SleepUnit::Timespec, Returns::MinusOne),
    sleep("clock_nanosleep", A2, SleepUnit::Timespec, Returns::Errno),
    thread("sched_yield", ThreadOp::Yield, Returns::MinusOne),
    thread("__sched_yield", ThreadOp::Yield, Returns::MinusOne),
    // Timers end in signals, which never come.
    assuming("alarm", Effect::Nothing { result: 0 }, &["A-SIGNAL"]),
    assuming("ualarm", Effect::Nothing { result: 0 }, &["A-SIGNAL"]),
    assuming("setitimer", Effect::Nothing { result: 0 }, &["A-SIGNAL"]),
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
