//! Traces as text, one event a line: `T1 @12 write 3 0 4`; `-` stands for no site.

use super::CodecError;
use super::words::{decode, encode, field_words, tag_of_word, word};
use crate::{Event, ThreadId, Trace};
use raddle_base::SiteId;
use std::fmt::Write;

const HEADER: &str = "raddle-trace 1";

impl Trace {
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for event in &self.events {
            let (tag, fields) = encode(event.kind);
            let _ = write!(text, "{} ", event.thread);
            let _ = match event.site {
                SiteId::NONE => write!(text, "- {}", word(tag)),
                site => write!(text, "{site} {}", word(tag)),
            };
            for (index, field) in fields.iter().enumerate() {
                let _ = match field_words(tag, index) {
                    Some(words) => write!(text, " {}", words[*field as usize]),
                    None => write!(text, " {field}"),
                };
            }
            text.push('\n');
        }
        text
    }

    pub fn parse(text: &str) -> Result<Trace, CodecError> {
        let mut lines = text.lines().enumerate();
        match lines.next() {
            Some((_, header)) if header.trim_end() == HEADER => {}
            Some((_, header)) if header.starts_with("raddle-trace ") => {
                return Err(CodecError::line(1, format!("version not known: `{}`", header.trim_end())));
            }
            _ => return Err(CodecError::line(1, format!("does not start with `{HEADER}`"))),
        }
        let mut events = Vec::new();
        for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let event = parse_event(line)
                .ok_or_else(|| CodecError::line(index + 1, format!("`{}` is no event", line.trim())))?;
            events.push(event);
        }
        Ok(Trace { events })
    }
}

fn parse_event(line: &str) -> Option<Event> {
    let mut words = line.split_whitespace();
    let thread = ThreadId(words.next()?.strip_prefix('T')?.parse().ok()?);
    let site = match words.next()? {
        "-" => SiteId::NONE,
        site => SiteId(site.strip_prefix('@')?.parse().ok()?),
    };
    let tag = tag_of_word(words.next()?)?;
    let fields: Option<Vec<u64>> = words
        .enumerate()
        .map(|(index, word)| match field_words(tag, index) {
            Some(names) => names.iter().position(|name| *name == word).map(|i| i as u64),
            None => word.parse().ok(),
        })
        .collect();
    Some(Event { thread, site, kind: decode(tag, &fields?)? })
}
