//! Where threads come from and who waits for them: the frame around the idioms.

use super::builder::{Builder, Who};
use super::source::{Item, Node, Source, block, branch, fixed, line, mentions};
use std::collections::BTreeSet;

/// The whole program.
pub(super) fn assemble(mut b: Builder) -> (Source, BTreeSet<&'static str>) {
    let plan = Plan::choose(&mut b);
    let mut frame = Frame { workers: workers(&b, &plan), creation: Vec::new(), joins: Vec::new(), b, plan };
    frame.declare();
    frame.create_and_join();
    let tags = std::mem::take(&mut frame.b.tags);
    (frame.finish(), tags)
}

/// One start routine for all workers, or one for each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Routines {
    Same,
    Each,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    /// `(void *)(long)k`.
    Number,
    /// A pointer into an array of numbers.
    Cell,
    /// A pointer into an array of structures: global, or a local of `main`.
    Struct,
    LocalStruct,
    /// A heap block for each thread.
    Block,
}

/// Where the thread ids are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ids {
    Global,
    Local,
    /// In the argument structure.
    Task,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// One after the other, joined in order or in reverse.
    Each,
    /// Both in loops with constant bounds.
    Loop,
    /// What `main` does meanwhile stands between the creations.
    Between,
    /// The next is created when the last has been joined.
    InTurn,
    /// The first worker creates the last.
    Nested,
    /// The last worker joins the first.
    JoinedByOther,
    /// The last is created on a condition, and joined on the same.
    Branch,
    /// The last is not joined.
    Detached,
}

/// What stands between `main` and the library.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrapper {
    None,
    /// A function that gets what the library gets.
    Start,
    /// A function that gets a number and knows the rest.
    Spawn,
    /// The result is looked at.
    Checked,
}

struct Plan {
    routines: Routines,
    argument: Argument,
    ids: Ids,
    shape: Shape,
    c11: bool,
    wrapper: Wrapper,
    /// Start routines out of a table.
    table: bool,
}

impl Plan {
    fn choose(b: &mut Builder) -> Plan {
        let shape = match b.random.below(100) {
            0..34 => Shape::Each,
            34..56 => Shape::Loop,
            56..64 => Shape::Between,
            64..70 => Shape::InTurn,
            70..80 => Shape::Nested,
            80..87 => Shape::JoinedByOther,
            87..94 => Shape::Branch,
            _ => Shape::Detached,
        };
        let routines = if b.chance(50) { Routines::Same } else { Routines::Each };
        let in_main = matches!(shape, Shape::Each | Shape::Loop | Shape::Between | Shape::InTurn);
        let stack_is_used =
            b.arg_fields.iter().any(|(_, inits)| inits.iter().any(|init| !init.contains('$')));
        let argument = if stack_is_used || !b.arg_fields.is_empty() {
            if in_main && b.chance(30) { Argument::LocalStruct } else { Argument::Struct }
        } else {
            match b.random.below(10) {
                0..5 => Argument::Number,
                5 | 6 => Argument::Cell,
                7 => Argument::Struct,
                8 if in_main => Argument::LocalStruct,
                _ => Argument::Block,
            }
        };
        let ids = match argument {
            Argument::Struct if b.chance(35) => Ids::Task,
            _ if in_main && b.chance(50) => Ids::Local,
            _ => Ids::Global,
        };
        let c11 = !b.results && b.chance(8);
        let wrapper = match b.random.below(100) {
            0..12 => Wrapper::Start,
            12..22 if ids != Ids::Local && argument != Argument::LocalStruct => Wrapper::Spawn,
            22..28 => Wrapper::Checked,
            _ => Wrapper::None,
        };
        let by_number = shape == Shape::Loop || wrapper == Wrapper::Spawn;
        let table = routines == Routines::Each && (by_number || b.chance(10));
        for (tag, holds) in [
            ("threads: one after the other", shape == Shape::Each),
            ("threads: loop", shape == Shape::Loop),
            ("threads: work between creations", shape == Shape::Between),
            ("threads: in turn", shape == Shape::InTurn),
            ("threads: created by a thread", shape == Shape::Nested),
            ("threads: joined by another", shape == Shape::JoinedByOther),
            ("threads: in a branch", shape == Shape::Branch),
            ("threads: detached", shape == Shape::Detached),
            ("threads: C11", c11),
            ("threads: wrapper", wrapper == Wrapper::Start),
            ("threads: created by number", wrapper == Wrapper::Spawn),
            ("threads: table of routines", table),
            ("threads: same routine", routines == Routines::Same),
            ("argument: number", argument == Argument::Number),
            ("argument: cell", argument == Argument::Cell),
            ("argument: structure", argument == Argument::Struct),
            ("argument: structure on the stack", argument == Argument::LocalStruct),
            ("argument: heap block", argument == Argument::Block),
        ] {
            if holds {
                b.tag(tag);
            }
        }
        Plan { routines, argument, ids, shape, c11, wrapper, table }
    }

    fn thread_type(&self) -> &'static str {
        if self.c11 { "thrd_t" } else { "pthread_t" }
    }

    /// The result type of start routines.
    fn returns(&self) -> &'static str {
        if self.c11 { "int " } else { "void *" }
    }
}

/// The body of each start routine; one if they are the same.
fn workers(b: &Builder, plan: &Plan) -> Vec<Vec<Node>> {
    let only = |thread: usize| {
        let of_thread = |who: &Who| *who == Who::All || *who == Who::One(thread);
        b.worker.iter().filter(|(who, _)| of_thread(who)).map(|(_, node)| node.clone()).collect()
    };
    match plan.routines {
        Routines::Each => (0..b.threads).map(only).collect(),
        Routines::Same => {
            let mut body: Vec<Node> = Vec::new();
            let mut last = None;
            for (who, node) in &b.worker {
                match (who, body.last_mut()) {
                    (Who::One(_), Some(Node::Block { body, .. })) if last == Some(*who) => {
                        body.push(node.clone())
                    }
                    (Who::One(thread), _) => {
                        body.push(branch(&format!("id == {thread}"), vec![node.clone()], Vec::new()))
                    }
                    (Who::All, _) => body.push(node.clone()),
                }
                last = Some(*who);
            }
            vec![body]
        }
    }
}

struct Frame {
    b: Builder,
    plan: Plan,
    workers: Vec<Vec<Node>>,
    creation: Vec<Node>,
    joins: Vec<Node>,
}

impl Frame {
    fn declare(&mut self) {
        let n = self.b.threads;
        let thread_type = self.plan.thread_type();
        match self.plan.ids {
            Ids::Global => self.b.global(format!("{thread_type} $tid[{n}]")),
            Ids::Local => {
                self.b.locals.insert("tid".to_owned(), format!("{thread_type} tid[{n}];"));
            }
            Ids::Task => self.b.arg_fields.push((format!("{thread_type} tid"), Vec::new())),
        }
        if self.b.results {
            self.b.global(format!("void *$got[{n}]"));
        }
        match self.plan.argument {
            Argument::Number => {}
            Argument::Cell => {
                self.b.global("int $number[3] = { 0, 1, 2 }".to_owned());
            }
            Argument::Struct | Argument::LocalStruct => {
                let fields: String =
                    self.b.arg_fields.iter().map(|(declaration, _)| format!(" {declaration};")).collect();
                self.b.types.push(Item::Line(format!("struct $arg {{ int id;{fields} }};")));
                let args = self.args();
                if self.plan.argument == Argument::Struct {
                    self.b.global(format!("struct $arg $args[{n}]"));
                } else {
                    self.b.locals.insert("args".to_owned(), format!("struct $arg args[{n}];"));
                }
                for k in 0..n {
                    self.b.before.push(line(format!("{args}[{k}].id = {k};")));
                    for (declaration, inits) in &self.b.arg_fields {
                        let name = declaration.rsplit([' ', '*']).next().unwrap_or_default();
                        if let Some(init) = inits.get(k) {
                            self.b.before.push(line(format!("{args}[{k}].{name} = {init};")));
                        }
                    }
                }
            }
            Argument::Block => {
                self.b.function(
                    "void *$boxed(int k)".to_owned(),
                    vec![fixed("int *n = malloc(sizeof *n);"), line("*n = k;"), fixed("return n;")],
                );
            }
        }
        if self.plan.table {
            let returns = self.plan.returns();
            let routines: Vec<String> = (0..n).map(|k| format!("$t{k}")).collect();
            self.b.global(format!("{returns}(*$routine[{n}])(void *) = {{ {} }}", routines.join(", ")));
        }
        if self.plan.wrapper == Wrapper::Spawn {
            let call = self.create_call(
                &format!("&{}", self.id_of("k")),
                &self.routine_of("k"),
                &self.argument_of("k"),
            );
            self.b.function("void $spawn(int k)".to_owned(), vec![line(call)]);
        }
        if self.plan.wrapper == Wrapper::Start {
            let returns = self.plan.returns();
            let call = self.create_call("t", "f", "x");
            self.b.function(
                format!("void $start({thread_type} *t, {returns}(*f)(void *), void *x)"),
                vec![line(call)],
            );
        }
    }

    fn args(&self) -> &'static str {
        if self.plan.argument == Argument::Struct { "$args" } else { "args" }
    }

    fn id_of(&self, k: &str) -> String {
        match self.plan.ids {
            Ids::Global => format!("$tid[{k}]"),
            Ids::Local => format!("tid[{k}]"),
            Ids::Task => format!("$args[{k}].tid"),
        }
    }

    fn argument_of(&self, k: &str) -> String {
        match self.plan.argument {
            Argument::Number => format!("(void *)(long){k}"),
            Argument::Cell => format!("&$number[{k}]"),
            Argument::Struct | Argument::LocalStruct => format!("&{}[{k}]", self.args()),
            Argument::Block => format!("$boxed({k})"),
        }
    }

    fn routine_of(&self, k: &str) -> String {
        match self.plan.routines {
            Routines::Same => "$worker".to_owned(),
            Routines::Each if self.plan.table => format!("$routine[{k}]"),
            Routines::Each => format!("$t{k}"),
        }
    }

    fn create_call(&self, id: &str, routine: &str, argument: &str) -> String {
        if self.plan.c11 {
            format!("thrd_create({id}, {routine}, {argument});")
        } else {
            format!("pthread_create({id}, 0, {routine}, {argument});")
        }
    }

    fn create(&self, k: &str) -> Node {
        let (id, routine, argument) =
            (format!("&{}", self.id_of(k)), self.routine_of(k), self.argument_of(k));
        let call = self.create_call(&id, &routine, &argument);
        match self.plan.wrapper {
            Wrapper::None => line(call),
            Wrapper::Start => line(format!("$start({id}, {routine}, {argument});")),
            Wrapper::Spawn => line(format!("$spawn({k});")),
            Wrapper::Checked => {
                branch(&format!("{} != 0", call.trim_end_matches(';')), vec![line("return 0;")], Vec::new())
            }
        }
    }

    fn join(&self, k: &str) -> Node {
        let id = self.id_of(k);
        if self.plan.c11 {
            line(format!("thrd_join({id}, 0);"))
        } else if self.b.results {
            line(format!("pthread_join({id}, &$got[{k}]);"))
        } else {
            line(format!("pthread_join({id}, 0);"))
        }
    }

    fn detach(&self, k: &str) -> Node {
        let id = self.id_of(k);
        line(if self.plan.c11 { format!("thrd_detach({id});") } else { format!("pthread_detach({id});") })
    }

    /// A worker alone, whatever routines they have.
    fn in_worker(&self, k: usize, nodes: Vec<Node>) -> Vec<Node> {
        match self.plan.routines {
            Routines::Each => nodes,
            Routines::Same => vec![branch(&format!("id == {k}"), nodes, Vec::new())],
        }
    }

    fn create_and_join(&mut self) {
        let n = self.b.threads;
        let last = n - 1;
        let each: Vec<String> = (0..n).map(|k| k.to_string()).collect();
        match self.plan.shape {
            Shape::Each => {
                self.creation = each.iter().map(|k| self.create(k)).collect();
                self.joins = each.iter().map(|k| self.join(k)).collect();
                if self.b.chance(30) {
                    self.joins.reverse();
                }
            }
            Shape::Loop => {
                let head = format!("for (int i = 0; i < {n}; i++)");
                self.creation = vec![block(head.clone(), vec![self.create("i")])];
                self.joins = if self.b.chance(75) {
                    vec![block(head, vec![self.join("i")])]
                } else {
                    each.iter().map(|k| self.join(k)).collect()
                };
            }
            Shape::Between => {
                self.creation = each.iter().map(|k| self.create(k)).collect();
                let during = std::mem::take(&mut self.b.during);
                let at = self.b.random.below(n);
                self.creation.splice(at..at, during);
                self.joins = each.iter().map(|k| self.join(k)).collect();
            }
            Shape::InTurn => {
                for k in &each[..last] {
                    let pair = [self.create(k), self.join(k)];
                    self.creation.extend(pair);
                }
                let create = self.create(&each[last]);
                self.creation.push(create);
                self.joins = vec![self.join(&each[last])];
            }
            Shape::Nested => {
                self.creation = each[..last].iter().map(|k| self.create(k)).collect();
                self.joins = each[..last].iter().map(|k| self.join(k)).collect();
                let create = self.create(&each[last]);
                let join = self.join(&each[last]);
                let (mut early, mut late) = (vec![create], Vec::new());
                match self.b.random.below(4) {
                    0 => early.push(join),
                    1 | 2 => late.push(join),
                    _ => self.joins.push(join),
                }
                if self.b.chance(50) {
                    late.splice(0..0, early.drain(..));
                }
                let (early, late) = (self.in_worker(0, early), self.in_worker(0, late));
                self.workers[0].splice(0..0, early);
                self.workers[0].extend(late);
            }
            Shape::JoinedByOther => {
                self.creation = each.iter().map(|k| self.create(k)).collect();
                self.joins = each[1..].iter().map(|k| self.join(k)).collect();
                let join = vec![self.join("0")];
                let join = self.in_worker(last, join);
                let of_last = self.workers.len() - 1;
                if self.b.chance(60) {
                    self.workers[of_last].extend(join);
                } else {
                    self.workers[of_last].splice(0..0, join);
                }
            }
            Shape::Branch => {
                self.creation = each[..last].iter().map(|k| self.create(k)).collect();
                self.b.locals.insert("go".to_owned(), "int go = 0;".to_owned());
                self.b.before.push(line("go = __VERIFIER_nondet_bool();"));
                let (create, join) = (self.create(&each[last]), self.join(&each[last]));
                self.creation.push(branch("go", vec![create], Vec::new()));
                self.joins = each[..last].iter().map(|k| self.join(k)).collect();
                self.joins.push(branch("go", vec![join], Vec::new()));
            }
            Shape::Detached => {
                self.creation = each.iter().map(|k| self.create(k)).collect();
                let detach = self.detach(&each[last]);
                self.creation.push(detach);
                self.joins = each[..last].iter().map(|k| self.join(k)).collect();
                if self.b.chance(70) {
                    self.b.after.clear();
                }
            }
        }
    }

    fn finish(mut self) -> Source {
        let returns = self.plan.returns();
        if self.b.chance(4) {
            let call = line(format!("{}({});", self.routine_of("0"), self.argument_of("0")));
            self.b.during.push(call);
        }
        let args = self.args();
        self.b.after.iter_mut().for_each(|node| {
            if let Node::Line(text) = node {
                *text = text.replace("@args", args);
            }
        });
        let mut routines = Vec::new();
        for (k, mut worker) in std::mem::take(&mut self.workers).into_iter().enumerate() {
            let name = match self.plan.routines {
                Routines::Same => "$worker".to_owned(),
                Routines::Each => format!("$t{k}"),
            };
            self.b.types.push(Item::Line(format!("static {returns}{name}(void *arg);")));
            if !self.plan.c11 && self.b.chance(8) {
                worker.push(fixed(if self.b.results { "pthread_exit(result);" } else { "pthread_exit(0);" }));
            }
            worker.push(fixed(if self.b.results { "return result;" } else { "return 0;" }));
            let body = self.with_locals(worker, true);
            routines.push(Item::Function { head: format!("static {returns}{name}(void *arg)"), body });
        }
        let Builder { before, during, after, .. } = &mut self.b;
        let mut main = std::mem::take(before);
        main.append(&mut self.creation);
        main.append(during);
        main.append(&mut self.joins);
        main.append(after);
        main.push(fixed("return 0;"));
        let body = self.with_locals(main, false);
        let mut items = self.b.types;
        items.extend(self.b.globals);
        items.extend(self.b.helpers);
        items.extend(routines);
        items.push(Item::Function { head: "int $main(void)".to_owned(), body });
        Source { items }
    }

    /// Declares what the body uses.
    fn with_locals(&self, body: Vec<Node>, of_worker: bool) -> Vec<Node> {
        let mut all = Vec::new();
        let structure = matches!(self.plan.argument, Argument::Struct | Argument::LocalStruct);
        let uses_a = mentions(&body, "a");
        let uses_id = mentions(&body, "id");
        if of_worker && structure && (uses_a || uses_id) {
            all.push(fixed("struct $arg *a = arg;"));
        }
        if uses_id {
            all.push(fixed(match self.plan.argument {
                _ if !of_worker => "int id = 0;",
                Argument::Number => "int id = (int)(long)arg;",
                Argument::Cell | Argument::Block => "int id = *(int *)arg;",
                Argument::Struct | Argument::LocalStruct => "int id = a->id;",
            }));
        }
        let used = self.b.locals.iter().filter(|(name, _)| mentions(&body, name));
        all.extend(used.map(|(_, declaration)| fixed(declaration.clone())));
        all.extend(body);
        all
    }
}
