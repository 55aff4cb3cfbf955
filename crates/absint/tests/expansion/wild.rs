//! Recipes that no policy would write: random loops unrolled, random copies, each call led to a random copy of what it calls.

use raddle_base::{Id, SiteId};
use raddle_ir::expand::{
    Body, FunctionCopy, Places, Recipe, Retarget, Slot, Unroll, copyable, never_returning,
};
use raddle_ir::{Callee, FunctionId, Inst, Operand, Program};
use raddle_testkit::random::Random;
use std::collections::BTreeSet;

const MOST_COPIES: usize = 2;
const MOST_ITERATIONS: u32 = 40;
const LARGEST: usize = 6_000;

pub fn recipe(program: &Program, random: &mut Random) -> Recipe {
    let copyable = copyable(program);
    let mut origins: Vec<FunctionId> = program.functions.ids().collect();
    for id in program.functions.ids().filter(|id| copyable[*id]) {
        origins.extend(std::iter::repeat_n(id, random.below(MOST_COPIES + 1)));
    }
    let mut places = Places::default();
    let mut functions = Vec::new();
    for &origin in &origins {
        let mut body = Body::of(&program.functions[origin]);
        let unroll =
            if copyable[origin] { unrolled(program, &mut body, &mut places, random) } else { Vec::new() };
        let retarget = retargeted(program, &origins, origin, &body, random);
        functions.push(FunctionCopy { origin, unroll, retarget });
    }
    let some: BTreeSet<FunctionId> = program.functions.ids().filter(|_| random.chance(90)).collect();
    let never_return = never_returning(program, |id| some.contains(&id));
    Recipe { functions, never_return }
}

fn unrolled(program: &Program, body: &mut Body, places: &mut Places, random: &mut Random) -> Vec<Unroll> {
    let mut steps = Vec::new();
    let mut left_alone = BTreeSet::new();
    'again: loop {
        let mut loops = body.loops();
        loops.sort_by_key(|shape| (std::cmp::Reverse(shape.blocks.len()), shape.header));
        for shape in loops {
            let header = body.origin(shape.header).clone();
            if !left_alone.insert(header.clone()) || random.chance(20) {
                continue;
            }
            let Some(iterations) = body.iterations(program, &shape, MOST_ITERATIONS) else { continue };
            let size: usize = shape.blocks.iter().map(|b| body.function().blocks[*b].insts.len() + 1).sum();
            let step = Unroll { header: header.block, path: header.iterations, iterations };
            if size * iterations as usize <= LARGEST && body.unroll(&step, program, places).is_ok() {
                steps.push(step);
                continue 'again;
            }
        }
        return steps;
    }
}

fn retargeted(
    program: &Program,
    origins: &[FunctionId],
    origin: FunctionId,
    body: &Body,
    random: &mut Random,
) -> Vec<Retarget> {
    let mut found = Vec::new();
    for (id, block) in body.function().blocks.iter() {
        let from = body.origin(id);
        let original = &program.functions[origin].blocks[from.block];
        for (index, inst) in block.insts.iter().enumerate() {
            let Inst::Call { callee: Callee::Direct(callee), args, .. } = inst else { continue };
            let mut lead = |slot: Slot, function: FunctionId, site: SiteId| {
                let copies: Vec<usize> = (0..origins.len()).filter(|i| origins[*i] == function).collect();
                if random.chance(70) {
                    let to = FunctionId::from_index(random.pick(&copies));
                    found.push(Retarget { site, path: from.iterations.clone(), slot, to });
                }
            };
            lead(Slot::Callee, *callee, original.site_of(index));
            for (position, arg) in args.iter().enumerate() {
                if let Operand::Function(function) = arg.value
                    && !program.functions[*callee].is_defined()
                {
                    lead(Slot::Argument(position as u32), function, original.site_of(index));
                }
            }
        }
    }
    found
}
