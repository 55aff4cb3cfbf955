// Inline assembly: outputs, memory that it writes, memory and values that it reads. An empty text and a pause do nothing.
int word;
unsigned out;

void asms(int *p, int v)
{
    __asm__ volatile("" : : : "memory"); out = 1; // IS: store out
    __asm__ volatile("rep; nop"); __asm__("" : : "m"(*p)); out = 2; // IS: store out
    __asm__ volatile("mfence" : : : "memory"); // IS: asm 0 out 0 written 0 in
    __asm__ volatile("xchgl %0,%1" : "+r"(v), "+m"(word)); // IS: load word; asm 1 out 1 written 2 in
    __asm__("incl %0" : "=m"(*p)); // IS: asm 0 out 1 written 0 in
    __asm__("cpuid" : "=a"(out) : "0"(v) : "ebx", "ecx", "edx"); // IS: asm 1 out 0 written 1 in; store out
    __asm__("clflush %0" : : "m"(*p)); // IS: load *p; asm 0 out 0 written 1 in
}
