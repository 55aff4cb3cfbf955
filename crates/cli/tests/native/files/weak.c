__attribute__((weak)) int twice(int x) { return x; }
