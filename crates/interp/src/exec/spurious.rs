//! Operations that may fail for no reason: a weak compare-exchange (C11 7.17.7.4) and `mtx_trylock` (C17 7.26.4.5).
//!
//! The environment decides before the operation, as a choice of its own, so that searches need to know nothing of it. A loop that
//! tries again and changes nothing stutters; its round is left out, and is no livelock. Where a loop counts its rounds, a thread's
//! operations fail for no reason [`MOST`] times in a row at most: beyond that the answer rests on A-SPURIOUS, as it does
//! when nothing fails for no reason at all.

use super::{Cx, Halt};
use crate::journal::Done;
use crate::options::SpuriousWakeups;
use crate::thread::{Action, Phase, Spurious};
use raddle_event::EventKind;
use raddle_machine::OpKind;
use std::sync::Arc;

/// Failures for no reason in a row.
const MOST: u32 = 2;

impl Cx<'_> {
    /// Lets the environment decide about the operation at the present position, unless it has.
    pub(super) fn decide(&mut self) -> Result<(), Halt> {
        if matches!(self.thread.phase, Phase::Decided(_)) {
            return Ok(());
        }
        if self.world.options.spurious_wakeups == SpuriousWakeups::Off || self.thread.spurious >= MOST {
            self.assume("A-SPURIOUS");
            return Ok(());
        }
        Err(self.stand(OpKind::Choose { variants: 2 }, Action::Decide))
    }

    pub(super) fn fails_for_no_reason(&self) -> bool {
        matches!(self.thread.phase, Phase::Decided(Spurious::Fails))
    }

    /// The environment has decided, about this or about the library function there.
    pub(crate) fn perform_decision(&mut self, variant: u32) {
        self.event(EventKind::Choose { value: u64::from(variant) });
        self.thread.phase = match std::mem::replace(&mut self.thread.phase, Phase::Start) {
            Phase::Chosen(mut made) => {
                Arc::make_mut(&mut made).push(variant);
                Phase::Chosen(made)
            }
            Phase::Library(mut journal) => {
                Arc::make_mut(&mut journal).done.push(Done::Value(u128::from(variant)));
                Phase::Library(journal)
            }
            _ if variant == 0 => Phase::Decided(Spurious::No),
            _ => {
                self.thread.spurious += 1;
                Phase::Decided(Spurious::Fails)
            }
        };
    }
}
