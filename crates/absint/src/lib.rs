//! Abstract interpretation of the expanded program: what registers and memory hold, who runs what, what comes before what.
//!
//! Each module solves one part of `facts`; none knows of races.

pub mod accesses;
pub mod calls;
pub mod cfg;
pub mod components;
pub mod foreign;
pub mod induction;
pub mod must_alias;
pub mod order;
pub mod points_to;
mod published;
mod roots;
pub mod specialise;
pub mod steensgaard;
pub mod terms;
pub mod threads;
pub mod values;

pub use raddle_base::fast_hash;
pub use roots::Roots;
