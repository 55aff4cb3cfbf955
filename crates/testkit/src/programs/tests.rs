//! That the generator makes what it promises, as far as that shows without a compiler.

use super::idioms::IDIOMS;
use super::source::find_word;
use super::{Item, Node, Profile, Source, batch, generate, shrink};
use std::collections::BTreeSet;

#[test]
fn a_seed_names_one_program() {
    let profile = Profile::default();
    let texts: BTreeSet<String> = (0..500).map(|seed| generate(seed, &profile).source.text()).collect();
    assert!(texts.len() >= 499, "{} different programs of 500", texts.len());
    for seed in 0..500 {
        assert!(texts.contains(&generate(seed, &profile).source.text()), "seed {seed} has two programs");
    }
}

#[test]
fn every_feature_is_made() {
    let profile = Profile::default();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for seed in 0..4_000 {
        seen.extend(generate(seed, &profile).tags);
    }
    for idiom in IDIOMS {
        assert!(seen.contains(idiom.name), "no program with {}", idiom.name);
    }
    let many = |start: &str| seen.iter().filter(|tag| tag.starts_with(start)).count();
    assert_eq!(many("threads: "), 13);
    assert_eq!(many("argument: "), 5);
    assert_eq!(many("lock: "), 6);
    assert_eq!(many("destroyed: "), 8);
    assert!(many("mutation: ") >= 23, "{} kinds of mutation", many("mutation: "));
}

#[test]
fn weights_choose_idioms() {
    let profile = Profile { mutated: 0, ..Profile::default() }.with_weights("=0,once=1");
    for seed in 0..50 {
        let tags = generate(seed, &profile).tags;
        let idioms: Vec<_> =
            IDIOMS.iter().filter(|idiom| tags.contains(idiom.name)).map(|i| i.name).collect();
        assert_eq!(idioms, ["once"]);
    }
}

#[test]
fn programs_of_a_batch_share_no_names() {
    let profile = Profile::default();
    let samples: Vec<_> = (0..20).map(|seed| generate(seed, &profile)).collect();
    let text = batch(&samples);
    assert!(!text.contains('$'));
    for index in 0..20 {
        assert!(text.contains(&format!("int p{index}_main(void) {{")));
    }
}

#[test]
fn shrinking_keeps_what_matters() {
    let line = |text: &str| Node::Line(text.to_owned());
    let inner = Node::Block {
        head: "if (x)".to_owned(),
        body: vec![line("a;"), line("lock;"), line("b;"), line("unlock;")],
        otherwise: vec![line("c;")],
    };
    let source = Source {
        items: vec![
            Item::Line("int x;".to_owned()),
            Item::Function { head: "int $main(void)".to_owned(), body: vec![line("d;"), inner, line("e;")] },
        ],
    };
    // Fails as long as `b` is there and locks are paired.
    let small = shrink(&source, |source| {
        let text = source.text();
        let has = |word: &str| find_word(&text, word, 0).is_some();
        has("b;") && has("lock;") == has("unlock;")
    });
    let body = vec![line("b;")];
    assert_eq!(small.items, [Item::Function { head: "int $main(void)".to_owned(), body }]);
}
