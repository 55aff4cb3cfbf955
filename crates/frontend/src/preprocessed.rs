//! Preprocessed files (`.i`): what they were made from, and the words of other compilers that clang does not know.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use raddle_ir::DataModel;

/// Macros that make gcc's glibc headers readable for clang. Types so replaced are approximations: assumption A-LAYOUT.
pub(crate) fn replacements(data_model: DataModel) -> Vec<&'static str> {
    let mut flags = vec![
        "-D__malloc__(...)=__malloc__",
        "-D_Float128=long double",
        "-D_Float32=float",
        "-D_Float64=double",
        "-D_Float32x=double",
        "-D_Float64x=long double",
    ];
    if data_model == DataModel::Ilp32 {
        flags.push("-D__int128=long long");
    }
    flags
}

/// The source that a preprocessed file was made from, by its first line marker (`# 1 "dir/file.c"`).
pub(crate) fn source_of(path: &Path) -> Option<PathBuf> {
    let reader = BufReader::new(std::fs::File::open(path).ok()?);
    for line in reader.split(b'\n').take(50) {
        let line = line.ok()?;
        let line = String::from_utf8_lossy(&line);
        let Some(rest) = line.strip_prefix("# ").or_else(|| line.strip_prefix("#line ")) else { continue };
        let (number, rest) = rest.split_once(' ')?;
        if number.parse::<u32>().is_err() {
            continue;
        }
        let name = rest.trim_start().strip_prefix('"')?;
        let name = &name[..name.find('"')?];
        if !name.starts_with('<') {
            return Some(PathBuf::from(name));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::source_of;
    use std::path::PathBuf;

    #[test]
    fn the_first_marker_of_a_file_counts() {
        let folder = tempfile::tempdir().expect("temporary folder");
        for (text, expected) in [
            ("# 0 \"dir/a.c\"\n# 1 \"<built-in>\"\n", Some("dir/a.c")),
            ("# 1 \"<built-in>\"\n# 1 \"b.c\" 1\nint x;\n", Some("b.c")),
            ("#line 3 \"c.c\"\n", Some("c.c")),
            ("int main(void) { return 0; }\n", None),
        ] {
            let path = folder.path().join("x.i");
            std::fs::write(&path, text).expect("write");
            assert_eq!(source_of(&path), expected.map(PathBuf::from), "{text}");
        }
    }
}
