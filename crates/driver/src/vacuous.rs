//! Whether a search that found no race may call the program `safe` although no execution came to accesses that the static analysis
//! warns of.
//!
//! A complete search that rests on none of [`OPEN`] has seen everything that the program can do, so what it did not reach cannot be
//! reached. With one of them, other values than those tried may lead there: the answer is `unknown`, or, where A-INPUT alone is
//! left open, `safe` for this input. A pair counts as reached when two threads came to its accesses, in whichever executions. What lies
//! behind a failed allocation or creation only is what A-MALLOC and A-THREAD exclude, and not missed. Without an answer of the
//! static analysis, all code that was not reached counts as warned of. Errs towards `unknown`.

mod barriers;

use crate::load::Loaded;
use crate::outcome::{Draft, numbered_after, place};
use crate::plain;
use crate::reached::Reached;
use crate::statics::Statically;
use barriers::Barriers;
use raddle_base::SiteId;
use raddle_finding::{Deadlocks, Finding, Outcome, UnknownReason, Verdict};
use raddle_ir::{Code, Inst, Program};
use std::collections::BTreeSet;

/// Assumptions that leave open what an execution does next.
const OPEN: [&str; 8] =
    ["A-ADDRESS", "A-ASM", "A-EXTERN", "A-INPUT", "A-IO", "A-RESULT", "A-TIME", "A-UNINIT"];

/// Reasons that are listed; the others are counted.
const LISTED: usize = 12;

/// What the static analysis says.
pub(crate) enum Warned<'a> {
    Pairs(&'a Statically),
    /// It has no answer, for this reason.
    Unknown(String),
}

/// Whether the answer of the search has to be looked at: it says `safe`, and rests on something that leaves executions open.
pub(crate) fn is_in_question(outcome: &Outcome) -> bool {
    outcome.verdict == Verdict::Safe && !open(outcome).is_empty()
}

/// Withdraws the `safe` of a search that did not come to what is warned of, says why not, and lists the warnings that are left.
pub(crate) fn judge(loaded: &Loaded, reached: &Reached, warned: &Warned<'_>, draft: &mut Draft) {
    let confirmed = draft.shown.len();
    let outcome = &mut draft.rest;
    if !is_in_question(outcome) {
        return;
    }
    let missed = Missed::new(loaded, reached, warned, &open(outcome));
    if missed.is_empty() {
        return;
    }
    let open = open(outcome);
    let mut reasons = vec![plain(&missed.summary(&open))];
    reasons.extend(missed.reasons);
    outcome.findings = numbered_after(confirmed, missed.findings);
    outcome.unknown_reasons.extend(reasons);
    outcome.unknown_reasons.sort();
    outcome.unknown_reasons.dedup();
    if open != ["A-INPUT"] {
        outcome.verdict = Verdict::Unknown;
        outcome.proved.retain(|proved| !proved.variable.is_empty());
        if outcome.deadlocks == Deadlocks::None {
            outcome.deadlocks = Deadlocks::Unknown;
        }
    }
}

fn open(outcome: &Outcome) -> Vec<&'static str> {
    outcome.assumptions.iter().map(|assumption| assumption.id).filter(|id| OPEN.contains(id)).collect()
}

/// What no execution came to.
struct Missed {
    /// Pairs of accesses, or places in the code.
    count: usize,
    /// One of them, and several.
    what: [&'static str; 2],
    /// Why the warnings are not known.
    unknown: Option<String>,
    findings: Vec<Finding>,
    reasons: Vec<UnknownReason>,
}

impl Missed {
    fn new(loaded: &Loaded, reached: &Reached, warned: &Warned<'_>, open: &[&str]) -> Missed {
        let program = &loaded.program;
        let barriers = Barriers::new(program, &loaded.models, reached, open.contains(&"A-RESULT"));
        match warned {
            Warned::Pairs(statically) => match statically.incomplete() {
                None => of_pairs(program, &barriers, reached, statically),
                Some(why) => of_code(program, &barriers, why),
            },
            Warned::Unknown(why) => of_code(program, &barriers, why.clone()),
        }
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn summary(&self, open: &[&str]) -> String {
        let unknown = self.unknown.as_ref().map_or_else(String::new, |why| format!("; {why}"));
        let leave = if open.len() == 1 { "leaves" } else { "leave" };
        let open = open.join(", ");
        match self.count {
            1 => format!("one {}; {open} {leave} open whether it can be{unknown}", self.what[0]),
            count => format!("{count} {}; {open} {leave} open whether they can be{unknown}", self.what[1]),
        }
    }
}

fn of_pairs(
    program: &Program,
    barriers: &Barriers<'_>,
    reached: &Reached,
    statically: &Statically,
) -> Missed {
    let mut missed = Missed {
        count: 0,
        what: [
            "pair of accesses that the static analysis warns of was not reached by two threads in any execution",
            "pairs of accesses that the static analysis warns of were not reached by two threads in any execution",
        ],
        unknown: None,
        findings: Vec::new(),
        reasons: Vec::new(),
    };
    let mut sites = BTreeSet::new();
    for (index, pairs) in statically.pairs.iter().enumerate() {
        let open: Vec<&(SiteId, SiteId)> = pairs
            .iter()
            .filter(|(a, b)| {
                !reached.is_shared(*a, *b) && ![*a, *b].iter().any(|site| excluded(barriers, reached, *site))
            })
            .collect();
        if open.is_empty() {
            continue;
        }
        missed.count += 1;
        missed.findings.extend(statically.findings.get(index).cloned());
        for (a, b) in open {
            sites.extend([*a, *b]);
        }
    }
    let mut reasons = BTreeSet::new();
    for site in sites {
        let why = why_not(barriers, reached, site);
        reasons.insert(UnknownReason {
            place: place(program, site),
            text: format!("{} {why}", access(program, site)),
        });
    }
    missed.reasons = listed(reasons);
    missed
}

/// Without warnings: code with accesses or calls that was not reached.
fn of_code(program: &Program, barriers: &Barriers<'_>, why: String) -> Missed {
    let (mut count, mut reasons) = (0, BTreeSet::new());
    for (id, function) in program.functions.iter() {
        for (block_id, block) in function.blocks.iter() {
            let node = (id, block_id);
            let Some(at) = block.insts.iter().position(touches_memory) else { continue };
            let Some(barrier) = barriers.before(node) else { continue };
            count += 1;
            let text = format!("the code was not reached: {}", barriers.words(barrier));
            reasons.insert(UnknownReason { place: place(program, block.site_of(at)), text });
        }
    }
    let what = [
        "piece of code with accesses or calls was not reached in any execution",
        "pieces of code with accesses or calls were not reached in any execution",
    ];
    Missed { count, what, unknown: Some(why), findings: Vec::new(), reasons: listed(reasons) }
}

fn touches_memory(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::Load { .. }
            | Inst::Store { .. }
            | Inst::Rmw { .. }
            | Inst::CmpXchg(_)
            | Inst::MemCopy { .. }
            | Inst::MemSet { .. }
            | Inst::Call { .. }
            | Inst::Asm { .. }
            | Inst::Unsupported { .. }
    )
}

/// Whether nothing leads to an access but a failed allocation or creation.
fn excluded(barriers: &Barriers<'_>, reached: &Reached, site: SiteId) -> bool {
    let node = barriers.node_of(site);
    node.is_some_and(|node| !reached.blocks.contains(&node) && barriers.before(node).is_none())
}

fn why_not(barriers: &Barriers<'_>, reached: &Reached, site: SiteId) -> String {
    let node = barriers.node_of(site);
    if reached.sites.contains_key(&site) {
        return match reached.has_threads() {
            false => "was made by the main thread alone: no thread was started".to_owned(),
            true => "was not made by two threads, or its counterpart was not reached".to_owned(),
        };
    }
    let why = match node {
        Some(node) => match barriers.before(node) {
            Some(barrier) => barriers.words(barrier),
            None => "every execution ended before it, or touched no memory there".to_owned(),
        },
        None => "its place is not known".to_owned(),
    };
    let threads = if reached.has_threads() { "" } else { "no thread was started; " };
    format!("was not reached: {threads}{why}")
}

/// `the access to q->count`
fn access(program: &Program, site: SiteId) -> String {
    match program.code_at(site) {
        Some(Code::Inst(
            Inst::Load { place, .. }
            | Inst::Store { place, .. }
            | Inst::Rmw { place, .. }
            | Inst::MemSet { place, .. },
        )) => match program.place_text(*place) {
            text if text.is_empty() => "the access".to_owned(),
            text => format!("the access to {text}"),
        },
        Some(Code::Inst(Inst::Call { .. })) => "the access by the call".to_owned(),
        _ => "the access".to_owned(),
    }
}

fn listed(reasons: BTreeSet<UnknownReason>) -> Vec<UnknownReason> {
    let more = reasons.len().saturating_sub(LISTED);
    let mut list: Vec<UnknownReason> = reasons.into_iter().take(LISTED).collect();
    if more > 0 {
        list.push(plain(&format!("{more} more were not reached either")));
    }
    list
}
