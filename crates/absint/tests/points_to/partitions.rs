//! Unification is coarser than inclusion: what a register may point to is in its partition.

use crate::{Solved, compile, programs, solve};
use raddle_absint::steensgaard::{PartitionId, partitions};
use raddle_facts::ObjectKind;
use raddle_ir::Reg;
use std::collections::BTreeSet;

fn outside_its_partition(solved: &Solved) -> (usize, Vec<String>) {
    let found = partitions(&solved.program, &solved.models, &solved.values, &solved.roots);
    let (mut checked, mut wrong) = (0, Vec::new());
    for (id, registers) in solved.facts.regs.iter() {
        for (index, set) in registers.iter().enumerate() {
            for (object, _) in solved.facts.targets_of(*set) {
                let kind = solved.facts.objects[*object].kind;
                if matches!(kind, ObjectKind::Library | ObjectKind::Unknown) {
                    continue;
                }
                checked += 1;
                let own = found.of_register(id, Reg(index as u32));
                if own.is_none() || own != found.of_object(kind) {
                    let name = solved.program.text(solved.program.functions[id].name);
                    wrong.push(format!(
                        "{name} %{index} ({own:?}) points to {kind:?} ({:?})",
                        found.of_object(kind)
                    ));
                }
            }
        }
    }
    (checked, wrong)
}

#[test]
fn inclusion_is_inside_unification() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for (path, _, program) in programs() {
        let entries = program.functions.iter().filter(|(_, f)| f.is_defined() && f.params.len() == 1);
        let entries = entries.map(|(id, _)| id).collect();
        for entries in [Vec::new(), entries] {
            let solved = solve(program.clone(), entries);
            let (seen, broken) = outside_its_partition(&solved);
            checked += seen;
            wrong.extend(broken.into_iter().map(|text| format!("{}: {text}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert!(checked > 1_000, "only {checked} members");
}

#[test]
fn lock_pointers_are_apart_from_data() {
    let solved = solve(
        compile(
            "#include <pthread.h>
            #include <stdlib.h>
            pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c;
            int x, y;
            static void lock(pthread_mutex_t *m) { pthread_mutex_lock(m); }
            int main(int argc, char **argv) {
                pthread_mutex_t *p = argc > 1 ? &a : &b;
                int *q = argc > 2 ? &x : &y;
                lock(p);
                *q = 1;
                pthread_mutex_unlock(p);
                return c.__size[0];
            }",
        ),
        Vec::new(),
    );
    let found = partitions(&solved.program, &solved.models, &solved.values, &solved.roots);
    let of = |name: &str| {
        let global = solved.program.globals.iter().find(|(_, g)| solved.program.text(g.symbol) == name);
        found.of_object(ObjectKind::Global(global.expect("declared").0)).expect("a partition")
    };
    assert_eq!(of("a"), of("b"));
    assert_eq!(of("x"), of("y"));
    let all: BTreeSet<PartitionId> = ["a", "x", "c"].into_iter().map(of).collect();
    assert_eq!(all.len(), 3, "locks, data and an unused lock are apart");
    assert_eq!(found.lock_partitions().iter().copied().collect::<Vec<_>>(), [of("a")]);
}
