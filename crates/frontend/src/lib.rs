//! Runs clang, reads LLVM 19 bitcode, lowers it to Raddle's IR.
