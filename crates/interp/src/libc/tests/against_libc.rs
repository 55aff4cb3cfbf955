//! `printf` formats and number parsing compared byte for byte with the C library, on generated cases.

use super::mock::{Mock, Value};
use super::native::{Random, c_string, cases, run_c};
use raddle_ir::DataModel;

const INTEGERS: &[i64] = &[
    0,
    1,
    -1,
    7,
    8,
    42,
    -42,
    255,
    256,
    1000,
    -32768,
    65535,
    2147483647,
    -2147483648,
    4294967295,
    123456789012345,
    i64::MAX,
    i64::MIN,
];

const DOUBLES: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    0.1,
    0.125,
    0.375,
    99.5,
    999999.5,
    9.995,
    0.0001,
    0.00001,
    123456.0,
    1234567.0,
    1e15,
    1e16,
    1e17,
    1e22,
    1e23,
    1e100,
    1e300,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    std::f64::consts::PI,
    0.3,
    2.0 / 3.0,
    1e-5,
    9.9999e-5,
    6.02214076e23,
    0.000123456789,
    1099511627776.0,
    4503599627370497.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

struct Case {
    format: String,
    /// What the C program passes.
    native: Vec<String>,
    values: Vec<Value>,
}

fn flags(random: &mut Random) -> String {
    let mut flags = String::new();
    for flag in ['-', '+', ' ', '#', '0'] {
        if random.below(4) == 0 {
            flags.push(flag);
        }
    }
    flags
}

fn integer_case(random: &mut Random) -> Case {
    let mut values = Vec::new();
    let mut native = Vec::new();
    let mut format = format!("%{}", flags(random));
    match random.below(4) {
        0 => format.push_str(&random.below(25).max(1).to_string()),
        1 => {
            let width = random.below(30) as i32 - 12;
            format.push('*');
            values.push(Value::Int(width));
            native.push(width.to_string());
        }
        _ => {}
    }
    match random.below(4) {
        0 => format.push_str(&format!(".{}", random.below(20))),
        1 => {
            let precision = random.below(20) as i32 - 4;
            format.push_str(".*");
            values.push(Value::Int(precision));
            native.push(precision.to_string());
        }
        2 => format.push('.'),
        _ => {}
    }
    let value = if random.below(2) == 0 {
        *random.pick(INTEGERS)
    } else {
        (random.next() >> random.below(64)) as i64
    };
    let length = *random.pick(&["", "hh", "h", "l", "ll", "z", "j", "t"]);
    format.push_str(length);
    format.push(*random.pick(&['d', 'i', 'u', 'x', 'X', 'o']));
    if matches!(length, "" | "h" | "hh") {
        values.push(Value::Int(value as i32));
        native.push(format!("(int)({}u)", value as u32));
    } else {
        values.push(Value::Long(value));
        native.push(format!("(long)({}ul)", value as u64));
    }
    Case { format, native, values }
}

fn real_case(random: &mut Random) -> Case {
    let mut format = format!("%{}", flags(random));
    if random.below(3) == 0 {
        format.push_str(&random.below(40).max(1).to_string());
    }
    if random.below(3) != 0 {
        let limit = if random.below(8) == 0 { 60 } else { 18 };
        format.push_str(&format!(".{}", random.below(limit)));
    }
    let mut value = *random.pick(DOUBLES);
    match random.below(4) {
        0 => value = f64::from_bits(random.next()),
        1 => value = (random.below(2_000_001) as f64 - 1_000_000.0) / 1000.0,
        2 => value = random.below(4001) as f64 / 8.0,
        _ => {}
    }
    let conversion = *random.pick(&['f', 'e', 'g', 'F', 'E', 'G', 'a', 'A']);
    // glibc 2.36 loses the zeros that `#` should keep when rounding adds a digit (`%#.6g` of 999999.5 is `1.e+06`): the standard is
    // followed here, so only numbers that need no rounding are compared.
    if format.contains('#') && conversion.eq_ignore_ascii_case(&'g') {
        value = *random.pick(&[0.0, 1.0, -1.5, 0.5, 2.5, 10.0, 1e22, 64.0, f64::INFINITY, f64::NAN]);
        format = format!("{}.{}", format.split('.').next().unwrap_or("%"), 2 + random.below(12));
    }
    let bits = format!("(union {{ unsigned long u; double d; }}){{ {}ul }}.d", value.to_bits());
    // The same value as long double, or a neighbour that only a long double has.
    if random.below(3) == 0 {
        let (bits80, c_value) = extended(value, random.below(2) as u64, random.below(3) as i32 * 2000 - 2000);
        format.push('L');
        format.push(conversion);
        return Case { format, native: vec![c_value], values: vec![Value::Extended(bits80)] };
    }
    format.push(conversion);
    Case { format, native: vec![bits], values: vec![Value::Double(value)] }
}

/// The 80 bits of a double whose mantissa is made one larger or not and whose exponent is shifted, and the same in C.
fn extended(value: f64, one_more: u64, shift: i32) -> (u128, String) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let (exponent, mantissa) = match exponent {
        0x7ff => (0x7fff, (fraction << 11) | 1 << 63),
        0 => (0, fraction << 11),
        _ => ((exponent as i32 + 16383 - 1023 + shift) as u64, (fraction << 11) | 1 << 63 | one_more),
    };
    let sign = bits >> 63 << 15;
    let c_value = format!(
        "(union {{ struct {{ unsigned long m; unsigned short e; }} s; long double d; }}){{ {{ {mantissa}ul, {} }} }}.d",
        sign | exponent
    );
    (u128::from(sign | exponent) << 64 | u128::from(mantissa), c_value)
}

fn string_case(random: &mut Random, mock: &mut Mock) -> Case {
    let text = *random.pick(&["", "a", "hello", "a longer string with spaces"]);
    let mut format = String::from("[%");
    if random.below(2) == 0 {
        format.push('-');
    }
    if random.below(2) == 0 {
        format.push_str(&random.below(20).max(1).to_string());
    }
    if random.below(2) == 0 {
        format.push_str(&format!(".{}", random.below(9)));
    }
    let (native, value) = match random.below(5) {
        0 => ("(char *)0".to_owned(), Value::Pointer(0)),
        _ => (c_string(text.as_bytes()), Value::Pointer(mock.string(text))),
    };
    if random.below(6) == 0 {
        format.push_str("p%%|%c]");
        let native = vec!["(void *)0".to_owned(), "'x'".to_owned()];
        return Case { format, native, values: vec![Value::Pointer(0), Value::Int(120)] };
    }
    format.push_str("s]");
    Case { format, native: vec![native], values: vec![value] }
}

#[test]
fn formats_print_what_libc_prints() {
    let mut random = Random(0x5eed_0001);
    let mut mock = Mock::new(DataModel::Lp64);
    let list: Vec<Case> = (0..cases(1500, 30_000))
        .map(|index| match index % 5 {
            0 | 1 => integer_case(&mut random),
            2 | 3 => real_case(&mut random),
            _ => string_case(&mut random, &mut mock),
        })
        .collect();
    for chunk in list.chunks(1500) {
        let body: String = chunk
            .iter()
            .map(|case| {
                let args: String = case.native.iter().map(|value| format!(", {value}")).collect();
                format!(
                    "printf(\"<%d>\", printf({}{args})); putchar(10);\n",
                    c_string(case.format.as_bytes())
                )
            })
            .collect();
        let expected = String::from_utf8_lossy(&run_c(&["stdio.h"], &body)).into_owned();
        let expected: Vec<&str> = expected.lines().collect();
        assert_eq!(expected.len(), chunk.len());
        for (case, expected) in chunk.iter().zip(expected) {
            let format = mock.string(&case.format);
            let args: Vec<Value> =
                [Value::Pointer(format)].into_iter().chain(case.values.iter().copied()).collect();
            mock.output.clear();
            let len = mock.run("printf", &args) as i32;
            let printed = String::from_utf8_lossy(&mock.printed(1)).into_owned();
            assert_eq!(format!("{printed}<{len}>"), expected, "printf({:?}, {:?})", case.format, case.native);
        }
    }
}

fn number_text(random: &mut Random) -> String {
    let fixed = [
        "",
        "-",
        "+",
        "0",
        "-0",
        "0x",
        "0x1f",
        "0X1F",
        "0xg",
        "010",
        "08",
        "  42",
        "\t-7abc",
        "99999999999999999999",
        "-99999999999999999999",
        "2147483648",
        "-2147483649",
        "4294967296",
        "z",
        "Zz",
        "1e5",
        "1e",
        "1e+",
        ".5",
        "5.",
        ".",
        "1e400",
        "-1e400",
        "1e-400",
        "1e-310",
        "inf",
        "INFINITY",
        "-infinit",
        "nan",
        "nan(12)",
        "nan(",
        "0x1.8p3",
        "0x.8",
        "0x1p-1074",
        "0x1p-1080",
        "0x1.fffffffffffff8p0",
        "0xp3",
        "1e5000",
        "1e-5000",
        "1.7976931348623159e308",
        "2.2250738585072011e-308",
        "9007199254740993",
        "0.1",
        "123456789.123456789e-10",
        "1_000",
        "0b101",
        "3.4028236e38",
    ];
    match random.below(3) {
        0 => (*random.pick(&fixed)).to_owned(),
        1 => format!("{}{}", random.pick(&["", "-", "+", " "]), random.next() >> random.below(64)),
        _ => format!(
            "{}{}.{}e{}",
            random.pick(&["", "-", "0"]),
            random.next() >> random.below(64),
            random.next() >> random.below(64),
            random.below(700) as i32 - 350
        ),
    }
}

#[test]
fn integers_parse_as_in_libc() {
    let mut random = Random(0x5eed_0002);
    let list: Vec<(String, i32, &str)> = (0..cases(400, 5000))
        .map(|_| {
            let base = *random.pick(&[0, 10, 10, 16, 8, 2, 36, 7, 1, 37]);
            (number_text(&mut random), base, *random.pick(&["strtol", "strtoul", "strtoll", "strtoull"]))
        })
        .collect();
    let body: String = list
        .iter()
        .map(|(text, base, function)| {
            let text = c_string(text.as_bytes());
            format!(
                "{{ const char *s = {text}; char *e = (char *)s; errno = 0; unsigned long v = {function}(s, &e, {base}); \
                 int n = errno; printf(\"%lu %d %d %d\\n\", v, (int)(e - s), n, atoi(s)); }}\n"
            )
        })
        .collect();
    let expected = String::from_utf8_lossy(&run_c(&["stdio.h", "stdlib.h", "errno.h"], &body)).into_owned();
    for ((text, base, function), expected) in list.iter().zip(expected.lines()) {
        let mut mock = Mock::new(DataModel::Lp64);
        let start = mock.string(text);
        let end = mock.place(&start.to_le_bytes());
        let value = mock.run(function, &[Value::Pointer(start), Value::Pointer(end), Value::Int(*base)]);
        let used = u64::from_le_bytes(mock.bytes(end, 8).try_into().expect("a pointer")) - start;
        let errno = mock.last_errno();
        let atoi = mock.run("atoi", &[Value::Pointer(start)]) as i32;
        assert_eq!(format!("{value} {used} {errno} {atoi}"), expected, "{function}({text:?}, {base})");
    }
}

#[test]
fn reals_parse_as_in_libc() {
    let mut random = Random(0x5eed_0003);
    let list: Vec<String> = (0..cases(500, 10_000)).map(|_| number_text(&mut random)).collect();
    let body: String = list
        .iter()
        .map(|text| {
            let text = c_string(text.as_bytes());
            format!(
                "{{ const char *s = {text}; char *e; errno = 0; double d = strtod(s, &e); int n = errno; int u = e - s; \
                 float f = strtof(s, 0); unsigned long b; unsigned w; memcpy(&b, &d, 8); memcpy(&w, &f, 4); \
                 errno = 0; long double l = strtold(s, 0); int m = errno; unsigned long x; unsigned short h; \
                 memcpy(&x, &l, 8); memcpy(&h, (char *)&l + 8, 2); if (d != d) b &= 1ul << 63; if (f != f) w &= 1u << 31; \
                 if (l != l) x = 0; printf(\"%lx %d %d %x %x%016lx %d\\n\", b, u, n, w, h, x, m); }}\n"
            )
        })
        .collect();
    let includes = ["stdio.h", "stdlib.h", "string.h", "errno.h"];
    let expected = String::from_utf8_lossy(&run_c(&includes, &body)).into_owned();
    for (text, expected) in list.iter().zip(expected.lines()) {
        let mut mock = Mock::new(DataModel::Lp64);
        let start = mock.string(text);
        let end = mock.place(&[0; 8]);
        let mut bits = mock.run("strtod", &[Value::Pointer(start), Value::Pointer(end)]) as u64;
        let errno = mock.last_errno();
        let used = u64::from_le_bytes(mock.bytes(end, 8).try_into().expect("a pointer")) - start;
        let mut single = mock.run("strtof", &[Value::Pointer(start), Value::Pointer(0)]) as u32;
        mock = Mock::new(DataModel::Lp64);
        let start = mock.string(text);
        let wide = mock.run("strtold", &[Value::Pointer(start), Value::Pointer(0)]);
        let wide_errno = mock.last_errno();
        let (high, mut low) = ((wide >> 64) as u16, wide as u64);
        if f64::from_bits(bits).is_nan() {
            bits &= 1 << 63;
            single &= 1 << 31;
            low = 0;
        }
        let found = format!("{bits:x} {used} {errno} {single:x} {high:x}{low:016x} {wide_errno}");
        assert_eq!(found, expected, "{text:?}");
    }
}
