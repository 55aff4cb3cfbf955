//! The memory effects as a table: complete, and consistent in itself. That they are true is checked against the interpreter, by its
//! tests.

use raddle_base::IdVec;
use raddle_ir::{DataModel, FunctionId};
use raddle_libmodel::memory::{
    Access, Atomicity, Base, Ending, Extent, Library, Life, MemoryEffect, Reach, Region, Value, When, entries,
};
use raddle_libmodel::{Arg, Effect, LibcFn, Meaning, Models, lookup, memory, rows};
use std::collections::BTreeSet;

fn named_by_rows() -> BTreeSet<&'static str> {
    rows()
        .filter_map(|row| match row.effect {
            Effect::Libc(function) => Some(function.0),
            _ => None,
        })
        .collect()
}

#[test]
fn every_library_function_has_one_entry() {
    let mut seen = BTreeSet::new();
    for (name, effect) in entries() {
        assert!(seen.insert(name), "two entries for {name}");
        assert_eq!(*memory(LibcFn(name)), effect);
    }
    assert_eq!(seen, named_by_rows());
}

fn all_effects() -> impl Iterator<Item = (&'static str, MemoryEffect)> {
    rows().map(|row| (row.name, row.effect.memory().into_owned()))
}

/// Cells that only the library sees.
fn is_hidden(region: Region) -> bool {
    matches!(region.base, Base::ThreadResult(_) | Base::Specific(_))
        || region == Region::from(raddle_libmodel::memory::Library::Environment)
}

#[test]
fn what_is_stored_is_written() {
    for (name, effect) in all_effects() {
        for store in &effect.stores {
            let written = effect.touches.iter().any(|touch| {
                touch.region == store.to && matches!(touch.access, Access::Write | Access::Update)
            });
            // Maps are filled before the program sees them.
            let made =
                store.to == Region::from(Base::Fresh) && effect.returns.contains(&Value::Into(store.to));
            assert!(written || made || is_hidden(store.to), "{name}: {store:?}");
        }
    }
}

#[test]
fn fresh_blocks_go_somewhere() {
    let fresh = Region::from(Base::Fresh);
    for (name, effect) in all_effects() {
        let handed = effect.returns.contains(&Value::Into(fresh))
            || effect.stores.iter().any(|store| store.value == Value::Into(fresh));
        let used = handed || effect.touches.iter().any(|touch| touch.region.base == Base::Fresh);
        match effect.allocates {
            None => assert!(!used, "{name}"),
            Some(block) => assert_eq!(handed, block.life == Life::Handed, "{name}"),
        }
    }
}

/// A pointer that leaves the call other than as its result is what `may_keep_pointers` is about; single bytes that go to a file are none.
#[test]
fn kept_pointers_are_known() {
    let derived = |value: Value| match value {
        Value::Arg(_) => true,
        Value::Into(region) => matches!(region.base, Base::Arg(_)),
        Value::ContentOf(_) | Value::Outside | Value::NewThread | Value::ThisThread => false,
    };
    for (name, effect) in entries() {
        let mut kept = effect.stores.iter().filter(|store| store.to != Library::Written.into());
        let keeps = kept.any(|store| derived(store.value)) || !effect.calls.is_empty();
        assert_eq!(LibcFn(name).may_keep_pointers(), keeps, "{name}");
    }
}

#[test]
fn extents_follow_the_data_model() {
    let endptr = memory(LibcFn("strtol")).touches[1];
    assert_eq!((endptr.region, endptr.access), (Arg(1).into(), Access::Write));
    assert_eq!(endptr.extent.bytes(DataModel::Lp64), Some(8));
    assert_eq!(endptr.extent.bytes(DataModel::Ilp32), Some(4));
    assert_eq!(Extent::CString.bytes(DataModel::Lp64), None);
}

fn effect_of(name: &str) -> MemoryEffect {
    lookup(name).unwrap_or_else(|| panic!("{name}")).effect.memory().into_owned()
}

#[test]
fn effects_that_are_no_library_functions() {
    let join = effect_of("pthread_join");
    assert_eq!(join.touches.len(), 1);
    assert_eq!(join.touches[0].extent.bytes(DataModel::Ilp32), Some(4));
    assert_eq!(join.stores[0].value, Value::ContentOf(Base::ThreadResult(Some(Arg(0))).into()));
    assert_eq!(effect_of("thrd_join").stores, []);
    assert_eq!(effect_of("pthread_create").calls[0].when, When::NewThread);
    let lock = effect_of("pthread_mutex_lock");
    let used: Vec<_> = lock.touches.iter().map(|one| (one.region, one.access, one.atomicity)).collect();
    assert_eq!(used, [(Arg(0).into(), Access::Read, Atomicity::Operation)]);
    assert_eq!(lock.touches[0].extent.bytes(DataModel::Lp64), Some(40));
    let destroy = effect_of("pthread_mutex_destroy");
    assert_eq!((destroy.touches[0].access, destroy.touches[0].atomicity), (Access::Write, Atomicity::Life));
    assert_eq!(effect_of("pthread_exit").ending, Ending::EndsThread);
    assert_eq!(effect_of("exit").ending, Ending::Exits);
    assert_eq!(effect_of("abort").ending, Ending::Aborts);
    let exchange = effect_of("__atomic_exchange");
    assert_eq!(exchange.touches.iter().filter(|touch| touch.access == Access::Update).count(), 1);
    let line = effect_of("getline");
    let behind = Region { base: Base::Arg(Arg(0)), reach: Reach::Behind };
    assert!(line.touches.iter().any(|touch| touch.region == behind && touch.access == Access::Free));
}

#[test]
fn copies_of_functions_mean_the_same() {
    let known = lookup("strlen").expect("a row").effect;
    let meanings = vec![Meaning::Body, Meaning::Effect(known, vec!["A-IO"]), Meaning::Unknown];
    let models = Models { meanings: IdVec::from_vec(meanings.clone()) };
    let origin = [1, 0, 2, 1, 0].map(FunctionId).to_vec();
    let expanded = models.of_expanded(&IdVec::from_vec(origin));
    let expected: Vec<Meaning> = [1, 0, 2, 1, 0].map(|index: usize| meanings[index].clone()).to_vec();
    assert_eq!(expanded.meanings.as_slice(), expected);
}
