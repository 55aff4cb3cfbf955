#include <cstdio>
#include <stdexcept>
#include <thread>
static int shared;
static void deep(int n)
{
    if (n == 0)
        throw std::runtime_error("deep");
    deep(n - 1);
}
static void work()
{
    for (int i = 0; i < 100; i++) {
        try {
            deep(30);
        } catch (const std::runtime_error &) {
        }
    }
    shared++;
}
int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
    std::puts("caught");
}
