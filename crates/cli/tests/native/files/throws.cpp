void thrower(int x) { if (x) throw x; }
