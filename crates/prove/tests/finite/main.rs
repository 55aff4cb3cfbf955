//! Systems with few values, where everything can be enumerated: algorithm TAR against thread-modular reachability over concrete states and
//! against all interleavings, and the algorithms of section 2 of the 2003 paper.

mod agreement;
mod example_1;
mod paper;
mod product;
mod random;
mod show;
mod table;
mod thread_modular;
