//! Sections of 64-bit little-endian ELF files: finds one by name, appends one.
//!
//! Appending leaves every byte where it is: the new section, a longer table of names and a new table of headers go to the end, and the
//! file header points there. So it works alike for objects, shared objects and executables, and needs no knowledge of what is inside.
//! Nothing in a file is believed before it is checked against its length.

/// What kind of file it is, by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Object,
    Executable,
    /// A shared object; position-independent executables are such files, too.
    Shared,
}

/// Whether these bytes start like an ELF file.
pub fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The kind of an x86-64 file; `None` for other machines and kinds.
pub fn kind(bytes: &[u8]) -> Option<Kind> {
    const X86_64: u16 = 62;
    let header = Header::of(bytes).ok()?;
    if header.machine != X86_64 {
        return None;
    }
    match header.kind {
        1 => Some(Kind::Object),
        2 => Some(Kind::Executable),
        3 => Some(Kind::Shared),
        _ => None,
    }
}

/// The content of the first section of that name.
pub fn section<'a>(bytes: &'a [u8], name: &str) -> Result<Option<&'a [u8]>, String> {
    Ok(sections(bytes, name)?.first().copied())
}

/// The contents of all sections of that name.
pub fn sections<'a>(bytes: &'a [u8], name: &str) -> Result<Vec<&'a [u8]>, String> {
    const NO_BITS: u32 = 8;
    let file = File::of(bytes)?;
    let mut found = Vec::new();
    for index in 0..file.count {
        let section = file.section(index)?;
        if file.name(section.name)? == name.as_bytes() && section.kind != NO_BITS {
            found.push(file.content(&section)?);
        }
    }
    Ok(found)
}

/// Names of global symbols, each with whether it is defined.
pub fn symbols(bytes: &[u8]) -> Result<Vec<(String, bool)>, String> {
    const TABLES: [u32; 2] = [2, 11];
    const ENTRY: usize = 24;
    let file = File::of(bytes)?;
    let mut found = Vec::new();
    for index in 0..file.count {
        let section = file.section(index)?;
        if !TABLES.contains(&section.kind) {
            continue;
        }
        let names = file.section(u64::from(section.link))?;
        let names = file.content(&names)?;
        for entry in file.content(&section)?.chunks_exact(ENTRY) {
            let local = entry[4] >> 4 == 0;
            let name = terminated(names, u32_at(entry, 0)?).ok_or(DAMAGED)?;
            if !local && !name.is_empty() {
                found.push((String::from_utf8_lossy(name).into_owned(), u16_at(entry, 6)? != 0));
            }
        }
    }
    Ok(found)
}

/// The file with one more section, which no program loads.
pub fn with_section(bytes: &[u8], name: &str, data: &[u8]) -> Result<Vec<u8>, String> {
    let file = File::of(bytes)?;
    let names = file.content(&file.section(file.names)?)?;
    let mut out = bytes.to_vec();
    let data_at = out.len() as u64;
    out.extend(data);
    let (names_at, name_at) = (out.len() as u64, names.len());
    out.extend(names);
    out.extend(name.as_bytes());
    out.push(0);
    let names_size = out.len() as u64 - names_at;
    out.resize(out.len().next_multiple_of(8), 0);
    let headers_at = out.len();
    let old = file.headers_at as usize;
    out.extend_from_slice(&bytes[old..old + file.count as usize * HEADER]);
    let name_at = u32::try_from(name_at).map_err(|_| "its table of names is full")?;
    out.extend(new_header(name_at, data_at, data.len() as u64));
    let names_header = headers_at + file.names as usize * HEADER;
    put(&mut out, names_header + 24, &names_at.to_le_bytes());
    put(&mut out, names_header + 32, &names_size.to_le_bytes());
    put(&mut out, HEADERS_AT, &(headers_at as u64).to_le_bytes());
    let count = file.count + 1;
    if count < RESERVED {
        put(&mut out, COUNT, &(count as u16).to_le_bytes());
    } else {
        // Too many for the header: the count is the size of the first section.
        put(&mut out, COUNT, &[0, 0]);
        put(&mut out, headers_at + 32, &count.to_le_bytes());
    }
    Ok(out)
}

const MAGIC: &[u8] = b"\x7fELF";
const DAMAGED: &str = "it is damaged";
/// Bytes of a section header.
const HEADER: usize = 64;
/// Fields of the file header: where section headers are, how many, and which one has the names.
const HEADERS_AT: usize = 0x28;
const COUNT: usize = 0x3C;
const NAMES: usize = 0x3E;
/// Section numbers from here on are kept elsewhere.
const RESERVED: u64 = 0xFF00;

struct Header {
    kind: u16,
    machine: u16,
}

impl Header {
    fn of(bytes: &[u8]) -> Result<Self, String> {
        const CLASS_64_LITTLE_ENDIAN: [u8; 2] = [2, 1];
        if !is_elf(bytes) {
            return Err("it is not an ELF file".to_owned());
        }
        if bytes.get(4..6) != Some(&CLASS_64_LITTLE_ENDIAN) {
            return Err("it is not a 64-bit little-endian ELF file".to_owned());
        }
        Ok(Self { kind: u16_at(bytes, 16)?, machine: u16_at(bytes, 18)? })
    }
}

struct File<'a> {
    bytes: &'a [u8],
    headers_at: u64,
    count: u64,
    names: u64,
}

struct Section {
    name: u32,
    kind: u32,
    at: u64,
    size: u64,
    link: u32,
}

impl<'a> File<'a> {
    fn of(bytes: &'a [u8]) -> Result<Self, String> {
        Header::of(bytes)?;
        let headers_at = u64_at(bytes, HEADERS_AT)?;
        if headers_at == 0 {
            return Err("its sections were stripped away".to_owned());
        }
        if usize::from(u16_at(bytes, COUNT - 2)?) != HEADER {
            return Err(DAMAGED.to_owned());
        }
        let mut file = Self { bytes, headers_at, count: 1, names: 0 };
        let first = file.section(0)?;
        let (count, names) = (u16_at(bytes, COUNT)?, u16_at(bytes, NAMES)?);
        file.count = if count == 0 { first.size } else { u64::from(count) };
        file.names = if names == 0xFFFF { u64::from(first.link) } else { u64::from(names) };
        let end = file.count.checked_mul(HEADER as u64).and_then(|size| size.checked_add(headers_at));
        if end.is_none_or(|end| end > bytes.len() as u64) || file.names >= file.count {
            return Err(DAMAGED.to_owned());
        }
        Ok(file)
    }

    fn section(&self, index: u64) -> Result<Section, String> {
        if index >= self.count {
            return Err(DAMAGED.to_owned());
        }
        let at = usize::try_from(self.headers_at).ok().and_then(|at| at.checked_add(index as usize * HEADER));
        let header = at.and_then(|at| self.bytes.get(at..)?.get(..HEADER)).ok_or(DAMAGED)?;
        Ok(Section {
            name: u32_at(header, 0)?,
            kind: u32_at(header, 4)?,
            at: u64_at(header, 24)?,
            size: u64_at(header, 32)?,
            link: u32_at(header, 40)?,
        })
    }

    fn content(&self, section: &Section) -> Result<&'a [u8], String> {
        let (at, size) = (usize::try_from(section.at), usize::try_from(section.size));
        let (Ok(at), Ok(size)) = (at, size) else { return Err(DAMAGED.to_owned()) };
        self.bytes.get(at..).and_then(|rest| rest.get(..size)).ok_or_else(|| DAMAGED.to_owned())
    }

    fn name(&self, at: u32) -> Result<&'a [u8], String> {
        let names = self.content(&self.section(self.names)?)?;
        terminated(names, at).ok_or_else(|| DAMAGED.to_owned())
    }
}

fn terminated(names: &[u8], at: u32) -> Option<&[u8]> {
    let rest = names.get(at as usize..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some(&rest[..end])
}

fn new_header(name: u32, at: u64, size: u64) -> Vec<u8> {
    const PROGRAM_BITS: u32 = 1;
    let mut header = Vec::with_capacity(HEADER);
    header.extend(name.to_le_bytes());
    header.extend(PROGRAM_BITS.to_le_bytes());
    // Flags and address.
    header.extend([0; 16]);
    header.extend(at.to_le_bytes());
    header.extend(size.to_le_bytes());
    // Link and information.
    header.extend([0; 8]);
    header.extend(1u64.to_le_bytes());
    header.extend(0u64.to_le_bytes());
    header
}

fn put(out: &mut [u8], at: usize, value: &[u8]) {
    out[at..at + value.len()].copy_from_slice(value);
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, String> {
    array(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, String> {
    array(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Result<u64, String> {
    array(bytes, at).map(u64::from_le_bytes)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], String> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
    found.copied().ok_or_else(|| DAMAGED.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Kind, is_elf, kind, section, symbols, with_section};

    /// This test's own executable: a file that a real linker made.
    fn own_file() -> Vec<u8> {
        std::fs::read("/proc/self/exe").expect("the test's own file is readable")
    }

    #[test]
    fn a_new_section_is_found_and_the_old_ones_stay() {
        let file = own_file();
        assert!(is_elf(&file) && kind(&file).is_some_and(|kind| kind != Kind::Object));
        let text = section(&file, ".text").unwrap().expect("there is code").to_vec();
        let once = with_section(&file, ".raddle.a", b"first").unwrap();
        let twice = with_section(&once, ".raddle.b", b"second").unwrap();
        assert_eq!(section(&twice, ".raddle.a").unwrap(), Some(&b"first"[..]));
        assert_eq!(section(&twice, ".raddle.b").unwrap(), Some(&b"second"[..]));
        assert_eq!(section(&twice, ".text").unwrap(), Some(&text[..]));
        assert_eq!(section(&twice, ".raddle.c").unwrap(), None);
        assert!(symbols(&twice).unwrap().iter().any(|(name, defined)| name == "main" && *defined));
    }

    /// A small file, so that every byte can be tried.
    fn small_file() -> Vec<u8> {
        let names = b"\0.names\0";
        let mut file = vec![0; 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[16] = 1;
        file[18] = 62;
        file[0x28] = 72;
        file[0x3A] = 64;
        file[0x3C] = 2;
        file[0x3E] = 1;
        file.extend(names);
        file.extend([0; 64]);
        let mut header = super::new_header(1, 64, names.len() as u64);
        header[4] = 3;
        file.extend(header);
        with_section(&file, ".raddle.bc", b"content").expect("a whole file")
    }

    #[test]
    fn no_damage_does_more_than_fail() {
        let whole = small_file();
        assert_eq!(section(&whole, ".raddle.bc").unwrap(), Some(&b"content"[..]));
        let try_all = |bytes: &[u8]| {
            let _ = (kind(bytes), symbols(bytes), section(bytes, ".raddle.bc"));
            if let Ok(longer) = with_section(bytes, ".more", b"x") {
                assert!(longer.len() > bytes.len());
            }
        };
        for end in 0..whole.len() {
            try_all(&whole[..end]);
        }
        for index in 0..whole.len() {
            for value in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut changed = whole.clone();
                changed[index] = value;
                try_all(&changed);
                for second in [index + 1, index + 7, 0x28, 0x3C, 0x3E] {
                    if let Some(byte) = changed.get_mut(second) {
                        let old = std::mem::replace(byte, 0xFF);
                        try_all(&changed);
                        changed[second] = old;
                    }
                }
            }
        }
    }
}
