//! Calls of library functions that `libc` implements: the machine as they see it.
//!
//! Every access is an event of its own; where accesses are visible each is a visible operation (see `journal`). Callbacks run inside
//! the step when accesses are not visible, and may not synchronise then.

use super::access::Taking;
use super::calls::Flow;
use super::{Cx, Halt};
use crate::channels::Channels;
use crate::journal::{Done, Journal};
use crate::libc::{self, Host, LibState, Outcome, Stop, Zeroed};
use crate::memory::{At, Birth, Fill, Name, Named, Piece, StackId, mix};
use crate::outside::{FolderEntry, Links};
use crate::sync::Passing;
use crate::thread::{Action, Ending, OnReturn, Phase, Stand};
use crate::world::{Operating, Watch};
use raddle_base::StableHasher;
use raddle_event::{AccessKind, EventKind, ProblemKind};
use raddle_ir::{DataModel, Ty};
use raddle_libmodel::{Detail, LibcFn};
use raddle_machine::{ObjectKind, OpKind};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Callbacks inside callbacks.
const NESTING_LIMIT: u32 = 8;

struct Library<'c, 'a> {
    cx: &'c mut Cx<'a>,
    /// Kept only where accesses are visible.
    journal: Option<Journal>,
    /// Entries of the journal that have been given back.
    replayed: usize,
    granted: bool,
    used_state: bool,
    wrote_errno: bool,
    /// The library's state when the call began, once the call has asked for it.
    before: Option<LibState>,
    /// Choices of the environment that have been given back.
    chosen: usize,
    request: Option<Request>,
}

/// What shall happen once the library function has stopped.
enum Request {
    Exit(i32),
    CallBack(u64, Vec<(u128, Ty)>),
}

impl Cx<'_> {
    pub(super) fn library_call(&mut self, function: LibcFn) -> Result<Flow, Halt> {
        let watching = !matches!(self.world.watch, Watch::Nothing)
            && self.thread.nesting == 0
            && self.world.operating == Operating::No;
        let (journal, granted) = match &self.thread.phase {
            Phase::Library(journal) => (Some(Journal::clone(journal)), false),
            Phase::LibraryGranted(journal) => (Some(Journal::clone(journal)), true),
            _ if watching => {
                (Some(Journal { done: Vec::new(), library: self.world.state.libc.clone() }), false)
            }
            _ => (None, false),
        };
        if let Some(journal) = &journal {
            self.world.state.lasting_mut().libc = journal.library.clone();
        }
        if self.call_desc().result_look > function.fixed_detail() {
            self.assume("A-RESULT");
        }
        let failures = self.thread.failures;
        let mut library = Library {
            cx: self,
            journal,
            replayed: 0,
            granted,
            used_state: false,
            wrote_errno: false,
            before: None,
            chosen: 0,
            request: None,
        };
        let shared = &library.cx.image.shared;
        let outcome = match shared.touch(&mut library, function) {
            Ok(()) => libc::call(function.0, &mut library),
            Err(Stop) => Some(Err(Stop)),
        };
        let Library { journal, request, used_state, wrote_errno, .. } = library;
        if matches!(outcome, Some(Err(Stop))) {
            // The call begins again.
            self.thread.failures = failures;
        }
        if used_state {
            let mut hasher = StableHasher::new();
            self.world.state.libc.hash(&mut hasher);
            self.world.state.libc_hash = hasher.finish();
        }
        match outcome {
            None => Err(self.unsupported(format!("the library function `{}`", function.0))),
            Some(Ok(value)) => {
                if self.thread.errno != 0 && !wrote_errno && !function.keeps_errno() {
                    self.leave_errno_open();
                }
                Ok(Flow::Return(value))
            }
            Some(Err(Stop)) => match request {
                None => Err(Halt),
                Some(Request::Exit(code)) => {
                    self.thread.phase = Phase::Start;
                    self.leave_process(code)?;
                    Ok(Flow::GoOn)
                }
                Some(Request::CallBack(function, args)) => {
                    let function = self.function_at(function)?;
                    let function = self.image.entry(function).expect("checked when it was requested");
                    let journal = Arc::new(journal.unwrap_or_default());
                    self.world.state.lasting_mut().libc = journal.library.clone();
                    self.enter_with(function, &args, OnReturn::Journal(journal))?;
                    Ok(Flow::GoOn)
                }
            },
        }
    }

    /// A callback has returned to the library call at the present position, which is run again.
    pub(super) fn journal_result(&mut self, journal: &Journal, result: u128) {
        let mut journal = journal.clone();
        journal.done.push(Done::Value(result));
        self.thread.phase = Phase::Library(Arc::new(journal));
    }

    /// The text at an address, without an access.
    pub(crate) fn peek_string(&self, address: u64) -> Option<String> {
        let at = self.memory.find(address, 1)?;
        let object = self.memory.object(at.slot);
        let bytes = &object.data[at.offset..object.size as usize];
        let len = bytes.iter().position(|&byte| byte == 0)?;
        Some(String::from_utf8_lossy(&bytes[..len]).into_owned())
    }

    /// A zero-terminated string of the program: a read access.
    pub(crate) fn c_string(&mut self, address: u64) -> Result<String, Halt> {
        let Some(text) = self.peek_string(address) else {
            let miss = self.memory.miss(address, 1);
            return Err(self.missed(miss));
        };
        let at = self.readable(address, text.len() as u64 + 1)?;
        if !self.memory.object(at.slot).quiet {
            let loc = self.memory.loc(at, text.len() as u64 + 1);
            self.event(EventKind::Access { loc, kind: AccessKind::Read });
        }
        Ok(text)
    }

    /// A block that belongs to the library, made on first use.
    pub(crate) fn library_block(&mut self, key: &str, initial: &[u8]) -> Result<u64, Halt> {
        if let Some(&address) = self.world.state.library.get(key) {
            return Ok(address);
        }
        let name = self.memory.records.label(key);
        let birth = Birth { kind: ObjectKind::Library, ..self.birth(initial.len() as u64, name) };
        let address = self.allocate(birth)?;
        if !initial.is_empty() {
            let at = self.resolve(address, initial.len() as u64)?;
            self.memory.store_bytes(at, initial, Named::Number);
        }
        Arc::make_mut(&mut self.world.state.lasting_mut().library).insert(key.to_owned(), address);
        Ok(address)
    }

    pub(crate) fn fresh_block(&mut self, bytes: u64, what: &str) -> Result<u64, Halt> {
        let name = self.memory.records.label(what);
        let birth = self.birth(bytes, name);
        let address = self.allocate(birth)?;
        let (slot, _) = self.memory.owner(address).expect("just allocated");
        let object = self.memory.object(slot).id;
        self.event(EventKind::Alloc { object });
        Ok(address)
    }

    fn birth(&self, size: u64, name: Name) -> Birth {
        Birth {
            kind: ObjectKind::Heap,
            name,
            size,
            align: 16,
            fill: Fill::Zero,
            quiet: false,
            constant: false,
            thread: self.thread.id,
            site: self.site(),
            stack: StackId::EMPTY,
            ty: None,
            canon: None,
        }
    }

    fn allocate(&mut self, mut birth: Birth) -> Result<u64, Halt> {
        birth.stack = self.allocation_site().1;
        match self.memory.allocate(birth) {
            Ok(address) => Ok(address),
            Err(_) => Err(self.limit("memory of the program")),
        }
    }

    pub(crate) fn set_errno(&mut self, value: i32) {
        if let Ok(address) = self.errno_address()
            && let Some(at) = self.memory.find(address, 4)
        {
            self.memory.store::<4>(at, u64::from(value as u32), Named::Number);
        }
    }

    /// A call that succeeds may change it (C11 7.5p3): its bytes count as not written.
    fn leave_errno_open(&mut self) {
        if let Some(at) = self.memory.find(self.thread.errno, 4) {
            self.memory.forget(at, 4);
        }
    }

    fn errno_address(&mut self) -> Result<u64, Halt> {
        if self.thread.errno == 0 {
            let name = self.memory.records.label("errno");
            // Calls may have changed it before the program looks at it for the first time.
            let (quiet, fill) = (true, Fill::Uninitialised);
            let birth = Birth { kind: ObjectKind::ThreadLocal, quiet, fill, ..self.birth(4, name) };
            self.thread.errno = self.allocate(birth)?;
        }
        Ok(self.thread.errno)
    }
}

impl Library<'_, '_> {
    /// The next entry of the journal, while there are any.
    fn replay(&mut self) -> Option<Done> {
        let entry = self.journal.as_ref()?.done.get(self.replayed)?.clone();
        self.replayed += 1;
        Some(entry)
    }

    fn note(&mut self, done: Done) {
        if let Some(journal) = &mut self.journal {
            journal.done.push(done);
            self.replayed += 1;
        }
    }

    /// Reports an access, or stops before it when it is visible and not let through yet.
    fn access(&mut self, at: At, len: usize, kind: AccessKind) -> Outcome<()> {
        if self.cx.memory.object(at.slot).quiet {
            return Ok(());
        }
        let loc = self.cx.memory.loc(at, len as u64);
        if let Some(journal) = &self.journal
            && self.cx.world.watch.sees(self.cx.site())
            && !std::mem::take(&mut self.granted)
        {
            self.cx.thread.phase = Phase::Library(Arc::new(journal.clone()));
            self.cx.world.state.lasting_mut().libc = journal.library.clone();
            self.cx.stand(OpKind::Access { loc, kind }, Action::Resume);
            return Err(Stop);
        }
        self.cx.event(EventKind::Access { loc, kind });
        Ok(())
    }

    fn readable(&mut self, address: u64, len: u64) -> Outcome<At> {
        self.cx.readable(address, len).map_err(|Halt| Stop)
    }

    fn writable(&mut self, address: u64, len: u64) -> Outcome<At> {
        self.cx.writable(address, len).map_err(|Halt| Stop)
    }

    fn take(&mut self, address: u64, len: u64) -> Outcome<Piece> {
        if let Some(Done::Piece(piece)) = self.replay() {
            return Ok(piece);
        }
        let at = self.readable(address, len)?;
        self.access(at, len as usize, AccessKind::Read)?;
        let piece = self.cx.take_bytes(at, len as usize);
        self.note(Done::Piece(piece.clone()));
        Ok(piece)
    }
}

impl Host for Library<'_, '_> {
    fn data_model(&self) -> DataModel {
        self.cx.image.program.data_model
    }

    fn arg_count(&self) -> usize {
        self.cx.call_desc().args.len()
    }

    fn arg(&self, index: usize) -> u128 {
        self.cx.call_desc().args.get(index).map_or(0, |arg| self.cx.value_of(arg.slot, arg.ty))
    }

    fn arg_type(&self, index: usize) -> Option<Ty> {
        self.cx.call_desc().args.get(index).map(|arg| arg.ty)
    }

    fn result_type(&self) -> Option<Ty> {
        self.cx.call_desc().dsts.first().map(|(_, ty)| *ty)
    }

    fn result_is_used(&self) -> bool {
        self.cx.call_desc().result_look > Detail::Nothing
    }

    fn result_is_kept(&self) -> bool {
        self.cx.call_desc().result_is_kept
    }

    fn is_constant(&self, address: u64) -> bool {
        let owner = self.cx.memory.owner(address);
        owner.is_some_and(|(slot, _)| self.cx.memory.object(slot).constant)
    }

    fn environment_is_memory(&self) -> bool {
        self.cx.image.environment_is_memory
    }

    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Outcome<()> {
        if buffer.is_empty() {
            return Ok(());
        }
        if let Some(Done::Bytes(bytes)) = self.replay() {
            buffer.copy_from_slice(&bytes);
            return Ok(());
        }
        let len = buffer.len();
        let at = self.readable(address, len as u64)?;
        self.access(at, len, AccessKind::Read)?;
        if !self.cx.memory.object(at.slot).is_initialised(at.offset, len) {
            self.cx.assume("A-UNINIT");
        }
        self.cx.reveal(at, len, Taking::Number);
        buffer.copy_from_slice(&self.cx.memory.object(at.slot).data[at.offset..at.offset + len]);
        if self.journal.is_some() {
            self.note(Done::Bytes(buffer.to_vec()));
        }
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Outcome<()> {
        if bytes.is_empty() || self.replay().is_some() {
            return Ok(());
        }
        let at = self.writable(address, bytes.len() as u64)?;
        self.access(at, bytes.len(), AccessKind::Write)?;
        self.cx.memory.store_bytes(at, bytes, Named::Number);
        self.note(Done::Unit);
        Ok(())
    }

    fn read_pointer(&mut self, address: u64) -> Outcome<u64> {
        if let Some(Done::Value(pointer)) = self.replay() {
            return Ok(pointer as u64);
        }
        let len = self.cx.memory.layout.pointer_bytes as usize;
        let at = self.readable(address, len as u64)?;
        self.access(at, len, AccessKind::Read)?;
        let pointer = self.cx.take_value(at, len, Taking::Pointer);
        self.note(Done::Value(pointer));
        Ok(pointer as u64)
    }

    fn write_pointer(&mut self, address: u64, pointer: u64) -> Outcome<()> {
        if self.replay().is_some() {
            return Ok(());
        }
        let len = self.cx.memory.layout.pointer_bytes as usize;
        let at = self.writable(address, len as u64)?;
        self.access(at, len, AccessKind::Write)?;
        self.cx.memory.store_bytes(at, &pointer.to_le_bytes()[..len], Named::Name);
        self.note(Done::Unit);
        Ok(())
    }

    fn expose(&mut self, pointer: u64) {
        self.cx.expose_value(pointer);
    }

    fn copy(&mut self, to: u64, from: u64, len: u64) -> Outcome<()> {
        if len == 0 {
            return Ok(());
        }
        let piece = self.take(from, len)?;
        if self.replay().is_some() {
            return Ok(());
        }
        let at = self.writable(to, len)?;
        self.access(at, len as usize, AccessKind::Write)?;
        self.cx.memory.put(at, &piece);
        self.note(Done::Unit);
        Ok(())
    }

    fn fill(&mut self, address: u64, byte: u8, len: u64) -> Outcome<()> {
        if len == 0 || self.replay().is_some() {
            return Ok(());
        }
        let at = self.writable(address, len)?;
        self.access(at, len as usize, AccessKind::Write)?;
        self.cx.memory.fill(at, len as usize, byte);
        self.note(Done::Unit);
        Ok(())
    }

    fn string_length(&mut self, address: u64, limit: u64) -> Outcome<u64> {
        if limit == 0 {
            return Ok(0);
        }
        if let Some(Done::Value(len)) = self.replay() {
            return Ok(len as u64);
        }
        let at = self.readable(address, 1)?;
        let object = self.cx.memory.object(at.slot);
        let end = (object.size as usize)
            .min(at.offset.saturating_add(usize::try_from(limit).unwrap_or(usize::MAX)));
        let found = object.data[at.offset..end].iter().position(|&byte| byte == 0);
        let (len, read) = match found {
            Some(len) => (len as u64, len as u64 + 1),
            None if (end - at.offset) as u64 == limit => (limit, limit),
            // No terminator inside the object: the read runs over its end.
            None => (0, (end - at.offset) as u64 + 1),
        };
        let at = self.readable(address, read)?;
        self.access(at, read as usize, AccessKind::Read)?;
        if !self.cx.memory.object(at.slot).is_initialised(at.offset, read as usize) {
            self.cx.assume("A-UNINIT");
        }
        self.cx.reveal(at, read as usize, Taking::Number);
        self.note(Done::Value(u128::from(len)));
        Ok(len)
    }

    fn allocate(&mut self, bytes: u64, align: u64, zeroed: Zeroed, what: &str) -> Outcome<u64> {
        if let Some(Done::Value(address)) = self.replay() {
            return Ok(address as u64);
        }
        let name = self.cx.memory.records.label(what);
        let fill = match zeroed {
            Zeroed::Yes => Fill::Zero,
            Zeroed::No => Fill::Uninitialised,
        };
        let ty = self.cx.call_desc().result_type;
        let birth = Birth { align: align.max(16), fill, ty, ..self.cx.birth(bytes, name) };
        let address = self.cx.allocate(birth).map_err(|Halt| Stop)?;
        let (slot, _) = self.cx.memory.owner(address).expect("just allocated");
        let object = self.cx.memory.object(slot).id;
        self.cx.event(EventKind::Alloc { object });
        self.note(Done::Value(u128::from(address)));
        Ok(address)
    }

    fn free(&mut self, address: u64) -> Outcome<()> {
        if address == 0 || self.replay().is_some() {
            return Ok(());
        }
        let Some((slot, offset)) = self.cx.memory.owner(address) else {
            let miss = self.cx.memory.miss(address, 1);
            let kind = match miss.kind {
                ProblemKind::UseAfterFree => ProblemKind::DoubleFree,
                _ => ProblemKind::InvalidFree,
            };
            if let Some(loc) = miss.dead {
                self.cx.event(EventKind::Access { loc, kind: AccessKind::Write });
            }
            self.cx.crash(kind, miss.object, miss.detail);
            return Err(Stop);
        };
        let object = self.cx.memory.object(slot);
        let (kind, id, size) = (object.kind, object.id, object.size);
        if kind != ObjectKind::Heap || offset != 0 {
            let id = self.cx.memory.identify(slot);
            let at = raddle_event::Addr { object: id, offset: u32::try_from(offset).unwrap_or(0) };
            let detail = match kind {
                ObjectKind::Heap => format!("{} bytes into the block", offset as i64),
                _ => "not a heap block".to_owned(),
            };
            self.cx.crash(ProblemKind::InvalidFree, Some(at), detail);
            return Err(Stop);
        }
        if size > 0 {
            self.access(At { slot, offset: 0 }, size as usize, AccessKind::Write)?;
        }
        self.cx.event(EventKind::Free { object: id });
        self.cx.forget_sync(slot);
        self.cx.memory.release(slot);
        self.note(Done::Unit);
        Ok(())
    }

    fn block_size(&mut self, address: u64) -> Option<u64> {
        match self.replay() {
            Some(Done::Value(size)) => return Some(size as u64),
            Some(_) => return None,
            None => {}
        }
        let (slot, offset) = self.cx.memory.owner(address)?;
        let object = self.cx.memory.object(slot);
        let size = (object.kind == ObjectKind::Heap && offset == 0).then_some(object.size);
        self.note(size.map_or(Done::Missing, |size| Done::Value(u128::from(size))));
        size
    }

    fn library_block(&mut self, key: &str, initial: &[u8]) -> Outcome<u64> {
        self.cx.library_block(key, initial).map_err(|Halt| Stop)
    }

    fn set_errno(&mut self, value: i32) {
        self.wrote_errno = true;
        self.cx.set_errno(value);
    }

    fn streams_are_memory(&self) -> bool {
        self.cx.image.shared.writes(raddle_libmodel::memory::Library::Stream)
    }

    fn errno_address(&mut self) -> Outcome<u64> {
        self.cx.errno_address().map_err(|Halt| Stop)
    }

    fn output(&mut self, descriptor: i32, bytes: &[u8]) {
        if self.replay().is_some() {
            return;
        }
        if matches!(descriptor, 1 | 2) {
            let room = self.cx.world.options.output_limit.saturating_sub(self.cx.world.output.len());
            self.cx.world.output.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        let sum = bytes
            .iter()
            .fold(self.cx.world.state.ambient ^ 0x0071, |sum, &byte| mix(sum, u64::from(byte) + 3));
        self.cx.world.state.ambient = sum;
        self.note(Done::Unit);
    }

    fn take_input(&mut self, limit: usize) -> Vec<u8> {
        if let Some(Done::Bytes(bytes)) = self.replay() {
            return bytes;
        }
        let options = self.cx.world.options.clone();
        let start = self.cx.world.state.input_taken.min(options.stdin.len());
        let end = start.saturating_add(limit).min(options.stdin.len());
        self.cx.world.state.input_taken = end;
        self.cx.world.state.ambient = mix(self.cx.world.state.ambient ^ 0x1E, end as u64 + 1);
        let bytes = options.stdin[start..end].to_vec();
        self.note(Done::Bytes(bytes.clone()));
        bytes
    }

    fn now(&mut self) -> u64 {
        if let Some(Done::Value(time)) = self.replay() {
            return time as u64;
        }
        self.cx.assume("A-TIME");
        self.cx.world.state.time += 1000;
        let time = self.cx.world.state.time;
        self.cx.world.state.ambient = mix(self.cx.world.state.ambient ^ 0x7173, time | 1);
        self.note(Done::Value(u128::from(time)));
        time
    }

    fn sleep(&mut self, nanoseconds: u64) {
        if self.replay().is_none() {
            self.cx.world.state.time = self.cx.world.state.time.saturating_add(nanoseconds);
            self.note(Done::Unit);
        }
    }

    fn state(&mut self) -> &mut LibState {
        self.used_state = true;
        if self.before.is_none() {
            self.before = Some(self.cx.world.state.libc.clone());
        }
        &mut self.cx.world.state.lasting_mut().libc
    }

    fn channels(&mut self) -> &mut Channels {
        Arc::make_mut(&mut self.cx.world.state.lasting_mut().channels)
    }

    fn is_operation(&self) -> bool {
        self.cx.world.operating == Operating::OnChannel
    }

    fn is_channel(&mut self, descriptor: i32) -> bool {
        self.cx.world.state.channels.is_open(descriptor)
    }

    fn pass(&mut self, stream: usize, places: (u32, u32), passing: Passing) -> Outcome<()> {
        self.cx.pass(stream, places, passing).map_err(|Halt| Stop)
    }

    fn thread_number(&self) -> u32 {
        self.cx.thread.id.0
    }

    fn thread_count(&self) -> u32 {
        self.cx.world.state.lives().len() as u32
    }

    fn variable(&mut self, name: &str) -> Option<u64> {
        let program = &self.cx.image.program;
        let symbol = program.strings.lookup(name)?;
        let (id, _) =
            program.globals.iter().find(|(_, global)| global.symbol == symbol && global.init.is_none())?;
        Some(self.cx.image.globals[id.0 as usize])
    }

    fn environment(&self, name: &str) -> Option<String> {
        self.cx.world.options.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
    }

    /// Without a journal the call begins again, with the library as it was.
    fn choose(&mut self, variants: u32) -> Outcome<u32> {
        if let Some(Done::Value(choice)) = self.replay() {
            return Ok(choice as u32);
        }
        self.used_state = true;
        let phase = match &self.journal {
            Some(journal) => {
                self.cx.world.state.lasting_mut().libc = journal.library.clone();
                Phase::Library(Arc::new(journal.clone()))
            }
            None => {
                let made = match &self.cx.thread.phase {
                    Phase::Chosen(made) => Arc::clone(made),
                    _ => Arc::default(),
                };
                if let Some(choice) = made.get(self.chosen) {
                    self.chosen += 1;
                    return Ok(*choice);
                }
                if let Some(before) = self.before.take() {
                    self.cx.world.state.lasting_mut().libc = before;
                }
                Phase::Chosen(made)
            }
        };
        self.cx.thread.phase = phase;
        self.cx.stand(OpKind::Choose { variants }, Action::Decide);
        Err(Stop)
    }

    fn failures(&mut self) -> &mut u32 {
        &mut self.cx.thread.failures
    }

    fn outside(&mut self, path: &[u8]) -> Option<Arc<Vec<u8>>> {
        self.cx.world.options.files.get(path)
    }

    fn outside_folder(&mut self, path: &[u8]) -> Option<Arc<Vec<FolderEntry>>> {
        self.cx.world.options.files.folder(path)
    }

    fn outside_link(&mut self, path: &[u8], links: Links) -> Option<Arc<Vec<u8>>> {
        self.cx.world.options.files.link(path, links)
    }

    fn limit(&mut self, reason: &str) -> Stop {
        self.cx.limit(reason);
        Stop
    }

    fn assume(&mut self, id: &'static str) {
        self.cx.assume(id);
    }

    fn fail(&mut self, kind: ProblemKind, detail: String) -> Stop {
        self.cx.crash(kind, None, detail);
        Stop
    }

    fn unsupported(&mut self, reason: String) -> Stop {
        self.cx.unsupported(reason);
        Stop
    }

    fn call_back(&mut self, function: u64, args: &[(u128, Ty)]) -> Outcome<u128> {
        if let Some(Done::Value(result)) = self.replay() {
            return Ok(result);
        }
        let target = self.cx.function_at(function).map_err(|Halt| Stop)?;
        let Some(target) = self.cx.image.entry(target) else {
            let name = self.cx.image.name(target).to_owned();
            self.cx.unsupported(format!("a callback to `{name}`, which has no body"));
            return Err(Stop);
        };
        if self.journal.is_some() {
            self.request = Some(Request::CallBack(function, args.to_vec()));
            return Err(Stop);
        }
        if self.cx.thread.nesting >= NESTING_LIMIT {
            self.cx.limit("library callbacks inside each other");
            return Err(Stop);
        }
        let depth = self.cx.thread.frames.len();
        self.cx.enter_with(target, args, OnReturn::Nested).map_err(|Halt| Stop)?;
        self.cx.thread.nesting += 1;
        let ran = self.cx.run_nested(depth);
        self.cx.thread.nesting -= 1;
        if ran.is_err() {
            let ends = matches!(&self.cx.thread.stand, Stand::Before { action: Action::Exit(_), .. });
            if !ends {
                self.cx.unsupported("a library callback that synchronises".to_owned());
            }
            return Err(Stop);
        }
        Ok(self.cx.world.nested_result)
    }

    fn exit(&mut self, code: i32) -> Stop {
        self.request = Some(Request::Exit(code));
        Stop
    }

    fn killed(&mut self, signal: i32) -> Stop {
        self.cx.end_with(Ending::Exit(128 + signal));
        Stop
    }

    fn at_exit(&mut self, function: u64) {
        if self.replay().is_none() {
            self.cx.world.state.lasting_mut().at_exit.push(function);
            self.note(Done::Unit);
        }
    }
}
