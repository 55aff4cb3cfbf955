//! Data that threads keep apart: own cells, own blocks, copies, fields, stack; and data that change hands.

use crate::programs::builder::{Builder, Lock, LockKind, Role};
use crate::programs::source::{Item, block, branch, line};

/// Each worker has a cell of an array.
pub(super) fn own_cell(b: &mut Builder) {
    let cells = b.fresh("cell");
    let n = b.threads;
    let heap = b.chance(20);
    if heap {
        b.global(format!("int *{cells}"));
        b.before.push(line(format!("{cells} = calloc({n}, sizeof *{cells});")));
    } else {
        b.global(format!("int {cells}[{n}]"));
    }
    let index = b.index();
    let nodes = match b.random.below(4) {
        0 => {
            let p = b.local("p", "int *# = 0;");
            let find = match b.random.below(3) {
                0 => format!("{p} = &{cells}[{index}];"),
                1 => format!("{p} = {cells} + {index};"),
                _ => format!("{p} = {cells}; {p} += {index};"),
            };
            vec![line(find), b.access(&format!("(*{p})"))]
        }
        1 => vec![block(
            format!("for (int i = id; i < {n}; i += {n})"),
            vec![b.access(&format!("{cells}[i]"))],
        )],
        _ => vec![b.access(&format!("{cells}[{index}]"))],
    };
    b.all(nodes);
    if b.chance(50) {
        let sum = vec![b.read(&format!("{cells}[i]"))];
        b.after.push(block(format!("for (int i = 0; i < {n}; i++)"), sum));
    }
}

/// Each worker has a range, or a stride.
pub(super) fn own_range(b: &mut Builder) {
    let cells = b.fresh("row");
    let n = b.threads;
    let access;
    let head;
    if b.chance(40) {
        b.global(format!("int {cells}[{n}][2]"));
        head = "for (int i = 0; i < 2; i++)".to_owned();
        let row = b.index();
        access = b.access(&format!("{cells}[{row}][i]"));
    } else {
        b.global(format!("int {cells}[{}]", 2 * n));
        head = match b.random.below(4) {
            0 => format!("for (int i = id; i < {}; i += {n})", 2 * n),
            1 => "for (int i = 2 * id; i <= 2 * id + 1; i++)".to_owned(),
            _ => "for (int i = 2 * id; i < 2 * id + 2; i++)".to_owned(),
        };
        access = b.access(&format!("{cells}[i]"));
    }
    b.all(vec![block(head, vec![access])]);
    if b.chance(40) {
        let read = if b.chance(70) { format!("*(int *){cells}") } else { format!("((int *){cells})[2]") };
        let read = b.read(&read);
        b.after.push(read);
    }
}

/// Private until a pointer to it is stored where others look.
pub(super) fn publish(b: &mut Builder) {
    let (tag, slot) = (b.fresh("item"), b.fresh("slot"));
    b.types.push(Item::Line(format!("struct {tag} {{ int x; int y; }};")));
    let how = b.random.below(10);
    let atomic = (6..9).contains(&how);
    b.global(format!("struct {tag} *{}{slot}", if atomic { "_Atomic " } else { "" }));
    let lock = b.mutex();
    let p = b.local("p", &format!("struct {tag} *# = 0;"));
    let (one, other) = b.two();
    let mut make = vec![line(format!("{p} = malloc(sizeof *{p});")), line(format!("{p}->x = 1;"))];
    let store = line(if atomic {
        let order = b.pick(&["memory_order_release", "memory_order_seq_cst", "memory_order_relaxed"]);
        format!("atomic_store_explicit(&{slot}, {p}, {order});")
    } else {
        format!("{slot} = {p};")
    });
    let load = line(if atomic {
        let order = b.pick(&["memory_order_acquire", "memory_order_seq_cst"]);
        format!("{p} = atomic_load_explicit(&{slot}, {order});")
    } else {
        format!("{p} = {slot};")
    });
    let (store, load) = if how < 6 {
        (b.guarded(&lock, vec![store]), b.guarded(&lock, vec![load]))
    } else {
        (vec![store], vec![load])
    };
    make.extend(store);
    if b.chance(12) {
        make.push(line(format!("{p}->y = 2;")));
    }
    b.play(one, make);
    let mut used = load;
    let inner = if b.chance(15) { b.access(&format!("{p}->y")) } else { b.read(&format!("{p}->x")) };
    used.push(branch(&p, vec![inner], Vec::new()));
    b.play(other, used);
}

/// Whoever takes the object out of the slot owns it.
pub(super) fn handover(b: &mut Builder) {
    let slot = b.fresh("slot");
    b.global(format!("int *{slot}"));
    let lock = b.any_lock();
    let p = b.local("p", "int *# = 0;");
    let make = b.pick(&["malloc(sizeof(int))", "calloc(1, sizeof(int))"]);
    b.before.push(line(format!("{slot} = {make};")));
    b.before.push(line(format!("*{slot} = 0;")));
    let take_out = vec![line(format!("{p} = {slot};")), line(format!("{slot} = 0;"))];
    let mut nodes = b.guarded(&lock, take_out);
    let mut owned = vec![line(format!("(*{p})++;"))];
    if b.chance(40) {
        let back = vec![line(format!("{slot} = {p};"))];
        owned.extend(b.guarded(&lock, back));
    } else if b.chance(40) {
        owned.push(line(format!("free({p});")));
    }
    nodes.push(branch(&p, owned, Vec::new()));
    let (one, other) = b.two();
    b.play(one, nodes.clone());
    b.play(other, nodes);
}

/// A heap block for each thread: its own, or made for it by `main`.
pub(super) fn own_heap(b: &mut Builder) {
    let p = b.local("p", "int *# = 0;");
    if b.chance(50) {
        let mut nodes = vec![line(format!("{p} = malloc(2 * sizeof(int));")), line(format!("{p}[0] = id;"))];
        nodes.push(b.access(&format!("{p}[0]")));
        if b.chance(50) {
            nodes.push(line(format!("free({p});")));
        }
        b.all(nodes);
        return;
    }
    let blocks = b.fresh("block");
    let n = b.threads;
    b.global(format!("int *{blocks}[{n}]"));
    let head = format!("for (int i = 0; i < {n}; i++)");
    if b.chance(85) {
        b.before.push(block(head, vec![line(format!("{blocks}[i] = calloc(1, sizeof(int));"))]));
    } else {
        b.before.push(line(format!("{p} = calloc(1, sizeof(int));")));
        b.before.push(block(head, vec![line(format!("{blocks}[i] = {p};"))]));
    }
    let index = b.index();
    let access = b.access(&format!("{p}[0]"));
    b.all(vec![line(format!("{p} = {blocks}[{index}];")), access]);
    if b.chance(40) {
        b.after.push(line(format!("(*{blocks}[0])++;")));
    }
}

/// Copied under the lock, used without it.
pub(super) fn private_copy(b: &mut Builder) {
    let (tag, shared) = (b.fresh("pair"), b.fresh("shared"));
    b.types.push(Item::Line(format!("struct {tag} {{ int x; int y; }};")));
    b.global(format!("struct {tag} {shared}"));
    let lock = b.any_lock();
    let copy = b.local("copy", &format!("struct {tag} # = {{ 0, 0 }};"));
    let take = match b.random.below(4) {
        0 => line(format!("{copy} = {shared};")),
        1 => line(format!("memcpy(&{copy}.x, &{shared}.x, sizeof(int));")),
        2 => line(format!("memmove(&{copy}, &{shared}, sizeof {copy});")),
        _ => line(format!("memcpy(&{copy}, &{shared}, sizeof {copy});")),
    };
    let mut nodes = b.guarded(&lock, vec![take]);
    nodes.push(line(format!("{copy}.x++;")));
    let back = match b.random.below(4) {
        0 => Some(line(format!("{shared} = {copy};"))),
        1 => Some(line(format!("memcpy(&{shared}, &{copy}, sizeof {copy});"))),
        2 => Some(line(format!("memset(&{shared}, 0, sizeof {shared});"))),
        _ => None,
    };
    if let Some(back) = back {
        nodes.extend(b.guarded(&lock, vec![back]));
    }
    b.all(nodes);
}

/// Neighbours in one structure, with different guards or none.
pub(super) fn fields(b: &mut Builder) {
    let (tag, object) = (b.fresh("both"), b.fresh("o"));
    b.types.push(Item::Line(format!("struct {tag} {{ int x; struct {{ int y; short z; short w; }} in; }};")));
    b.global(format!("struct {tag} {object}"));
    let (one, other) = b.two();
    let first = b.access(&format!("{object}.x"));
    let second = if b.chance(60) {
        let p = b.local("q", &format!("struct {tag} *# = &{object};"));
        line(format!("{p}->in.y = 3;"))
    } else {
        let field = b.pick(&["in.z", "in.w", "in.y"]);
        line(format!("{object}.{field}++;"))
    };
    b.play(one, vec![first]);
    b.play(other, vec![second]);
    if b.chance(25) {
        let whole = line(format!("memset(&{object}.in, 0, sizeof {object}.in);"));
        b.play(one, vec![whole]);
    }
}

/// Bit-fields share bytes.
pub(super) fn bits(b: &mut Builder) {
    let (tag, object) = (b.fresh("flags"), b.fresh("o"));
    let (first, second) = match b.random.below(4) {
        0 => ("unsigned a : 3; unsigned : 0; unsigned b : 3;", false),
        1 => ("unsigned a : 3; unsigned b : 3;", true),
        2 => ("unsigned char a; unsigned b : 3;", false),
        _ => ("unsigned a : 8; unsigned b : 24;", true),
    };
    b.types.push(Item::Line(format!("struct {tag} {{ {first} }};")));
    b.global(format!("struct {tag} {object}"));
    let (one, other) = b.two();
    let (a, c) = (line(format!("{object}.a = 1;")), line(format!("{object}.b++;")));
    if second && b.chance(70) {
        let lock = b.any_lock();
        let nodes = b.guarded(&lock, vec![a]);
        b.play(one, nodes);
        let nodes = b.guarded(&lock, vec![c]);
        b.play(other, nodes);
    } else {
        b.play(one, vec![a]);
        b.play(other, vec![c]);
    }
}

/// The same bytes by different names.
pub(super) fn union(b: &mut Builder) {
    let (tag, object) = (b.fresh("u"), b.fresh("o"));
    b.types.push(Item::Line(format!("union {tag} {{ int whole; char byte[4]; short half[2]; }};")));
    b.global(format!("union {tag} {object}"));
    let (one, other) = b.two();
    let disjoint = b.chance(50);
    let (first, second) = if disjoint { ("byte[0]", "half[1]") } else { ("whole", "byte[1]") };
    let (first, second) = (line(format!("{object}.{first} = 1;")), line(format!("{object}.{second}++;")));
    if disjoint || b.chance(30) {
        b.play(one, vec![first]);
        b.play(other, vec![second]);
    } else {
        let lock = b.mutex();
        let nodes = b.guarded(&lock, vec![first]);
        b.play(one, nodes);
        let nodes = b.guarded(&lock, vec![second]);
        b.play(other, nodes);
    }
}

/// A variable for each thread, whose address may leave it.
pub(super) fn thread_local(b: &mut Builder) {
    let own = b.fresh("own");
    b.global(format!("_Thread_local int {own}"));
    let access = b.access(&own);
    b.all(vec![access]);
    if b.chance(25) {
        b.tag("thread-local escapes");
        let slot = b.fresh("where");
        b.global(format!("int *{slot}"));
        let p = b.local("p", "int *# = 0;");
        let lock = b.mutex();
        let (one, other) = b.two();
        let nodes = b.guarded(&lock, vec![line(format!("{slot} = &{own};"))]);
        b.play(one, nodes);
        let mut nodes = b.guarded(&lock, vec![line(format!("{p} = {slot};"))]);
        let used = if b.chance(50) { b.read(&format!("(*{p})")) } else { b.write(&format!("(*{p})")) };
        nodes.push(branch(&p, vec![used], Vec::new()));
        b.play(other, nodes);
    }
}

/// What a thread returns is for those who join it.
pub(super) fn result(b: &mut Builder) {
    b.results = true;
    let p = b.local("p", "int *# = 0;");
    b.locals.insert("result".to_owned(), "void *result = 0;".to_owned());
    let n = b.threads;
    let find = match b.random.below(3) {
        0 => format!("{p} = malloc(sizeof(int));"),
        1 => {
            let cells = b.fresh("cell");
            b.global(format!("int {cells}[{n}]"));
            format!("{p} = &{cells}[id];")
        }
        _ => {
            let x = b.int();
            format!("{p} = &{x};")
        }
    };
    let common = find.contains("&$x");
    let fill = if common && b.chance(80) {
        let lock = b.mutex();
        b.guarded(&lock, vec![line(format!("*{p} = id;"))])
    } else {
        vec![line(format!("*{p} = id;"))]
    };
    let mut nodes = vec![line(find)];
    nodes.extend(fill);
    nodes.push(line(format!("result = {p};")));
    b.all(nodes);
    let read = b.read("*(int *)$got[0]");
    b.after.push(branch("$got[0]", vec![read], Vec::new()));
}

/// Variables of `main` that the workers get the address of.
pub(super) fn stack(b: &mut Builder) {
    let n = b.threads;
    if b.chance(50) {
        let cells = b.local("cells", &format!("int #[{n}] = {{ 0 }};"));
        let wrong = b.chance(15);
        let field = b.fresh("cell").replace('$', "");
        let inits = (0..n).map(|k| format!("&{cells}[{}]", if wrong { 0 } else { k })).collect();
        b.arg_fields.push((format!("int *{field}"), inits));
        let access = b.access(&format!("(*a->{field})"));
        b.all(vec![access]);
        if b.chance(60) {
            b.after.push(line(format!("{cells}[0]++;")));
        }
    } else {
        let slot = b.fresh("where");
        b.global(format!("int *{slot}"));
        let x = b.local("x", "int # = 0;");
        b.before.push(line(format!("{slot} = &{x};")));
        let lock = b.any_lock();
        let body = vec![b.access(&format!("(*{slot})"))];
        let nodes = b.guarded(&lock, body);
        b.all(nodes);
        if b.chance(60) {
            b.after.push(line(format!("{x}++;")));
        }
    }
}

/// Nobody writes once there are threads.
pub(super) fn read_only(b: &mut Builder) {
    let table = b.fresh("table");
    b.global(format!("int {table}[3]"));
    b.before.push(block("for (int i = 0; i < 3; i++)", vec![line(format!("{table}[i] = i;"))]));
    let place = b.pick(&["[id]", "[0]", "[id % 2]"]);
    let read = b.read(&format!("{table}{place}"));
    b.all(vec![read]);
    if b.chance(20) {
        let lock = Lock { kind: LockKind::Mutex, address: b.mutex().address };
        let nodes = b.guarded(&lock, vec![line(format!("{table}[2]++;"))]);
        b.play(Role::Main, nodes);
    }
}
