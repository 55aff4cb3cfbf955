//! What each site of a program is, for the table of sites ([`raddle_runtime::sites`] has its form).

use std::collections::{BTreeMap, HashMap};

use raddle_base::SiteId;
use raddle_ir::{Code, DebugType, Inst, PlaceBase, PlaceId, Program};
use raddle_runtime::sites::{self as table, Entry, NONE};

use crate::marks::{Inlined, UsedSites};

pub use raddle_runtime::sites::{Checks, Kind, Reads, Site, Sites, SitesError, decode};

/// Writes the table of all sites that instrumented code uses.
pub(crate) fn encode(program: &Program, used: &UsedSites) -> Vec<u8> {
    let reads = &used.reads;
    let mut writer = Writer { program, reads, strings: vec![String::new()], known: HashMap::new() };
    writer.known.insert(String::new(), 0);
    let mut entries: Vec<Entry> =
        used.plain.iter().filter_map(|id| writer.entry(*id, SiteId(*id), None)).collect();
    for (index, Inlined { site, at }) in used.inlined.iter().enumerate() {
        let id = (program.sites.len() + index) as u32;
        entries.extend(writer.entry(id, *site, Some(*at)));
    }
    table::encode(program.sites.len() as u32, used.checks, &writer.strings, &entries)
}

struct Writer<'p> {
    program: &'p Program,
    reads: &'p BTreeMap<u32, Reads>,
    strings: Vec<String>,
    known: HashMap<String, u32>,
}

impl Writer<'_> {
    fn string(&mut self, text: String) -> u32 {
        if let Some(index) = self.known.get(&text) {
            return *index;
        }
        let index = self.strings.len() as u32;
        self.strings.push(text.clone());
        self.known.insert(text, index);
        index
    }

    fn entry(&mut self, id: u32, site: SiteId, at: Option<u32>) -> Option<Entry> {
        let program = self.program;
        let info = program.sites.get(site)?;
        let function = &program.functions[info.function];
        let (file, line, column) = match info.span {
            Some(span) => (program.files[span.file].clone(), span.line, span.column),
            None => (String::new(), 0, 0),
        };
        let what = describe(program, site);
        let text = |place: Option<PlaceId>| place.map(|place| program.place_text(place)).unwrap_or_default();
        let (variable, variable_type) = what.place.map(|place| variable(program, place)).unwrap_or_default();
        let expression = if what.text.is_empty() { text(what.place) } else { what.text };
        Some(Entry {
            id,
            original: site.0,
            inlined_at: at.unwrap_or(NONE),
            kind: what.kind,
            reads: self.reads.get(&id).copied().unwrap_or(unknown(what.kind)),
            file: self.string(file),
            line,
            column,
            function: self.string(program.text(function.name).to_owned()),
            expression: self.string(expression),
            source: self.string(text(what.source)),
            variable: self.string(variable),
            variable_type: self.string(variable_type),
        })
    }
}

/// Of a site where no instruction of the program was seen to read: library functions do what is not looked at.
fn unknown(kind: Kind) -> Reads {
    match kind {
        Kind::Write | Kind::Fence => Reads::Nothing,
        Kind::Other | Kind::Read | Kind::Copy | Kind::Atomic | Kind::Call => Reads::Decides,
    }
}

struct Description {
    kind: Kind,
    place: Option<PlaceId>,
    source: Option<PlaceId>,
    text: String,
}

fn describe(program: &Program, site: SiteId) -> Description {
    let mut text = String::new();
    let (kind, place, source) = match program.code_at(site) {
        Some(Code::Inst(inst)) => match inst {
            Inst::Load { atomic: Some(_), place, .. }
            | Inst::Store { atomic: Some(_), place, .. }
            | Inst::Rmw { place, .. } => (Kind::Atomic, Some(*place), None),
            Inst::CmpXchg(exchange) => (Kind::Atomic, Some(exchange.place), None),
            Inst::Load { place, .. } => (Kind::Read, Some(*place), None),
            Inst::Store { place, .. } | Inst::MemSet { place, .. } => (Kind::Write, Some(*place), None),
            Inst::MemCopy { dst_place, src_place, .. } => (Kind::Copy, Some(*dst_place), Some(*src_place)),
            Inst::Fence { .. } => (Kind::Fence, None, None),
            Inst::Call { callee, args, .. } => {
                if let raddle_ir::Callee::Direct(function) = callee {
                    text = program.text(program.functions[*function].name).to_owned();
                }
                (Kind::Call, None, args.iter().find_map(|argument| argument.place))
            }
            _ => (Kind::Other, None, None),
        },
        _ => (Kind::Other, None, None),
    };
    Description { kind, place, source, text }
}

/// The variable that a path starts from, and its type as the programmer would write it.
fn variable(program: &Program, place: PlaceId) -> (String, String) {
    match &program.places[place].base {
        PlaceBase::Global(global) => {
            let global = &program.globals[*global];
            let name = program.text(global.name.unwrap_or(global.symbol)).to_owned();
            (name, global.debug_type.map(|ty| type_text(program, ty, 0)).unwrap_or_default())
        }
        PlaceBase::Local(name) | PlaceBase::Value { name, .. } => {
            (program.text(*name).to_owned(), String::new())
        }
        PlaceBase::Unnamed(_) => Default::default(),
    }
}

fn type_text(program: &Program, ty: raddle_ir::DebugTypeId, depth: u32) -> String {
    if depth > 16 {
        return String::new();
    }
    let inner = |ty| type_text(program, ty, depth + 1);
    match &program.debug_types[ty] {
        DebugType::Scalar { name, .. } | DebugType::Typedef { name, .. } => program.text(*name).to_owned(),
        DebugType::Pointer { to } => format!("{} *", inner(*to)),
        DebugType::Array { element, count: Some(count) } => format!("{}[{count}]", inner(*element)),
        DebugType::Array { element, count: None } => format!("{}[]", inner(*element)),
        DebugType::Record { kind, name, .. } => {
            let word = match kind {
                raddle_ir::RecordKind::Struct => "struct",
                raddle_ir::RecordKind::Union => "union",
                raddle_ir::RecordKind::Class => "class",
            };
            match name {
                Some(name) => format!("{word} {}", program.text(*name)),
                None => word.to_owned(),
            }
        }
        DebugType::Qualified { qualifier, to } => format!("{} {}", program.text(*qualifier), inner(*to)),
        DebugType::Function => "function".to_owned(),
        DebugType::Void => "void".to_owned(),
        DebugType::Unknown { name } => name.map(|name| program.text(name).to_owned()).unwrap_or_default(),
    }
}
