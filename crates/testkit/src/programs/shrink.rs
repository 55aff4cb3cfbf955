//! Makes a failing program small: drops functions, declarations and statements, takes blocks apart, as long as it still fails.

use super::source::{Item, Node, Source};

/// The smallest program found for which `fails` still says yes. What is no C any more does not fail.
pub fn shrink(source: &Source, mut fails: impl FnMut(&Source) -> bool) -> Source {
    let mut best = source.clone();
    loop {
        let before = best.clone();
        // From the end: what is used stands before its users.
        for index in (0..best.items.len()).rev() {
            let mut smaller = best.clone();
            smaller.items.remove(index);
            if fails(&smaller) {
                best = smaller;
            }
        }
        for index in 0..best.items.len() {
            if let Item::Function { body, .. } = &best.items[index] {
                let small = smaller_body(&body.clone(), &mut |body| {
                    let mut candidate = best.clone();
                    if let Item::Function { body: place, .. } = &mut candidate.items[index] {
                        *place = body.to_vec();
                    }
                    fails(&candidate)
                });
                if let Item::Function { body, .. } = &mut best.items[index] {
                    *body = small;
                }
            }
        }
        if best == before {
            return best;
        }
    }
}

/// Drops pieces of falling length, then looks into the blocks that are left.
fn smaller_body(body: &[Node], fails: &mut dyn FnMut(&[Node]) -> bool) -> Vec<Node> {
    let mut best = body.to_vec();
    let mut length = best.len();
    while length > 0 {
        let mut at = 0;
        while at + length <= best.len() {
            let mut smaller = best.clone();
            smaller.drain(at..at + length);
            if fails(&smaller) {
                best = smaller;
            } else {
                at += 1;
            }
        }
        length = if length > 2 { length / 2 } else { length - 1 };
    }
    // Pairs that stand apart, such as a lock and its unlock.
    let mut first = 0;
    while first < best.len() {
        let mut second = first + 1;
        while second < best.len() {
            let mut smaller = best.clone();
            smaller.remove(second);
            smaller.remove(first);
            if fails(&smaller) {
                best = smaller;
            } else {
                second += 1;
            }
        }
        first += 1;
    }
    let mut at = 0;
    while at < best.len() {
        let Node::Block { head, body, otherwise } = best[at].clone() else {
            at += 1;
            continue;
        };
        let unwrapped = [&body, &otherwise].into_iter().find_map(|inner| {
            let mut candidate = best.clone();
            candidate.splice(at..=at, inner.iter().cloned());
            fails(&candidate).then_some(candidate)
        });
        if let Some(candidate) = unwrapped {
            best = candidate;
            continue;
        }
        let body = smaller_body(&body, &mut |inner| {
            let mut candidate = best.clone();
            candidate[at] =
                Node::Block { head: head.clone(), body: inner.to_vec(), otherwise: otherwise.clone() };
            fails(&candidate)
        });
        let otherwise = smaller_body(&otherwise, &mut |inner| {
            let mut candidate = best.clone();
            candidate[at] = Node::Block { head: head.clone(), body: body.clone(), otherwise: inner.to_vec() };
            fails(&candidate)
        });
        best[at] = Node::Block { head, body, otherwise };
        at += 1;
    }
    best
}
