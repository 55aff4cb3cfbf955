//! Access paths that start at a renamed register: new ones are added behind those of the program, each once.

use crate::{Place, PlaceBase, PlaceId, Program, Reg};
use raddle_base::{Id, IdVec};
use std::collections::HashMap;

#[derive(Default)]
pub struct Places {
    added: Vec<Place>,
    index: HashMap<Place, PlaceId>,
}

impl Places {
    pub(super) fn base(&self, program: &Program, place: PlaceId) -> Option<Reg> {
        match self.get(program, place).base {
            PlaceBase::Value { reg, .. } | PlaceBase::Unnamed(reg) => Some(reg),
            PlaceBase::Global(_) | PlaceBase::Local(_) => None,
        }
    }

    /// The same path from another register.
    pub(super) fn rebased(&mut self, program: &Program, place: PlaceId, to: Reg) -> PlaceId {
        let mut moved = self.get(program, place).clone();
        match &mut moved.base {
            PlaceBase::Value { reg, .. } | PlaceBase::Unnamed(reg) => *reg = to,
            PlaceBase::Global(_) | PlaceBase::Local(_) => return place,
        }
        if let Some(known) = self.index.get(&moved) {
            return *known;
        }
        let id = PlaceId::from_index(program.places.len() + self.added.len());
        self.added.push(moved.clone());
        self.index.insert(moved, id);
        id
    }

    pub(super) fn all(self, program: &Program) -> IdVec<PlaceId, Place> {
        program.places.values().cloned().chain(self.added).collect()
    }

    fn get<'a>(&'a self, program: &'a Program, place: PlaceId) -> &'a Place {
        match program.places.get(place) {
            Some(own) => own,
            None => &self.added[place.index() - program.places.len()],
        }
    }
}
