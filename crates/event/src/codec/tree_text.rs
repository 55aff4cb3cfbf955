//! Search trees as text, a line per state: `T1 T2/1 -T0 -T3@4` explored T1 and way 1 of T2, did not need T0, and left out T3 because
//! it was explored four steps from the start.

use super::CodecError;
use super::schedule_text::{number, parse_choice};
use crate::tree::{Branching, Fate, SearchTree};
use std::fmt::Write;

impl SearchTree {
    pub fn to_lines(&self) -> Vec<String> {
        self.nodes.iter().map(Branching::to_line).collect()
    }

    /// Reads what [`to_lines`](Self::to_lines) wrote. Every state has as many states below it as it has explored choices.
    pub fn parse<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<SearchTree, CodecError> {
        let mut nodes = Vec::new();
        let mut missing: u64 = 1;
        for (index, line) in lines.into_iter().enumerate() {
            let wrong = |message: String| CodecError::line(index + 1, message);
            if missing == 0 {
                return Err(wrong("the tree is complete before this state".to_owned()));
            }
            let node = Branching::parse(line).map_err(wrong)?;
            missing = missing - 1 + node.explored().count() as u64;
            nodes.push(node);
        }
        match missing {
            0 => Ok(SearchTree { nodes }),
            _ => Err(CodecError::line(nodes.len(), format!("{missing} states are missing at the end"))),
        }
    }
}

impl Branching {
    fn to_line(&self) -> String {
        let mut line = String::new();
        for (choice, fate) in &self.choices {
            if !line.is_empty() {
                line.push(' ');
            }
            if *fate != Fate::Explored {
                line.push('-');
            }
            let _ = write!(line, "{}", choice.thread);
            if choice.variant != 0 {
                let _ = write!(line, "/{}", choice.variant);
            }
            if let Fate::Asleep { since } = fate {
                let _ = write!(line, "@{since}");
            }
        }
        line
    }

    fn parse(line: &str) -> Result<Branching, String> {
        let word = |word: &str| {
            let (text, fate) = match word.strip_prefix('-') {
                None => (word, Fate::Explored),
                Some(rest) => match rest.split_once('@') {
                    None => (rest, Fate::NotNeeded),
                    Some((rest, since)) => (rest, Fate::Asleep { since: number(since)? }),
                },
            };
            Some((parse_choice(text)?, fate))
        };
        let wrong = |text: &str| format!("`{text}` is no choice like `T1`, `-T1/1` or `-T1@4`");
        let words = line.split_whitespace().map(|text| word(text).ok_or_else(|| wrong(text)));
        Ok(Branching { choices: words.collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use crate::SearchTree;

    const LINES: [&str; 4] = ["T0", "T0 T1/2 -T2 -T3@1", "", ""];

    #[test]
    fn lines_are_read_back() {
        let tree = SearchTree::parse(LINES).expect("it is well formed");
        assert_eq!(tree.to_lines(), LINES);
    }

    #[test]
    fn broken_lines_are_refused() {
        for (lines, says) in [
            (&["T0"][..], "1 states are missing"),
            (&[], "1 states are missing"),
            (&["", "T0"], "complete before"),
            (&["T0 U1", ""], "`U1` is no choice"),
            (&["-T1@", ""], "`-T1@` is no choice"),
            (&["T99999999999", ""], "no choice"),
            (&["-T1@99999999999", ""], "no choice"),
            (&["T1@4", ""], "no choice"),
        ] {
            let error = SearchTree::parse(lines.iter().copied()).expect_err("it is broken").to_string();
            assert!(error.contains(says), "{lines:?}: {error}");
        }
    }
}
