//! Values as linear expressions: registers and addresses times numbers, plus a number, modulo 2^64.
//!
//! What a term says, without its choice of root and index: two terms are compared by their expressions.

use raddle_facts::{Root, Term};
use raddle_ir::{FunctionId, GlobalId, Reg};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    /// Sorted, each once, no zero factors.
    pub atoms: Vec<(Atom, i64)>,
    pub constant: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Atom {
    Global(GlobalId),
    Function(FunctionId),
    Reg(FunctionId, Reg),
}

impl Linear {
    pub fn constant(constant: i64) -> Linear {
        Linear { atoms: Vec::new(), constant }
    }

    pub fn atom(atom: Atom) -> Linear {
        Linear { atoms: vec![(atom, 1)], constant: 0 }
    }

    pub fn of(term: Term) -> Linear {
        let root = match term.root {
            Root::Zero => None,
            Root::Global(global) => Some(Atom::Global(global)),
            Root::Function(function) => Some(Atom::Function(function)),
            Root::Reg(function, reg) => Some(Atom::Reg(function, reg)),
        };
        let index = term.index.map(|index| (Atom::Reg(index.function, index.reg), index.scale));
        let mut all = Linear::constant(term.offset);
        for (atom, factor) in root.map(|atom| (atom, 1)).into_iter().chain(index) {
            all = all.plus(&Linear::atom(atom).times(factor));
        }
        all
    }

    pub fn as_constant(&self) -> Option<i64> {
        self.atoms.is_empty().then_some(self.constant)
    }

    pub fn plus(&self, other: &Linear) -> Linear {
        let mut atoms = self.atoms.clone();
        for (atom, factor) in &other.atoms {
            match atoms.binary_search_by_key(atom, |(known, _)| *known) {
                Ok(at) => atoms[at].1 = atoms[at].1.wrapping_add(*factor),
                Err(at) => atoms.insert(at, (*atom, *factor)),
            }
        }
        atoms.retain(|(_, factor)| *factor != 0);
        Linear { atoms, constant: self.constant.wrapping_add(other.constant) }
    }

    pub fn minus(&self, other: &Linear) -> Linear {
        self.plus(&other.times(-1))
    }

    pub fn times(&self, by: i64) -> Linear {
        let mut atoms: Vec<(Atom, i64)> =
            self.atoms.iter().map(|(atom, factor)| (*atom, factor.wrapping_mul(by))).collect();
        atoms.retain(|(_, factor)| *factor != 0);
        Linear { atoms, constant: self.constant.wrapping_mul(by) }
    }

    /// Modulo 2^32, each number sign-extended.
    pub fn in_32_bits(&self) -> Linear {
        let short = |number: i64| i64::from(number as i32);
        let mut atoms: Vec<(Atom, i64)> =
            self.atoms.iter().map(|(atom, factor)| (*atom, short(*factor))).collect();
        atoms.retain(|(_, factor)| *factor != 0);
        Linear { atoms, constant: short(self.constant) }
    }

    /// With registers replaced; `None` if one has no replacement.
    pub fn replaced(&self, mut with: impl FnMut(FunctionId, Reg) -> Option<Linear>) -> Option<Linear> {
        let mut all = Linear::constant(self.constant);
        for (atom, factor) in &self.atoms {
            let part = match atom {
                Atom::Reg(function, reg) => with(*function, *reg)?,
                Atom::Global(_) | Atom::Function(_) => Linear::atom(*atom),
            };
            all = all.plus(&part.times(*factor));
        }
        Some(all)
    }

    pub fn registers(&self) -> impl Iterator<Item = (FunctionId, Reg)> + '_ {
        self.atoms.iter().filter_map(|(atom, _)| match atom {
            Atom::Reg(function, reg) => Some((*function, *reg)),
            Atom::Global(_) | Atom::Function(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Atom, Linear};
    use raddle_ir::{FunctionId, Reg};

    #[test]
    fn sums_cancel_and_factors_multiply() {
        let r = |n| Linear::atom(Atom::Reg(FunctionId(0), Reg(n)));
        let a = r(1).times(4).plus(&r(2)).plus(&Linear::constant(7));
        let b = r(2).plus(&r(1).times(4));
        assert_eq!(a.minus(&b), Linear::constant(7));
        assert_eq!(a.minus(&a).as_constant(), Some(0));
        assert_eq!(a.times(0), Linear::constant(0));
        assert_eq!(r(1).times(1 << 33).in_32_bits(), Linear::constant(0));
    }
}
