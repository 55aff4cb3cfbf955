//! Programs of growing size, for the plot of time against lines.
//!
//! The translation units of the parts below, one after the other and within a part in the order in which its first function needs
//! them, are cut off at the wanted number of lines. Names are made local to each part, each part has a thread of its own that calls
//! it, and one small `main` starts the threads: real code that links, shares what it really shares, and grows by whole source files.
//! Functions of units beyond the cut have no body.

use super::inputs::INPUTS;
use super::lines::{Lines, count};
use super::link::{choose, compile, link_files, tool, units};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub(super) struct Rung {
    pub(super) bitcode: PathBuf,
    pub(super) lines: Lines,
    pub(super) units: usize,
}

const SIZES: [usize; 10] =
    [10_000, 20_000, 35_000, 50_000, 75_000, 100_000, 150_000, 200_000, 270_000, 450_000];

struct Part {
    name: &'static str,
    /// Its first function.
    root: &'static str,
    /// Body of the thread that uses it, after the declaration of what it calls.
    declare: &'static str,
    client: &'static str,
    /// What must keep its name.
    public: &'static str,
}

const PARTS: [Part; 6] = [
    program(
        "memcached",
        "int memcached_main(int, char **);",
        "memcached_main(1, arguments);",
        "memcached_main",
    ),
    program("fio", "int fio_main(int, char **, char **);", "fio_main(1, arguments, arguments);", "fio_main"),
    program("redis", "int redis_main(int, char **);", "redis_main(1, arguments);", "redis_main"),
    Part {
        name: "rdkafka",
        root: "rd_kafka_new",
        declare: "void *rd_kafka_conf_new(void), *rd_kafka_new(int, void *, char *, size_t); int rd_kafka_poll(void *, int); \
                  void rd_kafka_destroy(void *);",
        client: "char text[512]; void *k = rd_kafka_new(0, rd_kafka_conf_new(), text, sizeof text); rd_kafka_poll(k, 100); \
                 rd_kafka_destroy(k);",
        public: "rd_kafka_conf_new,rd_kafka_new,rd_kafka_poll,rd_kafka_destroy",
    },
    Part {
        name: "zstd",
        root: "ZSTD_compressStream2",
        declare: "void *ZSTD_createCCtx(void); size_t ZSTD_CCtx_setParameter(void *, int, int), ZSTD_freeCCtx(void *), \
                  ZSTD_compressStream2(void *, void *, void *, int);",
        client: "size_t out[3] = { (size_t)arguments[0], 1, 0 }, in[3] = { (size_t)arguments[0], 1, 0 }; void *c = ZSTD_createCCtx(); \
                 ZSTD_CCtx_setParameter(c, 400, 4); ZSTD_compressStream2(c, out, in, 2); ZSTD_freeCCtx(c);",
        public: "ZSTD_createCCtx,ZSTD_CCtx_setParameter,ZSTD_compressStream2,ZSTD_freeCCtx",
    },
    Part {
        name: "sqlite",
        root: "sqlite3_open",
        declare: "int sqlite3_open(const char *, void **), sqlite3_exec(void *, const char *, void *, void *, char **), sqlite3_close(void *);",
        client: "void *db; sqlite3_open(arguments[0], &db); sqlite3_exec(db, arguments[0], 0, 0, 0); sqlite3_close(db);",
        public: "sqlite3_open,sqlite3_exec,sqlite3_close",
    },
];

const fn program(
    name: &'static str,
    declare: &'static str,
    client: &'static str,
    public: &'static str,
) -> Part {
    Part { name, root: "main", declare, client, public }
}

/// A compiled source of one part.
struct Piece {
    part: usize,
    bitcode: PathBuf,
    lines: Lines,
}

/// Builds what is missing; smallest first.
pub(super) fn build(folder: &Path) -> Result<Vec<Rung>, String> {
    let home = folder.join("ladder");
    std::fs::create_dir_all(&home).map_err(|error| error.to_string())?;
    let mut pieces = Vec::new();
    for (index, part) in PARTS.iter().enumerate() {
        match pieces_of(index, part, folder, &home) {
            Ok(more) => pieces.extend(more),
            Err(problem) => eprintln!("bench: ladder: {} is left out: {problem}", part.name),
        }
    }
    let mut rungs: Vec<Rung> = Vec::new();
    for size in SIZES {
        let mut lines = Lines::default();
        let fitting = pieces.iter().take_while(|piece| {
            let fits = lines.code + piece.lines.code <= size;
            lines = if fits { lines + piece.lines } else { lines };
            fits
        });
        let taken: Vec<&Piece> = fitting.collect();
        if rungs.last().is_none_or(|rung| rung.units < taken.len()) {
            let bitcode = home.join(format!("{size}.bc"));
            if !bitcode.is_file() {
                assemble(&taken, &bitcode, &home)?;
            }
            rungs.push(Rung { bitcode, lines, units: taken.len() });
        }
    }
    Ok(rungs)
}

fn pieces_of(index: usize, part: &Part, folder: &Path, home: &Path) -> Result<Vec<Piece>, String> {
    let input = INPUTS.iter().find(|input| input.name == part.name).ok_or("not an input")?;
    let units = units(&input.database(folder))?;
    let compiled = compile(&units, &folder.join("inputs").join(part.name))?;
    let order = choose(&compiled, part.root, input.target, input.take);
    let mut pieces = Vec::new();
    for (position, unit) in order.into_iter().enumerate() {
        let mut bitcode = compiled[unit].bitcode.clone();
        if position == 0 && part.root == "main" {
            bitcode = home.join(format!("{}-main.bc", part.name));
            units[unit].compile(&bitcode, &[&format!("-Dmain={}_main", part.name)])?;
        }
        pieces.push(Piece { part: index, bitcode, lines: count(&[compiled[unit].source.clone()]) });
    }
    Ok(pieces)
}

/// Links the pieces part by part, hides the names of each part, and adds the `main` that starts them.
fn assemble(pieces: &[&Piece], output: &Path, home: &Path) -> Result<(), String> {
    let mut linked = Vec::new();
    let mut used = Vec::new();
    for (index, part) in PARTS.iter().enumerate() {
        let mine: Vec<&Path> =
            pieces.iter().filter(|piece| piece.part == index).map(|piece| piece.bitcode.as_path()).collect();
        if mine.is_empty() {
            continue;
        }
        let (open, hidden) = (home.join("open.bc"), home.join(format!("{}.hidden.bc", part.name)));
        link_files(&mine, &open)?;
        let keep = format!("-internalize-public-api-list={}", part.public);
        let words: [&OsStr; 5] = [
            "-passes=internalize".as_ref(),
            keep.as_ref(),
            open.as_os_str(),
            "-o".as_ref(),
            hidden.as_os_str(),
        ];
        tool("opt", &words)?;
        linked.push(hidden);
        used.push(part);
    }
    let (source, main) = (home.join("main.c"), home.join("main.bc"));
    std::fs::write(&source, starter(&used)).map_err(|error| error.to_string())?;
    let flags = "-w -g -O0 -Xclang -disable-O0-optnone -fno-builtin -emit-llvm -c -o";
    let mut words: Vec<&OsStr> = flags.split(' ').map(OsStr::new).collect();
    words.extend([main.as_os_str(), source.as_os_str()]);
    tool("clang", &words)?;
    linked.insert(0, main);
    let parts: Vec<&Path> = linked.iter().map(PathBuf::as_path).collect();
    link_files(&parts, output)
}

fn starter(parts: &[&Part]) -> String {
    let mut text = String::from("#include <pthread.h>\n#include <stddef.h>\nstatic char **arguments;\n");
    for part in parts {
        text.push_str(&format!(
            "{}\nstatic void *{}_thread(void *unused) {{ {} return 0; }}\n",
            part.declare, part.name, part.client
        ));
    }
    text.push_str("int main(int argc, char **argv) {\n    pthread_t thread;\n    arguments = argv;\n");
    for part in parts {
        text.push_str(&format!("    pthread_create(&thread, 0, {}_thread, 0);\n", part.name));
    }
    text.push_str("    pthread_exit(0);\n}\n");
    text
}
