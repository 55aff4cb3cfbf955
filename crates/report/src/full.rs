//! The full terminal report. Per finding, in this order: title; accesses with snippet, locks and stack; where threads and locks come
//! from; the missing order; how to replay; engine and evidence; assumptions.

use crate::Sources;
use crate::protection;
use crate::race::{action, holding, missing_order, place, title};
use crate::snippet::snippet;
use crate::style::{Look, Paint, wrap};
use crate::summary::summary;
use raddle_finding::{AccessReport, Confirmation, Evidence, Finding, FindingKind, Frame, Natively, Outcome};
use std::collections::BTreeSet;

pub fn full(outcome: &Outcome, sources: &dyn Sources, look: &Look) -> String {
    let mut out = String::new();
    for finding in &outcome.findings {
        out.push_str(&one(finding, sources, look));
        out.push('\n');
    }
    out.push_str(&summary(outcome, look));
    out
}

fn one(finding: &Finding, sources: &dyn Sources, look: &Look) -> String {
    let mut report = Report { out: String::new(), sources, look };
    let paint = if finding.evidence.is_certain() { Paint::Bad } else { Paint::Doubt };
    let heading = wrap(&format!("[{}] {}", finding.id, title(finding)), look.width, "     ");
    report.out.push_str(&look.paint(paint, &heading));
    report.out.push('\n');
    if !finding.detail.is_empty() {
        let what = if finding.kind == FindingKind::DataRace { "in " } else { "" };
        report.line(&format!("{what}{}", finding.detail));
    }
    for (index, access) in finding.accesses.iter().enumerate() {
        report.out.push('\n');
        report.access(index + 1, access, finding.kind == FindingKind::DataRace);
    }
    report.out.push('\n');
    report.origins(finding);
    if let (FindingKind::DataRace, [a, b]) = (finding.kind, finding.accesses.as_slice()) {
        report.line(&missing_order(a, b));
    }
    for line in finding.protection.iter().flat_map(protection::lines) {
        report.out.push_str(&wrap(&format!("  {line}"), look.width, "        "));
        report.out.push('\n');
    }
    report.evidence(finding);
    if !finding.assumptions.is_empty() {
        report.line(&format!("assuming {}", finding.assumptions.join(", ")));
    }
    report.out
}

struct Report<'a> {
    out: String,
    sources: &'a dyn Sources,
    look: &'a Look,
}

impl Report<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(&wrap(&format!("  {text}"), self.look.width, "    "));
        self.out.push('\n');
    }

    fn access(&mut self, number: usize, access: &AccessReport, shows_locks: bool) {
        let locks = if shows_locks || !access.locks.is_empty() {
            format!(", {}", holding(access))
        } else {
            String::new()
        };
        let head = format!("({number}) {} by {}{locks}", action(access), access.thread.name);
        let head = wrap(&format!("  {head}"), self.look.width, "      ");
        self.out.push_str(&self.look.paint(Paint::Strong, &head));
        self.out.push('\n');
        self.out.push_str(&format!("      at {}", self.frame(&access.at)));
        self.out.push('\n');
        self.out.push_str(&snippet(&access.at, self.sources, self.look, "      "));
        let own = access.stack.iter().rposition(|caller| !caller.is_system()).map_or(0, |last| last + 1);
        let (shown, outer) = match access.stack.len() - own {
            // One more line says no less than their number.
            0 | 1 => (access.stack.as_slice(), 0),
            outer => (&access.stack[..own], outer),
        };
        for caller in shown {
            self.out.push_str(&format!("      called at {}\n", self.frame(caller)));
        }
        if outer > 0 {
            self.out.push_str(&format!("      called through {outer} functions of system headers\n"));
        }
    }

    fn frame(&self, frame: &Frame) -> String {
        let function =
            if frame.function.is_empty() { String::new() } else { format!(" in {}", frame.function) };
        match place(frame) {
            unknown if unknown.starts_with("an unknown") => unknown,
            place => format!("{place}{function}"),
        }
    }

    /// Where threads were created and locks taken, each once.
    fn origins(&mut self, finding: &Finding) {
        let mut created: Vec<(&Frame, Vec<&str>)> = Vec::new();
        for access in &finding.accesses {
            let Some(creation) = Frame::own(&access.thread.created) else { continue };
            let name = access.thread.name.as_str();
            match created.iter_mut().find(|(at, _)| *at == creation) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => created.push((creation, vec![name])),
            }
        }
        for (at, names) in created {
            let were = if names.len() == 1 { "was" } else { "were" };
            self.line(&format!("{} {were} created at {}", names.join(" and "), self.frame(at)));
        }
        let mut told = BTreeSet::new();
        for (number, access) in finding.accesses.iter().enumerate() {
            for lock in &access.locks {
                if let Some(taken) = Frame::own(&lock.acquired) {
                    let text =
                        format!("{} was taken for ({}) at {}", lock.name, number + 1, self.frame(taken));
                    if told.insert(text.clone()) {
                        self.line(&text);
                    }
                }
            }
        }
    }

    fn evidence(&mut self, finding: &Finding) {
        match &finding.evidence {
            Evidence::Replayed { file, natively, .. } => {
                if let Some(file) = file {
                    // Not folded: a command must stay one line to be copied.
                    self.out.push_str(&format!("  replay: raddle replay {}\n", shell_word(file)));
                }
                self.line(&format!("found by {}, confirmed by replay", finding.engine));
                match natively {
                    Some(Natively { reproduced: 1, runs: 1 }) => self.line("reproduced natively"),
                    Some(Natively { reproduced, runs }) => {
                        self.line(&format!("reproduced natively in {reproduced} of {runs} runs"));
                    }
                    None => {}
                }
            }
            Evidence::Observed => self.line(&format!("seen by {}, in this run", finding.engine)),
            Evidence::Predicted { method, confirmation } => match confirmation {
                Confirmation::Replayed { file } | Confirmation::Interpreted { file } => {
                    if let Some(file) = file {
                        self.out.push_str(&format!("  replay: raddle replay {}\n", shell_word(file)));
                    }
                    let by = match confirmation {
                        Confirmation::Interpreted { .. } => "replay",
                        _ => "native replay",
                    };
                    self.line(&format!("predicted from one recorded run ({method}), confirmed by {by}"));
                }
                Confirmation::Unconfirmed { reason } => {
                    self.line(&format!(
                        "predicted from one recorded run ({method}), not confirmed: {reason}"
                    ));
                }
            },
            Evidence::Warning { contexts, covered_by } => {
                let contexts = if *contexts == 1 { String::new() } else { format!(" ({contexts} contexts)") };
                let first = match covered_by {
                    Some(id) => format!("; look at [{id}] first, which allows more"),
                    None => String::new(),
                };
                self.line(&format!("warning of {}, not confirmed{contexts}{first}", finding.engine));
            }
        }
    }
}

/// A path as a shell reads it back.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
