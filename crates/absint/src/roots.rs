//! Where execution starts.

use raddle_ir::{FunctionId, Program};

/// The functions that are called from outside the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// `main`, and what runs before it, in order.
    pub main: Option<FunctionId>,
    pub constructors: Vec<FunctionId>,
    pub destructors: Vec<FunctionId>,
    /// Entries of an open program: any number of clients call them at once.
    pub entries: Vec<FunctionId>,
}

impl Roots {
    /// `main` with constructors and destructors; `entries` as given.
    pub fn of(program: &Program, entries: Vec<FunctionId>) -> Roots {
        Roots {
            main: program.function_by_symbol("main").filter(|main| program.functions[*main].is_defined()),
            constructors: program.constructors.clone(),
            destructors: program.destructors.clone(),
            entries,
        }
    }

    pub fn all(&self) -> impl Iterator<Item = FunctionId> {
        let inside = self.constructors.iter().chain(&self.main).chain(&self.destructors);
        inside.chain(&self.entries).copied().collect::<Vec<_>>().into_iter()
    }
}
