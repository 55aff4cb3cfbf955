//! What the static analysis says of a program, as plain data, with its proof if the checker accepts it.

use super::{Line, findings};
use crate::load::Loaded;
use crate::outcome::place;
use raddle_facts::StaticProof;
use raddle_finding::{CertificateFile, Explanation, Finding, Proved, StaticCounts, UnknownReason};
use raddle_ir::{FunctionId, Program, SiteId, program_hash};
use raddle_libmodel::Models;
use raddle_lockset::{Analysis, Listing, Options, Warning};
use std::collections::BTreeSet;

/// What the analysis is asked.
pub(crate) struct Question {
    pub(crate) entries: Vec<FunctionId>,
    pub(crate) explain: Option<Line>,
    pub(crate) open: OpenPairs,
}

/// Whether the checker is to say which pairs are left when there is no proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenPairs {
    Wanted,
    NotWanted,
}

/// The engine's answer about a program.
pub(crate) struct Statically {
    /// Warnings, the most telling first.
    pub(crate) findings: Vec<Finding>,
    /// Cycles of locks; the answer about races does not depend on them.
    pub(crate) deadlocks: Vec<Finding>,
    /// There and accepted by `certify`: the program is free of races under the assumptions.
    pub(crate) proof: Option<StaticProof>,
    /// A proof that the checker does not accept: a bug of ours.
    pub(crate) refused: Option<UnknownReason>,
    /// Reachable things that are not understood.
    pub(crate) gaps: Vec<UnknownReason>,
    pub(crate) assumptions: BTreeSet<&'static str>,
    pub(crate) counts: StaticCounts,
    pub(crate) explanation: Option<Explanation>,
    /// Variables of several threads of which every pair is ruled out.
    free_variables: Vec<String>,
    /// Pairs of source places that are left.
    places: u64,
    listing: Listing,
    /// Per warning, those of `findings` first: the pairs of accesses that it is about. Not all where `listing` says so.
    pub(crate) pairs: Vec<BTreeSet<(SiteId, SiteId)>>,
    /// The pairs of source places that are warned of; `None`: not all are listed.
    warned: Option<BTreeSet<(Place, Place)>>,
    /// The pairs of sites that may be the first race of a run of `main`, as the checker sees it; `None`: any may be.
    pub(crate) open: Option<BTreeSet<(SiteId, SiteId)>>,
}

/// File, line and column; no line: the site itself.
type Place = (u32, u32, u32);

/// Analyses, has the proof checked, and names what was found. The error is a bug of ours.
pub(crate) fn analyse(
    program: &Program,
    models: &Models,
    question: Question,
    mut assumptions: BTreeSet<&'static str>,
) -> Result<Statically, UnknownReason> {
    let Question { entries, explain, open } = question;
    let options = Options { entries: entries.clone(), ..Options::default() };
    let analysis = raddle_lockset::analyse(program, models, &options)
        .map_err(|error| crate::bug(&format!("the program could not be expanded ({error})")))?;
    assumptions.extend(&analysis.assumptions);
    if !entries.is_empty() {
        assumptions.insert("A-ENTRY");
    }
    let gaps = analysis
        .gaps
        .iter()
        .map(|gap| UnknownReason { place: place(program, gap.site), text: gap.text.clone() })
        .collect();
    let explanation = explain.map(|line| analysis.explain(program, &line.file, line.line));
    let counters = analysis.counters;
    let findings = findings::findings(program, &analysis);
    let mut result = Statically {
        deadlocks: findings::deadlocks(program, &analysis, findings.len()),
        findings,
        proof: None,
        refused: None,
        gaps,
        counts: StaticCounts {
            shared_variables: counters.shared_variables,
            pairs: counters.pairs,
            warnings: counters.warnings,
            after_reduction: counters.after_reduction,
            after_contexts: counters.after_contexts,
            single_threaded: analysis.is_single_threaded(),
        },
        explanation,
        free_variables: analysis.free_variables(),
        places: counters.places,
        listing: analysis.listing,
        pairs: analysis.warnings.iter().map(|warning| pairs(&analysis, warning)).collect(),
        warned: warned(program, &analysis),
        open: None,
        assumptions,
    };
    if analysis.is_safe() {
        let proof = proof(program, entries, &result.assumptions, analysis);
        match accept(program, models, &proof) {
            Ok(()) => {
                result.open = Some(BTreeSet::new());
                result.proof = Some(proof);
            }
            Err(refusal) => result.refused = Some(refusal),
        }
    } else if open == OpenPairs::Wanted && result.gaps.is_empty() {
        let proof = proof(program, entries, &result.assumptions, analysis);
        result.open = raddle_certify::statics::open_pairs(program, models, &proof).ok();
    }
    Ok(result)
}

/// The facts, what they rest on, and what is not understood, whether or not they prove anything.
#[allow(clippy::type_complexity)]
pub(crate) fn facts(
    loaded: &Loaded,
) -> Result<(StaticProof, BTreeSet<&'static str>, Vec<UnknownReason>), UnknownReason> {
    let program = &loaded.program;
    let analysis = raddle_lockset::analyse(program, &loaded.models, &Options::default())
        .map_err(|error| crate::bug(&format!("the program could not be expanded ({error})")))?;
    let mut assumptions: BTreeSet<&'static str> =
        loaded.assumptions.iter().copied().filter(|id| *id != "A-INPUT").collect();
    assumptions.extend(&analysis.assumptions);
    let gap =
        |gap: &raddle_lockset::Gap| UnknownReason { place: place(program, gap.site), text: gap.text.clone() };
    let gaps = analysis.gaps.iter().map(gap).collect();
    Ok((proof(program, Vec::new(), &assumptions, analysis), assumptions, gaps))
}

impl Statically {
    /// Why the program is not proved; empty if it is.
    pub(crate) fn reasons(&self) -> Vec<UnknownReason> {
        let mut reasons = self.gaps.clone();
        reasons.extend(self.refused.clone());
        if !self.findings.is_empty() || self.counts.warnings > 0 || self.listing != Listing::Complete {
            let (all, listed) = (self.places, self.findings.len() as u64);
            let least = if self.listing == Listing::Uncounted { "at least " } else { "" };
            let mut text = match all {
                1 if least.is_empty() => "one pair of accesses could not be ruled out statically".to_owned(),
                _ => format!("{least}{all} pairs of accesses could not be ruled out statically"),
            };
            if all > listed || !least.is_empty() {
                text.push_str(&format!("; {listed} are listed"));
            }
            reasons.push(UnknownReason { place: String::new(), text });
        }
        reasons
    }

    /// Nothing is proved of any variable while something reachable is not understood.
    pub(crate) fn proved(&self) -> Vec<Proved> {
        if !self.gaps.is_empty() || self.refused.is_some() {
            return Vec::new();
        }
        let proved = |name: &String| Proved {
            variable: name.clone(),
            by: "static",
            certificate: CertificateFile::Unwritten,
        };
        self.free_variables.iter().map(proved).collect()
    }

    /// Every site at a place that is warned of, gaps left aside; `None`: not all are listed.
    pub(crate) fn warned_sites(&self, program: &Program) -> Option<BTreeSet<SiteId>> {
        let warned = self.warned.as_ref()?;
        let places: BTreeSet<Place> = warned.iter().flat_map(|(a, b)| [*a, *b]).collect();
        Some(program.sites.ids().filter(|site| places.contains(&place_of(program, *site))).collect())
    }

    /// Why not all pairs that may race are warned of; `None`: all are.
    pub(crate) fn incomplete(&self) -> Option<String> {
        match self.gaps.first() {
            Some(gap) => {
                let at = if gap.place.is_empty() { String::new() } else { format!("{}: ", gap.place) };
                Some(format!("the static analysis does not understand all of the program ({at}{})", gap.text))
            }
            None if self.listing != Listing::Complete => {
                Some("the static analysis warns of more pairs than are listed".to_owned())
            }
            None => None,
        }
    }

    /// Whether the analysis says that accesses of these sites never race.
    pub(crate) fn rules_out(&self, program: &Program, a: SiteId, b: SiteId) -> bool {
        let Some(warned) = self.warned.as_ref().filter(|_| self.gaps.is_empty()) else { return false };
        !warned.contains(&pair(program, a, b))
    }
}

fn pairs(analysis: &Analysis, warning: &Warning) -> BTreeSet<(SiteId, SiteId)> {
    let origin = |access: usize| analysis.expanded.site_origin[analysis.accesses[access].site];
    let contexts = warning.contexts.iter().map(|(a, b)| (origin(*a), origin(*b)));
    contexts.chain([(warning.first, warning.second)]).collect()
}

fn warned(program: &Program, analysis: &Analysis) -> Option<BTreeSet<(Place, Place)>> {
    let pairs = analysis.warnings.iter().map(|warning| pair(program, warning.first, warning.second));
    (analysis.listing == Listing::Complete).then(|| pairs.collect())
}

fn pair(program: &Program, a: SiteId, b: SiteId) -> (Place, Place) {
    let (a, b) = (place_of(program, a), place_of(program, b));
    (a.min(b), a.max(b))
}

fn place_of(program: &Program, site: SiteId) -> Place {
    match program.sites[site].span.filter(|span| span.line > 0) {
        Some(span) => (span.file.0, span.line, span.column),
        None => (u32::MAX, 0, site.0),
    }
}

fn proof(
    program: &Program,
    entries: Vec<FunctionId>,
    assumptions: &BTreeSet<&'static str>,
    analysis: Analysis,
) -> StaticProof {
    StaticProof {
        program: format!("{:032x}", program_hash(program)),
        data_model: program.data_model.name().to_owned(),
        entries,
        assumptions: assumptions.iter().map(|id| (*id).to_owned()).collect(),
        recipe: analysis.recipe,
        facts: analysis.facts,
    }
}

/// The engine's word is not enough: the checker must accept its proof.
fn accept(program: &Program, models: &Models, proof: &StaticProof) -> Result<(), UnknownReason> {
    raddle_certify::statics::check(program, models, proof).map(|_| ()).map_err(|refusal| UnknownReason {
        place: refusal.place.map(|site| place(program, site)).unwrap_or_default(),
        text: if proof.entries.is_empty() {
            crate::bug(&format!("the proof was refused ({refusal})")).text
        } else {
            format!("no pair is left, but proofs about clients are not accepted yet ({refusal})")
        },
    })
}

#[cfg(test)]
impl Statically {
    /// Nothing was found, and nothing is proved.
    pub(crate) fn nothing() -> Statically {
        Statically {
            findings: Vec::new(),
            deadlocks: Vec::new(),
            proof: None,
            refused: None,
            gaps: Vec::new(),
            assumptions: BTreeSet::new(),
            counts: StaticCounts::default(),
            explanation: None,
            free_variables: Vec::new(),
            places: 0,
            listing: Listing::Complete,
            pairs: Vec::new(),
            warned: Some(BTreeSet::new()),
            open: None,
        }
    }

    pub(crate) fn warning(mut self, program: &Program, a: SiteId, b: SiteId) -> Statically {
        self.pairs.push([(a, b)].into());
        self.warned.get_or_insert_default().insert(pair(program, a, b));
        self
    }
}
