//! Static proofs as text: one JSON object with the name and version of the format around the proof.

use raddle_facts::StaticProof;
use serde::{Deserialize, Serialize};
use std::fmt;

const FORMAT: &str = "raddle-static-proof";
const VERSION: u32 = 1;

/// Reads what [`write`] wrote. Says nothing about whether the proof holds.
pub fn read(text: &str) -> Result<StaticProof, ReadError> {
    let header: Header =
        serde_json::from_str(text).map_err(|error| ReadError::Malformed(error.to_string()))?;
    if header.format != FORMAT {
        return Err(ReadError::NotAProof);
    }
    if header.version != VERSION {
        return Err(ReadError::Version(header.version));
    }
    let file: File = serde_json::from_str(text).map_err(|error| ReadError::Malformed(error.to_string()))?;
    Ok(file.proof)
}

/// The same proof, the same bytes.
pub fn write(proof: &StaticProof) -> String {
    let file = FileRef { format: FORMAT, version: VERSION, proof };
    serde_json::to_string(&file).unwrap_or_default()
}

/// Why a text is no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    Malformed(String),
    NotAProof,
    Version(u32),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Malformed(error) => write!(f, "not a static proof: {error}"),
            ReadError::NotAProof => f.write_str("not a static proof"),
            ReadError::Version(version) => {
                write!(f, "a static proof of version {version}; this program reads version {VERSION}")
            }
        }
    }
}

impl std::error::Error for ReadError {}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

#[derive(Deserialize)]
struct File {
    proof: StaticProof,
}

#[derive(Serialize)]
struct FileRef<'a> {
    format: &'a str,
    version: u32,
    proof: &'a StaticProof,
}
