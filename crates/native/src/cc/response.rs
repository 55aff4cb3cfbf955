//! `@file` arguments: the words in the file take its place, as clang and gcc read them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Files that name each other would go on for ever.
const DEEPEST: usize = 20;

/// All `@file` words replaced; one whose file cannot be read stays a word.
pub(super) fn expand(arguments: &[OsString]) -> Vec<OsString> {
    let mut out = Vec::new();
    expand_into(arguments, 0, &mut out);
    out
}

/// Text that [`expand`] reads back as these words.
pub(super) fn text(words: &[OsString]) -> Vec<u8> {
    let mut out = Vec::new();
    for word in words {
        out.push(b'"');
        for byte in word.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                out.push(b'\\');
            }
            out.push(*byte);
        }
        out.extend(b"\"\n");
    }
    out
}

fn expand_into(arguments: &[OsString], depth: usize, out: &mut Vec<OsString>) {
    for argument in arguments {
        let file = argument.as_bytes().strip_prefix(b"@").filter(|_| depth < DEEPEST);
        match file.and_then(|file| std::fs::read(OsStr::from_bytes(file)).ok()) {
            Some(text) => expand_into(&words(&text), depth + 1, out),
            None => out.push(argument.clone()),
        }
    }
}

fn words(text: &[u8]) -> Vec<OsString> {
    let (mut words, mut word, mut inside) = (Vec::new(), Vec::new(), false);
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                word.extend(bytes.next());
                inside = true;
            }
            _ if quote == Some(byte) => quote = None,
            b'"' | b'\'' if quote.is_none() => (quote, inside) = (Some(byte), true),
            _ if quote.is_none() && byte.is_ascii_whitespace() => {
                if inside {
                    words.push(OsString::from_vec(std::mem::take(&mut word)));
                }
                inside = false;
            }
            _ => {
                word.push(byte);
                inside = true;
            }
        }
    }
    if inside {
        words.push(OsString::from_vec(word));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{expand, text, words};
    use std::ffi::OsString;

    #[test]
    fn words_and_quotes() {
        let cases: [(&str, &[&str]); 6] = [
            ("", &[]),
            (" -c  a.c\n-o\ta.o ", &["-c", "a.c", "-o", "a.o"]),
            (r#"'-DX=a b' "-DY=c d""#, &["-DX=a b", "-DY=c d"]),
            (r#"-DZ=\"x\" a\ b"#, &["-DZ=\"x\"", "a b"]),
            (r#""""#, &[""]),
            ("'open", &["open"]),
        ];
        for (input, expected) in cases {
            assert_eq!(words(input.as_bytes()), expected, "{input}");
        }
        let hard: Vec<OsString> = ["a b", "\"q\"", "back\\slash", "", "'"].map(OsString::from).into();
        assert_eq!(words(&text(&hard)), hard);
    }

    #[test]
    fn files_are_read_and_a_circle_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rsp");
        std::fs::write(&path, format!("-c @{}/b.rsp", folder.path().display())).unwrap();
        std::fs::write(folder.path().join("b.rsp"), "x.c").unwrap();
        let word = |text: String| OsString::from(text);
        let found = expand(&[word(format!("@{}", path.display())), word("@nowhere".to_owned())]);
        assert_eq!(found, ["-c", "x.c", "@nowhere"]);
        std::fs::write(&path, format!("@{}", path.display())).unwrap();
        assert_eq!(expand(&[word(format!("@{}", path.display()))]).len(), 1);
    }
}
