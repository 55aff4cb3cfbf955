//! Command-line options and paths compared with the C library.

use super::mock::{Mock, Value};
use super::native::{Random, c_string, cases, run_c, run_c_with};
use raddle_ir::DataModel;

const ELEMENTS: &[&str] = &[
    "-a",
    "-b",
    "-ab",
    "-bfoo",
    "-b",
    "x",
    "y",
    "--",
    "-",
    "-z",
    "-c",
    "-cval",
    "-az",
    "--alpha",
    "--beta=1",
    "--beta",
    "--al",
    "--be",
    "--alpha=2",
    "--bet",
    "--gamma",
    "--none",
    "-b",
];

const C_LOOP: &str = r#"
static int flag;
static struct option table[] = { {"alpha", 0, 0, 'A'}, {"beta", 1, 0, 'B'}, {"better", 0, 0, 'T'}, {"gamma", 2, &flag, 7}, {0, 0, 0, 0} };
static void parse(int n, char **v, const char *letters, int is_long) {
    int c, which = -1;
    optind = 0; opterr = 0; optopt = 63; flag = 0;
    while ((c = is_long ? getopt_long(n, v, letters, table, &which) : getopt(n, v, letters)) != -1)
        printf("%d,%s,%d,%d ", c, optarg ? optarg : "-", c == 63 || c == 58 ? optopt : 0, optind);
    printf("| %d %d", optind, flag);
    for (int i = 0; i < n; i++) printf(" %s", v[i]);
    putchar(10);
}
"#;

#[test]
fn options_parse_as_in_libc() {
    let mut random = Random(0x5eed_0031);
    let list: Vec<(Vec<&str>, &str, bool)> = (0..cases(400, 10_000))
        .map(|_| {
            let mut elements = vec!["prog"];
            elements.extend((0..random.below(6)).map(|_| *random.pick(ELEMENTS)));
            (elements, *random.pick(&["ab:c::", ":ab:c::", "+ab:c::", "-ab:c::", ""]), random.below(2) == 0)
        })
        .collect();
    for chunk in list.chunks(2000) {
        let body: String = chunk
            .iter()
            .map(|(elements, letters, long)| {
                let values: Vec<String> = elements.iter().map(|text| c_string(text.as_bytes())).collect();
                let (count, values) = (elements.len(), values.join(", "));
                let letters = c_string(letters.as_bytes());
                format!(
                    "{{ char *v[] = {{ {values}, 0 }}; parse({count}, v, {letters}, {}); }}\n",
                    i32::from(*long)
                )
            })
            .collect();
        let output = run_c_with(&["stdio.h", "getopt.h"], C_LOOP, &body);
        let output = String::from_utf8_lossy(&output);
        let expected: Vec<&str> = output.lines().collect();
        assert_eq!(expected.len(), chunk.len());
        for ((elements, letters, long), expected) in chunk.iter().zip(expected) {
            assert_eq!(parse(elements, letters, *long), expected, "{elements:?} {letters:?} {long}");
        }
    }
}

fn parse(elements: &[&str], letters: &str, long: bool) -> String {
    let mut mock = Mock::new(DataModel::Lp64);
    for (name, initial) in [("optind", 0), ("opterr", 0), ("optopt", 63), ("optarg", 0i64)] {
        let address = mock.place(&initial.to_le_bytes());
        mock.variables.insert(name.into(), address);
    }
    let pointers: Vec<u8> =
        elements.iter().flat_map(|text| mock.string(text).to_le_bytes()).chain([0; 8]).collect();
    let argv = mock.place(&pointers);
    let flag = mock.place(&[0; 4]);
    let mut table = Vec::new();
    for (name, takes, flag, value) in
        [("alpha", 0i64, 0, 65i64), ("beta", 1, 0, 66), ("better", 0, 0, 84), ("gamma", 2, flag, 7)]
    {
        table.extend(
            [mock.string(name), takes as u64, flag, value as u64].iter().flat_map(|word| word.to_le_bytes()),
        );
    }
    table.extend([0; 32]);
    let table = mock.place(&table);
    let letters = mock.string(letters);
    let which = mock.place(&[0xff; 4]);
    let read = |mock: &Mock, name: &str| {
        let at = mock.variables[name];
        i64::from_le_bytes(mock.bytes(at, 8).try_into().expect("eight bytes"))
    };
    let mut shown = String::new();
    loop {
        let args = [Value::Int(elements.len() as i32), Value::Pointer(argv), Value::Pointer(letters)];
        let result = if long {
            mock.run(
                "getopt_long",
                &[args[0], args[1], args[2], Value::Pointer(table), Value::Pointer(which)],
            )
        } else {
            mock.run("getopt", &args)
        } as i32;
        if result == -1 {
            break;
        }
        let argument = read(&mock, "optarg") as u64;
        let argument = if argument == 0 { "-".to_owned() } else { mock.text(argument) };
        let letter = if matches!(result, 63 | 58) { read(&mock, "optopt") as i32 } else { 0 };
        let index = read(&mock, "optind") as i32;
        shown.push_str(&format!("{result},{argument},{letter},{index} "));
    }
    let flag = i32::from_le_bytes(mock.bytes(flag, 4).try_into().expect("an int"));
    shown.push_str(&format!("| {} {flag}", read(&mock, "optind") as i32));
    for element in 0..elements.len() as u64 {
        let text = u64::from_le_bytes(mock.bytes(argv + 8 * element, 8).try_into().expect("a pointer"));
        shown.push_str(&format!(" {}", mock.text(text)));
    }
    shown
}

#[test]
fn paths_as_in_libc() {
    let list = [
        "", "/", "//", "///", "a", "a/", "/a", "//a", "a/b", "a//b//", "/a/b/c/", "./x", "..", "///a", "a/b/",
    ];
    let body: String = list
        .iter()
        .map(|path| {
            let path = c_string(path.as_bytes());
            format!(
                "{{ char a[] = {path}, b[] = {path}, c[] = {path}; printf(\"%s|\", __xpg_basename(a)); printf(\"%s|\", dirname(b)); \
                 char *slash = strrchr(c, 47); printf(\"%s\\n\", slash ? slash + 1 : c); }}\n"
            )
        })
        .collect();
    let output = run_c(&["stdio.h", "string.h", "libgen.h"], &body);
    let output = String::from_utf8_lossy(&output);
    for (path, expected) in list.iter().zip(output.lines()) {
        let found: Vec<String> = ["__xpg_basename", "dirname", "basename"]
            .iter()
            .map(|name| {
                let mut mock = Mock::new(DataModel::Lp64);
                let text = Value::Pointer(mock.string(path));
                let result = mock.run(name, &[text]) as u64;
                mock.text(result)
            })
            .collect();
        assert_eq!(found.join("|"), expected, "{path:?}");
    }
}
