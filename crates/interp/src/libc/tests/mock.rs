//! A host without a machine: flat memory, no threads, everything recorded.

use crate::libc::{Channels, FolderEntry, Host, LibState, Links, Outcome, Passing, Stop, Zeroed, call};
use raddle_event::ProblemKind;
use raddle_ir::{DataModel, FloatTy, Ty};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lowest address; memory below does not exist.
const BASE: u64 = 0x1000;

/// What the program's function does when it is called back.
type Callback = fn(&mut Mock, &[(u128, Ty)]) -> u128;

pub(super) struct Mock {
    pub(super) model: DataModel,
    pub(super) args: Vec<(u128, Ty)>,
    pub(super) memory: Vec<u8>,
    pub(super) state: LibState,
    channels: Channels,
    pub(super) output: Vec<(i32, u8)>,
    pub(super) input: Vec<u8>,
    pub(super) blocks: BTreeMap<u64, u64>,
    pub(super) library: BTreeMap<String, u64>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) variables: BTreeMap<String, u64>,
    pub(super) reads: Vec<(u64, u64)>,
    pub(super) writes: Vec<(u64, u64)>,
    pub(super) problem: Option<(ProblemKind, String)>,
    pub(super) unsupported: Option<String>,
    pub(super) exited: Option<i32>,
    pub(super) assumed: Vec<&'static str>,
    pub(super) exposed: Vec<u64>,
    pub(super) callback: Option<Callback>,
    pub(super) clock: u64,
    errno: u64,
    failures: u32,
}

impl Mock {
    pub(super) fn new(model: DataModel) -> Mock {
        let mut mock = Mock {
            model,
            args: Vec::new(),
            memory: Vec::new(),
            state: LibState::default(),
            channels: Channels::default(),
            output: Vec::new(),
            input: Vec::new(),
            blocks: BTreeMap::new(),
            library: BTreeMap::new(),
            environment: BTreeMap::new(),
            variables: BTreeMap::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            problem: None,
            unsupported: None,
            exited: None,
            assumed: Vec::new(),
            exposed: Vec::new(),
            callback: None,
            clock: 0,
            errno: 0,
            failures: 0,
        };
        mock.errno = mock.place(&[0; 4]);
        mock
    }

    /// Puts bytes into fresh memory.
    pub(super) fn place(&mut self, bytes: &[u8]) -> u64 {
        self.memory.resize(self.memory.len().next_multiple_of(16), 0xaa);
        let address = BASE + self.memory.len() as u64;
        self.memory.extend_from_slice(bytes);
        // A gap, so that running over the end is seen.
        self.memory.extend_from_slice(&[0xaa; 16]);
        address
    }

    pub(super) fn string(&mut self, text: &str) -> u64 {
        let bytes: Vec<u8> = text.bytes().chain([0]).collect();
        self.place(&bytes)
    }

    pub(super) fn call(&mut self, name: &str, args: &[Value]) -> Outcome<u128> {
        self.args = args.iter().map(|value| value.bits()).collect();
        self.reads.clear();
        self.writes.clear();
        call(name, self).unwrap_or_else(|| panic!("{name} is not implemented"))
    }

    pub(super) fn run(&mut self, name: &str, args: &[Value]) -> u128 {
        let result = self.call(name, args);
        result.unwrap_or_else(|_| panic!("{name}: {:?} {:?}", self.problem, self.unsupported))
    }

    pub(super) fn bytes(&self, address: u64, len: usize) -> &[u8] {
        &self.memory[(address - BASE) as usize..][..len]
    }

    pub(super) fn text(&self, address: u64) -> String {
        let bytes = &self.memory[(address - BASE) as usize..];
        let len = bytes.iter().position(|byte| *byte == 0).expect("a terminator");
        String::from_utf8_lossy(&bytes[..len]).into_owned()
    }

    pub(super) fn printed(&self, descriptor: i32) -> Vec<u8> {
        self.output.iter().filter(|(fd, _)| *fd == descriptor).map(|(_, byte)| *byte).collect()
    }

    pub(super) fn last_errno(&self) -> i32 {
        i32::from_le_bytes(self.bytes(self.errno, 4).try_into().expect("four bytes"))
    }

    fn range(&mut self, address: u64, len: u64) -> Outcome<std::ops::Range<usize>> {
        let end = address.checked_add(len);
        match end {
            Some(end) if address >= BASE && end <= BASE + self.memory.len() as u64 => {
                Ok((address - BASE) as usize..(end - BASE) as usize)
            }
            _ => Err(self.fail(ProblemKind::InvalidPointer, format!("{len} bytes at {address:#x}"))),
        }
    }
}

/// An argument with the type that C passes it as.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Int(i32),
    Long(i64),
    Double(f64),
    Float(f32),
    Extended(u128),
    Pointer(u64),
}

impl Value {
    fn bits(self) -> (u128, Ty) {
        match self {
            Value::Int(value) => (u128::from(value as u32), Ty::Int(32)),
            Value::Long(value) => (u128::from(value as u64), Ty::Int(64)),
            Value::Double(value) => (u128::from(value.to_bits()), Ty::Float(FloatTy::F64)),
            Value::Float(value) => (u128::from(value.to_bits()), Ty::Float(FloatTy::F32)),
            Value::Extended(bits) => (bits, Ty::Float(FloatTy::F80)),
            Value::Pointer(address) => (u128::from(address), Ty::Ptr),
        }
    }
}

impl Host for Mock {
    fn data_model(&self) -> DataModel {
        self.model
    }

    fn arg_count(&self) -> usize {
        self.args.len()
    }

    fn arg(&self, index: usize) -> u128 {
        self.args.get(index).map_or(0, |(bits, _)| *bits)
    }

    fn arg_type(&self, index: usize) -> Option<Ty> {
        self.args.get(index).map(|(_, ty)| *ty)
    }

    fn result_type(&self) -> Option<Ty> {
        None
    }

    fn result_is_used(&self) -> bool {
        false
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
        let range = self.range(address, buffer.len() as u64)?;
        buffer.copy_from_slice(&self.memory[range]);
        self.reads.push((address, buffer.len() as u64));
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Outcome<()> {
        let range = self.range(address, bytes.len() as u64)?;
        self.memory[range].copy_from_slice(bytes);
        self.writes.push((address, bytes.len() as u64));
        Ok(())
    }

    fn read_pointer(&mut self, address: u64) -> Outcome<u64> {
        let mut bytes = [0; 8];
        let width = self.model.pointer_bytes() as usize;
        self.read(address, &mut bytes[..width])?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn write_pointer(&mut self, address: u64, pointer: u64) -> Outcome<()> {
        let width = self.model.pointer_bytes() as usize;
        self.write(address, &pointer.to_le_bytes()[..width])
    }

    fn expose(&mut self, pointer: u64) {
        self.exposed.push(pointer);
    }

    fn copy(&mut self, to: u64, from: u64, len: u64) -> Outcome<()> {
        let mut bytes = vec![0; len as usize];
        self.read(from, &mut bytes)?;
        self.write(to, &bytes)
    }

    fn fill(&mut self, address: u64, byte: u8, len: u64) -> Outcome<()> {
        self.write(address, &vec![byte; len as usize])
    }

    fn string_length(&mut self, address: u64, limit: u64) -> Outcome<u64> {
        let mut len = 0;
        while len < limit {
            let range = self.range(address + len, 1)?;
            if self.memory[range][0] == 0 {
                break;
            }
            len += 1;
        }
        self.reads.push((address, (len + 1).min(limit)));
        Ok(len)
    }

    fn allocate(&mut self, bytes: u64, align: u64, zeroed: Zeroed, _what: &str) -> Outcome<u64> {
        let aligned = (BASE + self.memory.len() as u64).next_multiple_of(align) - BASE;
        self.memory.resize(aligned as usize, 0xaa);
        let fill = if zeroed == Zeroed::Yes { 0 } else { 0xcd };
        let address = self.place(&vec![fill; bytes as usize]);
        self.blocks.insert(address, bytes);
        Ok(address)
    }

    fn free(&mut self, address: u64) -> Outcome<()> {
        if address == 0 || self.blocks.remove(&address).is_some() {
            return Ok(());
        }
        Err(self.fail(ProblemKind::InvalidFree, String::new()))
    }

    fn block_size(&mut self, address: u64) -> Option<u64> {
        self.blocks.get(&address).copied()
    }

    fn library_block(&mut self, key: &str, initial: &[u8]) -> Outcome<u64> {
        if let Some(address) = self.library.get(key) {
            return Ok(*address);
        }
        let address = self.place(initial);
        self.library.insert(key.to_owned(), address);
        Ok(address)
    }

    fn set_errno(&mut self, value: i32) {
        let at = (self.errno - BASE) as usize;
        self.memory[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn errno_address(&mut self) -> Outcome<u64> {
        Ok(self.errno)
    }

    fn output(&mut self, descriptor: i32, bytes: &[u8]) {
        self.output.extend(bytes.iter().map(|byte| (descriptor, *byte)));
    }

    fn take_input(&mut self, limit: usize) -> Vec<u8> {
        let len = self.input.len().min(limit);
        self.input.drain(..len).collect()
    }

    fn now(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn sleep(&mut self, nanoseconds: u64) {
        self.clock += nanoseconds;
    }

    fn state(&mut self) -> &mut LibState {
        &mut self.state
    }

    fn variable(&mut self, name: &str) -> Option<u64> {
        self.variables.get(name).copied()
    }

    fn environment(&self, name: &str) -> Option<String> {
        self.environment.get(name).cloned()
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

    fn choose(&mut self, _variants: u32) -> Outcome<u32> {
        Ok(0)
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

    fn limit(&mut self, reason: &str) -> Stop {
        self.unsupported = Some(reason.to_owned());
        Stop
    }

    fn assume(&mut self, id: &'static str) {
        self.assumed.push(id);
    }

    fn fail(&mut self, kind: ProblemKind, detail: String) -> Stop {
        self.problem = Some((kind, detail));
        Stop
    }

    fn unsupported(&mut self, reason: String) -> Stop {
        self.unsupported = Some(reason);
        Stop
    }

    fn call_back(&mut self, _function: u64, args: &[(u128, Ty)]) -> Outcome<u128> {
        let callback = self.callback.expect("a callback");
        Ok(callback(self, args))
    }

    fn exit(&mut self, code: i32) -> Stop {
        self.exited = Some(code);
        Stop
    }

    fn killed(&mut self, signal: i32) -> Stop {
        self.exited = Some(128 + signal);
        Stop
    }

    fn at_exit(&mut self, _function: u64) {}
}
