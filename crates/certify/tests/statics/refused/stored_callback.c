// A function without a body is given one to call, by way of a variable.
extern void register_callback(void (*callback)(void));

static int counter;

static void callback(void)
{
    counter++;
}

static void (*chosen)(void);

int main(int argc, char **argv)
{
    (void)argv;
    chosen = argc > 1 ? callback : 0;
    register_callback(chosen);
    counter++;
    return 0;
}
