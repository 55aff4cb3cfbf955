//! Signals: the first write to a page, and crashes of the program.

use super::channel;
use super::memory::Memory;
use super::outside;
use super::session;
use crate::control::{self, Ending, Kind, Operation};
use crate::thread;
use libc::{c_void, siginfo_t};

const STACK: usize = 1 << 16;

/// Handles them from now on, on a stack of our own.
pub unsafe fn catch(memory: &mut Memory) {
    let stack = libc::stack_t { ss_sp: memory.take(STACK).cast(), ss_flags: 0, ss_size: STACK };
    libc::sigaltstack(&stack, std::ptr::null_mut());
    let system_call = libc::SIGSYS;
    for signal in
        [system_call, libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP]
    {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        libc::syscall(libc::SYS_rt_sigaction, signal, &kernel_action(&action), 0, 8);
    }
}

/// As the kernel wants it: the interposed `sigaction` is not asked.
unsafe fn kernel_action(action: &libc::sigaction) -> [usize; 4] {
    const RESTORER: usize = 0x0400_0000;
    let flags = action.sa_flags as u32 as usize | RESTORER;
    [action.sa_sigaction, flags, restore as *const () as usize, 0]
}

#[unsafe(naked)]
unsafe extern "C" fn restore() {
    std::arch::naked_asm!("mov eax, 15", "syscall");
}

extern "C" fn handle(signal: i32, info: *mut siginfo_t, context: *mut c_void) {
    let Some(session) = session::get() else { die(signal) };
    if signal == libc::SIGSYS {
        return unsafe { outside::trapped(session, context.cast()) };
    }
    let address = unsafe { (*info).si_addr() } as usize;
    if signal == libc::SIGSEGV && unsafe { session.memory.written(address) } {
        return;
    }
    let Some(running) = session.running.filter(|_| session.status == channel::RUNNING) else {
        session.leave("a fault in Raddle's scheduler");
    };
    let ending = match signal {
        libc::SIGSEGV if session::is_overflow(running, address) => Ending::StackOverflow,
        libc::SIGSEGV | libc::SIGBUS => Ending::Fault(address as u64),
        _ => Ending::Signal(signal),
    };
    let access = match ending {
        Ending::Fault(_) => session.access_of(address),
        _ => session.last_access(),
    };
    let site = access.or_else(|| thread::current().map(|thread| thread.call_site())).unwrap_or(0);
    let operation = Operation { number: ending.number(), ..Operation::new(Kind::Exit, site) };
    control::with(|model| model.lives[running as usize].pending = Some(operation));
    session.leave_fiber()
}

fn die(signal: i32) -> ! {
    loop {
        unsafe { libc::syscall(libc::SYS_exit_group, 128 + signal) };
    }
}
