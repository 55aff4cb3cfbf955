//! What is left behind for others to check when the answer is `safe`: a static proof, or the tree of the search.

use crate::bug;
use crate::certificate::{self, Content};
use crate::guard::guarded;
use crate::load::Loaded;
use crate::outcome::Draft;
use crate::watchdog::{Bounds, watched};
use crate::{DriverError, Search, Subject};
use raddle_certify::explored::{self, Rule};
use raddle_event::SearchTree;
use raddle_facts::StaticProof;
use raddle_finding::{CertificateFile, Deadlocks, Verdict};
use std::sync::atomic::AtomicBool;

/// What the checker has accepted.
pub(crate) enum Evident<'a> {
    Proof(&'a StaticProof),
    Tree(SearchTree),
}

/// Has the tree of a search that found no race checked. What the checker refuses is a bug of ours, and the answer `unknown`; what it is
/// too slow or too small for only goes without a certificate.
pub(crate) fn checked<'a>(
    loaded: &Loaded,
    tree: Result<SearchTree, String>,
    interrupt: &AtomicBool,
    bounds: Bounds,
    draft: &mut Draft,
) -> Option<Evident<'a>> {
    let tree = match tree {
        Ok(tree) => tree,
        Err(reason) => {
            missing(draft, reason);
            return None;
        }
    };
    let answer = watched(interrupt, bounds, |watch| {
        guarded("certify", || explored::check(&loaded.certify_subject(), &tree, watch.flag()))
            .map(|result| result.map_err(|refusal| (refusal, watch.reason())))
    });
    match answer {
        Ok(Ok(_)) => return Some(Evident::Tree(tree)),
        Ok(Err((refusal, why))) if refusal.rule == Rule::Time => {
            missing(draft, format!("{why} while the tree of the search was checked"));
        }
        Ok(Err((refusal, _))) if refusal.rule == Rule::Size => missing(draft, refusal.text),
        Ok(Err((refusal, _))) if refusal.rule == Rule::Loops => {
            missing(
                draft,
                format!(
                    "threads wait in loops, and what stands for what there cannot be checked ({})",
                    refusal.text
                ),
            );
        }
        Ok(Err((refusal, _))) => {
            doubt(draft, bug(&format!("the tree of the search is not accepted ({refusal})")));
        }
        Err(reason) => doubt(draft, reason),
    }
    None
}

/// Writes the evidence to the file asked for, or beside the witnesses, and notes in the outcome where.
pub(crate) fn write(
    loaded: &Loaded,
    subject: &Subject,
    search: &Search,
    evidence: Option<Evident<'_>>,
    draft: &mut Draft,
    warnings: &mut Vec<String>,
) -> Result<(), DriverError> {
    let (content, by) = match &evidence {
        Some(Evident::Proof(proof)) => (Content::Proof(proof), "static"),
        Some(Evident::Tree(tree)) => (Content::Tree(tree), "explore"),
        None => {
            if let Some(path) = &search.certificate {
                warnings.push(format!("there is no proof that could be written to {}", path.display()));
            }
            return Ok(());
        }
    };
    let written = match (&search.certificate, &search.witness_dir) {
        (Some(path), _) => {
            certificate::write(path, loaded, subject, content)?;
            Ok(path.to_string_lossy().into_owned())
        }
        (None, Some(folder)) => certificate::write_beside(loaded, subject, folder, content),
        (None, None) => return Ok(()),
    };
    match written {
        Ok(file) => {
            let whole = draft.rest.proved.iter_mut().find(|p| p.variable.is_empty() && p.by == by);
            whole.into_iter().for_each(|p| p.certificate = CertificateFile::Written(file.clone()));
        }
        Err(warning) => warnings.push(warning),
    }
    Ok(())
}

fn missing(draft: &mut Draft, reason: String) {
    for proved in &mut draft.rest.proved {
        proved.certificate = CertificateFile::Missing(reason.clone());
    }
}

fn doubt(draft: &mut Draft, reason: raddle_finding::UnknownReason) {
    let rest = &mut draft.rest;
    rest.verdict = Verdict::Unknown;
    rest.deadlocks = match rest.deadlocks {
        Deadlocks::Found => Deadlocks::Found,
        Deadlocks::None | Deadlocks::Unknown => Deadlocks::Unknown,
    };
    rest.proved.clear();
    rest.unknown_reasons.push(reason);
}
