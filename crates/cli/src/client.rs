//! `--client`: a command beside the program under test; and the ones that files name.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use raddle_driver::{Client, ClientOutput};
use std::path::Path;

#[derive(Args)]
pub(crate) struct ClientArgs {
    /// Run this by `sh -c` beside the program, for one that does nothing without a client; when it has ended, the program gets SIGTERM,
    /// and is killed 2 seconds later. It should wait until the program answers. What it prints goes to standard error
    #[arg(long, value_name = "CMD", value_parser = NonEmptyStringValueParser::new())]
    client: Option<String>,
}

impl ClientArgs {
    pub(crate) fn is_none(&self) -> bool {
        self.client.is_none()
    }

    pub(crate) fn client(&self, quiet: bool) -> Option<Client> {
        let output = if quiet { ClientOutput::Dropped } else { ClientOutput::Shown };
        self.client.clone().map(|command| Client { command, output })
    }
}

/// A file should not start a command that nobody has seen: it is shown also when nothing else is.
pub(crate) fn announce(file: &Path) {
    if let Some(command) = raddle_driver::client_of(file) {
        let file = file.display();
        eprintln!("raddle: {file} names a client, which runs beside the program: {}", command.escape_debug());
    }
}
