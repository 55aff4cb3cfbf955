//! Schedules as text: `T1*3 T2 T1/1` is three steps of T1, one of T2, one of T1 in its way 1.

use super::CodecError;
use crate::{Choice, Schedule, ThreadId};
use std::fmt::Write;

const HEADER: &str = "raddle-schedule 1";
/// More choices than any run can have; keeps a damaged count from filling the memory.
const LONGEST: usize = 1 << 26;
const WIDTH: usize = 100;

impl Schedule {
    /// Header line, then choices with runs folded, in lines of moderate width.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        let mut column = 0;
        let mut rest = self.choices.as_slice();
        while let Some(first) = rest.first() {
            let run = rest.iter().take_while(|choice| *choice == first).count();
            rest = &rest[run..];
            let mut word = first.thread.to_string();
            if first.variant != 0 {
                let _ = write!(word, "/{}", first.variant);
            }
            if run > 1 {
                let _ = write!(word, "*{run}");
            }
            if column > 0 && column + 1 + word.len() > WIDTH {
                text.push('\n');
                column = 0;
            }
            if column > 0 {
                text.push(' ');
                column += 1;
            }
            column += word.len();
            text.push_str(&word);
        }
        if column > 0 {
            text.push('\n');
        }
        text
    }

    pub fn parse(text: &str) -> Result<Schedule, CodecError> {
        let mut lines = text.lines().enumerate();
        match lines.next() {
            Some((_, header)) if header.trim_end() == HEADER => {}
            Some((_, header)) if header.starts_with("raddle-schedule ") => {
                return Err(CodecError::line(1, format!("version not known: `{}`", header.trim_end())));
            }
            _ => return Err(CodecError::line(1, format!("does not start with `{HEADER}`"))),
        }
        let mut choices = Vec::new();
        for (index, line) in lines {
            for word in line.split_whitespace() {
                let (choice, run) = parse_word(word).ok_or_else(|| {
                    CodecError::line(index + 1, format!("`{word}` is no choice like `T1*3` or `T1/1`"))
                })?;
                if choices.len() + run > LONGEST {
                    return Err(CodecError::line(index + 1, format!("more than {LONGEST} choices")));
                }
                choices.extend(std::iter::repeat_n(choice, run));
            }
        }
        Ok(Schedule { choices })
    }
}

fn parse_word(word: &str) -> Option<(Choice, usize)> {
    let (word, run) = match word.split_once('*') {
        Some((word, run)) => (word, number(run)? as usize),
        None => (word, 1),
    };
    let choice = parse_choice(word)?;
    (run > 0 && run <= LONGEST).then_some((choice, run))
}

/// `T1` or `T1/2`.
pub(super) fn parse_choice(word: &str) -> Option<Choice> {
    let (thread, variant) = match word.split_once('/') {
        Some((thread, variant)) => (thread, number(variant)?),
        None => (word, 0),
    };
    let thread = ThreadId(number(thread.strip_prefix('T')?)?);
    Some(Choice { thread, variant })
}

/// Digits only: no sign.
pub(super) fn number(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
