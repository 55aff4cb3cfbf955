//! Things that are initialised once.

use super::model::{Model, Object, Once};
use super::operation::{Happened, Operation, Outcome};

/// The number of an end of an initialiser that was left before it was through.
pub const ABANDONED: u64 = 1;

impl Model {
    /// The value says whether the thread runs the initialiser, and then makes an operation of its end.
    pub(super) fn once(&mut self, me: u32, operation: &Operation) -> Outcome {
        match self.object(me, operation) {
            Object::Once(Once::Done) => {
                self.happens(me, operation, Happened::OncePass);
                return Outcome::DONE;
            }
            // Initialisers of one object are ordered.
            Object::Once(Once::Abandoned) => self.happens(me, operation, Happened::OncePass),
            _ => {}
        }
        self.happens(me, operation, Happened::OnceBegin);
        self.objects.insert(operation.object, Object::Once(Once::Running));
        Outcome::value(1)
    }

    pub(super) fn once_end(&mut self, me: u32, operation: &Operation) -> Outcome {
        self.happens(me, operation, Happened::OnceEnd);
        if operation.number == ABANDONED {
            self.objects.insert(operation.object, Object::Once(Once::Abandoned));
        } else {
            self.objects.insert(operation.object, Object::Once(Once::Done));
            self.happens(me, operation, Happened::OncePass);
        }
        Outcome::DONE
    }
}
