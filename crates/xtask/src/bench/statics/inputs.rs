//! What is analysed, and the paper's row for it where the paper has one.

use super::link::Take;
use std::path::{Path, PathBuf};

pub(super) struct Input {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The source with the wanted `main`, where the database has several.
    pub(super) target: Option<&'static str>,
    pub(super) take: Take,
    /// Flags of `raddle` that the sources want and bitcode does not.
    pub(super) source_flags: &'static [&'static str],
    pub(super) paper: Option<Paper>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Program,
    /// Its public headers, from the corpus folder: what they declare may be called by any number of threads.
    Library(&'static [&'static str]),
    /// Kernel code: operation tables, exported functions and callbacks may be called by any number of threads.
    Driver,
}

/// A row of the table in section 5 of the paper.
#[derive(Clone, Copy)]
pub(super) struct Paper {
    pub(super) name: &'static str,
    pub(super) kloc: f64,
    pub(super) shared: u32,
    pub(super) warnings: u32,
    pub(super) after_reduction: u32,
    pub(super) after_contexts: u32,
    pub(super) seconds: f64,
}

pub(super) const INPUTS: &[Input] = &[
    driver("hugetlb", Some(paper("hugetlb", 1.2, [5, 4, 1, 1], 3.2))),
    driver("inode", None),
    driver("ipoib_multicast", Some(paper("ipoibmulticast", 26.1, [10, 33228, 6, 6], 7.0))),
    driver("plip", Some(paper("plip", 13.7, [17, 94, 51, 51], 5.0))),
    driver("sock", Some(paper("sock", 0.9, [6, 32, 21, 13], 2.0))),
    Input {
        name: "ctrace",
        kind: Kind::Program,
        target: None,
        take: Take::All,
        source_flags: &["--data-model", "ILP32"],
        paper: Some(paper("ctrace_comb", 1.4, [19, 985, 218, 58], 6.7)),
    },
    driver("expire", Some(paper("autofs_expire", 8.3, [7, 20, 8, 3], 6.0))),
    driver("ptrace", Some(paper("ptrace", 15.4, [3, 9, 1, 1], 15.0))),
    driver("tty_io", Some(paper("tty_io", 17.8, [1, 6, 3, 3], 4.0))),
    driver("raid1", Some(paper("raid", 17.2, [6, 23, 21, 13], 1.5))),
    driver("raid5", None),
    driver("amd_gart_64", Some(paper("pci_gart", 0.6, [1, 3, 1, 1], 1.0))),
    driver("amd64-agp", None),
    driver("autofs-all", None),
    driver("ipoib-all", None),
    driver("tty-all", None),
    program("memcached", None, Take::Needed),
    program("pbzip2", None, Take::Needed),
    program("fio", None, Take::All),
    program("redis", Some("server.c"), Take::Needed),
    library("zstd", &["src/zstd-sys/zstd/lib/zstd.h", "src/zstd-sys/zstd/lib/zdict.h"]),
    library("rdkafka", &["src/rdkafka-sys/librdkafka/src/rdkafka.h"]),
    library("sqlite", &["src/libsqlite3-sys/sqlite3/sqlite3.h"]),
];

impl Input {
    pub(super) fn database(&self, folder: &Path) -> PathBuf {
        folder.join("inputs").join(self.name).join("compile_commands.json")
    }
}

const fn driver(name: &'static str, paper: Option<Paper>) -> Input {
    Input { name, kind: Kind::Driver, target: None, take: Take::All, source_flags: &[], paper }
}

const fn program(name: &'static str, target: Option<&'static str>, take: Take) -> Input {
    Input { name, kind: Kind::Program, target, take, source_flags: &[], paper: None }
}

const fn library(name: &'static str, headers: &'static [&'static str]) -> Input {
    Input {
        name,
        kind: Kind::Library(headers),
        target: None,
        take: Take::All,
        source_flags: &[],
        paper: None,
    }
}

const fn paper(name: &'static str, kloc: f64, counts: [u32; 4], seconds: f64) -> Paper {
    let [shared, warnings, after_reduction, after_contexts] = counts;
    Paper { name, kloc, shared, warnings, after_reduction, after_contexts, seconds }
}
