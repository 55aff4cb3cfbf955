int unused(int x) { return x; }
