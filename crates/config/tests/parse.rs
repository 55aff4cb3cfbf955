//! `raddle.toml`: what is accepted, what is refused and where the message points, and that no bytes make it panic.

use raddle_config::{Config, ConfigError, External, LockFunctions, LockMode, TrySuccess};

fn lock(acquire: &str) -> LockFunctions {
    LockFunctions {
        acquire: Some(acquire.into()),
        release: None,
        try_acquire: None,
        try_success: TrySuccess::NonZero,
        argument: 0,
        mode: LockMode::Exclusive,
    }
}

#[test]
fn an_empty_file_configures_nothing() {
    for text in ["", "\n\n", "# only a comment\n"] {
        assert_eq!(Config::parse(text).expect("valid"), Config::default());
    }
}

#[test]
fn everything_that_can_be_said() {
    let text = "
        entries = [\"q_open\", \"q_read\"]

        # Two families.
        [[lock]]
        acquire = \"q_lock\"
        release = \"q_unlock\"
        try = \"q_trylock\"
        try_success = \"zero\"
        argument = 1
        mode = \"shared\"

        [[lock]]
        release = 'leave'
    ";
    let first = LockFunctions {
        release: Some("q_unlock".into()),
        try_acquire: Some("q_trylock".into()),
        try_success: TrySuccess::Zero,
        argument: 1,
        mode: LockMode::Shared,
        ..lock("q_lock")
    };
    let second = LockFunctions { acquire: None, release: Some("leave".into()), ..lock("") };
    let config = Config::parse(text).expect("valid");
    assert_eq!(config.locks, [first, second]);
    assert_eq!(config.entries, ["q_open", "q_read"]);
    assert_eq!(Config::parse("lock = [{ acquire = 'f' }]").expect("valid").locks, [lock("f")]);
}

#[test]
fn functions_without_a_body_are_open_or_pure() {
    let external = |text: &str| Config::parse(text).expect("valid").external;
    assert_eq!([external(""), external("extern = 'open'\n"), external("extern = 'pure'\n")], {
        [External::Open, External::Open, External::Pure]
    });
    assert!(Config::parse("extern = 'pur'\n").unwrap_err().to_string().contains("did you mean `pure`?"));
}

#[test]
fn mistakes_have_a_line_and_advice() {
    for (text, line, message) in [
        ("[[lock]]\naquire = 'f'\n", 2, "unknown key `aquire`; did you mean `acquire`?"),
        ("\n[[locks]]\nacquire = 'f'\n", 2, "unknown key `locks`; did you mean `lock`?"),
        ("[budget]\n", 1, "unknown key `budget`; known: lock, ignore, entries, extern"),
        ("[[lock]]\nacquire = 'f'\nmode = 'share'\n", 3, "`mode` cannot be `share`; did you mean `shared`?"),
        ("[[lock]]\nacquire = 'f'\nmode = 1\n", 3, "a string in quotes is expected here"),
        ("[[lock]]\nacquire = 'f'\n\nargument = -1\n", 4, "`argument` is a position from 0 to 255"),
        ("[[lock]]\nacquire = 'f'\nargument = 256\n", 3, "`argument` is a position from 0 to 255"),
        ("[[lock]]\nacquire = 'f'\nargument = '0'\n", 3, "`argument` is a position from 0 to 255"),
        ("[[lock]]\nacquire = 'f g'\n", 2, "`f g` is not the name of a C function"),
        ("[[lock]]\nacquire = ''\n", 2, "`` is not the name of a C function"),
        ("[[lock]]\nacquire = '9f'\n", 2, "`9f` is not the name of a C function"),
        ("\n\n[[lock]]\ntry = 'f'\n", 3, "a `[[lock]]` needs `acquire` or `release`"),
        (
            "[[lock]]\ntry_success = 'nonzero'\n",
            2,
            "`try_success` cannot be `nonzero`; did you mean `non-zero`?",
        ),
        ("[[lock]]\nacquire = 'f'\nrelease = 'f'\n", 1, "the function `f` is named twice"),
        ("[[lock]]\nacquire = 'f'\n\n[[lock]]\nrelease = 'f'\n", 4, "the function `f` is named twice"),
        ("[lock]\nacquire = 'f'\n", 1, "`lock` is a list of tables: write `[[lock]]`"),
        ("lock = 3\n", 1, "`lock` is a list of tables: write `[[lock]]`"),
        ("[[lock]]\nacquire = 'f'\nacquire = 'g'\n", 3, "duplicate key"),
        ("[[lock]]\nacquire = \n", 2, ""),
    ] {
        let error = Config::parse(text).expect_err(text);
        assert_eq!(error.line(), Some(line), "{text:?}: {error}");
        assert!(error.to_string().contains(message), "{text:?}: {error}");
    }
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("absent.toml");
    assert!(matches!(Config::load(&missing), Err(ConfigError::Read { .. })));
    let binary = folder.path().join("binary.toml");
    std::fs::write(&binary, [0xff, 0xfe, 0x00]).expect("written");
    assert!(matches!(Config::load(&binary), Err(ConfigError::NotText { .. })));
    let wrong = folder.path().join("wrong.toml");
    std::fs::write(&wrong, "[[lock]]\nx = 1\n").expect("written");
    let error = Config::load(&wrong).expect_err("a mistake").to_string();
    assert!(error.contains("wrong.toml: line 2: unknown key `x`"), "{error}");
    let right = folder.path().join("right.toml");
    std::fs::write(&right, "[[lock]]\nacquire = 'f'\n").expect("written");
    assert_eq!(Config::load(&right).expect("valid").locks, [lock("f")]);
}

/// Random bytes, and a valid file with random damage: a value or an error, never a panic.
#[test]
fn no_text_panics() {
    let rounds = if std::env::var_os("RADDLE_SOAK").is_some() { 1_000_000 } else { 20_000 };
    let valid = "[[lock]]\nacquire = \"q_lock\"\nrelease = 'é'\nargument = 0x1\nmode = \"shared\"\n";
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut accepted = 0;
    for _ in 0..rounds {
        let mut bytes = valid.as_bytes().to_vec();
        if random.below(4) == 0 {
            bytes = (0..random.below(40)).map(|_| random.below(256) as u8).collect();
        } else {
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len() as u64) as usize;
                match random.below(3) {
                    0 => bytes[at] = random.below(256) as u8,
                    1 => bytes.insert(at, b"[]='\"\n#\\.0"[random.below(10) as usize]),
                    _ => drop(bytes.remove(at)),
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        match Config::parse(&text) {
            Ok(_) => accepted += 1,
            Err(error) => {
                let line = error.line().expect("a line");
                assert!((1..=text.lines().count() + 1).contains(&line), "{text:?}: {error}");
            }
        }
    }
    assert!(accepted > 0, "damage never leaves a valid file: the test looks at errors only");
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}

#[test]
fn suppressions() {
    let config =
        Config::parse("[[suppress]]\nfunction = \"log_*\"\n[[suppress]]\nfile = \"a.c\"\nvariable = \"x\"\n");
    let found = config.expect("a right file").suppressions;
    assert_eq!(found.len(), 2);
    assert!(found[0].fits(&["main", "log_line"], &["b.c"], &["y"]));
    assert!(!found[0].fits(&["main", "catalog_line"], &["b.c"], &["y"]));
    assert!(found[1].fits(&["main"], &["b.c", "a.c"], &["x"]) && !found[1].fits(&["main"], &["a.c"], &["y"]));
    for (text, line) in
        [("[[suppress]]\n", 1), ("suppress = 1\n", 1), ("[[suppress]]\nfunctoin = \"f\"\n", 2)]
    {
        assert_eq!(Config::parse(text).expect_err(text).line(), Some(line), "{text}");
    }
}
