//! How long each part may take, so that two cores are done within six hours, and which tests are cut into parts by seeds.
//!
//! Nearly every test ends within seconds; these are the property tests that do not. A share is no estimate but a limit: what does not
//! reach its count within it stops there, and the table says so.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) time: Duration,
    /// Seeds in all and in a part.
    seeds: Option<(u64, u64)>,
}

impl Share {
    /// One for each part: the seeds, where the test is cut.
    pub(super) fn ranges(&self) -> Vec<Option<String>> {
        let Some((all, part)) = self.seeds else { return vec![None] };
        (0..all)
            .step_by(part as usize)
            .map(|from| Some(format!("{from}..{}", all.min(from + part))))
            .collect()
    }
}

/// Of a part that is not listed.
pub(super) const USUAL: Duration = Duration::from_secs(240);

/// The beginning of the name, seconds, and seeds in all and in a part. The first that fits counts.
type Row = (&'static str, u64, Option<(u64, u64)>);

const ROWS: [Row; 23] = [
    ("driver/static_is_sound no_race_is_missed", 400, Some((100_000, 10_000))),
    ("mutants", 450, Some((5_000, 250))),
    ("driver/pruning_is_complete", 600, None),
    ("driver/fixtures", 900, None),
    ("runtime/exactness", 900, None),
    ("cli/native fixtures", 1_800, None),
    ("cli/native replays::fixtures", 2_400, None),
    ("cli/native replays::random", 900, None),
    ("cli/native explored", 900, None),
    ("cli/native random", 1_200, None),
    ("cli/native recorded", 900, None),
    ("driver/driver replay", 600, None),
    ("interp/native_agrees", 1_200, None),
    ("interp/libc_memory", 600, None),
    ("explore/dpor ", 600, None),
    ("explore/agreement", 500, None),
    ("explore/pruning", 500, None),
    ("explore/stateful", 500, None),
    ("explore/twins", 500, None),
    ("explore/", 300, None),
    ("lockset/locks", 600, None),
    ("predict/enumerator", 500, None),
    ("libmodel/", 900, None),
];

pub(super) fn of(name: &str) -> Share {
    let row = ROWS.iter().find(|(start, _, _)| name.starts_with(start));
    match row {
        Some((_, seconds, seeds)) => Share { time: Duration::from_secs(*seconds), seeds: *seeds },
        None => Share { time: USUAL, seeds: None },
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn the_longest_is_cut_by_seeds() {
        let share = of("driver/static_is_sound no_race_is_missed");
        assert_eq!(share.ranges().len(), 10);
        assert_eq!(share.ranges()[9].as_deref(), Some("90000..100000"));
        assert_eq!(of("base/base anything").time, super::USUAL);
        assert_eq!(of("base/base anything").ranges(), [None]);
    }
}
