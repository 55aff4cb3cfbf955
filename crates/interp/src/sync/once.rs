//! `pthread_once` and `call_once`.

use super::birth::Expected;
use super::{OnceState, SyncObject};
use crate::code::Code;
use crate::exec::{Cx, Flow, Halt};
use crate::thread::OnReturn;
use raddle_event::{Addr, EventKind};
use raddle_libmodel::Arg;
use raddle_machine::OpKind;

impl Cx<'_> {
    pub(crate) fn pending_once(&mut self, once: Arg) -> Result<OpKind, Halt> {
        Ok(OpKind::Once { once: self.sync_addr(self.pointer_arg(once))? })
    }

    pub(crate) fn perform_once(&mut self, once: Arg, function: Arg) -> Result<Flow, Halt> {
        let address = self.pointer_arg(once);
        let at = self.sync_addr(address)?;
        if let SyncObject::Once(OnceState::Done) = self.sync_object(at, address, Expected::Once) {
            self.event(EventKind::OncePass { once: at });
            return Ok(Flow::Return(0));
        }
        let function = self.function_at(self.pointer_arg(function))?;
        let Some(function) = self.image.entry(function) else {
            return Err(self.unsupported("a once initialiser without a body".to_owned()));
        };
        self.event(EventKind::OnceBegin { once: at });
        self.world.sync.set(at, SyncObject::Once(OnceState::Running(self.thread.id)));
        self.enter_with(function, &[], OnReturn::Once(at))?;
        Ok(Flow::GoOn)
    }

    /// The initialiser stands at its return.
    pub(crate) fn perform_once_end(&mut self, at: Addr) {
        debug_assert!(matches!(self.func().code[self.thread.top().pc as usize], Code::Ret { .. }));
        self.event(EventKind::OnceEnd { once: at });
        self.world.sync.set(at, SyncObject::Once(OnceState::Done));
        self.pop_frame();
        self.event(EventKind::OncePass { once: at });
        self.return_value(0);
    }
}
