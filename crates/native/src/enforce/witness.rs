//! A file from which an order can be enforced again: the program as it was recorded, what was seen, and the schedule.
//!
//! Text, `key: value` a line with line ends and backslashes escaped, then the schedule as the run-time library reads it.

use super::EnforcePlan;
use crate::trace::Program;
use crate::{Commands, Plan};
use std::collections::BTreeMap;
use std::path::PathBuf;

const HEADER: &str = "raddle-order 1";
const SCHEDULE: &str = "schedule:";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    pub program: Program,
    pub stdin: Option<PathBuf>,
    /// What the run showed, for people; not read back as anything else.
    pub shows: Vec<String>,
    pub plan: EnforcePlan,
}

impl Witness {
    /// Whether this is the text of one.
    pub fn is_witness(text: &str) -> bool {
        text.lines().next() == Some(HEADER)
    }

    pub fn to_text(&self) -> String {
        let mut lines = vec![HEADER.to_owned()];
        let mut put = |key: &str, value: &str| lines.push(format!("{key}: {}", escaped(value)));
        self.shows.iter().for_each(|shows| put("shows", shows));
        put("program", &self.program.path.to_string_lossy());
        put("hash", &self.program.hash);
        self.program.arguments.iter().for_each(|argument| put("argument", argument));
        let Commands { before, client } = &self.program.commands;
        for (key, command) in [("before", before), ("client", client)] {
            if let Some(command) = command {
                put(key, command);
            }
        }
        if let Some(stdin) = &self.stdin {
            put("stdin", &stdin.to_string_lossy());
        }
        for (thread, site) in &self.plan.blocked {
            put("blocked", &format!("{thread} {site}"));
        }
        lines.push(SCHEDULE.to_owned());
        lines.join("\n") + "\n" + &self.plan.plan.to_string()
    }

    /// The error says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Witness, String> {
        if !Self::is_witness(text) {
            return Err(format!("it does not start with `{HEADER}`"));
        }
        let mut program = Program::default();
        let (mut stdin, mut shows, mut blocked) = (None, Vec::new(), BTreeMap::new());
        let mut rest = text;
        for number in 1.. {
            let (line, after) = rest.split_once('\n').ok_or("there is no schedule in it")?;
            rest = after;
            if number == 1 {
                continue;
            }
            if line == SCHEDULE {
                break;
            }
            let bad = || format!("line {number}: `{line}` is not understood");
            let (key, value) =
                line.split_once(": ").or(line.strip_suffix(':').map(|key| (key, ""))).ok_or_else(bad)?;
            let value = unescaped(value).ok_or_else(bad)?;
            match key {
                "shows" => shows.push(value),
                "program" => program.path = PathBuf::from(value),
                "hash" => program.hash = value,
                "argument" => program.arguments.push(value),
                "before" => program.commands.before = Some(value),
                "client" => program.commands.client = Some(value),
                "stdin" => stdin = Some(PathBuf::from(value)),
                "blocked" => {
                    let (thread, site) = value.split_once(' ').ok_or_else(bad)?;
                    blocked.insert(thread.parse().map_err(|_| bad())?, site.parse().map_err(|_| bad())?);
                }
                _ => return Err(bad()),
            }
        }
        let plan = Plan::parse(rest).map_err(|why| format!("the schedule: {why}"))?;
        Ok(Witness { program, stdin, shows, plan: EnforcePlan { plan, blocked } })
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescaped(value: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                '\\' => '\\',
                'n' => '\n',
                'r' => '\r',
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{EnforcePlan, Witness};
    use crate::trace::Program;
    use crate::{Commands, Plan};

    #[test]
    fn text_and_back() {
        let program = Program {
            path: "a b/c".into(),
            hash: "12".to_owned(),
            arguments: vec![String::new(), "x\ny\\".to_owned(), "schedule:".to_owned()],
            commands: Commands {
                before: Some("rm -f x".to_owned()),
                client: Some("get 1\nget 2".to_owned()),
            },
        };
        let plan = EnforcePlan { plan: Plan::default(), blocked: [(1, 7), (2, 9)].into() };
        let witness = Witness {
            program,
            stdin: Some("in".into()),
            shows: vec!["data-race x at a.c:3".to_owned()],
            plan,
        };
        let text = witness.to_text();
        assert_eq!(Witness::parse(&text), Ok(witness));
        // Cut anywhere it is an error, or the same with less of the schedule.
        for end in 0..text.len() {
            if let Ok(cut) = Witness::parse(&text[..end]) {
                assert!(cut.plan.plan.steps.is_empty());
            }
        }
        for (bad, words) in
            [("", "start"), ("raddle-order 1\n", "no schedule"), ("raddle-order 1\nx\n", "line 2")]
        {
            assert!(Witness::parse(bad).is_err_and(|why| why.contains(words)), "{bad}");
        }
    }
}
