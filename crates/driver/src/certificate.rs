//! Certificate files: a proof, and where the program comes from that it is about.
//!
//! JSON, one object: what `raddle_certify::statics` reads, and more. `certify` needs the program and the proof; what is recorded of the program only saves typing: whether it is the
//! same program is told by the hash inside the proof.

use crate::guard::guarded;
use crate::load::{Loaded, digest, load};
use crate::outcome::Draft;
use crate::{DataModel, DriverError, Subject, witness};
use raddle_facts::StaticProof;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where the program comes from: read and written beside the proof, in the same object.
#[derive(Serialize, Deserialize)]
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
}

/// What the checker says of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// The program is free of data races if these assumptions hold.
    Accepted {
        assumptions: Vec<String>,
    },
    Refused {
        reason: String,
    },
}

/// Writes the proof as a file of its own.
pub(crate) fn write(
    path: &Path,
    loaded: &Loaded,
    subject: &Subject,
    proof: &StaticProof,
) -> Result<(), DriverError> {
    std::fs::write(path, text(loaded, subject, proof))
        .map_err(|source| DriverError::Write { path: path.to_owned(), source })
}

/// Writes the proof beside the witnesses and notes its name in the outcome. What could not be written comes back as warnings.
pub(crate) fn write_beside(
    loaded: &Loaded,
    subject: &Subject,
    folder: &Path,
    proof: &StaticProof,
    draft: &mut Draft,
) -> Vec<String> {
    // Of the program, not of the proof: the name stays the same when the analysis becomes better.
    let core = format!("{} {} {:?}", proof.program, proof.data_model, proof.entries);
    let hash = digest(core.as_bytes()) as u32;
    match witness::write(folder, &witness::stem(subject), hash, ".cert", &text(loaded, subject, proof)) {
        Ok(path) => {
            let whole = draft.rest.proved.iter_mut().find(|p| p.variable.is_empty() && p.by == "static");
            whole.into_iter().for_each(|proved| proved.certificate = path.to_string_lossy().into_owned());
            Vec::new()
        }
        Err(error) => vec![format!("cannot write a certificate to {}: {error}", folder.display())],
    }
}

/// The same program and proof give the same text.
pub(crate) fn text(loaded: &Loaded, subject: &Subject, proof: &StaticProof) -> String {
    let path = |path: &PathBuf| path.to_string_lossy().into_owned();
    let origin = Origin {
        inputs: subject.inputs.iter().map(path).collect(),
        cflags: subject.cflags.clone(),
        target: subject.target.clone(),
        config: loaded.config.as_ref().map(path),
        entries: subject.entries.clone(),
    };
    let origin = serde_json::to_string(&origin).expect("strings always serialise");
    let proof = raddle_certify::statics::write(proof);
    // Both are objects with keys of their own; together they are one.
    format!("{},{}\n", origin.trim_end_matches('}'), proof.trim_start_matches('{'))
}

/// Whether a file looks like a certificate rather than a witness.
pub(crate) fn is_certificate(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Builds the program that the certificate is about and has the proof checked. `inputs` replace the recorded ones.
pub(crate) fn judge(path: &Path, text: &str, inputs: &[PathBuf]) -> Result<Acceptance, DriverError> {
    let broken = |message: String| DriverError::BrokenCertificate { path: path.to_owned(), message };
    let proof = raddle_certify::statics::read(text).map_err(|error| broken(error.to_string()))?;
    let origin: Origin = serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
    let data_model = [DataModel::Lp64, DataModel::Ilp32]
        .into_iter()
        .find(|model| model.name() == proof.data_model)
        .ok_or_else(|| broken(format!("no data model `{}`", proof.data_model)))?;
    let subject = Subject {
        inputs: match inputs {
            [] => origin.inputs.iter().map(PathBuf::from).collect(),
            given => given.to_vec(),
        },
        cflags: origin.cflags,
        data_model: Some(data_model),
        target: origin.target,
        config: origin.config.map(PathBuf::from),
        entries: origin.entries,
        ..Subject::default()
    };
    if inputs.is_empty()
        && let Some(input) = subject.inputs.iter().find(|input| !input.exists())
    {
        return Err(DriverError::MissingInput { path: path.to_owned(), input: input.clone() });
    }
    let loaded = load(&subject)?;
    let present = format!("{:032x}", loaded.hash);
    if proof.program != present {
        let recorded = u128::from_str_radix(&proof.program, 16)
            .map_err(|_| broken(format!("no program hash: `{}`", proof.program)))?;
        return Err(DriverError::OtherProgram { path: path.to_owned(), recorded, present: loaded.hash });
    }
    if let Some(bug) = loaded.bugs.first() {
        return Ok(Acceptance::Refused { reason: bug.text.clone() });
    }
    let checked =
        guarded("certify", || raddle_certify::statics::check(&loaded.program, &loaded.models, &proof));
    Ok(match checked {
        Ok(Ok(checked)) => Acceptance::Accepted { assumptions: checked.assumptions },
        Ok(Err(refusal)) => Acceptance::Refused { reason: refusal.to_string() },
        Err(bug) => Acceptance::Refused { reason: bug.text },
    })
}
