//! Streams, files in memory, `va_list` in both data models, and the smaller families.

use super::mock::{Mock, Value};
use raddle_event::ProblemKind;
use raddle_ir::DataModel;

fn stream(mock: &mut Mock, key: &str) -> Value {
    use crate::libc::Host;
    Value::Pointer(mock.library_block(key, &[0; crate::libc::STREAM_BYTES]).expect("a block"))
}

fn lp64() -> Mock {
    Mock::new(DataModel::Lp64)
}

#[test]
fn output_goes_to_its_descriptor() {
    let mut mock = lp64();
    let (out, err) = (stream(&mut mock, "stdout"), stream(&mut mock, "stderr"));
    let text = Value::Pointer(mock.string("text"));
    assert_eq!(mock.run("puts", &[text]), 5);
    assert_eq!(mock.run("fputs", &[text, err]), 1);
    assert_eq!(mock.run("putc", &[Value::Int(0x141), out]), 0x41);
    assert_eq!(mock.run("fwrite", &[text, Value::Long(2), Value::Long(2), out]), 2);
    assert_eq!(mock.run("write", &[Value::Int(2), text, Value::Long(3)]), 3);
    let format = Value::Pointer(mock.string("%d;"));
    assert_eq!(mock.run("fprintf", &[err, format, Value::Int(-5)]), 3);
    assert_eq!(mock.run("__printf_chk", &[Value::Int(1), format, Value::Int(6)]), 2);
    assert_eq!(mock.printed(1), b"text\nAtext6;");
    assert_eq!(mock.printed(2), b"texttex-5;");
    assert!(mock.assumed.is_empty());
}

#[test]
fn standard_input_is_an_input() {
    let mut mock = lp64();
    mock.input = b"12 abc\nsecond line\nlast".to_vec();
    let input = stream(&mut mock, "stdin");
    let format = Value::Pointer(mock.string("%d%c"));
    let (number, byte) = (mock.place(&[0; 4]), mock.place(&[0]));
    assert_eq!(mock.run("scanf", &[format, Value::Pointer(number), Value::Pointer(byte)]), 2);
    assert_eq!((mock.bytes(number, 4), mock.bytes(byte, 1)), (&[12, 0, 0, 0][..], &b" "[..]));
    assert!(mock.assumed.contains(&"A-INPUT"));
    assert_eq!(mock.run("getchar", &[]), u128::from(b'a'));
    mock.run("ungetc", &[Value::Int(b'z'.into()), input]);
    let buffer = mock.place(&[b'#'; 32]);
    mock.run("fgets", &[Value::Pointer(buffer), Value::Int(3), input]);
    assert_eq!(mock.text(buffer), "zb");
    mock.run("fgets", &[Value::Pointer(buffer), Value::Int(32), input]);
    assert_eq!(mock.text(buffer), "c\n");
    let (line, size) = (mock.place(&[0; 8]), mock.place(&[0; 8]));
    assert_eq!(mock.run("getline", &[Value::Pointer(line), Value::Pointer(size), input]), 12);
    let text = u64::from_le_bytes(mock.bytes(line, 8).try_into().expect("a pointer"));
    assert_eq!(mock.text(text), "second line\n");
    assert_eq!(mock.run("feof", &[input]), 0);
    assert_eq!(mock.run("fread", &[Value::Pointer(buffer), Value::Long(1), Value::Long(9), input]), 4);
    assert_eq!(mock.run("feof", &[input]), 1);
    assert_eq!(mock.run("getc", &[input]) as i32, -1);
    assert_eq!(mock.run("getline", &[Value::Pointer(line), Value::Pointer(size), input]) as i64, -1);
    assert_eq!(mock.run("fgets", &[Value::Pointer(buffer), Value::Int(32), input]), 0);
}

#[test]
fn files_exist_once_written() {
    let mut mock = lp64();
    let path = Value::Pointer(mock.string("notes.txt"));
    let (read, write) = (Value::Pointer(mock.string("r")), Value::Pointer(mock.string("w+")));
    assert_eq!(mock.run("fopen", &[path, read]), 0);
    assert_eq!(mock.last_errno(), 2);
    let file = Value::Pointer(mock.run("fopen", &[path, write]) as u64);
    let text = Value::Pointer(mock.string("one\ntwo\n"));
    assert_eq!(mock.run("fputs", &[text, file]), 1);
    assert_eq!(mock.run("ftell", &[file]), 8);
    mock.run("rewind", &[file]);
    let buffer = mock.place(&[0; 16]);
    mock.run("fgets", &[Value::Pointer(buffer), Value::Int(16), file]);
    assert_eq!(mock.text(buffer), "one\n");
    assert_eq!(mock.run("fseek", &[file, Value::Long(-2), Value::Int(2)]), 0);
    assert_eq!(mock.run("getc", &[file]), u128::from(b'o'));
    assert_eq!(mock.run("fclose", &[file]), 0);
    assert!(mock.call("getc", &[file]).is_err());
    assert_eq!(mock.problem.take().map(|(kind, _)| kind), Some(ProblemKind::InvalidArgument));
    let descriptor = mock.run("open", &[path, Value::Int(0)]) as i32;
    assert_eq!(descriptor, 3);
    assert_eq!(mock.run("read", &[Value::Int(3), Value::Pointer(buffer), Value::Long(16)]), 8);
    assert_eq!(mock.bytes(buffer, 8), b"one\ntwo\n");
    assert_eq!(mock.run("write", &[Value::Int(3), text, Value::Long(2)]) as i64, -1);
    assert_eq!(mock.last_errno(), 9);
    assert_eq!(mock.run("close", &[Value::Int(3)]), 0);
    assert_eq!(mock.run("close", &[Value::Int(3)]) as i32, -1);
    assert_eq!(mock.run("unlink", &[path]), 0);
    assert_eq!(mock.run("access", &[path, Value::Int(0)]) as i32, -1);
    assert!(mock.call("fputs", &[text, Value::Pointer(0)]).is_err());
    assert_eq!(mock.problem.map(|(kind, _)| kind), Some(ProblemKind::NullDereference));
}

/// `vsnprintf` and `vsscanf` with arguments laid out as the machine lays them out.
#[test]
fn lists_of_arguments() {
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        let mut mock = Mock::new(model);
        let word = model.pointer_bytes() as usize;
        let text = mock.string("str");
        let mut area = Vec::new();
        let slot = |area: &mut Vec<u8>, bytes: &[u8]| {
            area.extend_from_slice(bytes);
            area.resize(area.len().next_multiple_of(word), 0xee);
        };
        slot(&mut area, &(-3i32).to_le_bytes());
        slot(&mut area, &text.to_le_bytes()[..word]);
        slot(&mut area, &2.5f64.to_le_bytes());
        slot(&mut area, &(1i64 << 40).to_le_bytes());
        if model == DataModel::Lp64 {
            area.resize(area.len().next_multiple_of(16), 0xee);
        }
        // 1.5 as long double.
        let extended: u128 = 0x3fff << 64 | 3 << 62;
        let width = if model == DataModel::Lp64 { 16 } else { 12 };
        area.extend_from_slice(&extended.to_le_bytes()[..width]);
        slot(&mut area, &7i32.to_le_bytes());
        let area_at = mock.place(&area);
        let list = match model {
            DataModel::Lp64 => {
                let mut list = [48u32.to_le_bytes(), 176u32.to_le_bytes()].concat();
                list.extend_from_slice(&area_at.to_le_bytes());
                list.extend_from_slice(&[0; 8]);
                mock.place(&list)
            }
            DataModel::Ilp32 => area_at,
        };
        let format = mock.string("%d %s %.1f %lld %.2Lf %d");
        let buffer = mock.place(&[b'#'; 64]);
        let args = [Value::Pointer(buffer), Value::Long(64), Value::Pointer(format), Value::Pointer(list)];
        let len = mock.run("vsnprintf", &args);
        let expected = "-3 str 2.5 1099511627776 1.50 7";
        assert_eq!((mock.text(buffer).as_str(), len), (expected, expected.len() as u128), "{model:?}");
        if model == DataModel::Lp64 {
            let next = u64::from_le_bytes(mock.bytes(list + 8, 8).try_into().expect("a pointer"));
            assert_eq!(next, area_at + area.len() as u64, "the list moves on");
        }
    }
}

#[test]
fn printing_into_memory() {
    let mut mock = lp64();
    let buffer = mock.place(&[b'#'; 16]);
    let format = Value::Pointer(mock.string("%s!"));
    let text = Value::Pointer(mock.string("hello"));
    assert_eq!(mock.run("snprintf", &[Value::Pointer(buffer), Value::Long(4), format, text]), 6);
    assert_eq!(mock.bytes(buffer, 5), b"hel\0#");
    assert_eq!(mock.run("snprintf", &[Value::Pointer(0), Value::Long(0), format, text]), 6);
    assert_eq!(mock.run("sprintf", &[Value::Pointer(buffer), format, text]), 6);
    assert_eq!(mock.text(buffer), "hello!");
    let target = mock.place(&[0; 8]);
    assert_eq!(mock.run("asprintf", &[Value::Pointer(target), format, text]), 6);
    let block = u64::from_le_bytes(mock.bytes(target, 8).try_into().expect("a pointer"));
    assert_eq!((mock.text(block).as_str(), mock.blocks[&block]), ("hello!", 7));
    let format = Value::Pointer(mock.string("%n%p"));
    mock.run("printf", &[format, Value::Pointer(target), Value::Pointer(0x1234)]);
    assert_eq!(mock.exposed, [0x1234]);
    assert_eq!(mock.printed(1), b"0x1234");
    for format in ["%1$d", "%ls", "%2000000d"] {
        let format = Value::Pointer(mock.string(format));
        assert!(mock.call("printf", &[format, text]).is_err());
        assert!(mock.unsupported.take().is_some());
    }
}

#[test]
fn environment() {
    let mut mock = lp64();
    mock.environment.insert("HOME".into(), "/nowhere".into());
    let (home, other) = (Value::Pointer(mock.string("HOME")), Value::Pointer(mock.string("OTHER")));
    let value = mock.run("getenv", &[home]) as u64;
    assert_eq!(mock.text(value), "/nowhere");
    assert_eq!(mock.run("getenv", &[home]) as u64, value);
    assert_eq!(mock.run("getenv", &[other]), 0);
    let text = Value::Pointer(mock.string("x"));
    mock.run("setenv", &[home, text, Value::Int(0)]);
    let value = mock.run("getenv", &[home]) as u64;
    assert_eq!(mock.text(value), "/nowhere");
    mock.run("setenv", &[home, text, Value::Int(1)]);
    let value = mock.run("getenv", &[home]) as u64;
    assert_eq!(mock.text(value), "x");
    mock.run("unsetenv", &[home]);
    assert_eq!(mock.run("getenv", &[home]), 0);
}

fn compare_ints(mock: &mut Mock, args: &[(u128, raddle_ir::Ty)]) -> u128 {
    let [a, b] = [0, 1].map(|index| {
        i32::from_le_bytes(mock.bytes(args[index].0 as u64, 4).try_into().expect("an int")) / 10
    });
    u128::from((a.cmp(&b) as i32) as u32)
}

#[test]
fn sorting_is_stable_and_searching_finds() {
    let mut mock = lp64();
    mock.callback = Some(compare_ints);
    // The last digit does not count: equal elements keep their order.
    let numbers: [i32; 8] = [31, 12, 30, 11, 52, 10, 51, 32];
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let array = mock.place(&bytes);
    let args = [Value::Pointer(array), Value::Long(8), Value::Long(4), Value::Pointer(99)];
    mock.run("qsort", &args);
    let sorted: Vec<i32> =
        mock.bytes(array, 32).chunks(4).map(|n| i32::from_le_bytes(n.try_into().expect("4"))).collect();
    assert_eq!(sorted, [12, 11, 10, 31, 30, 32, 52, 51]);
    assert!(mock.blocks.is_empty(), "the buffer is gone");
    let key = mock.place(&59i32.to_le_bytes());
    let args =
        [Value::Pointer(key), Value::Pointer(array), Value::Long(8), Value::Long(4), Value::Pointer(99)];
    let found = mock.run("bsearch", &args) as u64;
    assert!((array + 24..array + 32).contains(&found));
    let key = Value::Pointer(mock.place(&77i32.to_le_bytes()));
    assert_eq!(mock.run("bsearch", &[key, args[1], args[2], args[3], args[4]]), 0);
}

#[test]
fn attributes_have_the_layout_of_glibc() {
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        let mut mock = Mock::new(model);
        let attr = mock.place(&[0xee; 56]);
        let out = mock.place(&[0; 8]);
        let (attr_arg, out_arg) = (Value::Pointer(attr), Value::Pointer(out));
        mock.run("pthread_attr_init", &[attr_arg]);
        mock.run("pthread_attr_setdetachstate", &[attr_arg, Value::Int(1)]);
        assert_eq!(mock.bytes(attr + raddle_libmodel::ATTR_FLAGS_OFFSET, 4), [1, 0, 0, 0]);
        mock.run("pthread_attr_getdetachstate", &[attr_arg, out_arg]);
        assert_eq!(mock.bytes(out, 4), [1, 0, 0, 0]);
        assert_eq!(mock.run("pthread_attr_setdetachstate", &[attr_arg, Value::Int(2)]), 22);
        let mutex_attr = Value::Pointer(mock.place(&[0xee; 4]));
        mock.run("pthread_mutexattr_init", &[mutex_attr]);
        mock.run("pthread_mutexattr_settype", &[mutex_attr, Value::Int(2)]);
        mock.run("pthread_mutexattr_setrobust", &[mutex_attr, Value::Int(1)]);
        mock.run("pthread_mutexattr_gettype", &[mutex_attr, out_arg]);
        assert_eq!(mock.bytes(out, 4), [2, 0, 0, 0]);
        mock.run("pthread_mutexattr_getrobust", &[mutex_attr, out_arg]);
        assert_eq!(mock.bytes(out, 4), [1, 0, 0, 0]);
    }
}

#[test]
fn the_process_ends_where_it_says() {
    let mut mock = lp64();
    let format = Value::Pointer(mock.string("cannot %s"));
    let text = Value::Pointer(mock.string("go on"));
    assert!(mock.call("errx", &[Value::Int(3), format, text]).is_err());
    assert_eq!(mock.exited, Some(3));
    assert_eq!(mock.printed(2), b"program: cannot go on\n");
    assert!(mock.call("__stack_chk_fail", &[]).is_err());
    assert_eq!(mock.problem.map(|(kind, _)| kind), Some(ProblemKind::OutOfBounds));
}

#[test]
fn maps_are_memory() {
    let mut mock = lp64();
    let args = |flags| {
        [
            Value::Pointer(0),
            Value::Long(5000),
            Value::Int(3),
            Value::Int(flags),
            Value::Int(-1),
            Value::Long(0),
        ]
    };
    let map = mock.run("mmap", &args(0x22)) as u64;
    assert_eq!((map % 4096, mock.blocks[&map]), (0, 8192));
    assert!(mock.call("munmap", &[Value::Pointer(map), Value::Long(100)]).is_err());
    assert_eq!(mock.run("munmap", &[Value::Pointer(map), Value::Long(5000)]), 0);
    // A file that is not open, a file that is shared, a fixed address.
    assert_eq!(mock.run("mmap", &args(0x02)) as i64, -1);
    assert!(mock.call("mmap", &args(0x01)).is_err());
    assert!(mock.call("mmap", &args(0x32)).is_err());
}

#[test]
fn pipes_socket_pairs_and_eventfds_give_back_what_was_written() {
    let mut mock = Mock::new(DataModel::Lp64);
    let (ends, bytes) = (mock.place(&[0; 8]), mock.place(b"abcdef\0\0"));
    let target = mock.place(&[0; 8]);
    assert_eq!(mock.run("pipe", &[Value::Pointer(ends)]), 0);
    assert_eq!(mock.run("write", &[Value::Int(4), Value::Pointer(bytes), Value::Long(6)]), 6);
    assert_eq!(mock.run("read", &[Value::Int(3), Value::Pointer(target), Value::Long(4)]), 4);
    assert_eq!(mock.run("read", &[Value::Int(3), Value::Pointer(target), Value::Long(4)]), 2);
    assert_eq!(mock.bytes(target, 4), b"efcd");
    assert_eq!(mock.run("read", &[Value::Int(4), Value::Pointer(target), Value::Long(4)]) as i64, -1);
    assert_eq!(mock.run("lseek", &[Value::Int(3), Value::Long(0), Value::Int(0)]) as i64, -1);
    // A copy of the writing end keeps the stream open.
    assert_eq!(mock.run("dup", &[Value::Int(4)]), 5);
    assert_eq!(mock.run("close", &[Value::Int(4)]), 0);
    assert_eq!(mock.run("read", &[Value::Int(3), Value::Pointer(target), Value::Long(4)]) as i64, -1);
    assert_eq!(mock.run("close", &[Value::Int(5)]), 0);
    assert_eq!(mock.run("read", &[Value::Int(3), Value::Pointer(target), Value::Long(4)]), 0);
    // Packets stay apart, and what does not fit is lost. The numbers are those that were given back.
    let sockets = mock.place(&[0; 8]);
    let packets = [Value::Int(1), Value::Int(5), Value::Int(0), Value::Pointer(sockets)];
    assert_eq!(mock.run("socketpair", &packets), 0);
    for size in [3, 2] {
        assert_eq!(
            mock.run("write", &[Value::Int(4), Value::Pointer(bytes), Value::Long(size)]),
            size as u128
        );
    }
    assert_eq!(mock.run("read", &[Value::Int(5), Value::Pointer(target), Value::Long(2)]), 2);
    assert_eq!(mock.run("read", &[Value::Int(5), Value::Pointer(target), Value::Long(8)]), 2);
    // A counter is set back, a semaphore loses one.
    let eight = mock.place(&3u64.to_le_bytes());
    for (flags, left) in [(0, 0), (1, 2)] {
        let event = mock.run("eventfd", &[Value::Int(0), Value::Int(flags)]) as i32;
        assert_eq!(mock.run("write", &[Value::Int(event), Value::Pointer(eight), Value::Long(8)]), 8);
        let read = [Value::Int(event), Value::Pointer(target), Value::Long(8)];
        assert_eq!(mock.run("read", &read), 8);
        let rest = (0..).take_while(|_| mock.run("read", &read) == 8);
        assert_eq!(rest.count(), left);
    }
}
