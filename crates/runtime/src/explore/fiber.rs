//! Threads of an explored program as fibers of one system thread: a stack of its own, thread-local storage of its own, and a switch.
//!
//! A fiber's thread-local storage is what the dynamic linker gives a new thread, with a copy of the first thread's control block; the
//! switch moves `%fs` along, so that `errno`, the C library's per-thread state and the program's thread-local variables are those of the
//! fiber. Nothing else of a thread exists: no kernel id, no signal mask, no scheduling attributes of its own.

use std::arch::naked_asm;
use std::ffi::{CStr, c_void};

/// Where a fiber, or the scheduler, stands while others run.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Context {
    pub stack: usize,
    pub thread_pointer: usize,
}

impl Context {
    /// On its first turn it calls `entry(argument)`, which must not return. `top` is the end of the stack.
    pub unsafe fn new(
        top: usize,
        thread_pointer: usize,
        entry: extern "C-unwind" fn(usize) -> !,
        argument: usize,
    ) -> Self {
        let stack = (top & !15) - 80;
        let words = stack as *mut usize;
        // Control words of a fresh process, then rbp, rbx, r12 to r15, where to return to, and an end of the chain of calls.
        let initial = [
            0x037f_0000_1f80,
            0,
            0,
            argument,
            entry as *const () as usize,
            0,
            0,
            begin as *const () as usize,
            0,
            0,
        ];
        for (at, word) in initial.into_iter().enumerate() {
            words.add(at).write(word);
        }
        Self { stack, thread_pointer }
    }
}

/// First frame of a fiber: argument in `r12`, function in `r13`. Nothing says how to unwind it: an exception that nobody catches finds the
/// end of the stack here, and the program is terminated.
#[unsafe(naked)]
unsafe extern "C" fn begin() {
    naked_asm!("mov rdi, r12", "xor ebp, ebp", "call r13", "ud2");
}

/// Leaves `from` behind and goes on as `to`; returns when somebody switches back.
pub unsafe fn switch(from: *mut Context, to: *const Context) {
    if WRITES_FS {
        switch_directly(from, to);
    } else {
        switch_by_kernel(from, to);
    }
}

/// Whether user code may write `%fs`. Set once before the first fiber.
static mut WRITES_FS: bool = false;
/// What the C library does first and last in a thread, where it has it: `__ctype_init`, `__call_tls_dtors`.
static mut FIRST: Option<unsafe extern "C" fn()> = None;
static mut LAST: Option<unsafe extern "C" fn()> = None;

pub unsafe fn start() {
    let find = |name: &CStr| {
        let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn()>>(found)
    };
    FIRST = find(c"__ctype_init");
    LAST = find(c"__call_tls_dtors");
    const HWCAP2_FSGSBASE: u64 = 2;
    WRITES_FS = libc::getauxval(libc::AT_HWCAP2) & HWCAP2_FSGSBASE != 0;
}

/// The switch, with what moves the thread pointer from `rdx` to `%fs`. It may change every register but the stack pointer.
macro_rules! switch_with {
    ($($moves_pointer:literal),+) => {
        naked_asm!(
            "push r15",
            "push r14",
            "push r13",
            "push r12",
            "push rbx",
            "push rbp",
            "sub rsp, 8",
            "stmxcsr [rsp]",
            "fnstcw [rsp + 4]",
            "mov [rdi], rsp",
            "mov rdx, [rsi + 8]",
            "mov rsp, [rsi]",
            $($moves_pointer,)+
            "ldmxcsr [rsp]",
            "fldcw [rsp + 4]",
            "add rsp, 8",
            "pop rbp",
            "pop rbx",
            "pop r12",
            "pop r13",
            "pop r14",
            "pop r15",
            "jmp {}",
            sym forget_registers,
        )
    };
}

#[unsafe(naked)]
unsafe extern "C" fn switch_directly(from: *mut Context, to: *const Context) {
    switch_with!("wrfsbase rdx");
}

/// By `arch_prctl(ARCH_SET_FS, thread pointer)`.
#[unsafe(naked)]
unsafe extern "C" fn switch_by_kernel(from: *mut Context, to: *const Context) {
    switch_with!("mov edi, 0x1002", "mov rsi, rdx", "mov eax, 158", "syscall");
}

/// Returns with nothing left in the registers that a call may change: compilers push them to align stacks, and what the scheduler
/// left there would make equal stacks look different.
#[unsafe(naked)]
unsafe extern "C" fn forget_registers() {
    naked_asm!(
        "xor eax, eax",
        "xor ecx, ecx",
        "xor edx, edx",
        "xor esi, esi",
        "xor edi, edi",
        "xor r8d, r8d",
        "xor r9d, r9d",
        "xor r10d, r10d",
        "xor r11d, r11d",
        "pxor xmm0, xmm0",
        "pxor xmm1, xmm1",
        "pxor xmm2, xmm2",
        "pxor xmm3, xmm3",
        "pxor xmm4, xmm4",
        "pxor xmm5, xmm5",
        "pxor xmm6, xmm6",
        "pxor xmm7, xmm7",
        "ret",
    );
}

/// Clears what earlier calls have left below the caller's frame, so that it does not show through in the frames that come next.
#[unsafe(naked)]
pub unsafe extern "C" fn clear_below() {
    naked_asm!("lea rdi, [rsp - 2048]", "mov ecx, 256", "xor eax, eax", "rep stosq", "ret",);
}

/// The thread pointer of the caller.
pub fn thread_pointer() -> usize {
    let value: usize;
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) value, options(nostack, readonly, preserves_flags)) };
    value
}

type Allocate = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// Thread-local storage for a new thread. `None` when the C library does not offer what it takes.
pub unsafe fn new_thread_pointer() -> Option<usize> {
    let allocate = libc::dlsym(libc::RTLD_DEFAULT, c"_dl_allocate_tls".as_ptr());
    let size = libc::dlsym(libc::RTLD_DEFAULT, c"_thread_db_sizeof_pthread".as_ptr()).cast::<u32>();
    if allocate.is_null() || size.is_null() {
        return None;
    }
    let allocate: Allocate = std::mem::transmute(allocate);
    let own = thread_pointer();
    let new = allocate(std::ptr::null_mut()) as usize;
    if new == 0 {
        return None;
    }
    // Pointers of the block into itself move with it; its table of dynamic storage is new.
    const TABLE: usize = 1;
    for at in (0..*size as usize / 8).filter(|at| *at != TABLE) {
        let word = *(own as *const usize).add(at);
        let moved = if (own..own + *size as usize).contains(&word) { word - own + new } else { word };
        (new as *mut usize).add(at).write(moved);
    }
    Some(new)
}

/// Tables of characters are found through thread-local variables.
pub unsafe fn start_thread() {
    if let Some(first) = FIRST {
        first();
    }
}

/// Destructors of thread-local variables.
pub unsafe fn end_thread() {
    if let Some(last) = LAST {
        last();
    }
}
