int numbers;
void bump(void)
{
    numbers++;
}
