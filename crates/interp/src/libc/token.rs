//! Strings cut into tokens. `strtok` keeps its place in a variable of the library, as glibc does: two threads that use it race there, and
//! the race is reported.

use super::string::{Member, span_of};
use super::values::NULL;
use super::{Family, Host, Outcome};

pub(super) const FUNCTIONS: Family = &[("strtok", strtok), ("strtok_r", strtok_r), ("strsep", strsep)];

fn strtok(host: &mut dyn Host) -> Outcome<u128> {
    let place = host.library_block("strtok", &[0; 8])?;
    tokenise(host, place)
}

fn strtok_r(host: &mut dyn Host) -> Outcome<u128> {
    let place = host.pointer(2);
    tokenise(host, place)
}

fn tokenise(host: &mut dyn Host, place: u64) -> Outcome<u128> {
    let (text, set) = (host.pointer(0), host.pointer(1));
    let text = if text == 0 { host.read_pointer(place)? } else { text };
    if text == 0 {
        return Ok(NULL);
    }
    let set = host.read_string(set)?;
    let skipped = span_of(host, text, &set, Member::Yes)?;
    let start = host.offset(text, skipped);
    if host.read_byte(start)? == 0 {
        host.write_pointer(place, start)?;
        return Ok(NULL);
    }
    let len = span_of(host, start, &set, Member::No)?;
    let end = host.offset(start, len);
    let next = if host.read_byte(end)? == 0 {
        end
    } else {
        host.write(end, &[0])?;
        host.offset(end, 1)
    };
    host.write_pointer(place, next)?;
    Ok(u128::from(start))
}

fn strsep(host: &mut dyn Host) -> Outcome<u128> {
    let (place, set) = (host.pointer(0), host.pointer(1));
    let text = host.read_pointer(place)?;
    if text == 0 {
        return Ok(NULL);
    }
    let set = host.read_string(set)?;
    let len = span_of(host, text, &set, Member::No)?;
    let end = host.offset(text, len);
    if host.read_byte(end)? == 0 {
        host.write_pointer(place, 0)?;
    } else {
        host.write(end, &[0])?;
        let next = host.offset(end, 1);
        host.write_pointer(place, next)?;
    }
    Ok(u128::from(text))
}
