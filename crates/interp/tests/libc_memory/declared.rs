//! A recorded call against its declared memory effect. Returns what is not declared, and notes which declarations were met.

use crate::host::{Content, Recorder, Span, Step, What};
use raddle_interp::libc::Zeroed;
use raddle_libmodel::memory::{
    Access, Base, Ending, Extent, Fill, Library, MemoryEffect, Reach, Region, Value, When,
};
use std::collections::BTreeSet;

/// Indices of the declarations that calls have made use of.
#[derive(Default)]
pub struct Met {
    pub touches: BTreeSet<usize>,
    pub returns: BTreeSet<usize>,
    pub stores: BTreeSet<usize>,
    pub calls: BTreeSet<usize>,
    pub allocates: bool,
    pub ending: bool,
    pub returned: bool,
}

pub struct Check<'c> {
    pub effect: &'c MemoryEffect,
    pub before: &'c Recorder,
    pub after: &'c Recorder,
    pub met: &'c mut Met,
}

impl Check<'_> {
    pub fn complaints(mut self, result: Option<u64>) -> Vec<String> {
        let mut wrong = Vec::new();
        for step in &self.after.log {
            if !self.declares(step) {
                wrong.push(format!("{step:?}"));
            }
        }
        if self.after.exits {
            self.met.ending = true;
            if !matches!(self.effect.ending, Ending::Exits | Ending::MayExit) {
                wrong.push("the process exits".to_owned());
            }
        }
        if let Some(result) = result {
            self.met.returned = true;
            let always_ends = matches!(self.effect.ending, Ending::Exits | Ending::Aborts);
            if always_ends || self.effect.gap.is_some() {
                wrong.push("the call returns".to_owned());
            }
            if !self.declares_result(result & self.word_mask()) {
                wrong.push(format!("result {result:#x}"));
            }
        }
        wrong
    }

    fn declares(&mut self, step: &Step) -> bool {
        match step {
            Step::Read(span) => self.touches(*span, |access| matches!(access, Access::Read | Access::Update)),
            Step::Write(span, content) => {
                self.touches(*span, |access| matches!(access, Access::Write | Access::Update))
                    && self.declares_content(*span, content)
            }
            Step::Free(object) => {
                let len = self.after.objects[*object].bytes.len() as u64;
                self.touches(Span { object: *object, offset: 0, len }, |access| access == Access::Free)
            }
            Step::Allocate { object, zeroed } => self.declares_block(*object, *zeroed),
            Step::CallBack { function, args } => self.declares_call(*function, args, When::Now),
            Step::AtExit { function } => self.declares_call(*function, &[], When::ProcessExit),
        }
    }

    fn touches(&mut self, span: Span, wanted: fn(Access) -> bool) -> bool {
        let found = self.effect.touches.iter().enumerate().find(|(_, touch)| {
            wanted(touch.access)
                && self.starts(touch.region).into_iter().any(|(object, offset)| {
                    let first = offset + u64::from(touch.from);
                    object == span.object
                        && span.offset >= first
                        && span.offset + span.len
                            <= first.saturating_add(self.bytes(touch.extent, object, first))
                })
        });
        let index = found.map(|(index, _)| index);
        self.met.touches.extend(index);
        index.is_some()
    }

    fn declares_content(&mut self, to: Span, content: &Content) -> bool {
        match content {
            Content::Pointer(pointer) => match self.after.locate(*pointer) {
                None => true,
                Some(_) => self.stores(to, |check, value| check.covers(value, *pointer)),
            },
            Content::CopyOf(from) => self.stores(to, |check, value| match value {
                Value::ContentOf(region) => {
                    check.starts(region).iter().any(|(object, _)| *object == from.object)
                }
                _ => false,
            }),
            Content::Bytes(bytes) => {
                self.note_bytes(to, bytes);
                self.pointers_in(to, bytes).into_iter().all(|pointer| {
                    self.is_number(pointer)
                        || self.changes_in_place(to, pointer)
                        || self.stores(to, |check, value| check.covers(value, pointer))
                })
            }
        }
    }

    fn pointers_in(&self, to: Span, bytes: &[u8]) -> Vec<u64> {
        let word = self.before.word_bytes();
        let first = (to.offset as usize).next_multiple_of(word) - to.offset as usize;
        let words = bytes.get(first..).unwrap_or_default().chunks_exact(word);
        let values = words.map(|chunk| {
            let mut value = [0; 8];
            value[..word].copy_from_slice(chunk);
            u64::from_le_bytes(value)
        });
        values.filter(|value| self.after.locate(*value).is_some()).collect()
    }

    /// Bytes that were written as such may have been copied by hand.
    fn note_bytes(&mut self, to: Span, bytes: &[u8]) {
        if bytes.len() < 2 {
            return;
        }
        for (index, store) in self.effect.stores.iter().enumerate() {
            if !self.starts(store.to).iter().any(|(object, _)| *object == to.object) {
                continue;
            }
            let seen = match store.value {
                Value::Outside => true,
                Value::ContentOf(region) => self.starts(region).into_iter().any(|(object, _)| {
                    object < self.before.objects.len()
                        && self.before.objects[object].bytes.windows(2).any(|pair| pair == &bytes[..2])
                }),
                _ => false,
            };
            if seen {
                self.met.stores.insert(index);
            }
        }
    }

    fn stores(&mut self, to: Span, covers: impl Fn(&Self, Value) -> bool) -> bool {
        let all: Vec<usize> = (0..self.effect.stores.len())
            .filter(|index| {
                let store = self.effect.stores[*index];
                let here = self.starts(store.to).iter().any(|(object, _)| *object == to.object);
                here && covers(self, store.value)
            })
            .collect();
        self.met.stores.extend(&all);
        !all.is_empty()
    }

    /// Whether this is an argument that the function takes for a number, or was computed from one.
    fn is_number(&self, value: u64) -> bool {
        let object = |address: u64| self.after.locate(address).map(|(object, _)| object);
        (0..self.after.args.len() as u8)
            .any(|index| object(self.arg(index)) == object(value) && !takes_pointer(self.effect, index))
    }

    /// Whether a number was changed that was a pointer into the same object before.
    fn changes_in_place(&self, to: Span, value: u64) -> bool {
        let word = self.before.word_bytes() as u64;
        let existed = to.object < self.before.objects.len();
        existed
            && (to.offset..to.offset + to.len).step_by(word as usize).any(|at| {
                let before = self.target(to.object, at.next_multiple_of(word));
                before.map(|(object, _)| object) == self.after.locate(value).map(|(object, _)| object)
            })
    }

    fn declares_result(&mut self, result: u64) -> bool {
        if self.after.locate(result).is_none() {
            return true;
        }
        let all: Vec<usize> = (0..self.effect.returns.len())
            .filter(|index| self.covers(self.effect.returns[*index], result))
            .collect();
        self.met.returns.extend(&all);
        let reads = self
            .effect
            .touches
            .iter()
            .any(|touch| touch.access == Access::Read && !matches!(touch.region.base, Base::Library(_)));
        !all.is_empty() || (!reads && self.is_number(result))
    }

    fn covers(&self, value: Value, pointer: u64) -> bool {
        let Some((object, _)) = self.after.locate(pointer) else { return false };
        match value {
            Value::Arg(arg) => self.arg(arg.0) == pointer,
            Value::Into(region) => self.starts(region).iter().any(|(own, _)| *own == object),
            Value::ContentOf(region) => self.starts(region).into_iter().any(|(own, _)| {
                let words = self.recorder_of(own).objects[own].bytes.len() / self.before.word_bytes();
                (0..words).any(|index| {
                    let offset = (index * self.before.word_bytes()) as u64;
                    self.recorder_of(own).word_at(own, offset) == Some(pointer)
                })
            }),
            Value::Outside => true,
            Value::NewThread | Value::ThisThread => false,
        }
    }

    fn declares_block(&mut self, object: usize, zeroed: Zeroed) -> bool {
        let Some(block) = self.effect.allocates else { return false };
        self.met.allocates = true;
        let size = self.after.objects[object].bytes.len() as u64;
        let expected = self.bytes(block.size, object, 0);
        (block.size == Extent::ToEnd || expected == size)
            && (zeroed == Zeroed::Yes) == (block.fill == Fill::Zero)
    }

    fn declares_call(&mut self, function: u64, args: &[u64], when: When) -> bool {
        let found = self.effect.calls.iter().position(|call| {
            call.when == when
                && self.arg(call.function.0) == function
                && call.passes.len() == args.len()
                // A pointer argument need not point anywhere.
                && call.passes.iter().zip(args).all(|(value, arg)| {
                    self.after.locate(*arg).is_none() || self.is_number(*arg) || self.covers(*value, *arg)
                })
        });
        self.met.calls.extend(found);
        found.is_some()
    }

    fn word_mask(&self) -> u64 {
        if self.before.word_bytes() == 8 { u64::MAX } else { u64::from(u32::MAX) }
    }

    fn arg(&self, index: u8) -> u64 {
        self.after.args.get(usize::from(index)).map_or(0, |value| value & self.word_mask())
    }

    /// Objects keep what they held before the call; new ones have what they were given.
    fn recorder_of(&self, object: usize) -> &Recorder {
        if object < self.before.objects.len() { self.before } else { self.after }
    }

    /// Where the memory of a region starts: objects and offsets.
    fn starts(&self, region: Region) -> Vec<(usize, u64)> {
        let direct = self.base(region.base);
        match region.reach {
            Reach::Direct => direct,
            Reach::Behind => direct.into_iter().filter_map(|(object, at)| self.target(object, at)).collect(),
            Reach::BehindAny => self.behind_any(direct),
            Reach::BehindTwice => self.behind_any(self.behind_any(direct)),
        }
    }

    fn behind_any(&self, places: Vec<(usize, u64)>) -> Vec<(usize, u64)> {
        let targets = places.into_iter().flat_map(|(object, start)| {
            let end = self.recorder_of(object).objects[object].bytes.len() as u64;
            let places = (start..end).step_by(self.before.word_bytes());
            places.filter_map(|at| self.target(object, at)).collect::<Vec<_>>()
        });
        targets.collect()
    }

    /// What the pointer there points to.
    fn target(&self, object: usize, offset: u64) -> Option<(usize, u64)> {
        let recorder = self.recorder_of(object);
        recorder.locate(recorder.word_at(object, offset)?)
    }

    fn base(&self, base: Base) -> Vec<(usize, u64)> {
        let located = |index: usize| self.after.locate(self.arg(index as u8));
        match base {
            Base::Arg(arg) => located(usize::from(arg.0)).into_iter().collect(),
            Base::VarArgs(from) => (usize::from(from.0)..self.after.args.len()).filter_map(located).collect(),
            Base::VaList(arg) => {
                let list = located(usize::from(arg.0));
                let values = if self.before.word_bytes() == 8 {
                    list.and_then(|(object, at)| self.target(object, at + 8))
                } else {
                    list
                };
                values.into_iter().collect()
            }
            Base::Fresh => self.objects(|what| *what == What::Fresh),
            Base::Library(library) => {
                self.objects(|what| matches!(what, What::Library(key) if kind(key) == Some(library)))
            }
            Base::Variable(name) => self.objects(|what| match what {
                What::Variable(own) => *own == name,
                What::Library(key) => &**key == name,
                _ => false,
            }),
            Base::Errno => self.objects(|what| *what == What::Errno),
            Base::ThreadResult(_) | Base::Specific(_) => Vec::new(),
        }
    }

    fn objects(&self, wanted: impl Fn(&What) -> bool) -> Vec<(usize, u64)> {
        let all = self.after.objects.iter().enumerate();
        all.filter(|(_, object)| wanted(&object.what)).map(|(index, _)| (index, 0)).collect()
    }

    fn bytes(&self, extent: Extent, object: usize, offset: u64) -> u64 {
        let word = self.before.word_bytes() as u64;
        match extent {
            Extent::Fixed { .. } => extent.bytes(self.before.model).expect("fixed"),
            Extent::Arg(arg) => self.arg(arg.0),
            Extent::Product(a, b) => self.arg(a.0).saturating_mul(self.arg(b.0)),
            Extent::Times(arg, each) => self.arg(arg.0).saturating_mul(u64::from(each)),
            Extent::TimesWords(arg, each) => self.arg(arg.0).saturating_mul(u64::from(each) * word),
            Extent::Pages(arg) => self.arg(arg.0).next_multiple_of(4096),
            Extent::CString => self.string(object, offset),
            Extent::CStringUpTo(arg) => self.string(object, offset).min(self.arg(arg.0)),
            Extent::StringOf(arg) => {
                self.after.locate(self.arg(arg.0)).map_or(0, |(object, at)| self.string(object, at))
            }
            Extent::ToEnd => u64::MAX,
        }
    }

    /// Bytes of the string that starts there, with its terminator.
    fn string(&self, object: usize, offset: u64) -> u64 {
        let bytes = self.recorder_of(object).objects[object].bytes.get(offset as usize..).unwrap_or_default();
        bytes.iter().position(|byte| *byte == 0).map_or(bytes.len(), |len| len + 1) as u64
    }
}

/// Whether the effect says that this argument is a pointer.
fn takes_pointer(effect: &MemoryEffect, index: u8) -> bool {
    let in_region = |region: Region| match region.base {
        Base::Arg(arg) | Base::VaList(arg) => arg.0 == index,
        Base::VarArgs(from) => from.0 <= index,
        _ => false,
    };
    let in_value = |value: &Value| match *value {
        Value::Arg(arg) => arg.0 == index,
        Value::Into(region) | Value::ContentOf(region) => in_region(region),
        Value::Outside | Value::NewThread | Value::ThisThread => false,
    };
    effect.touches.iter().any(|touch| in_region(touch.region))
        || effect.returns.iter().any(in_value)
        || effect.stores.iter().any(|store| in_value(&store.value))
        || effect.calls.iter().any(|call| call.passes.iter().any(in_value))
}

/// Which object of the library goes by this key in the interpreter.
pub fn kind(key: &str) -> Option<Library> {
    Some(match key {
        "strtok" => Library::StrtokPlace,
        "struct tm of localtime" => Library::BrokenDownTime,
        "buffer of asctime" => Library::TimeText,
        "stdin" | "stdout" | "stderr" => Library::Stream,
        "environment" => Library::Environment,
        "state of drand48" => Library::Random48,
        "locale" => Library::Locale,
        "name of getlogin" => Library::LoginName,
        "entry of gethostbyname" => Library::HostEntry,
        _ if key.starts_with("FILE ") => Library::Stream,
        _ if key.starts_with("environment ") => Library::Environment,
        _ if key.starts_with("string ") => Library::Text,
        _ if key.starts_with("semaphore ") => Library::Semaphore,
        _ if key.starts_with("ctype ") && key.ends_with(" pointer") => Library::CharacterTablePointer,
        _ if key.starts_with("ctype ") => Library::CharacterTable,
        _ => return None,
    })
}
