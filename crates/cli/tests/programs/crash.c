// Writes through a null pointer.
int main(void)
{
    int *nowhere = 0;
    *nowhere = 1;
    return 0;
}
