//! Proofs over threads as text: one JSON object with the name and version of the format around the proof.

use raddle_facts::ThreadProof;
use serde::{Deserialize, Serialize};
use std::fmt;

const FORMAT: &str = "raddle-thread-proof";
const VERSION: u32 = 1;

/// Reads what [`write`] wrote. Says nothing about whether the proof holds.
pub fn read(text: &str) -> Result<ThreadProof, ReadError> {
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

/// Whether a text says that it is one.
pub fn is_proof(text: &str) -> bool {
    serde_json::from_str::<Header>(text).is_ok_and(|header| header.format == FORMAT)
}

/// The same proof, the same bytes.
pub fn write(proof: &ThreadProof) -> String {
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
            ReadError::Malformed(error) => write!(f, "not a proof over threads: {error}"),
            ReadError::NotAProof => f.write_str("not a proof over threads"),
            ReadError::Version(version) => {
                write!(f, "a proof over threads of version {version}; this program reads version {VERSION}")
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
    proof: ThreadProof,
}

#[derive(Serialize)]
struct FileRef<'a> {
    format: &'a str,
    version: u32,
    proof: &'a ThreadProof,
}

#[cfg(test)]
mod tests {
    use super::{ReadError, read, write};
    use raddle_facts::ThreadProof;

    #[test]
    fn what_is_written_is_read() {
        let proof = ThreadProof::default();
        let text = write(&proof);
        assert_eq!(read(&text), Ok(proof));
        assert_eq!(read(&text.replace("raddle-thread-proof", "another")), Err(ReadError::NotAProof));
        assert_eq!(read(&text.replace("\"version\":1", "\"version\":2")), Err(ReadError::Version(2)));
        assert!(matches!(read("{}"), Err(ReadError::Malformed(_))));
    }
}
