//! Static proofs of the fixtures: those that the engine calls safe are accepted. `RADDLE_FIXTURE=part-of-a-path` runs some.

mod programs;

use programs::{each, proof};
use raddle_certify::statics::check;

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
