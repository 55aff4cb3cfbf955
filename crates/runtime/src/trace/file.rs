//! The file around the entries: a header that the tool writes, a few words of it that the program changes, and chunks.
//!
//! All numbers are little endian. Header and chunks begin at multiples of [`HEADER_UNIT`]. A chunk belongs to one thread; its `used`
//! grows when an entry is complete, so that a program that is killed leaves whole entries.

pub const MAGIC: [u8; 8] = *b"RADDLETR";
pub const VERSION: u32 = 2;
/// Header and chunks are multiples of this.
pub const HEADER_UNIT: usize = 4096;
pub const LONGEST_HEADER: usize = 16 << 20;
/// Where the words are that the program changes.
pub const CONTROL: usize = 16;
const TEXT: usize = 64;
/// Bytes of a chunk before its entries.
pub const CHUNK_HEADER: usize = 32;
const CHUNK: u32 = u32::from_le_bytes(*b"RDCH");

/// What the program says about the file as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// The process that writes; 0: none yet.
    pub process: u32,
    /// The process has ended in an orderly way.
    pub ended: bool,
    /// From this sequence number on, entries are missing because there was no room for them; 0: none.
    pub lost: u64,
    /// How long the file is; 0: only the header.
    pub end: u64,
}

/// The beginning of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub control: Control,
    /// What the tool says about the program, as JSON.
    pub text: String,
    /// Where the first chunk is.
    pub bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub thread: u32,
    /// Its place among the chunks of its thread.
    pub number: u32,
    /// With the header.
    pub bytes: usize,
    pub used: usize,
}

/// A header for a program that has not begun, with what the tool says about it.
pub fn new_header(text: &str) -> Vec<u8> {
    let mut bytes = vec![0; (TEXT + text.len()).next_multiple_of(HEADER_UNIT)];
    bytes[..8].copy_from_slice(&MAGIC);
    put(&mut bytes, 8, VERSION);
    let length = bytes.len() as u32;
    put(&mut bytes, 12, length);
    put(&mut bytes, 40, text.len() as u32);
    bytes[48..56].copy_from_slice(&checksum(text.as_bytes()).to_le_bytes());
    bytes[TEXT..TEXT + text.len()].copy_from_slice(text.as_bytes());
    bytes
}

impl Header {
    /// The header at the start of a file; what is wrong and where, if it is none.
    pub fn read(bytes: &[u8]) -> Result<Header, (usize, String)> {
        if bytes.get(..8).is_none_or(|magic| magic != MAGIC) {
            return Err((0, "this is no trace of `raddle record`".to_owned()));
        }
        let Some(fixed) = bytes.get(..TEXT) else {
            return Err((bytes.len(), "the file ends in its header".to_owned()));
        };
        let (word, long) =
            (|at| word(fixed, at), |at| u64::from(word(fixed, at)) | u64::from(word(fixed, at + 4)) << 32);
        if word(8) != VERSION {
            let message = format!("the trace has version {}, this Raddle reads version {VERSION}", word(8));
            return Err((8, message));
        }
        let (length, text) = (word(12) as usize, word(40) as usize);
        if !length.is_multiple_of(HEADER_UNIT)
            || length == 0
            || length > LONGEST_HEADER
            || text > length - TEXT
        {
            return Err((12, "the header has an impossible length".to_owned()));
        }
        let Some(text) = bytes.get(TEXT..TEXT + text) else {
            return Err((bytes.len(), "the file ends in its header".to_owned()));
        };
        if checksum(text) != long(48) {
            return Err((TEXT, "the header is damaged".to_owned()));
        }
        let text =
            str::from_utf8(text).map_err(|error| (TEXT + error.valid_up_to(), "no UTF-8".to_owned()))?;
        let control = Control { process: word(16), ended: word(20) != 0, lost: long(24), end: long(32) };
        Ok(Header { control, text: text.to_owned(), bytes: length })
    }
}

/// The chunk that these bytes begin with; `None` where one was about to be made.
pub fn chunk(bytes: &[u8]) -> Result<Option<Chunk>, &'static str> {
    let Some(bytes) = bytes.get(..CHUNK_HEADER) else { return Err("the file ends in the header of a chunk") };
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let words = [word(bytes, 0), word(bytes, 4), word(bytes, 8), word(bytes, 12)];
    if words[0] != CHUNK || word(bytes, 20) != mixed(words) {
        return Err("here should be a chunk");
    }
    let (length, used) = (words[1] as usize, word(bytes, 16) as usize);
    if !length.is_multiple_of(HEADER_UNIT) || length == 0 || used > length - CHUNK_HEADER {
        return Err("a chunk has an impossible length");
    }
    Ok(Some(Chunk { thread: words[2], number: words[3], bytes: length, used }))
}

/// Writes the header of a chunk; `used` is the word at 16.
pub fn write_chunk(out: &mut [u8; CHUNK_HEADER], chunk: Chunk) {
    let words = [CHUNK, chunk.bytes as u32, chunk.thread, chunk.number];
    words.iter().enumerate().for_each(|(at, value)| put(out, 4 * at, *value));
    put(out, 16, chunk.used as u32);
    put(out, 20, mixed(words));
}

fn mixed(words: [u32; 4]) -> u32 {
    words.iter().fold(0x811c_9dc5, |hash, word| (hash ^ word).wrapping_mul(0x0100_0193).rotate_left(13))
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}
