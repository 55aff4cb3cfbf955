// Counts for ever: every state is a new one.
static volatile unsigned long long count;

int main(void)
{
    for (;;)
        count++;
}
