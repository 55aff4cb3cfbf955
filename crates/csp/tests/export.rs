//! The text of figure 1 of the 2015 paper, section 2.2, in CSP_M, with the repairs of `figures`.
//!
//! Which way it errs: the text is compared with what we expect, not given to FDR.

#[allow(dead_code)]
mod figures;

use figures::Figures;
use raddle_csp::{Arena, ExportError, Model, Script};

#[test]
fn figure_1_as_text() {
    let mut f = Figures::default();
    let program = f.listing_1();
    let (live, implementation) = f.living(program);
    let mut script = Script::new(&f.alphabet, &f.arena);
    script.assert(live, Model::StableFailures, implementation).unwrap();
    assert_eq!(script.finish().unwrap(), include_str!("figure_1.csp"));
}

#[test]
fn names_that_csp_m_does_not_have_are_rejected() {
    for (name, error) in [
        ("lock.0x7f", ExportError::NotAName("0x7f".into())),
        ("if", ExportError::NotAName("if".into())),
        ("lock.lock", ExportError::Clash("lock".into())),
    ] {
        let mut f = Figures::default();
        f.alphabet.intern(name);
        let mut script = Script::new(&f.alphabet, &f.arena);
        assert_eq!(script.process(Arena::STOP).unwrap(), "STOP");
        assert_eq!(script.finish(), Err(error));
    }
}
