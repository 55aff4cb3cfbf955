//! The same sources compiled in two ways: which site of the one is which of the other, by place and by what is done there.
//!
//! Clang's code differs with the level of optimisation even where no pass has run (scopes, known functions), so sites have other numbers.
//! A wrong match makes a replay diverge; it cannot make a race, which the detector sees in the program that runs.

use crate::witness::Claim;
use raddle_base::SiteId;
use raddle_ir::{Callee, Code, Inst, Program};
use std::collections::BTreeMap;
use std::path::Path;

/// By site of `given`, the site of `own`. `None`: the one does not have what is claimed of the other, so they are not of one source.
pub(super) fn origins(own: &Program, given: &Program, claim: Claim) -> Option<BTreeMap<u32, u32>> {
    let (own_keys, given_keys) = (keys(own), keys(given));
    let mut origins = BTreeMap::new();
    for (key, given) in &given_keys {
        let Some(own) = own_keys.get(key) else { continue };
        for (index, site) in given.iter().enumerate() {
            origins.insert(site.0, own[index.min(own.len() - 1)].0);
        }
    }
    if let Claim::Race(a, b) = claim {
        for end in [a, b] {
            if !origins.values().any(|site| *site == end.0) {
                adopt_line(own, given, end, &mut origins)?;
            }
        }
    }
    (!origins.is_empty()).then_some(origins)
}

/// A known function may be a call here and an instruction there: what nobody else has on the line is it.
fn adopt_line(own: &Program, given: &Program, end: SiteId, origins: &mut BTreeMap<u32, u32>) -> Option<()> {
    let (file, line, _) = place(own, end)?;
    let there = given.sites.iter().map(|(site, _)| site).filter(|site| {
        place(given, *site).is_some_and(|place| (place.0, place.1) == (file, line))
            && !origins.contains_key(&site.0)
    });
    let there: Vec<SiteId> = there.collect();
    origins.extend(there.iter().map(|site| (site.0, end.0)));
    (!there.is_empty()).then_some(())
}

type Key<'p> = (&'p str, u32, u32, What<'p>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What<'p> {
    Load,
    Store,
    Atomic,
    Fence,
    Copy,
    Call(&'p str),
}

fn keys(program: &Program) -> BTreeMap<Key<'_>, Vec<SiteId>> {
    let mut keys: BTreeMap<Key<'_>, Vec<SiteId>> = BTreeMap::new();
    for (site, _) in program.sites.iter() {
        if let (Some((file, line, column)), Some(what)) = (place(program, site), what(program, site)) {
            keys.entry((file, line, column, what)).or_default().push(site);
        }
    }
    keys
}

fn what(program: &Program, site: SiteId) -> Option<What<'_>> {
    let Some(Code::Inst(inst)) = program.code_at(site) else { return None };
    Some(match inst {
        Inst::Load { atomic: Some(_), .. }
        | Inst::Store { atomic: Some(_), .. }
        | Inst::Rmw { .. }
        | Inst::CmpXchg(_) => What::Atomic,
        Inst::Load { .. } => What::Load,
        Inst::Store { .. } => What::Store,
        Inst::MemCopy { .. } | Inst::MemSet { .. } => What::Copy,
        Inst::Fence { .. } => What::Fence,
        Inst::Call { callee: Callee::Direct(function), .. } => {
            What::Call(program.text(program.functions[*function].name))
        }
        Inst::Call { .. } => What::Call(""),
        _ => return None,
    })
}

/// The file by its name alone: builds run in many folders.
fn place(program: &Program, site: SiteId) -> Option<(&str, u32, u32)> {
    let span = program.sites[site].span?;
    let file = Path::new(&program.files[span.file]).file_name()?.to_str()?;
    Some((file, span.line, span.column))
}
