//! System calls of an explored program. What would reach outside of its memory ends the execution as unsupported; reading is let through.
//!
//! A filter of the kernel (seccomp) traps every call but a few that cannot do harm. The handler makes calls that only read, after it has
//! made sure that the kernel may write to the buffer, which a page that is still watched does not allow. Descriptors that an execution
//! opens are closed before the next one, and standard input is set back.

use super::memory::PAGE;
use super::session::{self, Session};
use libc::c_long;
use std::arch::naked_asm;

/// Calls that pass: of our own, or without any effect that lasts.
const PASS: [c_long; 11] = [
    libc::SYS_rt_sigreturn,
    libc::SYS_exit_group,
    libc::SYS_exit,
    libc::SYS_futex,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_getpid,
    libc::SYS_rt_sigprocmask,
    libc::SYS_arch_prctl,
];

/// Standard output and errors go nowhere.
const LAST_STREAM: u32 = 2;

/// From now on. False: the kernel does not let us.
pub unsafe fn guard() -> bool {
    let load = |offset: u32| statement(0x20, 0, 0, offset);
    let equal = |value: u32, then: u8, otherwise: u8| statement(0x15, then, otherwise, value);
    let greater = |value: u32, then: u8, otherwise: u8| statement(0x25, then, otherwise, value);
    let gate = bare_call as *const () as u64 + CALL_BYTES;
    const TRAP: u32 = 0x0003_0000;
    const ALLOW: u32 = 0x7fff_0000;
    let mut program = [statement(0x06, 0, 0, TRAP); 64];
    let mut count = 0;
    let mut add = |line: libc::sock_filter| {
        program[count] = line;
        count += 1;
    };
    // Offsets of seccomp_data: number 0, address of the instruction 8, arguments 16.
    for line in [load(8), equal(gate as u32, 0, 3), load(12), equal((gate >> 32) as u32, 0, 1)] {
        add(line);
    }
    add(statement(0x06, 0, 0, ALLOW));
    add(load(0));
    for call in PASS {
        add(equal(call as u32, 0, 1));
        add(statement(0x06, 0, 0, ALLOW));
    }
    for line in [equal(libc::SYS_write as u32, 0, 3), load(16), greater(LAST_STREAM, 1, 0)] {
        add(line);
    }
    add(statement(0x06, 0, 0, ALLOW));
    add(statement(0x06, 0, 0, TRAP));
    let program = libc::sock_fprog { len: count as u16, filter: program.as_mut_ptr() };
    libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
}

fn statement(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

/// Length of the instruction.
const CALL_BYTES: u64 = 2;

/// The one place from which every call is let through.
#[unsafe(naked)]
unsafe extern "C" fn bare_call() {
    naked_asm!("syscall", "ret");
}

#[unsafe(naked)]
unsafe extern "C" fn call(number: c_long, arguments: *const usize) -> isize {
    naked_asm!(
        "mov rax, rdi",
        "mov r11, rsi",
        "mov rdi, [r11]",
        "mov rsi, [r11 + 8]",
        "mov rdx, [r11 + 16]",
        "mov r10, [r11 + 24]",
        "mov r8, [r11 + 32]",
        "mov r9, [r11 + 40]",
        "jmp {}",
        sym bare_call,
    );
}

/// In the handler of the signal that a trapped call becomes.
pub unsafe fn trapped(session: &mut Session, context: *mut libc::ucontext_t) {
    let registers = &mut (*context).uc_mcontext.gregs;
    let number = registers[libc::REG_RAX as usize];
    let arguments = [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9]
        .map(|register| registers[register as usize] as usize);
    if session.running.is_some() {
        match judge(number, &arguments, session.running) {
            Judgement::Reads { start, bytes } => {
                session.reads_files = true;
                for page in (start & !(PAGE - 1)..start + bytes).step_by(PAGE) {
                    session.memory.written(page);
                }
            }
            Judgement::Nothing => {
                registers[libc::REG_RAX as usize] = 0;
                return;
            }
            Judgement::Refused(what) => session::unsupported(what),
        }
    }
    registers[libc::REG_RAX as usize] = call(number, arguments.as_ptr()) as i64;
}

enum Judgement {
    /// It may be made; the kernel writes there.
    Reads {
        start: usize,
        bytes: usize,
    },
    /// It is taken to succeed without being made.
    Nothing,
    Refused(&'static str),
}

fn judge(number: c_long, arguments: &[usize; 6], thread: Option<u32>) -> Judgement {
    let [first, second, third, fourth, ..] = *arguments;
    let reads = |start: usize, bytes: usize| Judgement::Reads { start, bytes };
    match number {
        libc::SYS_read | libc::SYS_pread64 => reads(second, third),
        libc::SYS_fstat | libc::SYS_stat | libc::SYS_lstat => reads(second, size_of::<libc::stat>()),
        libc::SYS_newfstatat => reads(third, size_of::<libc::stat>()),
        libc::SYS_ioctl if second as u64 == libc::TCGETS => reads(third, 64),
        libc::SYS_readlink => reads(second, third),
        libc::SYS_getcwd => reads(first, second),
        libc::SYS_uname => reads(first, size_of::<libc::utsname>()),
        libc::SYS_sysinfo => reads(first, size_of::<libc::sysinfo>()),
        libc::SYS_prlimit64 if third == 0 => reads(fourth, 16),
        libc::SYS_getrlimit => reads(second, 16),
        libc::SYS_sched_getaffinity => reads(third, second),
        libc::SYS_openat if is_for_reading(third) => reads(0, 0),
        libc::SYS_open if is_for_reading(second) => reads(0, 0),
        libc::SYS_lseek | libc::SYS_close | libc::SYS_access | libc::SYS_faccessat => reads(0, 0),
        libc::SYS_getuid | libc::SYS_geteuid | libc::SYS_getgid | libc::SYS_getegid => reads(0, 0),
        // All threads are one to the system, and it is the first one's.
        libc::SYS_gettid if thread == Some(0) => reads(0, 0),
        libc::SYS_gettid => Judgement::Refused("the system's number of a thread"),
        // Ignoring a signal, or asking for the default, changes nothing here.
        libc::SYS_rt_sigaction if second == 0 || unsafe { *(second as *const usize) } <= 1 => {
            Judgement::Nothing
        }
        libc::SYS_rt_sigaction => Judgement::Refused("a signal handler"),
        libc::SYS_write | libc::SYS_writev | libc::SYS_pwrite64 => Judgement::Refused("writing to a file"),
        libc::SYS_openat | libc::SYS_open | libc::SYS_creat => {
            Judgement::Refused("opening a file for writing")
        }
        libc::SYS_socket | libc::SYS_socketpair => Judgement::Refused("a socket"),
        libc::SYS_pipe | libc::SYS_pipe2 => Judgement::Refused("a pipe"),
        libc::SYS_fork | libc::SYS_vfork | libc::SYS_clone | libc::SYS_clone3 => {
            Judgement::Refused("a new process or thread of the system")
        }
        libc::SYS_execve | libc::SYS_execveat => Judgement::Refused("another program"),
        libc::SYS_kill | libc::SYS_tgkill | libc::SYS_tkill => {
            Judgement::Refused("a signal to a process or thread")
        }
        libc::SYS_mmap | libc::SYS_munmap | libc::SYS_mremap | libc::SYS_brk => {
            Judgement::Refused("memory mapped by hand")
        }
        libc::SYS_getrandom => Judgement::Refused("random numbers of the system"),
        _ => Judgement::Refused("a system call that may reach outside of the program"),
    }
}

fn is_for_reading(flags: usize) -> bool {
    let changes = libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND;
    flags as i32 & libc::O_ACCMODE == libc::O_RDONLY && flags as i32 & changes == 0
}

/// Files are as at the start again.
pub unsafe fn reset() {
    const FIRST_OWN: usize = LAST_STREAM as usize + 1;
    call(libc::SYS_close_range, [FIRST_OWN, u32::MAX as usize, 0, 0, 0, 0].as_ptr());
    call(libc::SYS_lseek, [0, 0, libc::SEEK_SET as usize, 0, 0, 0].as_ptr());
}
