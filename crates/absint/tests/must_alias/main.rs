//! Algorithm 2 of the 2007 paper: Fig. 1 as printed there, loops and recursion, and random programs against a slow obvious twin.

mod figure;
mod toy;
mod twin;
