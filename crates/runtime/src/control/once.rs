//! Things that are initialised once.

use super::model::{Model, Object, Once};
use super::operation::{Happened, Operation, Outcome};

impl Model {
    /// The value says whether the thread runs the initialiser, and then makes an operation of its end.
    pub(super) fn once(&mut self, me: u32, operation: &Operation) -> Outcome {
        if let Object::Once(Once::Done) = self.object(me, operation) {
            self.happens(me, operation, Happened::OncePass);
            return Outcome::DONE;
        }
        self.happens(me, operation, Happened::OnceBegin);
        self.objects.insert(operation.object, Object::Once(Once::Running));
        Outcome::value(1)
    }

    pub(super) fn once_end(&mut self, me: u32, operation: &Operation) -> Outcome {
        self.happens(me, operation, Happened::OnceEnd);
        self.objects.insert(operation.object, Object::Once(Once::Done));
        self.happens(me, operation, Happened::OncePass);
        Outcome::DONE
    }
}
