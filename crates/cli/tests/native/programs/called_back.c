// `bump` is called by nobody here.
int bumped;

void *bump(void *arg)
{
    bumped++;
    return arg;
}

int main(void)
{
    return 0;
}
