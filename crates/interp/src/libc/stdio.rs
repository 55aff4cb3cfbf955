//! Characters, lines and blocks of a stream, and its state. Formats are in `printf` and `scanf`, opening and closing in `files`.

use super::errors::error_text;
use super::stream::{
    Stream, look_at_standard, open_file, print, push_back, read_stream, read_stream_byte, seek,
    take_for_written, write_stream,
};
use super::values::{NULL, int};
use super::{Family, Host, Outcome, Zeroed};

pub(super) const FUNCTIONS: Family = &[
    ("puts", puts),
    ("putchar", putchar),
    ("putc", putc),
    ("fputs", fputs),
    ("fwrite", fwrite),
    ("perror", perror),
    ("fflush", fflush),
    ("getchar", |h| get(h, Stream(0))),
    ("getc", getc),
    ("gets", gets),
    ("fgets", |h| fgets(h, 1)),
    ("__fgets_chk", |h| fgets(h, 2)),
    ("fread", |h| fread(h, 0)),
    ("__fread_chk", |h| fread(h, 1)),
    ("ungetc", ungetc),
    ("getline", getline),
    ("getdelim", getdelim),
    ("feof", feof),
    ("ferror", ferror),
    ("clearerr", clearerr),
    ("fileno", |h| Stream::of_argument(h, 0).map(|stream| int(stream.0))),
    ("fseek", |h| {
        let offset = h.long(1);
        fseek(h, offset)
    }),
    ("fseeko64", |h| {
        let offset = h.long_long(1);
        fseek(h, offset)
    }),
    ("ftell", |h| {
        let place = ftell(h)?;
        Ok(h.word(place))
    }),
    ("ftello64", |h| ftell(h).map(|place| u128::from(place as u64))),
    ("rewind", rewind),
    // The lock is no more than an access to the stream, see `shared`.
    ("putchar_unlocked", putchar),
    ("putc_unlocked", putc),
    ("fputs_unlocked", fputs),
    ("fwrite_unlocked", fwrite),
    ("fflush_unlocked", fflush),
    ("getchar_unlocked", |h| get(h, Stream(0))),
    ("getc_unlocked", getc),
    ("fgets_unlocked", |h| fgets(h, 1)),
    ("fread_unlocked", |h| fread(h, 0)),
    ("feof_unlocked", feof),
    ("ferror_unlocked", ferror),
    ("clearerr_unlocked", clearerr),
    ("fileno_unlocked", |h| Stream::of_argument(h, 0).map(|stream| int(stream.0))),
];

const EOF: i32 = -1;

fn puts(host: &mut dyn Host) -> Outcome<u128> {
    let text = host.pointer(0);
    let mut bytes = host.read_string(text)?;
    bytes.push(b'\n');
    print(host, 1, &bytes);
    Ok(int(bytes.len() as i32))
}

fn putchar(host: &mut dyn Host) -> Outcome<u128> {
    let byte = host.int(0) as u8;
    print(host, 1, &[byte]);
    Ok(u128::from(byte))
}

fn putc(host: &mut dyn Host) -> Outcome<u128> {
    let byte = host.int(0) as u8;
    let stream = Stream::of_argument(host, 1)?;
    Ok(if write_stream(host, stream, &[byte])? { u128::from(byte) } else { int(EOF) })
}

fn fputs(host: &mut dyn Host) -> Outcome<u128> {
    let stream = Stream::of_argument(host, 1)?;
    let text = host.pointer(0);
    let bytes = host.read_string(text)?;
    Ok(int(if write_stream(host, stream, &bytes)? { 1 } else { EOF }))
}

fn fwrite(host: &mut dyn Host) -> Outcome<u128> {
    let (data, size, count) = (host.pointer(0), host.size(1), host.size(2));
    let stream = Stream::of_argument(host, 3)?;
    let bytes = host.read_bytes(data, size.saturating_mul(count))?;
    let written = !bytes.is_empty() && write_stream(host, stream, &bytes)?;
    Ok(u128::from(if written { count } else { 0 }))
}

fn fflush(host: &mut dyn Host) -> Outcome<u128> {
    take_for_written(host);
    Ok(0)
}

fn perror(host: &mut dyn Host) -> Outcome<u128> {
    let text = host.pointer(0);
    let message = error_text(host.errno()?);
    let mut line = Vec::new();
    if text != 0 {
        line = host.read_string(text)?;
        if !line.is_empty() {
            line.extend_from_slice(b": ");
        }
    }
    line.extend_from_slice(message.as_bytes());
    line.push(b'\n');
    host.output(2, &line);
    Ok(0)
}

fn get(host: &mut dyn Host, stream: Stream) -> Outcome<u128> {
    Ok(read_stream_byte(host, stream)?.map_or(int(EOF), u128::from))
}

fn getc(host: &mut dyn Host) -> Outcome<u128> {
    let stream = Stream::of_argument(host, 0)?;
    get(host, stream)
}

/// Bytes up to and including the delimiter, at most `limit`.
fn line(host: &mut dyn Host, stream: Stream, delimiter: u8, limit: usize) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() < limit {
        let Some(byte) = read_stream_byte(host, stream)? else { break };
        bytes.push(byte);
        if byte == delimiter {
            break;
        }
    }
    Ok(bytes)
}

fn gets(host: &mut dyn Host) -> Outcome<u128> {
    let target = host.pointer(0);
    let mut bytes = line(host, Stream(0), b'\n', usize::MAX)?;
    if bytes.is_empty() {
        return Ok(NULL);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    host.write_string(target, &bytes)?;
    Ok(u128::from(target))
}

/// `size_at` is the argument with the size; the stream follows it.
fn fgets(host: &mut dyn Host, size_at: usize) -> Outcome<u128> {
    let (target, size) = (host.pointer(0), host.int(size_at));
    let stream = Stream::of_argument(host, size_at + 1)?;
    if size <= 0 {
        return Ok(NULL);
    }
    let bytes = line(host, stream, b'\n', size as usize - 1)?;
    if bytes.is_empty() && size > 1 {
        return Ok(NULL);
    }
    host.write_string(target, &bytes)?;
    Ok(u128::from(target))
}

/// `shift` arguments stand between the target and the size of an element.
fn fread(host: &mut dyn Host, shift: usize) -> Outcome<u128> {
    let (target, size, count) = (host.pointer(0), host.size(1 + shift), host.size(2 + shift));
    let stream = Stream::of_argument(host, 3 + shift)?;
    let wanted = size.saturating_mul(count);
    if wanted == 0 {
        return Ok(0);
    }
    let bytes = read_stream(host, stream, usize::try_from(wanted).unwrap_or(usize::MAX))?;
    host.write_bytes(target, &bytes)?;
    Ok(u128::from(bytes.len() as u64 / size))
}

fn ungetc(host: &mut dyn Host) -> Outcome<u128> {
    let byte = host.int(0);
    let stream = Stream::of_argument(host, 1)?;
    if byte == EOF {
        return Ok(int(EOF));
    }
    push_back(host, stream, byte as u8);
    Ok(u128::from(byte as u8))
}

fn getline(host: &mut dyn Host) -> Outcome<u128> {
    let stream = Stream::of_argument(host, 2)?;
    grow_line(host, stream, b'\n')
}

fn getdelim(host: &mut dyn Host) -> Outcome<u128> {
    let delimiter = host.int(2) as u8;
    let stream = Stream::of_argument(host, 3)?;
    grow_line(host, stream, delimiter)
}

/// Reads into `*line`, which has room for `*size` bytes and is made larger when needed.
fn grow_line(host: &mut dyn Host, stream: Stream, delimiter: u8) -> Outcome<u128> {
    let (line_at, size_at) = (host.pointer(0), host.pointer(1));
    let mut target = host.read_pointer(line_at)?;
    let mut size = host.read_long(size_at)? as u64 & host.word_max();
    if target == 0 || size == 0 {
        size = 120;
        target = give_room(host, (line_at, size_at), size)?;
    }
    let bytes = line(host, stream, delimiter, usize::MAX)?;
    if bytes.is_empty() {
        return Ok(host.word(-1));
    }
    let needed = bytes.len() as u64 + 1;
    if size < needed {
        let old = target;
        target = give_room(host, (line_at, size_at), needed.max(120))?;
        host.free(old)?;
    }
    host.write_string(target, &bytes)?;
    Ok(bytes.len() as u128)
}

/// A new block, stored with its size where the arguments point to; glibc does so before it reads anything.
fn give_room(host: &mut dyn Host, (line_at, size_at): (u64, u64), room: u64) -> Outcome<u64> {
    host.assume("A-MALLOC");
    let block = host.allocate(room, 16, Zeroed::No, &format!("getline({room})"))?;
    host.write_pointer(line_at, block)?;
    host.write_long(size_at, room as i64)?;
    Ok(block)
}

fn feof(host: &mut dyn Host) -> Outcome<u128> {
    let stream = Stream::of_argument(host, 0)?;
    Ok(u128::from(open_file(host, stream.0).is_some_and(|file| file.end_of_file)))
}

fn ferror(host: &mut dyn Host) -> Outcome<u128> {
    take_for_written(host);
    let stream = Stream::of_argument(host, 0)?;
    Ok(u128::from(open_file(host, stream.0).is_some_and(|file| file.error)))
}

fn clearerr(host: &mut dyn Host) -> Outcome<u128> {
    let stream = Stream::of_argument(host, 0)?;
    if let Some(file) = open_file(host, stream.0) {
        file.end_of_file = false;
        file.error = false;
    }
    Ok(0)
}

fn fseek(host: &mut dyn Host, offset: i64) -> Outcome<u128> {
    let stream = Stream::of_argument(host, 0)?;
    let whence = host.int(2);
    Ok(match seek(host, stream.0, offset, whence) {
        Ok(_) => 0,
        Err(errno) => host.error(errno),
    })
}

fn ftell(host: &mut dyn Host) -> Outcome<i64> {
    let stream = Stream::of_argument(host, 0)?;
    look_at_standard(host, stream.0);
    let place = open_file(host, stream.0)
        .filter(|file| !file.is_standard())
        .map(|file| file.offset as i64 - file.pushed_back.len() as i64);
    Ok(place.unwrap_or_else(|| {
        host.set_errno(super::errors::ESPIPE);
        -1
    }))
}

fn rewind(host: &mut dyn Host) -> Outcome<u128> {
    let stream = Stream::of_argument(host, 0)?;
    if let Err(errno) = seek(host, stream.0, 0, 0) {
        host.set_errno(errno);
    }
    if let Some(file) = open_file(host, stream.0) {
        file.error = false;
    }
    Ok(0)
}
