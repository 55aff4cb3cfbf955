//! `cargo run --release -p raddle-absint --example points_to -- [--entry f,g] [--dump] [FLAGS…] FILE…`: how long the points-to analysis
//! takes and how large its sets are. Flags are clang's.

use raddle_absint::specialise::{self, Budget};
use raddle_absint::{Roots, points_to, values};
use raddle_config::Config;
use raddle_facts::{ObjectId, ObjectKind, PointsTo};
use raddle_frontend::{Request, load};
use raddle_ir::{Inst, Program, expand};
use raddle_libmodel::Models;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let mut flags = Vec::new();
    let mut files = Vec::new();
    let mut entries = Vec::new();
    let mut dump = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--entry" => {
                entries = arguments.next().unwrap_or_default().split(',').map(str::to_owned).collect()
            }
            "--dump" => dump = true,
            _ if argument.starts_with('-') => flags.push(argument),
            _ => files.push(PathBuf::from(argument)),
        }
    }
    let start = Instant::now();
    let loaded = match load(&Request { inputs: files, cflags: flags, ..Request::default() }) {
        Ok(loaded) => loaded,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let program = &loaded.program;
    println!("loaded in {:.1} s", start.elapsed().as_secs_f64());
    let models = Models::resolve(program, &Config::default());
    let open = entries.iter().any(|entry| entry == "*");
    let entries = program
        .functions
        .iter()
        .filter(|(_, f)| f.is_defined() && (open || entries.iter().any(|e| e == program.text(f.name))))
        .map(|(id, _)| id)
        .collect();
    let roots = Roots::of(program, entries);
    let starts: Vec<_> = roots.all().collect();
    let budget = match std::env::var("RADDLE_EXPAND") {
        Ok(limit) => Budget { small_program: limit.parse().unwrap_or(0), ..Budget::default() },
        Err(_) => Budget::default(),
    };
    let recipe = specialise::recipe(program, &models, &starts, budget);
    let recipe = match std::env::var("RADDLE_SMALL") {
        Ok(limit) => small_copies(program, &models, &starts, limit.parse().unwrap_or(40)),
        Err(_) => recipe,
    };
    let expanded = expand::apply(program, &recipe).expect("a recipe of our own");
    let models = models.of_expanded(&expanded.function_origin);
    let program = &expanded.program;
    let start = Instant::now();
    let values = values::registers(program, &models, &roots);
    println!("values in {:.2} s", start.elapsed().as_secs_f64());
    let before = resident();
    let start = Instant::now();
    let facts = points_to::solve(program, &models, &values, &roots);
    let seconds = start.elapsed().as_secs_f64();
    println!("solved in {seconds:.2} s, {} MiB more than before, peak {} MiB", resident() - before, peak());
    report(program, &facts);
    if dump {
        dump_all(program, &facts);
    }
    ExitCode::SUCCESS
}

fn report(program: &Program, facts: &PointsTo) {
    let instructions: usize =
        program.functions.values().flat_map(|f| f.blocks.values()).map(|b| b.insts.len() + 1).sum();
    println!("{instructions} instructions, {} objects, {} sets", facts.objects.len(), facts.sets.len());
    let total: usize = facts.sets.values().map(Vec::len).sum();
    println!("{total} members in sets, largest {}", facts.sets.values().map(Vec::len).max().unwrap_or(0));
    let cells: usize = facts.contents.values().map(Vec::len).sum();
    println!("{cells} cells");
    let mut sizes: Vec<usize> = Vec::new();
    let mut with_unknown = 0;
    for (id, function) in program.functions.iter() {
        for block in function.blocks.values() {
            for inst in &block.insts {
                let pointer = match inst {
                    Inst::Load { ptr, .. } | Inst::Store { ptr, .. } => *ptr,
                    _ => continue,
                };
                if let raddle_ir::Operand::Reg(reg) = pointer {
                    let set = &facts.sets[facts.regs[id][reg.0 as usize]];
                    sizes.push(set.len());
                    with_unknown +=
                        usize::from(set.iter().any(|(o, _)| facts.objects[*o].kind == ObjectKind::Unknown));
                }
            }
        }
    }
    sizes.sort_unstable();
    let at = |share: usize| sizes.get(sizes.len() * share / 100).copied().unwrap_or(0);
    let mean = sizes.iter().sum::<usize>() as f64 / sizes.len().max(1) as f64;
    println!(
        "{} accesses through registers: mean {mean:.1}, median {}, 90 % {}, 99 % {}, unknown in {with_unknown}",
        sizes.len(),
        at(50),
        at(90),
        at(99)
    );
    println!("{} sites with targets, {} unresolved", facts.targets.len(), facts.unresolved.len());
    let mut fat: Vec<(usize, ObjectId)> = facts
        .contents
        .iter()
        .map(|(object, cells)| (cells.iter().map(|cell| facts.sets[cell.holds].len()).sum(), object))
        .collect();
    fat.sort_unstable_by(|a, b| b.cmp(a));
    for (members, object) in fat.iter().take(8) {
        println!(
            "  {members} members in {} cells of {}",
            facts.contents[*object].len(),
            name(program, facts, *object)
        );
    }
    for (site, words) in facts.unresolved.iter().take(10) {
        let span =
            program.sites[*site].span.map(|span| format!("{}:{}", program.files[span.file], span.line));
        println!("  unresolved {}: {words}", span.unwrap_or_default());
    }
}

fn name(program: &Program, facts: &PointsTo, object: ObjectId) -> String {
    let at = |site: raddle_ir::SiteId| {
        let info = program.sites[site];
        let function = program.text(program.functions[info.function].name);
        format!("{function}:{}", info.span.map_or(0, |span| span.line))
    };
    match facts.objects[object].kind {
        ObjectKind::Global(g) | ObjectKind::ThreadLocal(g) => {
            program.text(program.globals[g].symbol).to_owned()
        }
        ObjectKind::Stack(site) => format!("stack {}", at(site)),
        ObjectKind::Heap(site) => format!("heap {}", at(site)),
        ObjectKind::Function(f) => program.text(program.functions[f].name).to_owned(),
        ObjectKind::Parameter(f, i) => {
            format!("parameter {i} of {}", program.text(program.functions[f].name))
        }
        ObjectKind::Outside(ty) => {
            format!("outside {:?}", program.debug_types[ty]).chars().take(60).collect()
        }
        other => format!("{other:?}"),
    }
}

fn dump_all(program: &Program, facts: &PointsTo) {
    let show = |set| {
        let members: Vec<String> = facts.sets[set]
            .iter()
            .map(|(object, at)| {
                let offsets = match at {
                    at if at.is_exact() => format!("{}", at.anchor),
                    at if at.low == i64::MIN && at.high == i64::MAX && at.stride == 1 => "any".to_owned(),
                    at => format!("{}%{} [{}, {}]", at.anchor, at.stride, at.low, at.high),
                };
                format!("{}+{offsets}", name(program, facts, *object))
            })
            .collect();
        members.join(", ")
    };
    for (id, function) in program.functions.iter() {
        for (index, set) in facts.regs[id].iter().enumerate() {
            if set.0 != 0 {
                println!("{} %{index}: {}", program.text(function.name), show(*set));
            }
        }
    }
    for (object, cells) in facts.contents.iter() {
        for cell in cells {
            println!("{} {:?} ({}): {}", name(program, facts, object), cell.at, cell.bytes, show(cell.holds));
        }
    }
}

fn status(field: &str) -> i64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<i64>().ok()).unwrap_or(0) / 1024
}

fn resident() -> i64 {
    status("VmRSS:")
}

fn peak() -> i64 {
    status("VmHWM:")
}

fn small_copies(
    program: &Program,
    models: &Models,
    starts: &[raddle_ir::FunctionId],
    small: usize,
) -> expand::Recipe {
    use raddle_base::Id;
    use raddle_ir::FunctionId;
    let size =
        |id: FunctionId| -> usize { program.functions[id].blocks.values().map(|b| b.insts.len() + 1).sum() };
    let copyable = expand::copyable(program);
    let mut functions: Vec<expand::FunctionCopy> = program
        .functions
        .ids()
        .map(|origin| expand::FunctionCopy { origin, unroll: Vec::new(), retarget: Vec::new() })
        .collect();
    let total: usize = program.functions.ids().map(size).sum();
    let mut made = 0;
    let _ = starts;
    let mut open: std::collections::VecDeque<(FunctionId, Vec<FunctionId>)> =
        program.functions.ids().map(|id| (id, vec![id])).collect();
    while let Some((caller, chain)) = open.pop_front() {
        let origin = functions[caller.index()].origin;
        let mut new = Vec::new();
        for block in program.functions[origin].blocks.values() {
            for (index, inst) in block.insts.iter().enumerate() {
                let Inst::Call { callee: raddle_ir::Callee::Direct(target), .. } = inst else { continue };
                let bytes = size(*target);
                if matches!(models.meanings[*target], raddle_libmodel::Meaning::Body)
                    && copyable[*target]
                    && bytes > 0
                    && bytes <= small
                    && !chain.contains(target)
                    && chain.len() < 6
                    && made + bytes <= 2 * total
                {
                    made += bytes;
                    new.push((block.site_of(index), *target));
                }
            }
        }
        for (site, target) in new {
            let to = FunctionId::from_index(functions.len());
            functions.push(expand::FunctionCopy { origin: target, unroll: Vec::new(), retarget: Vec::new() });
            functions[caller.index()].retarget.push(expand::Retarget {
                site,
                path: Vec::new(),
                slot: expand::Slot::Callee,
                to,
            });
            let mut chain = chain.clone();
            chain.push(target);
            open.push_back((to, chain));
        }
    }
    expand::Recipe { functions, never_return: Default::default() }
}
