//! POSIX semaphores.

use super::Row;
use super::row::{A0, A1, A2, A3, UNTIL_A1, UNTIL_A2, answers, assuming, destroy, init, libc_assuming, row};
use crate::{Effect, How, Returns, SemOp, SyncKind};

use Returns::MinusOne;

pub(super) static ROWS: &[Row] = &[
    init("sem_init", SyncKind::Semaphore, Some(A2), MinusOne),
    destroy("sem_destroy", SyncKind::Semaphore, MinusOne),
    row("sem_post", Effect::Sem(SemOp::Post { sem: A0 }, MinusOne)),
    row("sem_wait", Effect::Sem(SemOp::Wait { sem: A0, how: How::Block }, MinusOne)),
    row("sem_trywait", Effect::Sem(SemOp::Wait { sem: A0, how: How::Try }, MinusOne)),
    row("sem_timedwait", Effect::Sem(SemOp::Wait { sem: A0, how: UNTIL_A1 }, MinusOne)),
    row("sem_clockwait", Effect::Sem(SemOp::Wait { sem: A0, how: UNTIL_A2 }, MinusOne)),
    row("sem_getvalue", Effect::Sem(SemOp::GetValue { sem: A0, out: A1 }, MinusOne)),
    assuming(
        "sem_open",
        Effect::Sem(SemOp::Open { name: A0, flags: A1, value: A3 }, Returns::Nothing),
        &["A-THREAD"],
    ),
    answers("sem_close", &["A-IO"]),
    libc_assuming("sem_unlink", &["A-IO"]),
];
