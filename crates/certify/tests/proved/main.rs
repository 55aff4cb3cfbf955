//! Proofs over threads with invariants written by hand: what holds is accepted; changed invariants, places left out and buggy twins are
//! refused.

mod fixtures;
mod subject;

use subject::Subject;

const ACCEPTED: &[&str] = &["handover.c", "handover_acquire.c", "spin.c", "wait.c", "held.c"];

/// And the check that finds it out.
const REFUSED: &[(&str, &str)] = &[
    ("handover_early.c", "consecution"),
    ("handover_twice.c", "non-interference"),
    ("handover_relaxed.c", "consecution"),
    ("spin_released.c", "consecution"),
    ("wait_once.c", "consecution"),
    ("held_not.c", "consecution"),
];

#[test]
fn what_holds_is_accepted() {
    for name in ACCEPTED {
        let subject = Subject::of(name);
        let verdict = subject.check();
        println!("{name}: {} locations, {verdict:?}", subject.proof.locations.len());
        assert!(verdict.is_ok(), "{name}: {verdict:?}");
    }
}

#[test]
fn buggy_twins_are_refused() {
    for (name, rule) in REFUSED {
        let refusal = Subject::of(name).check().expect_err(name);
        println!("{name}: {refusal}");
        assert_eq!(refusal.rule, *rule, "{name}: {refusal}");
    }
}

/// Each place left out, each invariant that says something made `true`, or its opposite.
#[test]
fn changed_proofs_are_refused() {
    for name in ACCEPTED {
        let subject = Subject::of(name);
        for index in 0..subject.proof.locations.len() {
            let (location, formula) = &subject.proof.locations[index];
            // Not every loop needs a place of its own.
            if subject.is_needed(location) {
                let mut without = subject.proof.clone();
                without.locations.remove(index);
                assert!(subject.check_proof(&without).is_err(), "{name}: without {location:?}");
            }
            let changed = match formula.as_str() {
                "true" => vec!["false".to_owned()],
                // Too weak only where others rely on it: at accesses to `data`.
                _ if subject.may_race(location) => vec!["true".to_owned(), format!("(not {formula})")],
                _ => vec![format!("(not {formula})")],
            };
            for formula in changed {
                let mut other = subject.proof.clone();
                other.locations[index].1.clone_from(&formula);
                assert!(subject.check_proof(&other).is_err(), "{name}: `{formula}` at {location:?}");
            }
        }
    }
}

#[test]
fn what_is_no_formula_of_the_program_is_refused() {
    let subject = Subject::of("handover.c");
    for text in
        ["", "tid", "(= m.9999.0.4 #x00000000)", "(= m.0.0.4 #x00000000) true", "x", "(= h.0.0 #b100)"]
    {
        let mut other = subject.proof.clone();
        other.locations[0].1 = text.to_owned();
        let refusal = subject.check_proof(&other).expect_err(text);
        assert_eq!(refusal.rule, "locations", "{text}: {refusal}");
    }
}
