//! One entry of a thread's log, as bytes: a tag, then numbers of 7 bits per byte, most of them differences to the entry before.
//!
//! The tag names the kind and a small code (size, order, mode). Then come the sequence number, the site, and, as the kind says, an
//! address, more numbers, a text. Addresses of plain accesses are differences to the last one of a site with the same low bits, so that
//! loops cost a byte; other addresses to the last of their own. The differences start anew with each chunk.

/// The site of what has none.
pub const NOWHERE: u32 = u32::MAX;

/// What happened. The order is that of the tags: add new ones at the end, and count up the version of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A plain access. Code 0 to 4: 1, 2, 4, 8, 16 bytes; 5: so many bytes; 6: a walk of `[stride, count, size]`.
    Read,
    Write,
    /// Bytes of the granule (a mask) that the plain access before it touched among atomics, in their order.
    ReadAmong,
    WriteAmong,
    /// Code: the memory order of C11; bytes. A failed compare-exchange is a load.
    Load,
    Store,
    Modify,
    Fence,
    /// Code 0: exclusive, 1: shared.
    Acquire,
    Release,
    AcquireFailed,
    /// The condition variable, and the mutex.
    WaitBegin,
    /// Code 0: woken, 1: the time was over, 2: cancelled.
    WaitEnd,
    Signal,
    Broadcast,
    /// Of a barrier, with the round.
    Arrive,
    Depart,
    Post,
    Wait,
    OnceBegin,
    OnceEnd,
    OncePass,
    /// With the value of a semaphore, else 0.
    Init,
    Destroy,
    /// With the number of the other thread.
    Create,
    Join,
    Detach,
    /// Stack and thread-local memory: start and length of each. Code 1: this thread called `fork`, and goes on in a new process.
    Begin,
    End,
    /// A block of the heap and its length.
    Alloc,
    Free,
    /// Mapped memory and its length.
    Map,
    Unmap,
    /// A program or library: where it is loaded, its first byte, its length; its path.
    Module,
    /// First number of the sites of an instrumented library; its path.
    Library,
    /// The detector saw a race: the granule, the bytes (a mask).
    Race,
    /// A loop around condition waits: the condition variable and the mutex, where they are known before the loop.
    LoopBegin,
    LoopEnd,
    /// The process ends in an orderly way.
    Exit,
    /// Something was left out; what.
    Gap,
}

/// An entry as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    pub code: u8,
    pub sequence: u64,
    pub site: u32,
    pub address: u64,
    /// As many as the kind has; the rest is 0.
    pub more: [u64; 4],
    pub text: Vec<u8>,
}

/// An entry to be written.
#[derive(Clone, Copy)]
pub struct Draft<'a> {
    /// With its code.
    pub kind: (Kind, u8),
    pub sequence: u64,
    pub site: u32,
    pub address: u64,
    /// As many as the kind and code have.
    pub more: &'a [u64],
    pub text: &'a [u8],
}

/// What differences are to, from entry to entry of one chunk.
#[derive(Clone)]
#[repr(C)]
pub struct State {
    sequence: u64,
    site: u32,
    object: u64,
    places: [u64; PLACES],
}

/// Why bytes are no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    Tag(u8),
    /// The bytes end in the middle.
    End,
    /// More than 64 bits, or a site of more than 32.
    Number,
    Text,
}

const PLACES: usize = 64;
/// No entry without a text is longer.
pub const MOST_BYTES: usize = 80;
const LONGEST_TEXT: u64 = 4096;

/// Kind, number of codes, whether it has an address, further numbers, whether it has a text.
type Form = (Kind, u8, bool, usize, bool);

const FORMS: [Form; 40] = [
    (Kind::Read, 7, true, 0, false),
    (Kind::Write, 7, true, 0, false),
    (Kind::ReadAmong, 1, true, 1, false),
    (Kind::WriteAmong, 1, true, 1, false),
    (Kind::Load, 6, true, 1, false),
    (Kind::Store, 6, true, 1, false),
    (Kind::Modify, 6, true, 1, false),
    (Kind::Fence, 6, false, 0, false),
    (Kind::Acquire, 2, true, 0, false),
    (Kind::Release, 2, true, 0, false),
    (Kind::AcquireFailed, 1, true, 0, false),
    (Kind::WaitBegin, 1, true, 1, false),
    (Kind::WaitEnd, 3, true, 0, false),
    (Kind::Signal, 1, true, 0, false),
    (Kind::Broadcast, 1, true, 0, false),
    (Kind::Arrive, 1, true, 1, false),
    (Kind::Depart, 1, true, 1, false),
    (Kind::Post, 1, true, 0, false),
    (Kind::Wait, 1, true, 0, false),
    (Kind::OnceBegin, 1, true, 0, false),
    (Kind::OnceEnd, 1, true, 0, false),
    (Kind::OncePass, 1, true, 0, false),
    (Kind::Init, 1, true, 1, false),
    (Kind::Destroy, 1, true, 0, false),
    (Kind::Create, 1, false, 1, false),
    (Kind::Join, 1, false, 1, false),
    (Kind::Detach, 1, false, 1, false),
    (Kind::Begin, 2, false, 4, false),
    (Kind::End, 1, false, 0, false),
    (Kind::Alloc, 1, true, 1, false),
    (Kind::Free, 1, true, 0, false),
    (Kind::Map, 1, true, 1, false),
    (Kind::Unmap, 1, true, 1, false),
    (Kind::Module, 1, true, 2, true),
    (Kind::Library, 1, false, 1, true),
    (Kind::Race, 1, true, 1, false),
    (Kind::LoopBegin, 1, true, 1, false),
    (Kind::LoopEnd, 1, false, 0, false),
    (Kind::Exit, 1, false, 0, false),
    (Kind::Gap, 1, false, 0, true),
];

/// The first tag of each kind. Zero is no tag.
const TAGS: [u8; FORMS.len()] = {
    let mut tags = [1; FORMS.len()];
    let mut at = 1;
    while at < FORMS.len() {
        assert!(FORMS[at].0 as usize == at);
        tags[at] = tags[at - 1] + FORMS[at - 1].1;
        at += 1;
    }
    tags
};

impl State {
    pub const NEW: State = State { sequence: 0, site: 0, object: 0, places: [0; PLACES] };
}

/// Writes an entry and gives its length. A text is no longer than `out` allows.
#[inline(always)]
pub fn encode(state: &mut State, out: &mut [u8], draft: &Draft<'_>) -> usize {
    let Draft { kind: (kind, code), sequence, site, address, more, text } = *draft;
    let form = FORMS[kind as usize];
    out[0] = TAGS[kind as usize] + code;
    let mut at = 1;
    let mut put = |value: u64| at = number(out, at, value);
    put(folded(sequence.wrapping_sub(state.sequence)));
    put(folded(i64::from(site.wrapping_sub(state.site) as i32) as u64));
    if form.2 {
        let last = state.last(kind, site);
        put(folded(address.wrapping_sub(*last)));
        *last = address;
    }
    more.iter().for_each(|value| put(*value));
    state.sequence = sequence;
    state.site = site;
    if form.4 {
        at = number(out, at, text.len() as u64);
        out[at..at + text.len()].copy_from_slice(text);
        at += text.len();
    }
    at
}

/// The entry at `at`, and where the next one is.
pub fn decode(state: &mut State, bytes: &[u8], at: usize) -> Result<(Entry, usize), Bad> {
    let tag = *bytes.get(at).ok_or(Bad::End)?;
    let index = TAGS.iter().rposition(|first| *first <= tag).ok_or(Bad::Tag(tag))?;
    let (kind, codes, has_address, _, has_text) = FORMS[index];
    let code = tag - TAGS[index];
    if code >= codes {
        return Err(Bad::Tag(tag));
    }
    let mut at = at + 1;
    let mut take = || -> Result<u64, Bad> {
        let (value, next) = read_number(bytes, at)?;
        at = next;
        Ok(value)
    };
    let sequence = state.sequence.wrapping_add(unfolded(take()?));
    let difference = i32::try_from(unfolded(take()?) as i64).map_err(|_| Bad::Number)?;
    let site = state.site.wrapping_add(difference as u32);
    let mut address = 0;
    if has_address {
        let last = state.last(kind, site);
        address = last.wrapping_add(unfolded(take()?));
        *last = address;
    }
    let mut more = [0; 4];
    for value in more.iter_mut().take(numbers(kind, code)) {
        *value = take()?;
    }
    state.sequence = sequence;
    state.site = site;
    let mut text = Vec::new();
    if has_text {
        let length = take()?;
        if length > LONGEST_TEXT {
            return Err(Bad::Text);
        }
        let end = at + length as usize;
        text = bytes.get(at..end).ok_or(Bad::End)?.to_vec();
        at = end;
    }
    Ok((Entry { kind, code, sequence, site, address, more, text }, at))
}

fn numbers(kind: Kind, code: u8) -> usize {
    match (kind, code) {
        (Kind::Read | Kind::Write, 5) => 1,
        (Kind::Read | Kind::Write, 6) => 3,
        _ => FORMS[kind as usize].3,
    }
}

impl State {
    #[inline(always)]
    fn last(&mut self, kind: Kind, site: u32) -> &mut u64 {
        match kind {
            Kind::Read | Kind::Write => &mut self.places[site as usize % PLACES],
            _ => &mut self.object,
        }
    }
}

impl Entry {
    /// Bytes of a plain access that is not a walk.
    pub fn size(&self) -> u64 {
        match self.code {
            code @ 0..5 => 1 << code,
            _ => self.more[0],
        }
    }
}

#[inline(always)]
fn number(out: &mut [u8], mut at: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        out[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    out[at] = value as u8;
    at + 1
}

fn read_number(bytes: &[u8], mut at: usize) -> Result<(u64, usize), Bad> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(at).ok_or(Bad::End)?;
        at += 1;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return Err(Bad::Number);
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Ok((value, at));
        }
    }
    Err(Bad::Number)
}

/// Small numbers of either sign as small numbers.
#[inline(always)]
fn folded(value: u64) -> u64 {
    let value = value as i64;
    (value << 1 ^ value >> 63) as u64
}

fn unfolded(value: u64) -> u64 {
    value >> 1 ^ (value & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::{Bad, Draft, Entry, FORMS, Kind, MOST_BYTES, State, decode, encode, numbers};

    fn write(entries: &[Entry]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut state = State::NEW;
        for entry in entries {
            let mut out = [0; MOST_BYTES + 16];
            let draft = Draft {
                kind: (entry.kind, entry.code),
                sequence: entry.sequence,
                site: entry.site,
                address: entry.address,
                more: &entry.more[..numbers(entry.kind, entry.code)],
                text: &entry.text,
            };
            let length = encode(&mut state, &mut out, &draft);
            assert!(length <= MOST_BYTES || !entry.text.is_empty());
            bytes.extend_from_slice(&out[..length]);
        }
        bytes
    }

    /// Every kind and code, with the smallest and the largest numbers.
    fn all() -> Vec<Entry> {
        let mut entries = Vec::new();
        for (kind, codes, has_address, _, has_text) in FORMS {
            for code in 0..codes {
                for value in [0, 1, 63, 64, u64::MAX / 2, u64::MAX] {
                    let count = numbers(kind, code);
                    let mut more = [0; 4];
                    more[..count].fill(value);
                    entries.push(Entry {
                        kind,
                        code,
                        sequence: value,
                        site: value as u32,
                        address: if has_address { value } else { 0 },
                        more,
                        text: if has_text { b"a text".to_vec() } else { Vec::new() },
                    });
                }
            }
        }
        entries
    }

    #[test]
    fn what_is_written_is_read() {
        let entries = all();
        let bytes = write(&entries);
        let (mut state, mut at) = (State::NEW, 0);
        for entry in &entries {
            let (read, next) = decode(&mut state, &bytes, at).unwrap();
            assert_eq!(read, *entry);
            at = next;
        }
        assert_eq!(at, bytes.len());
        assert_eq!(decode(&mut state, &bytes, at), Err(Bad::End));
    }

    #[test]
    fn a_loop_costs_four_bytes_an_access() {
        let access = |i: u64| Entry {
            kind: Kind::Read,
            code: 2,
            sequence: 1000,
            site: 77,
            address: 0x7000_0000_0000 + 4 * i,
            more: [0; 4],
            text: Vec::new(),
        };
        let many = |count| write(&(0..count).map(access).collect::<Vec<_>>()).len();
        assert_eq!(many(101) - many(1), 400);
    }

    #[test]
    fn every_cut_is_noticed() {
        let bytes = write(&all()[..60]);
        for cut in 0..bytes.len() {
            let (mut state, mut at) = (State::NEW, 0);
            let end = loop {
                match decode(&mut state, &bytes[..cut], at) {
                    Ok((_, next)) => at = next,
                    Err(bad) => break bad,
                }
            };
            assert_eq!(end, Bad::End, "cut at {cut}");
        }
    }
}
