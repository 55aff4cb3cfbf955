//! The tree of a complete search is accepted by its checker; a tree that lacks a class of runs is not, however well it lies.
//!
//! A lie is a tree without some of its branches, with the reasons of what is left out made to fit again. Whether it still stands for all classes
//! is found out the slow way.

mod as_c;
mod class;
mod compared;
mod dense;

use as_c::load;
use class::{Class, Done, class, step};
use compared::{for_all, seeds};
use raddle_certify::explored::{Covered, Refusal, Rule, check_on};
use raddle_event::{Branching, Choice, Fate, SearchTree};
use raddle_explore::dependence::excludes;
use raddle_explore::dpor::optimal_with_tree;
use raddle_explore::enumerate::{Coverage, Goal, Limits};
use raddle_machine::{Machine, Status, Visibility};
use raddle_testkit::random::Random;
use raddle_testkit::script::{Profile, ScriptMachine, generate};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

const MOST_STATES: usize = 4_000;

/// `None` when the search is too large, no tree when there is a race.
fn tree_of<M: Machine>(fresh: &impl Fn() -> M, visibility: &Visibility) -> Option<Option<SearchTree>> {
    let limits = Limits { goal: Goal::FirstRace, executions: 300, run_steps: 200, ..Limits::default() };
    let (reduced, tree) = optimal_with_tree(&mut fresh(), &limits, visibility.clone(), MOST_STATES);
    match reduced.exploration.coverage {
        Coverage::StoppedAtRace => Some(None),
        Coverage::Complete => tree.map(Some),
        Coverage::Partial => None,
    }
}

fn verdict<M: Machine>(
    fresh: &impl Fn() -> M,
    visibility: &Visibility,
    tree: &SearchTree,
) -> Result<Covered, Refusal> {
    check_on(&mut fresh(), visibility.clone(), tree, &AtomicBool::new(false))
}

/// A tree with its subtrees inside.
#[derive(Clone, Default)]
struct Nested {
    explored: Vec<(Choice, Nested)>,
}

impl Nested {
    fn of(tree: &SearchTree) -> Nested {
        fn build(nodes: &mut std::slice::Iter<'_, Branching>) -> Nested {
            let node = nodes.next().expect("the tree is whole");
            Nested { explored: node.explored().map(|choice| (choice, build(nodes))).collect() }
        }
        build(&mut tree.nodes.iter())
    }

    /// How many branches there are beside others.
    fn branches(&self) -> usize {
        let own = if self.explored.len() > 1 { self.explored.len() } else { 0 };
        own + self.explored.iter().map(|(_, below)| below.branches()).sum::<usize>()
    }

    /// Takes out the n-th of them.
    fn remove(&mut self, n: &mut usize) -> bool {
        if self.explored.len() > 1 {
            if *n < self.explored.len() {
                self.explored.remove(*n);
                return true;
            }
            *n -= self.explored.len();
        }
        self.explored.iter_mut().any(|(_, below)| below.remove(n))
    }

    /// Exchanges the first two explored choices of the n-th state that has several.
    fn exchange(&mut self, n: &mut usize) -> bool {
        if self.explored.len() > 1 {
            if *n == 0 {
                self.explored.swap(0, 1);
                return true;
            }
            *n -= 1;
        }
        self.explored.iter_mut().any(|(_, below)| below.exchange(n))
    }

    /// The tree with reasons that fit, and the classes of its runs.
    fn told<M: Machine>(
        &self,
        fresh: &impl Fn() -> M,
        visibility: &Visibility,
    ) -> (SearchTree, BTreeSet<Class>) {
        let mut machine = fresh();
        machine.set_visibility(visibility.clone());
        let mut teller = Teller { tree: SearchTree::default(), classes: BTreeSet::new() };
        teller.tell(&mut machine, self, Vec::new(), &mut Vec::new());
        (teller.tree, teller.classes)
    }
}

struct Teller {
    tree: SearchTree,
    classes: BTreeSet<Class>,
}

impl Teller {
    fn tell<M: Machine>(
        &mut self,
        machine: &mut M,
        nested: &Nested,
        mut sleep: Vec<(Done, u32)>,
        done: &mut Vec<Done>,
    ) {
        let mut node = Branching::default();
        let mut enabled = Vec::new();
        machine.enabled(&mut enabled);
        node.choices.extend(nested.explored.iter().map(|(choice, _)| (*choice, Fate::Explored)));
        for choice in &enabled {
            if nested.explored.iter().all(|(explored, _)| explored != choice) {
                let asleep = sleep.iter().find(|(asleep, _)| asleep.choice == *choice);
                let fate = asleep.map_or(Fate::NotNeeded, |(_, since)| Fate::Asleep { since: *since });
                node.choices.push((*choice, fate));
            }
        }
        self.tree.nodes.push(node);
        if machine.status() != Status::Running {
            self.classes.insert(class(done));
        }
        for (choice, below) in &nested.explored {
            let checkpoint = machine.checkpoint();
            let taken = step(machine, *choice, &enabled, done);
            let stays = |(asleep, _): &&(Done, u32)| {
                asleep.choice.thread != choice.thread
                    && !excludes(&taken.footprint, &asleep.footprint)
                    && !taken.touched.contains(&asleep.choice.thread)
                    && !asleep.touched.contains(&choice.thread)
            };
            let inherited = sleep.iter().filter(stays).cloned().collect();
            sleep.push((taken.clone(), done.len() as u32));
            done.push(taken);
            self.tell(machine, below, inherited, done);
            done.pop();
            machine.restore(&checkpoint);
            machine.discard(checkpoint);
        }
    }
}

/// Whether the search's tree is accepted and lies are told from other truths.
fn judge<M: Machine>(
    fresh: &impl Fn() -> M,
    visibility: &Visibility,
    seed: u64,
) -> Option<Result<(), String>> {
    let Some(tree) = tree_of(fresh, visibility)? else { return Some(Ok(())) };
    if let Err(refusal) = verdict(fresh, visibility, &tree) {
        if refusal.rule == Rule::Loops {
            return None;
        }
        return Some(Err(format!("not accepted: {refusal}\n{}", tree.to_lines().join("\n"))));
    }
    let nested = Nested::of(&tree);
    let (told, classes) = nested.told(fresh, visibility);
    if told != tree {
        return Some(Err(format!("{:?}\nis told as\n{:?}", tree.to_lines(), told.to_lines())));
    }
    let mut random = Random::new(seed);
    for _ in 0..4 {
        let mut lie = nested.clone();
        let branches = lie.branches();
        if branches == 0 {
            break;
        }
        for _ in 0..random.between(1, 2) {
            lie.remove(&mut random.below(branches));
        }
        if random.chance(20) {
            lie.exchange(&mut random.below(3));
        }
        let (lie, left) = lie.told(fresh, visibility);
        if verdict(fresh, visibility, &lie).is_ok() && !classes.is_subset(&left) {
            let (all, lie) = (tree.to_lines().join("\n"), lie.to_lines().join("\n"));
            return Some(Err(format!(
                "{} of {} classes accepted:\n{lie}\nof\n{all}",
                left.len(),
                classes.len()
            )));
        }
    }
    Some(Ok(()))
}

#[test]
fn trees_are_accepted_and_lies_are_not() {
    for_all("trees", seeds(1_000, 20_000), dense::dense, |script| {
        judge(&|| ScriptMachine::new(script), &Visibility::EveryAccess, 1)
    });
}

#[test]
fn trees_with_plain_accesses_unseen() {
    for_all("trees, unseen", seeds(1_000, 20_000), dense::dense, |script| {
        judge(&|| ScriptMachine::new(script), &Visibility::SyncOnly, 2)
    });
}

/// Words of a tree exchanged, dropped or made large: refused, or still a tree of all classes.
#[test]
fn damaged_trees_are_refused() {
    const WORDS: [&str; 8] = ["T0", "T1", "-T1", "-T2@1", "T1/1", "T4294967295", "-T0@4294967295", ""];
    for_all("damaged trees", seeds(200, 20_000), dense::dense, |script| {
        let visibility = Visibility::SyncOnly;
        let fresh = || ScriptMachine::new(script);
        let Some(tree) = tree_of(&fresh, &visibility)? else { return Some(Ok(())) };
        let (_, classes) = Nested::of(&tree).told(&fresh, &visibility);
        let lines = tree.to_lines();
        let mut random = Random::new(lines.len() as u64);
        for _ in 0..8 {
            let mut lines = lines.clone();
            let line = random.below(lines.len());
            match random.below(4) {
                0 => drop(lines.remove(line)),
                1 => lines.truncate(line),
                2 => lines.insert(line, random.pick(&WORDS).to_owned()),
                _ => {
                    let mut words: Vec<&str> = lines[line].split(' ').collect();
                    let word = random.below(words.len());
                    words[word] = random.pick(&WORDS);
                    lines[line] = words.join(" ");
                }
            }
            let damaged = SearchTree::parse(lines.iter().map(String::as_str));
            let Ok(damaged) = damaged.map_err(|error| error.to_string()) else { continue };
            if verdict(&fresh, &visibility, &damaged).is_ok() {
                let (_, left) = Nested::of(&damaged).told(&fresh, &visibility);
                if !classes.is_subset(&left) {
                    return Some(Err(format!("accepted:\n{}", lines.join("\n"))));
                }
            }
        }
        Some(Ok(()))
    });
}

/// The whole tree of a program with races, every access seen.
#[test]
fn races_are_refused() {
    for_all("races", seeds(200, 20_000), dense::dense, |script| {
        let limits = Limits { goal: Goal::AllRaces, executions: 2_000, run_steps: 200, ..Limits::default() };
        let mut machine = ScriptMachine::new(script);
        let (reduced, tree) = optimal_with_tree(&mut machine, &limits, Visibility::EveryAccess, 50_000);
        let rule = verdict(&|| ScriptMachine::new(script), &Visibility::EveryAccess, &tree?).err();
        let expected = (!reduced.exploration.races.is_empty()).then_some(Rule::Races);
        let rule = rule.map(|refusal| refusal.rule);
        Some(if rule == expected { Ok(()) } else { Err(format!("{rule:?} in place of {expected:?}")) })
    });
}

#[test]
fn trees_of_other_scripts() {
    let profile = Profile { waiting_loops: false, plain_spinning: false, ..Profile::EVERYTHING };
    let generate = |seed| generate(seed, &profile);
    for_all("trees, other", seeds(500, 50_000), generate, |script| {
        judge(&|| ScriptMachine::new(script), &Visibility::SyncOnly, 3)
    });
}

#[test]
fn trees_with_waiting_loops() {
    for_all("trees, loops", seeds(500, 20_000), dense::dense_with_loops, |script| {
        judge(&|| ScriptMachine::new(script), &Visibility::SyncOnly, 4)
    });
}

/// On the interpreter, in every second script with threads that sleep in waiting loops.
#[test]
fn trees_of_programs_in_c() {
    let plain = Profile { waiting_loops: false, plain_spinning: false, ..Profile::EVERYTHING };
    let looping = Profile { threads: 2, ..Profile::EVERYTHING };
    let folder = tempfile::tempdir().expect("a folder for C files");
    let generate = |seed: u64| generate(seed, if seed.is_multiple_of(2) { &plain } else { &looping });
    for_all("trees, as C", seeds(60, 2_000), generate, |script| {
        let machine = load(script, folder.path());
        judge(&|| machine.clone(), &Visibility::SyncOnly, 5)
    });
}
