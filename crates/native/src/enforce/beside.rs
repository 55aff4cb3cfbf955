//! The beginning of an order that the program did not follow to its end, and from there another way towards the same error.

use super::EnforcePlan;
use crate::{Plan, Preference, Steering};
use std::collections::BTreeSet;

impl EnforcePlan {
    /// The number of its steps.
    pub fn steps(&self) -> usize {
        self.plan.steps.len()
    }

    /// The threads of the error, by their numbers in an enforced run.
    pub fn ends(&self) -> &[u32] {
        &self.plan.last
    }

    /// Its first steps, then steered by this preference. What it is for stays.
    pub fn steered(&self, steps: usize, preference: Preference) -> EnforcePlan {
        let meet = self.blocked.values().copied().collect();
        let plan = Plan {
            steps: self.plan.steps[..steps].to_vec(),
            steering: Some(Steering { preference, meet }),
            last: Vec::new(),
            ..self.plan.clone()
        };
        EnforcePlan { plan, blocked: self.blocked.clone() }
    }

    /// How many of its first steps are kept when a run followed it up to `followed`, the most first: all those; then without the last
    /// steps in a row of the thread that went another way, where it may have read what sent it there; without those before; none.
    pub fn beginnings(&self, followed: usize) -> Vec<usize> {
        const ROWS: usize = 2;
        let steps = &self.plan.steps;
        let went: BTreeSet<u32> = match steps.get(followed) {
            Some(step) => [step.thread].into(),
            None => self.plan.last.iter().copied().collect(),
        };
        let begins = |at: &usize| {
            let thread = steps[*at].thread;
            went.contains(&thread) && (*at == 0 || steps[*at - 1].thread != thread)
        };
        let mut kept = vec![followed];
        kept.extend((0..followed).rev().filter(begins).take(ROWS));
        kept.push(0);
        kept.dedup();
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::EnforcePlan;
    use crate::{Plan, Preference, Step, StepKind};

    fn plan(threads: &[u32], last: &[u32]) -> EnforcePlan {
        let step =
            |thread| Step { thread, kind: StepKind::Lock, site: 1, variant: 0, value: None, object: 0 };
        let steps = threads.iter().copied().map(step).collect();
        EnforcePlan {
            plan: Plan { steps, last: last.into(), ..Plan::default() },
            blocked: [(1, 4), (2, 4)].into(),
        }
    }

    #[test]
    fn beginnings_end_before_the_thread_that_went_another_way() {
        let threads = [0, 1, 1, 2, 1, 2, 2, 1, 0];
        assert_eq!(plan(&threads, &[1, 2]).beginnings(7), [7, 4, 1, 0]);
        assert_eq!(plan(&threads, &[1]).beginnings(9), [9, 7, 4, 0]);
        assert_eq!(plan(&threads, &[3]).beginnings(9), [9, 0]);
        assert_eq!(plan(&threads, &[1]).beginnings(0), [0]);
    }

    #[test]
    fn what_it_is_for_stays() {
        let steered = plan(&[0, 1, 2], &[1, 2]).steered(2, Preference::Random(1));
        assert_eq!((steered.steps(), steered.blocked.len()), (2, 2));
        assert_eq!(steered.plan.steering.map(|steering| steering.meet), Some(vec![4, 4]));
    }
}
