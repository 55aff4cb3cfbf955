//! Certificate files: a static proof, a proof over threads or the tree of a search, and where the program comes from that it is about.
//!
//! JSON, one object: what `raddle_certify` reads, and more. `certify` needs the program and the proof; what is recorded of the program
//! only saves typing: whether it is the same program is told by the hash inside the proof. The tree of a search is about one input, too.

use crate::guard::guarded;
use crate::load::{Loaded, digest, load};
use crate::{DataModel, DriverError, OutsideValues, Spurious, Subject, witness};
use raddle_certify::explored::{self, Certificate};
use raddle_certify::proved;
use raddle_config::External;
use raddle_event::SearchTree;
use raddle_facts::{StaticProof, ThreadProof};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where the program comes from: read and written beside the proof, in the same object.
#[derive(Default, Serialize, Deserialize)]
struct Origin {
    inputs: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cflags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    config: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    entries: Vec<String>,
    /// `pure` where the command line said so.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "extern")]
    external: Option<String>,
    /// What a run depends on besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdin: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdin_digest: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    env: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spurious_wakeups: Option<String>,
}

/// What is written down in a certificate.
#[derive(Clone, Copy)]
pub(crate) enum Content<'a> {
    Proof(&'a StaticProof),
    Threads(&'a ThreadProof),
    Tree(&'a SearchTree),
}

/// What the checker says of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// The program is free of data races if these assumptions hold.
    Accepted {
        assumptions: Vec<String>,
        /// What was looked at, for the tree of a search.
        searched: Option<Searched>,
    },
    Refused {
        reason: String,
    },
}

/// How much of a search was run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    pub runs: u64,
    /// Other orders and outcomes of its steps that were tried and found in the tree.
    pub reversals: u64,
}

/// Writes the certificate as a file of its own.
pub(crate) fn write(
    path: &Path,
    loaded: &Loaded,
    subject: &Subject,
    content: Content<'_>,
) -> Result<(), DriverError> {
    std::fs::write(path, text(loaded, subject, content))
        .map_err(|source| DriverError::Write { path: path.to_owned(), source })
}

/// Writes the certificate beside the witnesses; its name.
pub(crate) fn write_beside(
    loaded: &Loaded,
    subject: &Subject,
    folder: &Path,
    content: Content<'_>,
) -> Result<String, String> {
    // Of the program and its input, not of the proof: the name stays the same when the analysis becomes better.
    let model = loaded.program.data_model.name();
    let core = match content {
        Content::Proof(StaticProof { entries, .. })
        | Content::Threads(ThreadProof { statics: StaticProof { entries, .. }, .. }) => {
            format!("{:032x} {model} {entries:?}", loaded.hash())
        }
        Content::Tree(_) => {
            let input = (&subject.args, loaded.stdin_digest, &loaded.options.env, subject.spurious);
            format!("{:032x} {model} {input:?}", loaded.hash())
        }
    };
    let hash = digest(core.as_bytes()) as u32;
    let subject = match content {
        Content::Proof(_) | Content::Threads(_) => subject.clone(),
        Content::Tree(_) => witness::with_kept_stdin(loaded, subject, folder)
            .map_err(|error| format!("cannot keep the standard input in {}: {error}", folder.display()))?,
    };
    witness::write(folder, &witness::stem(&subject), hash, ".cert", &text(loaded, &subject, content))
        .map(|path| path.to_string_lossy().into_owned())
        .map_err(|error| format!("cannot write a certificate to {}: {error}", folder.display()))
}

/// The same program and proof give the same text.
pub(crate) fn text(loaded: &Loaded, subject: &Subject, content: Content<'_>) -> String {
    let path = |path: &PathBuf| path.to_string_lossy().into_owned();
    let origin = Origin {
        inputs: subject.inputs.iter().map(path).collect(),
        cflags: subject.cflags.clone(),
        target: subject.target.clone(),
        config: loaded.config.as_ref().map(path),
        external: subject.external.map(|external| external.name().to_owned()),
        ..Origin::default()
    };
    let (origin, proof) = match content {
        Content::Proof(proof) => {
            (Origin { entries: subject.entries.clone(), ..origin }, raddle_certify::statics::write(proof))
        }
        Content::Threads(proof) => {
            (Origin { entries: subject.entries.clone(), ..origin }, proved::write(proof))
        }
        Content::Tree(tree) => {
            let origin = Origin {
                args: subject.args.clone(),
                stdin: subject.stdin.as_ref().map(path),
                stdin_digest: loaded.stdin_digest.map(|digest| format!("{digest:032x}")),
                env: loaded.options.env.clone(),
                spurious_wakeups: (subject.spurious == Spurious::Off).then(|| OFF.to_owned()),
                ..origin
            };
            let certificate = Certificate {
                program: format!("{:032x}", loaded.hash()),
                data_model: loaded.program.data_model.name().to_owned(),
                tree: tree.clone(),
            };
            (origin, explored::write(&certificate))
        }
    };
    let origin = serde_json::to_string(&origin).expect("strings always serialise");
    // Both are objects with keys of their own; together they are one.
    format!("{},{}\n", origin.trim_end_matches('}'), proof.trim_start_matches('{'))
}

const OFF: &str = "off";

/// Whether a file looks like a certificate rather than a witness.
pub(crate) fn is_certificate(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Builds the program that the certificate is about and has it checked. `inputs` replace the recorded ones.
pub(crate) fn judge(
    path: &Path,
    text: &str,
    inputs: &[PathBuf],
    stop: &Arc<AtomicBool>,
) -> Result<Acceptance, DriverError> {
    let broken = |message: String| DriverError::BrokenCertificate { path: path.to_owned(), message };
    if explored::is_search(text) {
        let certificate = explored::read(text).map_err(|error| broken(error.to_string()))?;
        let loaded = rebuilt(path, text, inputs, (&certificate.data_model, &certificate.program), stop)?;
        return Ok(judge_tree(&loaded, &certificate.tree));
    }
    if proved::is_proof(text) {
        let proof = proved::read(text).map_err(|error| broken(error.to_string()))?;
        let loaded = rebuilt(path, text, inputs, (&proof.statics.data_model, &proof.statics.program), stop)?;
        return Ok(judge_threads(&loaded, &proof));
    }
    let proof = raddle_certify::statics::read(text).map_err(|error| broken(error.to_string()))?;
    let loaded = rebuilt(path, text, inputs, (&proof.data_model, &proof.program), stop)?;
    if let Some(bug) = loaded.bugs.first() {
        return Ok(Acceptance::Refused { reason: bug.text.clone() });
    }
    let checked =
        guarded("certify", || raddle_certify::statics::check(&loaded.program, &loaded.models, &proof));
    Ok(match checked {
        Ok(Ok(checked)) => Acceptance::Accepted { assumptions: checked.assumptions, searched: None },
        Ok(Err(refusal)) => Acceptance::Refused { reason: refusal.to_string() },
        Err(bug) => Acceptance::Refused { reason: bug.text },
    })
}

fn judge_threads(loaded: &Loaded, proof: &ThreadProof) -> Acceptance {
    if let Some(bug) = loaded.bugs.first() {
        return Acceptance::Refused { reason: bug.text.clone() };
    }
    let limits = raddle_smt::Limits { stop: Arc::clone(&loaded.stop), ..raddle_smt::Limits::default() };
    match guarded("certify", || accepted(loaded, proof, limits)) {
        Ok(Ok(assumptions)) => Acceptance::Accepted { assumptions, searched: None },
        Ok(Err(refusal)) => Acceptance::Refused { reason: refusal.to_string() },
        Err(bug) => Acceptance::Refused { reason: bug.text },
    }
}

/// Whether the checker accepts a proof over threads: what it rests on.
pub(crate) fn accepted(
    loaded: &Loaded,
    proof: &ThreadProof,
    limits: raddle_smt::Limits,
) -> Result<Vec<String>, raddle_certify::statics::Refusal> {
    let mut judge = raddle_smt::Checker::new(limits);
    let most = proved::Limits::default();
    proved::check(&loaded.program, &loaded.models, proof, &mut judge, &most)
        .map(|checked| checked.assumptions)
}

fn judge_tree(loaded: &Loaded, tree: &SearchTree) -> Acceptance {
    if let Some(bug) = loaded.bugs.first() {
        return Acceptance::Refused { reason: bug.text.clone() };
    }
    if !loaded.entries.is_empty() {
        let reason = format!("a run has no clients, and {} are entries", loaded.entries.join(", "));
        return Acceptance::Refused { reason };
    }
    match guarded("certify", || explored::check(&loaded.certify_subject(), tree, &loaded.stop)) {
        Ok(Ok(covered)) => Acceptance::Accepted {
            assumptions: covered
                .assumptions
                .iter()
                .chain(&loaded.assumptions)
                .map(|id| (*id).to_owned())
                .collect::<BTreeSet<String>>()
                .into_iter()
                .collect(),
            searched: Some(Searched { runs: covered.runs, reversals: covered.reversals }),
        },
        Ok(Err(refusal)) => Acceptance::Refused { reason: refusal.to_string() },
        Err(bug) => Acceptance::Refused { reason: bug.text },
    }
}

/// The program of a certificate, which must be the one that it was made for.
fn rebuilt(
    path: &Path,
    text: &str,
    inputs: &[PathBuf],
    (data_model, program): (&str, &str),
    stop: &Arc<AtomicBool>,
) -> Result<Loaded, DriverError> {
    let broken = |message: String| DriverError::BrokenCertificate { path: path.to_owned(), message };
    let origin: Origin = serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
    let data_model = [DataModel::Lp64, DataModel::Ilp32]
        .into_iter()
        .find(|model| model.name() == data_model)
        .ok_or_else(|| broken(format!("no data model `{data_model}`")))?;
    let hash = |text: &str| u128::from_str_radix(text, 16).map_err(|_| broken(format!("no hash: `{text}`")));
    let spurious = match origin.spurious_wakeups.as_deref() {
        None => Spurious::On,
        Some(OFF) => Spurious::Off,
        Some(word) => return Err(broken(format!("spurious wake-ups `{word}`"))),
    };
    let external = match origin.external {
        Some(word) => match External::named(&word) {
            Some(external) => Some(external),
            None => return Err(broken(format!("extern `{word}`"))),
        },
        None => None,
    };
    let subject = Subject {
        inputs: match inputs {
            [] => origin.inputs.iter().map(PathBuf::from).collect(),
            given => given.to_vec(),
        },
        cflags: origin.cflags,
        data_model: Some(data_model),
        target: origin.target,
        config: origin.config.map(PathBuf::from),
        args: origin.args,
        stdin: origin.stdin.map(PathBuf::from),
        env: origin.env,
        spurious,
        values: OutsideValues::Ends,
        entries: origin.entries,
        external,
    };
    if inputs.is_empty()
        && let Some(input) = subject.inputs.iter().find(|input| !input.exists())
    {
        return Err(DriverError::MissingInput { path: path.to_owned(), input: input.clone() });
    }
    let loaded = load(&subject, stop)?;
    let recorded = hash(program)?;
    if recorded != loaded.hash() {
        return Err(DriverError::OtherProgram { path: path.to_owned(), recorded, present: loaded.hash() });
    }
    let recorded = origin.stdin_digest.as_deref().map(hash).transpose()?;
    if let (Some(present), Some(stdin)) = (loaded.stdin_digest, subject.stdin)
        && recorded != Some(present)
    {
        let recorded = recorded.ok_or_else(|| broken("no hash of the standard input".to_owned()))?;
        return Err(DriverError::OtherStdin { path: stdin, recorded, present });
    }
    Ok(loaded)
}
