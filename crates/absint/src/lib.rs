//! Abstract interpretation of the expanded program: what registers and memory hold, who runs what, what comes before what.
//!
//! Each module solves one part of `facts`; none knows of races.

mod roots;

pub use roots::Roots;
