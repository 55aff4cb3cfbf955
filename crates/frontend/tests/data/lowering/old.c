/* Implicit declarations, K&R, mixed pointers and integers, missing returns: warnings once, errors now. */
static count; // a comment of C99 in gnu89
struct s { int m; } *sp;
first(a, b)
    char *b;
{
    count = b; // IS: store count
    sp = 4711; // IS: store sp
    second(a, &count); // IS: call second(_ &count)
    return;
}
common_a, common_b;
main() { first(1, 0); // IS: call first(_ _)
}
