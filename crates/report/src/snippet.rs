//! One source line with a caret under the place.

use crate::Sources;
use crate::style::{Look, Paint};
use raddle_finding::Frame;

const TAB: usize = 4;

/// The line, framed by its number; empty when the source is not there. A long line is cut around the caret.
pub(crate) fn snippet(frame: &Frame, sources: &dyn Sources, look: &Look, indent: &str) -> String {
    let Some(line) = sources.line(&frame.file, frame.line) else { return String::new() };
    let number = frame.line.to_string();
    let pad = " ".repeat(number.len());
    let (text, caret) = expand(&line, frame.column);
    let room = look.width.saturating_sub(indent.len() + number.len() + 3).max(10);
    let (text, caret) = cut(&text, caret, room);
    let bar = |left: &str| look.paint(Paint::Faint, &format!("{left} |"));
    let mut out = format!("{indent}{}\n{indent}{} {}\n", bar(&pad), bar(&number), text.trim_end());
    match caret {
        Some(caret) => {
            let mark = look.paint(Paint::Bad, "^");
            out.push_str(&format!("{indent}{} {}{mark}\n", bar(&pad), " ".repeat(caret)));
        }
        None => out.push_str(&format!("{indent}{}\n", bar(&pad))),
    }
    out
}

/// Tabs to spaces, control characters away; the caret as a position in the result. `column` counts bytes from 1; 0 is unknown.
fn expand(line: &str, column: u32) -> (Vec<char>, Option<usize>) {
    let target = (column as usize).checked_sub(1);
    let mut text = Vec::new();
    let mut caret = None;
    for (byte, c) in line.char_indices() {
        if target.is_some_and(|target| byte <= target) {
            caret = Some(text.len());
        }
        match c {
            '\t' => {
                let next = (text.len() / TAB + 1) * TAB;
                text.resize(next, ' ');
            }
            c if c.is_control() => text.push('\u{FFFD}'),
            c => text.push(c),
        }
    }
    if target.is_some_and(|target| target >= line.len()) {
        caret = Some(text.len());
    }
    (text, caret)
}

fn cut(text: &[char], caret: Option<usize>, room: usize) -> (String, Option<usize>) {
    if text.len() <= room {
        return (text.iter().collect(), caret);
    }
    let at = caret.unwrap_or(0);
    let start = if at < room - 2 { 0 } else { (at - room / 2).min(text.len() - room) };
    let end = (start + room).min(text.len());
    let mut shown: Vec<char> = text[start..end].to_vec();
    if start > 0 {
        shown[0] = '…';
    }
    if end < text.len() {
        *shown.last_mut().expect("room is not 0") = '…';
    }
    (shown.into_iter().collect(), caret.map(|caret| (caret - start).min(room - 1)))
}

#[cfg(test)]
mod tests {
    use super::snippet;
    use crate::{Look, Sources};
    use raddle_finding::Frame;

    struct One(&'static str);

    impl Sources for One {
        fn line(&self, _file: &str, line: u32) -> Option<String> {
            (line == 7).then(|| self.0.to_owned())
        }
    }

    fn show(text: &'static str, column: u32, width: usize) -> String {
        let frame = Frame { file: "a.c".to_owned(), line: 7, column, function: "f".to_owned() };
        let look = Look { width, ..Look::default() };
        snippet(&frame, &One(text), &look, "")
    }

    #[test]
    fn the_caret_is_under_the_column() {
        assert_eq!(show("    x = 1;", 7, 80), "  |\n7 |     x = 1;\n  |       ^\n");
        assert_eq!(show("\tx = 1;", 2, 80), "  |\n7 |     x = 1;\n  |     ^\n");
        assert_eq!(show("é = 1;", 4, 80), "  |\n7 | é = 1;\n  |   ^\n");
        assert_eq!(show("x", 9, 80), "  |\n7 | x\n  |  ^\n");
        assert_eq!(show("x = 1;", 0, 80), "  |\n7 | x = 1;\n  |\n");
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let text = "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee";
        assert_eq!(show(text, 1, 24), "  |\n7 | aaaaaaaaaabbbbbbbbb…\n  | ^\n");
        assert_eq!(show(text, 31, 24), "  |\n7 | …cccccccccddddddddd…\n  |           ^\n");
        assert_eq!(show(text, 50, 24), "  |\n7 | …dddddddddeeeeeeeeee\n  |                    ^\n");
    }

    #[test]
    fn no_source_no_snippet() {
        let frame = Frame { file: "a.c".to_owned(), line: 8, column: 1, function: "f".to_owned() };
        assert_eq!(snippet(&frame, &One("x"), &Look::default(), ""), "");
    }
}
