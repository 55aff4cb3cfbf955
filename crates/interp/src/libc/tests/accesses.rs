//! Which bytes a call touches: no more than C lets it, so that no race or overflow is reported that is not there, and no less.

use super::mock::{Mock, Value};
use raddle_ir::DataModel;
use std::collections::BTreeSet;

/// The offsets of the bytes read, and of those written, relative to `base`, of the `len` bytes there.
fn touched(mock: &Mock, base: u64, len: u64) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let inside = |ranges: &[(u64, u64)]| {
        ranges
            .iter()
            .flat_map(|(start, bytes)| *start..start + bytes)
            .filter(|at| (base..base + len).contains(at))
            .map(|at| at - base)
            .collect()
    };
    (inside(&mock.reads), inside(&mock.writes))
}

fn first(count: u64) -> BTreeSet<u64> {
    (0..count).collect()
}

#[test]
fn reads_stop_where_they_may() {
    let none = BTreeSet::new();
    let text = "hello world";
    for (name, other, extra, bytes) in [
        ("strlen", "", vec![], 12),
        ("strnlen", "", vec![Value::Long(4)], 4),
        ("strcmp", "help", vec![], 4),
        ("strcmp", "hello world", vec![], 12),
        ("strncmp", "hello", vec![Value::Long(3)], 3),
        ("memcmp", "hexxx world!", vec![Value::Long(6)], 6),
        ("strstr", "lo", vec![], 5),
        ("strstr", "zz", vec![], 12),
        ("strspn", "ehl", vec![], 5),
    ] {
        let mut mock = Mock::new(DataModel::Lp64);
        let start = mock.string(text);
        let other = mock.string(other);
        let mut args = vec![Value::Pointer(start)];
        if name != "strlen" && name != "strnlen" {
            args.push(Value::Pointer(other));
        }
        args.extend(extra);
        mock.run(name, &args);
        assert_eq!(touched(&mock, start, 28), (first(bytes), none.clone()), "{name}");
    }
    for (name, byte, extra, bytes) in [
        ("strchr", b'o', None, 5),
        ("strchr", b'z', None, 12),
        ("memchr", b'e', Some(11), 2),
        ("memchr", b'z', Some(7), 7),
        ("strrchr", b'o', None, 12),
    ] {
        let mut mock = Mock::new(DataModel::Lp64);
        let start = mock.string(text);
        let mut args = vec![Value::Pointer(start), Value::Int(byte.into())];
        args.extend(extra.map(Value::Long));
        mock.run(name, &args);
        assert_eq!(touched(&mock, start, 28), (first(bytes), none.clone()), "{name}");
    }
}

#[test]
fn numbers_are_read_up_to_the_byte_that_ends_them() {
    for (name, text, bytes) in [
        ("atoi", "42 is it", 3),
        ("atoi", "x", 1),
        ("strtod", "1.5e3;rest", 6),
        ("strtod", "1.5;rest", 4),
        ("strtol", "0x1fz", 5),
    ] {
        let mut mock = Mock::new(DataModel::Lp64);
        let start = mock.string(text);
        let end = mock.place(&[0; 8]);
        mock.run(name, &[Value::Pointer(start), Value::Pointer(end), Value::Int(0)]);
        let (read, written) = touched(&mock, start, 16);
        assert_eq!((read, written.len()), (first(bytes), 0), "{name} {text}");
        assert_eq!(touched(&mock, end, 8).1.len(), if name == "atoi" { 0 } else { 8 });
    }
}

#[test]
fn copies_write_what_they_copy() {
    for (name, extra, read, written) in [
        ("strcpy", None, 6, 6),
        ("strncpy", Some(3), 3, 3),
        ("strncpy", Some(9), 6, 9),
        ("memcpy", Some(4), 4, 4),
        ("memcpy", Some(0), 0, 0),
        ("snprintf", Some(4), 6, 4),
    ] {
        let mut mock = Mock::new(DataModel::Lp64);
        let source = mock.string("hello");
        let format = mock.string("%s");
        let target = mock.place(&[b'#'; 16]);
        let args = match name {
            "snprintf" => {
                vec![Value::Pointer(target), Value::Long(4), Value::Pointer(format), Value::Pointer(source)]
            }
            _ => [Some(Value::Pointer(target)), Some(Value::Pointer(source)), extra.map(Value::Long)]
                .into_iter()
                .flatten()
                .collect(),
        };
        mock.run(name, &args);
        assert_eq!(touched(&mock, source, 12).0, first(read), "{name} reads");
        assert_eq!(touched(&mock, target, 16), (BTreeSet::new(), first(written)), "{name} writes");
    }
}

/// A precision bounds what `%s` reads, so a string without an end can be printed.
#[test]
fn a_precision_bounds_the_read() {
    let mut mock = Mock::new(DataModel::Lp64);
    let bytes = mock.place(b"abcdef");
    let format = mock.string("%.3s");
    assert_eq!(mock.run("printf", &[Value::Pointer(format), Value::Pointer(bytes)]), 3);
    assert_eq!(touched(&mock, bytes, 6).0, first(3));
}

/// `strtok` and `localtime` keep state that threads share, and touching it is an access; `rand` and `getenv` do not.
#[test]
fn hidden_state_is_touched_where_libc_has_it_unprotected() {
    let mut mock = Mock::new(DataModel::Lp64);
    let (text, set) = (mock.string("a b"), mock.string(" "));
    mock.run("strtok", &[Value::Pointer(text), Value::Pointer(set)]);
    let place = mock.library["strtok"];
    assert_eq!(touched(&mock, place, 8).1, first(8));
    let time = mock.place(&[0; 8]);
    let result = mock.run("gmtime", &[Value::Pointer(time)]) as u64;
    assert_eq!(touched(&mock, result, 56).1, first(56));
    mock.run("rand", &[]);
    assert!(mock.reads.is_empty() && mock.writes.is_empty());
}
