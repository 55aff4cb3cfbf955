//! C programs with invariants on their lines, as proofs.
//!
//! `// INV: formula` is the invariant wherever a thread stands on that line; elsewhere it is `true`. In it `{m:x}` and `{w:x}` are the cell of
//! the global `x` and its writer, `{h:x}` whether the lock in it is held, `{r:x}`
//! the register of the function that holds `x`.

use raddle_certify::proved::{Checked, Limits, check};
use raddle_certify::statics::{Refusal, Spot, Standing, Way};
use raddle_config::Config;
use raddle_facts::{Location, ObjectKind, Phase, StaticProof, ThreadId, ThreadProof};
use raddle_frontend::{Request, load};
use raddle_ir::{BlockId, FunctionId, Program, SiteId, program_hash};
use raddle_libmodel::{CondOp, Effect, Models};
use raddle_lockset::{Options, analyse};
use raddle_smt::{Checker, Limits as Budget};
use std::path::Path;

pub struct Subject {
    pub program: Program,
    pub models: Models,
    pub proof: ThreadProof,
}

impl Subject {
    pub fn of(name: &str) -> Subject {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proved/programs").join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let lines: Vec<&str> = text.lines().collect();
        let program = load(&Request { inputs: vec![path], ..Request::default() }).expect("a program").program;
        let models = Models::resolve(&program, &Config::default());
        let subject = Subject::with(program, models, &lines).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(subject.has_open_pairs(), "{name}: static rules exclude all races");
        subject
    }

    /// Refused: facts that are not closed.
    pub fn with(program: Program, models: Models, lines: &[&str]) -> Result<Subject, Refusal> {
        let analysis = analyse(&program, &models, &Options::default()).expect("the engine's own recipe");
        let statics = StaticProof {
            program: format!("{:032x}", program_hash(&program)),
            data_model: program.data_model.name().to_owned(),
            entries: Vec::new(),
            assumptions: analysis.assumptions.iter().copied().chain(["A-SC"]).map(str::to_owned).collect(),
            recipe: analysis.recipe.clone(),
            facts: analysis.facts.clone(),
        };
        let standing = Standing::of(&program, &models, &statics)?;
        let mut maker = Maker { standing: &standing, lines, found: Vec::new() };
        for (thread, facts) in statics.facts.threads.threads.iter() {
            maker.function(thread, facts.entry, &mut Vec::new());
        }
        let mut locations = maker.found;
        locations.sort();
        locations.dedup();
        drop(standing);
        Ok(Subject { program, models, proof: ThreadProof { statics, locations } })
    }

    fn standing(&self) -> Standing<'_> {
        Standing::of(&self.program, &self.models, &self.proof.statics).expect("it was closed")
    }

    pub fn check(&self) -> Result<Checked, Refusal> {
        self.check_proof(&self.proof)
    }

    pub fn has_open_pairs(&self) -> bool {
        !self.standing().open().is_empty()
    }

    pub fn is_start(&self, location: &Location) -> bool {
        let entry = self.proof.statics.facts.threads.threads[location.thread].entry;
        let first = (location.function, location.block, location.index) == (entry, BlockId(0), 0);
        location.stack.is_empty() && first
    }

    /// Whether a thread starts there, waits there, or could be seen to do something.
    pub fn is_needed(&self, location: &Location) -> bool {
        let standing = self.standing();
        let Location { function, block, index, .. } = *location;
        let spot = Spot { function, block, index: index as usize };
        is_visible(&standing, spot) || location.stack.is_empty() && (block, index) == (BlockId(0), 0)
    }

    /// Whether a thread there stands before an access of an open pair.
    pub fn may_race(&self, location: &Location) -> bool {
        let standing = self.standing();
        let Location { function, block, index, .. } = *location;
        let spot = Spot { function, block, index: index as usize };
        standing.open().iter().any(|open| open.accesses.iter().any(|access| access.at == spot))
    }

    pub fn check_proof(&self, proof: &ThreadProof) -> Result<Checked, Refusal> {
        check(&self.program, &self.models, proof, &mut Checker::new(Budget::default()), &Limits::default())
    }
}

fn is_visible(standing: &Standing<'_>, spot: Spot) -> bool {
    standing.touches_shared(spot) || standing.call(spot).is_some_and(|call| !call.effects.is_empty())
}

struct Maker<'m, 'a> {
    standing: &'m Standing<'a>,
    lines: &'m [&'m str],
    found: Vec<(Location, String)>,
}

impl Maker<'_, '_> {
    fn function(&mut self, thread: ThreadId, function: FunctionId, stack: &mut Vec<SiteId>) {
        // Recursion is refused anyway.
        if stack.len() > 20 {
            return;
        }
        let body = &self.standing.program().functions[function];
        if stack.is_empty() {
            self.add(thread, stack, Spot { function, block: BlockId(0), index: 0 }, Phase::Before);
        }
        for (block, code) in
            body.blocks.iter().filter(|(block, _)| self.standing.is_reachable(function, *block))
        {
            let from_behind = |from: &BlockId| self.standing.successors(function, *from).contains(&block);
            if body.blocks.ids().filter(|from| *from >= block).any(|from| from_behind(&from)) {
                self.add(thread, stack, Spot { function, block, index: 0 }, Phase::Before);
            }
            for index in 0..code.insts.len() {
                let spot = Spot { function, block, index };
                let call = self.standing.call(spot);
                if is_visible(self.standing, spot) {
                    self.add(thread, stack, spot, Phase::Before);
                }
                let Some(call) = call.cloned() else { continue };
                if call
                    .effects
                    .iter()
                    .any(|(_, effect)| matches!(effect, Effect::Cond(CondOp::Wait { .. }, _)))
                {
                    self.add(thread, stack, spot, Phase::Waiting);
                }
                for run in call.runs.iter().filter(|run| matches!(run.way, Way::Call | Way::AtomicCall)) {
                    stack.push(call.site);
                    self.function(thread, run.function, stack);
                    stack.pop();
                }
            }
        }
    }

    fn add(&mut self, thread: ThreadId, stack: &[SiteId], spot: Spot, phase: Phase) {
        let Spot { function, block, index } = spot;
        let program = self.standing.program();
        let line = program.sites[self.standing.site(spot)].span.map_or(0, |span| span.line as usize);
        let text = line.checked_sub(1).and_then(|line| self.lines.get(line)).copied().unwrap_or("");
        let starts = stack.is_empty() && block == BlockId(0) && index == 0;
        let invariant =
            text.split_once("// INV: ").filter(|_| !starts).map_or("true", |(_, formula)| formula);
        let invariant = self.filled(function, invariant);
        let location =
            Location { thread, stack: stack.to_vec(), function, block, index: index as u32, phase };
        self.found.push((location, invariant));
    }

    fn filled(&self, function: FunctionId, text: &str) -> String {
        let mut parts = text.split('{');
        let mut out = parts.next().unwrap_or("").to_owned();
        for part in parts {
            let (inside, rest) = part.split_once('}').expect("a closing brace");
            let (kind, name) = inside.split_once(':').expect("a kind and a name");
            out += &self.variable(function, kind, name);
            out += rest;
        }
        out
    }

    fn variable(&self, function: FunctionId, kind: &str, name: &str) -> String {
        let program = self.standing.program();
        if kind == "r" {
            let named = |reg: &raddle_ir::RegInfo| reg.name.is_some_and(|own| program.text(own) == name);
            let mut regs = program.functions[function].regs.iter().filter(|(_, reg)| named(reg));
            let (reg, _) = regs.next().expect("a register of that name");
            return format!("r.{}.{}", function.0, reg.0);
        }
        let objects = &self.standing.proof().facts.points_to.objects;
        let (object, bytes) = objects
            .iter()
            .find_map(|(id, object)| match object.kind {
                ObjectKind::Global(global) => {
                    let global = &program.globals[global];
                    (global.name.map(|own| program.text(own)) == Some(name)).then_some((id, global.bytes))
                }
                _ => None,
            })
            .unwrap_or_else(|| panic!("no global {name}"));
        match kind {
            "h" => format!("h.{}.0", object.0),
            _ => format!("{kind}.{}.0.{bytes}", object.0),
        }
    }
}
