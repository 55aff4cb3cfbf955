//! Instructions a second, from the interpreter's own example.

use std::path::Path;
use std::process::Command;

pub(super) fn section(root: &Path) -> Result<String, String> {
    let output = Command::new("cargo")
        .args(["run", "--quiet", "--release", "-p", "raddle-interp", "--example", "speed"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("the speed example failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(format!(
        "\n## Interpreter\n\nGoal: 100 million IR instructions a second on a plain loop.\n\n```text\n{}\n```\n",
        text.trim_end()
    ))
}
