//! Before the program's first instruction, and when something is beyond us.

use crate::block::Block;
use crate::{collect, explore, gate, layout, output, record, report, thread};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static MAPPED: AtomicBool = AtomicBool::new(false);

/// Maps the shadow and our own tables. Nothing can be allocated before.
pub fn map() {
    if layout::map().is_err() {
        let text = "raddle: cannot reserve address space for the shadow (a limit on virtual memory?)\n";
        unsafe {
            libc::syscall(libc::SYS_write, 2, text.as_ptr(), text.len());
            libc::_exit(2);
        }
    }
    MAPPED.store(true, Relaxed);
}

/// Whether something can be allocated.
pub fn is_mapped() -> bool {
    MAPPED.load(Relaxed)
}

/// Makes the calling thread the main thread.
pub fn start(block: *mut Block) {
    gate::start();
    collect::set_wishes();
    output::start();
    report::start();
    let path = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    let pid = output::pid();
    let exe = output::escaped(&path.to_string_lossy());
    let line = format!("{{\"pid\":{pid},\"start\":{{\"pid\":{pid},\"exe\":\"{exe}\"}}}}\n");
    output::line(&line, String::new);
    record::start();
    thread::create(None, 0).begin(block);
    if let Some(main) = thread::current() {
        record::all_modules(main);
        record::begins(main, false);
    }
}

/// The run cannot be followed any more.
#[cold]
pub fn give_up(why: &str) -> ! {
    explore::unsupported(why);
    let line = format!("{{\"pid\":{},\"gap\":{{\"what\":\"{why}\",\"ends\":true}}}}\n", output::pid());
    output::line(&line, || format!("raddle: {why}; the program ends here\n"));
    unsafe { libc::_exit(2) }
}
