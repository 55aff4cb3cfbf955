//! Memory effects of everything that is no ordinary library function: threads, semaphores, keys, atomic calls, verifier functions.
//! A call on a synchronisation object counts as an atomic read of it: calls do not race with each other, a plain write to the object races
//! with all of them (POSIX XBD 4.12; C11 7.26.4 leaves what is inside to the library). To initialise or destroy the object is such a
//! write: POSIX leaves undefined what happens when another thread uses it meanwhile. A plain read is not held against anybody: it
//! harms nobody, and what a copy of the object is worth is another question. Deadlines and attributes are read.

use super::build::{A0, A1, A2, A3, WORD, by_model, bytes, nothing, words};
use super::{Access, Base, Ending, Extent, Fill, Library, MemoryEffect, Value, When, memory};
use crate::{
    Arg, AtomicCall, CondOp, Effect, Handlers, How, KernelAtomic, KernelResult, KernelWidth, ProcessOp,
    Returns, SemOp, SizedAtomic, SleepUnit, SyncKind, ThreadOp, TlsOp, VerifierOp, attr_bytes,
};
use raddle_ir::DataModel;
use std::borrow::Cow;

/// `int`, `unsigned`.
const INT: Extent = bytes(4);

/// `pthread_attr_t`.
pub(super) const THREAD_ATTRIBUTES: Extent =
    by_model(attr_bytes(DataModel::Lp64) as u32, attr_bytes(DataModel::Ilp32) as u32);

impl Effect {
    /// What a call with this effect does to memory. Nothing for what is unsupported: reaching it is a gap anyway.
    pub fn memory(&self) -> Cow<'static, MemoryEffect> {
        Cow::Owned(match *self {
            Effect::Libc(function) => return Cow::Borrowed(memory(function)),
            Effect::SyncInit { kind, object, .. } => initialisation(kind).renews(object, kind.extent()),
            Effect::SyncDestroy { kind, object, .. } => nothing().renews(object, kind.extent()),
            Effect::Lock { family, lock, how, .. } => deadline(how).uses(lock, family.kind().extent()),
            Effect::Unlock { family, lock, .. } => nothing().uses(lock, family.kind().extent()),
            Effect::MutexConsistent { mutex } => nothing().uses(mutex, SyncKind::Mutex.extent()),
            Effect::Cond(CondOp::Wait { cond, mutex, how }, _) => {
                deadline(how).uses(cond, SyncKind::Cond.extent()).uses(mutex, SyncKind::Mutex.extent())
            }
            Effect::Cond(CondOp::Signal { cond } | CondOp::Broadcast { cond }, _) => {
                nothing().uses(cond, SyncKind::Cond.extent())
            }
            Effect::BarrierWait { barrier } => nothing().uses(barrier, SyncKind::Barrier.extent()),
            Effect::Thread(op, returns) => thread(op, returns),
            Effect::Sem(op, _) => semaphore(op),
            Effect::Once { once, function, .. } => {
                nothing().uses(once, INT).calls(function, vec![], When::Now)
            }
            Effect::Tls(op, _) => specific(op),
            Effect::Atomic(call) => atomic(call),
            Effect::Verifier(op) => verifier(op),
            Effect::Process(op) => process(op),
            Effect::Nothing { .. } | Effect::Unsupported { .. } => nothing(),
        })
    }
}

impl SyncKind {
    fn extent(self) -> Extent {
        by_model(self.bytes(DataModel::Lp64) as u32, self.bytes(DataModel::Ilp32) as u32)
    }
}

/// The attribute object, always argument 1, is read. A C11 mutex, a spin lock and a semaphore have numbers instead.
fn initialisation(kind: SyncKind) -> MemoryEffect {
    match kind {
        SyncKind::Mutex | SyncKind::Cond | SyncKind::Barrier => nothing().reads(A1, INT),
        SyncKind::Rwlock => nothing().reads(A1, bytes(8)),
        SyncKind::Spin
        | SyncKind::Semaphore
        | SyncKind::C11Mutex
        | SyncKind::C11Cond
        | SyncKind::KernelLock
        | SyncKind::KernelSemaphore => nothing(),
    }
}

fn deadline(how: How) -> MemoryEffect {
    match how {
        How::Timed { deadline: Some(deadline) } => nothing().reads(deadline, words(2)),
        How::Timed { deadline: None } | How::Block | How::Try => nothing(),
    }
}

fn thread(op: ThreadOp, returns: Returns) -> MemoryEffect {
    match op {
        ThreadOp::Create { id, attribute, function, argument } => {
            let effect = nothing().writes(id, WORD).stores(id, Value::NewThread).calls(
                function,
                vec![Value::Arg(argument)],
                When::NewThread,
            );
            match attribute {
                Some(attribute) => effect.reads(attribute, THREAD_ATTRIBUTES),
                None => effect,
            }
        }
        ThreadOp::CreateReturning { function, argument } => {
            nothing().returns(Value::NewThread).calls(function, vec![Value::Arg(argument)], When::NewThread)
        }
        ThreadOp::Join { result: Some(result), .. } if returns == Returns::Thrd => {
            nothing().writes(result, INT)
        }
        ThreadOp::Join { thread, result: Some(result), how } => {
            deadline(how).writes(result, WORD).copies(Base::ThreadResult(Some(thread)), result)
        }
        ThreadOp::Exit { result } => {
            let effect = MemoryEffect { ending: Ending::EndsThread, ..nothing() };
            match result {
                Some(result) => effect.stores(Base::ThreadResult(None), Value::Arg(result)),
                None => effect,
            }
        }
        ThreadOp::SelfId => nothing().returns(Value::ThisThread),
        ThreadOp::SetCancel { old, .. } => nothing().writes(old, INT),
        ThreadOp::Sleep { amount, unit: SleepUnit::Timespec { remainder } } => {
            nothing().reads(amount, words(2)).writes(remainder, words(2))
        }
        ThreadOp::Join { result: None, .. }
        | ThreadOp::Sleep { .. }
        | ThreadOp::Detach { .. }
        | ThreadOp::Equal { .. }
        | ThreadOp::Cancel { .. }
        | ThreadOp::TestCancel
        | ThreadOp::CleanupRegister
        | ThreadOp::CleanupUnregister
        | ThreadOp::Yield => nothing(),
    }
}

fn semaphore(op: SemOp) -> MemoryEffect {
    match op {
        SemOp::GetValue { sem, out } => nothing().uses(sem, INT).writes(out, INT),
        SemOp::Open { name, .. } => nothing().reads(name, Extent::CString).returns_into(Library::Semaphore),
        SemOp::Wait { sem, how } => deadline(how).uses(sem, INT),
        SemOp::Post { sem } => nothing().uses(sem, INT),
    }
}

fn specific(op: TlsOp) -> MemoryEffect {
    match op {
        TlsOp::KeyCreate { key, destructor } => {
            let passed = Value::ContentOf(Base::Specific(key).into());
            nothing().writes(key, INT).calls(destructor, vec![passed], When::ThreadExit)
        }
        TlsOp::Get { key } => nothing().returns(Value::ContentOf(Base::Specific(key).into())),
        TlsOp::Set { key, value } => nothing().stores(Base::Specific(key), Value::Arg(value)),
        TlsOp::KeyDelete { .. } => nothing(),
    }
}

fn atomic(call: AtomicCall) -> MemoryEffect {
    let generic = Extent::Arg(A0);
    match call {
        AtomicCall::LoadGeneric => {
            nothing().atomic(A1, Access::Read, generic).writes(A2, generic).copies(A1, A2)
        }
        AtomicCall::StoreGeneric => {
            nothing().reads(A2, generic).atomic(A1, Access::Write, generic).copies(A2, A1)
        }
        AtomicCall::ExchangeGeneric => nothing()
            .reads(A2, generic)
            .atomic(A1, Access::Update, generic)
            .writes(A3, generic)
            .copies(A2, A1)
            .copies(A1, A3),
        AtomicCall::CompareExchangeGeneric => nothing()
            .reads(A3, generic)
            .changes(A2, generic)
            .atomic(A1, Access::Update, generic)
            .copies(A3, A1)
            .copies(A1, A2),
        AtomicCall::Sized { op, bytes: width } => sized(op, bytes(u32::from(width))),
        AtomicCall::TestAndSet { .. } => nothing().atomic(A0, Access::Update, bytes(1)),
        AtomicCall::Clear { .. } => nothing().atomic(A0, Access::Write, bytes(1)),
        AtomicCall::Fence { .. } => nothing(),
        AtomicCall::Kernel { op, target, width, .. } => {
            let width = match width {
                KernelWidth::Int => INT,
                KernelWidth::Long => WORD,
                KernelWidth::Quad => bytes(8),
            };
            kernel(op, target, width)
        }
    }
}

fn sized(op: SizedAtomic, width: Extent) -> MemoryEffect {
    let old = Value::ContentOf(A0.into());
    match op {
        SizedAtomic::Load => nothing().atomic(A0, Access::Read, width).returns(old),
        SizedAtomic::Store => nothing().atomic(A0, Access::Write, width).stores(A0, Value::Arg(A1)),
        SizedAtomic::Exchange => {
            nothing().atomic(A0, Access::Update, width).stores(A0, Value::Arg(A1)).returns(old)
        }
        SizedAtomic::CompareExchange => nothing()
            .atomic(A0, Access::Update, width)
            .changes(A1, width)
            .stores(A0, Value::Arg(A2))
            .copies(A0, A1),
        // The result of arithmetic on a pointer points into what either operand points into.
        SizedAtomic::Fetch(_) | SizedAtomic::FetchNew(_) => nothing()
            .atomic(A0, Access::Update, width)
            .stores(A0, Value::Arg(A1))
            .returns(old)
            .returns(Value::Arg(A1)),
    }
}

fn kernel(op: KernelAtomic, target: Arg, width: Extent) -> MemoryEffect {
    let old = Value::ContentOf(target.into());
    let update = nothing().atomic(target, Access::Update, width);
    match op {
        KernelAtomic::Read => nothing().atomic(target, Access::Read, width).returns(old),
        KernelAtomic::Set { value } => {
            nothing().atomic(target, Access::Write, width).stores(target, Value::Arg(value))
        }
        KernelAtomic::Exchange { value } => update.stores(target, Value::Arg(value)).returns(old),
        KernelAtomic::CompareExchange { new, .. } => update.stores(target, Value::Arg(new)).returns(old),
        KernelAtomic::Add { value, result, .. } => {
            let effect = match value {
                Some(value) => update.stores(target, Value::Arg(value)),
                None => update,
            };
            match result {
                KernelResult::New | KernelResult::Old => effect.returns(old),
                KernelResult::Nothing | KernelResult::NewIsZero | KernelResult::NewIsNegative => effect,
            }
        }
        KernelAtomic::AddUnless { value: Some(value), .. } => update.stores(target, Value::Arg(value)),
        KernelAtomic::AddUnless { value: None, .. } => update,
    }
}

fn verifier(op: VerifierOp) -> MemoryEffect {
    match op {
        VerifierOp::NondetPointer => nothing().returns_block(bytes(64), Fill::Zero),
        VerifierOp::Error => MemoryEffect { ending: Ending::Aborts, ..nothing() },
        VerifierOp::Assert { .. }
        | VerifierOp::Assume { .. }
        | VerifierOp::AtomicBegin
        | VerifierOp::AtomicEnd
        | VerifierOp::Nondet { .. }
        | VerifierOp::NondetFloat { .. } => nothing(),
    }
}

fn process(op: ProcessOp) -> MemoryEffect {
    match op {
        // All streams are flushed (C11 7.22.4.4).
        ProcessOp::Exit { handlers: Handlers::Run, .. } => {
            MemoryEffect { ending: Ending::Exits, ..nothing().locks(Library::Stream) }
        }
        ProcessOp::Exit { handlers: Handlers::Skip, .. }
        | ProcessOp::Abort
        | ProcessOp::AssertFail { .. } => MemoryEffect { ending: Ending::Aborts, ..nothing() },
    }
}
