//! Arguments for library functions: mostly of the kind that the declared effect makes likely, now and then anything at all, so that a
//! pointer that is touched without being declared is met too.

use crate::host::{FUNCTION, Recorder, What};
use raddle_ir::DataModel;
use raddle_libmodel::memory::{Access, Base, Extent, MemoryEffect, Reach, Value};
use raddle_testkit::random::Random;

/// Arguments at every call, more than any function without `...` has.
const COUNT: u8 = 8;

const TEXTS: &[&str] = &[
    "hello world",
    "",
    "abc",
    "  -42 and more",
    "0x1fz",
    "3.5e2;",
    "a,b;c",
    ", ",
    "wr",
    "PATH",
    "NAME=value",
    "/usr/lib//",
    "name.c",
    "data",
    "w+",
    "r",
    "-a",
    "--flag=1",
    "ab:c",
    "C",
    "127.0.0.1",
    "12 7 words",
    "%Y-%m-%d",
];

const FORMATS: &[&str] = &[
    "%s|%s\n", "%s", "%d %s %n", "%.3s", "%s%n", "plain", "%d%n", "%p", "%c %5s", "%[a-z]%n", "%lf %s", "%m",
];

const NUMBERS: &[u64] = &[0, 1, 1, 2, 3, 3, 4, 5, 7, 8, 10, 12, 16, 24, 36, 64, 100, 200];

/// A machine with memory of every kind in it.
#[derive(Clone)]
pub struct Pool {
    pub recorder: Recorder,
    texts: Vec<u64>,
    formats: Vec<u64>,
    /// Objects whose first word is a pointer.
    cells: Vec<u64>,
    lists: Vec<u64>,
    blocks: Vec<u64>,
    buffers: Vec<u64>,
    streams: Vec<u64>,
}

impl Pool {
    pub fn new(model: DataModel, mut random: Random) -> Pool {
        let recorder = Recorder::new(model, Random::new(random.word()));
        let mut pool = Pool {
            recorder,
            texts: Vec::new(),
            formats: Vec::new(),
            cells: Vec::new(),
            lists: Vec::new(),
            blocks: Vec::new(),
            buffers: Vec::new(),
            streams: Vec::new(),
        };
        pool.texts = TEXTS.iter().map(|text| pool.text(text)).collect();
        pool.formats = FORMATS.iter().map(|text| pool.text(text)).collect();
        // Text and input that are the bytes of a pointer.
        let pointer = pool.recorder.words(&[pool.texts[0]]);
        let text = pool.recorder.place(What::Static, [&pointer[..], &[0]].concat());
        pool.texts.extend([text; 3]);
        pool.formats.extend([text; 2]);
        let start: &[u8] = if random.chance(50) { b"12 0x1f" } else { &pointer };
        pool.recorder.input = [start, b" abc 3.5\nsecond line\n"].concat();
        pool.add_blocks();
        pool.add_cells(&mut random);
        pool.add_lists(&mut random);
        pool.add_streams();
        pool.add_variables(&mut random);
        pool
    }

    fn text(&mut self, text: &str) -> u64 {
        self.recorder.place(What::Static, text.bytes().chain([0]).collect())
    }

    /// Memory without structure, and memory with pointers in it.
    fn add_blocks(&mut self) {
        let pointers = self.recorder.words(&[self.texts[0], self.texts[2], self.texts[6], self.texts[3]]);
        for size in [0, 1, 8, 40, 160] {
            let address = self.recorder.place(What::Heap, vec![b'x'; size]);
            self.blocks.push(address);
        }
        self.blocks.push(self.recorder.place(What::Heap, pointers.clone()));
        self.blocks.push(self.recorder.place(What::Heap, vec![0; 4096]));
        self.buffers.push(self.recorder.place(What::Static, pointers.repeat(4)));
        self.buffers.push(self.recorder.place(What::Static, vec![0; 400]));
        self.buffers.push(self.recorder.place(What::Static, vec![1; 200]));
        let digits = b"some words to be cut, or 17 bytes to be moved\0 and what follows\0".to_vec();
        self.buffers.push(self.recorder.place(What::Static, digits));
    }

    fn add_cells(&mut self, random: &mut Random) {
        let text = random.pick(&self.texts);
        let writable = self.recorder.place(What::Static, b"one,two three\0".to_vec());
        let block = self.blocks[4];
        for (first, second) in [(text, 3), (writable, 5), (block, 160), (0, 0), (self.blocks[2], 8)] {
            let bytes = self.recorder.words(&[first, second]);
            self.cells.push(self.recorder.place(What::Static, bytes));
        }
        // `argv`, with options and other arguments.
        let arguments = ["program", "-a", "other", "-b", "value", "--flag=1", "--size", "7", "--", "last"];
        let from = random.below(6);
        let mut argv: Vec<u64> = vec![self.texts[2]];
        for argument in &arguments[1 + from..] {
            argv.push(self.text(argument));
        }
        argv.push(0);
        let bytes = self.recorder.words(&argv);
        self.cells.push(self.recorder.place(What::Static, bytes));
        // `struct iovec`.
        let bytes = self.recorder.words(&[self.texts[0], 5, self.texts[2], 2, block, 9, 0, 0]);
        self.cells.push(self.recorder.place(What::Static, bytes));
        // `struct option`.
        let (flag, size) = (self.text("flag"), self.text("size"));
        let target = self.recorder.place(What::Static, vec![0; 4]);
        let bytes = self.recorder.words(&[flag, 2, target, 11, size, 1, 0, 12, 0, 0, 0, 0]);
        self.cells.push(self.recorder.place(What::Static, bytes));
    }

    fn add_lists(&mut self, random: &mut Random) {
        for _ in 0..3 {
            let values: Vec<u64> = (0..6)
                .map(|_| match random.below(3) {
                    0 => random.pick(NUMBERS),
                    1 => random.pick(&self.buffers),
                    _ => random.pick(&self.texts),
                })
                .collect();
            // First comes a string that is a pointer, or room for one.
            let first = random.pick(&[self.texts[TEXTS.len()], self.buffers[1]]);
            let bytes = self.recorder.words(&[&[first], &values[..]].concat());
            let area = self.recorder.place(What::Static, bytes);
            self.lists.push(match self.recorder.model {
                DataModel::Ilp32 => area,
                DataModel::Lp64 => {
                    let bytes = self.recorder.words(&[0, area, 0]);
                    self.recorder.place(What::Static, bytes)
                }
            });
        }
    }

    fn add_streams(&mut self) {
        let (name, mode) = (self.text("data"), self.text("w+"));
        // The environment lets a few calls fail.
        let mut open = || self.recorder.run("fopen", vec![name, mode]).filter(|stream| *stream != 0);
        let stream = (0..8).find_map(|_| open()).expect("a file can be made");
        let content = self.recorder.input.clone();
        let (size, content) = (content.len() as u64, self.recorder.place(What::Static, content));
        self.recorder.run("fwrite", vec![content, 1, size, stream]).expect("it can be written");
        self.recorder.run("rewind", vec![stream]).expect("and read");
        self.streams = vec![stream];
        for key in ["stdin", "stdout"] {
            let stream = raddle_interp::libc::Host::library_block(&mut self.recorder, key, &[0; 216]);
            self.streams.push(stream.unwrap_or_else(|_| panic!("{key} exists")));
        }
    }

    fn add_variables(&mut self, random: &mut Random) {
        if random.chance(50) {
            for (name, value) in [("optind", 1), ("opterr", 1), ("optopt", 63), ("optarg", 0)] {
                let bytes = self.recorder.words(&[value]);
                self.recorder.place(What::Variable(name), bytes);
            }
        }
        if random.chance(50) {
            let (text, set) = (self.recorder.place(What::Static, b"x y z\0".to_vec()), self.text(" "));
            self.recorder.run("strtok", vec![text, set]).expect("a first token");
        }
    }

    fn pointer(&self, random: &mut Random) -> u64 {
        let all = [
            &self.texts,
            &self.formats,
            &self.cells,
            &self.lists,
            &self.blocks,
            &self.buffers,
            &self.streams,
        ];
        let kind = random.pick(&all);
        random.pick(kind)
    }

    fn anything(&self, random: &mut Random) -> u64 {
        match random.below(10) {
            0 | 1 => self.pointer(random),
            2..=4 => random.pick(&self.streams),
            5 => FUNCTION,
            6 => u64::MAX,
            // No offset, and the descriptor of the only file.
            7 => random.pick(&[0, 3]),
            _ => random.pick(NUMBERS),
        }
    }

    pub fn arguments(&self, effect: &MemoryEffect, random: &mut Random) -> Vec<u64> {
        (0..COUNT)
            .map(|index| {
                let role = role(effect, index);
                // A pointer taken for a size would only ask for gigabytes.
                if !matches!(role, Role::Number) && random.chance(10) {
                    return self.anything(random);
                }
                if matches!(role, Role::Text | Role::Memory) && random.chance(5) {
                    return 0;
                }
                match role {
                    Role::Text if random.chance(30) => random.pick(&self.formats),
                    Role::Text if random.chance(20) => random.pick(&self.buffers),
                    Role::Text => random.pick(&self.texts),
                    Role::Cell => random.pick(&self.cells),
                    Role::List => random.pick(&self.lists),
                    Role::Block => random.pick(&self.blocks),
                    Role::Memory if random.chance(70) => random.pick(&self.buffers),
                    Role::Memory => self.pointer(random),
                    Role::Variadic if random.chance(20) => self.texts[self.texts.len() - 1],
                    Role::Variadic if random.chance(40) => random.pick(&self.texts),
                    Role::Variadic if random.chance(60) => random.pick(&self.buffers),
                    Role::Function => FUNCTION,
                    Role::Number => random.pick(NUMBERS),
                    Role::Variadic | Role::Unknown => self.anything(random),
                }
            })
            .collect()
    }
}

/// What an argument is likely to be.
enum Role {
    Text,
    /// A pointer in memory.
    Cell,
    List,
    Block,
    Memory,
    Variadic,
    Function,
    Number,
    Unknown,
}

fn role(effect: &MemoryEffect, index: u8) -> Role {
    let is = |base: Base| matches!(base, Base::Arg(arg) if arg.0 == index);
    let touches = || effect.touches.iter().filter(|touch| is(touch.region.base));
    if effect.calls.iter().any(|call| call.function.0 == index) {
        Role::Function
    } else if effect.touches.iter().any(|t| matches!(t.region.base, Base::VaList(arg) if arg.0 == index)) {
        Role::List
    } else if touches().any(|touch| touch.region.reach != Reach::Direct) {
        Role::Cell
    } else if touches().any(|touch| touch.access == Access::Free) {
        Role::Block
    } else if touches().any(|t| t.access == Access::Read && matches!(t.extent, Extent::CString)) {
        Role::Text
    } else if touches().next().is_some() || effect.returns.iter().any(|value| points_into(*value, index)) {
        Role::Memory
    } else if sizes(effect).any(|extent| measures(extent, index)) {
        Role::Number
    } else if effect.touches.iter().any(|t| matches!(t.region.base, Base::VarArgs(from) if from.0 <= index)) {
        Role::Variadic
    } else {
        Role::Unknown
    }
}

fn points_into(value: Value, index: u8) -> bool {
    match value {
        Value::Arg(arg) => arg.0 == index,
        Value::Into(region) => matches!(region.base, Base::Arg(arg) if arg.0 == index),
        _ => false,
    }
}

fn sizes(effect: &MemoryEffect) -> impl Iterator<Item = Extent> {
    effect.touches.iter().map(|touch| touch.extent).chain(effect.allocates.map(|block| block.size))
}

fn measures(extent: Extent, index: u8) -> bool {
    match extent {
        Extent::Arg(arg) | Extent::CStringUpTo(arg) | Extent::Pages(arg) => arg.0 == index,
        Extent::Times(arg, _) | Extent::TimesWords(arg, _) => arg.0 == index,
        Extent::Product(a, b) => a.0 == index || b.0 == index,
        Extent::Fixed { .. } | Extent::CString | Extent::StringOf(_) | Extent::ToEnd => false,
    }
}
