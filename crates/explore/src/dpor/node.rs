//! States on the way of a run, and what is left to explore from them.
//!
//! What is left belongs to the search that came by, or is shared: then several searches take from it and add to it. What is taken is a whole
//! leaf of the wake-up tree, and the states on the way to it are shared. Nothing sleeps at a leaf, so all that begins with it is
//! explored without relying on others. A state on the way does rely on branches taken before its own that are still being
//! explored: what these find to be missing is added there, as it is added to a tree of which nothing was taken yet. A search that
//! dropped such a sequence because its first step is being explored already would lose runs.

use super::deeds::Action;
use super::run::Run;
use super::wakeup::Tree;
use crate::bounds::fairest;
use crate::pdp::Stands;
use raddle_event::Choice;
use raddle_machine::Machine;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(super) struct Node<C> {
    /// `None` when the machine has been brought back to an earlier state since.
    pub(super) checkpoint: Option<C>,
    pub(super) enabled: Vec<Choice>,
    ahead: Ahead,
    /// For pruning.
    pub(super) stands: Stands,
}

enum Ahead {
    Own(Plan),
    Shared(Arc<Open>),
}

#[derive(Default)]
pub(super) struct Plan {
    /// What has been explored from here, or is covered elsewhere. In a shared state also what is being explored, in the order taken.
    pub(super) sleep: Vec<Action>,
    /// Shared states right behind some of these.
    pub(super) inside: Vec<(Choice, Arc<Open>)>,
    /// What is still to be explored from here, besides the branches that are being explored.
    pub(super) tree: Tree,
}

/// A state that several searches explore.
pub(super) struct Open {
    /// The state before, and the choice that led here.
    pub(super) before: Option<(Arc<Open>, Choice)>,
    plan: Mutex<Plan>,
}

/// Something left to explore.
#[derive(Clone)]
pub(super) enum Left {
    Open(Arc<Open>),
    Fresh(Fresh),
}

/// A state from which nothing has been explored yet.
#[derive(Clone)]
pub(super) struct Fresh {
    /// The state before, and the choice that leads here; `None` for the first state.
    pub(super) before: Option<(Arc<Open>, Choice)>,
    pub(super) sleep: Vec<Action>,
}

impl Left {
    pub(super) fn is_open(&self) -> bool {
        match self {
            Left::Open(open) => !open.plan().tree.is_empty(),
            Left::Fresh(_) => true,
        }
    }
}

impl<C> Node<C> {
    pub(super) fn own(checkpoint: C, enabled: Vec<Choice>, plan: Plan, stands: Stands) -> Self {
        Self { checkpoint: Some(checkpoint), enabled, ahead: Ahead::Own(plan), stands }
    }

    pub(super) fn shared(checkpoint: C, enabled: Vec<Choice>, open: Arc<Open>) -> Self {
        Self { checkpoint: Some(checkpoint), enabled, ahead: Ahead::Shared(open), stands: Stands::new() }
    }

    /// Its choices, and what sleeps here if it is not shared.
    pub(super) fn into_lists(self) -> (Vec<Choice>, Vec<Action>) {
        let sleep = match self.ahead {
            Ahead::Own(plan) => plan.sleep,
            Ahead::Shared(_) => Vec::new(),
        };
        (self.enabled, sleep)
    }

    pub(super) fn plan(&mut self) -> PlanRef<'_> {
        match &mut self.ahead {
            Ahead::Own(plan) => PlanRef::Own(plan),
            Ahead::Shared(open) => PlanRef::Shared(open.plan()),
        }
    }

    pub(super) fn open(&self) -> Option<&Arc<Open>> {
        match &self.ahead {
            Ahead::Own(_) => None,
            Ahead::Shared(open) => Some(open),
        }
    }

    /// Lets others explore from here too. `exploring` is what the run at hand does here.
    pub(super) fn share(
        &mut self,
        before: Option<(Arc<Open>, Choice)>,
        exploring: Option<&Action>,
    ) -> Arc<Open> {
        if let Ahead::Own(plan) = &mut self.ahead {
            let mut plan = std::mem::take(plan);
            plan.sleep.extend(exploring.cloned());
            self.ahead = Ahead::Shared(Arc::new(Open::new(before, plan)));
        }
        Arc::clone(self.open().expect("it is shared now"))
    }
}

impl Open {
    pub(super) fn new(before: Option<(Arc<Open>, Choice)>, plan: Plan) -> Self {
        Self { before, plan: Mutex::new(plan) }
    }

    pub(super) fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From the first state to this one.
    pub(super) fn way(self: &Arc<Self>) -> Vec<(Arc<Open>, Choice)> {
        let mut way = Vec::new();
        let mut at = self;
        while let Some((before, choice)) = &at.before {
            way.push((Arc::clone(before), *choice));
            at = before;
        }
        way.reverse();
        way
    }
}

/// What is known of a sequence of steps from a state.
pub(super) enum Covered {
    No,
    /// Whatever it leads to is explored.
    Yes,
    /// It begins with a branch that others are on.
    Inside(Choice, Arc<Open>),
}

impl Plan {
    pub(super) fn new(sleep: Vec<Action>, tree: Tree) -> Self {
        Self { sleep, tree, inside: Vec::new() }
    }

    /// Whether the sequence that `covers` looks at is covered by what was taken from here. `own` is the branch that the one who asks is on.
    pub(super) fn covered(&self, own: Option<Choice>, covers: impl Fn(&Action) -> bool) -> Covered {
        let own = own.and_then(|own| self.sleep.iter().position(|action| action.choice == own));
        for (at, action) in self.sleep.iter().enumerate() {
            if Some(at) == own || !covers(action) {
                continue;
            }
            let later = own.is_none_or(|own| own < at);
            let inside = self.inside.iter().find(|(choice, _)| later && *choice == action.choice);
            return inside.map_or(Covered::Yes, |(choice, open)| Covered::Inside(*choice, Arc::clone(open)));
        }
        Covered::No
    }

    /// Notes that a branch was taken, and the state behind it that is shared too.
    pub(super) fn taken(&mut self, action: Action, inside: Option<&Arc<Open>>) {
        self.inside.extend(inside.map(|open| (action.choice, Arc::clone(open))));
        self.sleep.push(action);
    }

    /// The branch to explore next, or any choice when nothing is planned. `sleeping` are not taken.
    pub(super) fn next_choice<M: Machine>(
        &mut self,
        machine: &M,
        run: &Run,
        enabled: &[Choice],
        sleeping: &[Choice],
    ) -> Option<(Choice, Tree)> {
        self.next_planned(enabled, sleeping).or_else(|| {
            let asleep = |choice: &Choice| {
                sleeping.contains(choice) || self.sleep.iter().any(|action| action.choice == *choice)
            };
            let mut free = enabled.iter().copied().filter(|choice| !asleep(choice));
            // The plain outcome first: spurious wake-ups and timeouts make longer runs.
            let plain = fairest(machine, free.clone().filter(|choice| choice.variant == 0), run.operations());
            plain.or_else(|| free.next()).map(|choice| (choice, Tree::default()))
        })
    }

    /// The branch to explore next. `sleeping` are not taken.
    pub(super) fn next_planned(&mut self, enabled: &[Choice], sleeping: &[Choice]) -> Option<(Choice, Tree)> {
        self.tree.keep(|choice| enabled.contains(&choice) && !sleeping.contains(&choice));
        self.tree.next().map(|(action, below)| (action.choice, below))
    }
}

pub(super) enum PlanRef<'a> {
    Own(&'a mut Plan),
    Shared(MutexGuard<'a, Plan>),
}

impl Deref for PlanRef<'_> {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        match self {
            PlanRef::Own(plan) => plan,
            PlanRef::Shared(plan) => plan,
        }
    }
}

impl DerefMut for PlanRef<'_> {
    fn deref_mut(&mut self) -> &mut Plan {
        match self {
            PlanRef::Own(plan) => plan,
            PlanRef::Shared(plan) => plan,
        }
    }
}
