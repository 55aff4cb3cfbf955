//! `--before` and `--client`: commands before each run of a program under test, and beside it; and the ones that files name.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use raddle_driver::{Around, CommandOutput, Commands};
use std::path::Path;

#[derive(Args)]
pub(crate) struct AroundArgs {
    /// Run this by `sh -c` before each run of the program and wait for its end: to remove what the run before has left
    #[arg(long, value_name = "CMD", value_parser = NonEmptyStringValueParser::new())]
    before: Option<String>,
    /// Run this by `sh -c` beside the program, for one that does nothing without a client; when it has ended, the program gets SIGTERM,
    /// and is killed 2 seconds later. It should wait until the program answers. What it prints goes to standard error
    #[arg(long, value_name = "CMD", value_parser = NonEmptyStringValueParser::new())]
    client: Option<String>,
}

impl AroundArgs {
    pub(crate) fn around(&self, quiet: bool) -> Around {
        let output = if quiet { CommandOutput::Dropped } else { CommandOutput::Shown };
        Around { commands: self.commands(), output }
    }

    pub(crate) fn commands(&self) -> Commands {
        Commands { before: self.before.clone(), client: self.client.clone() }
    }
}

/// A file should not start a command that nobody has seen: those that are not replaced are shown also when nothing else is.
pub(crate) fn announce(file: &Path, given: &Commands) {
    let named = raddle_driver::commands_of(file);
    let file = file.display();
    if let (Some(command), None) = (named.before, &given.before) {
        let command = command.escape_debug();
        eprintln!("raddle: {file} names a command, which runs before the program: {command}");
    }
    if let (Some(command), None) = (named.client, &given.client) {
        let command = command.escape_debug();
        eprintln!("raddle: {file} names a client, which runs beside the program: {command}");
    }
}
