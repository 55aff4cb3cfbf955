//! Math, random numbers and calendars compared with the C library.

use super::mock::{Mock, Value};
use super::native::{Random, c_string, cases, run_c, run_c_with};
use raddle_ir::DataModel;

/// Without `cbrt`, which glibc rounds wrongly, and the inverse hyperbolic functions.
const ONE: &str = "acos asin atan cos sin tan cosh sinh tanh exp exp2 expm1 log log2 log10 log1p sqrt fabs floor ceil \
                   trunc round rint roundeven logb";
const TWO: &str = "atan2 hypot pow fmod remainder fdim fmax fmin copysign nextafter";
const WHOLE: &str = "lround llround lrint llrint ilogb";

fn arguments(random: &mut Random) -> Vec<f64> {
    let mut list = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        3.0,
        0.1,
        1e-10,
        100.25,
        1e10,
        1e300,
        -1e300,
        710.0,
        -750.0,
        5e-324,
        2e-310,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    for _ in 0..cases(20, 400) {
        list.push(f64::from_bits(random.next()));
        list.push((random.below(2_000_001) as f64 - 1e6) / 1024.0);
    }
    list
}

fn in_c(value: f64) -> String {
    format!("D({}ul)", value.to_bits())
}

/// NaNs are equal whatever their bits.
fn shown(bits: u64) -> String {
    if f64::from_bits(bits).is_nan() { "nan".into() } else { format!("{bits:x}") }
}

fn shown_float(bits: u32) -> String {
    if f32::from_bits(bits).is_nan() { "nan".into() } else { format!("{bits:x}") }
}

const C_SUPPORT: &str = "double D(unsigned long u) { double d; memcpy(&d, &u, 8); return d; } \
     void P(double d, int e) { unsigned long u; memcpy(&u, &d, 8); if (d != d) printf(\"nan %d\\n\", e); else printf(\"%lx %d\\n\", u, e); } \
     void F(float d) { unsigned u; memcpy(&u, &d, 4); if (d != d) puts(\"nan\"); else printf(\"%x\\n\", u); }";

fn ask(support: &str, body: &str) -> Vec<String> {
    let includes = ["stdio.h", "string.h", "math.h", "errno.h", "stdlib.h"];
    let output = run_c_with(
        &includes,
        &format!(
            "{C_SUPPORT}
{support}"
        ),
        body,
    );
    String::from_utf8_lossy(&output).lines().map(str::to_owned).collect()
}

/// A call in C and the same call here.
struct Call {
    name: String,
    args: Vec<Value>,
    c: String,
}

fn compare(calls: Vec<Call>, here: fn(&mut Mock, &Call) -> String) {
    for chunk in calls.chunks(4000) {
        let body: String = chunk.iter().map(|call| call.c.as_str()).collect();
        let expected = ask("", &body);
        assert_eq!(expected.len(), chunk.len());
        for (call, expected) in chunk.iter().zip(expected) {
            let mut mock = Mock::new(DataModel::Lp64);
            assert_eq!(here(&mut mock, call), expected, "{} {:?}", call.name, call.args);
        }
    }
}

#[test]
fn doubles_and_errno_are_those_of_libm() {
    let mut random = Random(0x5eed_0011);
    let list = arguments(&mut random);
    let mut calls = Vec::new();
    let mut call = |name: &str, args: &[f64]| {
        let c_args: Vec<String> = args.iter().map(|x| in_c(*x)).collect();
        let c = format!("errno = 0; {{ double r = {name}({}); P(r, errno); }}\n", c_args.join(", "));
        calls.push(Call { name: name.into(), args: args.iter().map(|x| Value::Double(*x)).collect(), c });
    };
    for x in &list {
        for name in ONE.split_whitespace() {
            call(name, &[*x]);
        }
        for name in TWO.split_whitespace() {
            let y = *random.pick(&list);
            call(name, &[*x, y]);
        }
    }
    compare(calls, |mock, call| {
        let bits = mock.run(&call.name, &call.args) as u64;
        format!("{} {}", shown(bits), mock.last_errno())
    });
}

#[test]
fn floats_are_those_of_libm() {
    let mut random = Random(0x5eed_0012);
    let list: Vec<f32> = arguments(&mut random).into_iter().map(|x| x as f32).collect();
    let mut calls = Vec::new();
    for x in &list {
        for name in ONE.split_whitespace().chain(TWO.split_whitespace()) {
            let y = *random.pick(&list);
            let args = if TWO.split_whitespace().any(|two| two == name) { vec![*x, y] } else { vec![*x] };
            let c_args: Vec<String> =
                args.iter().map(|x| format!("(float){}", in_c(f64::from(*x)))).collect();
            let c = format!("F({name}f({}));\n", c_args.join(", "));
            calls.push(Call {
                name: format!("{name}f"),
                args: args.into_iter().map(Value::Float).collect(),
                c,
            });
        }
    }
    compare(calls, |mock, call| shown_float(mock.run(&call.name, &call.args) as u32));
}

#[test]
fn whole_numbers_and_parts() {
    let mut random = Random(0x5eed_0013);
    let list: Vec<f64> = arguments(&mut random).into_iter().filter(|x| x.abs() < 1e18).collect();
    let mut calls = Vec::new();
    for x in &list {
        for name in WHOLE.split_whitespace() {
            let c = format!("printf(\"%ld\\n\", (long){name}({}));\n", in_c(*x));
            calls.push(Call { name: name.into(), args: vec![Value::Double(*x)], c });
        }
    }
    compare(calls, |mock, call| {
        let bits = mock.run(&call.name, &call.args);
        if call.name == "ilogb" { (bits as i32).to_string() } else { (bits as i64).to_string() }
    });
    let mut calls = Vec::new();
    for x in &list {
        for name in ["frexp", "modf", "ldexp"] {
            let power = random.below(4000) as i32 - 2000;
            let c = match name {
                "frexp" => format!("{{ int e; double r = frexp({}, &e); P(r, e); }}\n", in_c(*x)),
                "modf" => format!("{{ double i; double r = modf({}, &i); P(r, (int)i); }}\n", in_c(*x)),
                _ => format!("P(ldexp({}, {power}), 0);\n", in_c(*x)),
            };
            let args = vec![Value::Double(*x), Value::Int(power)];
            calls.push(Call { name: name.into(), args, c });
        }
    }
    let list = calls.into_iter().filter(|call| call.name != "modf" || small(call)).collect();
    compare(list, |mock, call| {
        let target = mock.place(&[0; 8]);
        let second = if call.name == "ldexp" { call.args[1] } else { Value::Pointer(target) };
        let bits = mock.run(&call.name, &[call.args[0], second]) as u64;
        let stored = match call.name.as_str() {
            "frexp" => i32::from_le_bytes(mock.bytes(target, 4).try_into().expect("an int")),
            "modf" => f64::from_le_bytes(mock.bytes(target, 8).try_into().expect("a double")) as i32,
            _ => 0,
        };
        format!("{} {stored}", shown(bits))
    });
}

/// The whole part fits an `int`.
fn small(call: &Call) -> bool {
    matches!(call.args[0], Value::Double(x) if x.abs() < 1e9)
}

#[test]
fn long_doubles_are_exact() {
    let mut random = Random(0x5eed_0014);
    let mut list =
        vec![(0u64, 0u16), (1 << 63, 16383), (3 << 62, 16384), (1 << 63, 0x7fff), (1, 0), (5 << 61, 49151)];
    for _ in 0..cases(150, 1000) {
        let exponent = 16383 - 70 + random.below(140);
        list.push((random.next() | 1 << 63, exponent as u16 | (random.below(2) as u16) << 15));
    }
    let names = "sqrt fabs floor ceil trunc round rint roundeven fmod fdim fmax fmin copysign";
    let support = "long double L(unsigned long m, unsigned short e) { long double d = 0; memcpy(&d, &m, 8); memcpy((char *)&d + 8, &e, 2); return d; } \
         void Q(long double d) { unsigned long m; unsigned short e; memcpy(&m, &d, 8); memcpy(&e, (char *)&d + 8, 2); \
         if (d != d) puts(\"nan\"); else printf(\"%x %lx\\n\", e, m); }";
    let mut body = String::new();
    let mut calls = Vec::new();
    for (index, x) in list.iter().enumerate() {
        let y = list[(index * 7 + 3) % list.len()];
        for name in names.split_whitespace() {
            let two = name.starts_with('f') && !matches!(name, "fabs" | "floor") || name == "copysign";
            let c_y = if two { format!(", L({}ul, {})", y.0, y.1) } else { String::new() };
            body.push_str(&format!("Q({name}l(L({}ul, {}){c_y}));\n", x.0, x.1));
            calls.push((format!("{name}l"), *x, y));
        }
    }
    let expected = ask(support, &body);
    assert_eq!(expected.len(), calls.len());
    for ((name, x, y), expected) in calls.into_iter().zip(expected) {
        let bits = |(mantissa, exponent): (u64, u16)| u128::from(exponent) << 64 | u128::from(mantissa);
        let mut mock = Mock::new(DataModel::Lp64);
        let result = mock.run(&name, &[Value::Extended(bits(x)), Value::Extended(bits(y))]);
        let nan = (result >> 64) as u16 & 0x7fff == 0x7fff && (result as u64) << 1 != 0;
        let shown =
            if nan { "nan".into() } else { format!("{:x} {:x}", (result >> 64) as u16, result as u64) };
        assert_eq!(shown, expected, "{name} {x:x?} {y:x?}");
    }
}

#[test]
fn random_numbers_are_those_of_glibc() {
    let mut body = String::new();
    for _ in 0..50 {
        body.push_str("printf(\"%d\\n\", rand());\n");
    }
    for seed in [0, 1, 42, -7, 2147483647] {
        body.push_str(&format!("srand({seed}); for (int i = 0; i < 40; i++) printf(\"%d\\n\", rand());\n"));
        body.push_str(&format!(
            "{{ unsigned s = {seed}; for (int i = 0; i < 9; i++) printf(\"%d\\n\", rand_r(&s)); }}\n"
        ));
        body.push_str(&format!(
            "srand48({seed}); for (int i = 0; i < 9; i++) {{ long a = lrand48(), b = mrand48(); double c = drand48(); \
             printf(\"%ld %ld %.17g\\n\", a, b, c); }}\n"
        ));
    }
    let expected = ask("", &body);
    let mut found = Vec::new();
    let mut mock = Mock::new(DataModel::Lp64);
    for _ in 0..50 {
        found.push((mock.run("rand", &[]) as i32).to_string());
    }
    for seed in [0, 1, 42, -7, 2147483647] {
        mock.run("srand", &[Value::Int(seed)]);
        for _ in 0..40 {
            found.push((mock.run("rand", &[]) as i32).to_string());
        }
        let state = mock.place(&seed.to_le_bytes());
        for _ in 0..9 {
            found.push((mock.run("rand_r", &[Value::Pointer(state)]) as i32).to_string());
        }
        mock.run("srand48", &[Value::Long(i64::from(seed))]);
        for _ in 0..9 {
            let a = mock.run("lrand48", &[]) as i64;
            let b = mock.run("mrand48", &[]) as i64;
            let c = mock.run("drand48", &[]) as u64;
            let format = mock.string("%ld %ld %.17g");
            mock.output.clear();
            let args =
                [Value::Pointer(format), Value::Long(a), Value::Long(b), Value::Double(f64::from_bits(c))];
            mock.run("printf", &args);
            found.push(String::from_utf8_lossy(&mock.printed(1)).into_owned());
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn calendars_are_those_of_libc() {
    let mut random = Random(0x5eed_0015);
    let mut list = vec![
        0,
        1,
        -1,
        86_399,
        951_782_400,
        1_709_164_800,
        1_704_067_200,
        -2_208_988_800,
        4_102_444_800,
        253_402_300_799,
    ];
    for _ in 0..cases(200, 20_000) {
        list.push((random.next() >> 24) as i64 % 200_000_000_000 - 30_000_000_000);
    }
    let format = "%Y-%m-%d %H:%M:%S %j %a %A %b %B %p %I %e %u %w %y %C %D %T %R %F %r %c %s%%%n%t.";
    let body: String = list
        .iter()
        .map(|seconds| {
            format!(
                "{{ long t = {seconds}l; struct tm m; char b[400], a[64]; gmtime_r(&t, &m); strftime(b, 400, {}, &m); asctime_r(&m, a); \
                 m.tm_sec += 100; m.tm_mon -= 20; long back = timegm(&m); printf(\"%s|%s|%ld %d %d;\", b, a, back, m.tm_yday, m.tm_wday); }}\n",
                c_string(format.as_bytes())
            )
        })
        .collect();
    let output = run_c(&["stdio.h", "time.h"], &body);
    let expected = String::from_utf8_lossy(&output).into_owned();
    let mut found = String::new();
    for seconds in list {
        let mut mock = Mock::new(DataModel::Lp64);
        let (time, tm) = (mock.place(&seconds.to_le_bytes()), mock.place(&[0xee; 56]));
        let (buffer, ascii) = (mock.place(&[0; 400]), mock.place(&[0; 64]));
        let format = mock.string(format);
        mock.run("gmtime_r", &[Value::Pointer(time), Value::Pointer(tm)]);
        let args = [Value::Pointer(buffer), Value::Long(400), Value::Pointer(format), Value::Pointer(tm)];
        mock.run("strftime", &args);
        mock.run("asctime_r", &[Value::Pointer(tm), Value::Pointer(ascii)]);
        let field = |mock: &Mock, index: u64| {
            i32::from_le_bytes(mock.bytes(tm + 4 * index, 4).try_into().expect("an int"))
        };
        let (second, month) = (field(&mock, 0) + 100, field(&mock, 4) - 20);
        let at = |index: u64| Value::Pointer(tm + 4 * index);
        let (new_second, new_month) = (mock.place(&second.to_le_bytes()), mock.place(&month.to_le_bytes()));
        mock.run("memcpy", &[at(0), Value::Pointer(new_second), Value::Long(4)]);
        mock.run("memcpy", &[at(4), Value::Pointer(new_month), Value::Long(4)]);
        let back = mock.run("mktime", &[Value::Pointer(tm)]) as i64;
        let (text, ascii) = (mock.text(buffer), mock.text(ascii));
        found.push_str(&format!("{text}|{ascii}|{back} {} {};", field(&mock, 7), field(&mock, 6)));
    }
    for (found, expected) in found.split(';').zip(expected.split(';')) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}
