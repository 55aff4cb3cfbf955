//! Proofs with one fact changed: each kind of change is refused where it makes the fact wrong.
//!
//! A changed fact may still be true, so a kind is caught if some of its changes are refused; the counts are printed.

use crate::programs::{one, proof, refused};
use raddle_base::Id;
use raddle_certify::statics::{check, is_closed};
use raddle_facts::{
    BeforeStart, Distinct, Interval, ObjectKind, Root, Spacing, StaticProof, Term, ThreadId, Times,
};
use raddle_ir::{FunctionId, Reg};
use std::collections::BTreeMap;

/// Fixtures that together have facts of every kind.
const FIXTURES: &[&str] = &[
    "mutex/conditional_lock_safe.c",
    "funcptr/table_unused_entry_safe.c",
    "once/initialise_safe.c",
    "memcpy/halves_safe.c",
    "static-cells/argument_sum_unknown_number_safe.c",
    "static-cells/loop_index_unknown_number_safe.c",
    "static-order/join_all_in_a_helper_safe.c",
    "static-locks/locked_unknown_number_safe.c",
    "heap/queue_handover_safe.c",
    "static-locks/returned_locked_safe.c",
    "static-cells/argument_id_safe.c",
    "changing-lock/task_queue_safe.c",
    "forkjoin/result_through_join_safe.c",
];

/// Changes tried per kind and fixture, spread over all there are.
const TRIED: usize = 12;

struct Kind {
    name: &'static str,
    /// How many places there are to change.
    places: fn(&StaticProof) -> usize,
    /// Changes the place; false: there is nothing to change there.
    change: fn(&mut StaticProof, usize) -> bool,
}

#[test]
fn every_kind_of_wrong_fact_is_refused() {
    let mut counts: BTreeMap<&str, (usize, usize)> = KINDS.iter().map(|kind| (kind.name, (0, 0))).collect();
    for name in FIXTURES {
        let (program, models, analysis) = one(name);
        let good = proof(&program, &analysis);
        assert_eq!(is_closed(&program, &models, &good), Ok(()), "{name}");
        for kind in KINDS {
            let places = (kind.places)(&good);
            for place in (0..places).step_by(places.div_ceil(TRIED).max(1)) {
                let mut bad = good.clone();
                if !(kind.change)(&mut bad, place) || bad == good {
                    continue;
                }
                let (tried, refused) = counts.entry(kind.name).or_default();
                *tried += 1;
                *refused += usize::from(is_closed(&program, &models, &bad).is_err());
            }
        }
    }
    for (name, (tried, refused)) in &counts {
        println!("{name}: {refused} of {tried} refused");
    }
    let missed: Vec<_> = counts.iter().filter(|(_, (_, refused))| *refused == 0).collect();
    assert!(missed.is_empty(), "never refused: {missed:?}");
}

/// Facts without the library's memory would have no accesses to its state, and so no pair to rule out.
#[test]
fn state_of_the_library_cannot_be_left_out() {
    let all = refused();
    let (_, program, models, analysis) =
        all.iter().find(|(name, ..)| name == "hidden_state.c").expect("a program");
    let good = proof(program, analysis);
    assert_eq!(is_closed(program, models, &good), Ok(()));
    let mut bad = good.clone();
    for (_, object) in bad.facts.points_to.objects.iter_mut() {
        if object.kind == ObjectKind::Library {
            object.kind = ObjectKind::Unknown;
        }
    }
    assert_ne!(bad, good);
    assert!(is_closed(program, models, &bad).is_err());
}

/// A copy writes the argument of the thread that is created next, and reads that of one that runs: what is said of the first is not
/// so for the second.
#[test]
fn a_fact_about_one_access_of_a_site_says_nothing_of_the_other() {
    let all = refused();
    let (_, program, models, analysis) =
        all.iter().find(|(name, ..)| name == "copied_sibling.c").expect("a program");
    let good = proof(program, analysis);
    let thread = good.facts.threads.distinct.first().expect("distinct arguments").thread;
    let expanded = raddle_ir::expand::apply(program, &good.recipe).expect("the engine's own recipe").program;
    let mut closed = 0;
    for site in expanded.sites.ids() {
        let mut bad = good.clone();
        bad.facts.threads.before_start.push(BeforeStart { thread, site, offset: 0 });
        closed += usize::from(is_closed(program, models, &bad).is_ok());
        assert!(check(program, models, &bad).is_err(), "{site}");
    }
    assert!(closed > 0, "the fact holds for the copy");
}

/// What a function without a body is given is handed out, and whoever leaves that out, or an assumption about it, is refused.
#[test]
fn what_is_handed_out_cannot_be_left_out() {
    let (program, models, analysis) = one("extern/given_shared_unknown.c");
    let good = proof(&program, &analysis);
    assert_eq!(is_closed(&program, &models, &good), Ok(()));
    let points_to = &good.facts.points_to;
    let (unknown, _) =
        points_to.objects.iter().find(|(_, object)| object.kind == ObjectKind::Unknown).expect("it is there");
    let mut forged = 0;
    for (at, cell) in points_to.contents[unknown].iter().enumerate() {
        let own: Vec<_> = points_to
            .targets_of(cell.holds)
            .iter()
            .copied()
            .filter(|(object, _)| *object == unknown)
            .collect();
        if own.len() < points_to.targets_of(cell.holds).len() {
            let mut bad = good.clone();
            let set = bad.facts.points_to.sets.push(own);
            bad.facts.points_to.contents[unknown][at].holds = set;
            assert!(is_closed(&program, &models, &bad).is_err(), "cell {at}");
            forged += 1;
        }
    }
    assert!(forged > 0, "nothing is handed out");
    for id in ["A-EXTLOCK", "A-EXTNAME"] {
        let mut bad = good.clone();
        bad.assumptions.retain(|listed| listed != id);
        assert!(is_closed(&program, &models, &bad).is_err(), "{id}");
    }
}

/// The row and column of the `place`-th entry of rows.
fn entry<T>(rows: &[Vec<T>], place: usize) -> Option<(usize, usize)> {
    let mut left = place;
    rows.iter().enumerate().find_map(|(row, list)| {
        if left < list.len() {
            Some((row, left))
        } else {
            left -= list.len();
            None
        }
    })
}

fn count<T>(rows: &[Vec<T>]) -> usize {
    rows.iter().map(Vec::len).sum()
}

/// Changes one entry of rows that are indexed by functions.
fn at<T>(
    rows: &mut raddle_base::IdVec<FunctionId, Vec<T>>,
    place: usize,
    change: impl Fn(&mut T) -> bool,
) -> bool {
    let Some((row, column)) = entry(rows.as_slice(), place) else { return false };
    change(&mut rows[FunctionId::from_index(row)][column])
}

const KINDS: &[Kind] = &[
    Kind {
        name: "a reachable block is said not to be",
        places: |p| count(p.facts.values.reachable.as_slice()),
        change: |p, place| at(&mut p.facts.values.reachable, place, |is| std::mem::replace(is, false)),
    },
    Kind {
        name: "a register is said to be a constant",
        places: |p| count(p.facts.values.terms.as_slice()),
        change: |p, place| {
            at(&mut p.facts.values.terms, place, |term| term.replace(Term::constant(41)).is_none())
        },
    },
    Kind {
        name: "a term is one off",
        places: |p| count(p.facts.values.terms.as_slice()),
        change: |p, place| {
            at(&mut p.facts.values.terms, place, |term| {
                *term = term.map(|term| term.plus(1));
                term.is_some()
            })
        },
    },
    Kind {
        name: "an interval is too small",
        places: |p| count(p.facts.values.intervals.as_slice()),
        change: |p, place| {
            at(&mut p.facts.values.intervals, place, |interval| {
                *interval = Interval { low: interval.high, high: interval.high };
                true
            })
        },
    },
    Kind {
        name: "a memory fact has another value",
        places: |p| p.facts.values.memory.values().map(|blocks| count(blocks)).sum(),
        change: |p, place| {
            let mut facts: Vec<_> = p
                .facts
                .values
                .memory
                .iter_mut()
                .flat_map(|(_, blocks)| blocks.iter_mut().flatten())
                .collect();
            facts[place].value = facts[place].value.plus(1);
            true
        },
    },
    Kind {
        name: "a memory fact is about another cell",
        places: |p| p.facts.values.memory.values().map(|blocks| count(blocks)).sum(),
        change: |p, place| {
            let mut facts: Vec<_> = p
                .facts
                .values
                .memory
                .iter_mut()
                .flat_map(|(_, blocks)| blocks.iter_mut().flatten())
                .collect();
            facts[place].cell = facts[place].cell.plus(4);
            true
        },
    },
    Kind {
        name: "a load is said to give another term",
        places: |p| p.facts.values.loads.len(),
        change: |p, place| {
            let Some(term) = p.facts.values.loads.values_mut().nth(place) else { return false };
            *term = term.plus(1);
            true
        },
    },
    Kind {
        name: "a set lacks a place",
        places: |p| count(p.facts.points_to.sets.as_slice()),
        change: |p, place| {
            let Some((row, column)) = entry(p.facts.points_to.sets.as_slice(), place) else { return false };
            p.facts.points_to.sets[raddle_facts::SetId::from_index(row)].remove(column);
            true
        },
    },
    Kind {
        name: "a set has another offset",
        places: |p| count(p.facts.points_to.sets.as_slice()),
        change: |p, place| {
            let Some((row, column)) = entry(p.facts.points_to.sets.as_slice(), place) else { return false };
            let at = &mut p.facts.points_to.sets[raddle_facts::SetId::from_index(row)][column].1;
            *at = raddle_facts::Offsets::exact(at.anchor.wrapping_add(4));
            true
        },
    },
    Kind {
        name: "memory holds less",
        places: |p| count(p.facts.points_to.contents.as_slice()),
        change: |p, place| {
            let Some((row, column)) = entry(p.facts.points_to.contents.as_slice(), place) else {
                return false;
            };
            p.facts.points_to.contents[raddle_facts::ObjectId::from_index(row)].remove(column);
            true
        },
    },
    Kind {
        name: "a call has no such target",
        places: |p| p.facts.points_to.targets.len(),
        change: |p, place| {
            let site = *p.facts.points_to.targets.keys().nth(place).expect("a place");
            p.facts.points_to.targets.remove(&site).is_some()
        },
    },
    Kind {
        name: "a function returns nothing",
        places: |p| count(p.facts.points_to.returns.as_slice()),
        change: |p, place| {
            at(&mut p.facts.points_to.returns, place, |set| {
                *set = raddle_facts::SetId(0);
                true
            })
        },
    },
    Kind {
        name: "an object has another size",
        places: |p| p.facts.points_to.objects.len(),
        change: |p, place| {
            let object = &mut p.facts.points_to.objects[raddle_facts::ObjectId::from_index(place)];
            object.bytes = object.bytes.map(|bytes| bytes + 1);
            true
        },
    },
    Kind {
        name: "a shared object is private",
        places: |p| p.facts.threads.shared.len(),
        change: |p, place| {
            std::mem::replace(&mut p.facts.threads.shared[raddle_facts::ObjectId::from_index(place)], false)
        },
    },
    Kind {
        name: "a thread of many is single",
        places: |p| p.facts.threads.threads.len(),
        change: |p, place| {
            std::mem::replace(&mut p.facts.threads.threads[ThreadId::from_index(place)].many, false)
        },
    },
    Kind {
        name: "a thread starts elsewhere",
        places: |p| p.facts.threads.threads.len(),
        change: |p, place| {
            p.facts.threads.threads[ThreadId::from_index(place)].start =
                raddle_facts::Start::Created(raddle_ir::SiteId(0));
            true
        },
    },
    Kind {
        name: "a thread has no creators",
        places: |p| p.facts.threads.threads.len(),
        change: |p, place| {
            p.facts.threads.threads[ThreadId::from_index(place)].creators.clear();
            true
        },
    },
    Kind {
        name: "a function is not run by a thread",
        places: |p| count(p.facts.threads.runs.as_slice()),
        change: |p, place| {
            let Some((row, column)) = entry(p.facts.threads.runs.as_slice(), place) else { return false };
            p.facts.threads.runs[FunctionId::from_index(row)].remove(column);
            true
        },
    },
    Kind {
        name: "a block is executed once",
        places: |p| count(p.facts.threads.times.as_slice()),
        change: |p, place| {
            at(&mut p.facts.threads.times, place, |times| {
                std::mem::replace(times, Times::Once) != Times::Once
            })
        },
    },
    Kind {
        name: "instances are further apart",
        places: |p| p.facts.threads.distinct.len(),
        change: |p, place| match &mut p.facts.threads.distinct[place].spacing {
            Spacing::Apart { least, .. } => {
                *least *= 2;
                true
            }
            Spacing::Objects => false,
        },
    },
    Kind {
        name: "instances are nearer to each other",
        places: |p| p.facts.threads.distinct.len(),
        change: |p, place| match &mut p.facts.threads.distinct[place].spacing {
            Spacing::Apart { least, most } => {
                let nearer = (*most / 2).max(*least);
                std::mem::replace(most, nearer) != nearer
            }
            Spacing::Objects => false,
        },
    },
    Kind {
        name: "a register is distinct",
        places: |p| count(p.facts.values.terms.as_slice()),
        change: |p, place| {
            let Some((row, column)) = entry(p.facts.values.terms.as_slice(), place) else { return false };
            let thread = ThreadId::from_index(p.facts.threads.threads.len() - 1);
            p.facts.threads.distinct.push(Distinct {
                thread,
                function: FunctionId::from_index(row),
                reg: Reg::from_index(column),
                source: None,
                spacing: Spacing::Apart { least: 4, most: 1 << 20 },
            });
            true
        },
    },
    Kind {
        name: "an access before the start is elsewhere",
        places: |p| p.facts.threads.before_start.len(),
        change: |p, place| {
            p.facts.threads.before_start[place].offset += 1;
            true
        },
    },
    Kind {
        name: "another access comes before the start",
        places: |p| p.facts.threads.before_start.len(),
        change: |p, place| {
            let site = p.facts.threads.before_start[place].site;
            p.facts.threads.before_start[place].site = raddle_ir::SiteId(site.0.wrapping_add(1));
            true
        },
    },
    Kind {
        name: "an assumption is not named",
        places: |p| p.assumptions.len(),
        change: |p, place| {
            p.assumptions.remove(place);
            true
        },
    },
    Kind {
        name: "a copy of a function is called by fewer",
        places: |p| p.recipe.functions.iter().map(|copy| copy.retarget.len()).sum(),
        change: |p, place| {
            let mut left = place;
            for copy in &mut p.recipe.functions {
                if left < copy.retarget.len() {
                    copy.retarget.remove(left);
                    return true;
                }
                left -= copy.retarget.len();
            }
            false
        },
    },
    Kind {
        name: "another program",
        places: |_| 1,
        change: |p, _| {
            p.program = "0".repeat(32);
            true
        },
    },
    Kind {
        name: "a constant is an address",
        places: |p| count(p.facts.values.terms.as_slice()),
        change: |p, place| {
            at(&mut p.facts.values.terms, place, |term| {
                let global = Term::root(Root::Global(raddle_ir::GlobalId(0)));
                term.as_mut().is_some_and(|term| std::mem::replace(term, global) != global)
            })
        },
    },
];
