//! Certificates of searches as text: one JSON object with the name and version of the format around the tree.

use raddle_event::SearchTree;
use serde::{Deserialize, Serialize};
use std::fmt;

const FORMAT: &str = "raddle-search-tree";
const VERSION: u32 = 1;
/// Which operations are visible: synchronisation and atomics. The only way there is.
const VISIBLE: &str = "sync";

/// The tree of a search, and the program that was searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Hash, in hexadecimal digits.
    pub program: String,
    pub data_model: String,
    pub tree: SearchTree,
}

/// Whether a text claims to be such a certificate.
pub fn is_search(text: &str) -> bool {
    serde_json::from_str::<Header>(text).is_ok_and(|header| header.format == FORMAT)
}

/// Reads what [`write`] wrote. Says nothing about whether the tree is one of the program, or complete.
pub fn read(text: &str) -> Result<Certificate, ReadError> {
    let malformed = |error: serde_json::Error| ReadError::Malformed(error.to_string());
    let header: Header = serde_json::from_str(text).map_err(malformed)?;
    if header.format != FORMAT {
        return Err(ReadError::OtherFormat);
    }
    if header.version != VERSION {
        return Err(ReadError::Version(header.version));
    }
    let file: File = serde_json::from_str(text).map_err(malformed)?;
    if file.visible != VISIBLE {
        return Err(ReadError::Malformed(format!("visible operations `{}` are not known", file.visible)));
    }
    let tree = SearchTree::parse(file.tree.iter().map(String::as_str))
        .map_err(|error| ReadError::Malformed(format!("tree, {error}")))?;
    Ok(Certificate { program: file.program, data_model: file.data_model, tree })
}

/// The same certificate, the same bytes.
pub fn write(certificate: &Certificate) -> String {
    let file = File {
        format: FORMAT.to_owned(),
        version: VERSION,
        program: certificate.program.clone(),
        data_model: certificate.data_model.clone(),
        visible: VISIBLE.to_owned(),
        tree: certificate.tree.to_lines(),
    };
    serde_json::to_string(&file).unwrap_or_default()
}

/// Why a text is no certificate of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    Malformed(String),
    OtherFormat,
    Version(u32),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Malformed(error) => write!(f, "not the tree of a search: {error}"),
            ReadError::OtherFormat => f.write_str("not the tree of a search"),
            ReadError::Version(version) => {
                write!(f, "the tree of a search, of version {version}; this program reads version {VERSION}")
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

#[derive(Serialize, Deserialize)]
struct File {
    format: String,
    version: u32,
    program: String,
    data_model: String,
    visible: String,
    tree: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::{Certificate, ReadError, is_search, read, write};
    use raddle_event::SearchTree;
    use raddle_testkit::random::Random;

    fn certificate() -> Certificate {
        let tree = SearchTree::parse(["T0", "T0 T1 -T2", "", "T1 -T0@1", ""]).expect("it is well formed");
        Certificate { program: "2a".to_owned(), data_model: "LP64".to_owned(), tree }
    }

    #[test]
    fn what_is_written_is_read() {
        let text = write(&certificate());
        assert!(is_search(&text));
        assert_eq!(read(&text), Ok(certificate()));
        assert_eq!(read(&text.replace("\"version\":1", "\"version\":2")), Err(ReadError::Version(2)));
        assert_eq!(read(&text.replace("search-tree", "static-proof")), Err(ReadError::OtherFormat));
        let visible = read(&text.replace("\"sync\"", "\"all\"")).expect_err("only one is known");
        assert!(visible.to_string().contains("`all` are not known"), "{visible}");
    }

    /// Any bytes give a certificate or an error.
    #[test]
    fn damaged_text_is_no_crash() {
        let text = write(&certificate());
        let mut random = Random::new(7);
        for _ in 0..20_000 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..random.between(1, 3) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes.truncate(at.max(1)),
                    1 => drop(bytes.remove(at)),
                    2 => bytes[at] = random.below(128) as u8,
                    _ => bytes.insert(at, random.pick(b"0123456789T-@/\"[]{},:")),
                }
                if bytes.is_empty() {
                    bytes.push(b'{');
                }
            }
            let Ok(text) = String::from_utf8(bytes) else { continue };
            if let Ok(read) = read(&text) {
                assert_eq!(super::read(&write(&read)), Ok(read));
            }
        }
    }
}
