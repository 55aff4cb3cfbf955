// Fields that share a unit are told apart by the bits that the code masks; the access is the unit.
struct flags { unsigned a : 3, b : 5; int c : 10; unsigned d : 14; char plain; unsigned char e : 1, f : 7; } s, *p;
//@ global s 8

int flags(void)
{
    s.a = 1; // IS: load s.a; store s.a
    s.b = 2; // IS: load s.b; store s.b
    s.c = -1; // IS: load s.c; store s.c
    s.d++; // IS: load s.d; load s.d; store s.d
    s.plain = 3; // IS: store s.plain
    p->e = 1; // IS: load p; load p->e; store p->e
    p->f = 1; // IS: load p; load p->f; store p->f
    int sum = s.a + s.b; // IS: load s.a; load s.b
    return sum + s.c; // IS: load s.c
}
