//! Functions without body or model: whether the facts have all that such calls may write and return, and all that is handed out to them.

use super::super::Refusal;
use super::super::code::{At, Code};
use super::super::foreign::Owner;
use super::RULE;
use super::instructions::stored;
use super::sets::Places;
use raddle_base::{Id, SiteId};
use raddle_facts::{ObjectId, Offsets};
use raddle_ir::{CallArg, GlobalId, Reg};

/// One call: what it can reach, what was handed out, or memory of its own may be in all that it can write and in its results.
pub(super) fn call(
    code: &Code<'_>,
    carried: &[bool],
    at: At,
    dsts: &[Reg],
    args: &[CallArg],
) -> Result<(), Refusal> {
    let Some(own) = code.foreign() else {
        return code.refuse_at(at, "objects", "the memory of functions without a body is missing");
    };
    let reach: Places = code.reach(at.function, args).into_iter().collect();
    let mut any = reach.clone();
    any.extend(code.handed_out());
    any.push(own);
    for dst in dsts.iter().filter(|dst| carried[dst.index()]) {
        if code.is_wide(code.program.functions[at.function].regs[*dst].ty) {
            code.flows_to(at, *dst, &any)?;
        }
    }
    for (object, _) in &reach {
        if takes_addresses(code, *object) {
            stored(code, at, &[(*object, Offsets::ANY)], code.pointer_bytes(), &any)?;
        }
    }
    Ok(())
}

/// Whether it can be written and an address fits into it.
fn takes_addresses(code: &Code<'_>, object: ObjectId) -> bool {
    let bytes = code.facts.points_to.objects[object].bytes;
    matches!(code.owner(object), Owner::Caller | Owner::Program)
        && bytes.is_none_or(|bytes| bytes >= u64::from(code.pointer_bytes()))
}

/// What is handed out: see [`raddle_facts::points_to`].
pub(super) fn check(code: &Code<'_>) -> Result<(), Refusal> {
    let mut any = false;
    let mut exports = false;
    let kept = code.handed_out();
    let missing = |site: SiteId, what: &str| code.refuse(site, RULE, format!("{what} is not handed out"));
    for call in code.foreign_calls() {
        any = true;
        exports |= call.returns_pointer;
        let reach = code.reach(call.function, call.args);
        if code.hands_out(&reach) {
            exports = true;
            let reach: Places = reach.into_iter().collect();
            if !code.includes(&kept, &reach) {
                return missing(call.site, "what a function without a body is given");
            }
        }
    }
    if !any {
        return Ok(());
    }
    let word = code.pointer_bytes();
    for (id, global) in code.program.globals.iter() {
        let is_library = raddle_libmodel::variable(code.program.text(global.symbol)).is_some();
        let nameable = global.init.is_none() || exports && global.exported;
        let Some(object) = code.object(code.global_kind(id)).filter(|_| nameable && !is_library) else {
            continue;
        };
        let place = (object, Offsets::ANY);
        let has = match global.thread_local {
            true => {
                code.includes(&kept, &code.lost(&code.content(place)))
                    && (!takes_addresses(code, object) || code.holds(&[place], word, &kept))
            }
            false => code.includes(&kept, &[place]),
        };
        if !has {
            return missing(SiteId::NONE, &name(code, id));
        }
    }
    for place in &kept {
        let writable = takes_addresses(code, place.0);
        let closed = code.includes(&kept, &code.lost(&code.content(*place)));
        if !closed || writable && !code.holds(&[(place.0, Offsets::ANY)], word, &kept) {
            return missing(SiteId::NONE, &format!("all that {:?} holds", code.kind(place.0)));
        }
    }
    Ok(())
}

fn name(code: &Code<'_>, id: GlobalId) -> String {
    code.program.text(code.program.globals[id].symbol).to_owned()
}
