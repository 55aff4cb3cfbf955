//! The array of the environment, which is one thing for functions on it and another for `environ` and the parameters of `main`.

use super::super::Refusal;
use super::super::accesses::Access;
use super::super::code::Code;
use super::super::library::Part;
use super::RULE;
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_libmodel::memory::Library;
use raddle_libmodel::uses_environ;

/// A program that gets at the array by itself does not also call functions on the environment, unless all of it is read only.
pub(super) fn check(code: &Code<'_>, accesses: &[Access<'_>]) -> Result<(), Refusal> {
    let is_in = |access: &Access<'_>, part: Part| {
        let is_there = |(object, at): &(ObjectId, Offsets)| {
            code.kind(*object) == ObjectKind::Library && at.may_overlap(1, part.offsets(), 1)
        };
        access.targets.iter().any(is_there)
    };
    let (mut calls, mut array) = (None, false);
    let mut written = false;
    for access in accesses {
        let (called, own) =
            (is_in(access, Part::Static(Library::Environment)), is_in(access, Part::Arguments));
        if called {
            calls = Some(access.site);
        }
        array |= own;
        written |= (called || own) && access.is_write();
    }
    match calls {
        Some(site) if array && written && uses_environ(&code.program) => {
            code.refuse(site, RULE, "functions on the environment in a program that also uses environ")
        }
        _ => Ok(()),
    }
}
