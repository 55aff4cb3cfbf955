//! Static proofs of the fixtures: those that the engine calls safe are accepted. `RADDLE_FIXTURE=part-of-a-path` runs some.

mod garbage;
mod mutations;
mod programs;

use programs::{each, proof};
use raddle_certify::statics::{check, is_closed};

#[test]
fn proofs_of_the_engine_are_accepted() {
    let results = each(|program, models, analysis| {
        let proof = proof(program, analysis);
        check(program, models, &proof).err().map(|refusal| {
            let line = refusal.place.and_then(|site| program.sites[site].span).map_or(0, |span| span.line);
            format!("line {line}: {refusal}")
        })
    });
    let refused: Vec<String> =
        results.iter().filter_map(|(name, refusal)| Some(format!("{name}: {}", refusal.as_ref()?))).collect();
    println!("{} proofs, {} refused", results.len(), refused.len());
    assert!(refused.is_empty(), "{} of {} refused:\n{}", refused.len(), results.len(), refused.join("\n"));
}

/// Programs with a race that an engine may overlook: no proof of them is accepted.
#[test]
fn proofs_of_racy_programs_are_refused() {
    for (name, program, models, analysis) in programs::refused() {
        let proof = proof(&program, &analysis);
        let answer = is_closed(&program, &models, &proof);
        println!(
            "{name}: the engine says {}, certify {answer:?}",
            if analysis.is_safe() { "safe" } else { "not" }
        );
        assert!(
            !analysis.is_safe() || answer.is_err() || check(&program, &models, &proof).is_err(),
            "{name}"
        );
    }
}
