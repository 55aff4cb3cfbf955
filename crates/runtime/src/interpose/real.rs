//! Finding the C library's own function behind one of ours.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The next definition of a name.
pub struct Real {
    name: &'static str,
    at: AtomicUsize,
}

impl Real {
    /// `name` ends with a zero byte.
    pub const fn new(name: &'static str) -> Self {
        Self { name, at: AtomicUsize::new(0) }
    }

    #[inline(always)]
    pub fn address(&self) -> usize {
        match self.at.load(Relaxed) {
            0 => self.find(),
            found => found,
        }
    }

    #[cold]
    fn find(&self) -> usize {
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr().cast()) } as usize;
        if found == 0 {
            let name = self.name.trim_end_matches('\0');
            crate::start::give_up(&format!("the C library has no function {name}"));
        }
        self.at.store(found, Relaxed);
        found
    }
}

/// Declares functions that call the C library's own of the same name.
macro_rules! real {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        #[allow(clippy::too_many_arguments)]
        mod real {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[inline(always)]
                pub unsafe fn $name($($argument: $type),*) $(-> $result)? {
                    static REAL: $crate::interpose::real::Real =
                        $crate::interpose::real::Real::new(concat!(stringify!($name), "\0"));
                    let function: unsafe extern "C-unwind" fn($($type),*) $(-> $result)? =
                        std::mem::transmute(REAL.address());
                    function($($argument),*)
                }
            )*
        }
    };
}

pub(crate) use real;
