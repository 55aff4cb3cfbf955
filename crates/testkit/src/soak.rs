//! How many cases a property test tries: a slice, or all of them with `RADDLE_SOAK=1`, until the time of the process is up.
//!
//! `RADDLE_SOAK_SECONDS=n` ends the cases of every property after n seconds of [`used`] time; what was done is printed as
//! `soak: PROPERTY: DONE of ASKED cases, OUTCOME, N too large`, which is what `xtask soak` collects.

use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub fn is_on() -> bool {
    std::env::var_os("RADDLE_SOAK").is_some()
}

/// `slice`, or `all` in a soak.
pub fn count(slice: u64, all: u64) -> u64 {
    if is_on() { all } else { slice }
}

/// Seeds from 0 on; `RADDLE_PROGRAMS=a..b` names others.
pub fn seeds(slice: u64, all: u64) -> Range<u64> {
    named_seeds().unwrap_or(0..count(slice, all))
}

/// `RADDLE_PROGRAMS=a..b`.
pub fn named_seeds() -> Option<Range<u64>> {
    let named = std::env::var("RADDLE_PROGRAMS").ok()?;
    let parsed = named.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    Some(parsed.unwrap_or_else(|| panic!("RADDLE_PROGRAMS={named} is not of the form from..to")))
}

/// These cases of a property, as long as there is time. Prints the count when it is dropped.
pub fn cases<I: ExactSizeIterator>(property: &str, all: I) -> Cases<I> {
    start();
    Cases { property: property.to_owned(), asked: all.len() as u64, done: 0, too_large: 0, all }
}

/// [`cases`] of seeds.
pub fn cases_of_seeds(property: &str, seeds: Range<u64>) -> Cases<std::vec::IntoIter<u64>> {
    cases(property, seeds.collect::<Vec<u64>>().into_iter())
}

/// The time of the process is up: a property that counts by itself stops and calls [`report`].
pub fn is_over() -> bool {
    let seconds = std::env::var("RADDLE_SOAK_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    seconds.is_some_and(|seconds| {
        let elapsed = start().elapsed();
        let limit = Duration::from_secs_f64(seconds);
        elapsed >= limit && used(std::process::id(), elapsed) >= limit
    })
}

/// The time that a process has used on a machine that others use, too: that of its processors, with children that have ended, and
/// at least a quarter of the time that it exists, since who sleeps or waits for a child uses none.
pub fn used(process: u32, exists: Duration) -> Duration {
    let processors =
        std::fs::read_to_string(format!("/proc/{process}/stat")).ok().and_then(|stat| ticks(&stat));
    processors.map_or(exists, |ticks| Duration::from_millis(ticks * 10).max(exists / 4))
}

/// Of a line of `/proc/PROCESS/stat`: `utime`, `stime`, `cutime` and `cstime`, in hundredths of a second.
fn ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let fields = after_name.split_ascii_whitespace().skip(11).take(4);
    fields.map(|field| field.parse::<u64>().ok()).sum()
}

/// `too_large`: of the cases that are done, those that could not be decided.
pub fn report(property: &str, done: u64, asked: u64, too_large: u64) {
    if is_on() {
        let outcome = if std::thread::panicking() { "fails" } else { "holds" };
        println!("soak: {property}: {done} of {asked} cases, {outcome}, {too_large} too large");
    }
}

fn start() -> &'static Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now)
}

pub struct Cases<I> {
    property: String,
    asked: u64,
    /// Given out.
    done: u64,
    too_large: u64,
    all: I,
}

impl<I> Cases<I> {
    pub fn done(&self) -> u64 {
        self.done
    }

    /// So many of them could not be decided.
    pub fn too_large(&mut self, count: u64) {
        self.too_large = count;
    }
}

impl<I: Iterator> Iterator for Cases<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        if is_over() {
            return None;
        }
        let next = self.all.next();
        self.done += u64::from(next.is_some());
        next
    }
}

impl<I> Drop for Cases<I> {
    fn drop(&mut self) {
        report(&self.property, self.done, self.asked, self.too_large);
    }
}

#[cfg(test)]
mod tests {
    use super::{cases, ticks, used};
    use std::time::Duration;

    #[test]
    fn every_case_is_counted() {
        let mut cases = cases("a property", [3, 4].into_iter());
        assert_eq!(cases.by_ref().sum::<i32>(), 7);
        assert_eq!(cases.done(), 2);
    }
    #[test]
    fn sleeping_counts_a_quarter() {
        let stat = "42 (a) b) R 1 42 42 0 -1 4194304 100 200 0 0 15 5 30 10 20 0 1 0 100 0 0";
        assert_eq!(ticks(stat), Some(60));
        let hour = Duration::from_secs(3600);
        assert_eq!(used(std::process::id(), hour), hour / 4);
        assert_eq!(used(u32::MAX, hour), hour);
    }
}
