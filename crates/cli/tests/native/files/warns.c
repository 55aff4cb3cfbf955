int f(void) { int unused_variable; return 1; }
