//! Validity by the program cvc5.

use raddle_certify::proved::{Judge, Validity};
use raddle_logic::Term;
use std::io::Write;
use std::process::{Command, Stdio};

pub struct Cvc5;

impl Judge for Cvc5 {
    fn valid(&mut self, claim: &Term) -> Validity {
        let mut script = String::from("(set-logic QF_BV)\n");
        for var in claim.variables() {
            script += &format!("(declare-const {var} {})\n", var.sort);
        }
        script += &format!("(assert (not {claim}))\n(check-sat)\n");
        let mut child = Command::new("cvc5")
            .args(["--lang=smt2", "--tlimit=20000"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("cvc5 is installed");
        child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("cvc5 reads");
        let output = child.wait_with_output().expect("cvc5 ends");
        match String::from_utf8_lossy(&output.stdout).trim() {
            "unsat" => Validity::Valid,
            "sat" => Validity::Invalid,
            other => Validity::Unknown(format!("cvc5 says `{other}`")),
        }
    }
}
