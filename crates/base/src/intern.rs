//! String interning: one [`Symbol`] per distinct string, resolved by the [`Interner`] that made it.

use std::collections::HashMap;

crate::define_id! {
    /// An interned string.
    pub struct Symbol, "s"
}

/// Owns the strings behind [`Symbol`]s. Symbols are numbered in order of first use, so the numbering is deterministic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interner {
    strings: Vec<String>,
    index: HashMap<String, Symbol>,
}

impl Interner {
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.index.get(text) {
            return symbol;
        }
        let symbol = Symbol(u32::try_from(self.strings.len()).expect("more than 2^32 strings"));
        self.strings.push(text.to_owned());
        self.index.insert(text.to_owned(), symbol);
        symbol
    }

    pub fn lookup(&self, text: &str) -> Option<Symbol> {
        self.index.get(text).copied()
    }

    pub fn resolve(&self, symbol: Symbol) -> &str {
        &self.strings[symbol.0 as usize]
    }
}
