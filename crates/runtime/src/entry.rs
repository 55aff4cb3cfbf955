//! One access in a list of accesses that is changed in place: its epoch, and above that its context, its bytes, and whether it is a write.

use crate::cells::{WHOLE, whole};
use crate::fronts::Front;
use crate::lanes::Kind;

/// Zero is no access.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Entry(pub u64);

impl Entry {
    pub fn new(access: Front, mask: u8, kind: Kind) -> Self {
        let info = access.context << 6 | u32::from(mask) << 1 | u32::from(kind == Kind::Write);
        Self(whole(access.word, info))
    }

    pub fn access(self) -> Front {
        Front::one(self.0 as u32, (self.0 >> 38) as u32)
    }

    pub fn epoch(self) -> u32 {
        self.0 as u32
    }

    pub fn mask(self) -> u8 {
        (self.0 >> 33) as u8 & WHOLE
    }

    pub fn is_write(self) -> bool {
        self.0 >> 32 & 1 != 0
    }

    pub fn without(self, mask: u8) -> Self {
        Self(self.0 & !(u64::from(mask) << 33))
    }

    pub fn and(self, mask: u8) -> Self {
        Self(self.0 | u64::from(mask) << 33)
    }
}
