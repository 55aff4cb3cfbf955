//! Scripts flattened to code with jumps: one list per once initialiser, then one per thread body.

use super::syntax::{Act, Block, Cond, Script, Stmt};
use raddle_base::SiteId;

#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Once initialisers first, then threads.
    pub(super) functions: Vec<Function>,
    pub(super) once_count: usize,
    /// Without an endless loop nobody can go round in circles.
    pub(super) endless_loops: EndlessLoops,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndlessLoops {
    Present,
    Absent,
}

#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) code: Vec<Code>,
    /// Site of the function's end: past the last statement of the script, one per function.
    pub(super) end: SiteId,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Code {
    Act {
        site: SiteId,
        act: Act,
    },
    /// Goes on when the condition holds, else jumps.
    Unless {
        site: SiteId,
        cond: Cond,
        target: usize,
    },
    /// Both sides of an `If` have come together.
    Merge {
        site: SiteId,
    },
    Goto(usize),
    /// Back to the head of an endless loop.
    Again {
        site: SiteId,
        target: usize,
    },
    Count {
        slot: usize,
        times: u8,
        exit: usize,
    },
    ResetCount {
        slot: usize,
    },
    End,
}

/// Depth to which counted loops nest.
pub(super) const COUNTERS: usize = 3;

pub(super) fn compile(script: &Script) -> Program {
    let statements = script.len() as u32;
    let mut next_site = 0;
    let functions: Vec<Function> = script
        .onces
        .iter()
        .chain(&script.threads)
        .enumerate()
        .map(|(index, block)| {
            let mut flattener = Flattener { next_site, code: Vec::new(), breaks: Vec::new(), depth: 0 };
            flattener.block(block);
            flattener.code.push(Code::End);
            next_site = flattener.next_site;
            Function { code: flattener.code, end: SiteId(statements + index as u32) }
        })
        .collect();
    let again = |code: &Code| matches!(code, Code::Again { .. });
    let endless_loops = if functions.iter().any(|function| function.code.iter().any(again)) {
        EndlessLoops::Present
    } else {
        EndlessLoops::Absent
    };
    Program { functions, once_count: script.onces.len(), endless_loops }
}

struct Flattener {
    next_site: u32,
    code: Vec<Code>,
    /// Jumps to patch to the end of each open loop.
    breaks: Vec<Vec<usize>>,
    depth: usize,
}

impl Flattener {
    fn block(&mut self, block: &Block) {
        for stmt in block {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let site = SiteId(self.next_site);
        self.next_site += 1;
        match stmt {
            Stmt::Act(act) => self.code.push(Code::Act { site, act: *act }),
            Stmt::If { cond, then, otherwise } => {
                let test = self.hole();
                self.block(then);
                let skip = self.hole();
                self.code[test] = Code::Unless { site, cond: *cond, target: self.code.len() };
                self.block(otherwise);
                self.code[skip] = Code::Goto(self.code.len());
                self.code.push(Code::Merge { site });
            }
            Stmt::Repeat { times, body } => {
                let slot = self.depth;
                assert!(slot < COUNTERS, "counted loops nest too deep");
                self.code.push(Code::ResetCount { slot });
                let head = self.hole();
                self.depth += 1;
                self.loop_body(body);
                self.depth -= 1;
                self.code.push(Code::Goto(head));
                let exit = self.code.len();
                self.code[head] = Code::Count { slot, times: *times, exit };
                self.patch_breaks(exit);
            }
            Stmt::Forever { body } => {
                let head = self.code.len();
                self.loop_body(body);
                self.code.push(Code::Again { site, target: head });
                self.patch_breaks(self.code.len());
            }
            Stmt::BreakIf(cond) => {
                let test = self.hole();
                let leave = self.hole();
                self.breaks.last_mut().expect("a break stands in a loop").push(leave);
                self.code[test] = Code::Unless { site, cond: *cond, target: self.code.len() };
            }
        }
    }

    fn loop_body(&mut self, body: &Block) {
        self.breaks.push(Vec::new());
        self.block(body);
    }

    fn patch_breaks(&mut self, exit: usize) {
        for leave in self.breaks.pop().expect("the loop is open") {
            self.code[leave] = Code::Goto(exit);
        }
    }

    /// Room for a jump whose target is not known yet.
    fn hole(&mut self) -> usize {
        self.code.push(Code::End);
        self.code.len() - 1
    }
}
