//! Small languages inside flags: sizes, durations, a string of compiler flags.

use raddle_driver::Line;
use std::time::Duration;

/// `500M`, `2G`, `65536`
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().find(|(_, c)| !c.is_ascii_digit()) {
        Some((at, _)) => text.split_at(at),
        None => (text, ""),
    };
    let scale: u64 = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        _ => return Err(format!("`{unit}` is no unit; write bytes, or K, M, G after the number")),
    };
    let number: u64 = digits.parse().map_err(|_| "not a number of bytes like 500M or 2G".to_owned())?;
    number.checked_mul(scale).ok_or_else(|| "more than 64 bits".to_owned())
}

/// `10`, `0.5`
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.trim_end_matches('s').parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|_| "not a length of time".to_owned())
}

/// `queue.c:12`
pub(crate) fn line(text: &str) -> Result<Line, String> {
    let wrong = || "write FILE:LINE, as in queue.c:12".to_owned();
    let (file, line) = text.rsplit_once(':').ok_or_else(wrong)?;
    match line.parse() {
        Ok(line) if !file.is_empty() && line > 0 => Ok(Line { file: file.to_owned(), line }),
        _ => Err(wrong()),
    }
}

/// Words as a shell splits them: spaces part, quotes and backslashes hold together.
pub(crate) fn split(text: &str) -> anyhow::Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => match chars.next() {
                Some(c) => word.get_or_insert_default().push(c),
                None => anyhow::bail!("--cflags ends with a backslash: {text}"),
            },
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        anyhow::bail!("--cflags has a quote that is not closed: {text}");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::{bytes, line, seconds, split};
    use raddle_driver::Line;
    use std::time::Duration;

    #[test]
    fn sizes() {
        assert_eq!(bytes("17"), Ok(17));
        assert_eq!(bytes("2G"), Ok(2 << 30));
        assert_eq!(bytes("500mb"), Ok(500 << 20));
        for bad in ["", "G", "1X", "-1", "99999999999G", "1.5G"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("10s"), Ok(Duration::from_secs(10)));
        for bad in ["", "-1", "x", "inf", "nan"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lines() {
        assert_eq!(line("a/q.c:12"), Ok(Line { file: "a/q.c".to_owned(), line: 12 }));
        for bad in ["", "q.c", "q.c:", ":12", "q.c:0", "q.c:x", "q.c:1:2x"] {
            assert!(line(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn flags() {
        let words = |text: &str| split(text).unwrap();
        assert_eq!(words(" -Ia  -DX=1 "), ["-Ia", "-DX=1"]);
        assert_eq!(words(r#"-DS='"a b"' -DT="c d" e\ f """#), [r#"-DS="a b""#, "-DT=c d", "e f", ""]);
        assert!(words("").is_empty());
        assert!(split("'open").is_err() && split("end\\").is_err());
    }
}
