//! What is remembered of every object of a run, dead ones included: where it came from and how to call it.

use raddle_base::{SiteId, Symbol};
use raddle_event::{ObjectId, ThreadId};
use raddle_ir::{DebugTypeId, GlobalId};
use raddle_machine::ObjectKind;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub kind: ObjectKind,
    pub name: Name,
    pub size: u64,
    pub thread: ThreadId,
    pub site: SiteId,
    pub stack: StackId,
    /// The declared type; for heap blocks that of the elements, where the program says it.
    pub ty: Option<DebugTypeId>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Name {
    Global(GlobalId),
    Local(Option<Symbol>),
    /// `malloc(40)`, `errno`.
    Label(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackId(u32);

impl StackId {
    pub const EMPTY: StackId = StackId(0);
}

/// What each object is. An id names the thread that made the object and the how-manieth of its objects it is, so that it does not depend
/// on what other threads did before: partial-order reduction compares objects over runs. Labels and stacks are interned and
/// outlive a reset (there are few).
#[derive(Clone, Debug)]
pub(crate) struct Records {
    by_thread: Vec<Vec<Record>>,
    /// Whose the records are, in order of creation.
    makers: Vec<u32>,
    labels: Vec<Arc<str>>,
    label_index: HashMap<Arc<str>, u32>,
    stacks: Vec<Arc<[SiteId]>>,
    stack_index: HashMap<Arc<[SiteId]>, u32>,
}

/// Of an id; the rest is the thread.
const INDEX_BITS: u32 = 22;

impl Records {
    pub fn new() -> Self {
        let empty: Arc<[SiteId]> = Arc::from([]);
        Self {
            by_thread: Vec::new(),
            makers: Vec::new(),
            labels: Vec::new(),
            label_index: HashMap::new(),
            stacks: vec![empty.clone()],
            stack_index: HashMap::from([(empty, 0)]),
        }
    }

    pub fn push(&mut self, record: Record) -> ObjectId {
        let thread = record.thread.0;
        if self.by_thread.len() <= thread as usize {
            self.by_thread.resize(thread as usize + 1, Vec::new());
        }
        let own = &mut self.by_thread[thread as usize];
        assert!(
            thread < 1 << (32 - INDEX_BITS) && own.len() < (1 << INDEX_BITS) - 2,
            "ids of objects are used up"
        );
        let id = ObjectId(thread << INDEX_BITS | own.len() as u32);
        own.push(record);
        self.makers.push(thread);
        id
    }

    pub fn get(&self, object: ObjectId) -> Option<&Record> {
        let own = self.by_thread.get((object.0 >> INDEX_BITS) as usize)?;
        own.get((object.0 & ((1 << INDEX_BITS) - 1)) as usize)
    }

    pub fn len(&self) -> usize {
        self.makers.len()
    }

    pub fn truncate(&mut self, len: usize) {
        for maker in self.makers.drain(len.min(self.makers.len())..) {
            self.by_thread[maker as usize].pop();
        }
    }

    pub fn label(&mut self, text: &str) -> Name {
        if let Some(&index) = self.label_index.get(text) {
            return Name::Label(index);
        }
        let index = self.labels.len() as u32;
        let text: Arc<str> = Arc::from(text);
        self.labels.push(text.clone());
        self.label_index.insert(text, index);
        Name::Label(index)
    }

    pub fn label_text(&self, index: u32) -> &str {
        &self.labels[index as usize]
    }

    pub fn stack(&mut self, sites: &[SiteId]) -> StackId {
        if let Some(&index) = self.stack_index.get(sites) {
            return StackId(index);
        }
        let index = self.stacks.len() as u32;
        let sites: Arc<[SiteId]> = Arc::from(sites);
        self.stacks.push(sites.clone());
        self.stack_index.insert(sites, index);
        StackId(index)
    }

    pub fn stack_sites(&self, id: StackId) -> &[SiteId] {
        &self.stacks[id.0 as usize]
    }
}
