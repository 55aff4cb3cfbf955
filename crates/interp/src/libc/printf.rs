//! The `printf` family: where the format, its arguments and the bytes go.

use super::format::format;
use super::stream::{Stream, print, write_descriptor, write_stream};
use super::values::int;
use super::varargs::VarArgs;
use super::{Family, Host, Outcome, Zeroed};

/// In the `_chk` forms a flag follows the destination, and a size where there is one; nothing depends on either.
pub(super) const FUNCTIONS: Family = &[
    ("printf", |h| to_output(h, 0, Values::InCall)),
    ("vprintf", |h| to_output(h, 0, Values::InList)),
    ("__printf_chk", |h| to_output(h, 1, Values::InCall)),
    ("__vprintf_chk", |h| to_output(h, 1, Values::InList)),
    ("fprintf", |h| to_stream(h, 1, Values::InCall)),
    ("vfprintf", |h| to_stream(h, 1, Values::InList)),
    ("__fprintf_chk", |h| to_stream(h, 2, Values::InCall)),
    ("__vfprintf_chk", |h| to_stream(h, 2, Values::InList)),
    ("dprintf", |h| to_descriptor(h, 1, Values::InCall)),
    ("vdprintf", |h| to_descriptor(h, 1, Values::InList)),
    ("__dprintf_chk", |h| to_descriptor(h, 2, Values::InCall)),
    ("__vdprintf_chk", |h| to_descriptor(h, 2, Values::InList)),
    ("sprintf", |h| to_memory(h, Limit::None, 1, Values::InCall)),
    ("vsprintf", |h| to_memory(h, Limit::None, 1, Values::InList)),
    ("__sprintf_chk", |h| to_memory(h, Limit::None, 3, Values::InCall)),
    ("__vsprintf_chk", |h| to_memory(h, Limit::None, 3, Values::InList)),
    ("snprintf", |h| to_memory(h, Limit::Argument1, 2, Values::InCall)),
    ("vsnprintf", |h| to_memory(h, Limit::Argument1, 2, Values::InList)),
    ("__snprintf_chk", |h| to_memory(h, Limit::Argument1, 4, Values::InCall)),
    ("__vsnprintf_chk", |h| to_memory(h, Limit::Argument1, 4, Values::InList)),
    ("asprintf", |h| to_new_memory(h, 1, Values::InCall)),
    ("vasprintf", |h| to_new_memory(h, 1, Values::InList)),
    ("__asprintf_chk", |h| to_new_memory(h, 2, Values::InCall)),
    ("__vasprintf_chk", |h| to_new_memory(h, 2, Values::InList)),
    ("printk", printk),
];

/// Whether the values are the arguments behind the format or in a `va_list` there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    InCall,
    InList,
}

fn formatted(host: &mut dyn Host, format_at: usize, values: Values) -> Outcome<Vec<u8>> {
    let address = host.pointer(format_at);
    let mut args = match values {
        Values::InCall => VarArgs::of_call(format_at + 1),
        Values::InList => VarArgs::of_list(host, format_at + 1)?,
    };
    format(host, address, &mut args)
}

fn to_output(host: &mut dyn Host, format_at: usize, values: Values) -> Outcome<u128> {
    let text = formatted(host, format_at, values)?;
    print(host, 1, &text);
    Ok(int(text.len() as i32))
}

fn to_stream(host: &mut dyn Host, format_at: usize, values: Values) -> Outcome<u128> {
    let stream = Stream::of_argument(host, 0)?;
    let text = formatted(host, format_at, values)?;
    Ok(int(if write_stream(host, stream, &text)? { text.len() as i32 } else { -1 }))
}

fn to_descriptor(host: &mut dyn Host, format_at: usize, values: Values) -> Outcome<u128> {
    let descriptor = host.int(0);
    let text = formatted(host, format_at, values)?;
    Ok(match write_descriptor(host, descriptor, &text)? {
        Ok(written) => int(written as i32),
        Err(errno) => host.error(errno),
    })
}

/// Bytes that the destination can take, one of them for the zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    None,
    Argument1,
}

fn to_memory(host: &mut dyn Host, limit: Limit, format_at: usize, values: Values) -> Outcome<u128> {
    let target = host.pointer(0);
    let size = (limit == Limit::Argument1).then(|| host.size(1));
    let text = formatted(host, format_at, values)?;
    match size {
        None => host.write_string(target, &text)?,
        Some(0) => {}
        Some(size) => {
            let kept = text.len().min((size - 1) as usize);
            host.write_string(target, &text[..kept])?;
        }
    }
    Ok(int(text.len() as i32))
}

fn to_new_memory(host: &mut dyn Host, format_at: usize, values: Values) -> Outcome<u128> {
    host.assume("A-MALLOC");
    let target = host.pointer(0);
    let text = formatted(host, format_at, values)?;
    let bytes = text.len() as u64 + 1;
    let block = host.allocate(bytes, 16, Zeroed::No, &format!("asprintf({bytes})"))?;
    host.write_string(block, &text)?;
    host.write_pointer(target, block)?;
    Ok(int(text.len() as i32))
}

/// To standard error, without the level that `KERN_*` puts before the text.
fn printk(host: &mut dyn Host) -> Outcome<u128> {
    let text = formatted(host, 0, Values::InCall)?;
    let level = text.len() >= 2 && text[0] == 1;
    host.output(2, if level { &text[2..] } else { &text });
    Ok(int(text.len() as i32))
}
