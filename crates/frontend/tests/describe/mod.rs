//! What each source line of a lowered program does, in words that fit into a comment. Accesses to the compiler's own temporaries, which
//! have no name, are left out.

use std::collections::BTreeMap;
use std::path::Path;

use raddle_ir::{Block, Callee, Function, Inst, PlaceId, Program, Terminator};

/// Descriptions by line of the file, in layout order.
pub fn lines_of(program: &Program, file: &Path) -> BTreeMap<u32, Vec<String>> {
    let name = file.to_string_lossy();
    let mut lines: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for function in program.functions.values() {
        for block in function.blocks.values() {
            let texts = block.insts.iter().map(|inst| describe(program, inst));
            let last = [describe_end(program, function, block)];
            for (index, text) in texts.chain(last).enumerate() {
                let span = program.sites[block.site_of(index)].span;
                if let (Some(text), Some(span)) = (text, span)
                    && program.files[span.file] == name
                {
                    lines.entry(span.line).or_default().push(text);
                }
            }
        }
    }
    lines
}

fn describe(program: &Program, inst: &Inst) -> Option<String> {
    if let Inst::Load { place, .. } | Inst::Store { place, .. } = inst
        && program.place_text(*place).is_empty()
    {
        return None;
    }
    let at = |place: PlaceId| program.place_text(place);
    Some(match inst {
        Inst::Load { atomic: None, volatile: false, place, .. } => format!("load {}", at(*place)),
        Inst::Load { atomic: None, place, .. } => format!("volatile load {}", at(*place)),
        Inst::Load { atomic: Some(order), place, .. } => format!("load {order:?} {}", at(*place)),
        Inst::Store { atomic: None, volatile: false, place, .. } => format!("store {}", at(*place)),
        Inst::Store { atomic: None, place, .. } => format!("volatile store {}", at(*place)),
        Inst::Store { atomic: Some(order), place, .. } => format!("store {order:?} {}", at(*place)),
        Inst::Rmw { op, order, place, .. } => format!("rmw {op:?} {order:?} {}", at(*place)),
        Inst::CmpXchg(exchange) => {
            let weak = if exchange.weak { "weak " } else { "" };
            let orders = format!("{:?} {:?}", exchange.on_success, exchange.on_failure);
            format!("{weak}cmpxchg {orders} {}", at(exchange.place))
        }
        Inst::Fence { order } => format!("fence {order:?}"),
        Inst::SignalFence => "signal fence".to_owned(),
        Inst::MemCopy { kind, dst_place, src_place, .. } => {
            format!("mem{kind:?} {} from {}", at(*dst_place), at(*src_place))
        }
        Inst::MemSet { place, .. } => format!("memset {}", at(*place)),
        Inst::Call { callee, args, dsts } => {
            let callee = match callee {
                Callee::Direct(id) => program.text(program.functions[*id].name),
                Callee::Indirect(_) => "by pointer",
            };
            let args: Vec<String> = args
                .iter()
                .map(|arg| match (arg.by_value, arg.place) {
                    (Some((bytes, _)), _) => format!("copy of {bytes}"),
                    (None, Some(place)) => format!("&{}", at(place)),
                    (None, None) => "_".to_owned(),
                })
                .collect();
            let results = if dsts.len() > 1 { format!("{} results ", dsts.len()) } else { String::new() };
            format!("call {results}{callee}({})", args.join(" "))
        }
        Inst::Asm { dsts, writes, reads, .. } => {
            format!("asm {} out {} written {} in", dsts.len(), writes.len(), reads.len())
        }
        Inst::TlsAddr { global, .. } => {
            let global = &program.globals[*global];
            format!("tls {}", program.text(global.name.unwrap_or(global.symbol)))
        }
        Inst::VaStart { .. } => "va_start".to_owned(),
        Inst::VaEnd { .. } => "va_end".to_owned(),
        Inst::VaCopy { .. } => "va_copy".to_owned(),
        Inst::StackSave { .. } => "stack save".to_owned(),
        Inst::Unsupported { reason, .. } => format!("unsupported {}", program.text(*reason)),
        Inst::Intrinsic { op, .. } => format!("{op:?}"),
        _ => return None,
    })
}

fn describe_end(program: &Program, _: &Function, block: &Block) -> Option<String> {
    Some(match &block.terminator {
        Terminator::Switch { cases, .. } => format!("switch {}", cases.len()),
        Terminator::IndirectBr { targets, .. } => format!("goto one of {}", targets.len()),
        Terminator::Unsupported { reason } => format!("unsupported {}", program.text(*reason)),
        Terminator::Ret { values } if values.len() > 1 => format!("return {}", values.len()),
        _ => return None,
    })
}
