//! What the prover asks about the program, answered by `certify` from static facts that it has checked.

use raddle_certify::statics::{Held as HeldThere, Kind, Spot as At, Standing, Way};
use raddle_facts::{Facts, ObjectId, ThreadId};
use raddle_ir::{BlockId, FunctionId, Program};
use raddle_prove::ground::{Called, End, Ground, Held, OpenPair, Spot, Taken, Touch};

pub(super) struct Checked<'a>(pub(super) Standing<'a>);

fn at(spot: Spot) -> At {
    At { function: spot.function, block: spot.block, index: spot.index }
}

fn spot(at: At) -> Spot {
    Spot { function: at.function, block: at.block, index: at.index }
}

impl Ground for Checked<'_> {
    fn program(&self) -> &Program {
        self.0.program()
    }

    fn facts(&self) -> &Facts {
        &self.0.proof().facts
    }

    fn may_meet(&self, a: (Spot, ThreadId), b: (Spot, ThreadId), locks_count: bool) -> bool {
        self.0.may_meet(at(a.0), a.1, at(b.0), b.1, locks_count)
    }

    fn taken(&self, call: Spot) -> Option<Taken> {
        let taken = self.0.held_after(at(call))?;
        let held = match taken.held {
            HeldThere::No => Held::No,
            HeldThere::Always(mode) => Held::Always(mode),
            HeldThere::IfZero(reg, mode) => Held::IfZero(reg, mode),
            HeldThere::IfNonZero(reg, mode) => Held::IfNonZero(reg, mode),
        };
        Some(Taken { lock: (taken.object, taken.offset), held })
    }

    fn may_release(&self, call: Spot, lock: (ObjectId, i64)) -> bool {
        self.0.may_release(at(call), lock)
    }

    fn has_lasting_owner(&self, lock: (ObjectId, i64)) -> bool {
        self.0.has_lasting_owner(lock)
    }

    fn touches(&self, spot: Spot) -> Vec<Touch> {
        let touch = |access: &raddle_certify::statics::Access<'_>| Touch {
            write: access.kind != Kind::Read,
            address: access.address,
            targets: access.targets.to_vec(),
            bytes: access.bytes,
            operates: access.operates,
        };
        self.0.touches(at(spot)).iter().map(touch).collect()
    }

    fn call(&self, spot: Spot) -> Option<Called> {
        let call = self.0.call(at(spot))?;
        let mut called =
            Called { effects: call.effects.iter().map(|(_, effect)| *effect).collect(), ..Called::default() };
        if !call.unknown.is_empty() {
            called.not_followed = Some("a call of a function without body or model");
        }
        for run in &call.runs {
            match run.way {
                Way::Call | Way::AtomicCall => called.bodies.push(run.function),
                Way::Thread => called.threads.push(run.function),
                Way::Callback => called.not_followed = Some("a function that the library calls back"),
                Way::Once => called.not_followed = Some("`pthread_once`"),
                Way::Handler => called.not_followed = Some("a handler that runs later"),
            }
        }
        Some(called)
    }

    fn is_one_object(&self, object: ObjectId) -> bool {
        self.0.is_one_object(object)
    }

    fn is_reachable(&self, function: FunctionId, block: BlockId) -> bool {
        self.0.is_reachable(function, block)
    }

    fn open(&self) -> Vec<OpenPair> {
        let end = |access: &raddle_certify::statics::Access<'_>| End {
            spot: spot(access.at),
            address: access.address,
            bytes: access.bytes,
        };
        let pair = |open: raddle_certify::statics::Open<'_, '_>| OpenPair {
            first: end(open.accesses[0]),
            second: end(open.accesses[1]),
            origins: (open.origins[0], open.origins[1]),
        };
        self.0.open().into_iter().map(pair).collect()
    }
}
