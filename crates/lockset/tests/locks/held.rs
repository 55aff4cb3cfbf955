//! Which locks are held where: C programs that say it themselves. A call `locks("a{b} q.8/r")` in a program stands where exactly
//! these locks must be known to be held: a global by its name, a register by its variable's, the offset after a dot, `/r` for read mode,
//! `*2` for a depth, the history in braces. `dead()` stands where the analysis knows that control does not get.

use crate::{Solved, program, solved};
use raddle_facts::{ATOMIC_SECTION, HeldLock, LockMode, Root, Term};
use raddle_ir::{Callee, FunctionId, GlobalId, Inst, Operand, Program, Reg};
use raddle_lockset::held::at_site;
use std::path::PathBuf;

fn programs() -> Vec<PathBuf> {
    let folder = program("programs");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder of programs")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    found.sort();
    found
}

/// What a marker says, or `None` for another instruction.
enum Marker {
    Locks(String),
    Dead,
}

fn marker(program: &Program, inst: &Inst) -> Option<Marker> {
    let Inst::Call { callee: Callee::Direct(callee), args, .. } = inst else { return None };
    match program.text(program.functions[*callee].name) {
        "dead" => Some(Marker::Dead),
        "locks" => {
            let Operand::Global(text, 0) = args[0].value else { panic!("a marker without a text") };
            let data = &program.globals[text].init.as_ref().expect("a constant").data;
            let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
            Some(Marker::Locks(String::from_utf8(data[..end].to_vec()).expect("plain text")))
        }
        _ => None,
    }
}

#[test]
fn programs_say_what_is_held() {
    let mut wrong = Vec::new();
    let mut markers = 0;
    for path in programs() {
        let solved = solved(&path);
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let mut check = Check { solved: &solved, name: &name, wrong: &mut wrong };
        markers += check.run();
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(markers > 100, "only {markers} markers were looked at");
}

#[test]
fn one_look_and_a_walk_agree() {
    for path in programs().iter().take(3) {
        let s = solved(path);
        let locks = s.reader();
        for id in s.program.functions.ids() {
            let mut seen = Vec::new();
            locks.for_each_site(&s.locks, id, |block, index, held| seen.push((block, index, held.to_vec())));
            for (block, index, held) in seen.into_iter().step_by(7) {
                let one = at_site(
                    &s.program,
                    &s.models,
                    &s.points_to,
                    &s.values,
                    &s.threads,
                    &s.locks,
                    id,
                    block,
                    index,
                );
                assert_eq!(one, held);
            }
        }
    }
}

struct Check<'a> {
    solved: &'a Solved,
    name: &'a str,
    wrong: &'a mut Vec<String>,
}

impl Check<'_> {
    fn run(&mut self) -> usize {
        let s = self.solved;
        let locks = s.reader();
        let mut count = 0;
        for (id, function) in s.program.functions.iter() {
            let mut states: Vec<Vec<Option<Vec<HeldLock>>>> =
                function.blocks.values().map(|block| vec![None; block.insts.len()]).collect();
            locks.for_each_site(&s.locks, id, |block, index, held| {
                states[block.0 as usize][index] = Some(held.to_vec());
            });
            for (at, block) in function.blocks.iter() {
                for (index, inst) in block.insts.iter().enumerate() {
                    let Some(marker) = marker(&s.program, inst) else { continue };
                    count += 1;
                    let line = s.program.sites[block.site_of(index)].span.map_or(0, |span| span.line);
                    let said = match &states[at.0 as usize][index] {
                        None => "dead".to_owned(),
                        Some(held) => held.iter().map(|h| self.text(h)).collect::<Vec<_>>().join(" "),
                    };
                    let wanted = match marker {
                        Marker::Dead => "dead".to_owned(),
                        Marker::Locks(text) => sorted(&text),
                    };
                    if sorted(&said) != wanted {
                        self.wrong.push(format!("{}:{line}: wanted `{wanted}`, found `{said}`", self.name));
                    }
                }
            }
        }
        count
    }

    fn text(&self, held: &HeldLock) -> String {
        let mut text = self.term(held.lock);
        if held.mode == LockMode::Shared {
            text += "/r";
        }
        if held.depth > 1 {
            text += &format!("*{}", held.depth);
        }
        if !held.history.is_empty() {
            let mut names: Vec<String> = held.history.iter().map(|term| self.term(*term)).collect();
            names.sort();
            text += &format!("{{{}}}", names.join(","));
        }
        text
    }

    fn term(&self, term: Term) -> String {
        if term == ATOMIC_SECTION {
            return "atomic".to_owned();
        }
        let mut text = match term.root {
            Root::Zero => "0".to_owned(),
            Root::Global(global) => self.global(global),
            Root::Function(function) => self.function(function),
            Root::Reg(function, reg) => self.reg(function, reg),
        };
        if let Some(index) = term.index {
            text += &format!("[{}*{}]", self.reg(index.function, index.reg), index.scale);
        }
        if term.offset != 0 {
            text += &format!(".{}", term.offset);
        }
        text
    }

    fn global(&self, global: GlobalId) -> String {
        let program = &self.solved.program;
        program.text(program.globals[global].symbol).to_owned()
    }

    fn function(&self, function: FunctionId) -> String {
        let program = &self.solved.program;
        program.text(program.functions[function].name).to_owned()
    }

    fn reg(&self, function: FunctionId, reg: Reg) -> String {
        let program = &self.solved.program;
        match program.functions[function].regs[reg].name {
            Some(name) => program.text(name).to_owned(),
            None => format!("%{}", reg.0),
        }
    }
}

fn sorted(text: &str) -> String {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    words.sort();
    words.join(" ")
}
