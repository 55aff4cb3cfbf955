//! Clocks and calendars. Time is the machine's virtual time (A-TIME) counted from a fixed date; every time zone is UTC.
//!
//! `gmtime`, `localtime`, `asctime` and `ctime` return memory that all threads share, as natively: two threads that use it race.

use super::errors::EINVAL;
use super::values::{NULL, double};
use super::{Family, Host, Outcome};
use raddle_ir::DataModel;

pub(super) const FUNCTIONS: Family = &[
    ("time", time),
    ("gettimeofday", gettimeofday),
    ("clock_gettime", clock_gettime),
    ("clock_getres", clock_getres),
    ("timespec_get", timespec_get),
    ("clock", |h| {
        let now = h.now();
        Ok(h.word((now / 1000) as i64))
    }),
    ("times", times),
    ("ftime", |h| Err(h.unsupported("ftime".into()))),
    ("difftime", |h| Ok(double(h.long(0) as f64 - h.long(1) as f64))),
    ("gmtime", gmtime),
    ("gmtime_r", gmtime_r),
    ("timegm", mktime),
    ("localtime", |h| zone(h).and_then(|()| gmtime(h))),
    ("localtime_r", |h| zone(h).and_then(|()| gmtime_r(h))),
    ("mktime", |h| zone(h).and_then(|()| mktime(h))),
    ("tzset", |h| zone(h).map(|()| 0)),
    ("strftime", |h| zone(h).and_then(|()| strftime(h))),
    ("asctime", asctime),
    ("asctime_r", asctime_r),
    ("ctime", |h| zone(h).and_then(|()| ctime(h))),
    ("ctime_r", |h| zone(h).and_then(|()| ctime_r(h))),
];

/// What knows the time zone sets these variables, under a lock of the library, while the program may read them.
fn zone(host: &mut dyn Host) -> Outcome<()> {
    if ["timezone", "daylight", "tzname"].into_iter().any(|name| host.variable(name).is_some()) {
        return Err(host.unsupported("variables of the time zone that the program uses".into()));
    }
    Ok(())
}

/// Seconds from 1970 to the start of virtual time: 2024-01-01, a Monday.
const EPOCH: i64 = 1_704_067_200;
const SECOND: u64 = 1_000_000_000;

fn now(host: &mut dyn Host) -> (i64, i64) {
    let now = host.now();
    (EPOCH + (now / SECOND) as i64, (now % SECOND) as i64)
}

fn time(host: &mut dyn Host) -> Outcome<u128> {
    let target = host.pointer(0);
    let (seconds, _) = now(host);
    if target != 0 {
        host.write_long(target, seconds)?;
    }
    Ok(host.word(seconds))
}

/// Two `long`s: `struct timeval`, `struct timespec`.
fn write_pair(host: &mut dyn Host, target: u64, first: i64, second: i64) -> Outcome<()> {
    let width = host.word_bytes() as usize;
    let mut bytes = first.to_le_bytes()[..width].to_vec();
    bytes.extend_from_slice(&second.to_le_bytes()[..width]);
    host.write(target, &bytes)
}

fn gettimeofday(host: &mut dyn Host) -> Outcome<u128> {
    let (target, zone) = (host.pointer(0), host.pointer(1));
    let (seconds, nanoseconds) = now(host);
    if target != 0 {
        write_pair(host, target, seconds, nanoseconds / 1000)?;
    }
    if zone != 0 {
        host.fill(zone, 0, 8)?;
    }
    Ok(0)
}

/// Clocks 0 and 5 (real time) count from 1970, all others from the start of the program.
fn clock_gettime(host: &mut dyn Host) -> Outcome<u128> {
    let (clock, target) = (host.int(0), host.pointer(1));
    let (seconds, nanoseconds) = now(host);
    let seconds = if matches!(clock, 0 | 5) { seconds } else { seconds - EPOCH };
    write_pair(host, target, seconds, nanoseconds)?;
    Ok(0)
}

fn clock_getres(host: &mut dyn Host) -> Outcome<u128> {
    let target = host.pointer(1);
    if target != 0 {
        write_pair(host, target, 0, 1)?;
    }
    Ok(0)
}

fn timespec_get(host: &mut dyn Host) -> Outcome<u128> {
    let (target, base) = (host.pointer(0), host.int(1));
    if base != 1 {
        return Ok(0);
    }
    let (seconds, nanoseconds) = now(host);
    write_pair(host, target, seconds, nanoseconds)?;
    Ok(1)
}

fn times(host: &mut dyn Host) -> Outcome<u128> {
    let target = host.pointer(0);
    let ticks = (host.now() / (SECOND / 100)) as i64;
    if target != 0 {
        let width = host.word_bytes() as usize;
        let mut bytes = ticks.to_le_bytes()[..width].to_vec();
        bytes.resize(4 * width, 0);
        host.write(target, &bytes)?;
    }
    Ok(host.word(ticks))
}

/// `struct tm` up to `tm_yday`; `tm_isdst` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Calendar {
    second: i32,
    minute: i32,
    hour: i32,
    day: i32,
    month: i32,
    /// Since 1900.
    year: i32,
    weekday: i32,
    year_day: i32,
}

impl Calendar {
    fn of(seconds: i64) -> Calendar {
        let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Howard Hinnant, "chrono-compatible low-level date algorithms": civil_from_days.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let month = (from_march + 2) % 12;
        let year = year_of_era + era * 400 + i64::from(month < 2);
        Calendar {
            second: (rest % 60) as i32,
            minute: (rest / 60 % 60) as i32,
            hour: (rest / 3600) as i32,
            day: (day_of_year - (153 * from_march + 2) / 5 + 1) as i32,
            month: month as i32,
            year: (year - 1900) as i32,
            weekday: (days + 4).rem_euclid(7) as i32,
            year_day: (days - days_from_civil(year, 0, 1)) as i32,
        }
    }

    fn seconds(&self) -> i64 {
        let months = i64::from(self.month);
        let year = 1900 + i64::from(self.year) + months.div_euclid(12);
        let days = days_from_civil(year, months.rem_euclid(12), 1) + i64::from(self.day) - 1;
        ((days * 24 + i64::from(self.hour)) * 60 + i64::from(self.minute)) * 60 + i64::from(self.second)
    }

    fn read(host: &mut dyn Host, address: u64) -> Outcome<Calendar> {
        let bytes = host.read_bytes(address, 9 * 4)?;
        let field = |index: usize| {
            let bytes = &bytes[4 * index..][..4];
            i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
        };
        Ok(Calendar {
            second: field(0),
            minute: field(1),
            hour: field(2),
            day: field(3),
            month: field(4),
            year: field(5),
            weekday: field(6),
            year_day: field(7),
        })
    }

    fn write(&self, host: &mut dyn Host, address: u64) -> Outcome<()> {
        let mut bytes = vec![0; tm_bytes(host.data_model())];
        let fields = [
            self.second,
            self.minute,
            self.hour,
            self.day,
            self.month,
            self.year,
            self.weekday,
            self.year_day,
        ];
        for (index, field) in fields.iter().enumerate() {
            bytes[4 * index..][..4].copy_from_slice(&field.to_le_bytes());
        }
        host.write(address, &bytes)
    }

    /// `Mon Jan  1 00:00:00 2024\n`
    fn text(&self) -> String {
        format!(
            "{} {}{:3} {:02}:{:02}:{:02} {}\n",
            short(&WEEKDAYS, self.weekday),
            short(&MONTHS, self.month),
            self.day,
            self.hour,
            self.minute,
            self.second,
            1900 + self.year
        )
    }
}

fn tm_bytes(data_model: DataModel) -> usize {
    match data_model {
        DataModel::Lp64 => 56,
        DataModel::Ilp32 => 44,
    }
}

/// Days from 1970-01-01; `month` from 0. Hinnant's days_from_civil.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month < 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let from_march = (month + 10) % 12;
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn full<'n>(names: &[&'n str], index: i32) -> &'n str {
    usize::try_from(index).ok().and_then(|index| names.get(index)).unwrap_or(&"???")
}

fn short<'n>(names: &[&'n str], index: i32) -> &'n str {
    &full(names, index)[..3]
}

fn calendar_of_argument(host: &mut dyn Host) -> Outcome<Calendar> {
    let address = host.pointer(0);
    host.read_long(address).map(Calendar::of)
}

fn gmtime(host: &mut dyn Host) -> Outcome<u128> {
    let calendar = calendar_of_argument(host)?;
    shared_calendar(host, &calendar).map(u128::from)
}

fn shared_calendar(host: &mut dyn Host, calendar: &Calendar) -> Outcome<u64> {
    let bytes = vec![0; tm_bytes(host.data_model())];
    let buffer = host.library_block("struct tm of localtime", &bytes)?;
    calendar.write(host, buffer)?;
    Ok(buffer)
}

fn gmtime_r(host: &mut dyn Host) -> Outcome<u128> {
    let calendar = calendar_of_argument(host)?;
    let target = host.pointer(1);
    calendar.write(host, target)?;
    Ok(u128::from(target))
}

fn mktime(host: &mut dyn Host) -> Outcome<u128> {
    let address = host.pointer(0);
    let seconds = Calendar::read(host, address)?.seconds();
    Calendar::of(seconds).write(host, address)?;
    Ok(host.word(seconds))
}

fn asctime(host: &mut dyn Host) -> Outcome<u128> {
    let address = host.pointer(0);
    let text = Calendar::read(host, address)?.text();
    shared_text(host, &text)
}

fn asctime_r(host: &mut dyn Host) -> Outcome<u128> {
    let (address, target) = (host.pointer(0), host.pointer(1));
    let text = Calendar::read(host, address)?.text();
    host.write_string(target, text.as_bytes())?;
    Ok(u128::from(target))
}

/// `asctime` of `localtime`.
fn ctime(host: &mut dyn Host) -> Outcome<u128> {
    let calendar = calendar_of_argument(host)?;
    shared_calendar(host, &calendar)?;
    shared_text(host, &calendar.text())
}

fn ctime_r(host: &mut dyn Host) -> Outcome<u128> {
    let text = calendar_of_argument(host)?.text();
    let target = host.pointer(1);
    host.write_string(target, text.as_bytes())?;
    Ok(u128::from(target))
}

fn shared_text(host: &mut dyn Host, text: &str) -> Outcome<u128> {
    let buffer = host.library_block("buffer of asctime", &[0; 64])?;
    host.write_string(buffer, text.as_bytes())?;
    Ok(u128::from(buffer))
}

fn strftime(host: &mut dyn Host) -> Outcome<u128> {
    let (target, size, format, address) = (host.pointer(0), host.size(1), host.pointer(2), host.pointer(3));
    let format = host.read_string(format)?;
    let calendar = Calendar::read(host, address)?;
    let text = match expand(&format, &calendar) {
        Ok(text) => text,
        Err(letter) => {
            return Err(host.unsupported(format!("strftime conversion %{}", char::from(letter))));
        }
    };
    if text.len() as u64 >= size {
        host.set_errno(EINVAL);
        return Ok(NULL);
    }
    host.write_string(target, &text)?;
    Ok(text.len() as u128)
}

/// The text, or the letter of a conversion that is not modelled.
fn expand(format: &[u8], calendar: &Calendar) -> Result<Vec<u8>, u8> {
    let mut out = Vec::new();
    let mut bytes = format.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let Some(letter) = bytes.next() else { break };
        let again = |format: &str| expand(format.as_bytes(), calendar);
        let hour12 = (calendar.hour + 11) % 12 + 1;
        let text = match letter {
            b'Y' => (1900 + calendar.year).to_string(),
            b'y' => format!("{:02}", calendar.year.rem_euclid(100)),
            b'C' => format!("{:02}", (1900 + calendar.year) / 100),
            b'm' => format!("{:02}", calendar.month + 1),
            b'd' => format!("{:02}", calendar.day),
            b'e' => format!("{:2}", calendar.day),
            b'H' => format!("{:02}", calendar.hour),
            b'I' => format!("{hour12:02}"),
            b'M' => format!("{:02}", calendar.minute),
            b'S' => format!("{:02}", calendar.second),
            b'j' => format!("{:03}", calendar.year_day + 1),
            b'a' => short(&WEEKDAYS, calendar.weekday).to_owned(),
            b'A' => full(&WEEKDAYS, calendar.weekday).to_owned(),
            b'b' | b'h' => short(&MONTHS, calendar.month).to_owned(),
            b'B' => full(&MONTHS, calendar.month).to_owned(),
            b'p' => if calendar.hour < 12 { "AM" } else { "PM" }.to_owned(),
            b'u' => if calendar.weekday == 0 { 7 } else { calendar.weekday }.to_string(),
            b'w' => calendar.weekday.to_string(),
            b's' => calendar.seconds().to_string(),
            b'Z' => "GMT".to_owned(),
            b'z' => "+0000".to_owned(),
            b'n' => "\n".to_owned(),
            b't' => "\t".to_owned(),
            b'%' => "%".to_owned(),
            b'F' => String::from_utf8_lossy(&again("%Y-%m-%d")?).into_owned(),
            b'T' | b'X' => String::from_utf8_lossy(&again("%H:%M:%S")?).into_owned(),
            b'R' => String::from_utf8_lossy(&again("%H:%M")?).into_owned(),
            b'D' | b'x' => String::from_utf8_lossy(&again("%m/%d/%y")?).into_owned(),
            b'r' => String::from_utf8_lossy(&again("%I:%M:%S %p")?).into_owned(),
            b'c' => String::from_utf8_lossy(&again("%a %b %e %H:%M:%S %Y")?).into_owned(),
            other => return Err(other),
        };
        out.extend_from_slice(text.as_bytes());
    }
    Ok(out)
}
