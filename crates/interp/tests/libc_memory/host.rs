//! A machine for library functions that knows of every byte which object it is in, and writes down all that a call does.

use raddle_event::ProblemKind;
use raddle_interp::libc::{
    Channels, FolderEntry, Host, LibState, Links, Outcome, Passing, Stop, Zeroed, call,
};
use raddle_ir::{DataModel, Ty};
use raddle_testkit::random::Random;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone)]
pub struct Recorder {
    pub model: DataModel,
    pub objects: Vec<Object>,
    pub args: Vec<u64>,
    /// What the present call did.
    pub log: Vec<Step>,
    pub exits: bool,
    pub random: Random,
    library: Rc<BTreeMap<String, usize>>,
    state: LibState,
    channels: Channels,
    pub input: Vec<u8>,
    clock: u64,
    failures: u32,
}

#[derive(Clone, Debug)]
pub struct Object {
    pub what: What,
    pub bytes: Rc<Vec<u8>>,
    pub live: bool,
}

/// What an object is to the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Static,
    Heap,
    /// Made by the present call.
    Fresh,
    Library(Rc<str>),
    Variable(&'static str),
    Errno,
}

#[derive(Clone, Debug)]
pub enum Step {
    Read(Span),
    Write(Span, Content),
    Free(usize),
    Allocate { object: usize, zeroed: Zeroed },
    CallBack { function: u64, args: Vec<u64> },
    AtExit { function: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub object: usize,
    pub offset: u64,
    pub len: u64,
}

#[derive(Clone, Debug)]
pub enum Content {
    Bytes(Vec<u8>),
    Pointer(u64),
    CopyOf(Span),
}

/// No round number, so that results of arithmetic are not taken for pointers.
const BASE: u64 = 0x5a3c_9a40;
const STRIDE: u64 = 0x1_0000;
/// The only function of the program.
pub const FUNCTION: u64 = 0x3000_0000;
const LARGEST: u64 = 0x8000;

impl Recorder {
    pub fn new(model: DataModel, random: Random) -> Recorder {
        let mut recorder = Recorder {
            model,
            objects: Vec::new(),
            args: Vec::new(),
            log: Vec::new(),
            exits: false,
            random,
            library: Rc::default(),
            state: LibState::default(),
            channels: Channels::default(),
            input: Vec::new(),
            clock: 0,
            failures: 0,
        };
        recorder.place(What::Errno, vec![0; 4]);
        recorder
    }

    pub fn place(&mut self, what: What, bytes: Vec<u8>) -> u64 {
        assert!(bytes.len() as u64 <= LARGEST, "{} bytes", bytes.len());
        self.objects.push(Object { what, bytes: Rc::new(bytes), live: true });
        self.address(self.objects.len() - 1)
    }

    pub fn address(&self, object: usize) -> u64 {
        BASE + object as u64 * STRIDE
    }

    pub fn word_bytes(&self) -> usize {
        self.model.pointer_bytes() as usize
    }

    /// Numbers in the width of a pointer, one after the other.
    pub fn words(&self, values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()[..self.word_bytes()].to_vec()).collect()
    }

    /// The object and offset of an address; the end of an object belongs to it.
    pub fn locate(&self, address: u64) -> Option<(usize, u64)> {
        let from_base = address.checked_sub(BASE)?;
        let (object, offset) = ((from_base / STRIDE) as usize, from_base % STRIDE);
        let known = self.objects.get(object)?;
        (offset <= known.bytes.len() as u64).then_some((object, offset))
    }

    pub fn word_at(&self, object: usize, offset: u64) -> Option<u64> {
        let bytes = self.objects[object].bytes.get(offset as usize..)?.get(..self.word_bytes())?;
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        Some(u64::from_le_bytes(word))
    }

    /// Makes the call; `None` when it did not come to its end.
    pub fn run(&mut self, name: &str, args: Vec<u64>) -> Option<u64> {
        self.args = args;
        self.log.clear();
        self.exits = false;
        for object in &mut self.objects {
            if object.what == What::Fresh {
                object.what = What::Heap;
            }
        }
        let result = call(name, self).unwrap_or_else(|| panic!("{name} is not implemented"));
        result.ok().map(|bits| bits as u64)
    }

    fn span(&mut self, address: u64, len: u64) -> Outcome<Span> {
        let place = self.locate(address);
        match place {
            Some((object, offset))
                if self.objects[object].live
                    && offset.saturating_add(len) <= self.objects[object].bytes.len() as u64 =>
            {
                Ok(Span { object, offset, len })
            }
            _ => Err(Stop),
        }
    }

    fn slice(&self, span: Span) -> &[u8] {
        &self.objects[span.object].bytes[span.offset as usize..][..span.len as usize]
    }

    fn put(&mut self, span: Span, bytes: &[u8]) {
        let all = Rc::make_mut(&mut self.objects[span.object].bytes);
        all[span.offset as usize..][..span.len as usize].copy_from_slice(bytes);
    }

    fn is_silent(&self, span: Span) -> bool {
        self.objects[span.object].what == What::Errno
    }

    fn note_read(&mut self, span: Span) {
        if !self.is_silent(span) {
            self.log.push(Step::Read(span));
        }
    }

    fn note_write(&mut self, span: Span, content: Content) {
        if !self.is_silent(span) {
            self.log.push(Step::Write(span, content));
        }
    }
}

impl Host for Recorder {
    fn data_model(&self) -> DataModel {
        self.model
    }

    fn arg_count(&self) -> usize {
        self.args.len()
    }

    fn arg(&self, index: usize) -> u128 {
        self.args.get(index).map_or(0, |value| u128::from(*value))
    }

    fn arg_type(&self, index: usize) -> Option<Ty> {
        self.args.get(index).map(|_| Ty::Int(64))
    }

    fn result_type(&self) -> Option<Ty> {
        None
    }

    fn result_is_used(&self) -> bool {
        true
    }

    fn result_is_kept(&self) -> bool {
        false
    }

    fn is_constant(&self, _address: u64) -> bool {
        true
    }

    fn environment_is_memory(&self) -> bool {
        false
    }

    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Outcome<()> {
        let span = self.span(address, buffer.len() as u64)?;
        buffer.copy_from_slice(self.slice(span));
        self.note_read(span);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Outcome<()> {
        let span = self.span(address, bytes.len() as u64)?;
        self.put(span, bytes);
        self.note_write(span, Content::Bytes(bytes.to_vec()));
        Ok(())
    }

    fn read_pointer(&mut self, address: u64) -> Outcome<u64> {
        let span = self.span(address, self.word_bytes() as u64)?;
        self.note_read(span);
        self.word_at(span.object, span.offset).ok_or(Stop)
    }

    fn write_pointer(&mut self, address: u64, pointer: u64) -> Outcome<()> {
        let span = self.span(address, self.word_bytes() as u64)?;
        let bytes = self.words(&[pointer]);
        self.put(span, &bytes);
        self.note_write(span, Content::Pointer(pointer));
        Ok(())
    }

    fn expose(&mut self, _pointer: u64) {}

    fn copy(&mut self, to: u64, from: u64, len: u64) -> Outcome<()> {
        let from = self.span(from, len)?;
        self.note_read(from);
        let to = self.span(to, len)?;
        let bytes = self.slice(from).to_vec();
        self.put(to, &bytes);
        self.note_write(to, Content::CopyOf(from));
        Ok(())
    }

    fn fill(&mut self, address: u64, byte: u8, len: u64) -> Outcome<()> {
        let span = self.span(address, len)?;
        let bytes = vec![byte; len as usize];
        self.write(self.address(span.object) + span.offset, &bytes)
    }

    fn string_length(&mut self, address: u64, limit: u64) -> Outcome<u64> {
        let span = self.span(address, 1)?;
        let bytes = &self.objects[span.object].bytes[span.offset as usize..];
        let end = bytes.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        let (len, read) = match bytes[..end].iter().position(|byte| *byte == 0) {
            Some(len) => (len, len + 1),
            None if end as u64 == limit => (end, end),
            None => return Err(Stop),
        };
        self.note_read(Span { len: read as u64, ..span });
        Ok(len as u64)
    }

    fn allocate(&mut self, bytes: u64, _align: u64, zeroed: Zeroed, _what: &str) -> Outcome<u64> {
        if bytes > LARGEST {
            return Err(Stop);
        }
        let fill = if zeroed == Zeroed::Yes { 0 } else { 0xcd };
        let address = self.place(What::Fresh, vec![fill; bytes as usize]);
        self.log.push(Step::Allocate { object: self.objects.len() - 1, zeroed });
        Ok(address)
    }

    fn free(&mut self, address: u64) -> Outcome<()> {
        if address == 0 {
            return Ok(());
        }
        let object = self.block_size(address).and_then(|_| self.locate(address)).ok_or(Stop)?.0;
        self.objects[object].live = false;
        self.log.push(Step::Free(object));
        Ok(())
    }

    fn block_size(&mut self, address: u64) -> Option<u64> {
        let (object, offset) = self.locate(address)?;
        let object = &self.objects[object];
        let is_block = object.live && offset == 0 && matches!(object.what, What::Heap | What::Fresh);
        is_block.then_some(object.bytes.len() as u64)
    }

    fn library_block(&mut self, key: &str, initial: &[u8]) -> Outcome<u64> {
        if let Some(object) = self.library.get(key) {
            return Ok(self.address(*object));
        }
        let address = self.place(What::Library(key.into()), initial.to_vec());
        Rc::make_mut(&mut self.library).insert(key.to_owned(), self.objects.len() - 1);
        Ok(address)
    }

    fn set_errno(&mut self, _value: i32) {}

    fn errno_address(&mut self) -> Outcome<u64> {
        Ok(self.address(0))
    }

    fn output(&mut self, _descriptor: i32, _bytes: &[u8]) {}

    fn take_input(&mut self, limit: usize) -> Vec<u8> {
        let len = self.input.len().min(limit);
        self.input.drain(..len).collect()
    }

    fn now(&mut self) -> u64 {
        self.clock += 1000;
        self.clock
    }

    fn sleep(&mut self, _nanoseconds: u64) {}

    fn state(&mut self) -> &mut LibState {
        &mut self.state
    }

    fn variable(&mut self, name: &str) -> Option<u64> {
        let object =
            self.objects.iter().position(|o| matches!(o.what, What::Variable(own) if own == name))?;
        Some(self.address(object))
    }

    fn environment(&self, name: &str) -> Option<String> {
        (name == "PATH").then(|| "/bin".to_owned())
    }

    fn channels(&mut self) -> &mut Channels {
        &mut self.channels
    }

    fn is_operation(&self) -> bool {
        true
    }

    fn pass(&mut self, _stream: usize, _places: (u32, u32), _passing: Passing) -> Outcome<()> {
        Ok(())
    }

    fn thread_number(&self) -> u32 {
        0
    }

    fn thread_count(&self) -> u32 {
        1
    }

    fn choose(&mut self, variants: u32) -> Outcome<u32> {
        Ok(self.random.below(variants as usize) as u32)
    }

    fn failures(&mut self) -> &mut u32 {
        &mut self.failures
    }

    fn outside(&mut self, _path: &[u8]) -> Option<Arc<Vec<u8>>> {
        None
    }

    fn outside_folder(&mut self, _path: &[u8]) -> Option<Arc<Vec<FolderEntry>>> {
        None
    }

    fn outside_link(&mut self, _path: &[u8], _links: Links) -> Option<Arc<Vec<u8>>> {
        None
    }

    fn limit(&mut self, _reason: &str) -> Stop {
        Stop
    }

    fn assume(&mut self, _id: &'static str) {}

    fn fail(&mut self, _kind: ProblemKind, _detail: String) -> Stop {
        Stop
    }

    fn unsupported(&mut self, _reason: String) -> Stop {
        Stop
    }

    fn call_back(&mut self, function: u64, args: &[(u128, Ty)]) -> Outcome<u128> {
        let args = args.iter().map(|(bits, _)| *bits as u64).collect();
        self.log.push(Step::CallBack { function, args });
        if function != FUNCTION {
            return Err(Stop);
        }
        Ok([1, 0, u128::from(u32::MAX)][self.random.below(3)])
    }

    fn exit(&mut self, _code: i32) -> Stop {
        self.exits = true;
        Stop
    }

    fn killed(&mut self, _signal: i32) -> Stop {
        self.exits = true;
        Stop
    }

    fn at_exit(&mut self, function: u64) {
        self.log.push(Step::AtExit { function });
    }
}
