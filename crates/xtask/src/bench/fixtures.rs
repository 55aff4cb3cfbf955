//! Fixtures by topic: what the enumerator says of each against the truth in the file.

use raddle_driver::{Control, DataModel, Search, Spurious, Subject, check};
use raddle_testkit::fixtures::{Completeness, DataModels, Truth, compare, files, parse};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Topic {
    programs: usize,
    race: usize,
    safe: usize,
    unknown: usize,
    agree: usize,
    executions: u64,
    seconds: f64,
}

pub(super) fn section(root: &Path) -> Result<String, String> {
    let folder = root.join("tests/fixtures");
    let mut topics: BTreeMap<String, Topic> = BTreeMap::new();
    for path in files(&folder).map_err(|error| error.to_string())? {
        let name = path.strip_prefix(&folder).ok().and_then(|p| p.iter().next()).unwrap_or_default();
        let topic = topics.entry(name.to_string_lossy().into_owned()).or_default();
        measure(&path, topic)?;
    }
    let mut text = String::from(
        "\n## Fixtures\n\n`raddle check` by the enumerator; *agree*: verdict, every racing pair of lines and every other finding are as \
         the file says.\n\n| topic | programs | race | safe | unknown | agree | executions | seconds |\n|---|---|---|---|---|---|---|---|\n",
    );
    let mut all = Topic::default();
    for (name, topic) in &topics {
        text.push_str(&row(name, topic));
        all.programs += topic.programs;
        all.race += topic.race;
        all.safe += topic.safe;
        all.unknown += topic.unknown;
        all.agree += topic.agree;
        all.executions += topic.executions;
        all.seconds += topic.seconds;
    }
    text.push_str(&row("all", &all));
    Ok(text)
}

fn row(name: &str, t: &Topic) -> String {
    format!(
        "| {name} | {} | {} | {} | {} | {} | {} | {:.1} |\n",
        t.programs, t.race, t.safe, t.unknown, t.agree, t.executions, t.seconds
    )
}

fn measure(path: &Path, topic: &mut Topic) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let fixture = parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let data_model = match fixture.data_models {
        DataModels::Ilp32 => DataModel::Ilp32,
        DataModels::Lp64 | DataModels::Both => DataModel::Lp64,
    };
    let subject = Subject {
        inputs: vec![path.to_path_buf()],
        cflags: fixture.cflags.clone(),
        data_model: Some(data_model),
        config: fixture.config.as_ref().map(|name| path.with_file_name(name)),
        args: fixture.args.clone(),
        spurious: if fixture.no_spurious { Spurious::Off } else { Spurious::On },
        ..Subject::default()
    };
    let search = Search { time: Some(Duration::from_secs(120)), ..Search::default() };
    let interrupt = AtomicBool::new(false);
    let start = Instant::now();
    let answer = check(&subject, &search, Control { interrupt: &interrupt, progress: None })
        .map_err(|error| format!("{}: {error}", path.display()))?;
    topic.seconds += start.elapsed().as_secs_f64();
    topic.programs += 1;
    match fixture.truth {
        Truth::Race => topic.race += 1,
        Truth::Safe => topic.safe += 1,
        Truth::Unknown => topic.unknown += 1,
    }
    topic.agree += usize::from(compare(&fixture, &answer.outcome, Completeness::Exact).is_empty());
    topic.executions += answer.outcome.stats.executions;
    Ok(())
}
