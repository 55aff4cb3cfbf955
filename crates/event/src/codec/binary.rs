//! Traces as bytes: magic, version, count, then per event its tag, thread, site and fields as LEB128 numbers.

use super::CodecError;
use super::words::{decode, encode, field_count};
use crate::{Event, ThreadId, Trace};
use raddle_base::SiteId;

const MAGIC: &[u8; 8] = b"RADDLETR";
const VERSION: u64 = 1;

impl Trace {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        put(&mut bytes, VERSION);
        put(&mut bytes, self.events.len() as u64);
        for event in &self.events {
            let (tag, fields) = encode(event.kind);
            put(&mut bytes, tag as u64);
            put(&mut bytes, u64::from(event.thread.0));
            // No site is 0, so that the usual small numbers stay short.
            put(&mut bytes, u64::from(event.site.0.wrapping_add(1)));
            fields.iter().for_each(|field| put(&mut bytes, *field));
        }
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Trace, CodecError> {
        let mut reader = Reader { bytes, at: 0 };
        if !bytes.starts_with(MAGIC) {
            return Err(CodecError::byte(0, "not a trace of Raddle"));
        }
        reader.at = MAGIC.len();
        let version = reader.number()?;
        if version != VERSION {
            return Err(CodecError::byte(MAGIC.len(), format!("version {version} is not known")));
        }
        let count = reader.number()?;
        // An event has at least three bytes: a damaged count must not reserve memory.
        let mut events = Vec::with_capacity(count.min(bytes.len() as u64 / 3) as usize);
        for _ in 0..count {
            events.push(reader.event()?);
        }
        if reader.at != bytes.len() {
            return Err(CodecError::byte(reader.at, "bytes after the last event"));
        }
        Ok(Trace { events })
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn event(&mut self) -> Result<Event, CodecError> {
        let start = self.at;
        let bad = || CodecError::byte(start, "no event that is known");
        let tag = self.number()? as usize;
        let thread = ThreadId(u32::try_from(self.number()?).map_err(|_| bad())?);
        let site = u32::try_from(self.number()?).map_err(|_| bad())?;
        let count = field_count(tag).ok_or_else(bad)?;
        let fields = (0..count).map(|_| self.number()).collect::<Result<Vec<_>, _>>()?;
        let kind = decode(tag, &fields).ok_or_else(bad)?;
        Ok(Event { thread, site: SiteId(site.wrapping_sub(1)), kind })
    }

    fn number(&mut self) -> Result<u64, CodecError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let Some(byte) = self.bytes.get(self.at) else {
                return Err(CodecError::byte(self.at, "ends in the middle"));
            };
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                break;
            }
            self.at += 1;
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(CodecError::byte(self.at, "a number of more than 64 bits"))
    }
}

fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
