//! Bitcode kept in ELF files: the section `.raddle.bc`, one framed record per compiled unit.
//!
//! A linker puts the sections of its inputs behind each other, so a linked file tells which units it was made of; no tool in between
//! needs to know the section. A record says how long it is and carries a checksum, because the file may come from anywhere: what is
//! cut or changed is an error, never a crash.

pub mod elf;

use raddle_base::StableHasher;

/// Where the records are.
pub const BITCODE_SECTION: &str = ".raddle.bc";
/// Where the table of sites of an instrumented program is.
pub const SITES_SECTION: &str = ".raddle.sites";

/// All units in an ELF file; none in one that has no such section.
pub fn units(file: &[u8]) -> Result<Vec<Unit>, String> {
    let sections = elf::sections(file, BITCODE_SECTION)?;
    let units: Result<Vec<Vec<Unit>>, String> = sections.into_iter().map(decode).collect();
    Ok(units?.concat())
}

/// The records of a section, in the order in which the linker took the units.
pub fn decode(section: &[u8]) -> Result<Vec<Unit>, String> {
    let mut units = Vec::new();
    let mut rest = section;
    loop {
        // A linker may fill up between two sections.
        while let [0, tail @ ..] = rest {
            rest = tail;
        }
        if rest.is_empty() {
            return Ok(units);
        }
        let (unit, tail) = record(rest)?;
        units.push(unit);
        rest = tail;
    }
}

/// One record.
pub fn encode(unit: &Unit) -> Vec<u8> {
    let mut payload = vec![unit.level as u8];
    for text in [&unit.source, &unit.flags.join("\0")] {
        payload.extend((text.len() as u32).to_le_bytes());
        payload.extend(text.as_bytes());
    }
    payload.extend(&unit.bitcode);
    let mut bytes = MAGIC.to_vec();
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(checksum(&payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// One compiled source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// As the user named it.
    pub source: String,
    /// The user's optimisation level; the bitcode itself is not optimised.
    pub level: Level,
    /// The user's flags that code generation must know (`-march=…`, `-fPIC`).
    pub flags: Vec<String>,
    pub bitcode: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    O0,
    O1,
    /// Small before fast, as the next two.
    Oz,
    Os,
    O2,
    O3,
}

impl Level {
    const ALL: [Level; 6] = [Level::O0, Level::O1, Level::Oz, Level::Os, Level::O2, Level::O3];
}

/// Starts every record; the last byte is the version.
const MAGIC: &[u8; 8] = b"RADDLE\xB4\x01";

fn record(bytes: &[u8]) -> Result<(Unit, &[u8]), String> {
    const CUT: &str = "a record of bitcode is cut";
    let rest = bytes.strip_prefix(MAGIC).ok_or("something else than a record of bitcode is in the way")?;
    let (length, rest) = rest.split_first_chunk::<8>().ok_or(CUT)?;
    let (sum, rest) = rest.split_first_chunk::<16>().ok_or(CUT)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| CUT)?;
    let (payload, tail) = rest.split_at_checked(length).ok_or(CUT)?;
    if checksum(payload) != u128::from_le_bytes(*sum) {
        return Err("a record of bitcode was changed".to_owned());
    }
    let (level, payload) = payload.split_first().ok_or(CUT)?;
    let level = *Level::ALL.get(usize::from(*level)).ok_or("a record has an unknown optimisation level")?;
    let (source, payload) = text(payload).ok_or(CUT)?;
    let (flags, bitcode) = text(payload).ok_or(CUT)?;
    let flags = flags.split('\0').filter(|flag| !flag.is_empty()).map(str::to_owned).collect();
    Ok((Unit { source, level, flags, bitcode: bitcode.to_vec() }, tail))
}

fn text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((String::from_utf8_lossy(text).into_owned(), rest))
}

fn checksum(payload: &[u8]) -> u128 {
    let mut hasher = StableHasher::new();
    hasher.bytes(payload);
    hasher.finish128()
}

#[cfg(test)]
mod tests {
    use super::{Level, Unit, decode, encode};

    fn unit(name: &str) -> Unit {
        Unit {
            source: name.to_owned(),
            level: Level::O2,
            flags: vec!["-march=native".to_owned(), "-fPIC".to_owned()],
            bitcode: b"BC\xC0\xDE and so on\0\0".to_vec(),
        }
    }

    #[test]
    fn records_come_back_in_order_over_padding() {
        let units = [unit("a.c"), unit("b c.c"), Unit { flags: Vec::new(), bitcode: Vec::new(), ..unit("") }];
        let mut section = Vec::new();
        for unit in &units {
            section.extend(encode(unit));
            section.extend([0; 3]);
        }
        assert_eq!(decode(&section), Ok(units.to_vec()));
        assert_eq!(decode(&[]), Ok(Vec::new()));
    }

    #[test]
    fn what_is_cut_or_changed_is_an_error() {
        let whole = encode(&unit("a.c"));
        for end in 1..whole.len() {
            assert!(decode(&whole[..end]).is_err(), "cut at {end}");
        }
        for index in 0..whole.len() {
            for bit in [0, 3, 7] {
                let mut changed = whole.clone();
                changed[index] ^= 1 << bit;
                assert!(decode(&changed).is_err(), "byte {index}, bit {bit}");
            }
        }
    }
}
