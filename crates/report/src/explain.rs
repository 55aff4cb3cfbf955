//! Sentences for `--explain FILE:LINE`: each access of the line, what it may touch, who runs it under which locks, and for everything
//! that conflicts with it why the two cannot race, or that they may.

use crate::Sources;
use crate::race::place;
use crate::snippet::snippet;
use crate::style::{Look, Paint, wrap};
use crate::summary::count;
use raddle_finding::{
    ExplainedAccess, ExplainedLock, Explanation, Frame, OrderBy, OtherAccess, PairStanding, Reach,
    RunningThread, Why,
};

pub fn explain(explanation: &Explanation, sources: &dyn Sources, look: &Look) -> String {
    let Explanation { file, line, accesses, nearby } = explanation;
    let mut report = Report { out: String::new(), look };
    if accesses.is_empty() {
        let near = match nearby.as_slice() {
            [] => "nor does any other line of the file".to_owned(),
            lines => {
                let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
                format!("the nearest that do: {}", lines.join(", "))
            }
        };
        report.line("", &format!("{file}:{line} touches no memory that threads could share; {near}"));
        return report.out;
    }
    for (index, access) in accesses.iter().enumerate() {
        if index > 0 {
            report.out.push('\n');
        }
        report.access(access, sources);
    }
    report.out
}

struct Report<'a> {
    out: String,
    look: &'a Look,
}

impl Report<'_> {
    fn line(&mut self, indent: &str, text: &str) {
        let next = format!("{indent}  ");
        self.out.push_str(&wrap(&format!("{indent}{text}"), self.look.width, &next));
        self.out.push('\n');
    }

    fn access(&mut self, access: &ExplainedAccess, sources: &dyn Sources) {
        let head = format!("{}: {} in {}", place(&access.at), what(access), access.at.function);
        let contexts =
            if access.contexts > 1 { format!(" ({} contexts)", access.contexts) } else { String::new() };
        let head = wrap(&format!("{head}{contexts}"), self.look.width, "  ");
        self.out.push_str(&self.look.paint(Paint::Strong, &head));
        self.out.push('\n');
        self.out.push_str(&snippet(&access.at, sources, self.look, "  "));
        self.line("  ", &touches(access));
        self.line("  ", &run_by(&access.threads));
        self.line("  ", &held(&access.locks));
        for lock in access.locks.iter().filter(|lock| !lock.since.is_empty()) {
            self.line("  ", &format!("since {} was taken: {} taken", lock.name, list(&lock.since)));
        }
        for order in &access.after {
            self.line("  ", &format!("comes after {}", event(order)));
        }
        if access.reach == Reach::Private {
            self.line("  ", "no other thread can reach it, so it cannot race");
        } else if access.others.is_empty() {
            self.line("  ", "nothing in another thread conflicts with it");
        }
        let (same, others): (Vec<&OtherAccess>, Vec<&OtherAccess>) =
            access.others.iter().partition(|other| is_same_thread(other));
        others.into_iter().for_each(|other| self.other(other));
        self.same_thread(&same);
        if access.more > 0 {
            let more = count(access.more, "further access that is", "further accesses that are");
            self.line("  ", &format!("and {more} ruled out, too"));
        }
    }

    /// Accesses of the one thread, all in one sentence.
    fn same_thread(&mut self, others: &[&OtherAccess]) {
        let mut places: Vec<String> = others.iter().map(|other| place(&other.at)).collect();
        places.dedup();
        let Some(PairStanding::RuledOut(reasons)) = others.first().map(|other| &other.standing) else {
            return;
        };
        let reasons: Vec<String> = reasons.iter().map(why).collect();
        self.line("  ", &format!("no race with {}: {}", list(&places), reasons.join("; or ")));
    }

    fn other(&mut self, other: &OtherAccess) {
        let atomic = if other.atomic { "atomic " } else { "" };
        let end = format!(
            "{}: {atomic}{} of {} in {}",
            place(&other.at),
            other.action,
            name(&other.expression),
            list(&other.threads)
        );
        match &other.standing {
            PairStanding::MayRace => {
                let text = self.look.paint(Paint::Doubt, "may race");
                self.line("  ", &format!("{text} with {end}"));
            }
            PairStanding::RuledOut(reasons) => {
                let reasons: Vec<String> = reasons.iter().map(why).collect();
                let reasons = if reasons.is_empty() { "ruled out".to_owned() } else { reasons.join("; or ") };
                self.line("  ", &format!("no race with {end}: {reasons}"));
            }
        }
    }
}

fn is_same_thread(other: &OtherAccess) -> bool {
    match &other.standing {
        PairStanding::RuledOut(reasons) => {
            !reasons.is_empty() && reasons.iter().all(|why| matches!(why, Why::SameThread { .. }))
        }
        PairStanding::MayRace => false,
    }
}

fn what(access: &ExplainedAccess) -> String {
    let atomic = if access.atomic { "atomic " } else { "" };
    format!("{atomic}{} of {}", access.action, name(&access.expression))
}

fn name(expression: &str) -> &str {
    if expression.is_empty() { "memory without a name" } else { expression }
}

fn touches(access: &ExplainedAccess) -> String {
    match access.objects.as_slice() {
        [] => "touches nothing: it is never executed, or its address is never valid".to_owned(),
        objects => format!("may touch {}", list(objects)),
    }
}

fn run_by(threads: &[RunningThread]) -> String {
    let one = |running: &RunningThread| {
        let many = if running.many { " (any number of them)" } else { "" };
        let created = match Frame::own(&running.thread.created) {
            Some(frame) => format!(", created at {}", place(frame)),
            None => String::new(),
        };
        format!("{}{many}{created}", running.thread.name)
    };
    match threads {
        [] => "no thread runs it".to_owned(),
        threads => format!("run by {}", threads.iter().map(one).collect::<Vec<_>>().join(" and by ")),
    }
}

fn held(locks: &[ExplainedLock]) -> String {
    let one = |lock: &ExplainedLock| match (lock.shared, lock.conditional) {
        (false, false) => lock.name.clone(),
        (true, false) => format!("{} (shared)", lock.name),
        (false, true) => format!("{} (under a condition)", lock.name),
        (true, true) => format!("{} (shared, under a condition)", lock.name),
    };
    match locks {
        [] => "holds no lock for certain".to_owned(),
        locks => format!("holds {}", list(&locks.iter().map(one).collect::<Vec<_>>())),
    }
}

/// `a`, `a and b`, `a, b and c`
fn list(words: &[String]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn event(order: &OrderBy) -> String {
    match order {
        OrderBy::Creation { thread } => format!("the creation of {thread}"),
        OrderBy::End { thread } => format!("the end of {thread}, which was waited for"),
        OrderBy::Semaphore { name } => format!("a post of the semaphore {name}"),
        OrderBy::Flag { name } => format!("the atomic flag {name} was set"),
        OrderBy::LockedFlag { name, lock } => format!("the flag {name} was set under {lock}"),
    }
}

fn why(why: &Why) -> String {
    match why {
        Why::SameThread { thread } => format!("all in {thread}, one after the other"),
        Why::Ordered { by, this_is_earlier } => ordered(by, *this_is_earlier),
        Why::Rounds { barrier } => format!("rounds of the barrier {barrier} keep them apart"),
        Why::CommonLock { name } => format!("both hold {name}"),
        Why::Histories { held_here, held_there } => format!(
            "this one has had {held_there} since it took {held_here}, that one {held_here} since it took \
             {held_there}: never both at once"
        ),
        Why::OwnCell => "every instance of the thread has a part of its own".to_owned(),
        Why::Unpublished { this_is_earlier: true } => {
            "this one is before anybody else can know the object".to_owned()
        }
        Why::Unpublished { this_is_earlier: false } => {
            "that one is before anybody else can know the object".to_owned()
        }
    }
}

fn ordered(by: &OrderBy, this_is_earlier: bool) -> String {
    let (early, late) = if this_is_earlier { ("this", "that") } else { ("that", "this") };
    match by {
        OrderBy::Creation { thread } => format!("{early} one is before the creation of {thread}"),
        OrderBy::End { thread } => format!("{late} one is after the end of {thread}, which was waited for"),
        OrderBy::Semaphore { name } => {
            format!("{early} one is before the semaphore {name} is posted, {late} one after waiting for it")
        }
        OrderBy::Flag { name } => {
            format!("{early} one is before the atomic flag {name} is set, {late} one after seeing it set")
        }
        OrderBy::LockedFlag { name, lock } => {
            format!("{early} one is before {name} is set under {lock}, {late} one after seeing it set")
        }
    }
}
