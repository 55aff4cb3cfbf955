//! Small damage to a program that may have been right: a statement gone, moved or doubled, another lock, index, mode or order.
//!
//! The text stays C: declarations, labels and final returns are not touched, and words are replaced by words of the same type.

use super::source::{Item, Node, Source, branch, find_word};
use crate::random::Random;

/// One change; its name. `None` when nothing of the chosen kind could be changed.
pub(super) fn mutate(source: &mut Source, random: &mut Random, words: &Words) -> Option<&'static str> {
    match random.below(100) {
        0..15 => drop_pair(source, random),
        15..22 => drop_statement(source, random),
        22..36 => swap_neighbours(source, random),
        36..47 => relock_pair(source, random, words),
        47..53 => unwrap_block(source, random),
        53..57 => wrap_statement(source, random),
        57..63 => double_statement(source, random),
        63..68 => move_statement(source, random),
        68..73 => hoist_joins(source, random),
        73..83 => stray_access(source, random, words),
        _ => replace_word(source, random, words),
    }
}

/// Names that may stand for each other.
pub(super) struct Words {
    pub(super) mutexes: Vec<String>,
    pub(super) ints: Vec<String>,
    pub(super) threads: usize,
}

/// A place in the program: which function, then positions; even steps are indices, odd ones say which branch.
type Path = Vec<usize>;

/// Paths of all statements that may be changed.
fn paths(source: &Source) -> Vec<Path> {
    fn walk(body: &[Node], prefix: &Path, all: &mut Vec<Path>) {
        for (index, node) in body.iter().enumerate() {
            let mut path = prefix.clone();
            path.push(index);
            if let Node::Block { body, otherwise, .. } = node {
                for (side, nodes) in [body, otherwise].into_iter().enumerate() {
                    let mut inner = path.clone();
                    inner.push(side);
                    walk(nodes, &inner, all);
                }
            }
            if !matches!(node, Node::Fixed(_)) {
                all.push(path);
            }
        }
    }
    let mut all = Vec::new();
    for (index, item) in source.items.iter().enumerate() {
        if let Item::Function { body, .. } = item {
            walk(body, &vec![index], &mut all);
        }
    }
    all
}

/// The list that holds the statement, and its index there.
fn list_of<'a>(source: &'a mut Source, path: &Path) -> (&'a mut Vec<Node>, usize) {
    let Item::Function { body, .. } = &mut source.items[path[0]] else {
        unreachable!("paths lead into functions")
    };
    let mut list = body;
    let mut at = 1;
    while at + 1 < path.len() {
        let Node::Block { body, otherwise, .. } = &mut list[path[at]] else {
            unreachable!("paths lead into blocks")
        };
        list = if path[at + 1] == 0 { body } else { otherwise };
        at += 2;
    }
    (list, path[at])
}

fn node_at<'a>(source: &'a mut Source, path: &Path) -> &'a mut Node {
    let (list, index) = list_of(source, path);
    &mut list[index]
}

/// What orders or guards; the rest is changed less often.
fn is_synchronisation(node: &Node) -> bool {
    let text = match node {
        Node::Line(text) | Node::Fixed(text) => text,
        Node::Block { head, .. } => head,
    };
    ["lock", "join", "wait", "sem_", "atomic", "take", "give", "once", "barrier", "destroy"]
        .iter()
        .any(|word| text.contains(word))
}

fn random_path(source: &mut Source, random: &mut Random, synchronisation_percent: u32) -> Option<Path> {
    let mut all = paths(source);
    if random.chance(synchronisation_percent) {
        let some: Vec<Path> =
            all.iter().filter(|path| is_synchronisation(node_at(source, path))).cloned().collect();
        if !some.is_empty() {
            all = some;
        }
    }
    if all.is_empty() { None } else { Some(all.swap_remove(random.below(all.len()))) }
}

/// A lock and the unlock that follows it in the same list.
fn pairs(source: &mut Source) -> Vec<(Path, usize)> {
    let mut all = Vec::new();
    for path in paths(source) {
        let (list, index) = list_of(source, &path);
        let Node::Line(text) = &list[index] else { continue };
        let Some(argument) = locked(text) else { continue };
        let unlock = list.iter().skip(index + 1).position(|node| match node {
            Node::Line(text) => unlocked(text) == Some(argument),
            _ => false,
        });
        if let Some(distance) = unlock {
            all.push((path, index + 1 + distance));
        }
    }
    all
}

/// What a statement acquires, as text.
fn locked(text: &str) -> Option<&str> {
    let takes = (text.contains("lock")
        && !["unlock", "give", "destroy"].iter().any(|word| text.contains(word)))
        || text.starts_with("sem_wait");
    if takes { argument(text) } else { None }
}

fn unlocked(text: &str) -> Option<&str> {
    if text.contains("unlock") || text.starts_with("sem_post") { argument(text) } else { None }
}

fn argument(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('(')?;
    rest.split([',', ')']).next()
}

fn drop_pair(source: &mut Source, random: &mut Random) -> Option<&'static str> {
    let mut all = pairs(source);
    if all.is_empty() {
        return None;
    }
    let (path, unlock) = all.swap_remove(random.below(all.len()));
    let (list, lock) = list_of(source, &path);
    list.remove(unlock);
    list.remove(lock);
    Some("mutation: lock dropped")
}

/// Both ends name another lock.
fn relock_pair(source: &mut Source, random: &mut Random, words: &Words) -> Option<&'static str> {
    let mut all: Vec<(Path, usize, String)> = Vec::new();
    for (path, unlock) in pairs(source) {
        if let Node::Line(text) = node_at(source, &path)
            && let Some(name) = locked(text).and_then(|address| address.strip_prefix('&'))
            && words.mutexes.iter().any(|mutex| mutex == name)
        {
            all.push((path.clone(), unlock, name.to_owned()));
        }
    }
    if all.is_empty() {
        return None;
    }
    let (path, unlock, name) = all.swap_remove(random.below(all.len()));
    let others: Vec<&String> = words.mutexes.iter().filter(|mutex| **mutex != name).collect();
    let other = *others.get(random.below(others.len().max(1)))?;
    let (list, lock) = list_of(source, &path);
    for index in [lock, unlock] {
        if let Node::Line(text) = &mut list[index] {
            *text = text.replacen(&name, other, 1);
        }
    }
    Some("mutation: other lock")
}

/// A variable is touched where nobody expects it.
fn stray_access(source: &mut Source, random: &mut Random, words: &Words) -> Option<&'static str> {
    if words.ints.is_empty() {
        return None;
    }
    let variable = &words.ints[random.below(words.ints.len())];
    let path = random_path(source, random, 0)?;
    let (list, index) = list_of(source, &path);
    let text = if random.chance(50) { format!("{variable}++;") } else { format!("(void){variable};") };
    list.insert(index, Node::Line(text));
    Some("mutation: stray access")
}

fn drop_statement(source: &mut Source, random: &mut Random) -> Option<&'static str> {
    let path = random_path(source, random, 60)?;
    let (list, index) = list_of(source, &path);
    list.remove(index);
    Some("mutation: statement dropped")
}

fn swap_neighbours(source: &mut Source, random: &mut Random) -> Option<&'static str> {
    let path = random_path(source, random, 75)?;
    let (list, index) = list_of(source, &path);
    let other = if random.chance(50) { index.checked_sub(1)? } else { index + 1 };
    if other >= list.len() || matches!(list[other], Node::Fixed(_)) {
        return None;
    }
    // Two of a kind change little.
    if is_synchronisation(&list[index]) == is_synchronisation(&list[other]) && random.chance(80) {
        return None;
    }
    list.swap(index, other);
    Some("mutation: neighbours swapped")
}

fn unwrap_block(source: &mut Source, random: &mut Random) -> Option<&'static str> {
    let blocks: Vec<Path> = paths(source)
        .into_iter()
        .filter(|path| match node_at(source, path) {
            Node::Block { head, .. } => !head.starts_with("for"),
            _ => false,
        })
        .collect();
    if blocks.is_empty() {
        return None;
    }
    let path = &blocks[random.below(blocks.len())];
    let (list, index) = list_of(source, path);
    let Node::Block { head, body, otherwise } = &mut list[index] else {
        unreachable!("only blocks are kept")
    };
    match random.below(3) {
        0 if head.starts_with("while") => {
            *head = head.replacen("while", "if", 1);
            Some("mutation: while becomes if")
        }
        1 if !otherwise.is_empty() => {
            std::mem::swap(body, otherwise);
            Some("mutation: branches swapped")
        }
        _ => {
            let inner = std::mem::take(body);
            list.splice(index..=index, inner);
            Some("mutation: condition dropped")
        }
    }
}

fn wrap_statement(source: &mut Source, random: &mut Random) -> Option<&'static str> {
    let path = random_path(source, random, 60)?;
    let mut condition = random.pick(&["__VERIFIER_nondet_bool()", "id == 0", "id"]);
    if !declares_id(source, path[0]) {
        condition = "__VERIFIER_nondet_bool()";
    }
    let node = node_at(source, &path);
    let inner = node.clone();
    *node = branch(condition, vec![inner], Vec::new());
    Some("mutation: only on a condition")
}

fn declares_id(source: &Source, item: usize) -> bool {
    let Item::Function { body, .. } = &source.items[item] else { return false };
    body.iter().any(|node| matches!(node, Node::Fixed(text) if text.starts_with("int id = ")))
}

fn double_statement(source: &mut Source, random: &mut Random) -> Option<&'static str> {
    let path = random_path(source, random, 0)?;
    if is_synchronisation(node_at(source, &path)) {
        return None;
    }
    let (list, index) = list_of(source, &path);
    let copy = list[index].clone();
    let ends = list
        .iter()
        .take_while(|node| !matches!(node, Node::Fixed(text) if text.starts_with("return")))
        .count();
    let starts = list.iter().take_while(|node| matches!(node, Node::Fixed(_))).count();
    if ends < starts {
        return None;
    }
    list.insert(random.between(starts, ends), copy);
    Some("mutation: statement repeated elsewhere")
}

fn move_statement(source: &mut Source, random: &mut Random) -> Option<&'static str> {
    let path = random_path(source, random, 50)?;
    let (list, index) = list_of(source, &path);
    let moved = list.remove(index);
    let ends = list
        .iter()
        .take_while(|node| !matches!(node, Node::Fixed(text) if text.starts_with("return")))
        .count();
    let starts = list.iter().take_while(|node| matches!(node, Node::Fixed(_))).count();
    let to = if ends < starts { index } else { random.between(starts, ends) };
    list.insert(to, moved);
    Some("mutation: statement moved")
}

/// What stood after a join comes before it.
fn hoist_joins(source: &mut Source, random: &mut Random) -> Option<&'static str> {
    let joins: Vec<Path> = paths(source)
        .into_iter()
        .filter(|path| matches!(node_at(source, path), Node::Line(text) if text.contains("join(")))
        .collect();
    if joins.is_empty() {
        return None;
    }
    let path = &joins[random.below(joins.len())];
    let (list, index) = list_of(source, path);
    if matches!(list.get(index + 1), None | Some(Node::Fixed(_))) {
        return None;
    }
    let join = list.remove(index);
    let end = list
        .iter()
        .take_while(|node| !matches!(node, Node::Fixed(text) if text.starts_with("return")))
        .count();
    list.insert(end.max(index), join);
    Some("mutation: join too late")
}

fn replace_word(source: &mut Source, random: &mut Random, words: &Words) -> Option<&'static str> {
    let n = words.threads;
    let next = format!("((id + 1) % {n})");
    let mut classes: Vec<(&'static str, Vec<String>)> = vec![
        ("mutation: other lock on one side", words.mutexes.clone()),
        ("mutation: other variable", words.ints.clone()),
        ("mutation: other lock mode", texts(&["pthread_rwlock_rdlock", "pthread_rwlock_wrlock"])),
        ("mutation: other order", texts(&["memory_order_release", "memory_order_relaxed"])),
        ("mutation: other order", texts(&["memory_order_acquire", "memory_order_relaxed"])),
        ("mutation: other order", texts(&["memory_order_seq_cst", "memory_order_relaxed"])),
        ("mutation: other comparison", texts(&["==", "!="])),
        ("mutation: other index", texts(&["[id]", "[0]"])),
        ("mutation: other index", vec!["[id]".to_owned(), format!("[{next}]")]),
        ("mutation: other index", texts(&["[i]", "[0]"])),
        ("mutation: other bound", vec![format!("i < {n}"), format!("i < {}", n - 1)]),
        ("mutation: other count", texts(&["0, 0);", "0, 1);"])),
        ("mutation: other count", vec![format!("0, {n});"), format!("0, {});", n - 1)]),
        ("mutation: other thread", texts(&["tid[0]", "tid[1]"])),
        ("mutation: other thread", texts(&["id == 0", "id == 1"])),
        ("mutation: other argument", texts(&["args[0]", "args[1]"])),
        ("mutation: other argument", texts(&["(long)1", "(long)0"])),
        ("mutation: other argument", texts(&["$boxed(1)", "$boxed(0)"])),
        ("mutation: other argument", texts(&["&$number[1]", "&$number[0]"])),
        ("mutation: address of the loop index", texts(&["&$number[i]", "&i"])),
        ("mutation: other routine", texts(&["$t1", "$t0"])),
        ("mutation: other wish", texts(&[", 1);", ", 0);"])),
    ];
    for _ in 0..8 {
        let (name, class) = classes.swap_remove(random.below(classes.len()));
        if class.len() < 2 {
            continue;
        }
        // Not every order fits every operation, and an index is not declared everywhere.
        let one_way = name.ends_with("order") || name.ends_with("index");
        let from = if one_way { 0 } else { random.below(class.len()) };
        let to = (from + 1 + random.below(class.len() - 1)) % class.len();
        let mut places = Vec::new();
        for path in paths(source) {
            let text = match node_at(source, &path) {
                Node::Line(text) => text,
                Node::Block { head, .. } => head,
                Node::Fixed(_) => continue,
            };
            let mut at = 0;
            while let Some(found) = find_word(text, &class[from], at) {
                places.push((path.clone(), found));
                at = found + 1;
            }
        }
        if places.is_empty() {
            continue;
        }
        let (path, at) = places.swap_remove(random.below(places.len()));
        let text = match node_at(source, &path) {
            Node::Line(text) | Node::Fixed(text) => text,
            Node::Block { head, .. } => head,
        };
        text.replace_range(at..at + class[from].len(), &class[to]);
        return Some(name);
    }
    None
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
