// Calls whose types do not match, by pointer, with structs, with a variable number of arguments.
//@ models: lp64
struct small { long a, b; };
struct large { long a[4]; };
struct floats { float x, y; };
struct small make_small(void);
struct large make_large(void);
void take_large(struct large);
void take_floats(struct floats);
int print(const char *, ...);
static struct large kept;

int old(a, b) char a; float b; { return a + b; }

struct small both(struct small s, int (*f)(int))
{
    f(1); // IS: call by pointer(_)
    take_large(kept); // IS: call take_large(copy of 32)
    return s; 
}

int mixed(void)
{
    old('a', 1.0); // IS: call old(_ _)
    undeclared(1, 2); // IS: call undeclared(_ _)
    struct floats f = { 1, 2 };
    take_floats(f); // IS: load f.x; load f.y; call take_floats(_ _)
    return print("%d", 3); // IS: call print(_ _)
}

int alias_target(void) { return 1; }
int aliased(void) __attribute__((alias("alias_target")));
int through_alias(void)
{
    return aliased(); // IS: call alias_target()
}
