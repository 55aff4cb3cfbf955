//! Abstract interpretation of the expanded program: what registers and memory hold, who runs what, what comes before what.
