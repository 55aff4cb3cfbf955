//! The reader of `.raddle.sites` survives bytes from anywhere.

mod harness;

use harness::{Language, Workshop};
use raddle_instrument::{Reduce, sites};

const HEADER: usize = 8 + 4 + 8;

fn table() -> Vec<u8> {
    let text = r#"
        struct item { int count; long weight; } items[10], *shown;
        static int add(int *p, int n) { return *p += n; }
        static int both(int n) { return add(&items[n].count, 1) + add(&items[n + 1].count, 2); }
        int lock(void *);
        int main(int argc, char **argv) {
            shown = &items[3];
            *shown = items[1];
            lock(&shown->weight);
            return both(argc) + both(2);
        }"#;
    let workshop = Workshop::new();
    let unit = workshop.unit("table", text, Language::C);
    workshop.instrument(&[unit], Reduce::Nothing).sites
}

#[test]
fn sites_say_what_the_programmer_wrote() {
    let bytes = table();
    let table = sites::decode(&bytes).expect("a good table");
    let copy = table.iter().find(|site| site.kind == sites::Kind::Copy).expect("the copy of a struct");
    assert_eq!((copy.expression, copy.source, copy.line), ("*shown", "items[1]", 8));
    let call = table.iter().find(|site| site.expression == "lock").expect("the call");
    assert_eq!((call.kind, call.source, call.function), (sites::Kind::Call, "shown->weight", "main"));
    assert_eq!(
        table.iter().find(|site| site.expression == "shown").expect("the pointer").variable_type,
        "struct item *"
    );
    // Both levels were inlined: the access, the call of add in both, the call of both in main.
    let mut stacks: Vec<Vec<(&str, u32)>> = table
        .iter()
        .filter(|site| site.function == "add" && site.kind == sites::Kind::Write && site.inlined_at.is_some())
        .map(|site| table.frames(site.id).iter().map(|site| (site.function, site.column)).collect())
        .filter(|stack: &Vec<_>| stack.len() == 3)
        .collect();
    stacks.sort();
    let functions: Vec<Vec<&str>> =
        stacks.iter().map(|s| s.iter().map(|(name, _)| *name).collect()).collect();
    assert_eq!(functions, [["add", "both", "main"]; 4]);
    stacks.dedup();
    assert_eq!(stacks.len(), 4, "four different ways: {stacks:?}");
}

#[test]
fn damaged_tables_are_errors() {
    let good = table();
    for end in 0..good.len() {
        assert!(sites::decode(&good[..end]).is_err(), "cut at {end}");
    }
    let mut state = 7u64;
    let mut random = move |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let (mut refused, mut read) = (0, 0);
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        for _ in 0..1 + random(3) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] ^= 1 << random(8),
                1 => bytes[at] = 0xff,
                2 => bytes.truncate(at.max(HEADER)),
                _ => {
                    let at = at & !3;
                    let number = [0, 1, u32::MAX, i32::MAX as u32, 77][random(5)];
                    if at + 4 <= bytes.len() {
                        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
                    }
                }
            }
        }
        if random(8) > 0 && bytes.len() >= HEADER {
            let sum = raddle_runtime::sites::checksum(&bytes[HEADER..]);
            bytes[12..HEADER].copy_from_slice(&sum.to_le_bytes());
        }
        match sites::decode(&bytes) {
            Err(_) => refused += 1,
            Ok(table) => {
                read += 1;
                for site in table.iter() {
                    assert!(!table.frames(site.id).is_empty());
                }
                for id in [0, 1, 50, u32::MAX] {
                    table.get(id);
                }
            }
        }
    }
    assert!(refused > 5_000 && read > 100, "{refused} refused, {read} read");
}
