//! Makes a failing script small: drops threads and statements, unwraps blocks, as long as the failure stays.

use super::syntax::{Act, Block, Script, Stmt, well_formed};

/// The smallest script found for which `fails` still says yes. The given one must fail.
pub fn shrink(script: &Script, mut fails: impl FnMut(&Script) -> bool) -> Script {
    let mut best = script.clone();
    'again: loop {
        for candidate in candidates(&best) {
            if candidate != best && well_formed(&candidate) && fails(&candidate) {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

fn candidates(script: &Script) -> Vec<Script> {
    let mut all = Vec::new();
    for thread in 1..script.threads.len() {
        let mut smaller = script.clone();
        smaller.threads[thread].clear();
        for block in &mut smaller.threads {
            without_thread(block, thread as u8);
        }
        all.push(smaller);
    }
    for once in 0..script.onces.len() {
        for block in smaller_blocks(&script.onces[once]) {
            let mut smaller = script.clone();
            smaller.onces[once] = block;
            all.push(smaller);
        }
    }
    for thread in 0..script.threads.len() {
        for block in smaller_blocks(&script.threads[thread]) {
            let mut smaller = script.clone();
            smaller.threads[thread] = block;
            all.push(smaller);
        }
    }
    all
}

/// Every block with one statement removed, two removed (a pair such as lock and unlock), or one unwrapped, at any depth.
fn smaller_blocks(block: &Block) -> Vec<Block> {
    let mut all = Vec::new();
    for first in 0..block.len() {
        let mut one = block.clone();
        one.remove(first);
        for second in first..one.len() {
            let mut two = one.clone();
            two.remove(second);
            all.push(two);
        }
        all.push(one);
    }
    for (index, stmt) in block.iter().enumerate() {
        let mut replace = |with: Vec<Stmt>| {
            let mut other = block.clone();
            other.splice(index..=index, with);
            all.push(other);
        };
        match stmt {
            Stmt::If { cond, then, otherwise } => {
                replace(then.clone());
                replace(otherwise.clone());
                for smaller in smaller_blocks(then) {
                    let otherwise = otherwise.clone();
                    replace(vec![Stmt::If { cond: *cond, then: smaller, otherwise }]);
                }
                for smaller in smaller_blocks(otherwise) {
                    replace(vec![Stmt::If { cond: *cond, then: then.clone(), otherwise: smaller }]);
                }
            }
            Stmt::Repeat { times, body } => {
                replace(body.clone());
                for smaller in smaller_blocks(body) {
                    replace(vec![Stmt::Repeat { times: *times, body: smaller }]);
                }
            }
            Stmt::Forever { body } => {
                replace(body.clone());
                for smaller in smaller_blocks(body) {
                    replace(vec![Stmt::Forever { body: smaller }]);
                }
            }
            Stmt::Act(_) | Stmt::BreakIf(_) => {}
        }
    }
    all
}

fn without_thread(block: &mut Block, thread: u8) {
    block.retain(|stmt| {
        !matches!(
            stmt,
            Stmt::Act(Act::Create { thread: t } | Act::Join { thread: t } | Act::Detach { thread: t }) if *t == thread
        )
    });
}
