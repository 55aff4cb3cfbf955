//! cvc5 as a program beside this one, which reads SMT-LIB text and answers.
//!
//! It is not linked: Debian's build is under the GPL. One process answers many queries, each in a scope of its own; when it dies, hangs or
//! answers with anything unexpected, the query is unknown with what it said, the process is ended, and the next query starts another.

use crate::Answer;
use crate::limits::{Limits, STOPPED, TIMEOUT};
use crate::shape::shape;
use raddle_logic::{Term, Var};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Larger formulas are not written: shared parts are repeated in text.
const MOST_PRINTED: u64 = 2_000_000;
/// After the limit of a query, before the process is ended.
const GRACE: Duration = Duration::from_millis(500);
/// Queries before another process takes over: cvc5 keeps what it learns in scopes that are closed, and gets slower with each.
const MOST_ANSWERED: u64 = 32;
/// Between two looks at the flag.
const WATCH: Duration = Duration::from_millis(20);

pub struct Cvc5 {
    program: PathBuf,
    /// Resources are Z3's and not used.
    limits: Limits,
    state: State,
    queries: u64,
}

enum State {
    NotStarted,
    NotInstalled,
    Running(Process),
}

struct Process {
    child: Child,
    input: Sender<String>,
    output: Receiver<Event>,
    /// Texts read so far: each ends with its number.
    answers: u64,
    queries: u64,
}

enum Event {
    Line(String),
    /// Reading or writing failed, or there is no more output.
    Ended,
}

impl Cvc5 {
    /// The program is a path or a name to be found in `PATH`.
    pub fn new(program: impl Into<PathBuf>, limits: Limits) -> Cvc5 {
        Cvc5 { program: program.into(), limits, state: State::NotStarted, queries: 0 }
    }

    /// Whether the formulas hold together; nothing where there is no such program.
    pub fn ask(&mut self, formulas: &[Term]) -> Option<Answer> {
        if let State::NotInstalled = self.state {
            return None;
        }
        if self.limits.is_stopped() {
            return Some(Answer::unknown(STOPPED));
        }
        if matches!(&self.state, State::Running(process) if process.queries >= MOST_ANSWERED) {
            self.state = State::NotStarted;
        }
        if let State::NotStarted = self.state {
            match Process::start(&self.program, self.limits.timeout) {
                Ok(process) => self.state = State::Running(process),
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.state = State::NotInstalled,
                Err(error) => return Some(Answer::unknown(format!("cvc5 does not start: {error}"))),
            }
        }
        let State::Running(process) = &mut self.state else { return None };
        let query = match query(formulas) {
            Ok(query) => query,
            Err(reason) => return Some(Answer::Unknown(reason)),
        };
        self.queries += 1;
        match process.ask(query, &self.limits) {
            Ok(answer) => Some(answer),
            Err(reason) => {
                // Ends it.
                self.state = State::NotStarted;
                Some(Answer::Unknown(reason))
            }
        }
    }

    /// Asked so far.
    pub fn queries(&self) -> u64 {
        self.queries
    }

    /// The process that answers now.
    pub fn process_id(&self) -> Option<u32> {
        match &self.state {
            State::Running(process) => Some(process.child.id()),
            State::NotStarted | State::NotInstalled => None,
        }
    }
}

impl Process {
    fn start(program: &PathBuf, limit: Duration) -> io::Result<Process> {
        let milliseconds = limit.as_millis().max(1);
        let mut child = Command::new(program)
            .args(["--incremental", "-q", "--lang=smt2"])
            // `--tlimit` would abort the process.
            .arg(format!("--tlimit-per={milliseconds}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (sender, output) = mpsc::channel();
        if let Some(out) = child.stdout.take() {
            drain(out, sender.clone(), Some(Event::Ended));
        }
        if let Some(errors) = child.stderr.take() {
            // Its end says nothing: the process goes on.
            drain(errors, sender.clone(), None);
        }
        let (input, texts) = mpsc::channel::<String>();
        if let Some(mut to) = child.stdin.take() {
            std::thread::spawn(move || {
                for text in texts {
                    if to.write_all(text.as_bytes()).and_then(|()| to.flush()).is_err() {
                        // Nobody listens when the process was ended on purpose.
                        sender.send(Event::Ended).ok();
                        return;
                    }
                }
            });
        }
        let mut process = Process { child, input, output, answers: 0, queries: 0 };
        process.write("(set-logic QF_BV)\n".to_owned());
        Ok(process)
    }

    /// An error is the reason to end the process.
    fn ask(&mut self, query: String, limits: &Limits) -> Result<Answer, String> {
        self.queries += 1;
        self.write(query);
        let answer = match self.read(limits)?.as_str() {
            "sat" => Answer::Sat,
            "unsat" => Answer::Unsat,
            "unknown" => {
                self.write("(get-info :reason-unknown)\n".to_owned());
                let reason = self.read(limits)?;
                let known = reason.strip_prefix("(:reason-unknown ").and_then(|rest| rest.strip_suffix(')'));
                Answer::unknown(known.unwrap_or(&reason))
            }
            other => return Err(format!("cvc5 answers `{other}`")),
        };
        self.write("(pop 1)\n".to_owned());
        Ok(answer)
    }

    fn write(&mut self, text: String) {
        // Where the writer is gone, so is the process: its output has ended.
        self.input.send(text).ok();
    }

    /// What it prints up to here.
    fn read(&mut self, limits: &Limits) -> Result<String, String> {
        self.answers += 1;
        let end = format!("raddle-{}", self.answers);
        self.write(format!("(echo \"{end}\")\n"));
        let deadline = Instant::now() + limits.time(Duration::ZERO) + GRACE;
        let mut all = Vec::new();
        loop {
            match self.output.recv_timeout(WATCH) {
                Ok(Event::Line(line)) if line.trim_matches('"') == end => return Ok(all.join("\n")),
                Ok(Event::Line(line)) => all.push(line),
                Ok(Event::Ended) | Err(RecvTimeoutError::Disconnected) => return Err(self.last_words(all)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if limits.is_stopped() {
                return Err(STOPPED.to_owned());
            }
            if Instant::now() >= deadline {
                return Err(TIMEOUT.to_owned());
            }
        }
    }

    /// Why it ended, with what it printed before.
    fn last_words(&mut self, mut printed: Vec<String>) -> String {
        while let Ok(event) = self.output.recv_timeout(WATCH) {
            match event {
                Event::Line(line) => printed.push(line),
                Event::Ended => {}
            }
        }
        self.end();
        let status = match self.child.try_wait() {
            Ok(Some(status)) => status.to_string(),
            Ok(None) => "still running".to_owned(),
            Err(error) => error.to_string(),
        };
        format!("cvc5 ended ({status}) {}", printed.join(" ")).trim_end().to_owned()
    }

    fn end(&mut self) {
        // Both fail only for a process that has ended.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn drain(from: impl Read + Send + 'static, to: Sender<Event>, at_end: Option<Event>) {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines() {
            let Ok(line) = line else { break };
            if to.send(Event::Line(line)).is_err() {
                return;
            }
        }
        if let Some(event) = at_end {
            to.send(event).ok();
        }
    });
}

/// A scope with the declarations, the formulas and the question.
fn query(formulas: &[Term]) -> Result<String, String> {
    let shape = shape(formulas);
    if shape.printed > MOST_PRINTED {
        return Err(format!("a formula of {} nodes is not written for cvc5", shape.printed));
    }
    check_names(&shape.variables)?;
    let mut text = "(push 1)\n".to_owned();
    for var in &shape.variables {
        writeln!(text, "(declare-const {var} {})", var.sort).expect("a string takes everything");
    }
    for formula in formulas {
        writeln!(text, "(assert {formula})").expect("a string takes everything");
    }
    text.push_str("(check-sat)\n");
    Ok(text)
}

fn check_names(variables: &BTreeSet<Var>) -> Result<(), String> {
    let mut before: Option<&Var> = None;
    for var in variables {
        if var.name.contains(['|', '\\']) || var.name.contains(char::is_control) {
            return Err(format!("SMT-LIB has no name `{}`", var.name));
        }
        // In order of their names.
        if before.is_some_and(|before| before.name == var.name) {
            return Err(format!("`{}` has two sorts", var.name));
        }
        before = Some(var);
    }
    Ok(())
}
