//! The table of sites: what the numbers in instrumented code mean, as bytes for the section `.raddle.sites`. The program reads its own where
//! it is run without `raddle run`; tools read it from the file.
//!
//! Layout, all numbers little-endian `u32`: magic, version, checksum of the rest (64 bits); number of sites of the program; whether all accesses have checks; strings
//! (count, then length and UTF-8 bytes each); entries (count, then [`FIELDS`] numbers each), ascending by id. Strings are named by
//! index, 0 is the empty one. An entry that was inlined names the entry of the call, which has a smaller id or is one of the
//! program's own sites. The reader takes bytes from anywhere: what does not fit is an error.

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

/// What becomes of what is read at a site, by the check there or by others that it stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Reads {
    /// Nothing is read.
    #[default]
    Nothing,
    /// The value only goes on into memory that is checked, or nowhere.
    Passes,
    /// It may decide a branch, an address, or what nobody records.
    Decides,
}

/// One entry, with its texts; empty where unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site<'a> {
    pub id: u32,
    /// The site of the program, equal to `id` unless the code was inlined.
    pub original: u32,
    /// The id of the call that this code was inlined at.
    pub inlined_at: Option<u32>,
    pub kind: Kind,
    pub reads: Reads,
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

impl<'a> Site<'a> {
    /// What the programmer wrote for what is accessed here.
    pub fn accessed(&self, is_write: bool) -> &'a str {
        match self.kind {
            Kind::Copy if !is_write => self.source,
            // A library function: its first pointer is what it writes, as a rule.
            Kind::Call if is_write => self.source,
            Kind::Call => "",
            _ => self.expression,
        }
    }

    /// Whether a call here ends the life of a block.
    pub fn is_free(&self) -> bool {
        const FREES: [&str; 6] = ["free", "realloc", "reallocarray", "_ZdlPv", "_ZdaPv", "_ZdlPvm"];
        self.kind == Kind::Call && FREES.contains(&self.expression)
    }
}

/// Which accesses of the program have checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Checks {
    #[default]
    All,
    /// Not those that were proved free of races, and never shown by a run.
    Unproved,
}

/// A decoded table.
#[derive(Clone, Debug)]
pub struct Sites {
    program_sites: u32,
    checks: Checks,
    strings: Vec<String>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitesError {
    Foreign,
    Version(u32),
    Damaged,
}

impl std::error::Error for SitesError {}

impl std::fmt::Display for SitesError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Foreign => write!(out, "not a table of sites"),
            Self::Version(version) => {
                write!(
                    out,
                    "a table of sites of version {version}, which this version of Raddle does not read"
                )
            }
            Self::Damaged => write!(out, "the table of sites is cut or damaged"),
        }
    }
}

const MAGIC: &[u8; 8] = b"RADDLESI";
const VERSION: u32 = 3;
const FIELDS: usize = 13;
/// For [`Entry::inlined_at`].
pub const NONE: u32 = u32::MAX;

/// A [`Site`] with its texts as indices.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub id: u32,
    pub original: u32,
    pub inlined_at: u32,
    pub kind: Kind,
    pub reads: Reads,
    pub file: u32,
    pub line: u32,
    pub column: u32,
    pub function: u32,
    pub expression: u32,
    pub source: u32,
    pub variable: u32,
    pub variable_type: u32,
}

/// Writes a table. Entries ascend by id and name strings that are there.
pub fn encode(program_sites: u32, checks: Checks, strings: &[String], entries: &[Entry]) -> Vec<u8> {
    let mut body = Vec::new();
    let mut number = |number: u32| body.extend(number.to_le_bytes());
    number(program_sites);
    number(checks as u32);
    number(strings.len() as u32);
    for text in strings {
        body.extend((text.len() as u32).to_le_bytes());
        body.extend(text.as_bytes());
    }
    body.extend((entries.len() as u32).to_le_bytes());
    for entry in entries {
        body.extend(entry.numbers().iter().flat_map(|number| number.to_le_bytes()));
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(checksum(&body).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// Reads a table.
pub fn decode(bytes: &[u8]) -> Result<Sites, SitesError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(SitesError::Foreign)?;
    let (version, rest) = rest.split_first_chunk::<4>().ok_or(SitesError::Damaged)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(SitesError::Version(version));
    }
    let (sum, body) = rest.split_first_chunk::<8>().ok_or(SitesError::Damaged)?;
    if checksum(body) != u64::from_le_bytes(*sum) {
        return Err(SitesError::Damaged);
    }
    parse(body).ok_or(SitesError::Damaged)
}

impl Sites {
    /// How many sites the program has; ids from there on are inlined ones.
    pub fn program_sites(&self) -> u32 {
        self.program_sites
    }

    pub fn checks(&self) -> Checks {
        self.checks
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
            original: entry.original,
            inlined_at: (entry.inlined_at != NONE).then_some(entry.inlined_at),
            kind: entry.kind,
            reads: entry.reads,
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
    let checks = match reader.number()? {
        0 => Checks::All,
        1 => Checks::Unproved,
        _ => return None,
    };
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
    Some(Sites { program_sites, checks, strings, entries })
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
            self.reads as u32,
        ]
    }

    fn from_numbers(numbers: [u32; FIELDS]) -> Option<Entry> {
        let [id, original, inlined_at, kind, file, line, column, function, expression, source, ..] = numbers;
        let reads = [Reads::Nothing, Reads::Passes, Reads::Decides];
        let kinds = [Kind::Other, Kind::Read, Kind::Write, Kind::Copy, Kind::Atomic, Kind::Fence, Kind::Call];
        Some(Entry {
            id,
            original,
            inlined_at,
            kind: *kinds.get(kind as usize)?,
            reads: *reads.get(numbers[12] as usize)?,
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

/// Over everything behind the checksum: FNV-1a by words of 8 bytes, with the bits of each product mixed.
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^= sum >> 29;
    }
    sum
}
