//! The table of sites: what the numbers in instrumented code mean, as bytes for the section `.raddle.sites`.
//!
//! Layout, all numbers little-endian `u32`: magic, version, checksum of the rest (128 bits); number of sites of the program; strings
//! (count, then length and UTF-8 bytes each); entries (count, then [`FIELDS`] numbers each), ascending by id. Strings are named by
//! index, 0 is the empty one. An entry that was inlined names the entry of the call, which has a smaller id or is one of the
//! program's own sites. The reader takes bytes from anywhere: what does not fit is an error.

use std::collections::HashMap;

use raddle_base::{SiteId, StableHasher};
use raddle_ir::{Code, DebugType, Inst, PlaceBase, PlaceId, Program};

use crate::marks::{Inlined, UsedSites};

/// What happens at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    Other,
    Read,
    Write,
    /// Reads one range, writes another.
    Copy,
    Atomic,
    Fence,
    Call,
}

/// One entry, with its texts; empty where unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site<'a> {
    pub id: u32,
    /// The site of the program, equal to `id` unless the code was inlined.
    pub original: SiteId,
    /// The id of the call that this code was inlined at.
    pub inlined_at: Option<u32>,
    pub kind: Kind,
    pub file: &'a str,
    pub line: u32,
    pub column: u32,
    pub function: &'a str,
    /// What the programmer wrote for what is accessed (written, for a copy) or called.
    pub expression: &'a str,
    /// For a copy: what is read. For a call: what the first pointer among its arguments points to.
    pub source: &'a str,
    /// The variable that the expression starts from, and its type.
    pub variable: &'a str,
    pub variable_type: &'a str,
}

/// A decoded table.
#[derive(Clone, Debug)]
pub struct Sites {
    program_sites: u32,
    strings: Vec<String>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SitesError {
    #[error("not a table of sites")]
    Foreign,
    #[error("a table of sites of version {0}, which this version of Raddle does not read")]
    Version(u32),
    #[error("the table of sites is cut or damaged")]
    Damaged,
}

const MAGIC: &[u8; 8] = b"RADDLESI";
const VERSION: u32 = 1;
const FIELDS: usize = 12;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: u32,
    original: u32,
    inlined_at: u32,
    kind: Kind,
    file: u32,
    line: u32,
    column: u32,
    function: u32,
    expression: u32,
    source: u32,
    variable: u32,
    variable_type: u32,
}

/// Reads a table.
pub fn decode(bytes: &[u8]) -> Result<Sites, SitesError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(SitesError::Foreign)?;
    let (version, rest) = rest.split_first_chunk::<4>().ok_or(SitesError::Damaged)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(SitesError::Version(version));
    }
    let (sum, body) = rest.split_first_chunk::<16>().ok_or(SitesError::Damaged)?;
    if checksum(body) != u128::from_le_bytes(*sum) {
        return Err(SitesError::Damaged);
    }
    parse(body).ok_or(SitesError::Damaged)
}

impl Sites {
    /// How many sites the program has; ids from there on are inlined ones.
    pub fn program_sites(&self) -> u32 {
        self.program_sites
    }

    pub fn get(&self, id: u32) -> Option<Site<'_>> {
        let index = self.entries.binary_search_by_key(&id, |entry| entry.id).ok()?;
        Some(self.view(&self.entries[index]))
    }

    /// The site and then the calls that it was inlined at, innermost first.
    pub fn frames(&self, id: u32) -> Vec<Site<'_>> {
        let mut frames = Vec::new();
        let mut next = Some(id);
        while let Some(site) = next.and_then(|id| self.get(id)) {
            // A call lies below what was inlined at it: this ends.
            next = site.inlined_at;
            frames.push(site);
        }
        frames
    }

    pub fn iter(&self) -> impl Iterator<Item = Site<'_>> {
        self.entries.iter().map(|entry| self.view(entry))
    }

    fn view(&self, entry: &Entry) -> Site<'_> {
        let text = |index: u32| self.strings[index as usize].as_str();
        Site {
            id: entry.id,
            original: SiteId(entry.original),
            inlined_at: (entry.inlined_at != NONE).then_some(entry.inlined_at),
            kind: entry.kind,
            file: text(entry.file),
            line: entry.line,
            column: entry.column,
            function: text(entry.function),
            expression: text(entry.expression),
            source: text(entry.source),
            variable: text(entry.variable),
            variable_type: text(entry.variable_type),
        }
    }
}

fn parse(body: &[u8]) -> Option<Sites> {
    let mut reader = Reader { rest: body };
    let program_sites = reader.number()?;
    let count = reader.number()? as usize;
    let mut strings = Vec::new();
    for _ in 0..count {
        let length = reader.number()? as usize;
        strings.push(std::str::from_utf8(reader.bytes(length)?).ok()?.to_owned());
    }
    let count = reader.number()? as usize;
    if reader.rest.len() != count.checked_mul(FIELDS * 4)? {
        return None;
    }
    let mut entries: Vec<Entry> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut numbers = [0; FIELDS];
        for number in &mut numbers {
            *number = reader.number()?;
        }
        let entry = Entry::from_numbers(numbers)?;
        let texts =
            [entry.file, entry.function, entry.expression, entry.source, entry.variable, entry.variable_type];
        let known = texts.iter().all(|index| (*index as usize) < strings.len());
        let ascending = entries.last().is_none_or(|last| last.id < entry.id);
        let plain = entry.inlined_at == NONE && entry.original == entry.id && entry.id < program_sites;
        let inlined =
            entry.inlined_at < entry.id && entry.id >= program_sites && entry.original < program_sites;
        if !known || !ascending || !(plain || inlined) {
            return None;
        }
        entries.push(entry);
    }
    Some(Sites { program_sites, strings, entries })
}

impl Entry {
    fn numbers(&self) -> [u32; FIELDS] {
        [
            self.id,
            self.original,
            self.inlined_at,
            self.kind as u32,
            self.file,
            self.line,
            self.column,
            self.function,
            self.expression,
            self.source,
            self.variable,
            self.variable_type,
        ]
    }

    fn from_numbers(numbers: [u32; FIELDS]) -> Option<Entry> {
        let [id, original, inlined_at, kind, file, line, column, function, expression, source, ..] = numbers;
        let kinds = [Kind::Other, Kind::Read, Kind::Write, Kind::Copy, Kind::Atomic, Kind::Fence, Kind::Call];
        Some(Entry {
            id,
            original,
            inlined_at,
            kind: *kinds.get(kind as usize)?,
            file,
            line,
            column,
            function,
            expression,
            source,
            variable: numbers[10],
            variable_type: numbers[11],
        })
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*number))
    }

    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }
}

fn checksum(bytes: &[u8]) -> u128 {
    let mut hasher = StableHasher::new();
    hasher.bytes(bytes);
    hasher.finish128()
}

/// Writes the table of all sites that instrumented code uses.
pub(crate) fn encode(program: &Program, used: &UsedSites) -> Vec<u8> {
    let mut writer = Writer { program, strings: vec![String::new()], known: HashMap::new() };
    writer.known.insert(String::new(), 0);
    let mut entries: Vec<Entry> =
        used.plain.iter().filter_map(|id| writer.entry(*id, SiteId(*id), None)).collect();
    for (index, Inlined { site, at }) in used.inlined.iter().enumerate() {
        let id = (program.sites.len() + index) as u32;
        entries.extend(writer.entry(id, *site, Some(*at)));
    }
    let mut body = Vec::new();
    let mut number = |number: u32| body.extend(number.to_le_bytes());
    number(program.sites.len() as u32);
    number(writer.strings.len() as u32);
    for text in &writer.strings {
        body.extend((text.len() as u32).to_le_bytes());
        body.extend(text.as_bytes());
    }
    body.extend((entries.len() as u32).to_le_bytes());
    for entry in &entries {
        body.extend(entry.numbers().iter().flat_map(|number| number.to_le_bytes()));
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(checksum(&body).to_le_bytes());
    bytes.extend(body);
    bytes
}

struct Writer<'p> {
    program: &'p Program,
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
