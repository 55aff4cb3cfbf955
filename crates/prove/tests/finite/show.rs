//! Systems as text, one edge to a line, for those who look at a failure.

use raddle_logic::{Term, Var};
use raddle_prove::system::System;
use std::fmt::Write as _;

pub fn system(system: &System) -> String {
    let mut text = format!("\ninitially {}\n", system.initial);
    for (index, thread) in system.threads.iter().enumerate() {
        let many = if thread.many { ", many" } else { "" };
        let _ = writeln!(text, "thread {index} ({}{many}) starts with {}", thread.name, thread.starts_with);
        for (at, (edges, steps)) in thread.edges.iter().zip(&thread.steps).enumerate() {
            for (edge, step) in edges.iter().zip(steps) {
                let to = edge.to.map_or("end".to_owned(), |to| to.to_string());
                let _ = write!(text, "  {at} -> {to}: {} / {}", edge.guard, updates(&edge.updates));
                for creation in &step.creates {
                    let _ = write!(text, " creates {} ({})", creation.thread, updates(&creation.passes));
                }
                text.push('\n');
            }
        }
    }
    for conflict in &system.conflicts {
        let _ = writeln!(
            text,
            "conflict of {:?} and {:?} if {}",
            conflict.first, conflict.second, conflict.overlap
        );
    }
    text
}

fn updates(updates: &[(Var, Term)]) -> String {
    let all: Vec<String> = updates.iter().map(|(var, term)| format!("{} := {term}", var.name)).collect();
    all.join(", ")
}
