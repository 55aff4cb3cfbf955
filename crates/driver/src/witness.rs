//! Witness files: everything that is needed to build the program again, run it under the schedule, and know what must be seen.
//!
//! Text, `key: value` a line, then the schedule. A value has its line ends and backslashes escaped. Files are never overwritten with
//! something else: the name carries a hash of what is replayed, and a number where that is not enough.

use crate::load::{Loaded, digest};
use crate::outcome::{Draft, Shown};
use crate::{DataModel, OWN_STDIN, OutsideValues, Spurious, Subject, Substrate};
use raddle_base::SiteId;
use raddle_certify::Witness;
use raddle_config::External;
use raddle_event::{ProblemKind, Schedule};
use raddle_machine::Visibility;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const HEADER: &str = "raddle-witness 1";

/// The content of a witness file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) program: u128,
    pub(crate) subject: Subject,
    pub(crate) stdin_digest: Option<u128>,
    pub(crate) witness: Witness,
    pub(crate) claim: Claim,
    /// What the choices are choices of.
    pub(crate) substrate: Substrate,
    /// `kind variable` and the places, for people; not read back.
    pub(crate) shows: Vec<String>,
}

/// What the schedule is said to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Race(SiteId, SiteId),
    Problem(ProblemKind, SiteId),
}

/// Writes one file per finding and notes its name there. What could not be written comes back as warnings.
pub(crate) fn write_all(
    loaded: &Loaded,
    subject: &Subject,
    substrate: Substrate,
    folder: &Path,
    draft: &mut Draft,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let stem = stem(subject);
    let subject = match with_kept_stdin(loaded, subject, folder) {
        Ok(subject) => subject,
        Err(error) => {
            return vec![format!("cannot keep the standard input in {}: {error}", folder.display())];
        }
    };
    for shown in draft.shown_mut() {
        let record = record(loaded, &subject, shown, substrate);
        let ending = format!("-{}.sched", shown.finding.id);
        match write(folder, &stem, record.name_hash(), &ending, &record.to_text()) {
            Ok(path) => shown.set_file(path.to_string_lossy().into_owned()),
            Err(error) => {
                warnings.push(format!("cannot write a witness to {}: {error}", folder.display()));
                break;
            }
        }
    }
    warnings
}

/// With the standard input of this process, if the program reads it, in a file of the folder, so that it can be had again.
pub(crate) fn with_kept_stdin(loaded: &Loaded, subject: &Subject, folder: &Path) -> std::io::Result<Subject> {
    let mut subject = subject.clone();
    if subject.stdin.as_deref() == Some(Path::new(OWN_STDIN)) {
        let keep = |digest: u128| -> std::io::Result<PathBuf> {
            std::fs::create_dir_all(folder)?;
            let path = folder.join(format!("{}-{:08x}.stdin", stem(&subject), digest as u32));
            std::fs::write(&path, &loaded.options.stdin)?;
            Ok(path)
        };
        subject.stdin = loaded.stdin_digest.map(keep).transpose()?;
    }
    Ok(subject)
}

/// What the files of a program are called after.
pub(crate) fn stem(subject: &Subject) -> String {
    let stem = subject.inputs.first().and_then(|input| input.file_stem()).map(|stem| stem.to_string_lossy());
    stem.as_deref().unwrap_or("program").to_owned()
}

pub(crate) fn record(loaded: &Loaded, subject: &Subject, shown: &Shown, substrate: Substrate) -> Record {
    let finding = &shown.finding;
    let mut shows = vec![format!("{} {}", finding.kind.name(), finding.variable).trim_end().to_owned()];
    shows.extend(finding.accesses.iter().map(|access| {
        let at = &access.at;
        format!("{} at {}:{}:{} in {}", access.action, at.file, at.line, at.column, access.thread.name)
    }));
    Record {
        program: loaded.hash(),
        subject: Subject {
            config: loaded.config.clone(),
            data_model: Some(loaded.program.data_model),
            env: loaded.options.env.clone(),
            ..subject.clone()
        },
        stdin_digest: loaded.stdin_digest,
        witness: shown.witness.clone(),
        claim: shown.claim,
        substrate,
        shows,
    }
}

/// The first free name, or that of a file with this very content.
pub(crate) fn write(
    folder: &Path,
    stem: &str,
    hash: u32,
    ending: &str,
    text: &str,
) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    for attempt in 0u32.. {
        let extra = if attempt == 0 { String::new() } else { format!("-{attempt}") };
        let path = folder.join(format!("{stem}-{hash:08x}{extra}{ending}"));
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                std::io::Write::write_all(&mut file, text.as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                if std::fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
                    return Ok(path);
                }
            }
            Err(error) => return Err(error),
        }
    }
    unreachable!("some name is free")
}

impl Record {
    /// For the file's name: of what is replayed, not of the folders that it was found in.
    pub(crate) fn name_hash(&self) -> u32 {
        let subject = Subject { inputs: Vec::new(), config: None, stdin: None, ..self.subject.clone() };
        let core = Record { subject, shows: Vec::new(), ..self.clone() };
        digest(core.to_text().as_bytes()) as u32
    }

    pub(crate) fn to_text(&self) -> String {
        let mut out = format!("{HEADER}\n");
        let mut put = |key: &str, value: &str| {
            let _ = writeln!(out, "{key}: {}", escape(value));
        };
        for shows in &self.shows {
            put("shows", shows);
        }
        put("program", &format!("{:032x}", self.program));
        let subject = &self.subject;
        if let Some(model) = subject.data_model {
            put("data-model", model.name());
        }
        for input in &subject.inputs {
            put("input", &input.to_string_lossy());
        }
        for flag in &subject.cflags {
            put("cflag", flag);
        }
        if let Some(target) = &subject.target {
            put("target", target);
        }
        if let Some(config) = &subject.config {
            put("config", &config.to_string_lossy());
        }
        for arg in &subject.args {
            put("arg", arg);
        }
        if let (Some(path), Some(digest)) = (&subject.stdin, self.stdin_digest) {
            put("stdin", &path.to_string_lossy());
            put("stdin-digest", &format!("{digest:032x}"));
        }
        for (name, value) in &subject.env {
            put("env", &format!("{name}={value}"));
        }
        if let Some(external) = subject.external {
            put("extern", external.name());
        }
        if subject.spurious == Spurious::Off {
            put("spurious-wake-ups", "off");
        }
        if subject.values == OutsideValues::SmallFirst {
            put("values", "small-first");
        }
        if self.substrate == Substrate::Native {
            put("machine", "native");
        }
        match &self.witness.visibility {
            Visibility::SyncOnly => put("visible", "sync"),
            Visibility::EveryAccess => put("visible", "every-access"),
            Visibility::Sites(sites) => {
                let sites: Vec<String> = sites.iter().map(|site| site.0.to_string()).collect();
                put("visible", &format!("sites {}", sites.join(" ")));
            }
        }
        match self.claim {
            Claim::Race(a, b) => put("claim", &format!("data-race {} {}", a.0, b.0)),
            Claim::Problem(kind, site) => put("claim", &format!("{} {}", kind.name(), site.0)),
        }
        out.push_str("schedule:\n");
        out.push_str(&self.witness.schedule.to_text());
        out
    }

    pub(crate) fn parse(text: &str) -> Result<Record, String> {
        let (head, schedule) = text.split_once("\nschedule:\n").ok_or("no schedule in it")?;
        let mut lines = head.lines().enumerate();
        match lines.next() {
            Some((_, HEADER)) => {}
            Some((_, line)) if line.starts_with("raddle-witness ") => {
                return Err(format!("version not known: `{line}`"));
            }
            _ => return Err(format!("it does not start with `{HEADER}`")),
        }
        let mut subject = Subject::default();
        let (mut program, mut stdin_digest, mut visibility, mut claim) = (None, None, None, None);
        let mut shows = Vec::new();
        let mut substrate = Substrate::Interpreter;
        for (index, line) in lines {
            let bad = || format!("line {}: `{line}` is not understood", index + 1);
            let (key, value) = line.split_once(": ").or(line.split_once(':')).ok_or_else(bad)?;
            let value = unescape(value).ok_or_else(bad)?;
            match key {
                "shows" => shows.push(value),
                "program" => program = Some(u128::from_str_radix(&value, 16).map_err(|_| bad())?),
                "data-model" => subject.data_model = Some(data_model(&value).ok_or_else(bad)?),
                "input" => subject.inputs.push(PathBuf::from(value)),
                "cflag" => subject.cflags.push(value),
                "target" => subject.target = Some(value),
                "config" => subject.config = Some(PathBuf::from(value)),
                "arg" => subject.args.push(value),
                "stdin" => subject.stdin = Some(PathBuf::from(value)),
                "stdin-digest" => stdin_digest = Some(u128::from_str_radix(&value, 16).map_err(|_| bad())?),
                "env" => {
                    let (name, value) = value.split_once('=').ok_or_else(bad)?;
                    subject.env.push((name.to_owned(), value.to_owned()));
                }
                "extern" if External::named(&value).is_some() => subject.external = External::named(&value),
                "spurious-wake-ups" if value == "off" => subject.spurious = Spurious::Off,
                "values" if value == "small-first" => subject.values = OutsideValues::SmallFirst,
                "machine" if value == "native" => substrate = Substrate::Native,
                "visible" => visibility = Some(parse_visibility(&value).ok_or_else(bad)?),
                "claim" => claim = Some(parse_claim(&value).ok_or_else(bad)?),
                _ => return Err(bad()),
            }
        }
        let schedule = Schedule::parse(schedule).map_err(|error| format!("schedule, {error}"))?;
        Ok(Record {
            program: program.ok_or("it names no program")?,
            subject,
            stdin_digest,
            witness: Witness { schedule, visibility: visibility.ok_or("it does not say what is visible")? },
            claim: claim.ok_or("it claims nothing")?,
            substrate,
            shows,
        })
    }
}

fn data_model(name: &str) -> Option<DataModel> {
    [DataModel::Lp64, DataModel::Ilp32].into_iter().find(|model| model.name() == name)
}

fn parse_visibility(value: &str) -> Option<Visibility> {
    match value {
        "sync" => Some(Visibility::SyncOnly),
        "every-access" => Some(Visibility::EveryAccess),
        _ => {
            let sites: Option<Vec<SiteId>> =
                value.strip_prefix("sites ")?.split(' ').map(|site| site.parse().ok().map(SiteId)).collect();
            Some(Visibility::Sites(sites?))
        }
    }
}

fn parse_claim(value: &str) -> Option<Claim> {
    let mut words = value.split(' ');
    let kind = words.next()?;
    let sites: Option<Vec<SiteId>> = words.map(|word| word.parse().ok().map(SiteId)).collect();
    match (kind, sites?.as_slice()) {
        ("data-race", [a, b]) => Some(Claim::Race(*a, *b)),
        (kind, [site]) => Some(Claim::Problem(ProblemKind::named(kind)?, *site)),
        _ => None,
    }
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(value: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                '\\' => '\\',
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{Claim, Record, write};
    use crate::{DataModel, OutsideValues, Spurious, Subject, Substrate};
    use raddle_base::SiteId;
    use raddle_certify::Witness;
    use raddle_config::External;
    use raddle_event::{Choice, ProblemKind, Schedule, ThreadId};
    use raddle_machine::Visibility;
    use raddle_testkit::random::Random;
    use std::path::PathBuf;

    const WORDS: [&str; 7] = ["a.c", "-DX=\"1 2\"", "line\nbreak", "back\\slash", "", ": colon: ", "größe\r"];

    fn record(random: &mut Random) -> Record {
        let mut words = |most: usize| -> Vec<String> {
            (0..random.below(most + 1)).map(|_| random.pick(&WORDS).to_owned()).collect()
        };
        let (inputs, cflags, args, shows, env) = (words(3), words(3), words(3), words(2), words(2));
        let mut one = || words(1).pop();
        let (target, config, stdin) = (one(), one(), one());
        let stdin_digest = stdin.as_ref().map(|_| u128::from(random.word()));
        let site = SiteId(random.below(1000) as u32);
        let choices = (0..random.below(20))
            .map(|_| Choice { thread: ThreadId(random.below(4) as u32), variant: random.below(3) as u32 })
            .collect();
        Record {
            program: u128::from(random.word()) << 64 | u128::from(random.word()),
            subject: Subject {
                inputs: inputs.into_iter().map(PathBuf::from).collect(),
                cflags,
                data_model: random.pick(&[None, Some(DataModel::Lp64), Some(DataModel::Ilp32)]),
                target,
                config: config.map(PathBuf::from),
                args,
                stdin: stdin.map(PathBuf::from),
                env: env.into_iter().map(|value| ("NAME".to_owned(), value)).collect(),
                spurious: random.pick(&[Spurious::On, Spurious::Off]),
                values: random.pick(&[OutsideValues::Ends, OutsideValues::SmallFirst]),
                entries: Vec::new(),
                external: random.pick(&[None, Some(External::Pure)]),
            },
            stdin_digest,
            witness: Witness {
                schedule: Schedule { choices },
                visibility: match random.below(3) {
                    0 => Visibility::SyncOnly,
                    1 => Visibility::EveryAccess,
                    _ => Visibility::Sites(vec![SiteId(3), site]),
                },
            },
            claim: match random.below(2) {
                0 => Claim::Race(site, SiteId(7)),
                _ => Claim::Problem(random.pick(&ProblemKind::ALL), site),
            },
            substrate: random.pick(&[Substrate::Interpreter, Substrate::Native]),
            shows,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for seed in 0..2_000 {
            let record = record(&mut Random::new(seed));
            assert_eq!(
                Record::parse(&record.to_text()).as_ref(),
                Ok(&record),
                "seed {seed}\n{}",
                record.to_text()
            );
        }
    }

    #[test]
    fn damaged_files_never_panic() {
        let (mut read, mut refused) = (0, 0);
        for seed in 0..5_000 {
            let mut random = Random::new(seed);
            let mut bytes = record(&mut random).to_text().into_bytes();
            for _ in 0..random.between(1, 3) {
                let at = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes.truncate(at + 1),
                    1 => bytes[at] = random.word() as u8,
                    _ => bytes.insert(at, random.pick(b":\\ 9\n")),
                }
            }
            match Record::parse(&String::from_utf8_lossy(&bytes)) {
                Ok(_) => read += 1,
                Err(message) => {
                    refused += 1;
                    assert!(!message.is_empty());
                }
            }
        }
        assert!(read > 0 && refused > 0);
    }

    #[test]
    fn broken_files_say_why() {
        let good = record(&mut Random::new(1)).to_text();
        for (text, message) in [
            ("", "no schedule in it"),
            ("hello\nschedule:\n", "it does not start with `raddle-witness 1`"),
            ("raddle-witness 7\nschedule:\n", "version not known: `raddle-witness 7`"),
            ("raddle-witness 1\nschedule:\nraddle-schedule 1\n", "it names no program"),
            ("raddle-witness 1\nbrogram: 1\nschedule:\n", "line 2: `brogram: 1` is not understood"),
        ] {
            assert_eq!(Record::parse(text).unwrap_err(), message);
        }
        let cut = good.replace("raddle-schedule 1", "raddle-schedule 2");
        assert!(Record::parse(&cut).unwrap_err().starts_with("schedule, line 1: version not known"));
    }

    #[test]
    fn a_file_is_never_overwritten_with_something_else() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        let first = write(&deep, "q", 7, "-f1.sched", "one").unwrap();
        assert_eq!(write(&deep, "q", 7, "-f1.sched", "one").unwrap(), first);
        assert_ne!(write(&deep, "q", 7, "-f1.sched", "two").unwrap(), first);
        std::fs::write(&first, "edited").unwrap();
        let again = write(&deep, "q", 7, "-f1.sched", "one").unwrap();
        assert_ne!(again, first);
        assert_eq!(std::fs::read_to_string(&first).unwrap(), "edited");
        assert_eq!(std::fs::read_to_string(&again).unwrap(), "one");
    }
}
