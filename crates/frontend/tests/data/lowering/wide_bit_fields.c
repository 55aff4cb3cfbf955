// A unit of 64 bits.
//@ models: lp64
struct wide { unsigned long long low : 40, high : 24; } w;
//@ global w 8

void wide(void)
{
    w.high = 4; // IS: load w.high; store w.high
    w.low++; // IS: load w.low; load w.low; store w.low
}
