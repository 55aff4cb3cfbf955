//! Static proofs of the fixtures: those that the engine calls safe are accepted, the others are not. `RADDLE_FIXTURE=part-of-a-path` runs some.

mod clients;
mod garbage;
mod mutations;
mod programs;

use programs::{each, proof};
use raddle_certify::statics::{check, is_closed};

/// What the engine calls safe is accepted, and nothing else: its facts about other programs are true, and prove nothing.
#[test]
fn exactly_the_proofs_of_the_engine_are_accepted() {
    let results = each(|program, models, analysis| {
        let answer = check(program, models, &proof(program, analysis));
        let complaint = match (analysis.is_safe(), answer) {
            (true, Err(refusal)) => {
                let line =
                    refusal.place.and_then(|site| program.sites[site].span).map_or(0, |span| span.line);
                Some(format!("line {line}: {refusal}"))
            }
            (false, Ok(_)) => Some("accepted, and the engine does not call it safe".to_owned()),
            (true, Ok(_)) | (false, Err(_)) => None,
        };
        (analysis.is_safe(), complaint)
    });
    let safe = results.iter().filter(|(_, (is_safe, _))| *is_safe).count();
    let complaints: Vec<String> = results
        .iter()
        .filter_map(|(name, (_, complaint))| Some(format!("{name}: {}", complaint.as_ref()?)))
        .collect();
    println!("{} programs, {safe} proofs, {} complaints", results.len(), complaints.len());
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
    assert!(std::env::var_os("RADDLE_FIXTURE").is_some() || safe >= 200, "only {safe} proofs");
}

/// Race-free twins of programs that are refused: they are proved.
#[test]
fn proofs_of_their_twins_are_accepted() {
    for (name, program, models, analysis) in programs::accepted() {
        assert!(analysis.is_safe(), "{name} is not proved");
        let answer = check(&program, &models, &proof(&program, &analysis));
        assert!(answer.is_ok(), "{name}: {answer:?}");
    }
}

/// Programs with a race that an engine may overlook: it does not, and no proof of them is accepted.
#[test]
fn proofs_of_racy_programs_are_refused() {
    let mut missed = Vec::new();
    for (name, program, models, analysis) in programs::refused() {
        let proof = proof(&program, &analysis);
        let answer = is_closed(&program, &models, &proof);
        println!(
            "{name}: the engine says {}, certify {answer:?}",
            if analysis.is_safe() { "safe" } else { "not" }
        );
        assert!(answer.is_err() || check(&program, &models, &proof).is_err(), "{name} is accepted");
        missed.extend(analysis.is_safe().then_some(name));
    }
    assert!(missed.is_empty(), "the engine calls these safe: {missed:?}");
}
