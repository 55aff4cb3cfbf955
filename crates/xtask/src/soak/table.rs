//! The outcomes as one Markdown table: a row for each property, its parts together, and for whatever did not pass.

use super::outcome::{End, Outcome};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// One property of one test.
#[derive(Default)]
struct Row {
    done: u64,
    asked: u64,
    too_large: u64,
    seconds: f64,
    outcomes: Vec<String>,
}

/// `parts`: how many there are in all.
pub(super) fn page(outcomes: &[&Outcome], parts: usize) -> String {
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    let mut without_counts = 0;
    let mut trouble = Vec::new();
    for outcome in outcomes {
        let name = test_name(&outcome.part);
        let counts: Vec<_> = outcome.counts.iter().filter_map(|count| parse(count)).collect();
        if outcome.end != End::Passed {
            trouble.push(format!("`{}` {} after {:.0} s", outcome.part, outcome.end.name(), outcome.seconds));
        } else if counts.is_empty() {
            without_counts += 1;
        }
        for Count { property, done, asked, outcome: said, too_large } in &counts {
            let row = rows.entry((name.clone(), (*property).to_owned())).or_default();
            row.done += done;
            row.asked += asked;
            row.too_large += too_large;
            row.seconds += outcome.seconds / counts.len() as f64;
            if !row.outcomes.iter().any(|known| known == said) {
                row.outcomes.push((*said).to_owned());
            }
        }
    }
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
    let mut commits: BTreeMap<&str, usize> = BTreeMap::new();
    outcomes.iter().for_each(|outcome| *commits.entry(&outcome.commit).or_default() += 1);
    let commits: Vec<String> =
        commits.into_iter().map(|(commit, parts)| format!("{commit} ({parts} parts)")).collect();
    let mut text = format!(
        "Commits {}: {} of {parts} parts run, {:.1} hours of one core; {without_counts} tests without a count passed.\n\n",
        commits.join(", "),
        outcomes.len(),
        seconds / 3600.0
    );
    text.push_str("| property | test | cases | seconds | outcome |\n|---|---|---|---|---|\n");
    for ((test, property), row) in &rows {
        let cut = if row.done < row.asked { ", cut by time" } else { "" };
        let large =
            if row.too_large > 0 { format!(", {} too large", grouped(row.too_large)) } else { String::new() };
        let _ = writeln!(
            text,
            "| {property} | `{test}` | {} of {}{cut}{large} | {:.0} | {} |",
            grouped(row.done),
            grouped(row.asked),
            row.seconds,
            row.outcomes.join("; ")
        );
    }
    for line in &trouble {
        let _ = writeln!(text, "\n* {line}");
    }
    text
}

/// It did not come to its full count.
pub(super) fn is_cut(outcome: &Outcome) -> bool {
    let counts = outcome.counts.iter().filter_map(|count| parse(count));
    outcome.end == End::Killed || counts.into_iter().any(|count| count.done < count.asked)
}

/// Without the seeds of a part.
fn test_name(part: &str) -> String {
    let words: Vec<&str> = part.split(' ').filter(|word| !word.contains("..")).collect();
    words.join(" ")
}

struct Count<'a> {
    property: &'a str,
    done: u64,
    asked: u64,
    outcome: &'a str,
    too_large: u64,
}

/// `PROPERTY: DONE of ASKED cases, OUTCOME, N too large`.
fn parse(line: &str) -> Option<Count<'_>> {
    let (head, outcome) = line.rsplit_once(" cases, ")?;
    let (outcome, too_large) = outcome.strip_suffix(" too large")?.rsplit_once(", ")?;
    let (property, counts) = head.rsplit_once(": ")?;
    let (done, asked) = counts.split_once(" of ")?;
    Some(Count {
        property,
        done: done.parse().ok()?,
        asked: asked.parse().ok()?,
        outcome,
        too_large: too_large.parse().ok()?,
    })
}

/// `100,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

const START: &str = "<!-- soak: written by `make soak` -->\n";
const END: &str = "<!-- soak: end -->\n";

/// Replaces what stands between the marks of the page.
pub(super) fn write(root: &Path, table: &str) -> Result<(), String> {
    let file = root.join("docs/benchmarks/soak.md");
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let page = std::fs::read_to_string(&file).map_err(failed)?;
    let (Some(start), Some(end)) = (page.find(START), page.find(END)) else {
        return Err(format!("{} has no place for the table", file.display()));
    };
    let page = format!("{}{table}{}", &page[..start + START.len()], &page[end..]);
    std::fs::write(&file, page).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::super::outcome::Ran;
    use super::{End, Outcome, is_cut, page};

    #[test]
    fn parts_of_a_property_are_one_row_and_what_is_cut_is_said() {
        let part = |name: &str, said: &str, end| {
            let ran = Ran { end, seconds: 30.0, share: 240.0 };
            Outcome::new(name.to_owned(), "abc".to_owned(), ran, &format!("soak: {said}\n"))
        };
        let outcomes = [
            part("driver/s t 0..1000", "no race missed: 1000 of 1000 cases, holds, 7 too large", End::Passed),
            part(
                "driver/s t 1000..2000",
                "no race missed: 600 of 1000 cases, holds, 3 too large",
                End::Passed,
            ),
            part("order/a b", "nothing to count", End::Passed),
            part("order/a c", "", End::Killed),
        ];
        assert_eq!(outcomes.each_ref().map(is_cut), [false, true, false, true]);
        let text = page(&outcomes.iter().collect::<Vec<_>>(), 5);
        assert!(text.starts_with("Commits abc (4 parts): 4 of 5 parts run"), "{text}");
        assert!(
            text.contains(
                "| no race missed | `driver/s t` | 1,600 of 2,000, cut by time, 10 too large | 60 | holds |"
            ),
            "{text}"
        );
        assert!(text.contains("1 tests without a count"), "{text}");
        assert!(text.contains("* `order/a c` killed after 30 s"), "{text}");
    }
}
