//! Members of archives: those without bitcode, for `--whole-archive`, where leaving the archive in the link would define everything
//! in it a second time.
//!
//! Reads the format of GNU `ar` (long names in `//`, thin archives) and the long names of BSD. Errs towards "not an archive".

use raddle_frontend::embedded::{BITCODE_SECTION, elf};
use std::path::Path;

/// Whether this file is an archive.
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(THIN)
}

/// The objects of an archive that have no bitcode in them.
pub(super) fn foreign_members(path: &Path, bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let is_foreign = |member: &[u8]| {
        elf::is_elf(member) && elf::sections(member, BITCODE_SECTION).is_ok_and(|found| found.is_empty())
    };
    Ok(members(path, bytes)?.into_iter().filter(|member| is_foreign(member)).collect())
}

const MAGIC: &[u8] = b"!<arch>\n";
const THIN: &[u8] = b"!<thin>\n";
const HEADER: usize = 60;

fn members(path: &Path, bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    const CUT: &str = "the archive is damaged";
    let thin = bytes.starts_with(THIN);
    let mut rest = bytes.get(MAGIC.len()..).filter(|_| is_archive(bytes)).ok_or("it is not an archive")?;
    let mut long_names: &[u8] = &[];
    let mut found = Vec::new();
    while rest.len() >= HEADER {
        let (header, after) = rest.split_at(HEADER);
        let name = trimmed(&header[..16]);
        let size: usize = trimmed(&header[48..58]).parse().map_err(|_| CUT)?;
        let is_table = matches!(name.as_str(), "/" | "//" | "/SYM64/") || name.starts_with("__.SYMDEF");
        if thin && !is_table {
            let file = long_name(long_names, &name).unwrap_or_else(|| name.trim_end_matches('/').to_owned());
            let file = path.parent().unwrap_or(Path::new(".")).join(file);
            found.push(std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?);
            rest = after;
            continue;
        }
        let content = after.get(..size).ok_or(CUT)?;
        match name.strip_prefix("#1/").and_then(|length| length.parse::<usize>().ok()) {
            _ if name == "//" => long_names = content,
            _ if is_table => {}
            Some(length) => found.push(content.get(length..).ok_or(CUT)?.to_vec()),
            None => found.push(content.to_vec()),
        }
        rest = after.get(size.next_multiple_of(2)..).unwrap_or_default();
    }
    Ok(found)
}

/// `/12` is the name at byte 12 of the table, up to `/` and a line end.
fn long_name(table: &[u8], name: &str) -> Option<String> {
    let at: usize = name.strip_prefix('/')?.parse().ok()?;
    let text = String::from_utf8_lossy(table.get(at..)?).into_owned();
    let end = text.find("/\n").or_else(|| text.find('\n'))?;
    Some(text[..end].to_owned())
}

fn trimmed(field: &[u8]) -> String {
    String::from_utf8_lossy(field).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{foreign_members, members};
    use std::path::Path;

    fn entry(name: &str, content: &[u8]) -> Vec<u8> {
        let mut bytes =
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, content.len()).into_bytes();
        bytes.extend(content);
        if content.len() % 2 == 1 {
            bytes.push(b'\n');
        }
        bytes
    }

    #[test]
    fn members_and_tables_are_told_apart() {
        let mut bytes = b"!<arch>\n".to_vec();
        for (name, content) in [
            ("/", &b"symbols"[..]),
            ("//", b"a-very-long-name.o/\n"),
            ("/0", b"one"),
            ("b.o/", b"four"),
            ("#1/4", b"name5"),
        ] {
            bytes.extend(entry(name, content));
        }
        let path = Path::new("x.a");
        assert_eq!(members(path, &bytes).unwrap(), [&b"one"[..], b"four", b"5"]);
        assert_eq!(foreign_members(path, &bytes), Ok(Vec::new()));
        for end in 0..bytes.len() {
            let _ = members(path, &bytes[..end]);
            for value in [0, b'9', b'/', 0xFF] {
                let mut changed = bytes.clone();
                changed[end] = value;
                let _ = members(path, &changed);
            }
        }
    }
}
