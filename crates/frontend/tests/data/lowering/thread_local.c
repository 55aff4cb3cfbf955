// Thread-local variables are reached through their own address.
_Thread_local int mine;
static __thread struct { int a, b; } state;

void each(void)
{
    mine++; // IS: tls mine; load mine; store mine
    state.b = 1; // IS: tls state; store state.b
}
