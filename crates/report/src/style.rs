//! Width and colours.

/// How a terminal report looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub colour: Colour,
    /// Columns of the terminal.
    pub width: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Never,
    Ansi,
}

impl Default for Look {
    fn default() -> Self {
        Self { colour: Colour::Never, width: 100 }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Paint {
    Bad,
    Good,
    Doubt,
    Strong,
    Faint,
}

impl Look {
    pub(crate) fn paint(&self, paint: Paint, text: &str) -> String {
        if self.colour == Colour::Never || text.is_empty() {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Bad => "1;31",
            Paint::Good => "1;32",
            Paint::Doubt => "1;33",
            Paint::Strong => "1",
            Paint::Faint => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Folds a sentence at spaces, keeping what it is indented by; lines after the first start with `indent`.
pub(crate) fn wrap(text: &str, width: usize, indent: &str) -> String {
    let words = text.trim_start_matches(' ');
    let lead = text.len() - words.len();
    let mut out = " ".repeat(lead);
    let mut column = lead;
    for (index, word) in words.split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 && column + 1 + length > width.max(20) {
            out.push('\n');
            out.push_str(indent);
            column = indent.len();
        } else if index > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}
