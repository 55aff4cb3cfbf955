//! Concrete interpreter of the IR; a Machine.
