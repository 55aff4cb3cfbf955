//! The sites of a reported race: each must be one of the script that the threads ran. Words of context of earlier scripts lie around in the
//! shadow of the same memory.

use serde_json::Value;
use std::collections::BTreeMap;

/// Sites of plain accesses begin at 1, those of atomic ones at 65; one for each script, and again from the beginning after 32.
const SCRIPTS: u64 = 32;
const PLAIN: u64 = 1;
const ATOMIC: u64 = 65;

/// `scripts`: which script a thread is of, the first one 1; the main thread is of all.
pub fn check(line: &str, scripts: &BTreeMap<u64, u64>) -> Result<(), String> {
    let report: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let accesses = report["race"]["accesses"].as_array().ok_or("no accesses")?;
    let number = |value: &Value| value.as_u64().ok_or("no number");
    let mut script = None;
    for access in accesses {
        let thread = number(&access["thread"])?;
        if thread != 0 {
            script = Some(scripts.get(&thread).ok_or("a thread of no script")?);
        }
    }
    let script = script.ok_or("no thread but the first")? % SCRIPTS;
    for access in accesses {
        let first = if access["atomic"] == true { ATOMIC } else { PLAIN };
        let site = number(&access["site"])?;
        if site != first + script {
            return Err(format!("an access at site {site} in script {script}"));
        }
    }
    Ok(())
}
