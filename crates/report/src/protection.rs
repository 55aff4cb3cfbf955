//! The story of what protected a variable until a race: for people as lines, for programs as lists.

use crate::race::place;
use raddle_finding::{OrderedAfter, Passage, ProtectedAccess, Protection};
use serde::Serialize;

/// Lines of the full report, without indentation but for what belongs to a line above.
pub(crate) fn lines(protection: &Protection) -> Vec<String> {
    let mut lines = vec!["what protected it:".to_owned()];
    lines.extend(protection.accesses.iter().map(|access| format!("  {}", one(access))));
    let reached = set(&protection.reached);
    lines.push(format!("  the earlier one comes before what follows {reached}, and before nothing else"));
    for passage in &protection.passages {
        let Passage { at, thread, action, reaches } = passage;
        lines.push(format!("    {} since {action} in {thread} at {}", set(reaches), place(at)));
    }
    lines
}

/// `write in T2 (worker) at q.c:10:5, holding {m}, twice: after the write in T1 (worker) at q.c:10:5, by {m}`
fn one(access: &ProtectedAccess) -> String {
    let ProtectedAccess { at, action, thread, holding, ordered_by, after, times } = access;
    let locks =
        if holding.is_empty() { "no lock held".to_owned() } else { format!("holding {}", set(holding)) };
    let times = if *times > 1 { format!(", {times} times") } else { String::new() };
    let order = match after {
        None => String::new(),
        Some(OrderedAfter { at, action, thread }) => {
            let earlier = format!("the {action} in {thread} at {}", place(at));
            match ordered_by.is_empty() {
                true => format!(": nothing orders {earlier} before it"),
                false => format!(": after {earlier}, by {}", set(ordered_by)),
            }
        }
    };
    format!("{action} in {thread} at {}, {locks}{times}{order}", place(at))
}

fn set(names: &[String]) -> String {
    format!("{{{}}}", names.join(", "))
}

#[derive(Serialize)]
pub(crate) struct ProtectionJson<'a> {
    accesses: Vec<AccessJson<'a>>,
    reached: &'a [String],
    passages: Vec<PassageJson<'a>>,
}

#[derive(Serialize)]
struct AccessJson<'a> {
    place: String,
    kind: &'a str,
    thread: &'a str,
    holding: &'a [String],
    times: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<AfterJson<'a>>,
}

#[derive(Serialize)]
struct AfterJson<'a> {
    place: String,
    kind: &'a str,
    thread: &'a str,
    ordered_by: &'a [String],
}

#[derive(Serialize)]
struct PassageJson<'a> {
    place: String,
    thread: &'a str,
    kind: &'a str,
    reaches: &'a [String],
}

pub(crate) fn json(protection: &Protection) -> ProtectionJson<'_> {
    ProtectionJson {
        accesses: protection
            .accesses
            .iter()
            .map(|access| AccessJson {
                place: place(&access.at),
                kind: &access.action,
                thread: &access.thread,
                holding: &access.holding,
                times: access.times,
                after: access.after.as_ref().map(|after| AfterJson {
                    place: place(&after.at),
                    kind: &after.action,
                    thread: &after.thread,
                    ordered_by: &access.ordered_by,
                }),
            })
            .collect(),
        reached: &protection.reached,
        passages: protection
            .passages
            .iter()
            .map(|passage| PassageJson {
                place: place(&passage.at),
                thread: &passage.thread,
                kind: &passage.action,
                reaches: &passage.reaches,
            })
            .collect(),
    }
}
