//! `object OUT.o [--hot HOT.bc] [--all-checks] [--text OUT.ll] IN.bc…`: instruments bitcode files by hand.

use raddle_instrument::{Keep, Level, Options, Reduce, Text, Unit, build_with_text};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let object = arguments.next().ok_or("the name of the object is missing")?;
    let (mut hot, mut text, mut reduce, mut units) = (None, None, Reduce::All, Vec::new());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--hot" => hot = Some(std::fs::read(value()?)?),
            "--text" => text = Some(value()?),
            "--all-checks" => reduce = Reduce::Nothing,
            _ => units.push(Unit {
                bitcode: std::fs::read(&argument)?,
                source: argument,
                level: Level::O2,
                flags: Vec::new(),
            }),
        }
    }
    let options = Options { hot: hot.as_deref(), reduce, ..Options::default() };
    let wanted = if text.is_some() { Text::Yes } else { Text::No };
    let built = build_with_text(&units, &options, &|_| Keep::All, wanted)?;
    std::fs::write(object, built.object)?;
    if let (Some(path), Some(text)) = (text, built.text) {
        std::fs::write(path, text)?;
    }
    Ok(())
}
