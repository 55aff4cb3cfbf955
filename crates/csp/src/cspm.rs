//! Models as CSP_M text, for FDR.
//!
//! The 2015 paper, section 3, writes its models in CSP_M and has FDR3 check them; for us the text is a second opinion. We differ in that sets
//! are written as productions where they hold all events of their channels; this may name events that no process does.
//!
//! Which way it errs: a model that CSP_M cannot express by plain names is rejected with a reason. Names are not rewritten. A thread is
//! written as one chain of prefixes, whatever its length; FDR may not take very long ones.

use crate::event::{Alphabet, EventSet};
use crate::term::{Arena, ProcId, Term};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A text in the making: declarations, then named processes, then assertions.
pub struct Script<'a> {
    alphabet: &'a Alphabet,
    arena: &'a Arena,
    body: String,
    /// Names of processes that are written, or are being written.
    written: BTreeMap<String, ProcId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportError {
    /// Part of an event or process name that is no identifier of CSP_M.
    NotAName(String),
    /// Two things of one name, or one channel with events of different numbers of parts.
    Clash(String),
    /// A name without a body.
    Undefined(String),
}

const RESERVED: [&str; 22] = [
    "and",
    "assert",
    "channel",
    "datatype",
    "else",
    "endmodule",
    "exports",
    "external",
    "false",
    "if",
    "include",
    "instance",
    "let",
    "module",
    "nametype",
    "not",
    "or",
    "subtype",
    "then",
    "transparent",
    "true",
    "within",
];

impl<'a> Script<'a> {
    pub fn new(alphabet: &'a Alphabet, arena: &'a Arena) -> Self {
        Self { alphabet, arena, body: String::new(), written: BTreeMap::new() }
    }

    /// Writes the definitions that the process needs, and returns its own text.
    pub fn process(&mut self, process: ProcId) -> Result<String, ExportError> {
        let arena = self.arena;
        Ok(match arena.term(process) {
            Term::Stop => "STOP".to_owned(),
            Term::Skip | Term::Omega => "SKIP".to_owned(),
            Term::Prefix(event, then) => {
                format!("({} -> {})", self.alphabet.name(*event), self.process(*then)?)
            }
            Term::Events(array, index, then) => {
                let mut text = "(".to_owned();
                for &event in &arena.array(*array)[*index as usize..] {
                    text += self.alphabet.name(event);
                    text += " -> ";
                }
                text + &self.process(*then)? + ")"
            }
            Term::Choice(parts) => self.operands(parts, " [] ")?,
            Term::Parallel(on, parts) if on.is_empty() => self.operands(parts, " ||| ")?,
            Term::Parallel(on, parts) => self.operands(parts, &format!(" [| {} |] ", self.set(on)))?,
            Term::Interrupt(a, b) => self.operands(&[*a, *b], " /\\ ")?,
            Term::Then(a, b) => self.operands(&[*a, *b], " ; ")?,
            Term::Hide(inner, set) => format!("({} \\ {})", self.process(*inner)?, self.set(set)),
            Term::Call(name) => {
                let text = arena.name(*name).to_owned();
                identifier(&text)?;
                match self.written.insert(text.clone(), process) {
                    Some(other) if other != process => return Err(ExportError::Clash(text)),
                    Some(_) => return Ok(text),
                    None => {}
                }
                let body = arena.body(*name).ok_or_else(|| ExportError::Undefined(text.clone()))?;
                let definition = self.process(body)?;
                let definition = match definition.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
                    Some(inner) => inner,
                    None => &definition,
                };
                writeln!(self.body, "{text} = {definition}").expect("a string takes all text");
                text
            }
        })
    }

    /// `assert specification [T= implementation`, or `[F=`.
    pub fn assert(
        &mut self,
        specification: ProcId,
        model: crate::Model,
        implementation: ProcId,
    ) -> Result<(), ExportError> {
        let (specification, implementation) = (self.process(specification)?, self.process(implementation)?);
        let relation = match model {
            crate::Model::Traces => "[T=",
            crate::Model::StableFailures => "[F=",
        };
        writeln!(self.body, "assert {specification} {relation} {implementation}")
            .expect("a string takes all text");
        Ok(())
    }

    /// The whole text.
    pub fn finish(self) -> Result<String, ExportError> {
        let mut channels: BTreeMap<&str, Vec<BTreeSet<&str>>> = BTreeMap::new();
        let mut values = BTreeSet::new();
        for (_, name) in self.alphabet.iter() {
            name.split('.').try_for_each(identifier)?;
            let (channel, parts) =
                name.split_once('.').map_or((name, vec![]), |(c, p)| (c, p.split('.').collect()));
            values.extend(parts.iter().copied());
            let fields = channels.entry(channel).or_insert_with(|| vec![BTreeSet::new(); parts.len()]);
            if fields.len() != parts.len() {
                return Err(ExportError::Clash(channel.to_owned()));
            }
            fields.iter_mut().zip(parts).for_each(|(field, part)| _ = field.insert(part));
        }
        let clashes = |name: &str| {
            self.written.contains_key(name) || (channels.contains_key(name) && values.contains(name))
        };
        if let Some(name) = channels.keys().chain(&values).find(|name| clashes(name)) {
            return Err(ExportError::Clash((*name).to_owned()));
        }
        let mut text = String::new();
        if !values.is_empty() {
            text += &format!("datatype Name = {}\n", Vec::from_iter(values).join(" | "));
        }
        for (channel, fields) in channels {
            let fields = fields.into_iter().map(|field| format!("{{{}}}", Vec::from_iter(field).join(", ")));
            let fields = fields.collect::<Vec<_>>().join(".");
            text += &if fields.is_empty() {
                format!("channel {channel}\n")
            } else {
                format!("channel {channel} : {fields}\n")
            };
        }
        Ok(text + "\n" + &self.body)
    }

    fn operands(&mut self, parts: &[ProcId], operator: &str) -> Result<String, ExportError> {
        let mut text = String::new();
        for (index, &part) in parts.iter().enumerate() {
            let part = self.process(part)?;
            text = if index == 0 { part } else { format!("{text}{operator}{part}") };
        }
        Ok(format!("({text})"))
    }

    /// All events of a set, as `{| channels |}` where those have no others.
    fn set(&self, set: &EventSet) -> String {
        let names: Vec<&str> = set.iter().map(|event| self.alphabet.name(event)).collect();
        let channels: BTreeSet<&str> =
            names.iter().map(|name| name.split('.').next().unwrap_or(name)).collect();
        if channels.iter().all(|channel| self.alphabet.under(channel).is_subset(set)) && !set.is_empty() {
            return format!("{{| {} |}}", Vec::from_iter(channels).join(", "));
        }
        format!("{{{}}}", names.join(", "))
    }
}

fn identifier(name: &str) -> Result<(), ExportError> {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && !RESERVED.contains(&name) && !["STOP", "SKIP", "Name", "Events"].contains(&name) {
        Ok(())
    } else {
        Err(ExportError::NotAName(name.to_owned()))
    }
}
