//! The test that reductions are exact: random loops are run with a check for every access and with reduced checks, and in every
//! region the same bytes must be read and written, no byte more and no byte less.

mod harness;

use harness::programs::random_program;
use harness::{LOG_HOOKS, Language, Workshop, execute, hook_calls};
use raddle_instrument::Reduce;

#[test]
fn reduced_checks_touch_the_same_bytes() {
    let soak = std::env::var_os("RADDLE_SOAK").is_some();
    let range = match std::env::var("RADDLE_PROGRAMS").ok().and_then(|text| {
        let (first, end) = text.split_once("..")?;
        Some(first.parse().ok()?..end.parse().ok()?)
    }) {
        Some(range) => range,
        None => 0..if soak { 400 } else { 4 },
    };
    let (mut walks, mut single, mut all) = (0, 0, 0);
    for seed in range {
        let text = random_program(seed, 30);
        let workshop = Workshop::new();
        let unit = workshop.unit("program", &text, Language::C);
        let plain = workshop.instrument(std::slice::from_ref(&unit), Reduce::Nothing);
        let reduced = workshop.instrument(&[unit], Reduce::All);
        let runs = [("plain", &plain), ("reduced", &reduced)].map(|(name, built)| {
            let program = workshop.link(name, &built.object, LOG_HOOKS, Language::C);
            let output = execute(&program);
            assert!(output.status.success(), "seed {seed}: {name} ends with {}", output.status);
            String::from_utf8_lossy(&output.stdout).into_owned()
        });
        if runs[0] != runs[1] {
            std::fs::write(std::env::temp_dir().join("differs.c"), &text).expect("the program is written");
            let differs = runs[0].lines().zip(runs[1].lines()).find(|(a, b)| a != b);
            panic!("seed {seed}: plain and reduced differ at {differs:?}");
        }
        let count = |text: &Option<String>, kinds: &[&str]| -> usize {
            let calls = hook_calls(text.as_deref().unwrap_or_default());
            calls.iter().filter(|(name, _)| kinds.contains(&name.as_str())).map(|(_, count)| count).sum()
        };
        const SINGLE: [&str; 8] =
            ["read1", "read2", "read4", "read8", "write1", "write2", "write4", "write8"];
        walks += count(&reduced.text, &["read_walk", "write_walk"]);
        single += count(&reduced.text, &SINGLE);
        all += count(&plain.text, &SINGLE);
    }
    println!("{all} checks become {single} and {walks} walks");
    assert!(walks * 20 > all && single * 10 < all * 9, "{all} checks, {single} left and {walks} walks");
}
