//! Locks and other synchronisation: calls removed, swapped, moved, replaced; objects initialised in another way or overwritten.

use super::{Edit, any, plain};
use crate::mutants::shape::{Call, Shape, Statement};
use crate::random::Random;

const FAMILIES: [&str; 16] = [
    "pthread_mutex_",
    "pthread_rwlock_",
    "pthread_spin_",
    "pthread_cond_",
    "pthread_barrier_",
    "pthread_once",
    "sem_",
    "mtx_",
    "cnd_",
    "spin_",
    "mutex_",
    "atomic_",
    "__atomic_",
    "__sync_",
    "call_once",
    "__VERIFIER_atomic",
];

fn synchronises(name: &str) -> bool {
    FAMILIES.iter().any(|family| name.starts_with(family))
        || ["lock", "acquire", "release", "enter", "leave"].iter().any(|word| name.contains(word))
}

fn releases(name: &str) -> bool {
    ["unlock", "release", "leave", "exit", "sem_post", "atomic_end"].iter().any(|word| name.contains(word))
}

fn acquires(name: &str) -> bool {
    let words = ["lock", "acquire", "enter", "sem_wait", "atomic_begin"];
    !releases(name) && synchronises(name) && words.iter().any(|word| name.contains(word))
}

/// Statements that are one such call, with it.
fn calls<'a, 's>(shape: &'a Shape<'s>, wanted: fn(&str) -> bool) -> Vec<(&'a Statement, Call<'s>)> {
    let called = |statement| Some((statement, shape.call_of(statement)?));
    plain(shape).into_iter().filter_map(called).filter(|(_, call)| wanted(call.name)).collect()
}

fn first_argument<'s>(shape: &Shape<'s>, call: &Call<'s>) -> &'s str {
    call.arguments.first().map_or("", |argument| shape.text_of(argument))
}

pub(super) fn drop_call(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let calls = calls(shape, synchronises);
    let (statement, _) = any(&calls, random)?;
    Edit::one(shape.bytes(&statement.tokens), ";")
}

/// An acquisition and the next release of the same lock in the function.
fn pairs<'a, 's>(shape: &'a Shape<'s>) -> Vec<[(&'a Statement, Call<'s>); 2]> {
    let mut pairs = Vec::new();
    for (first, acquire) in calls(shape, acquires) {
        let matching = calls(shape, releases).into_iter().find(|(second, release)| {
            second.function == first.function
                && second.tokens.start > first.tokens.start
                && first_argument(shape, &acquire) == first_argument(shape, release)
        });
        if let Some(second) = matching {
            pairs.push([(first, acquire), second]);
        }
    }
    pairs
}

pub(super) fn drop_pair(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let pairs = pairs(shape);
    let pair = any(&pairs, random)?;
    Edit::many(pair.iter().map(|(statement, _)| (shape.bytes(&statement.tokens), ";".to_owned())).collect())
}

/// One call, a pair, or all calls of the function get another object of the same type.
pub(super) fn swap_lock(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let calls = calls(shape, synchronises);
    let mut choices = Vec::new();
    for (index, (_, call)) in calls.iter().enumerate() {
        for token in call.arguments.iter().take(2).flat_map(Clone::clone) {
            let Some(own) = shape.visible(token).find(|v| v.name == shape.word(token)) else { continue };
            let others = shape.visible(token).filter(|v| {
                v.name != own.name && (&v.base, v.stars, v.is_array) == (&own.base, own.stars, own.is_array)
            });
            choices.extend(others.map(|other| (index, token, own.name.clone(), other.name.clone())));
        }
    }
    let (index, token, own, other) = any(&choices, random)?.clone();
    let mut changed = vec![token];
    if random.chance(60) {
        let function = calls[index].0.function;
        let same = calls.iter().filter(|(statement, _)| statement.function == function);
        changed = same
            .flat_map(|(statement, _)| statement.tokens.clone())
            .filter(|at| shape.word(*at) == own)
            .collect();
    }
    Edit::many(changed.into_iter().map(|at| (shape.tokens[at].at.clone(), other.clone())).collect())
}

/// A lock call changes places with the statement beside it.
pub(super) fn move_out(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let is_lock = |statement: &Statement| {
        shape.call_of(statement).is_some_and(|call| acquires(call.name) || releases(call.name))
    };
    let neighbours: Vec<_> = shape
        .statements
        .windows(2)
        .filter(|pair| {
            pair[0].tokens.end == pair[1].tokens.start
                && !pair[1].is_declaration
                && is_lock(&pair[0]) != is_lock(&pair[1])
        })
        .collect();
    let pair = any(&neighbours, random)?;
    super::statements::exchanged(shape, &pair[0], &pair[1])
}

const OTHER_CALLS: [(&str, &str); 24] = [
    ("pthread_mutex_lock", "pthread_mutex_trylock"),
    ("pthread_mutex_lock", "pthread_mutex_unlock"),
    ("pthread_mutex_unlock", "pthread_mutex_lock"),
    ("pthread_mutex_unlock", "pthread_mutex_destroy"),
    ("pthread_mutex_trylock", "pthread_mutex_lock"),
    ("pthread_rwlock_wrlock", "pthread_rwlock_rdlock"),
    ("pthread_rwlock_wrlock", "pthread_rwlock_trywrlock"),
    ("pthread_rwlock_rdlock", "pthread_rwlock_wrlock"),
    ("pthread_rwlock_rdlock", "pthread_rwlock_tryrdlock"),
    ("pthread_spin_lock", "pthread_spin_trylock"),
    ("pthread_cond_signal", "pthread_cond_broadcast"),
    ("pthread_cond_broadcast", "pthread_cond_signal"),
    ("pthread_cond_signal", "pthread_cond_destroy"),
    ("sem_wait", "sem_trywait"),
    ("sem_wait", "sem_post"),
    ("sem_post", "sem_trywait"),
    ("mtx_lock", "mtx_trylock"),
    ("mtx_trylock", "mtx_lock"),
    ("cnd_signal", "cnd_broadcast"),
    ("atomic_exchange", "atomic_fetch_add"),
    ("atomic_fetch_add", "atomic_fetch_or"),
    ("atomic_compare_exchange_strong", "atomic_compare_exchange_weak"),
    ("atomic_compare_exchange_strong_explicit", "atomic_compare_exchange_weak_explicit"),
    ("atomic_compare_exchange_weak", "atomic_compare_exchange_strong"),
];

pub(super) fn other_call(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let mut choices = Vec::new();
    for call in shape.calls(0..shape.tokens.len()) {
        let others = OTHER_CALLS.iter().filter(|(from, _)| *from == call.name);
        choices.extend(others.map(|(_, to)| (call.at, *to)));
    }
    let (at, to) = any(&choices, random)?;
    Edit::one(shape.tokens[*at].at.clone(), *to)
}

const INITIALISERS: [(&str, &str); 11] = [
    ("PTHREAD_MUTEX_INITIALIZER", "PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP"),
    ("PTHREAD_MUTEX_INITIALIZER", "PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP"),
    ("PTHREAD_MUTEX_INITIALIZER", "PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP"),
    ("PTHREAD_RWLOCK_INITIALIZER", "PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP"),
    ("PTHREAD_MUTEX_NORMAL", "PTHREAD_MUTEX_ERRORCHECK"),
    ("PTHREAD_MUTEX_RECURSIVE", "PTHREAD_MUTEX_NORMAL"),
    ("PTHREAD_MUTEX_RECURSIVE", "PTHREAD_MUTEX_ERRORCHECK"),
    ("PTHREAD_MUTEX_ERRORCHECK", "PTHREAD_MUTEX_RECURSIVE"),
    ("mtx_plain", "mtx_plain | mtx_recursive"),
    ("mtx_plain", "mtx_timed"),
    ("mtx_recursive", "mtx_plain"),
];

pub(super) fn initialiser(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let mut choices = Vec::new();
    for at in 0..shape.tokens.len() {
        let others = INITIALISERS.iter().filter(|(from, _)| *from == shape.word(at));
        choices.extend(others.map(|(_, to)| (at, *to)));
    }
    let (at, to) = any(&choices, random)?;
    let mut edit = Edit::one(shape.tokens[*at].at.clone(), *to)?;
    edit.needs_headers = true;
    Some(edit)
}

/// By type of the object.
const WRITES: [(&str, &[&str]); 8] = [
    (
        "pthread_mutex_t",
        &[
            "$ = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;",
            "$ = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;",
            "$ = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;",
            "memset(&$, 0, sizeof $);",
            "pthread_mutex_init(&$, NULL);",
            "pthread_mutex_destroy(&$);",
            "{ pthread_mutex_t kept = $; $ = kept; }",
            "*(char *)&$ = 0;",
            "pthread_mutex_unlock(&$);",
            "pthread_mutex_lock(&$);",
            "{ pthread_mutexattr_t kind; pthread_mutexattr_init(&kind); pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK); \
             pthread_mutex_init(&$, &kind); }",
        ],
    ),
    (
        "pthread_rwlock_t",
        &[
            "$ = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;",
            "memset(&$, 0, sizeof $);",
            "pthread_rwlock_init(&$, NULL);",
            "pthread_rwlock_unlock(&$);",
        ],
    ),
    (
        "pthread_cond_t",
        &[
            "$ = (pthread_cond_t)PTHREAD_COND_INITIALIZER;",
            "pthread_cond_init(&$, NULL);",
            "pthread_cond_signal(&$);",
        ],
    ),
    ("pthread_once_t", &["$ = PTHREAD_ONCE_INIT;", "memset(&$, 0, sizeof $);"]),
    ("pthread_spinlock_t", &["pthread_spin_init(&$, 0);", "pthread_spin_unlock(&$);"]),
    ("sem_t", &["sem_init(&$, 0, 1);", "sem_post(&$);", "memset(&$, 0, sizeof $);"]),
    ("mtx_t", &["mtx_init(&$, mtx_plain);", "memset(&$, 0, sizeof $);", "mtx_unlock(&$);"]),
    ("pthread_barrier_t", &["pthread_barrier_init(&$, NULL, 2);", "pthread_barrier_wait(&$);"]),
];

/// A synchronisation object is written or initialised again, or gets a call more.
pub(super) fn write_to_lock(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let statements = plain(shape);
    let statement = any(&statements, random)?;
    let mut choices = Vec::new();
    for variable in shape.visible(statement.tokens.start).filter(|v| v.stars == 0) {
        let rows = WRITES.iter().filter(|(base, _)| *base == variable.base);
        for text in rows.flat_map(|(_, texts)| texts.iter()) {
            let object =
                if variable.is_array { format!("{}[0]", variable.name) } else { variable.name.clone() };
            choices.push(text.replace('$', &object));
        }
    }
    let mut edit = Edit::before(shape, statement, any(&choices, random)?)?;
    edit.needs_headers = true;
    Some(edit)
}
