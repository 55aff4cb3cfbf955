f(a, b) { return a + b; }
main() { printf("%d\n", f(1, 2)); return 0; }
