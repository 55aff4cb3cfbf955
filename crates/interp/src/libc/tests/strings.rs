//! Strings, characters and `sscanf` compared with the C library on generated cases.

use super::mock::{Mock, Value};
use super::native::{Random, c_string, cases, run_c};
use raddle_ir::DataModel;

fn word(random: &mut Random, longest: usize) -> String {
    (0..random.below(longest + 1)).map(|_| *random.pick(&['a', 'b', 'A', 'c', ' ', ','])).collect()
}

/// The kind of a result, and how C prints it.
#[derive(Clone, Copy)]
enum Shows {
    Sign,
    Number,
    /// A pointer into the first argument.
    Place,
}

#[test]
fn searches_and_comparisons() {
    use Shows::{Number, Place, Sign};
    let two = [
        ("strcmp", Sign),
        ("strcasecmp", Sign),
        ("strstr", Place),
        ("strcasestr", Place),
        ("strpbrk", Place),
        ("strspn", Number),
        ("strcspn", Number),
    ];
    let three = [("strncmp", Sign), ("strncasecmp", Sign), ("memcmp", Sign)];
    let with_char = [("strchr", Place), ("strrchr", Place), ("strchrnul", Place)];
    let mut random = Random(0x5eed_0021);
    let mut body = String::new();
    let mut calls = Vec::new();
    for _ in 0..cases(400, 4000) {
        let (a, b) = (word(&mut random, 7), word(&mut random, 4));
        let mut push = |name: &'static str, kind: Shows, third: Option<u64>, char_arg: Option<u8>| {
            let second = char_arg.map_or(c_string(b.as_bytes()), |c| c.to_string());
            let third_c = third.map_or(String::new(), |n| format!(", {n}"));
            let print = match kind {
                Sign => {
                    format!("int r = {name}(s, {second}{third_c}); printf(\"%d\\n\", (r > 0) - (r < 0));")
                }
                Number => format!("printf(\"%d\\n\", (int){name}(s, {second}{third_c}));"),
                Place => format!(
                    "char *r = {name}(s, {second}{third_c}); printf(\"%d\\n\", r ? (int)(r - s) : -1);"
                ),
            };
            body.push_str(&format!("{{ char *s = {}; {print} }}\n", c_string(a.as_bytes())));
            calls.push((name, kind, a.clone(), b.clone(), third, char_arg));
        };
        let (name, kind) = *random.pick(&two);
        push(name, kind, None, None);
        let (name, kind) = *random.pick(&three);
        let limit = if name == "memcmp" { 1 + a.len().min(b.len()) } else { 7 };
        push(name, kind, Some(random.below(limit + 1).min(limit) as u64), None);
        let (name, kind) = *random.pick(&with_char);
        push(name, kind, None, Some(*random.pick(b"abA,z\0")));
        push("memchr", Place, Some(random.below(a.len() + 2) as u64), Some(*random.pick(b"abA\0")));
        push("memrchr", Place, Some(random.below(a.len() + 2) as u64), Some(*random.pick(b"abA\0")));
    }
    let includes = ["stdio.h", "string.h", "strings.h"];
    let output = run_c(&includes, &body);
    let output = String::from_utf8_lossy(&output);
    let expected: Vec<&str> = output.lines().collect();
    assert_eq!(expected.len(), calls.len());
    for ((name, kind, a, b, third, char_arg), expected) in calls.into_iter().zip(expected) {
        let mut mock = Mock::new(DataModel::Lp64);
        let start = mock.string(&a);
        let second = match char_arg {
            Some(byte) => Value::Int(i32::from(byte)),
            None => Value::Pointer(mock.string(&b)),
        };
        let mut args = vec![Value::Pointer(start), second];
        args.extend(third.map(|n| Value::Long(n as i64)));
        let result = mock.run(name, &args);
        let shown = match kind {
            Sign => i64::from((result as i32).signum()),
            Number => result as i64,
            Place => {
                if result == 0 {
                    -1
                } else {
                    result as i64 - start as i64
                }
            }
        };
        assert_eq!(shown.to_string(), expected, "{name}({a:?}, {b:?}, {third:?}, {char_arg:?})");
    }
}

#[test]
fn tokens() {
    let mut random = Random(0x5eed_0022);
    let list: Vec<String> = (0..cases(100, 3000)).map(|_| word(&mut random, 12)).collect();
    let mut body = String::new();
    for text in &list {
        let text = c_string(text.as_bytes());
        body.push_str(&format!(
            "{{ char s[] = {text}, t[] = {text}, *p, *n, *q = t; for (p = strtok(s, \" ,\"); p; p = strtok(0, \" ,\")) printf(\"<%s>\", p); \
             while ((n = strsep(&q, \" ,\"))) printf(\"[%s]\", n); putchar(10); }}\n"
        ));
    }
    let output = run_c(&["stdio.h", "string.h"], &body);
    let output = String::from_utf8_lossy(&output);
    for (text, expected) in list.iter().zip(output.lines()) {
        let mut mock = Mock::new(DataModel::Lp64);
        let set = Value::Pointer(mock.string(" ,"));
        let (first, second) = (mock.string(text), mock.string(text));
        let mut found = String::new();
        let mut next = Value::Pointer(first);
        loop {
            let token = mock.run("strtok", &[next, set]) as u64;
            if token == 0 {
                break;
            }
            found.push_str(&format!("<{}>", mock.text(token)));
            next = Value::Pointer(0);
        }
        let place = Value::Pointer(mock.place(&second.to_le_bytes()));
        loop {
            let token = mock.run("strsep", &[place, set]) as u64;
            if token == 0 {
                break;
            }
            found.push_str(&format!("[{}]", mock.text(token)));
        }
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn characters() {
    let names =
        "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit";
    let mut body = String::new();
    for name in names.split_whitespace() {
        body.push_str(&format!("for (int c = -1; c < 256; c++) putchar({name}(c) ? '1' : '0');\n"));
    }
    body.push_str("for (int c = -1; c < 256; c++) printf(\" %d %d\", tolower(c), toupper(c));\n");
    body.push_str("for (int c = -128; c < 256; c++) printf(\" %u %d %d\", (*__ctype_b_loc())[c], (*__ctype_tolower_loc())[c], (*__ctype_toupper_loc())[c]);\n");
    let expected = run_c(&["stdio.h", "ctype.h"], &body);
    let mut mock = Mock::new(DataModel::Lp64);
    let mut found = String::new();
    for name in names.split_whitespace() {
        for c in -1..256 {
            found.push(if mock.run(name, &[Value::Int(c)]) != 0 { '1' } else { '0' });
        }
    }
    for c in -1..256 {
        let (lower, upper) = (mock.run("tolower", &[Value::Int(c)]), mock.run("toupper", &[Value::Int(c)]));
        found.push_str(&format!(" {} {}", lower as i32, upper as i32));
    }
    let tables = ["__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc"].map(|name| {
        let pointer = mock.run(name, &[]) as u64;
        u64::from_le_bytes(mock.bytes(pointer, 8).try_into().expect("a pointer"))
    });
    for c in -128i64..256 {
        let at = |table: u64, width: i64| table.wrapping_add_signed(c * width);
        let class = u16::from_le_bytes(mock.bytes(at(tables[0], 2), 2).try_into().expect("two bytes"));
        let [lower, upper] = [tables[1], tables[2]]
            .map(|table| i32::from_le_bytes(mock.bytes(at(table, 4), 4).try_into().expect("four bytes")));
        found.push_str(&format!(" {class} {lower} {upper}"));
    }
    assert_eq!(found, String::from_utf8_lossy(&expected));
}

#[test]
fn copies() {
    let mut mock = Mock::new(DataModel::Lp64);
    let source = Value::Pointer(mock.string("hello"));
    let buffer = mock.place(&[b'#'; 16]);
    let target = Value::Pointer(buffer);
    assert_eq!(mock.run("strcpy", &[target, source]) as u64, buffer);
    assert_eq!(mock.bytes(buffer, 7), b"hello\0#");
    assert_eq!(mock.run("stpcpy", &[target, source]) as u64, buffer + 5);
    assert_eq!(mock.run("strcat", &[target, source]) as u64, buffer);
    assert_eq!(mock.bytes(buffer, 12), b"hellohello\0#");
    mock.run("strncat", &[target, source, Value::Long(2)]);
    assert_eq!(mock.bytes(buffer, 14), b"hellohellohe\0#");
    mock.run("memset", &[target, Value::Int(0x123), Value::Long(16)]);
    assert_eq!(mock.bytes(buffer, 16), [0x23; 16]);
    mock.run("strncpy", &[target, source, Value::Long(8)]);
    assert_eq!(mock.bytes(buffer, 9), b"hello\0\0\0#");
    assert_eq!(mock.run("stpncpy", &[target, source, Value::Long(3)]) as u64, buffer + 3);
    assert_eq!(mock.run("strlcpy", &[target, source, Value::Long(4)]), 5);
    assert_eq!(mock.bytes(buffer, 4), b"hel\0");
    assert_eq!(mock.run("strlcat", &[target, source, Value::Long(6)]), 8);
    assert_eq!(mock.text(buffer), "helhe");
    assert_eq!(mock.run("mempcpy", &[target, source, Value::Long(3)]) as u64, buffer + 3);
    assert_eq!(
        mock.run("memccpy", &[target, source, Value::Int(b'l'.into()), Value::Long(6)]) as u64,
        buffer + 3
    );
    assert_eq!(mock.run("memccpy", &[target, source, Value::Int(b'z'.into()), Value::Long(3)]), 0);
    let copy = mock.run("strdup", &[source]) as u64;
    assert_eq!((mock.text(copy), mock.blocks[&copy]), ("hello".into(), 6));
    let copy = mock.run("strndup", &[source, Value::Long(2)]) as u64;
    assert_eq!((mock.text(copy), mock.blocks[&copy]), ("he".into(), 3));
    let grown = mock.run("realloc", &[Value::Pointer(copy), Value::Long(10)]) as u64;
    assert_eq!(mock.text(grown), "he");
    assert!(!mock.blocks.contains_key(&copy));
    assert_eq!(mock.run("calloc", &[Value::Long(i64::MAX), Value::Long(3)]), 0);
}

fn scan_case(random: &mut Random) -> (String, String) {
    let pieces = [
        ("%d", "42"),
        ("%d", "-7x"),
        ("%i", "0x1f"),
        ("%i", "017"),
        ("%x", "ff"),
        ("%u", "4294967295"),
        ("%3d", "12345"),
        ("%o", "78"),
        ("%d", "abc"),
        ("%*d", "5"),
        ("%5c", "hello!"),
        ("%c", "x"),
        ("%s", "word"),
        ("%3s", "abcdef"),
        ("%[a-c]", "abcz"),
        ("%[^,]", "q r,"),
        ("%[]x]", "]x]y"),
        ("%hhd", "300"),
        ("%hd", "70000"),
        ("%d", ""),
        ("%n", ""),
        ("%%", "%"),
        ("%*s", "skip"),
        ("%d", "+3"),
        ("%d", "99999999999"),
        (",", ","),
        (" ", "  "),
        ("k", "k"),
        ("%d", " \t8"),
        ("%2c", "a"),
    ];
    let (mut format, mut input) = (String::new(), String::new());
    for _ in 0..=random.below(3) {
        let (directive, text) = *random.pick(&pieces);
        format.push_str(directive);
        input.push_str(text);
        if random.below(3) == 0 {
            format.push(' ');
            input.push(' ');
        }
    }
    if random.below(6) == 0 {
        input.truncate(input.len() / 2);
    }
    (format, input)
}

#[test]
fn scans() {
    let mut random = Random(0x5eed_0023);
    let list: Vec<(String, String)> = (0..cases(600, 20_000)).map(|_| scan_case(&mut random)).collect();
    for chunk in list.chunks(2000) {
        let mut body = String::new();
        for (format, input) in chunk {
            body.push_str(&format!(
                "{{ char b[4][32]; memset(b, 35, sizeof b); int n = sscanf({}, {}, b[0], b[1], b[2], b[3]); printf(\"%d \", n); \
                 for (int i = 0; i < 4; i++) for (int j = 0; j < 32; j++) printf(\"%02x\", (unsigned char)b[i][j]); putchar(10); }}\n",
                c_string(input.as_bytes()),
                c_string(format.as_bytes())
            ));
        }
        let output = run_c(&["stdio.h", "string.h"], &body);
        let output = String::from_utf8_lossy(&output);
        let expected: Vec<&str> = output.lines().collect();
        assert_eq!(expected.len(), chunk.len());
        for ((format, input), expected) in chunk.iter().zip(expected) {
            let mut mock = Mock::new(DataModel::Lp64);
            let buffer = mock.place(&[35; 128]);
            let mut args = vec![Value::Pointer(mock.string(input)), Value::Pointer(mock.string(format))];
            args.extend((0..4).map(|index| Value::Pointer(buffer + 32 * index)));
            let count = mock.run("sscanf", &args) as i32;
            let bytes: String = mock.bytes(buffer, 128).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(format!("{count} {bytes}"), expected, "sscanf({input:?}, {format:?})");
        }
    }
}

#[test]
fn scans_of_reals() {
    let mut random = Random(0x5eed_0024);
    let texts = [
        "1.5", "-2e3", ".5", "5.", "inf", "nan", "0x1.8p1", "1e", "abc", "1.2.3", "1e5x", "  7", "-", "infx",
        "3e+",
    ];
    let list: Vec<(&str, &str)> = (0..cases(150, 2000))
        .map(|_| (*random.pick(&texts), *random.pick(&["%lf", "%f", "%3lf", "%lf%c", "%Lf"])))
        .collect();
    let mut body = String::new();
    for (input, format) in &list {
        body.push_str(&format!(
            "{{ unsigned char b[16], c = 35; memset(b, 35, 16); int n = sscanf({}, {}, b, &c); printf(\"%d %d \", n, c); \
             for (int j = 0; j < 10; j++) printf(\"%02x\", b[j]); putchar(10); }}\n",
            c_string(input.as_bytes()),
            c_string(format.as_bytes())
        ));
    }
    let output = run_c(&["stdio.h", "string.h"], &body);
    let output = String::from_utf8_lossy(&output);
    for ((input, format), expected) in list.iter().zip(output.lines()) {
        let mut mock = Mock::new(DataModel::Lp64);
        let (buffer, byte) = (mock.place(&[35; 16]), mock.place(&[35]));
        let args = [mock.string(input), mock.string(format), buffer, byte].map(Value::Pointer);
        let count = mock.run("sscanf", &args) as i32;
        let bytes: String = mock.bytes(buffer, 10).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            format!("{count} {} {bytes}", mock.bytes(byte, 1)[0]),
            expected,
            "sscanf({input:?}, {format:?})"
        );
    }
}
